#pragma once
#include <mpi.h>

#include <array>
#include <atomic>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "octavo/engine/points/triangle_pieces.hpp"
#include "octavo/engine/restart/failed_restarts.hpp"
#include "octavo/engine/step/agreement.hpp"
#include "octavo/engine/targets/target_row.hpp"
#include "octavo/engine/tiers/local_tier.hpp"
#include "octavo/engine/write/background.hpp"
#include "octavo/engine/write/keep.hpp"
#include "octavo/engine/write/slots.hpp"
#include "octavo/file/directory_lock.hpp"

namespace octavo::engine {

/// Triangles as they were put last, and how their values reach the ranks that write them.
struct PutTriangles {
  SeriesMesh piece;
  std::uint64_t piece_checksum = 0;
  std::uint64_t numbers = 0;  ///< checksum of the integer fields of the step that is put, which stand with the mesh
  std::optional<TriangleShares> shares;
  std::uint64_t shared_numbers = 0;       ///< of the step that shared the mesh out
  std::int64_t since = 0;                 ///< steps from this number on have this mesh
  std::optional<std::int64_t> mesh_step;  ///< of the analysis flow: durable, and has it
  bool is_new() const { return !shares || shares->piece != piece_checksum || shared_numbers != numbers; }
};

/// A store as a writer's target: all that foreign files have not. The same on all ranks, but for what rank 0 keeps.
struct StoreSteps {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  std::filesystem::path path;
  mesh::Header header;
  Options options;
  std::optional<store::StepId> resumed_from;
  WritePlan plan;
  store::Attempt run{};
  file::DirectoryLock lock;  // on rank 0
  Group group;
  std::optional<LocalSteps> local;       // outlives the background, which hands steps to its drain
  std::atomic<std::int64_t> marked = 0;  // on rank 0, as local: steps below are listed in a mark, or failed
  Background* background = nullptr;      // the writer's
  Staging* staging = nullptr;            // the writer's

  std::int64_t next_number = 0;  // of the step that is taken next
  PutTriangles triangles;
  Slots slots;
  std::optional<Keeper> keeper;                      // on rank 0
  std::set<std::string> directories;                 // of checkpoints: the next attempt gets another
  std::deque<Submitted> unmarked;                    // durable, and not told
  std::array<std::optional<store::StepId>, 2> told;  // by flow: the newest durable one that a mark lists
  bool proven = false;                               // this run has a step: the start was good
  std::vector<std::string> notes;

  StoreSteps(MPI_Comm comm, const mesh::Header& header, const StoreTarget& target);

  /// Collective.
  void open();
  TargetRow row();
  void use(Background& thread, Staging& memory) { background = &thread, staging = &memory; }
  /// Which files a step goes to. False where all slots are taken by steps that are on their way.
  bool choose_files(store::SegmentPlan& segment, std::int64_t number);
  /// The number is known: the step gets its attempt, and its way over the local disk.
  void identify(StepJob& job, Submitted& step, const std::optional<store::StepId>& continues);

  /// Adds what only a store has to say.
  void tell(Agreement& own, Statistics& statistics);
  /// All ranks have the step on disk (the local one), or it failed.
  void landed(const Submitted& step);
  /// Steps below are listed in a mark.
  void told_up_to(std::int64_t marked);
  /// The same for the way from local disks to the store.
  void advance_drained(std::int64_t up_to, std::int64_t failed);
  /// A run that has a step that is safe, or has come to its end, did not fail in its start. What the application itself
  /// called a failure is one until there is a step.
  void prove(std::initializer_list<Mark> marks);

 private:
  void lock_store();
  void open_keeper();
  StepWork take(std::shared_ptr<StepJob> job, const Agreement& all);
  void fold_triangles(StepJob& job, bool is_new);
  void keep(const Submitted& step);
  void do_behind(Chore chore);
};

}  // namespace octavo::engine
