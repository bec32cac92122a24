#pragma once
#include <mpi.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "octavo/engine/plan.hpp"
#include "octavo/engine/write/background.hpp"

namespace octavo::engine {

/// A directory of checkpoints that goes.
struct OldDirectory {
  std::string directory;  ///< in the store: "checkpoint/000000040"
  int files = 0;          ///< subfiles in it; 0: not known
};

/// Removes old checkpoints behind the run. Each rank that writes files removes those of its own numbers; rank 0 then
/// removes the directory, with whatever others have left. A file that cannot be removed stays: it costs space, not
/// safety.
class Removal {
 public:
  Removal() = default;
  /// `own`: this rank's file; without one, a rank removes nothing. `threaded`: on a thread of its own, which makes no
  /// MPI call and is started by the first removal; else at once.
  Removal(std::filesystem::path store, const OwnFile& own, bool has_file, bool is_first, bool threaded, bool bound);

  /// Begins to remove this rank's files of the directories. All ranks call it with the same ones.
  void begin(std::vector<OldDirectory> directories);
  /// Waits until this rank's files are removed; returns the seconds that took.
  double wait();
  /// Collective. All that begin() was told of is gone when it returns. Costs nothing if that was nothing.
  double finish(MPI_Comm comm);

 private:
  void remove_files(const OldDirectory& old) const;
  void remove_emptied();

  std::filesystem::path store_;
  OwnFile own_;
  bool has_file_ = false, is_first_ = false, threaded_ = false, bound_ = false;
  bool begun_ = false;                // since finish(): the same on all ranks
  std::vector<std::string> emptied_;  // on rank 0: directories that are left when all ranks have removed their files
  std::unique_ptr<Background> thread_;
};

}  // namespace octavo::engine
