#include "octavo/formats/amrex/layout.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/patches/box_index.hpp"
#include "octavo/mesh/patches/octree_to_patches.hpp"
#include "octavo/mesh/tree/curve.hpp"
#include "octavo/mesh/tree/regrid.hpp"
#include "octavo/mesh/tree/walk.hpp"

namespace octavo::formats::amrex {
namespace {

using base::Error;
using base::Kind;
using mesh::Index3;
using mesh::IndexBox;
using mesh::Octree;

using Integers = std::vector<std::int64_t>;

Integers integers(const mesh::Header& header, const std::string& name) {
  const auto found = header.attributes.find(name);
  if (found == header.attributes.end()) return {};
  const auto* values = std::get_if<Integers>(&found->second);
  return values != nullptr ? *values : Integers{};
}

/// The domain's cells on a tree level, from its corner on level 0 at `corner`.
IndexBox domain_on(const Octree& tree, int level, int first, const Index3& corner) {
  IndexBox box{{0, 0, 0}, {1, 1, 1}};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
    box.lo[axis] = corner[axis] * (std::int64_t{1} << (level - first));
    box.hi[axis] = box.lo[axis] + (tree.roots[axis] * tree.block[axis] << level);
  }
  return box;
}

// ------------------------------------------------------------------------------------------------------------- levels

void add_level(BoxLayout& layout, const Octree& tree, int index, int first, const Index3& corner) {
  if (!layout.index.empty()) layout.patches.ratio.push_back(1 << (index - layout.index.back()));
  layout.index.push_back(index);
  layout.patches.domain.push_back(domain_on(tree, index, first, corner));
}

/// The levels of the attributes, and below them each level of the tree; nothing where a level that would be left out
/// has leaves.
std::optional<BoxLayout> levels_it_had(const mesh::Header& header, const Octree& tree, int first) {
  const Integers ratio = integers(header, "patches/ratio"), corner = integers(header, "patches/corner");
  if (corner.size() < static_cast<std::size_t>(tree.dim) || corner.size() > 3) return {};
  Index3 lower{0, 0, 0};
  std::copy_n(corner.begin(), tree.dim, lower.begin());
  BoxLayout layout;
  layout.patches.dim = tree.dim;
  add_level(layout, tree, first, first, lower);
  for (std::size_t step = 0;; ++step) {
    const std::int64_t r = step < ratio.size() ? ratio[step] : 2;
    const int next = layout.index.back() + (r == 4 ? 2 : 1);
    if ((r != 2 && r != 4) || next >= mesh::num_levels(tree)) break;
    add_level(layout, tree, next, first, lower);
  }
  for (int level = first; level < mesh::num_levels(tree); ++level)
    if (!std::binary_search(layout.index.begin(), layout.index.end(), level) &&
        mesh::num_owned_leaves(tree, level) != 0)
      return {};
  return layout;
}

BoxLayout all_levels(const Octree& tree, int first) {
  BoxLayout layout;
  layout.patches.dim = tree.dim;
  for (int level = first; level < mesh::num_levels(tree); ++level) add_level(layout, tree, level, first, {0, 0, 0});
  return layout;
}

// ---------------------------------------------------------------------------------------------- the boxes it came in

/// The cells of a tree cell on a level of the patches.
IndexBox cells_on(const Octree& tree, const IndexBox& domain, const mesh::Coordinate& place) {
  IndexBox block = mesh::cells_of(tree, place);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
    block.lo[axis] += domain.lo[axis];
    block.hi[axis] += domain.lo[axis];
  }
  return block;
}

/// Calls f(level of the patches, its tree cells) for each level.
template <class F>
void for_each_level(const BoxLayout& layout, const Octree& tree, F&& f) {
  std::size_t n = 0;
  for (mesh::LevelCells cells(tree); cells.level() < mesh::num_levels(tree) && n < layout.index.size(); cells.next())
    if (layout.index[n] == cells.level()) f(n++, std::as_const(cells));
}

/// Whether the boxes of each level are the cells of its tree level.
bool fit(const BoxLayout& layout, const Octree& tree) {
  bool fits = true;
  const auto block_cells = static_cast<std::int64_t>(mesh::block_size(tree));
  for_each_level(layout, tree, [&](std::size_t n, const mesh::LevelCells& places) {
    const mesh::BoxIndex index = mesh::index_boxes(layout.patches.boxes[n], tree.dim);
    std::int64_t cells = 0;
    for (const IndexBox& box : layout.patches.boxes[n]) cells += mesh::num_cells(box, tree.dim);
    fits = fits && cells == static_cast<std::int64_t>(places.size()) * block_cells;
    places.for_each([&](std::size_t, const mesh::Coordinate& place) {
      if (!fits) return;
      std::int64_t covered = 0;
      mesh::for_each_touching(index, cells_on(tree, layout.patches.domain[n], place),
                              [&](std::size_t, const IndexBox& both) { covered += mesh::num_cells(both, tree.dim); });
      fits = covered == block_cells;
    });
  });
  return fits;
}

bool keep_boxes(const mesh::Header& header, const Octree& tree, BoxLayout& layout) {
  if (integers(header, "patches/ratio").size() + 1 != layout.index.size()) return false;
  layout.patches.boxes = listed_boxes(header, tree.dim, layout.index.size());
  if (layout.patches.boxes.empty()) return false;
  try {
    mesh::validate(layout.patches);
  } catch (const Error&) {
    return false;
  }
  return fit(layout, tree);
}

// ---------------------------------------------------------------------------------------------------------- new boxes

std::int64_t floor_of(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// Cells of a level as cubes, counted from index 0.
struct Cubes {
  std::vector<Index3> whole;      ///< positions, in cubes from `origin`
  Index3 origin{0, 0, 0};         ///< [cubes]
  std::vector<Index3> in_part{};  ///< cubes of which some cells are there, and some are not
};

/// Counts units of cells by the cube that they lie in.
class CubeCount {
 public:
  void add(const Index3& cube) {
    std::uint64_t key = 0;
    for (std::size_t axis = 3; axis-- > 0;) key = key << bits | static_cast<std::uint64_t>(cube[axis]);
    if (count_ == nullptr || key != last_) count_ = &units_[last_ = key];  // which stays there, whatever is added
    ++*count_;
  }
  template <class F>
  void for_each(F&& f) const {
    for (const auto& [key, count] : units_) {
      Index3 cube{};
      for (std::size_t axis = 0; axis < 3; ++axis)
        cube[axis] = static_cast<std::int64_t>(key >> (bits * axis) & ((1U << bits) - 1));
      f(cube, count);
    }
  }

 private:
  static constexpr unsigned bits = 21;
  std::unordered_map<std::uint64_t, std::int64_t> units_;
  std::uint64_t last_ = 0;
  std::int64_t* count_ = nullptr;
};

/// Tree cells (blocks) are cut into units, which are cubes or a part of one.
Cubes cubes_of(const Octree& tree, const IndexBox& domain, const mesh::LevelCells& places, std::int64_t factor) {
  Cubes out;
  Index3 unit{1, 1, 1};
  std::int64_t full = 1;  // units of a cube
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
    unit[axis] = std::gcd(std::gcd(tree.block[axis], factor), domain.lo[axis]);
    full *= factor / unit[axis];
    out.origin[axis] = floor_of(domain.lo[axis], factor);
  }
  CubeCount units;
  places.for_each([&](std::size_t, const mesh::Coordinate& place) {
    const IndexBox cells = cells_on(tree, domain, place);
    Index3 cell{};
    for (cell[2] = cells.lo[2]; cell[2] < cells.hi[2]; cell[2] += unit[2])
      for (cell[1] = cells.lo[1]; cell[1] < cells.hi[1]; cell[1] += unit[1])
        for (cell[0] = cells.lo[0]; cell[0] < cells.hi[0]; cell[0] += unit[0]) {
          Index3 cube{0, 0, 0};
          for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis)
            cube[axis] = floor_of(cell[axis], factor) - out.origin[axis];
          if (full == 1)
            out.whole.push_back(cube);
          else
            units.add(cube);
        }
  });
  units.for_each(
      [&](const Index3& cube, std::int64_t count) { (count == full ? out.whole : out.in_part).push_back(cube); });
  return out;
}

/// "level 1 is not made of cubes of 8 cells: ..."
Error not_made_of(Cubes cubes, int dim, std::size_t level, std::int64_t factor) {
  std::sort(cubes.in_part.begin(), cubes.in_part.end());
  std::string list;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, cubes.in_part.size()); ++i) {
    IndexBox cells{{0, 0, 0}, {1, 1, 1}};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
      cells.lo[axis] = (cubes.in_part[i][axis] + cubes.origin[axis]) * factor;
      cells.hi[axis] = cells.lo[axis] + factor;
    }
    list += (i == 0 ? "" : ", ") + mesh::describe(cells, dim);
  }
  return Error(Kind::unsupported, "level " + std::to_string(level) + " is not made of cubes of " +
                                      std::to_string(factor) + " cells: of " + std::to_string(cubes.in_part.size()) +
                                      " a part is there only: " + list + (cubes.in_part.size() > 3 ? " ..." : ""))
      .hint("a smaller --blocking-factor, or --fill, which completes them");
}

/// Along the curve, so that neighbours in the list are neighbours in space and a batch of them needs few parts.
void sort_along_curve(std::vector<IndexBox>& boxes, int dim) {
  constexpr int bits = 32;
  const auto key = [&](const IndexBox& box) {
    mesh::Coordinate at{};
    for (std::size_t axis = 0; axis < 3; ++axis) at[axis] = static_cast<std::uint32_t>(box.lo[axis]);
    return mesh::curve_key(mesh::Curve::morton, dim, bits, at);
  };
  std::sort(boxes.begin(), boxes.end(), [&](const IndexBox& a, const IndexBox& b) { return key(a) < key(b); });
}

std::vector<IndexBox> merged(Cubes cubes, int dim, std::int64_t factor, std::int64_t max_box) {
  Index3 longest{1, 1, 1};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) longest[axis] = max_box / factor;
  std::vector<IndexBox> boxes = mesh::merge_to_boxes(std::move(cubes.whole), longest);
  sort_along_curve(boxes, dim);
  for (IndexBox& box : boxes)
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
      box.lo[axis] = (box.lo[axis] + cubes.origin[axis]) * factor;
      box.hi[axis] = (box.hi[axis] + cubes.origin[axis]) * factor;
    }
  return boxes;
}

/// Error(unsupported) where a level is not made of cubes.
void make_boxes(BoxLayout& layout, const Octree& tree, std::int64_t factor, std::int64_t max_box) {
  layout.patches.boxes.clear();
  layout.blocking_factor = factor;
  for_each_level(layout, tree, [&](std::size_t n, const mesh::LevelCells& places) {
    Cubes cubes = cubes_of(tree, layout.patches.domain[n], places, factor);
    if (!cubes.in_part.empty()) throw not_made_of(std::move(cubes), tree.dim, n, factor);
    layout.patches.boxes.push_back(merged(std::move(cubes), tree.dim, factor, max_box));
  });
}

/// With the largest of the usual factors that fits.
void make_large_boxes(BoxLayout& layout, const Octree& tree, std::int64_t max_box) {
  for (const std::int64_t factor : {8, 4, 2, 1}) try {
      if (max_box % factor == 0) return make_boxes(layout, tree, factor, max_box);
    } catch (const Error& error) {
      if (error.kind() != Kind::unsupported || factor == 1) throw;
    }
}

}  // namespace

void keep_layout(const mesh::Patches& patches, std::map<std::string, mesh::Attribute>& attributes) {
  const auto dim = static_cast<std::size_t>(patches.dim);
  attributes["patches/ratio"] = Integers(patches.ratio.begin(), patches.ratio.end());
  attributes["patches/corner"] = Integers(patches.domain[0].lo.begin(), patches.domain[0].lo.begin() + patches.dim);
  Integers flat;
  for (std::size_t level = 0; level < patches.boxes.size(); ++level)
    for (const IndexBox& box : patches.boxes[level]) {
      flat.push_back(static_cast<std::int64_t>(level));
      for (std::size_t axis = 0; axis < dim; ++axis) flat.push_back(box.lo[axis]);
      for (std::size_t axis = 0; axis < dim; ++axis) flat.push_back(box.hi[axis]);
    }
  attributes["patches/boxes"] = std::move(flat);
}

std::vector<std::vector<IndexBox>> listed_boxes(const mesh::Header& header, int dim, std::size_t levels) {
  const Integers flat = integers(header, "patches/boxes");
  const auto d = static_cast<std::size_t>(dim);
  std::vector<std::vector<IndexBox>> boxes(levels);
  if (flat.empty() || flat.size() % (1 + 2 * d) != 0) return {};
  for (std::size_t i = 0; i < flat.size(); i += 1 + 2 * d) {
    if (flat[i] < 0 || flat[i] >= static_cast<std::int64_t>(levels)) return {};
    IndexBox box{{0, 0, 0}, {1, 1, 1}};
    for (std::size_t axis = 0; axis < d; ++axis) {
      box.lo[axis] = flat[i + 1 + axis];
      box.hi[axis] = flat[i + 1 + d + axis];
    }
    boxes[static_cast<std::size_t>(flat[i])].push_back(box);
  }
  return boxes;
}

BoxLayout plan_layout(const mesh::Header& header, const Octree& tree, const LayoutOptions& options) {
  if (options.max_box < 1 || options.blocking_factor < 0)
    throw Error(Kind::usage,
                "boxes of AMReX: the longest must have a cell or more, and the blocking factor be 0 or more");
  if (options.blocking_factor != 0 && options.max_box % options.blocking_factor != 0)
    throw Error(Kind::usage, "--max-box " + std::to_string(options.max_box) +
                                 " is no multiple of the blocking factor, " + std::to_string(options.blocking_factor));
  auto known = levels_it_had(header, tree, options.first);
  BoxLayout layout = known ? std::move(*known) : all_levels(tree, options.first);
  layout.kept = options.keep_boxes && known && keep_boxes(header, tree, layout);
  if (layout.kept) return layout;
  if (options.blocking_factor != 0)
    make_boxes(layout, tree, options.blocking_factor, options.max_box);
  else
    make_large_boxes(layout, tree, options.max_box);
  return layout;
}

}  // namespace octavo::formats::amrex
