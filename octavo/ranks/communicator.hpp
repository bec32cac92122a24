#pragma once
#include <mpi.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "octavo/base/ranks.hpp"

namespace octavo::ranks {

/// Throws Error(usage) before MPI_Init and after MPI_Finalize, when any other call of MPI would end the process. All
/// functions below that call MPI call this first.
void require_mpi();

/// The ranks of a communicator, which must outlive the value. `all_gather` is collective over it.
base::Ranks ranks_of(MPI_Comm comm);

/// Collective. Runs `work` on each rank; if it throws anywhere, every rank throws the error of the lowest such rank.
/// Costs one reduction of an integer where all goes well, whatever the number of ranks.
void agree(MPI_Comm comm, const std::function<void()>& work);

/// Collective. Replaces each number by the largest of all ranks. A rank that has to wait long for others leaves its
/// core to the threads that write behind the run: it asks again every 0.05 ms, after it has asked without a pause for
/// 0.2.
void largest_of_all(MPI_Comm comm, std::span<std::int64_t> numbers);

/// Collective. The same in one message with sums: replaces each of `sums` by its sum over all ranks.
void largest_and_sum_of_all(MPI_Comm comm, std::span<std::int64_t> numbers, std::span<std::int64_t> sums);

/// Collective. Returns rank 0's text, below 2 GiB, on all ranks.
std::string from_first(MPI_Comm comm, std::string text);

/// Numbers the hosts of all ranks: ranks of one host have the same number, that of their lowest rank. With
/// `ranks_per_node` > 0 a host counts as several, so many ranks each. Collective.
std::vector<int> hosts_of_ranks(MPI_Comm comm, int ranks_per_node);

/// A communicator that is freed with its owner; MPI_COMM_NULL where there is none.
class OwnComm {
 public:
  OwnComm() = default;
  explicit OwnComm(MPI_Comm comm) noexcept : comm_(comm) {}
  ~OwnComm();
  OwnComm(OwnComm&& other) noexcept;
  OwnComm& operator=(OwnComm&& other) noexcept;
  MPI_Comm get() const noexcept { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};
/// Collective over `comm`.
OwnComm duplicate(MPI_Comm comm);
OwnComm split(MPI_Comm comm, int color, int key);

int rank_in(MPI_Comm comm);
int size_of(MPI_Comm comm);

}  // namespace octavo::ranks
