#pragma once
#include <mpi.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "octavo/engine/points/series_exchange.hpp"
#include "octavo/engine/points/series_mesh.hpp"
#include "octavo/engine/step/step_job.hpp"
#include "octavo/mesh/triangles/point_curve.hpp"
#include "octavo/mesh/unstructured.hpp"

/// Turns the pieces of a mesh of triangles that ranks put into the even stretches that a store holds (docs/format.md,
/// "Triangles"). Values get there by an exchange that is planned once a mesh.
namespace octavo::engine {

/// The mesh of all ranks, this rank's share of it, and how values reach the shares.
struct TriangleShares {
  std::uint64_t piece = 0;     ///< checksum of this rank's piece; the caller sets it
  SeriesExchange along_curve;  ///< of points: from their owners to the stretches of the curve
  SeriesExchange by_number;    ///< the same, to the ranks that have them in `x` and `y`
  std::size_t places = 0;      ///< of this rank's stretch of the curve
  store::TriangleMesh whole;   ///< of all ranks
  std::int64_t checksum = 0;   ///< of the whole mesh
  mesh::PlaneBox box{};
  std::vector<std::byte> x, y;  ///< float32 where that loses nothing on any rank, else float64
  bool single = false;
  std::size_t points = 0;           ///< of this rank's share
  std::vector<std::int32_t> steps;  ///< of this rank's share: store::triangle_steps()
};

/// The checksum of all arguments of put_mesh().
std::uint64_t checksum_of(const mesh::Unstructured& piece, std::span<const std::int64_t> global_element);

/// Collective; all ranks throw the same: Error(corrupt) for points or triangles that no rank holds.
TriangleShares share_triangles(MPI_Comm comm, const SeriesMesh& mesh);

/// Collective. Reduces a job to what this rank writes: its stretch of each field, and its share of the mesh unless
/// `mesh_step` holds the mesh.
void fold(MPI_Comm comm, StepJob& job, const TriangleShares& shares, std::optional<std::int64_t> mesh_step);

/// The checksum of the integer fields, which are stored with the mesh. If it changes, the mesh must be written again.
/// 0: there are none.
std::uint64_t numbers_checksum(const StepJob& job);

}  // namespace octavo::engine
