#include "octavo/engine/points/point_exchange.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>

#include "octavo/base/checksum.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/route.hpp"

namespace octavo::engine {
namespace {

// mesh::point_key() has 40 bits. Behind it a point's number makes each position unique.
constexpr int number_bits = 32, key_bits = 40;

base::WideKey wide_place(const Ordered& place) {
  return base::WideKey{place.key} << number_bits | static_cast<base::WideKey>(place.number);
}

std::vector<int> counts_between(const std::vector<std::size_t>& cuts) {
  std::vector<int> counts;
  for (std::size_t r = 0; r + 1 < cuts.size(); ++r) counts.push_back(static_cast<int>(cuts[r + 1] - cuts[r]));
  return counts;
}

template <class Word>
void gather(const PlaneValues& values, const SeriesExchange& exchange, std::vector<std::byte>& out) {
  out.resize(exchange.send.size() * values.planes * sizeof(Word));
  std::byte* to = out.data();
  for (const SeriesExchange::Peer& peer : exchange.to)
    for (std::size_t plane = 0; plane < values.planes; ++plane)
      for (std::size_t i = 0; i < peer.count; ++i, to += sizeof(Word))
        std::memcpy(to, values.bytes.data() + (plane * values.points + exchange.send[peer.first + i]) * sizeof(Word),
                    sizeof(Word));
}

template <class Word>
void scatter(const std::vector<std::byte>& in, const SeriesExchange& exchange, std::size_t points, std::size_t planes,
             std::vector<std::byte>& out) {
  const std::byte* from = in.data();
  for (const SeriesExchange::Peer& peer : exchange.from)
    for (std::size_t plane = 0; plane < planes; ++plane)
      for (std::size_t i = 0; i < peer.count; ++i, from += sizeof(Word))
        std::memcpy(out.data() + (plane * points + exchange.place[peer.first + i]) * sizeof(Word), from, sizeof(Word));
}

/// A place that received no value gets the value before it.
template <class Word>
void fill_up(std::size_t came, std::size_t points, std::size_t planes, std::vector<std::byte>& out) {
  for (std::size_t plane = 0; plane < planes && came > 0; ++plane)
    for (std::size_t i = came; i < points; ++i)
      std::memcpy(out.data() + (plane * points + i) * sizeof(Word),
                  out.data() + (plane * points + came - 1) * sizeof(Word), sizeof(Word));
}

template <class Word>
std::vector<std::byte> move_words(MPI_Comm comm, const SeriesExchange& exchange, const PlaneValues& values,
                                  std::size_t points) {
  std::vector<std::byte> sent, in, out;
  ranks::agree(comm, [&] {  // a rank without memory would leave the others waiting for its values
    gather<Word>(values, exchange, sent);
    in.resize(exchange.place.size() * values.planes * sizeof(Word));
    out.resize(points * values.planes * sizeof(Word));
  });
  exchange_values(comm, exchange, values.planes, sizeof(Word), sent, in);
  scatter<Word>(in, exchange, points, values.planes, out);
  fill_up<Word>(exchange.place.size(), points, values.planes, out);
  return out;
}

}  // namespace

std::vector<std::size_t> cut_sorted(MPI_Comm comm, std::span<const Ordered> sorted,
                                    std::span<const std::int64_t> bounds) {
  constexpr std::size_t counters = 4096;  // 32 KiB a round
  const auto found = ranks::find_keys(comm, {bounds, number_bits + key_bits, counters}, [&](base::KeySearch& search) {
    search.count(sorted, wide_place, [](const Ordered&) { return 1; });
  });
  std::vector<std::size_t> cuts;
  for (const base::WideKey key : found)
    cuts.push_back(
        static_cast<std::size_t>(std::partition_point(sorted.begin(), sorted.end(),
                                                      [&](const Ordered& place) { return wide_place(place) < key; }) -
                                 sorted.begin()));
  return cuts;
}

mesh::PlaneBox box_of_all(MPI_Comm comm, std::span<const double> x, std::span<const double> y) {
  const mesh::PlaneBox mine = mesh::box_of(x, y);
  // Upper sides are negated, so one reduction finds all four.
  std::array<double, 4> least{mine.x_lo, mine.y_lo, -mine.x_hi, -mine.y_hi};
  MPI_Allreduce(MPI_IN_PLACE, least.data(), 4, MPI_DOUBLE, MPI_MIN, comm);
  return {least[0], -least[2], least[1], -least[3]};
}

SeriesExchange plan_stretches(MPI_Comm comm, std::span<const Ordered> items, std::span<const std::uint32_t> local,
                              std::span<const std::int64_t> bounds) {
  std::vector<std::uint32_t> order;
  SeriesExchange exchange;
  std::vector<Ordered> sorted;
  ranks::agree(comm, [&] {
    order.resize(items.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return items[a] < items[b]; });
    for (const std::uint32_t i : order) {
      sorted.push_back(items[i]);
      exchange.send.push_back(local[i]);
    }
  });
  const std::vector<int> counts = counts_between(cut_sorted(comm, sorted, bounds));
  const ranks::Routed<Ordered> came = ranks::route<Ordered>(comm, sorted, counts);
  exchange.to = peers_of(counts);
  exchange.from = peers_of(came.counts);
  ranks::agree(comm, [&] {
    order.resize(came.values.size());
    exchange.place.resize(order.size());
  });
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return came.values[a] < came.values[b]; });
  // Values come rank after rank; `place` is where each stands among all of them.
  for (std::size_t i = 0; i < order.size(); ++i) exchange.place[order[i]] = static_cast<std::uint32_t>(i);
  return exchange;
}

SeriesExchange plan_fetch(MPI_Comm comm, std::span<const std::int64_t> starts, std::span<const std::int64_t> wanted) {
  std::vector<std::size_t> cuts;
  for (const std::int64_t start : starts)
    cuts.push_back(static_cast<std::size_t>(std::lower_bound(wanted.begin(), wanted.end(), start) - wanted.begin()));
  const std::vector<int> counts = counts_between(cuts);
  const ranks::Routed<std::int64_t> asked = ranks::route<std::int64_t>(comm, wanted, counts);
  SeriesExchange exchange;
  exchange.from = peers_of(counts);
  exchange.to = peers_of(asked.counts);
  exchange.place.resize(wanted.size());
  std::iota(exchange.place.begin(), exchange.place.end(), 0u);
  const std::int64_t first = starts[static_cast<std::size_t>(ranks::rank_in(comm))];
  for (const std::int64_t number : asked.values) exchange.send.push_back(static_cast<std::uint32_t>(number - first));
  return exchange;
}

SeriesExchange reversed(SeriesExchange exchange) {
  std::swap(exchange.to, exchange.from);
  std::swap(exchange.send, exchange.place);
  return exchange;
}

std::vector<std::byte> move_values(MPI_Comm comm, const SeriesExchange& exchange, const PlaneValues& values,
                                   std::size_t points) {
  return values.width == 8 ? move_words<std::uint64_t>(comm, exchange, values, points)
                           : move_words<std::uint32_t>(comm, exchange, values, points);
}

template <class T>
std::vector<T> move_values(MPI_Comm comm, const SeriesExchange& exchange, std::span<const T> values,
                           std::size_t points) {
  const auto bytes = move_values(comm, exchange, {std::as_bytes(values), values.size(), 1, sizeof(T)}, points);
  std::vector<T> out(points);
  if (points > 0) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}
template std::vector<double> move_values(MPI_Comm, const SeriesExchange&, std::span<const double>, std::size_t);

std::int64_t mesh_checksum(MPI_Comm comm, std::span<const double> x, std::span<const double> y,
                           std::span<const std::int64_t> connectivity, int planes) {
  base::RunningChecksum sum;
  const auto add = [&]<class T>(std::span<const T> values) {
    ranks::to_root<T>(comm, values, [&](std::int64_t, std::span<const T> some) { sum.add(std::as_bytes(some)); });
  };
  add(x);
  add(y);
  add(connectivity);
  const auto last = static_cast<std::int64_t>(planes);
  sum.add(std::as_bytes(std::span(&last, 1)));
  auto value = static_cast<std::int64_t>(sum.value());
  MPI_Bcast(&value, 1, MPI_INT64_T, 0, comm);
  return value;
}

}  // namespace octavo::engine
