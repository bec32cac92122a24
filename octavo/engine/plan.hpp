#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Decides which rank writes what, before anything is written. Pure: the same arguments give the same plan on every
/// rank.
namespace octavo::engine {

/// The contributors that share one subfile; they are ranks of one host. Each file holds one segment of a step, and
/// subfile, segment and position in `WritePlan::files` are the same number.
struct PlannedFile {
  int host = 0;
  int writer = 0;  ///< the rank that opens and commits the file; the others write their ranges through its handle
  int first = 0, count = 0;  ///< contributors: `WritePlan::contributors[first .. first + count)`
  std::uint64_t bytes = 0;   ///< before encoding
};

struct WritePlan {
  std::vector<PlannedFile> files;
  std::vector<int> contributors;  ///< all ranks, file by file, ascending within a file
  std::vector<int> file_of_rank;
  std::vector<std::uint64_t> offset;  ///< by rank: bytes, before encoding, of the contributors before it in its file
  int hosts = 0;
};

struct WritePlanOptions {
  int contributors_per_file = 1;  ///< at most, unless writers_per_node asks for fewer files; 0: all of a host
  int writers_per_node = 0;       ///< files of one host at most; 0: no limit
};

/// `host_of_rank[r]` is a number that the ranks of one host share. `bytes_of_rank` is how much each rank has to write
/// (empty: unknown). The files of a host differ by at most one contributor. File 0 belongs to rank 0's host. Throws
/// Error(usage) for no ranks, lists of different length or negative options.
WritePlan plan_write(std::span<const int> host_of_rank, std::span<const std::uint64_t> bytes_of_rank,
                     const WritePlanOptions& options);

/// Throws Error(usage) for negative options.
void check(const WritePlanOptions& options);

/// A rank's place in the plan: all that the rank must know of it. Its size does not depend on the number of ranks.
struct OwnFile {
  int file = 0, files = 1;   ///< its subfile of all; before own_file() has added the hosts before: of its host
  int first = 0, count = 1;  ///< contributors: ranks [first .. first + count) of its host; the first one writes
};
/// The place of a rank among the `ranks` ranks of its host: what plan_write() gives for this host alone.
OwnFile file_on_host(int rank, int ranks, const WritePlanOptions& options);

// ---------------------------------------------------------------------------------------------- costs

/// The demands of a step of this plan on the file system.
struct PlanCost {
  int hosts = 0, ranks = 0, files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t largest_file = 0, smallest_file = 0;
  std::uint64_t largest_host = 0;  ///< bytes of the host that writes most
  int most_contributors = 0;       ///< of a file
  std::int64_t creates = 0;        ///< per step where each step has its own files; once where steps are appended
  std::int64_t opens = 0, syncs = 0;
};
PlanCost cost_of(const WritePlan& plan);

/// The rates and quotas of a file system and its network, as far as a user knows them. A rate of 0 means no limit.
struct Machine {
  double bytes_per_second_of_writer = 0, bytes_per_second_of_host = 0, bytes_per_second = 0;
  double creates_per_second = 0;  ///< of the file system
  double syncs_per_second = 0;    ///< of one writer; writers sync at once
  std::int64_t quota_files = 0;   ///< 0: none
  std::uint64_t quota_bytes = 0;
};
/// Seconds for one step: creating its files, then the slowest of writer, host and file system, and the syncs of a
/// writer, one after another.
double seconds_of_step(const PlanCost& cost, const Machine& machine);
/// How many steps the quota holds if encoding shrinks data by the factor `ratio`; -1: no quota is given. `append`: all
/// steps share the files of the first.
std::int64_t steps_in_quota(const PlanCost& cost, const Machine& machine, double ratio, bool append);

/// A few lines for people: totals, and the first `most_files` files.
std::string to_text(const WritePlan& plan, std::size_t most_files = 8);

}  // namespace octavo::engine
