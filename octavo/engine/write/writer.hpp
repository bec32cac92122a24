#pragma once
#include <mpi.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/engine/options.hpp"
#include "octavo/engine/statistics.hpp"
#include "octavo/engine/step/array_view.hpp"
#include "octavo/engine/targets/target.hpp"
#include "octavo/engine/tiers/safety.hpp"

namespace octavo::engine {

/// Writes the steps of a simulation to any target (docs/writer.md):
///
///     Writer writer(MPI_COMM_WORLD, "run.octavo", header, read_options());
///     writer.begin_step(store::Flow::checkpoint, step, time);
///     writer.put_mesh(tree);
///     writer.put_field("density", view_of(density));
///     writer.end_step();            // collective; arrays may change from here on
///     ...
///     writer.close();               // collective; all steps are durable, or this throws
///
/// With another target it writes FLASH or AMReX outputs, or one SERAFIN or MED file:
///
///     Writer writer(MPI_COMM_WORLD, header, AmrexTarget{.kind = AmrexKind::plotfile});   // amrex_target.hpp
///     writer.begin_step("plt00010", 10, time);
///     Writer series(MPI_COMM_WORLD, {}, SeriesTarget{"r2d.slf", serafin_header, {.piece = mesh}});
///     series.begin_step(time);
///
/// Every rank writes one part, its own. For a store, a rank may have no part, and parts have the numbers of their
/// ranks. For other targets every rank puts a mesh and the same fields, empty ones if it has nothing. end_step() reads
/// the arrays: until it returns, or with the option `lend` until the next call, they must not change. For SERAFIN and
/// MED, put_field() copies them.
///
/// The contract is the same for all targets. Errors are collective: if a put or the background fails on any rank, the
/// next collective call throws the error on all ranks, and the writer can still be used. Each failed step is reported
/// once, by name, when all ranks are done with it. A failed step is in no store and has no file; the steps before and
/// after it are complete. A store shows a step as soon as all ranks have written it. Another target shows it in the
/// next collective call after that: until then its file is called NAME.partial, and a series ends with the previous
/// step. These targets have one step on its way at a time: end_step() first waits for the previous one.
///
/// The thread that initialised MPI must make all calls; the writer calls MPI, HDF5 and libmedC only on it. In sync mode
/// no thread is started, except for a staging directory, and for the removal of old checkpoints if MPI_THREAD_FUNNELED
/// is provided.
class Writer {
 public:
  /// Collective. `header` holds the properties that all steps share (time and fields are filled in per step). A series
  /// has its own header and ignores this one. Throws Error(usage) if the header is invalid (dimensions, roots, block,
  /// corners), options contradict each other, MPI's thread level is too low for a background thread, another writer has
  /// the store open, or the series exists.
  Writer(MPI_Comm comm, const mesh::Header& header, const Target& target);
  /// To a store: StoreTarget.
  Writer(MPI_Comm comm, const std::filesystem::path& store, const mesh::Header& header, const Options& options = {},
         const std::optional<store::StepId>& resumed_from = {});
  ~Writer();  ///< without close(): waits for this rank's own work, reports no error, and shows no step
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;

  /// To a store. Waits for lent arrays. Throws Error(usage) inside a step, after close(), or for another target.
  void begin_step(store::Flow flow, std::int64_t step, double time);
  /// To a FLASH or AMReX output at this path. The path must not exist, which end_step() checks. FLASH: `step` becomes
  /// the scalar nstep, unless the caller puts nstep.
  void begin_step(const std::filesystem::path& path, std::int64_t step, double time);
  /// To a series.
  void begin_step(double time);
  /// Whether the option `checkpoint.every` or `analysis.every` asks for this step of the flow. Call it at every step of
  /// the simulation. Collective if wall time decides (rank 0's clock), local otherwise. Targets without these options
  /// ask for every step.
  bool due(store::Flow flow, std::int64_t step, double time);
  // If the target does not take a put, that is Error(unsupported). end_step() throws it, like all errors of puts.

  /// Header::attributes of the step: FLASH's lists ("real scalars/dt"), AMReX's "level_steps", "level_dt". A checkpoint
  /// of AMReX needs "level_dt", reals: the time step of each level, or one for all. None in a series.
  void put_attribute(const std::string& name, mesh::Attribute value);
  /// Units of this step [cgs], if they are not the header's: those of a comoving box change with time.
  void put_units(double length, double density, double time);
  /// This rank's tree, which lists the roots that it holds (`tree.held`). It should hold only roots that it owns or
  /// that have owned cells below them, because everything that it holds is stored. A rank may hold none. FLASH: the
  /// header's block, every block owned by one rank; AMReX: any ownership.
  void put_mesh(const mesh::Octree& tree);
  /// The boxes of this rank (disjoint from all others'). They become a tree of the header's roots and block, level 0 of
  /// the patches at tree level index `header.unfolded`: see mesh::plan_patch_tree, which gives the roots. Boxes, and
  /// the coarse cells under finer ones, must be whole blocks; ratios are 2 or 4; values come back bit for bit. Every
  /// rank learns the boxes of all in end_step(): 52 bytes a box. AMReX: any boxes, roots and block are not looked at.
  void put_mesh(const mesh::Patches& patches);
  /// Triangles: every rank puts its piece, which may have no points. Several ranks may hold the same point or triangle.
  /// At least one rank must hold each number from 0 up (`global_point`; `global_element` if given on all ranks).
  /// Without `global_element` triangles are sorted by their lowest points. The header has one root and no blocks.
  /// Fields have one value a point, plane after plane, of 4 or 8 bytes; if several ranks hold a point, the lowest
  /// rank's value counts. end_step() sends values to the ranks that write them, by an exchange that is planned when the
  /// mesh is new. Integer fields belong to the mesh. Every checkpoint holds the mesh. Steps of the analysis flow hold
  /// it until one of them is durable; later ones refer to that step while the mesh stays the same. A series has its
  /// mesh from its target; the same mesh may be put again.
  void put_mesh(const mesh::Unstructured& piece, std::span<const std::int64_t> global_element = {});
  /// A value on every tree cell. Does nothing for a field that the flow's option `fields` leaves out. The field in the
  /// store gets `view.type`, `components` and `block`. A tree's field on faces may have one value more than cells along
  /// that axis of a block: it is put as two fields, NAME_left and NAME_right, the low and the high face of each cell.
  /// FLASH: float64, float32 or integers; AMReX: float64 or float32 on cells; both: one component. A series: one value
  /// a point of this rank's piece, plane after plane, float64 or float32, converted to the file's precision.
  void put_field(const std::string& name, const ArrayView& view, const std::string& unit = "");
  /// The same with another centring than the view's.
  void put_field(const std::string& name, ArrayView view, const std::string& unit, mesh::Centring centring) {
    view.centring = centring;
    put_field(name, view, unit);
  }
  /// On patches: box after box, cells x fastest, in one array of one value a cell (put_field above), or an array for
  /// each box of this rank, levels ascending, with views of one cell whose `block` is the box. Values of faces are put
  /// as in a tree: one value a cell, a field for its low and one for its high faces (split_faces).
  void put_field(const std::string& name, std::span<const ArrayView> boxes, const std::string& unit = "",
                 mesh::Centring centring = mesh::Centring::cell);
  /// One attribute of `count` particles of a species; cells of the view are particles. FLASH: one species, with
  /// particles in leaf blocks that this rank owns; its tag is the attribute "tag", else "identity", else "id" without
  /// "cpu"; its velx is velocity_x. AMReX: particles in boxes of any rank. The identity is "id" (with "cpu"), else
  /// "identity", else "tag"; without any of them each particle gets a new one.
  void put_particles(const std::string& species, const std::string& attribute, const ArrayView& view,
                     const std::string& unit = "");
  /// All attributes of a species.
  void put_particles(const mesh::Particles& particles);
  /// Bytes of this rank alone, such as the state of its random numbers. Other ranks may use the same name or not. A
  /// copy is made. Restart::opaque returns them. A rank that puts no mesh has none. To a store only.
  void put_bytes(const std::string& name, std::span<const std::byte> bytes);
  /// Reports an error that the caller met while preparing a put. end_step() throws it on all ranks, like the error of a
  /// put.
  void put_error(const base::Error& error);
  /// Reports that the caller failed to begin the step. end_step() throws this error on all ranks, unless begin_step()
  /// succeeds before.
  void begin_error(const base::Error& error);
  /// Collective. Takes the step: writes it in sync mode, stages or lends it otherwise. Throws if something is wrong
  /// with the step (a put failed, ranks disagree, the target cannot hold it); the step is then not taken. Also throws
  /// if an earlier step has failed in the meantime; the error names that step, and this one is taken nevertheless.
  void end_step();
  /// Collective. Whether no step is on its way on any rank. Does not wait. Shows a step that all ranks have written.
  /// Throws what wait() throws.
  bool finished();
  /// Collective. Waits until every step so far is durable and shown: all ranks have it on disk, on local disks if there
  /// is a staging directory, and protected there as far as it is due. Throws one error for all failed steps that no
  /// earlier error has named.
  void wait();
  /// Collective. Does what wait() does; with a staging directory it also drains every step to the store. It then writes
  /// the file that the option `statistics` names and closes the writer, even if it throws. Throws Error(usage) if a
  /// step was begun and not ended, and the error of a put that no end_step() threw.
  void close();

  /// Number of steps that all ranks know to be durable, including those that a series had when it was opened.
  std::int64_t steps() const;
  /// The newest step of a flow that all ranks know to be durable. Targets other than a store count as checkpoints.
  std::optional<store::StepId> newest_durable(store::Flow flow) const;
  /// The newest step of a flow that all ranks know to be in the store itself. Without a staging directory this is
  /// newest_durable().
  std::optional<store::StepId> newest_drained(store::Flow flow) const;
  /// The newest step of a flow that all ranks know to survive at least what `safety` says (`local`: newest_durable(),
  /// `store`: newest_drained()). A copy on another node, a group's XOR and everything stronger count for `partner` and
  /// `xor_group` alike. Analysis steps are not protected on local disks: they survive the loss of a node once they are
  /// drained.
  std::optional<store::StepId> newest_safe(store::Flow flow, Safety safety) const;
  /// For a store: the fate of steps that an earlier run left on local disks (the same on all ranks), and options that
  /// this rank could not follow. For a series: which ranks write, and how much.
  std::vector<std::string> notes() const;
  /// This rank's statistics.
  WriteStatistics statistics() const;
  /// Collective: the statistics of all ranks together, the same on all. May be called after close().
  WriteStatistics total_statistics() const;
  /// The mode in which steps of this flow are written from now on (Mode::automatic: not decided yet).
  Mode mode_of(store::Flow flow) const;

 private:
  struct State;  // writer_state.hpp
  std::unique_ptr<State> state_;
};

}  // namespace octavo::engine
