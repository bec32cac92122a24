#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "octavo/store/durable.hpp"
#include "octavo/store/scan.hpp"

namespace octavo::parallel {

/// What is to be done on disk, by whoever writes behind the run's back: on rank 0 between two of its steps.
using Chore = std::function<void()>;

/// A complete step, and where it is.
struct KeptStep {
  store::StepId id;
  std::uint64_t order = 0;
  std::string directory;  ///< in the store: "checkpoint/000000040"
};

/// What rank 0 knows of the steps in the store: which checkpoints the option keep_last keeps, and what the marks say of
/// durable ones. The store is looked at when it is opened; from then on this follows the run. Chores are returned for
/// another thread; what cannot be removed stays: it costs space, not safety.
class Keeper {
 public:
  struct Options {
    int keep_last = 0;  ///< 0: no checkpoint is ever removed
    bool recycle = false;
    bool sync = true;  ///< marks are synced
    /// Parts of incomplete steps may still be on local disks: they stay until this run has a checkpoint in the store.
    bool incomplete_may_be_completed = false;
  };
  Keeper() = default;
  /// Reads the marks. With keep_last the store is scanned, and what attempts of earlier runs left goes at once:
  /// superseded and incomplete checkpoints. What is left of one that was durable goes when this run has a checkpoint; a
  /// directory in which anything is damaged is left alone.
  Keeper(const std::filesystem::path& store, const Options& options, const std::optional<store::StepId>& resumed_from);

  /// A step is durable. With keep_last what it supersedes goes, then older checkpoints but for the newest.
  Chore durable(store::Flow flow, const KeptStep& step);
  /// A checkpoint has failed on all ranks: nobody writes to its directory any more.
  Chore failed(const std::string& directory);
  /// Parts of it are still on local disks: what is in the store goes with the next checkpoint.
  void half_drained(const std::string& directory);
  /// The slot is used again. What it held is not missed; the mark says so before.
  Chore taken(const std::string& slot);
  /// What was not synced of the marks.
  Chore synced();

  /// Directories of checkpoints that were there, "checkpoint/000000040": a new attempt at a step gets one of its own.
  const std::set<std::string>& directories() const noexcept { return directories_; }

 private:
  void remove_too_many(const std::optional<store::StepId>& resumed_from);
  bool is_abandoned(const KeptStep& step) const;
  bool is_removable(const std::string& directory) const;
  void forget(const KeptStep& step);
  Chore chore(store::Flow flow, bool sync, std::vector<std::string> removed);

  std::filesystem::path store_;
  Options options_;
  std::array<store::DurableMark, 2> marks_;  // by flow
  std::array<bool, 2> unsynced_{};
  std::vector<KeptStep> kept_;            // by order
  std::vector<store::StepId> abandoned_;  // of kept_: a run went on from a step before them
  std::vector<std::string> leftovers_;    // they go when this run has a checkpoint
  std::set<std::string> directories_;
};

/// The directory of a new attempt at the checkpoint, which none of `used` has; adds it.
std::string new_directory(std::int64_t step, std::set<std::string>& used);

}  // namespace octavo::parallel
