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
  std::int64_t finished = 0;   ///< a rank is done with all earlier steps, including failed ones
  std::int64_t durable = 0;    ///< a rank has all earlier steps on disk, except failed ones
  std::int64_t drained = 0;    ///< with local disks: a rank has all earlier steps in the store itself
  std::int64_t safe = 0;       ///< with local disks: a rank has protected all earlier steps as far as they are due
  std::int64_t unsafe = none;  ///< the first step that a rank could not protect
  std::int64_t failed = none;  ///< the first failed step that no call has reported yet
  std::int64_t lost = none;    ///< the first step that failed on its way from a local disk
  std::int64_t marked = none;  ///< rank 0: a mark lists all earlier steps

  // The largest.
  std::int64_t put_failed = 0;  ///< 1: a put failed in the step that is being ended
  std::int64_t patches = 0;     ///< 1: patches were put
  std::int64_t new_mesh = 0;    ///< 1: triangles were put that differ from the previous step's

  // The least and the largest: ranks disagree unless these are equal.
  Spread step{};         ///< hash of the text that describes the step; 0: a rank is not in end_step()
  Spread part{none, 0};  ///< hash of the text that describes a part; a rank without a part leaves it alone
  Spread triangles{};    ///< 1: triangles were put
  bool any_part() const noexcept { return part.most != 0; }

  // The sum.
  Volume volume{};  ///< of owned leaves, and of boxes of level 0
};

/// Collective: one message. Waits as ranks::largest_of_all() does.
void reduce(MPI_Comm comm, Agreement& agreement);

}  // namespace octavo::engine
