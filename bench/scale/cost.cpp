#include <algorithm>
#include <bit>

#include "simulated.hpp"

namespace octavo::simulated {
namespace {

std::int64_t rounds(int ranks) { return std::bit_width(static_cast<unsigned>(ranks) - 1U); }

// In a binomial tree of all ranks, rooted at rank 0, a rank's children are rank + 1, + 2, + 4 ... up to its own lowest
// bit.
struct Branch {
  std::int64_t children = 0, below = 0;  // below: ranks in the branch besides the rank itself
};
Branch branch_of(int rank, int ranks) {
  Branch branch;
  const int end = rank == 0 ? ranks : std::min(ranks, rank + (rank & -rank));
  for (int step = 1; rank + step < end; step *= 2) ++branch.children;
  branch.below = end - rank - 1;
  return branch;
}

}  // namespace

Traffic& operator+=(Traffic& to, const Traffic& from) {
  to.messages += from.messages;
  to.bytes += from.bytes;
  return to;
}

Traffic cost_of(const Call& call, int rank) {
  const std::int64_t up = rank == 0 ? 0 : 1, both_ways = 2 * rounds(call.ranks);
  if (call.name == "send" || call.name == "receive") return {1, call.bytes};
  if (call.ranks == 1) return {};
  if (call.name == "bcast" || call.name == "reduce") {
    const std::int64_t messages = branch_of(rank, call.ranks).children + up;
    return {messages, messages * call.bytes};
  }
  if (call.name == "gather" || call.name == "scatter") {
    const Branch branch = branch_of(rank, call.ranks);
    return {branch.children + up, (branch.below + up * (branch.below + 1)) * call.bytes};
  }
  if (call.name == "allreduce" || call.name == "exscan" || call.name == "barrier")
    return {both_ways, both_ways * call.bytes};
  if (call.name == "alltoall")
    return {2 * (std::int64_t{call.ranks} - 1), 2 * (std::int64_t{call.ranks} - 1) * call.bytes};
  return {both_ways, 2 * (std::int64_t{call.ranks} - 1) * call.bytes};  // allgather, split, dup
}

}  // namespace octavo::simulated
