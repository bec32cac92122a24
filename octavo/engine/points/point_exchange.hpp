#pragma once
#include <mpi.h>

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "octavo/engine/points/series_exchange.hpp"
#include "octavo/mesh/triangles/point_curve.hpp"

/// Moves points of a mesh of triangles, and values on them, from one distribution over the ranks to another.
namespace octavo::engine {

/// The position of a point (or a triangle) in an order of all: first by key (40 bits), then by number (31 bits). No two
/// have the same.
struct Ordered {
  std::uint64_t key = 0;
  std::int64_t number = 0;
  auto operator<=>(const Ordered&) const = default;
};

/// Cuts the ordered items of all ranks after the first `bounds[i]` of them. Returns for each cut how many items before
/// it this rank has. `sorted` and `bounds` ascend; `bounds` is the same on all ranks. Collective.
std::vector<std::size_t> cut_sorted(MPI_Comm comm, std::span<const Ordered> sorted,
                                    std::span<const std::int64_t> bounds);

/// The box of the points of all ranks. Collective.
mesh::PlaneBox box_of_all(MPI_Comm comm, std::span<const double> x, std::span<const double> y);

/// Collective. Plans the way from the ranks that have the points to stretches of the order: rank r gets
/// [bounds[r], bounds[r + 1]). Item i has the position items[i]; its values are at local[i] of the rank's arrays.
SeriesExchange plan_stretches(MPI_Comm comm, std::span<const Ordered> items, std::span<const std::uint32_t> local,
                              std::span<const std::int64_t> bounds);

/// Collective. Plans the way from the ranks that have the points by number, rank r [starts[r], starts[r + 1]), to the
/// ranks that want them.
/// @pre `wanted` ascends, and is in range
SeriesExchange plan_fetch(MPI_Comm comm, std::span<const std::int64_t> starts, std::span<const std::int64_t> wanted);

/// The exchange in the opposite direction.
SeriesExchange reversed(SeriesExchange exchange);

/// Values of a field: `planes` times `points` of `width` bytes (4 or 8).
struct PlaneValues {
  std::span<const std::byte> bytes;
  std::size_t points = 0, planes = 1, width = 8;
};
/// Collective over the ranks that have peers. Returns `points` values a plane. A place that receives no value repeats
/// the one before it.
std::vector<std::byte> move_values(MPI_Comm comm, const SeriesExchange& exchange, const PlaneValues& values,
                                   std::size_t points);
template <class T>
std::vector<T> move_values(MPI_Comm comm, const SeriesExchange& exchange, std::span<const T> values,
                           std::size_t points);
extern template std::vector<double> move_values(MPI_Comm, const SeriesExchange&, std::span<const double>, std::size_t);

/// Collective. Equals store::mesh_checksum() of the whole mesh, whose points and triangles are those of rank after
/// rank.
std::int64_t mesh_checksum(MPI_Comm comm, std::span<const double> x, std::span<const double> y,
                           std::span<const std::int64_t> connectivity, int planes);

}  // namespace octavo::engine
