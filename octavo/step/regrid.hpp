#pragma once
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/prune.hpp"
#include "octavo/mesh/tree/regrid.hpp"

namespace octavo::step {

struct RegridJob {
  /// `first`, `periodic` and `edge` are taken from the step; so is `specific` (mesh::specific_of) if it names nothing.
  mesh::RegridOptions how;
  /// The new roots are the cells of the finest level that covers the whole domain. Coarser levels hold no leaf.
  bool from_finest_full = false;
  std::int64_t part_cells = std::int64_t{1} << 20;  ///< most cells that a new part owns; 0: one part
};

struct Regridded {
  mesh::Dataset dataset;
  mesh::Regrid plan;       ///< without its tree
  bool same_tree = false;  ///< the step already has the wanted tree: `dataset` is the step itself
};

/// Edge lengths of the cells of a root; 1 along unused axes.
std::array<double, 3> cell_edges(const mesh::Header& header);

/// Adds to the fields asked for (positions, ascending) the other fields that are needed to make their values. A field
/// of faces needs all fields of faces, because values of faces are made of vectors. For specific quantities see
/// mesh::with_specific.
std::vector<std::size_t> with_partners(const std::vector<mesh::FieldInfo>& fields, const mesh::Specific& specific,
                                       const std::vector<std::size_t>& asked);

/// A step on another tree (mesh/regrid.hpp), cut into parts along the walk of the new tree. Neither the new parts nor
/// the values depend on the parts of the source. Reading a new part reads the source parts that have cells of it, one
/// after another. Memory: both trees, one source part and one new part. The new step has no particles. Its header
/// numbers levels from 1.
///
/// If values of faces or means are made, the new step is one part, whatever `part_cells` says.
/// Throws as plan_regrid does, and Error(unsupported) if values must be made of a field of nodes, or of a field of
/// faces that is no vector (mesh::face_vectors).
Regridded regrid(const mesh::Dataset& source, const RegridJob& job);

// ------------------------------------------------------- for callers that regrid a piece of a step
// (mesh/tree/regrid.hpp)

/// Adds the facts of the step's header to the options.
mesh::RegridOptions regrid_options(const mesh::Header& source, mesh::RegridOptions how);
/// The header of the step on the new tree.
mesh::Header header_on(const mesh::Header& source, const mesh::Octree& tree);
/// New values can be made of fields of cells and of vectors on faces: Error(unsupported) where others would have to be
/// made. `coarsest` is the level of the step's coarsest leaf.
void check_made(const mesh::Header& header, const mesh::Regrid& plan, int coarsest);
/// The tree's own cells, the cells from which their values are made, and the cells that complete it. Not for fields of
/// faces: they need the cells beside all of these too.
mesh::Extract tree_to_complete(const mesh::Regrid& plan, mesh::Octree tree);
/// The values of the fields asked for (positions, ascending) on a piece of the new tree: reads these source parts, one
/// after another, and makes the values that they do not give.
std::vector<mesh::Field> read_onto(const mesh::Dataset& source, const std::vector<int>& parts, const mesh::Regrid& plan,
                                   const mesh::Octree& tree, const std::vector<std::size_t>& asked);

}  // namespace octavo::step
