#pragma once
#include "octavo/mesh/dataset.hpp"
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

}  // namespace octavo::step
