#include "octavo/engine/points/series_exchange.hpp"

#include <algorithm>
#include <limits>

#include "octavo/base/error.hpp"
#include "octavo/ranks/route.hpp"

namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;
using Peer = SeriesExchange::Peer;

/// Adds the rank's own points in [first, last), and their places counted from `offset`.
void add_range(const OwnedPoints& owned, std::int64_t first, std::int64_t last, std::int64_t offset,
               SeriesExchange& exchange, std::vector<std::uint32_t>& places) {
  auto at = std::lower_bound(owned.number.begin(), owned.number.end(), first);
  for (; at != owned.number.end() && *at < last; ++at) {
    exchange.send.push_back(owned.local[static_cast<std::size_t>(at - owned.number.begin())]);
    places.push_back(static_cast<std::uint32_t>(*at - first + offset));
  }
}

}  // namespace

std::vector<Peer> peers_of(const std::vector<int>& counts) {
  std::vector<Peer> peers;
  std::size_t first = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    const auto count = static_cast<std::size_t>(counts[rank]);
    if (count > 0) peers.push_back({static_cast<int>(rank), first, count});
    first += count;
  }
  return peers;
}

void require_countable(const std::vector<Peer>& peers, std::size_t variables) {
  for (const Peer& peer : peers)
    if (peer.count * variables > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw Error(Kind::unsupported, "two ranks exchange more than 2^31 values at once").hint("more writers");
}

SeriesExchange plan_exchange(MPI_Comm comm, const SeriesPlan& plan, const OwnedPoints& owned) {
  SeriesExchange exchange;
  std::vector<int> counts(static_cast<std::size_t>(ranks::size_of(comm)), 0);
  std::vector<std::uint32_t> places;
  const std::int64_t points = plan.header.points;
  ranks::agree(comm, [&] {
    for (int w = 0; w < plan.writers; ++w) {
      const int rank = plan.ranks[static_cast<std::size_t>(w)];
      const PointRange needed = needed_points(plan, w);
      const std::int64_t past = needed.first + needed.count;
      const std::size_t before = places.size();
      add_range(owned, needed.first, std::min(past, points), 0, exchange, places);
      // A bound that was moved up can lie behind the last value. The file goes on there with the first values of the
      // next variable.
      if (past > points) add_range(owned, 0, past - points, points - needed.first, exchange, places);
      counts[static_cast<std::size_t>(rank)] = static_cast<int>(places.size() - before);
      if (rank == ranks::rank_in(comm)) exchange.writer = w;
    }
  });
  ranks::Routed<std::uint32_t> came = ranks::route<std::uint32_t>(comm, places, counts);
  exchange.place = std::move(came.values);
  exchange.to = peers_of(counts);
  exchange.from = peers_of(came.counts);
  ranks::agree(comm, [&] {
    require_countable(exchange.to, plan.header.variables.size());
    require_countable(exchange.from, plan.header.variables.size());
  });
  return exchange;
}

void exchange_values(MPI_Comm comm, const SeriesExchange& exchange, std::size_t variables, std::size_t width,
                     const std::vector<std::byte>& out, std::vector<std::byte>& in) {
  constexpr int tag = 2;
  const MPI_Datatype type = width == 8 ? MPI_UINT64_T : MPI_UINT32_T;
  std::vector<MPI_Request> requests;
  const auto each = [&](const Peer& peer, auto&& start) {
    start(peer.first * variables * width, static_cast<int>(peer.count * variables), peer.rank,
          &requests.emplace_back(MPI_REQUEST_NULL));
  };
  for (const Peer& peer : exchange.from)
    each(peer, [&](std::size_t at, int count, int rank, MPI_Request* request) {
      MPI_Irecv(in.data() + at, count, type, rank, tag, comm, request);
    });
  for (const Peer& peer : exchange.to)
    each(peer, [&](std::size_t at, int count, int rank, MPI_Request* request) {
      MPI_Isend(out.data() + at, count, type, rank, tag, comm, request);
    });
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace octavo::engine
