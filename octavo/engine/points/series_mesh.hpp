#pragma once
#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "octavo/formats/row/series.hpp"
#include "octavo/formats/serafin/layout.hpp"
#include "octavo/formats/serafin/write.hpp"
#include "octavo/mesh/unstructured.hpp"

namespace octavo::engine {

/// The piece of the mesh of a series that a rank holds. Points and triangles may be held by several ranks; every number
/// from 0 up must be held by one at least.
struct SeriesMesh {
  mesh::Unstructured piece{};  ///< global_point: numbers in the file, from 0; empty: the identity
  /// Numbers of its triangles, from 0. If empty on all ranks, triangles are sorted by their lowest points, an order
  /// that does not depend on the cut.
  std::vector<std::int64_t> global_element{};
  /// IPOBO of its points: place on the boundary from 1, or 0 inside. May be empty.
  std::vector<std::int32_t> boundary{};
  /// A file of the whole mesh, in SERAFIN, MED or any other format of triangles. Connectivity, IPOBO and origin are
  /// copied from it, so that the two lists above, and the connectivity of the piece, may be empty. Coordinates are
  /// those of the piece: a run may have moved its points. Rank 0 reads it.
  std::optional<std::filesystem::path> geometry{};
};

/// The points that a rank writes: those of which it is the lowest holder. Their numbers in the file, ascending, in all
/// planes, and the places of their values in the rank's arrays.
struct OwnedPoints {
  std::vector<std::int32_t> number;
  std::vector<std::uint32_t> local;
};

/// The mesh of all ranks, shared out: rank r has an even share of points and of triangles, in the file's order.
struct SharedMesh {
  OwnedPoints owned;
  std::vector<double> x, y;
  std::vector<std::int32_t> boundary;
  std::vector<std::array<std::int32_t, 3>> triangles;  ///< points from 0, of one plane
  std::optional<formats::Series> geometry;             ///< on rank 0: the opened geometry, until the mesh is written
};

struct MeshSizes {
  std::int64_t points = 0, triangles = 0;  ///< of one plane
};

/// Collective. Shares out points and triangles of one plane. Other planes are not in `owned` yet, and the mesh's
/// `geometry` is not used. Throws what share_mesh() throws.
SharedMesh share_pieces(MPI_Comm comm, const SeriesMesh& mesh, MeshSizes& sizes);

/// Collective; all ranks throw the same: Error(corrupt) for points or triangles that no rank holds, Error(usage) for
/// lists of wrong lengths. Fills in the header's sizes and IPARAM.
SharedMesh share_mesh(MPI_Comm comm, const SeriesMesh& mesh, formats::serafin::SerafinHeader& header);

/// Collective. Rank 0 gives `put` the file's header and mesh, from the first byte on, in bounded memory.
void write_mesh(MPI_Comm comm, const SeriesMesh& mesh, const SharedMesh& shared,
                const formats::serafin::SerafinHeader& header, const formats::serafin::Put& put);

}  // namespace octavo::engine
