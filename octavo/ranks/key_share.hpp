#pragma once
#include <mpi.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "octavo/base/equal_shares.hpp"

/// Shares of keys, one a rank. A rank knows its own share and, of the others, one bound for each halving of the ranks.
namespace octavo::ranks {

struct KeyShare {
  base::WideKey begin = 0, end = 0;  ///< the share is [begin, end)
  /// The keys at which the upper halves of halves_of() begin, in their order.
  std::vector<base::WideKey> middles;
};

/// Collective. Cuts the sorted keys of all ranks, below 2^bits, into equal shares, as KeySearch::cuts() does. `keys` is
/// how many keys this rank has. `count` counts them in the intervals of a round; it is called once in each and must
/// not throw. The shares of all ranks together are [0, 2^bits).
///
/// The search for a bound narrows an interval of keys, 8 bits a round. Bounds in the same interval are searched
/// together, by the lowest of their ranks. Counts are added up on their way there, and the answer returns on the same
/// way. So a rank sends and receives 4 log2(ranks) messages a round, and besides them needs memory only for the
/// intervals in which it has keys.
KeyShare find_share(MPI_Comm comm, int bits, std::int64_t keys, const std::function<void(base::KeyCounts&)>& count);

/// Collective. The same for bounds that are known: each rank gives its own.
KeyShare share_between(MPI_Comm comm, base::WideKey begin, base::WideKey end);

/// All keys from `first` to `last`, both included.
struct KeyStretch {
  base::WideKey first = 0, last = 0;
};
struct KeyOwner {
  int rank = 0;
  base::WideKey begin = 0, end = 0;  ///< the rank's share
};
/// Collective. The ranks whose share overlaps one of this rank's stretches, ascending. Empty shares overlap nothing.
std::vector<KeyOwner> owners_of(MPI_Comm comm, const KeyShare& share, const std::vector<KeyStretch>& stretches);

}  // namespace octavo::ranks
