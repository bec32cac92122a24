#include "octavo/ranks/key_share.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "octavo/base/pack.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/deliver.hpp"
#include "octavo/ranks/halves.hpp"

/// Equal shares of sorted keys without a list of keys or ranks anywhere. Bound r is the key before which keys * r /
/// ranks keys lie. In a round each rank counts its keys in 256 buckets of every interval that is still searched and in
/// which it has keys; the counts are added up on their way to the searcher, and the answers take the same ways back.
/// After bits / 8 rounds each interval is one key. Most buckets are empty, so messages name those that are not.
namespace octavo::ranks {
namespace {

using base::WideKey;

constexpr int round_bits = 8;

// An interval of keys that holds the bounds [first, last]. Rank `first` searches it.
struct Interval {
  WideKey low = 0;
  std::int64_t below = 0;  // number of keys before `low`
  int first = 0, last = -1;
};

// A number for a bucket of an interval.
struct Bucket {
  std::uint32_t bucket = 0;
  std::int64_t number = 0;
};

// A message to the rank that searches an interval: counts of keys, and the interval if it has to begin the search.
struct Tally {
  int searcher = 0;
  Interval interval{};         // empty: not told
  std::vector<Bucket> counts;  // ascending, of buckets that have keys
};
using Tallies = std::map<int, Tally>;  // by searcher

// Its answer: who searches the parts of the interval next that hold bounds.
struct Parting {
  int searcher = 0;
  std::vector<Bucket> next;  // ascending
};

template <class Way>
void both(Way& way, Tally& tally) {
  using base::both;
  both(way, tally.searcher, tally.interval, tally.counts);
}
template <class Way>
void both(Way& way, Parting& parting) {
  using base::both;
  both(way, parting.searcher, parting.next);
}

// An interval in which this rank has keys.
struct SearchedInterval {
  WideKey low = 0;
  int searcher = 0;
};

void add_tally(Tallies& tallies, const Tally& more) {
  Tally& tally = tallies.try_emplace(more.searcher, Tally{more.searcher, {}, {}}).first->second;
  if (more.interval.first <= more.interval.last) tally.interval = more.interval;
  const auto& [first, second] = std::pair(std::exchange(tally.counts, {}), std::span(more.counts));
  for (std::size_t i = 0, j = 0; i < first.size() || j < second.size();) {
    const std::uint32_t none = std::uint32_t{1} << round_bits;
    const std::uint32_t a = i < first.size() ? first[i].bucket : none, b = j < second.size() ? second[j].bucket : none;
    tally.counts.push_back({std::min(a, b), 0});
    if (a <= b) tally.counts.back().number += first[i++].number;
    if (b <= a) tally.counts.back().number += second[j++].number;
  }
}

// An exchange between two halves of the ranks: by sender, the searchers whose tallies came.
struct Hop {
  Halves halves;
  std::vector<std::vector<int>> came;
};

// Collective. Adds up the tallies for each searcher. This rank's own is left in `tallies`, if there is one.
std::vector<Hop> add_up(MPI_Comm comm, Tallies& tallies) {
  const int rank = rank_in(comm);
  std::vector<Hop> hops;
  for (const Halves& halves : halves_of(rank, size_of(comm))) {
    Hop hop{halves, {}};
    std::vector<Tally> leave;
    std::erase_if(tallies, [&](const auto& one) {
      const bool goes = halves.is_low(one.first) != halves.is_low(rank);
      if (goes) leave.push_back(one.second);
      return goes;
    });
    for (const std::string& in : exchange(comm, {{halves.receiver(rank), base::packed(leave)}}, halves.senders(rank))) {
      hop.came.emplace_back();
      for (const Tally& tally : base::unpacked<std::vector<Tally>>(in)) {
        hop.came.back().push_back(tally.searcher);
        add_tally(tallies, tally);
      }
    }
    hops.push_back(std::move(hop));
  }
  return hops;
}

// Collective. Sends the answers back along the ways by which the tallies came.
std::map<int, Parting> answer_all(MPI_Comm comm, const std::vector<Hop>& hops, std::map<int, Parting> known) {
  const int rank = rank_in(comm);
  for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop) {
    const std::vector<int> senders = hop->halves.senders(rank);
    std::vector<std::pair<int, std::string>> out;
    for (std::size_t s = 0; s < senders.size(); ++s) {
      std::vector<Parting> some;
      for (const int searcher : hop->came[s]) some.push_back(known.at(searcher));
      out.emplace_back(senders[s], base::packed(some));
    }
    for (const Parting& parting :
         base::unpacked<std::vector<Parting>>(exchange(comm, out, {hop->halves.receiver(rank)}).front()))
      known.emplace(parting.searcher, parting);
  }
  return known;
}

// The first of the bounds [first, last] that has at least `position` keys before it; last + 1 if there is none.
int first_at(int first, int last, std::int64_t position, std::int64_t keys, int ranks) {
  int left = last + 1 - first;
  while (left > 0) {
    const int half = left / 2, middle = first + half;
    if (base::share_begin(keys, ranks, middle) < position) {
      first = middle + 1;
      left -= half + 1;
    } else {
      left = half;
    }
  }
  return first;
}

// Divides the interval that a tally is of. The parts that hold bounds go to `parts`.
Parting divide_interval(const Tally& tally, int left, int taken, std::int64_t keys, int ranks,
                        std::vector<Interval>& parts) {
  Parting parting;
  parting.searcher = tally.searcher;
  Interval rest = tally.interval;
  for (const auto& [bucket, count] : tally.counts) {
    Interval part = rest;
    part.low = tally.interval.low + (WideKey{bucket} << (left - taken));
    // From here on `rest` is the interval behind the bucket, with the bounds that lie there.
    rest.below += count;
    part.last = first_at(rest.first, rest.last, rest.below, keys, ranks) - 1;
    rest.first = part.last + 1;
    if (part.first > part.last) continue;
    parting.next.push_back({bucket, part.first});
    parts.push_back(part);
  }
  return parting;
}

// This rank's tallies, of the intervals in which it has keys.
Tallies tallies_of(const std::vector<SearchedInterval>& asked, base::KeyCounts& counted, int taken) {
  Tallies tallies;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    Tally tally{asked[i].searcher, {}, {}};
    for (std::uint32_t c = 0; c < std::uint32_t{1} << taken; ++c)
      if (const std::int64_t count = counted.counts()[(i << taken) + c]; count > 0) tally.counts.push_back({c, count});
    add_tally(tallies, tally);
  }
  return tallies;
}

// The parts of the asked intervals that hold bounds and keys of this rank.
std::vector<SearchedInterval> asked_next(const std::vector<SearchedInterval>& asked, base::KeyCounts& counted, int left,
                                         int taken, const std::map<int, Parting>& partings) {
  std::vector<SearchedInterval> out;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    for (const auto& [bucket, searcher] : partings.at(asked[i].searcher).next)
      if (counted.counts()[(i << taken) + bucket] > 0)
        out.push_back({asked[i].low + (WideKey{bucket} << (left - taken)), static_cast<int>(searcher)});
  }
  return out;
}

// Collective. The intervals of one key each that this rank has searched, with the bounds there.
std::vector<Interval> search_bounds(MPI_Comm comm, int bits, std::int64_t keys,
                                    const std::function<void(base::KeyCounts&)>& count) {
  const int rank = rank_in(comm), ranks = size_of(comm);
  // Rank 1 has the first bound: rank 0's share begins at key 0 and needs no search.
  std::vector<SearchedInterval> asked{{0, 1}};
  std::vector<Interval> parts;
  if (rank == 1) parts.push_back({0, 0, 1, ranks - 1});
  base::KeyCounts counted;
  for (int left = bits, taken = 0; left > 0; left -= taken) {
    taken = std::min(left, round_bits);
    std::vector<WideKey> lows;
    for (const SearchedInterval& one : asked) lows.push_back(one.low);
    counted.begin(std::move(lows), left, taken);
    if (!asked.empty()) count(counted);
    Tallies tallies = tallies_of(asked, counted, taken);
    for (const Interval& part : std::exchange(parts, {})) add_tally(tallies, {part.first, part, {}});
    const std::vector<Hop> hops = add_up(comm, tallies);
    std::map<int, Parting> partings;
    for (const auto& [searcher, tally] : tallies)
      partings.emplace(searcher, divide_interval(tally, left, taken, keys, ranks, parts));
    partings = answer_all(comm, hops, std::move(partings));
    asked = asked_next(asked, counted, left, taken, partings);
  }
  return parts;
}

}  // namespace

KeyShare share_between(MPI_Comm comm, WideKey begin, WideKey end) {
  KeyShare share{begin, end, {}};
  // The smallest halves are merged first.
  merged(comm, begin, [&](WideKey low, WideKey high) {
    share.middles.insert(share.middles.begin(), high);
    return low;
  });
  return share;
}

KeyShare find_share(MPI_Comm comm, int bits, std::int64_t keys, const std::function<void(base::KeyCounts&)>& count) {
  const int rank = rank_in(comm), ranks = size_of(comm);
  MPI_Allreduce(MPI_IN_PLACE, &keys, 1, MPI_INT64_T, MPI_SUM, comm);
  const WideKey all = WideKey{1} << bits;
  WideKey begin = rank == 0 ? 0 : all, end = all;
  if (keys > 0 && ranks > 1) {
    std::vector<Parcel> found;
    for (const Interval& part : search_bounds(comm, bits, keys, count))
      found.push_back({part.first - 1, base::packed(part), part.last - part.first + 1});
    for (const Parcel& parcel : deliver(comm, std::move(found))) {
      const auto part = base::unpacked<Interval>(parcel.bytes);
      if (part.first <= rank && rank <= part.last) begin = part.low;
      if (part.first <= rank + 1 && rank + 1 <= part.last) end = part.low;
    }
  }
  return share_between(comm, begin, end);
}

namespace {

struct Query {
  KeyStretch stretch{};
  int from = 0;
};

}  // namespace

std::vector<KeyOwner> owners_of(MPI_Comm comm, const KeyShare& share, const std::vector<KeyStretch>& stretches) {
  const int rank = rank_in(comm);
  std::vector<Query> queries;
  for (const KeyStretch& stretch : stretches) queries.push_back({stretch, rank});
  queries = by_halves(
      comm, std::move(queries),
      [&](const Query& query, std::size_t depth) { return query.stretch.first < share.middles[depth]; },
      [&](const Query& query, std::size_t depth) { return query.stretch.last >= share.middles[depth]; });
  std::vector<int> askers;
  for (const Query& query : queries)
    if (share.begin < share.end && query.stretch.first < share.end && query.stretch.last >= share.begin)
      askers.push_back(query.from);
  std::sort(askers.begin(), askers.end());
  askers.erase(std::unique(askers.begin(), askers.end()), askers.end());
  std::vector<Parcel> answers;
  for (const int asker : askers) answers.push_back({asker, base::packed(KeyOwner{rank, share.begin, share.end}), 0});
  std::vector<KeyOwner> owners;
  for (const Parcel& parcel : deliver(comm, std::move(answers)))
    owners.push_back(base::unpacked<KeyOwner>(parcel.bytes));
  return owners;
}

}  // namespace octavo::ranks
