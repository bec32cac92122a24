#pragma once
#include <mpi.h>

#include <filesystem>
#include <string>
#include <vector>

#include "octavo/engine/tiers/local_steps.hpp"

namespace octavo::engine {

/// A rank's node-local disk, as far as one store is concerned.
struct LocalTier {
  std::filesystem::path root;  ///< of this host: no other host writes there, even if hosts share the disk
  bool first_of_host = false;
  int host = 0;  ///< lowest rank of this host
};
/// Collective. `ranks_per_node` > 0 imitates hosts, each with a directory of its own.
LocalTier local_tier(MPI_Comm comm, const std::filesystem::path& staging_directory, const std::filesystem::path& store,
                     int ranks_per_node);

/// The findings on the local disks.
struct Rescue {
  std::int64_t drained = 0;        ///< segments, on all hosts
  std::uint64_t newest_order = 0;  ///< largest order of the store's steps, in both flows
  std::vector<std::string> notes;  ///< steps that could not be rescued, and why; the same on all ranks
  std::vector<std::filesystem::path>
      leftovers;  ///< on this host, known to its first rank: to be removed once a newer step is safe
};

/// Collective. Brings to the store the segments that an earlier run left on local disks, if they complete a step. Files
/// of lost nodes are made again from those of their groups first. No process sees every node's disk, so each host lists
/// its segments, rank 0 lists the store's, and all follow one decision. If a step has segments on a host outside this
/// run, it stays where it is. Throws the same Error on all ranks. A damaged local copy is no error: it stays, a note
/// says what is wrong, and its group makes it again if it can.
Rescue rescue(MPI_Comm comm, const LocalTier& tier, const std::filesystem::path& store);

}  // namespace octavo::engine
