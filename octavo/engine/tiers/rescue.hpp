#pragma once
#include <mpi.h>

#include <filesystem>
#include <string>
#include <vector>

#include "octavo/engine/tiers/local_steps.hpp"

namespace octavo::engine {

/// A rank's node-local disk, as far as one store is concerned.
struct LocalTier {
  std::filesystem::path root;  ///< of this host: no other host writes there, even where the disk is a shared one
  bool first_of_host = false;
};
/// Collective. With `ranks_per_node` > 0 hosts are imitated, each with a directory of its own.
LocalTier local_tier(MPI_Comm comm, const std::filesystem::path& staging_directory, const std::filesystem::path& store,
                     int ranks_per_node);

/// The findings on the local disks.
struct Rescue {
  std::int64_t drained = 0;        ///< segments, on all hosts
  std::uint64_t newest_order = 0;  ///< of the steps of the store, of either flow
  std::vector<std::string> notes;  ///< steps that cannot be had, and why; the same on all ranks
  std::vector<std::filesystem::path>
      leftovers;  ///< on this host, told to its first rank: to go once a newer step is safe
};

/// Collective. Brings to the store what an earlier run left on local disks and what is complete with it: no process
/// sees every node's disk, so each host tells what it has, rank 0 what the store has, and all follow one decision.
/// Steps of which a host is not here stay where they are. Throws the same Error on all ranks, but not for a damaged
/// local copy: that one stays, and a note says what is wrong.
Rescue rescue(MPI_Comm comm, const LocalTier& tier, const std::filesystem::path& store);

}  // namespace octavo::engine
