#pragma once
#include <mpi.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "octavo/engine/tiers/local_steps.hpp"
#include "octavo/engine/tiers/parity_file.hpp"

namespace octavo::engine {

/// The files of hosts on their local disks, without those that were found to be damaged.
struct LocalDisk {
  std::vector<std::filesystem::path> roots;  ///< one a host; of its own host in a run, if no other rank looks at it
  std::set<std::filesystem::path> damaged;
  std::vector<std::string> notes;            ///< on the damage
  std::map<std::string, std::size_t> tries;  ///< of rank 0: by set of parity files
};
/// The files that are there now.
std::vector<LocalSegment> segments_on(const LocalDisk& disk);
std::vector<ParityFile> parity_on(LocalDisk& disk);

/// Collective. Makes segments that are on no disk and not in the store from the files of their group, and puts each on
/// the local disk of a member: the nearest scheme first, and another if files turn out to be damaged. Only segments
/// that complete a step are made. `stored` is that of rank 0. Returns how many were made, on all ranks.
std::int64_t rebuild_lost(MPI_Comm comm, LocalDisk& disk, const StepsInStore& stored);

}  // namespace octavo::engine
