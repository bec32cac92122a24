#pragma once
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::ranks {

/// Collective. Runs a search over the keys of all ranks. `count(search)` counts the keys of this rank in each round.
template <class Count>
std::vector<base::WideKey> find_keys(MPI_Comm comm, base::KeySearch search, Count&& count) {
  while (!search.done()) {
    search.begin_round();
    count(search);
    MPI_Allreduce(MPI_IN_PLACE, search.counts().data(), static_cast<int>(search.counts().size()), MPI_INT64_T, MPI_SUM,
                  comm);
    search.end_round();
  }
  return search.found();
}

/// The values received from all ranks, one sender after another.
template <class T>
struct Routed {
  std::vector<T> values;
  std::vector<int> counts;  ///< by sender
};

/// Collective. `values` holds counts[r] items for each rank r, one rank after another.
template <class T>
Routed<T> route(MPI_Comm comm, std::span<const T> values, const std::vector<int>& counts) {
  static_assert(std::is_trivially_copyable_v<T>);
  Routed<T> in;
  in.counts.resize(counts.size());
  MPI_Alltoall(counts.data(), 1, MPI_INT, in.counts.data(), 1, MPI_INT, comm);
  const auto offsets = [](const std::vector<int>& of) {
    std::vector<int> at(of.size(), 0);
    std::partial_sum(of.begin(), of.end() - 1, at.begin() + 1);
    return at;
  };
  const std::int64_t total = std::accumulate(in.counts.begin(), in.counts.end(), std::int64_t{0});
  agree(comm, [&] {
    if (std::max(total, static_cast<std::int64_t>(values.size())) > std::numeric_limits<int>::max())
      throw base::Error(base::Kind::unsupported, "a rank exchanges more than 2^31 items at once").hint("more ranks");
    in.values.resize(static_cast<std::size_t>(total));
  });
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(sizeof(T)), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  const std::vector<int> out_at = offsets(counts), in_at = offsets(in.counts);
  MPI_Alltoallv(values.data(), counts.data(), out_at.data(), type, in.values.data(), in.counts.data(), in_at.data(),
                type, comm);
  MPI_Type_free(&type);
  return in;
}

/// Collective. Hands the values of all ranks to rank 0's `sink`, in order of ranks and at most 4 MiB at a time, with
/// the position of the first value. If the sink throws, all ranks throw its error.
template <class T>
void to_root(MPI_Comm comm, std::span<const T> mine,
             const std::function<void(std::int64_t first, std::span<const T> values)>& sink) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr std::size_t batch = (std::size_t{1} << 22) / sizeof(T);
  constexpr int tag = 1;
  const auto bytes = [](std::size_t items) { return static_cast<int>(items * sizeof(T)); };
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(size_of(comm)));
  const auto size = static_cast<std::int64_t>(mine.size());
  MPI_Gather(&size, 1, MPI_INT64_T, sizes.data(), 1, MPI_INT64_T, 0, comm);
  std::vector<T> some;
  agree(comm, [&] {  // before anybody sends what rank 0 has no memory for
    if (rank_in(comm) == 0 && sizes.size() > 1) some.resize(batch);
  });
  agree(comm, [&] {
    if (rank_in(comm) != 0) {
      for (std::size_t at = 0; at < mine.size(); at += batch)
        MPI_Send(mine.data() + at, bytes(std::min(batch, mine.size() - at)), MPI_BYTE, 0, tag, comm);
      return;
    }
    std::exception_ptr failure;  // after a failure we still receive the rest
    std::int64_t first = 0;
    for (std::size_t r = 0; r < sizes.size(); ++r)
      for (std::size_t at = 0; at < static_cast<std::size_t>(sizes[r]); at += batch) {
        const std::size_t count = std::min(batch, static_cast<std::size_t>(sizes[r]) - at);
        std::span<const T> now = r == 0 ? mine.subspan(at, count) : std::span<const T>();
        if (r > 0) {
          MPI_Recv(some.data(), bytes(count), MPI_BYTE, static_cast<int>(r), tag, comm, MPI_STATUS_IGNORE);
          now = std::span<const T>(some).first(count);
        }
        try {
          if (!failure) sink(first, now);
        } catch (...) {
          failure = std::current_exception();
        }
        first += static_cast<std::int64_t>(count);
      }
    if (failure) std::rethrow_exception(failure);
  });
}

/// A positive checksum of a text. Ranks reduce it to its largest and smallest value to find out whether their texts
/// differ.
std::int64_t hash_of(const std::string& text);
/// Collective. Compares the texts of all ranks that have one that is not empty. If some differ, returns an Error(usage)
/// about `what`, the same on all ranks: it names the lowest rank with a text, the lowest whose text differs from that,
/// and the first item in which these two differ. Items end with ";".
std::optional<base::Error> disagreement(MPI_Comm comm, const std::string& mine, const std::string& what);
/// Collective. Throws the Error(usage) of disagreement() on all ranks unless all texts are the same. If they are, it
/// costs one reduction of two numbers.
void require_same(MPI_Comm comm, const std::string& mine, const std::string& what);

/// Moves an error that occurred when the step was begun into `put_error`. It replaces an error of a put.
void take_begin_error(std::optional<base::Error>& begin_error, std::optional<base::Error>& put_error);
/// Collective; called when a writer is closed. Throws the error of a put that no end_step() threw, or Error(usage) if a
/// step was begun and not ended.
void require_ended(MPI_Comm comm, const std::optional<base::Error>& put_error, bool in_step);

}  // namespace octavo::ranks
