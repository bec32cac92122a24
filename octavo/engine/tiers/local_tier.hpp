#pragma once
#include <array>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "octavo/engine/statistics.hpp"
#include "octavo/engine/step/step_job.hpp"
#include "octavo/engine/step_log.hpp"
#include "octavo/engine/tiers/drain.hpp"
#include "octavo/engine/tiers/rescue.hpp"

namespace octavo::engine {

/// One step that was handed over: the same on all ranks, but for the record.
struct Submitted {
  std::int64_t number = 0;
  store::Flow flow = store::Flow::checkpoint;
  store::StepId id;
  bool failed = false;
  StepRecord record;             ///< of this rank
  std::string directory{};       ///< of a checkpoint, in the store
  std::uint64_t order = 0;       ///< as rank 0 knows it once it has written the step
  bool lost_on_the_way = false;  ///< the drain to the store failed; the next start may still find it on local disks
};

/// A writer's knowledge of the local disks in front of its store. Only the thread of its calls uses it, and the
/// drain's.
struct LocalSteps {
  std::filesystem::path root;                                 ///< of this host
  std::uint64_t base = 0;                                     ///< the largest order in the store when the run began
  std::optional<Drain> drain;                                 ///< where this rank has files
  std::deque<Submitted> steps;                                ///< not known to be drained, nor to have failed
  std::array<std::optional<store::StepId>, 2> drained;        ///< by flow: the newest all ranks know of
  std::deque<std::pair<std::int64_t, base::Error>> failures;  ///< of this rank's drain, not reported yet
  std::vector<std::filesystem::path>
      leftovers;  ///< of an earlier run; they go when this one has a checkpoint in the store
};

/// Collective. Drains what an earlier run left and is complete: this run's steps are later. Returns notes.
std::vector<std::string> open_local(LocalSteps& local, MPI_Comm comm, const Options& options,
                                    const std::filesystem::path& store, bool has_files);
/// Lets the step be committed on the local disk, and given to the drain then.
void send_through(LocalSteps& local, StepJob& step, const store::Attempt& run, std::int64_t number);
/// Takes what the drain has ended.
void collect(LocalSteps& local, Statistics& statistics);
/// Steps below this number are drained or lost, as far as this rank knows, which has `finished` that many on the local
/// disk. Call it before collect(): what has ended since is in the one or the other.
std::int64_t drained_up_to(const LocalSteps& local, std::int64_t finished);
/// Steps below are drained on all ranks, but for failed ones. Returns all of them.
std::vector<Submitted> advance(LocalSteps& local, std::int64_t drained_up_to);
void mark_failed(std::deque<Submitted>& steps, std::int64_t number);
bool has_failed(const std::deque<Submitted>& steps, std::int64_t number);

}  // namespace octavo::engine
