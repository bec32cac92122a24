#pragma once
#include <mpi.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "octavo/base/ranks.hpp"

namespace octavo::ranks {

/// Throws Error(usage) before MPI_Init and after MPI_Finalize, when most calls of MPI would end the process. Most
/// functions below call this first; from_first() and the destructor of OwnComm do not.
void require_mpi();

/// The ranks of a communicator, which must outlive the returned value. Its exchanges are collective over it.
base::Ranks ranks_of(MPI_Comm comm);

/// Collective. Runs `work` on each rank. If it throws anywhere, every rank throws the error of the lowest such rank. If
/// all goes well, it costs one reduction of an integer, else also a broadcast of the error.
void agree(MPI_Comm comm, const std::function<void()>& work);

/// Collective. Replaces each number by its maximum over all ranks. A rank first polls without a pause for 0.2 ms, then
/// every 0.05 ms. In between it leaves its core to the threads that write in the background.
void largest_of_all(MPI_Comm comm, std::span<std::int64_t> numbers);

/// Collective. Replaces each of `numbers` by its maximum and each of `sums` by its sum over all ranks, in one
/// reduction.
void largest_and_sum_of_all(MPI_Comm comm, std::span<std::int64_t> numbers, std::span<std::int64_t> sums);

/// Collective. Returns this rank's text on all ranks.
std::string from_rank(MPI_Comm comm, int rank, std::string text);
/// The same of rank 0.
std::string from_first(MPI_Comm comm, std::string text);

/// Collective: one reduction of an integer. Returns the lowest rank where `holds` is true, or the number of ranks if
/// there is none.
int lowest_where(MPI_Comm comm, bool holds);
/// Collective. Returns the texts of all ranks on rank 0, and nothing on the others.
std::vector<std::string> gather_to_first(MPI_Comm comm, const std::string& mine);
/// Collective. Returns rank 0's i-th text on rank i.
std::string scatter_from_first(MPI_Comm comm, const std::vector<std::string>& by_rank);
/// Collective. The same, but rank 0 holds one text at a time: it makes text_of(r) and sends it to rank r before it
/// makes the next. If it throws, all ranks throw its error.
std::string deal_from_first(MPI_Comm comm, const std::function<std::string(int rank)>& text_of);

/// Collective. Returns a number for the host of each rank: the lowest rank on that host. With `ranks_per_node` > 0
/// every `ranks_per_node` ranks of a host count as a host of their own.
std::vector<int> hosts_of_ranks(MPI_Comm comm, int ranks_per_node);

class OwnComm;
/// Collective. The ranks of this rank's host, in their order in `comm`; with `ranks_per_node` > 0, of its part of the
/// host, as above.
OwnComm ranks_of_host(MPI_Comm comm, int ranks_per_node);

/// Owns a communicator and frees it. MPI_COMM_NULL means none.
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
