#pragma once
#include <mpi.h>

#include <cstdint>
#include <limits>

#include "octavo/engine/step/owned_volume.hpp"

namespace octavo::engine {

/// The smallest and the largest of a number over all ranks.
struct Spread {
  std::int64_t least = 0, most = 0;
  bool is_one() const noexcept { return least == most; }
};

/// The ranks tell each other this in every collective call of a writer. Steps are numbers that count from 0 in the
/// order of end_step(). The headings say what reduce() makes of each member.
struct Agreement {
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

  // The least of all ranks.
  std::int64_t finished = 0;   ///< a rank is done with all steps below, failed ones too
  std::int64_t durable = 0;    ///< and has them on disk, but for those that failed
  std::int64_t drained = 0;    ///< and has them in the store itself, where local disks stand in front of it
  std::int64_t failed = none;  ///< the first step that failed and that no call has told yet
  std::int64_t lost = none;    ///< the first that failed on its way from a local disk
  std::int64_t marked = none;  ///< rank 0: steps below are listed in a mark

  // The largest.
  std::int64_t put_failed = 0;  ///< 1: a put of the step that is ended failed
  std::int64_t patches = 0;     ///< 1: patches were put
  std::int64_t new_mesh = 0;    ///< 1: triangles other than those of the step before were put

  // Both: ranks disagree unless they are the same.
  Spread step{};         ///< hash of what all ranks say of the step; 0: a rank is not in end_step()
  Spread part{none, 0};  ///< hash of what a part has; a rank without a part leaves it as it is
  Spread triangles{};    ///< 1: triangles were put
  bool any_part() const noexcept { return part.most != 0; }

  // The sum.
  Volume volume{};  ///< of owned leaves, and of boxes of level 0
};

/// Collective: one message, and the waiting of ranks::largest_of_all().
void reduce(MPI_Comm comm, Agreement& agreement);

}  // namespace octavo::engine
