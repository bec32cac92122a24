#include "octavo/mesh/tree/listed_blocks.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

using base::Error;
using base::Kind;

/// Positions are compared as the roots are numbered: z, y, x.
std::array<std::uint32_t, 3> rank_of(const Coordinate& at) { return {at[2], at[1], at[0]}; }
bool stands_before(const Coordinate& a, const Coordinate& b) { return rank_of(a) < rank_of(b); }

/// A level of the list: blocks by position, and the positions of all cells that have children here.
struct ListedLevel {
  std::vector<std::pair<Coordinate, std::uint32_t>> own;
  std::vector<Coordinate> refined;
};

std::string text_of(const ListedBlock& block, std::size_t number) {
  return "block " + std::to_string(number) + " (level index " + std::to_string(block.level) + ", position " +
         std::to_string(block.at[0]) + " " + std::to_string(block.at[1]) + " " + std::to_string(block.at[2]) + ")";
}

void check_position(const ListedBlock& block, std::size_t number, int dim, const Index3& roots) {
  bool inside = block.level >= 0 && block.level < 32;
  for (std::size_t axis = 0; inside && axis < 3; ++axis)
    inside = std::int64_t{block.at[axis]} < roots[axis] << (axis < static_cast<std::size_t>(dim) ? block.level : 0);
  if (!inside) throw Error(Kind::usage, text_of(block, number) + " is not in the domain");
}

Coordinate parent_of(const Coordinate& at, int dim) {
  return {at[0] >> 1, dim > 1 ? at[1] >> 1 : 0, dim > 2 ? at[2] >> 1 : 0};
}

std::vector<ListedLevel> levels_of(int dim, const Index3& roots, std::span<const ListedBlock> blocks) {
  std::vector<ListedLevel> levels(1);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    check_position(blocks[i], i, dim, roots);
    const auto level = static_cast<std::size_t>(blocks[i].level);
    if (levels.size() <= level) levels.resize(level + 1);
    levels[level].own.emplace_back(blocks[i].at, static_cast<std::uint32_t>(i));
    if (blocks[i].refined) levels[level].refined.push_back(blocks[i].at);
  }
  for (std::size_t l = levels.size(); l-- > 0;) {
    ListedLevel& level = levels[l];
    std::sort(level.own.begin(), level.own.end(),
              [](const auto& a, const auto& b) { return stands_before(a.first, b.first); });
    for (std::size_t i = 1; i < level.own.size(); ++i)
      if (level.own[i].first == level.own[i - 1].first)
        throw Error(Kind::usage, text_of(blocks[level.own[i].second], level.own[i].second) + " stands where block " +
                                     std::to_string(level.own[i - 1].second) + " is");
    std::sort(level.refined.begin(), level.refined.end(), stands_before);
    level.refined.erase(std::unique(level.refined.begin(), level.refined.end()), level.refined.end());
    if (l == 0) break;
    std::vector<Coordinate>& above = levels[l - 1].refined;
    for (const auto& own : level.own) above.push_back(parent_of(own.first, dim));
    for (const Coordinate& at : level.refined) above.push_back(parent_of(at, dim));
  }
  return levels;
}

std::uint32_t place_of(const ListedLevel& level, const Coordinate& at) {
  const auto found =
      std::lower_bound(level.own.begin(), level.own.end(), at,
                       [](const auto& own, const Coordinate& to) { return stands_before(own.first, to); });
  return found != level.own.end() && found->first == at ? found->second : ListedTree::nowhere;
}

/// The roots that the part needs.
RootIntervals roots_of(const ListedLevel& level, const Index3& roots) {
  std::vector<Coordinate> all = level.refined;
  for (const auto& own : level.own) all.push_back(own.first);
  std::sort(all.begin(), all.end(), stands_before);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  RootIntervals held;
  for (const Coordinate& at : all) {
    const std::int64_t number = (at[2] * roots[1] + at[1]) * roots[0] + at[0];
    append(held, {number, number + 1});
  }
  return held;
}

}  // namespace

ListedTree tree_of_blocks(int dim, const Index3& roots, const Index3& block, std::span<const ListedBlock> blocks) {
  const std::vector<ListedLevel> levels = levels_of(dim, roots, blocks);
  ListedTree out;
  out.tree.dim = dim;
  out.tree.roots = roots;
  out.tree.block = block;
  const RootIntervals held = roots_of(levels[0], roots);
  hold(out.tree, held);
  std::vector<Coordinate> cells;
  for_each_root(roots, held, [&](const Coordinate& at) { cells.push_back(at); });
  for (std::size_t l = 0; l == 0 || !cells.empty(); ++l) {
    // Children of the deepest listed blocks stand on one level more.
    static const ListedLevel none;
    const ListedLevel& level = l < levels.size() ? levels[l] : none;
    base::BitArray refined(cells.size()), owned(cells.size());
    std::vector<Coordinate> below;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::uint32_t place = place_of(level, cells[i]);
      out.place.push_back(place);
      owned.set(i, place != ListedTree::nowhere);
      if (!std::binary_search(level.refined.begin(), level.refined.end(), cells[i], stands_before)) continue;
      if (place != ListedTree::nowhere && !blocks[place].refined)
        throw Error(Kind::usage, text_of(blocks[place], place) + " has children, but is not marked as refined");
      refined.set(i);
      for (std::uint32_t child = 0; child < family_size(out.tree); ++child)
        below.push_back(child_of(cells[i], child, dim));
    }
    out.tree.refined.push_back(std::move(refined));
    out.tree.owned.push_back(std::move(owned));
    cells = std::move(below);
  }
  return out;
}

}  // namespace octavo::mesh
