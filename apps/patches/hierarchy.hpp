#pragma once
#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "apps/patches/values.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/patches/box_index.hpp"

namespace octavo::patches {

/// The values of ghost cells outside of the domain, on both sides of an axis.
enum class Boundary : std::uint8_t {
  outflow,     ///< the value of the nearest cell inside
  reflecting,  ///< that of the cell's mirror image, with the opposite sign where Shape::mirrored says so
  periodic
};

/// The properties of a hierarchy of patches that never change.
struct Shape {
  int dim = 2;
  Index3 cells{64, 64, 1};                ///< of level 0: multiples of `block`; 1 along axes that are not used
  mesh::Point3 lo{0, 0, 0}, hi{1, 1, 1};  ///< of the domain [code length]
  std::array<Boundary, 3> boundary{};
  std::int64_t block = 8;  ///< cells are refined in whole blocks of so many an axis (even): finer boxes are multiples
                           ///< of twice that, and a tree of blocks of this size holds the same cells
  std::int64_t max_box = 64;  ///< boxes are at most that long [cells]; a multiple of 2 * block
  int max_level = 3;
  int ghost = 2;                            ///< at most `block`
  int variables = 4;                        ///< values a cell
  std::array<int, 3> mirrored{-1, -1, -1};  ///< the variable that changes its sign at a reflecting side of each axis
  double efficiency = 0.7;                  ///< share of the refined blocks that somebody asked for, in each cluster
  bool operator==(const Shape&) const = default;
};

/// Throws Error(usage) naming what does not fit.
void check(const Shape& shape);

/// The cells of a level; edge length of a cell along each axis.
IndexBox domain_of(const Shape& shape, int level);
mesh::Point3 cell_size(const Shape& shape, int level);

/// One level: all its boxes, and the values of this rank's. Boxes stand along a Hilbert curve, each rank's are one
/// stretch of it.
struct Level {
  std::vector<IndexBox> boxes;    ///< of all ranks, disjoint
  std::vector<int> owner;         ///< rank of each
  std::vector<std::size_t> slot;  ///< position of each among its rank's
  mesh::BoxIndex index;           ///< of `boxes`
  std::vector<IndexBox> mine;     ///< this rank's boxes
  std::vector<Values> values;     ///< of each of them, `ghost` cells around it included
};

/// Levels 0 to levels.size() - 1, each nested in the one before with a block to spare on every side, but for the border
/// of the domain: so ghost cells never need more than one coarser level, and as a tree of blocks it is balanced over
/// corners. Coarse cells under finer ones hold their means.
struct Hierarchy {
  MPI_Comm comm = MPI_COMM_WORLD;
  Shape shape;
  std::vector<Level> levels;
};

/// Boxes and who has them; values are zeros. `boxes` are those of all ranks, the same on each, in any order. They are
/// dealt out in stretches of the curve of about equal numbers of cells.
Level make_level(MPI_Comm comm, const Shape& shape, std::vector<IndexBox> boxes);
/// The same with given owners, as a restart has them.
Level make_level(MPI_Comm comm, const Shape& shape, std::vector<IndexBox> boxes, std::vector<int> owner);

/// The boxes of level 0: the domain, cut at multiples of `max_box`, or of less where there are more ranks than boxes.
std::vector<IndexBox> base_boxes(const Shape& shape, int ranks);

/// Cells that are not under finer ones, of all ranks.
std::int64_t count_leaves(const Hierarchy& mesh);
/// The boxes of this rank, as they are put into a step.
mesh::Patches patches_of(const Hierarchy& mesh);

/// Calls f(level, values of the box with its ghosts, box) for each box of this rank.
template <class Mesh, class F>
void for_each_patch(Mesh& mesh, F&& f) {
  for (std::size_t l = 0; l < mesh.levels.size(); ++l)
    for (std::size_t i = 0; i < mesh.levels[l].mine.size(); ++i)
      f(static_cast<int>(l), mesh.levels[l].values[i], mesh.levels[l].mine[i]);
}

}  // namespace octavo::patches
