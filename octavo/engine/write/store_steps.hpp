#pragma once
#include <mpi.h>

#include <array>
#include <atomic>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "octavo/engine/own_file.hpp"
#include "octavo/engine/points/triangle_pieces.hpp"
#include "octavo/engine/restart/failed_restarts.hpp"
#include "octavo/engine/step/agreement.hpp"
#include "octavo/engine/targets/target_row.hpp"
#include "octavo/engine/tiers/local_tier.hpp"
#include "octavo/engine/write/background.hpp"
#include "octavo/engine/write/keep.hpp"
#include "octavo/engine/write/slots.hpp"
#include "octavo/file/directory_lock.hpp"
#include "octavo/store/read/index.hpp"

namespace octavo::engine {

/// The triangles that were put last, and how their values reach the ranks that write them.
struct PutTriangles {
  SeriesMesh piece;
  std::uint64_t piece_checksum = 0;
  std::uint64_t numbers = 0;  ///< checksum of the current step's integer fields, which are stored with the mesh
  std::optional<TriangleShares> shares;
  std::uint64_t shared_numbers = 0;       ///< the same of the step for which the mesh was shared out
  std::int64_t since = 0;                 ///< steps from this number on have this mesh
  std::optional<std::int64_t> mesh_step;  ///< the durable step of the analysis flow that holds the mesh
  bool is_new() const { return !shares || shares->piece != piece_checksum || shared_numbers != numbers; }
};

/// Directories of checkpoints that may go once a mark lists all steps up to one.
struct Doomed {
  std::int64_t number = 0;  ///< of that step
  std::vector<OldDirectory> directories;
};

/// A store as a writer's target: the state that other targets do not have. The same on all ranks, except for members of
/// rank 0.
struct StoreSteps {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  std::filesystem::path path;
  mesh::Header header;
  Options options;
  std::optional<store::StepId> resumed_from;
  OwnFile planned;
  bool has_file = false;  // this rank commits its file's segments
  store::Attempt run{};
  file::DirectoryLock lock;  // on rank 0
  Group group;
  std::optional<LocalSteps> local;       // must outlive the background, which hands steps to its drain
  std::atomic<std::int64_t> marked = 0;  // on rank 0: steps below are listed in a mark, or failed
  Background* background = nullptr;      // the writer's
  Staging* staging = nullptr;            // the writer's

  std::int64_t next_number = 0;  // of the step that is taken next
  PutTriangles triangles;
  Slots slots;
  std::optional<Keeper> keeper;  // on rank 0
  // On rank 0: the indexes by flow, open; only the thread that runs the chores uses them.
  std::array<file::File, 2> indexes;
  DirectoryNames names;  // of checkpoints that are not in slots
  bool removes = false;  // rank 0 tells all ranks which directories go, with each checkpoint
  std::deque<Doomed> doomed;
  Removal removal;
  std::deque<Submitted> unmarked;                    // durable, but not in a mark yet
  std::array<std::optional<store::StepId>, 2> told;  // by flow: the newest durable one that a mark lists
  bool proven = false;                               // this run has a step, so its restart succeeded
  std::vector<std::string> notes;

  StoreSteps(MPI_Comm comm, const mesh::Header& header, const StoreTarget& target);

  /// Collective.
  void open();
  TargetRow row();
  void use(Background& thread, Staging& memory) { background = &thread, staging = &memory; }
  /// Chooses the files of a step. Returns false if steps on their way take all slots.
  bool choose_files(store::SegmentPlan& segment, std::int64_t number);
  /// Gives a step whose number is known its attempt and, if there is one, its way over the local disk.
  void identify(StepJob& job, Submitted& step, const std::optional<store::StepId>& continues);

  /// Adds the reports that only a store has.
  void tell(Agreement& own, WriteStatistics& statistics);
  /// Called when all ranks have the step on disk (the local one, if there is one), or it failed.
  void landed(const Submitted& step);
  /// Called when a mark lists all steps below this number. Begins to remove what may go now.
  void told_up_to(std::int64_t marked);
  /// Notes how far steps have come on the way from local disks to the store.
  void advance_drained(std::int64_t up_to, std::int64_t failed);
  /// Notes how far steps are protected on local disks.
  void advance_safe(std::int64_t up_to, std::int64_t unprotected);
  /// Removes these marks of a failed restart. A run that has a safe step, or has come to its end, did not fail at its
  /// start. If the application itself called it a failure, only a step removes that mark.
  void prove(std::initializer_list<Mark> marks);

 private:
  void lock_store();
  void set_striping();
  FoundCheckpoints look() const;
  void open_keeper();
  void remove_garbage();
  StepWork take(std::shared_ptr<StepJob> job, const Agreement& all);
  void fold_triangles(StepJob& job, bool is_new);
  void keep(const Submitted& step, std::optional<store::IndexedStep> entry = {});
  std::optional<store::IndexedStep> entry_of(const Submitted& step);
  void leave_behind(const std::vector<Submitted>& dropped);
  void do_behind(Chore chore);
  void tell_gone(std::int64_t number, std::vector<OldDirectory> gone);
};

}  // namespace octavo::engine
