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
#include "octavo/store/read/scan.hpp"

namespace octavo::engine {

/// Work on disk that the writing thread does in the background: on rank 0, between two steps of that thread.
using Chore = std::function<void()>;

/// A complete step and its directory.
struct KeptStep {
  store::StepId id;
  std::uint64_t order = 0;
  std::string directory;  ///< in the store: "checkpoint/000000040"
};

/// Rank 0's knowledge of the steps in the store: the checkpoints that the option keep_last keeps, and the durable steps
/// that the marks list. It looks at the store once, when the writer is opened, and then follows the run. Its functions
/// return chores for another thread. A file that cannot be removed stays: it costs space, not safety.
class Keeper {
 public:
  struct Options {
    int keep_last = 0;  ///< 0: no checkpoint is ever removed
    bool recycle = false;
    bool sync = true;  ///< marks are synced whenever they change
    /// Parts of incomplete steps may still be on local disks: they stay until this run has a checkpoint in the store.
    bool incomplete_may_be_completed = false;
  };
  Keeper() = default;
  /// Reads the marks. With keep_last it also scans the store and removes superseded and incomplete checkpoints of
  /// earlier runs at once. It removes the remains of a checkpoint that was durable once this run has a checkpoint of
  /// its own. It leaves a directory alone if anything in it is damaged.
  Keeper(const std::filesystem::path& store, const Options& options, const std::optional<store::StepId>& resumed_from);

  /// All ranks have the step on disk. The chore marks it as durable. With keep_last it then removes the steps that it
  /// supersedes and the oldest checkpoints, so that keep_last stay.
  Chore durable(store::Flow flow, const KeptStep& step);
  /// A step has failed and no rank writes to its directory any more. The chore notes in the mark that its order (0: it
  /// got none) is missing, and with keep_last removes a checkpoint's directory.
  Chore failed(store::Flow flow, const KeptStep& step);
  /// Parts of a checkpoint are still on local disks. The next checkpoint removes the parts that are in the store.
  void half_drained(const std::string& directory);
  /// A slot is about to be overwritten. The chore removes its old step from the mark, so that nobody reports the step
  /// as lost.
  Chore taken(const std::string& slot);

  /// Returns the checkpoints' mark once enough checkpoints have gone since the last time, so that the index drops their
  /// lines: it never has more than twice as many lines as checkpoints are kept, and a few more. Else returns nothing.
  std::optional<store::DurableMark> mark_for_index();

  /// Directories of checkpoints found in the store ("checkpoint/000000040"): a new attempt at a step must use another.
  const std::set<std::string>& directories() const noexcept { return directories_; }

 private:
  void remove_too_many(const std::optional<store::StepId>& resumed_from);
  bool is_abandoned(const KeptStep& step) const;
  bool is_removable(const std::string& directory) const;
  void forget(const KeptStep& step);
  Chore chore(store::Flow flow, std::vector<std::string> removed);

  std::filesystem::path store_;
  Options options_;
  std::array<store::DurableMark, 2> marks_;  // by flow
  // Their files, open; only the thread that runs the chores uses them.
  std::shared_ptr<std::array<file::File, 2>> mark_files_ = std::make_shared<std::array<file::File, 2>>();
  std::vector<KeptStep> kept_;            // by order
  std::vector<store::StepId> abandoned_;  // of kept_: a run went on from a step before them
  std::vector<std::string> leftovers_;    // they go when this run has a checkpoint
  std::set<std::string> directories_;
  std::size_t gone_ = 0;  // checkpoints since mark_for_index() gave a mark
};

/// The directory of a new attempt at the checkpoint, which none of `used` has; adds it.
std::string new_directory(std::int64_t step, std::set<std::string>& used);

}  // namespace octavo::engine
