#pragma once
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "octavo/engine/points/series_mesh.hpp"
#include "octavo/engine/points/series_plan.hpp"

namespace octavo::engine {

/// Which rank sends which values to which other rank. Found once, used for every step.
struct SeriesExchange {
  /// The values that go to, or come from, one rank: a range of `send` or `place`.
  struct Peer {
    int rank = 0;
    std::size_t first = 0, count = 0;  ///< in `send` or `place`
  };
  std::vector<Peer> to, from;
  std::vector<std::uint32_t> send;  ///< where a value is in this rank's arrays
  std::vector<std::uint32_t>
      place;        ///< where a received value goes, counted from the first point that this writer needs
  int writer = -1;  ///< this rank's number among the writers
};

/// Makes the peers from the number of values for each rank; ranks without values are left out.
std::vector<SeriesExchange::Peer> peers_of(const std::vector<int>& counts);
/// Throws Error(unsupported) if two ranks would exchange more values than MPI can count, with `variables` values each.
void require_countable(const std::vector<SeriesExchange::Peer>& peers, std::size_t variables);

/// Collective.
SeriesExchange plan_exchange(MPI_Comm comm, const SeriesPlan& plan, const OwnedPoints& owned);

/// Collective over the ranks that have peers. `out` and `in` have, for each peer in turn, its count of values of
/// `width` bytes (4 or 8) of one variable, then of the next.
void exchange_values(MPI_Comm comm, const SeriesExchange& exchange, std::size_t variables, std::size_t width,
                     const std::vector<std::byte>& out, std::vector<std::byte>& in);

}  // namespace octavo::engine
