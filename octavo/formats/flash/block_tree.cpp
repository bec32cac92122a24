#include "octavo/formats/flash/block_tree.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "octavo/base/error.hpp"

namespace octavo::formats::flash {

using base::Error;
using base::Kind;
using Position = std::array<std::int64_t, 3>;

namespace {

// Level and position of a block in one number. 19 bits per axis leave 7 for the level. That is enough: ids have 31
// bits, so a fully refined mesh runs out of ids long before.
constexpr unsigned axis_bits = 19;

std::uint64_t place_of(int level, const Position& at) {
  return static_cast<std::uint64_t>(level) << (3 * axis_bits) | static_cast<std::uint64_t>(at[2]) << (2 * axis_bits) |
         static_cast<std::uint64_t>(at[1]) << axis_bits | static_cast<std::uint64_t>(at[0]);
}

Position position_of(const Block& block) { return {block.at[0], block.at[1], block.at[2]}; }

std::string text_of(const Block& block) {
  return "block " + std::to_string(block.row + 1) + " (level " + std::to_string(block.level + 1) + ", position " +
         std::to_string(block.at[0]) + " " + std::to_string(block.at[1]) + " " + std::to_string(block.at[2]) + ")";
}

Position child_position(const Block& block, unsigned child) {
  return {2 * std::int64_t{block.at[0]} + (child & 1), 2 * std::int64_t{block.at[1]} + (child >> 1 & 1),
          2 * std::int64_t{block.at[2]} + (child >> 2 & 1)};
}

/// Looks up rows by place before numbers are known. It is sorted once, so that a search touches a few cache lines.
using Places = std::vector<std::pair<std::uint64_t, std::int64_t>>;

std::int64_t look_up(const Places& places, std::uint64_t place) {
  const auto found = std::lower_bound(places.begin(), places.end(), std::pair{place, std::int64_t{-1}});
  return found != places.end() && found->first == place ? found->second : no_block;
}

Places places_of(std::span<const Block> rows, const mesh::Index3& roots) {
  Places places;
  for (const Block& block : rows) {
    bool fits = block.level >= 0 && block.level < 32;
    for (std::size_t axis = 0; fits && axis < 3; ++axis)
      fits =
          std::int64_t{block.at[axis]} < (roots[axis] << std::min(block.level, 31)) && block.at[axis] >> axis_bits == 0;
    if (!fits) throw Error(Kind::unsupported, text_of(block) + " is deeper, or further out, than can be handled");
    places.emplace_back(place_of(block.level, position_of(block)), block.row);
  }
  std::sort(places.begin(), places.end());
  for (std::size_t i = 1; i < places.size(); ++i)
    if (places[i].first == places[i - 1].first)
      throw Error(Kind::corrupt,
                  "two blocks at one place: " + text_of(rows[static_cast<std::size_t>(places[i - 1].second)]) +
                      " and block " + std::to_string(places[i].second + 1));
  return places;
}

std::vector<std::int64_t> root_rows(const Places& places, const mesh::Index3& roots) {
  std::vector<std::int64_t> rows;
  for (std::int64_t z = 0; z < roots[2]; ++z)
    for (std::int64_t y = 0; y < roots[1]; ++y)
      for (std::int64_t x = 0; x < roots[0]; ++x) {
        rows.push_back(look_up(places, place_of(0, {x, y, z})));
        if (rows.back() == no_block)
          throw Error(Kind::unsupported, "no block of level 1 at position " + std::to_string(x) + " " +
                                             std::to_string(y) + " " + std::to_string(z) +
                                             ": domains with holes cannot be handled");
      }
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// The rows of a block's children: all or none.
std::vector<std::int64_t> child_rows(const Places& places, const Block& block, unsigned children) {
  std::vector<std::int64_t> rows;
  if (block.level + 1 >= 32) return rows;
  for (unsigned child = 0; child < children; ++child) {
    const std::int64_t row = look_up(places, place_of(block.level + 1, child_position(block, child)));
    if (row != no_block) rows.push_back(row);
  }
  if (!rows.empty() && rows.size() != children)
    throw Error(Kind::corrupt, text_of(block) + " has " + std::to_string(rows.size()) + " of its " +
                                   std::to_string(children) + " children");
  return rows;
}

void walk(BlockTree& tree, std::span<const Block> rows, const Places& places) {
  const unsigned children = 1U << tree.dim;
  std::vector<std::pair<std::int64_t, std::int64_t>> todo;  // row and parent's number, last first
  const auto roots = root_rows(places, tree.roots);
  for (auto row = roots.rbegin(); row != roots.rend(); ++row) todo.emplace_back(*row, no_block);
  while (!todo.empty()) {
    const auto [row, parent] = todo.back();
    todo.pop_back();
    const auto number = static_cast<std::int64_t>(tree.blocks.size());
    tree.blocks.push_back(rows[static_cast<std::size_t>(row)]);
    tree.parent.push_back(parent);
    const auto below = child_rows(places, tree.blocks.back(), children);
    tree.first_child.push_back(below.empty() ? no_block : number + 1);
    for (auto child = below.rbegin(); child != below.rend(); ++child) todo.emplace_back(*child, number);
  }
}

void check_all_reached(const BlockTree& tree, std::span<const Block> rows) {
  if (tree.blocks.size() == rows.size()) return;
  std::vector<bool> reached(rows.size());
  for (const Block& block : tree.blocks) reached[static_cast<std::size_t>(block.row)] = true;
  const auto lost = std::find(reached.begin(), reached.end(), false) - reached.begin();
  throw Error(Kind::corrupt, text_of(rows[static_cast<std::size_t>(lost)]) + " has no parent");
}

/// Face neighbours may be one level coarser. Then the neighbours of the parent exist.
void check_grading(const BlockTree& tree) {
  for (std::size_t i = 0; i < tree.blocks.size(); ++i) {
    if (tree.parent[i] == no_block) continue;
    const Block& up = tree.blocks[static_cast<std::size_t>(tree.parent[i])];
    for (unsigned face = 0; face < 2 * static_cast<unsigned>(tree.dim); ++face) {
      Position at = position_of(up);
      at[face / 2] += face % 2 == 0 ? -1 : 1;
      if (outside(tree, up.level, at) == 0 && find(tree, up.level, at) == no_block)
        throw Error(Kind::corrupt, text_of(tree.blocks[i]) +
                                       " has a neighbour more than one level coarser, beyond face " +
                                       std::to_string(face + 1) + " of its parent: the tree is not 2:1");
    }
  }
}

void number_places(BlockTree& tree) {
  tree.numbers.reserve(tree.blocks.size());
  for (std::size_t i = 0; i < tree.blocks.size(); ++i)
    tree.numbers.emplace_back(place_of(tree.blocks[i].level, position_of(tree.blocks[i])),
                              static_cast<std::int64_t>(i));
  std::sort(tree.numbers.begin(), tree.numbers.end());
}

}  // namespace

unsigned outside(const BlockTree& tree, int level, const Position& at) {
  unsigned faces = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (tree.periodic[axis]) continue;
    if (at[axis] < 0) faces |= 1U << (2 * axis);
    if (at[axis] >= tree.roots[axis] << (axis < static_cast<std::size_t>(tree.dim) ? level : 0))
      faces |= 2U << (2 * axis);
  }
  return faces;
}

std::int64_t find(const BlockTree& tree, int level, const Position& at) {
  if (outside(tree, level, at) != 0) return no_block;
  Position inside = at;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
    const std::int64_t extent = tree.roots[axis] << level;
    inside[axis] = ((at[axis] % extent) + extent) % extent;
    if (inside[axis] >> axis_bits != 0) return no_block;
  }
  return look_up(tree.numbers, place_of(level, inside));
}

int node_type(const BlockTree& tree, std::int64_t number) {
  if (is_leaf(tree, number)) return 1;
  const Block& block = tree.blocks[static_cast<std::size_t>(number)];
  for (unsigned child = 0; child < (1U << tree.dim); ++child)
    if (is_leaf(tree, find(tree, block.level + 1, child_position(block, child)))) return 2;
  return 3;
}

bool in_order(const BlockTree& tree) {
  for (std::size_t i = 0; i < tree.blocks.size(); ++i)
    if (tree.blocks[i].row != static_cast<std::int64_t>(i)) return false;
  return true;
}

BlockTree make_block_tree(int dim, const mesh::Index3& roots, const std::array<bool, 3>& periodic,
                          std::span<const Block> rows) {
  BlockTree tree;
  tree.dim = dim;
  tree.roots = roots;
  tree.periodic = periodic;
  walk(tree, rows, places_of(rows, roots));
  check_all_reached(tree, rows);
  number_places(tree);
  check_grading(tree);
  return tree;
}

BreadthFirst breadth_first(const BlockTree& tree, const mesh::Index3& block) {
  BreadthFirst out;
  out.tree.dim = tree.dim;
  out.tree.roots = tree.roots;
  out.tree.block = block;
  out.cell.resize(tree.blocks.size());
  std::vector<std::int64_t> numbers;
  for (const mesh::Coordinate& at : mesh::root_coordinates(out.tree))
    numbers.push_back(find(tree, 0, {at[0], at[1], at[2]}));
  while (!numbers.empty()) {
    base::BitArray refined(numbers.size());
    std::vector<std::int64_t> below;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      out.cell[static_cast<std::size_t>(numbers[i])] = static_cast<std::uint32_t>(i);
      if (is_leaf(tree, numbers[i])) continue;
      refined.set(i);
      const Block& up = tree.blocks[static_cast<std::size_t>(numbers[i])];
      for (unsigned child = 0; child < (1U << tree.dim); ++child)
        below.push_back(find(tree, up.level + 1, child_position(up, child)));
    }
    out.tree.owned.emplace_back(numbers.size(), true);
    out.tree.refined.push_back(std::move(refined));
    out.number.push_back(std::exchange(numbers, std::move(below)));
  }
  return out;
}

BlockTree make_block_tree(const mesh::Octree& tree, const std::array<bool, 3>& periodic,
                          std::span<const std::int64_t> root_order) {
  std::vector<Block> rows;
  std::vector<mesh::Coordinate> at = mesh::root_coordinates(tree);
  std::vector<std::int64_t> row_of_root(at.size());
  std::iota(row_of_root.begin(), row_of_root.end(), std::int64_t{0});
  for (std::size_t i = 0; i < root_order.size() && root_order.size() == at.size(); ++i)
    if (root_order[i] >= 0 && root_order[i] < static_cast<std::int64_t>(at.size()))
      row_of_root[static_cast<std::size_t>(root_order[i])] = static_cast<std::int64_t>(i);
  // Roots come first, in the order of their rows. The walk orders all others.
  for (int level = 0; level < mesh::num_levels(tree); ++level) {
    if (level > 0) at = mesh::child_coordinates(tree, level - 1, at);
    for (const mesh::Coordinate& where : at) rows.push_back({level, where, static_cast<std::int64_t>(rows.size())});
  }
  std::vector<Block> ordered = rows;
  for (std::size_t root = 0; root < row_of_root.size(); ++root) {
    ordered[static_cast<std::size_t>(row_of_root[root])] = rows[root];
    ordered[static_cast<std::size_t>(row_of_root[root])].row = row_of_root[root];
  }
  BlockTree made = make_block_tree(tree.dim, tree.roots, periodic, ordered);
  for (std::size_t i = 0; i < made.blocks.size(); ++i) made.blocks[i].row = static_cast<std::int64_t>(i);
  return made;
}

}  // namespace octavo::formats::flash
