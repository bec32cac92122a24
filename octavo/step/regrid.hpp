#pragma once
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/regrid.hpp"

namespace octavo::step {

struct RegridJob {
  /// `first`, `periodic` and `edge` are taken from the step; so is `specific` (mesh::specific_of) if it names nothing.
  mesh::RegridOptions how;
  /// Root at the finest level that the whole domain is refined to: coarser ones hold no leaf.
  bool from_finest_full = false;
  std::int64_t part_cells = std::int64_t{1} << 20;  ///< cells that a new part owns at most; 0: one part
};

struct Regridded {
  mesh::Dataset dataset;
  mesh::Regrid plan;       ///< without its tree
  bool same_tree = false;  ///< the step has the wanted tree already: `dataset` is it
};

/// Edge lengths of a root's cells; of unused axes 1.
std::array<double, 3> cell_edges(const mesh::Header& header);

/// Adds to the fields asked for (positions, ascending) all that are needed to make values of these. If one is of faces,
/// these are all fields of faces, because values of faces are made of vectors. For specific quantities see
/// mesh::with_specific.
std::vector<std::size_t> with_partners(const std::vector<mesh::FieldInfo>& fields, const mesh::Specific& specific,
                                       const std::vector<std::size_t>& asked);

/// A step on another tree (mesh/regrid.hpp), cut into parts along the walk of the new tree: neither they nor the values
/// depend on how the source is cut. Reading a part reads the source parts that have cells of it, one after another: in
/// memory are the whole trees, one source part and one new part. Particles are not handed on.
/// Level numbers of the new header count from 1.
///
/// Where values of faces or means are made, the new step is one part, whatever `part_cells` says.
/// Throws as plan_regrid does, and Error(unsupported) where values would be made of a field of nodes or of one of faces
/// that is no vector (mesh::face_vectors).
Regridded regrid(const mesh::Dataset& source, const RegridJob& job);

}  // namespace octavo::step
