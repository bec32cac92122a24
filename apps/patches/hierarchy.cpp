#include "apps/patches/hierarchy.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "apps/patches/cluster.hpp"
#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/curve.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::patches {
namespace {

using base::Error;
using base::Kind;

void check_extents(const Shape& shape) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool used = axis < static_cast<std::size_t>(shape.dim);
    const std::int64_t cells = shape.cells[axis];
    if (used ? cells <= 0 || cells % shape.block != 0 : cells != 1)
      throw Error(Kind::usage, "level 0 has " + std::to_string(cells) + " cells along axis " + std::to_string(axis) +
                                   ": it takes whole blocks of " + std::to_string(shape.block) +
                                   ", and 1 along an axis that is not used");
    if (used && !(shape.lo[axis] < shape.hi[axis])) throw Error(Kind::usage, "the domain is empty");
  }
}

// The key of the box's corner, as positions of the next coarser power of two.
mesh::CurveKey key_of(const IndexBox& box, int dim) {
  mesh::Coordinate at{};
  for (std::size_t axis = 0; axis < 3; ++axis) at[axis] = static_cast<std::uint32_t>(box.lo[axis]);
  return curve_key(mesh::Curve::hilbert, dim, 31, at);
}

void sort_along_curve(std::vector<IndexBox>& boxes, int dim) {
  std::sort(boxes.begin(), boxes.end(),
            [&](const IndexBox& a, const IndexBox& b) { return key_of(a, dim) < key_of(b, dim); });
}

// Each box goes to the rank in whose share its middle falls.
std::vector<int> deal_out(const std::vector<IndexBox>& boxes, int dim, int ranks) {
  std::int64_t total = 0, before = 0;
  for (const IndexBox& box : boxes) total += num_cells(box, dim);
  std::vector<int> owner;
  for (const IndexBox& box : boxes) {
    const std::int64_t cells = num_cells(box, dim), middle = before + cells / 2;
    owner.push_back(static_cast<int>(middle * ranks / total));
    before += cells;
  }
  return owner;
}

}  // namespace

void check(const Shape& shape) {
  if (shape.dim < 1 || shape.dim > 3) throw Error(Kind::usage, "a mesh of 1 to 3 dimensions is wanted");
  if (shape.block < 2 || shape.block % 2 != 0) throw Error(Kind::usage, "blocks have an even number of cells an axis");
  if (shape.max_box < 2 * shape.block || shape.max_box % (2 * shape.block) != 0)
    throw Error(Kind::usage, "the longest box is a multiple of twice the block, of " + std::to_string(2 * shape.block) +
                                 ", and not " + std::to_string(shape.max_box));
  if (shape.max_level < 0 || shape.max_level > 20) throw Error(Kind::usage, "the maximum level is 0 to 20");
  if (shape.ghost < 1 || shape.ghost > shape.block) throw Error(Kind::usage, "ghost cells are 1 to a block's cells");
  if (shape.variables < 1) throw Error(Kind::usage, "a mesh without variables");
  if (!(shape.efficiency > 0) || shape.efficiency > 1) throw Error(Kind::usage, "efficiency is above 0, at most 1");
  check_extents(shape);
}

IndexBox domain_of(const Shape& shape, int level) {
  return refined_box(IndexBox{{0, 0, 0}, shape.cells}, std::int64_t{1} << level, shape.dim);
}

mesh::Point3 cell_size(const Shape& shape, int level) {
  mesh::Point3 size{1, 1, 1};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(shape.dim); ++axis)
    size[axis] = (shape.hi[axis] - shape.lo[axis]) / static_cast<double>(shape.cells[axis] << level);
  return size;
}

Level make_level(MPI_Comm comm, const Shape& shape, std::vector<IndexBox> boxes, std::vector<int> owner) {
  Level level;
  level.index = index_boxes(boxes, shape.dim);
  std::vector<std::size_t> count(static_cast<std::size_t>(ranks::size_of(comm)), 0);
  for (int rank : owner) level.slot.push_back(count[static_cast<std::size_t>(rank)]++);
  const int me = ranks::rank_in(comm);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (owner[i] != me) continue;
    level.mine.push_back(boxes[i]);
    level.values.push_back(make_values(grown(boxes[i], shape.ghost, shape.dim), shape.variables));
  }
  level.boxes = std::move(boxes);
  level.owner = std::move(owner);
  return level;
}

Level make_level(MPI_Comm comm, const Shape& shape, std::vector<IndexBox> boxes) {
  sort_along_curve(boxes, shape.dim);
  std::vector<int> owner = deal_out(boxes, shape.dim, ranks::size_of(comm));
  return make_level(comm, shape, std::move(boxes), std::move(owner));
}

std::vector<IndexBox> base_boxes(const Shape& shape, int ranks) {
  const IndexBox domain = domain_of(shape, 0);
  std::int64_t longest = shape.max_box;
  for (;; longest /= 2) {
    auto boxes = chop(domain, {longest, longest, longest}, shape.dim);
    const bool divides = longest % (2 * shape.block) == 0;
    if (static_cast<int>(boxes.size()) >= 2 * ranks || !divides) return boxes;
  }
}

std::int64_t count_leaves(const Hierarchy& mesh) {
  std::int64_t leaves = 0;
  for (std::size_t l = 0; l < mesh.levels.size(); ++l)
    for (const IndexBox& box : mesh.levels[l].boxes) {
      const std::int64_t cells = num_cells(box, mesh.shape.dim);
      leaves += l == 0 ? cells : cells - (cells >> mesh.shape.dim);
    }
  return leaves;
}

mesh::Patches patches_of(const Hierarchy& mesh) {
  mesh::Patches patches;
  patches.dim = mesh.shape.dim;
  for (std::size_t l = 0; l < mesh.levels.size(); ++l) {
    patches.domain.push_back(domain_of(mesh.shape, static_cast<int>(l)));
    patches.boxes.push_back(mesh.levels[l].mine);
    if (l > 0) patches.ratio.push_back(2);
  }
  return patches;
}

}  // namespace octavo::patches
