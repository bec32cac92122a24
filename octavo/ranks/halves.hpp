#pragma once
#include <mpi.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "octavo/base/pack.hpp"
#include "octavo/ranks/communicator.hpp"

/// Exchanges between halves of the ranks, halves of these, and so on (Fox et al., "Solving Problems on Concurrent
/// Processors", 1988, the crystal router). A rank exchanges log2(ranks) times and has no table of ranks.
namespace octavo::ranks {

/// The ranks [first, last) in two halves. The lower one may have one rank more. Its last rank then sends to the last
/// one of the upper half, and nobody sends to it.
struct Halves {
  int first, middle, last;
  Halves(int from, int to) : first(from), middle(from + (to - from + 1) / 2), last(to) {}
  bool is_odd() const { return middle - first > last - middle; }
  bool is_low(int rank) const { return rank < middle; }
  int receiver(int rank) const {
    return rank < middle ? std::min(middle + (rank - first), last - 1) : first + (rank - middle);
  }
  std::vector<int> senders(int rank) const;
  /// The ranks with which a rank exchanges the knowledge of a whole half.
  std::vector<int> peers(int rank) const { return rank < middle ? std::vector<int>{receiver(rank)} : senders(rank); }
};

/// The halves that a rank is in, the largest first.
std::vector<Halves> halves_of(int rank, int ranks);

/// Begin to receive or to send a text, whose size both ranks know, in messages of at most 1 GiB.
void receive_pieces(MPI_Comm comm, int from, int tag, std::string& text, std::vector<MPI_Request>& requests);
void send_pieces(MPI_Comm comm, int to, int tag, const std::string& text, std::vector<MPI_Request>& requests);

/// Each of the ranks concerned calls this: sends texts, and receives one from each of `from`, in that order.
std::vector<std::string> exchange(MPI_Comm comm, const std::vector<std::pair<int, std::string>>& out,
                                  const std::vector<int>& from);

/// Collective. Hands items from half to half. `goes_low(item, depth)` says whether an item is for the lower of the
/// halves of that depth, halves_of()[depth], and `goes_high` whether it is for the upper one; an item for both is
/// copied. Returns the items that arrive here.
template <class Item, class Low, class High>
std::vector<Item> by_halves(MPI_Comm comm, std::vector<Item> held, Low&& goes_low, High&& goes_high) {
  const int rank = rank_in(comm);
  const std::vector<Halves> path = halves_of(rank, size_of(comm));
  for (std::size_t depth = 0; depth < path.size(); ++depth) {
    const Halves& halves = path[depth];
    const bool is_low = halves.is_low(rank);
    std::vector<Item> leave;
    std::copy_if(held.begin(), held.end(), std::back_inserter(leave),
                 [&](const Item& item) { return is_low ? goes_high(item, depth) : goes_low(item, depth); });
    std::erase_if(held, [&](const Item& item) { return is_low ? !goes_low(item, depth) : !goes_high(item, depth); });
    const std::string out = base::packed(leave);
    leave = {};
    for (const std::string& in : exchange(comm, {{halves.receiver(rank), out}}, halves.senders(rank)))
      for (Item& item : base::unpacked<std::vector<Item>>(in)) held.push_back(std::move(item));
  }
  return held;
}

/// Collective. Merges the values of all ranks: `merge(lower, upper)` gets those of the lower and the upper half of some
/// ranks, and returns that of both. All ranks return the same if `merge` is associative.
template <class T, class Merge>
T merged(MPI_Comm comm, T value, Merge&& merge) {
  const int rank = rank_in(comm);
  const std::vector<Halves> path = halves_of(rank, size_of(comm));
  for (auto halves = path.rbegin(); halves != path.rend(); ++halves) {
    const std::vector<int> peers = halves->peers(rank);
    const std::string mine = base::packed(value);
    std::vector<std::pair<int, std::string>> out;
    for (const int peer : peers) out.emplace_back(peer, mine);
    T other = base::unpacked<T>(exchange(comm, out, peers).front());
    value =
        halves->is_low(rank) ? merge(std::move(value), std::move(other)) : merge(std::move(other), std::move(value));
  }
  return value;
}

}  // namespace octavo::ranks
