#pragma once
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "octavo/file/posix.hpp"

namespace octavo::engine {

/// The cost of writing so far, of one rank or of all together.
struct WriteStatistics {
  std::int64_t steps = 0;                  ///< handed over by end_step()
  std::int64_t failed = 0;                 ///< of those: known to all ranks to have failed
  std::uint64_t bytes_put = 0;             ///< of arrays, before encoding
  std::uint64_t bytes_staged = 0;          ///< of those: copied in end_step()
  std::uint64_t bytes_stored = 0;          ///< encoded and written
  std::uint64_t bytes_drained = 0;         ///< copied from the local disk to the store
  std::uint64_t bytes_of_parity = 0;       ///< written to the local disk to protect other nodes' files
  std::uint64_t largest_step = 0;          ///< [bytes] put by one rank for one step
  std::int64_t drained = 0;                ///< segments copied from the local disk to the store
  std::int64_t waits_for_staging = 0;      ///< steps that waited for memory of earlier ones, or did not fit at all
  std::uint64_t writes = 0;                ///< write calls of this process since the writer was opened
  std::uint64_t bytes_written = 0;         ///< by those calls, including local disks and padding
  std::uint64_t syncs = 0;                 ///< fdatasync calls of this process since then
  double seconds_in_calls = 0;             ///< the application spent in begin_step, put_*, end_step, wait and close
  double seconds_copying = 0;              ///< of those: staging
  double seconds_waiting_for_staging = 0;  ///< of those: for memory of earlier steps
  double seconds_waiting = 0;              ///< of those: for the background (sync steps, lent arrays, wait, close)
  double seconds_working = 0;              ///< encoding and writing, wherever it was done
  double seconds_draining = 0;             ///< copying from the local disk to the store
  double seconds_protecting = 0;           ///< exchanging and writing parity
  double seconds_waiting_for_drain = 0;    ///< of seconds_working: for room on the local disk
  /// Seconds of work that no call waited for.
  double seconds_hidden() const;
};

/// Sums over all ranks; the largest of `largest_step`. Collective.
WriteStatistics total(const WriteStatistics& mine, MPI_Comm comm);
/// Returns the statistics of all ranks on rank 0, nothing on other ranks. Collective.
std::vector<WriteStatistics> gather(const WriteStatistics& mine, MPI_Comm comm);
/// One JSON object on one line, keys as above.
std::string to_json(const WriteStatistics& statistics);
/// The text that close() writes for option `statistics`. Pure: {"ranks": n, "total": {...}, "slowest_rank": {...},
/// "by_rank":
/// [...]}; slowest is the rank with the most seconds_in_calls.
std::string report_json(const std::vector<WriteStatistics>& by_rank);

}  // namespace octavo::engine
