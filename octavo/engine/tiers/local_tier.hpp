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
#include "octavo/store/subfile.hpp"

namespace octavo::engine {

/// A step that was handed over. All but the record is the same on all ranks.
struct Submitted {
  std::int64_t number = 0;
  store::Flow flow = store::Flow::checkpoint;
  store::StepId id;
  bool failed = false;
  StepRecord record;                          ///< of this rank
  std::string directory{};                    ///< of a checkpoint, in the store
  std::uint64_t order = 0;                    ///< on rank 0, once it has written the step
  std::optional<store::Committed> segment{};  ///< Written::segment
  bool lost_on_the_way = false;  ///< the drain to the store failed; the next start may still find it on local disks
};

/// A writer's knowledge of the local disks in front of its store. Only the thread of its calls and the drain's thread
/// use it.
struct LocalSteps {
  std::filesystem::path root;                           ///< of this host
  std::uint64_t base = 0;                               ///< the largest order in the store when the run began
  std::optional<Drain> drain;                           ///< if this rank has files
  std::deque<Submitted> steps;                          ///< not known to be drained, nor to have failed
  std::array<std::optional<store::StepId>, 2> drained;  ///< by flow: the newest drained step that all ranks know of
  std::deque<std::pair<std::int64_t, base::Error>> failures;  ///< of this rank's drain, not reported yet
  std::vector<std::filesystem::path>
      leftovers;  ///< of an earlier run; removed when this run has a checkpoint in the store
};

/// Collective. Drains the complete steps that an earlier run left, before this run writes its own. Returns notes.
std::vector<std::string> open_local(LocalSteps& local, MPI_Comm comm, const Options& options,
                                    const std::filesystem::path& store, bool has_files);
/// Redirects the step to the local disk; once committed there, it goes to the drain.
void send_through(LocalSteps& local, StepJob& step, const store::Attempt& run, std::int64_t number);
/// Takes the jobs that the drain has ended.
void collect(LocalSteps& local, Statistics& statistics);
/// Steps below this number are drained or lost, as far as this rank knows. `finished` is the number of steps that it
/// has finished on the local disk. Call this before collect(): else a step that fails in between would count as
/// drained.
std::int64_t drained_up_to(const LocalSteps& local, std::int64_t finished);
/// Notes that steps below this number are drained on all ranks, except failed ones. Returns all these steps.
std::vector<Submitted> advance(LocalSteps& local, std::int64_t drained_up_to);
void mark_failed(std::deque<Submitted>& steps, std::int64_t number);
bool has_failed(const std::deque<Submitted>& steps, std::int64_t number);

}  // namespace octavo::engine
