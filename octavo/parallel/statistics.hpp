#pragma once
#include <mpi.h>

#include <cstdint>
#include <string>

namespace octavo::parallel {

/// What writing has cost one rank so far, or all of them together.
struct Statistics {
  std::int64_t steps = 0;                  ///< handed over by end_step()
  std::int64_t failed = 0;                 ///< of those: lost, on this rank or on one that shares its file
  std::uint64_t bytes_put = 0;             ///< of arrays, before encoding
  std::uint64_t bytes_staged = 0;          ///< of those: copied in end_step()
  std::uint64_t bytes_stored = 0;          ///< encoded and written
  double seconds_in_calls = 0;             ///< the application spent in begin_step, put_*, end_step, wait and close
  double seconds_copying = 0;              ///< of those: staging
  double seconds_waiting_for_staging = 0;  ///< of those: for memory of earlier steps
  double seconds_waiting = 0;              ///< of those: for the background (sync steps, lent arrays, wait, close)
  double seconds_working = 0;              ///< encoding and writing, wherever it was done
  /// Seconds of work that no call waited for.
  double seconds_hidden() const;
};

/// Sums over all ranks. Collective.
Statistics total(const Statistics& mine, MPI_Comm comm);
/// One JSON object on one line, keys as above.
std::string to_json(const Statistics& statistics);

}  // namespace octavo::parallel
