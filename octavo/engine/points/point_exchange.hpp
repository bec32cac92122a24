#pragma once
#include <mpi.h>

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "octavo/engine/points/series_exchange.hpp"
#include "octavo/mesh/triangles/point_curve.hpp"

/// Points of a mesh of triangles, and values on them, from one way of sharing them out to another.
namespace octavo::engine {

/// Where a point (or a triangle) stands in an order of all: by key, of 40 bits, those of one key by number, of 31. Two
/// have never the same.
struct Ordered {
  std::uint64_t key = 0;
  std::int64_t number = 0;
  auto operator<=>(const Ordered&) const = default;
};

/// The i-th bound stands behind `bounds[i]` of the ordered items of all ranks. Returns how many of these this rank has.
/// `sorted` is ascending, `bounds` the same on all ranks. It finds key and number bit by bit, by 72 reductions of one
/// integer a bound. Collective.
std::vector<std::size_t> cut_sorted(MPI_Comm comm, std::span<const Ordered> sorted,
                                    std::span<const std::int64_t> bounds);

/// The box of the points of all ranks. Collective.
mesh::PlaneBox box_of_all(MPI_Comm comm, std::span<const double> x, std::span<const double> y);

/// Collective. From who has the points to stretches of the order: rank r gets [bounds[r], bounds[r + 1]). Item i has
/// the place items[i], and its values are at local[i] of the rank's arrays.
SeriesExchange plan_stretches(MPI_Comm comm, std::span<const Ordered> items, std::span<const std::uint32_t> local,
                              std::span<const std::int64_t> bounds);

/// Collective. From who has the points by number, rank r [starts[r], starts[r + 1]), to who wants them.
/// @pre `wanted` ascends, and is in range
SeriesExchange plan_fetch(MPI_Comm comm, std::span<const std::int64_t> starts, std::span<const std::int64_t> wanted);

/// The way back.
SeriesExchange reversed(SeriesExchange exchange);

/// Values of a field: `planes` times `points` of `width` bytes (4 or 8).
struct PlaneValues {
  std::span<const std::byte> bytes;
  std::size_t points = 0, planes = 1, width = 8;
};
/// Collective over the ranks that have peers. `points` values a plane come out; a place that none goes to has the one
/// before it.
std::vector<std::byte> move_values(MPI_Comm comm, const SeriesExchange& exchange, const PlaneValues& values,
                                   std::size_t points);
template <class T>
std::vector<T> move_values(MPI_Comm comm, const SeriesExchange& exchange, std::span<const T> values,
                           std::size_t points);
extern template std::vector<double> move_values(MPI_Comm, const SeriesExchange&, std::span<const double>, std::size_t);

/// Collective. As store::mesh_checksum of the whole mesh, whose points and triangles stand rank after rank.
std::int64_t mesh_checksum(MPI_Comm comm, std::span<const double> x, std::span<const double> y,
                           std::span<const std::int64_t> connectivity, int planes);

}  // namespace octavo::engine
