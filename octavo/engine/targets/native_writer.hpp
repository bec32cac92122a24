#pragma once
#include <mpi.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/engine/options.hpp"
#include "octavo/engine/statistics.hpp"
#include "octavo/engine/step/array_view.hpp"

namespace octavo::engine {

enum class NativeFormat : std::uint8_t {
  flash,           ///< one HDF5 checkpoint: of blocks, or of patches cut into the header's blocks
  amrex_plotfile,  ///< a directory: of patches, or of a tree whose cells or blocks are merged to boxes
  amrex_checkpoint
};

struct NativeOptions {
  NativeFormat format = NativeFormat::flash;
  Mode mode = Mode::background;  ///< or sync
  bool sync = true;              ///< steps are on disk when they bear their name
  bool checksums = true;         ///< of each array, while it is copied; compared before it is written
  bool bound_thread = false;     ///< as of Options
  bool collect = false;          ///< FLASH: rank 0 writes all with HDF5 in end_step(), asking one rank after another

  std::map<std::string, std::string> names;  ///< FLASH: field names to its own, see flash::WriteOptions

  int files = 0;                                      ///< AMReX: data files a level; 0: one for each GiB
  std::int64_t max_box = 64;                          ///< AMReX, of a tree: boxes are at most that long [cells]
  std::string title = "Checkpoint file for AmrCore";  ///< AMReX checkpoint: first line of its Header
  std::string multifab = "phi";                       ///< AMReX checkpoint: name of the MultiFab of all fields
};

/// Writes FLASH and AMReX outputs from all ranks, each its own values straight to their final place, behind the
/// simulation's back. The verbs are those of Writer; a step is a file or a directory of its own:
///
///     NativeWriter writer(MPI_COMM_WORLD, header, {.format = NativeFormat::amrex_plotfile});
///     writer.begin_step("plt00010", 10, time);
///     writer.put_mesh(patches);
///     writer.put_field("density", views_of_boxes);
///     writer.end_step();     // collective; arrays may change from here on
///     ...
///     writer.close();        // collective; every step has its name, or this throws
///
/// Until a step is complete on all ranks it is called NAME.partial; it gets its name in the next collective call after
/// that (end_step, finished, wait, close). One step is in flight: end_step() first waits for the one before. The
/// background thread makes no MPI and no HDF5 call; HDF5 is called on rank 0's main thread only.
///
/// Every rank puts a mesh and the same fields and attributes of particles, empty ones where it has nothing.
///
/// Errors are collective as Writer's are; what is left of a failed step is removed. Rank 0 holds some 400 bytes a block
/// of all ranks (FLASH), every rank some 200 bytes a box of all (AMReX).
class NativeWriter {
 public:
  /// Collective.
  NativeWriter(MPI_Comm comm, const mesh::Header& header, const NativeOptions& options = {});
  ~NativeWriter();  ///< without close(): waits for this rank's own work; the step stays NAME.partial
  NativeWriter(NativeWriter&&) noexcept;
  NativeWriter& operator=(NativeWriter&&) noexcept;

  /// `path` must not exist, which end_step() finds out. FLASH: `step` is the scalar nstep, unless that is put.
  void begin_step(const std::filesystem::path& path, std::int64_t step, double time);
  /// Header::attributes of the step: FLASH's lists ("real scalars/dt"), AMReX's "level_steps", "level_dt". A checkpoint
  /// of AMReX needs "level_dt", reals: the time step of each level, or one for all.
  void put_attribute(const std::string& name, mesh::Attribute value);
  /// FLASH: the header's block, every block owned by one rank; AMReX: whatever the tree owns.
  void put_mesh(const mesh::Octree& tree);
  /// FLASH: the header's roots and block. AMReX: any boxes, roots and block are not looked at.
  void put_mesh(const mesh::Patches& patches);
  /// Float64 or float32, one component; FLASH: also integers on cells. FLASH, of a tree: also a face variable, centring
  /// face_x, face_y or face_z, with one value more than cells along that axis of a block; it is the fields NAME_left
  /// and NAME_right (the low and the high face of each cell), which may be put instead. Others are cell-centred.
  void put_field(const std::string& name, const ArrayView& view, const std::string& unit = "",
                 mesh::Centring centring = mesh::Centring::cell);
  void put_field(const std::string& name, std::span<const ArrayView> boxes, const std::string& unit = "");
  /// FLASH: one species, with particles in leaf blocks that this rank owns. FLASH's tag is the attribute "tag", else
  /// "identity", else "id" without "cpu"; its velx is velocity_x. AMReX: particles in boxes of any rank. The identity
  /// is "id" (with "cpu"), else "identity", else "tag"; without any of them each particle gets a new one.
  void put_particles(const std::string& species, const std::string& attribute, const ArrayView& view);
  /// Reports an error that the caller has found in the step. end_step() throws it on all ranks.
  void put_error(const base::Error& error);
  /// Reports that the caller failed to begin the step. end_step() throws this error on all ranks, unless begin_step()
  /// succeeds before.
  void begin_error(const base::Error& error);
  /// Collective. If the step before failed, throws its error on all ranks and does not write this step (Writer would);
  /// it may be put again.
  void end_step();
  /// Collective. Returns whether all steps are finished; does not wait. Gives each complete step its name.
  bool finished();
  /// Collective. Waits until all steps are complete and have their names.
  void wait();
  /// As wait(). Throws Error(usage) if a step was begun and not ended, and the error of a put that no end_step() threw.
  void close();

  /// Of this rank.
  Statistics statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octavo::engine
