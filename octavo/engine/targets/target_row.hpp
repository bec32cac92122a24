#pragma once
#include <mpi.h>

#include <functional>
#include <memory>
#include <string>

#include "octavo/engine/step/agreement.hpp"
#include "octavo/engine/step/step_job.hpp"
#include "octavo/engine/targets/target.hpp"

/// A Writer knows a target by a row of functions. It calls them on the main thread, but for StepWork::write.
namespace octavo::engine {

/// Between the thread that writes a step and its writer.
struct Writing {
  Written written;                 ///< for the statistics
  std::function<void()> released;  ///< to be called as soon as neither copies nor lent arrays are needed any more
};

/// A step that a target has taken: what is left to do.
struct StepWork {
  std::shared_ptr<StepJob> job;    ///< lives until the step is over
  std::uint64_t bytes_put = 0;     ///< of this rank's arrays
  std::uint64_t bytes_copied = 0;  ///< of those: by take()
  std::uint64_t bytes_stored = 0;  ///< by this rank, counted once the step is sealed
  double seconds_copying = 0;      ///< in take(), and in puts that copy
  /// Copies the arrays; returns the seconds that it waited for memory. None: take() has copied them.
  std::function<double(Staging&)> stage{};
  /// This rank's share, on any thread, without MPI or HDF5; returns when it is on disk.
  std::function<void(Writing&)> write{};
  /// Collective. What is known only when all ranks have written. None: nothing.
  std::function<void()> gather{};
  /// On all ranks, after gather(): lets the step be seen. An error of one rank is told to all. None: the step is there
  /// as soon as all ranks have written.
  std::function<void()> seal{};
  /// On all ranks, where anything above failed anywhere: removes what is left of the step. Must not throw.
  std::function<void()> discard{};
};

/// How a target knows its steps, and which begin_step() it has.
enum class StepsBy : std::uint8_t { flow, path, time };

/// A target. A function that it has not refuses such puts. Puts keep views, whose arrays take() reads, unless the
/// target says otherwise; they throw what is wrong with the put.
struct TargetRow {
  std::string name = "a store";  ///< in errors
  StepsBy steps_by = StepsBy::flow;
  bool threaded = true;              ///< this rank has something to write
  std::int64_t steps_found = 0;      ///< whole ones that were in the file when it was opened
  std::vector<std::string> notes{};  ///< Writer::notes()

  std::function<void(StepJob&)> begin{};  ///< number, time and path are there
  std::function<void(StepJob&, const std::string& name, mesh::Attribute value)> put_attribute{};
  std::function<void(StepJob&, const mesh::Octree&)> put_tree{};
  std::function<void(StepJob&, const mesh::Patches&)> put_patches{};
  std::function<void(StepJob&, const mesh::Unstructured&, std::span<const std::int64_t> global_element)> put_piece{};
  std::function<void(StepJob&, const mesh::FieldInfo&, const ArrayView&)> put_field{};
  std::function<void(StepJob&, const mesh::FieldInfo&, std::span<const ArrayView> boxes)> put_boxes{};
  std::function<void(StepJob&, const std::string& species, const mesh::FieldInfo&, const ArrayView&)> put_particles{};
  std::function<void(StepJob&, const std::string& name, std::span<const std::byte> bytes)> put_bytes{};
  /// Throws what this rank can see to be wrong with the whole step.
  std::function<void(const StepJob&)> check{};
  /// A text that must be the same on all ranks. Items end with ";".
  std::function<std::string(const StepJob&)> describe{};
  /// Collective; throws the same on all ranks, and nothing of the step is left then. Lays the step out and copies it,
  /// or says how. No other step is on its way, unless the target is a store.
  std::function<StepWork(std::shared_ptr<StepJob>, const Agreement& of_all_ranks)> take{};
};

/// Puts as step_puts.hpp has them.
TargetRow row_of_puts();

/// Collective.
TargetRow native_row(MPI_Comm comm, const mesh::Header& header, const NativeOptions& options);
/// Collective. Makes the file, or looks where to go on in it.
TargetRow series_row(MPI_Comm comm, const SeriesTarget& target);

}  // namespace octavo::engine
