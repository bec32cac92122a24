#pragma once
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "octavo/engine/step/socket.hpp"
#include "octavo/engine/tiers/drain.hpp"
#include "octavo/engine/tiers/local_steps.hpp"
#include "octavo/engine/tiers/safety.hpp"

namespace octavo::engine {

/// The n-th files of the nodes of one group share parity: they are a lane, with one rank of each node as a member.
/// Where nodes of a group have different numbers of files, a rank is in several lanes, in the others without a file.
struct ParityLane {
  Scheme scheme;
  int group = 0;
  int lane = 0;
  int member = 0;
  bool has_file = true;       ///< else this rank only holds parity
  std::vector<Socket> peers;  ///< by member; none for this one
  bool broken = false;        ///< an exchange has broken off: members no longer know where each other is
  int members() const { return static_cast<int>(peers.size()); }
};

/// A rank's node, and its own place there.
struct NodeRanks {
  int host = 0;  ///< lowest rank of the node in `comm`
  bool first_of_host = false;
  bool has_file = false;  ///< this rank writes a file
};
/// Collective over `comm`. The lanes of this rank, by scheme, then lane; connected. A rank learns of its group only.
/// `files_of_host` gets the number of files of this node. Throws the same Error on all ranks: usage, where a scheme
/// needs more nodes than there are; interrupted, where nodes cannot connect to each other within that time.
std::vector<ParityLane> open_lanes(MPI_Comm comm, const NodeRanks& node, const std::vector<Scheme>& schemes,
                                   int& files_of_host, std::chrono::milliseconds most = meeting_time);

/// A step for which parity is made.
struct ParityJob {
  LocalName name;  ///< of this rank's segment
  std::int64_t step = 0;
  int segments = 1;
  int subfile = 0;
  std::filesystem::path root;
  std::filesystem::path file;  ///< this rank's committed local file; empty: it is in the store already
  bool failed = false;         ///< this rank has not committed the step
};
/// Exchanges blocks with the other members, and writes this member's parity file. All members call it, in the same
/// order of steps and lanes. No MPI. If the step failed on a member, it does nothing. Returns the bytes of the parity
/// file, once all members have theirs on disk.
std::uint64_t write_parity(ParityLane& lane, const ParityJob& job, Pace& pace);

}  // namespace octavo::engine
