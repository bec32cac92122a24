#pragma once
#include <mpi.h>

#include <functional>
#include <memory>
#include <string>

#include "octavo/engine/step/agreement.hpp"
#include "octavo/engine/step/step_job.hpp"
#include "octavo/engine/targets/target.hpp"

/// A Writer knows a target as a row of functions. It calls them on the main thread, except for StepWork::write.
namespace octavo::engine {

/// Passed between the thread that writes a step and the Writer.
struct Writing {
  WrittenSegment written;          ///< for the statistics
  std::function<void()> released;  ///< call it as soon as neither copies nor lent arrays are needed any more
};

/// The work that is left to do for a step that a target has taken.
struct StepWork {
  std::shared_ptr<StepJob> job;    ///< lives until the step is over
  std::uint64_t bytes_put = 0;     ///< of this rank's arrays
  std::uint64_t bytes_copied = 0;  ///< of those: copied by take()
  std::uint64_t bytes_stored = 0;  ///< by this rank, counted once the step is sealed
  double seconds_copying = 0;      ///< in take(), and in puts that copy
  /// Copies the arrays into the staging arena; returns the seconds that it waited for memory. None: take() has copied
  /// them.
  std::function<double(Staging&)> stage{};
  /// Writes this rank's share, on any thread, without MPI or HDF5. Returns when it is on disk.
  std::function<void(Writing&)> write{};
  /// Collective. Gathers facts that are known only when all ranks have written. None: nothing to gather.
  std::function<void()> gather{};
  /// Called on all ranks after gather(): makes the step visible. An error of one rank is told to all. None: the step is
  /// visible as soon as all ranks have written.
  std::function<void()> seal{};
  /// Called on all ranks if anything above failed on any rank: removes the remains of the step. Must not throw.
  std::function<void()> discard{};
};

/// A target. Puts for which it has no function are refused. Puts keep views, whose arrays take() reads, unless the
/// target says otherwise; they throw the error of an invalid put.
struct TargetRow {
  std::string name = "a store";      ///< in errors
  bool threaded = true;              ///< this rank has something to write in the background
  bool stages = false;               ///< steps are copied into the staging arena
  std::int64_t steps_found = 0;      ///< complete steps in the file when it was opened
  std::vector<std::string> notes{};  ///< Writer::notes()

  std::function<void(StepJob&)> begin{};  ///< the job already has number, time and path
  std::function<void(StepJob&, const std::string& name, mesh::Attribute value)> put_attribute{};
  std::function<void(StepJob&, const mesh::Octree&)> put_tree{};
  std::function<void(StepJob&, const mesh::Patches&)> put_patches{};
  std::function<void(StepJob&, const mesh::Unstructured&, std::span<const std::int64_t> global_element)> put_piece{};
  std::function<void(StepJob&, const mesh::FieldInfo&, const ArrayView&)> put_field{};
  std::function<void(StepJob&, const mesh::FieldInfo&, std::span<const ArrayView> boxes)> put_boxes{};
  std::function<void(StepJob&, const std::string& species, const mesh::FieldInfo&, const ArrayView&)> put_particles{};
  std::function<void(StepJob&, const std::string& name, std::span<const std::byte> bytes)> put_bytes{};
  /// Throws the errors of the whole step that this rank can see by itself.
  std::function<void(const StepJob&)> check{};
  /// A text that must be the same on all ranks. Items end with ";".
  std::function<std::string(const StepJob&)> describe{};
  /// Collective. Lays the step out and copies it, or returns how to copy it. Throws the same on all ranks, and leaves
  /// nothing of the step then. If the error is the system's (no_space, unreadable), the step is taken and has failed.
  /// No other step is on its way, unless the target is a store.
  std::function<StepWork(std::shared_ptr<StepJob>, const Agreement& of_all_ranks)> take{};
  /// Collective. Called by Writer::close() when all steps are over. None: nothing to do.
  std::function<void()> close{};
};

/// A row whose puts are the functions of step_puts.hpp.
TargetRow row_of_puts();

/// The writer's options, of those that a target of files has. One step is on its way at a time.
template <class Chosen>
Options common_options(const Chosen& chosen) {
  Options options;
  options.mode = chosen.mode;
  options.sync_policy = chosen.sync ? SyncPolicy::step : SyncPolicy::none;
  options.bound_thread = chosen.bound_thread;
  options.steps_in_flight = 1;
  return options;
}

}  // namespace octavo::engine
