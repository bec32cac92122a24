#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// MPI of many virtual ranks in one process, and a record of the calls of real ones. The functions of MPI that the
/// engine calls are defined here, in front of the library's (as profilers do, MPI 3.1 section 14.2), so the object
/// files that run are those of the library. While simulate() runs, each virtual rank is a fiber: it runs until its next
/// collective call or receive. Else the calls go on to the real MPI.
namespace octavo::simulated {

struct Machine {
  int ranks = 1;
  int ranks_per_host = 1;
};

/// A call of MPI as one rank makes it.
struct Call {
  std::string name;
  int ranks = 1;           ///< of the communicator; of a message: 2
  std::int64_t bytes = 0;  ///< that this rank gives or gets; Gather, Allgather and their kin: from each rank
  bool operator==(const Call&) const = default;
};

/// Messages that a rank sends or receives, and their bytes, by the algorithms that cost_of() names.
struct Traffic {
  std::int64_t messages = 0, bytes = 0;
};
Traffic& operator+=(Traffic& to, const Traffic& from);
/// bcast, reduce, gather, scatter: binomial tree. allreduce, exscan, barrier: recursive doubling, and allgather, which
/// doubles its bytes. alltoall: a message to each. `rank` is counted from the root. Other names (making communicators):
/// allgather, the way of Open MPI's and MPICH's MPI_Comm_split.
Traffic cost_of(const Call& call, int rank);

/// The calls and operations of a rank while it was recorded.
struct Activity {
  std::vector<Call> calls;  ///< of the ranks that keep them: the first, the second and the last
  Traffic traffic;          ///< of the engine's calls
  Traffic library;          ///< of those that make communicators
  std::int64_t heap = 0;    ///< most bytes of its own that it had allocated at once
  std::int64_t stack = 0;   ///< most bytes of stack that it had in a call
};

/// Runs `program` on each virtual rank; returns what each did. Throws what a rank throws, or std::logic_error if all
/// wait for each other.
/// `switched` is called whenever another rank runs, with its number; -1: none any more.
std::vector<Activity> simulate(const Machine& machine, const std::function<void(int rank)>& program,
                               const std::function<void(int rank)>& switched = {});
/// Runs `program` on this process, a rank of the real MPI.
Activity record(const std::function<void()>& program);

/// Whether a virtual rank runs, on this thread.
bool is_virtual_rank();
/// Lets the other virtual ranks run. Returns false if there are none.
bool pass_turn();
/// In simulate(): memory that `work` allocates is the simulator's, not the rank's.
void uncounted(const std::function<void()>& work);

}  // namespace octavo::simulated
