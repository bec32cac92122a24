#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "octavo/engine/write/removal.hpp"
#include "octavo/store/durable.hpp"

namespace octavo::engine {

/// Work on disk that the writing thread does in the background: on rank 0, between two steps of that thread.
using Chore = std::function<void()>;

/// A complete step and its directory.
struct KeptStep {
  store::StepId id;
  std::uint64_t order = 0;
  std::string directory;  ///< in the store: "checkpoint/000000040"
  int files = 0;          ///< in it
};

/// A directory of checkpoints as a writer finds it.
struct FoundDirectory {
  bool damaged = false;          ///< or it holds something other than subfiles
  bool incomplete = false;       ///< segments of steps that lack others
  bool lost = false;             ///< those of one that was durable
  std::vector<KeptStep> listed;  ///< its steps
};
using FoundCheckpoints = std::map<std::string, FoundDirectory>;  // by name in the store

/// One look at the checkpoints of a store, for Keeper and Slots. It reads the index, one head a directory, and the
/// names in it; all heads only where the mark does not list the steps. It reads nothing of the analysis flow. Throws
/// what store::scan_store() throws.
FoundCheckpoints look_for_checkpoints(const std::filesystem::path& store);

/// Gives checkpoints directories that are new in the store and in the run, without a list of those that there were.
struct DirectoryNames {
  int attempt = 1;                     ///< the last number behind a step
  std::optional<std::int64_t> newest;  ///< the largest step that has had a directory
};
/// "checkpoint/000000040" of a step larger than all before, else "checkpoint/000000040.2" with the next number.
std::string new_directory(DirectoryNames& names, std::int64_t step);
/// The names that follow those in the store.
DirectoryNames names_after(const FoundCheckpoints& found);

/// Rank 0's knowledge of the steps in the store: the checkpoints that the option keep_last keeps, and the durable steps
/// that the marks list. It begins with what was found when the writer was opened, and then follows the run. It says
/// what is to be removed, and returns chores for another thread.
class Keeper {
 public:
  struct Options {
    int keep_last = 0;  ///< 0: no checkpoint is ever removed
    bool recycle = false;
    bool sync = true;  ///< marks are synced whenever they change
    /// Parts of incomplete steps may still be on local disks: they stay until this run has a checkpoint in the store.
    bool incomplete_may_be_completed = false;
  };
  /// A change of the mark, and directories that may go once the mark is written.
  struct Change {
    Chore mark;
    std::vector<OldDirectory> gone;
  };
  Keeper() = default;
  /// Reads the marks. With keep_last, superseded and incomplete checkpoints of earlier runs may go at once: garbage().
  /// The remains of a checkpoint that was durable go once this run has a checkpoint of its own. A directory stays if
  /// anything in it is damaged.
  Keeper(const std::filesystem::path& store, const Options& options, const FoundCheckpoints& found,
         const std::optional<store::StepId>& resumed_from);
  /// The steps that may go when the writer is opened: the mark already lacks them.
  const std::vector<OldDirectory>& garbage() const noexcept { return garbage_; }

  /// All ranks have the step on disk. The chore marks it as durable. With keep_last the steps that it supersedes and
  /// the oldest checkpoints go, so that keep_last stay.
  Change durable(store::Flow flow, const KeptStep& step);
  /// A step has failed and no rank writes to its directory any more. The chore notes in the mark that its order (0: it
  /// got none) is missing. With keep_last, a checkpoint's directory goes.
  Change failed(store::Flow flow, const KeptStep& step);
  /// Parts of a checkpoint are still on local disks. With the next checkpoint the parts go that are in the store.
  void half_drained(const std::string& directory);
  /// When the writer is opened: this run overwrites these slots first, whichever steps they hold. The mark loses those
  /// before any rank can do so. (Later it loses a step when a newer one is durable, and says how many are kept: a rank
  /// may overwrite the step before the mark is written.)
  void give_up(const std::vector<std::string>& slots);

  /// Returns the checkpoints' mark once enough checkpoints have gone since the last time, so that the index drops their
  /// lines: it never has more than twice as many lines as checkpoints are kept, and a few more. Else returns nothing.
  std::optional<store::DurableMark> mark_for_index();

  /// Whether anything may go that is there now.
  bool has_removable() const;

 private:
  void settle(const FoundCheckpoints& found);
  void remove_too_many(const std::optional<store::StepId>& resumed_from);
  bool is_abandoned(const KeptStep& step) const;
  bool is_removable(const std::string& directory) const;
  void forget(const KeptStep& step);
  Chore chore(store::Flow flow);

  std::filesystem::path store_;
  Options options_;
  std::array<store::DurableMark, 2> marks_;  // by flow
  // Their files, open; only the thread that runs the chores uses them.
  std::shared_ptr<std::array<file::File, 2>> mark_files_ = std::make_shared<std::array<file::File, 2>>();
  std::vector<KeptStep> kept_;            // by order
  std::vector<store::StepId> abandoned_;  // of kept_: a run went on from a step before them
  std::vector<OldDirectory> garbage_;
  std::vector<OldDirectory> leftovers_;  // they go when this run has a checkpoint
  std::size_t gone_ = 0;                 // checkpoints since mark_for_index() gave a mark
};

}  // namespace octavo::engine
