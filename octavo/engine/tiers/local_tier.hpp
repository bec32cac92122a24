#pragma once
#include <array>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "octavo/engine/statistics.hpp"
#include "octavo/engine/step/step_job.hpp"
#include "octavo/engine/step_log.hpp"
#include "octavo/engine/tiers/drain.hpp"
#include "octavo/engine/tiers/parity_lane.hpp"
#include "octavo/engine/tiers/rescue.hpp"
#include "octavo/engine/tiers/safety.hpp"
#include "octavo/engine/tiers/tier_thread.hpp"
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
  std::optional<store::Committed> segment{};  ///< of this rank's file in the store, once it is there
  bool lost_on_the_way = false;  ///< the drain to the store failed; the next start may still find it on local disks
  SafetySet due = 0;             ///< with local disks: schemes that protect it
  bool drains = true;            ///< it goes to the store
  bool is_safe = false;          ///< all ranks have protected it as far as it is due
};

/// A rank's files of a step on the local disk.
struct LocalFiles {
  DrainJob job;
  std::vector<std::filesystem::path> paths;  ///< of the segment and its parity
  bool is_here = false;                      ///< set by the writing thread: the segment is committed on the local disk
  std::optional<store::Committed> stored{};  ///< set by the thread that commits the segment in the store
};

/// The newest step that survives something.
struct SafeStep {
  std::int64_t number = -1;
  std::optional<store::StepId> id;
};

/// A writer's knowledge of the local disks in front of its store. Only the thread of its calls and the drain's thread
/// use it.
struct LocalSteps {
  std::filesystem::path root;  ///< of this host
  std::uint64_t base = 0;      ///< the largest order in the store when the run began
  Options options;
  std::vector<ParityLane> lanes;     ///< only the thread `copies` uses them
  Pace copy_pace, drain_pace;        ///< of the two threads
  std::optional<TierThread> drain;   ///< if this rank has files
  std::optional<TierThread> copies;  ///< if it has lanes; ends before the drain, to which it hands on
  std::int64_t checkpoints = 0;      ///< handed over in this run
  std::deque<Submitted> steps;       ///< not known to be drained, nor to have failed
  std::deque<Submitted> kept;        ///< safe on local disks, and not on their way to the store
  std::map<std::int64_t, std::shared_ptr<LocalFiles>> files;     ///< by number; of steps in `steps` and `kept`
  std::array<SafeStep, num_safeties> safe;                       ///< checkpoints that survive at least that
  std::deque<std::pair<std::int64_t, base::Error>> unprotected;  ///< failures of this rank's parity, not reported yet
  std::array<std::optional<store::StepId>, 2> drained;  ///< by flow: the newest drained step that all ranks know of
  std::deque<std::pair<std::int64_t, base::Error>> failures;  ///< of this rank's drain, not reported yet
  std::vector<std::filesystem::path>
      leftovers;  ///< of an earlier run; removed when this run has a checkpoint in the store
};

/// Collective. Drains the complete steps that an earlier run left, before this run writes its own. Connects the ranks
/// that protect each other's files. Returns notes.
std::vector<std::string> open_local(LocalSteps& local, MPI_Comm comm, const Options& options,
                                    const std::filesystem::path& store, bool has_files);
/// Redirects the step, the last in `steps`, to the local disk. Once committed there, it is protected and goes to the
/// drain, as far as it is due. If the local disk is full, it goes to the store at once.
void send_through(LocalSteps& local, StepJob& step, const store::Attempt& run, std::int64_t number);
/// Takes the jobs that the drain has ended.
void collect(LocalSteps& local, WriteStatistics& statistics);
/// Steps below this number are drained or lost, as far as this rank knows. `finished` is the number of steps that it
/// has finished on the local disk. Call this before collect(): else a step that fails in between would count as
/// drained.
std::int64_t drained_up_to(const LocalSteps& local, std::int64_t finished);
/// The same for steps that are protected as far as they are due.
std::int64_t safe_up_to(const LocalSteps& local, std::int64_t finished);
/// Notes that steps below this number are protected on all ranks, except failed ones. Returns the steps whose files
/// were removed for that: newer ones survive as much. The newest step of each safety stays on the node.
std::vector<Submitted> advance_safe(LocalSteps& local, std::int64_t safe_up_to);
/// A step could not be protected: it is on the local disks alone.
void mark_unprotected(LocalSteps& local, std::int64_t number);
/// Sends the newest checkpoint to the store if the drain has left it out. The same on all ranks.
void drain_last(LocalSteps& local);
/// Notes that steps below this number are drained on all ranks, except failed ones. Returns all these steps, and in
/// `passed` those whose local files were removed without having been drained.
std::vector<Submitted> advance(LocalSteps& local, std::int64_t drained_up_to, std::vector<Submitted>& passed);
void mark_failed(std::deque<Submitted>& steps, std::int64_t number);
bool has_failed(const std::deque<Submitted>& steps, std::int64_t number);

}  // namespace octavo::engine
