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

namespace octavo::engine {

/// How a simulation writes its steps, wherever they go (docs/writer.md):
///
///     Writer writer(MPI_COMM_WORLD, "run.octavo", header, read_options());
///     writer.begin_step(store::Flow::checkpoint, step, time);
///     writer.put_mesh(tree);
///     writer.put_field("density", view_of(density));
///     writer.end_step();            // collective; arrays may change from here on
///     ...
///     writer.close();               // collective; all steps are durable, or this throws
///
/// Another target makes it the writer of FLASH or AMReX outputs, or of one SERAFIN or MED file:
///
///     Writer writer(MPI_COMM_WORLD, header, NativeOptions{.format = NativeFormat::amrex_plotfile});
///     writer.begin_step("plt00010", 10, time);
///     Writer series(MPI_COMM_WORLD, {}, SeriesTarget{"r2d.slf", serafin_header, {.piece = mesh}});
///     series.begin_step(time);
///
/// Every rank writes one part, its own. In a store it may have none, and parts have the numbers of their ranks; of
/// other targets every rank puts a mesh and the same fields, empty ones where it has nothing. Arrays are read in
/// end_step(): until then, or with the option `lend` until the next call, they must stay as they are. SERAFIN and MED
/// copy them in put_field().
///
/// The contract is the same for all targets. Errors are collective: what goes wrong on any rank, in a put or in the
/// background, is thrown by the next collective call on all, and the writer can be used further. Each failed step is
/// thrown once, by its name, when all ranks are done with it. A failed step is in no store and has no file; the steps
/// before and after it are whole. A store shows a step as soon as all ranks have written it. Another target shows it in
/// the next collective call after that: until then a file of its own is called NAME.partial, and a series ends with the
/// step before. Of these targets one step is on its way at a time: end_step() first waits for the one before.
///
/// All calls belong to the thread that initialised MPI, and so do all calls of MPI, HDF5 and libmedC. In sync mode no
/// thread is started, but for a staging directory.
class Writer {
 public:
  /// Collective. `header` is what all steps have in common (time and fields are filled in per step); a series has its
  /// own, and it is not looked at. Throws Error(usage) where the header cannot be (dimensions, roots, block, corners),
  /// options contradict each other, MPI gives too few guarantees for a thread, another writer has the store open, or
  /// the series exists.
  Writer(MPI_Comm comm, const mesh::Header& header, const Target& target);
  /// To a store: StoreTarget.
  Writer(MPI_Comm comm, const std::filesystem::path& store, const mesh::Header& header, const Options& options = {},
         const std::optional<store::StepId>& resumed_from = {});
  ~Writer();  ///< without close(): waits for this rank's own work, tells nobody, and shows no step
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;

  /// To a store. Waits for lent arrays. Throws Error(usage) inside a step, after close(), or for another target.
  void begin_step(store::Flow flow, std::int64_t step, double time);
  /// To a FLASH or AMReX output of this path, which must not exist: end_step() finds that out. FLASH: `step` is the
  /// scalar nstep, unless that is put.
  void begin_step(const std::filesystem::path& path, std::int64_t step, double time);
  /// To a series.
  void begin_step(double time);
  /// Whether the option `checkpoint.every` or `analysis.every` asks for this step of the flow. Call it at every step of
  /// the simulation; collective where wall time decides (rank 0's clock), local otherwise. Targets without such
  /// options: every step.
  bool due(store::Flow flow, std::int64_t step, double time);
  // A put that the target does not take is Error(unsupported). end_step() throws it, as all errors of puts.

  /// Header::attributes of the step: FLASH's lists ("real scalars/dt"), AMReX's "level_steps", "level_dt". A checkpoint
  /// of AMReX needs "level_dt", reals: the time step of each level, or one for all. None in a series.
  void put_attribute(const std::string& name, mesh::Attribute value);
  /// This rank's tree, which holds the roots that it lists (`tree.held`): those that it owns or has owned cells below,
  /// and no others, for all that it holds is stored. A rank may hold none. FLASH: the header's block, every block owned
  /// by one rank; AMReX: whatever the tree owns.
  void put_mesh(const mesh::Octree& tree);
  /// The boxes of this rank (disjoint from all others'). They become a tree of the header's roots and block, level 0 of
  /// the patches at tree level index `header.unfolded`: see mesh::plan_patch_tree, which gives the roots. Boxes, and
  /// the coarse cells under finer ones, must be whole blocks; ratios are 2 or 4; values come back bit for bit. Every
  /// rank learns the boxes of all in end_step(): 52 bytes a box. AMReX: any boxes, roots and block are not looked at.
  void put_mesh(const mesh::Patches& patches);
  /// Triangles: this rank's piece, maybe without points, on every rank. Points and triangles may be held by several
  /// ranks; every number (`global_point`; `global_element`, where given on all ranks) from 0 up by one at least.
  /// Without `global_element` triangles stand in the order of their lowest points. The header has one root and no
  /// blocks. Fields have one value a point, plane after plane, of 4 or 8 bytes; the lowest rank's counts. Values go to
  /// the ranks that write them in end_step(), by an exchange that is planned when the mesh is new. Integer fields
  /// belong to the mesh. Checkpoints have the mesh each, steps of the analysis flow that of the first that is durable,
  /// while it stays. A series has its mesh from its target; the same may be put again.
  void put_mesh(const mesh::Unstructured& piece, std::span<const std::int64_t> global_element = {});
  /// A value on every tree cell. Does nothing for a field that the flow's option `fields` leaves out. `view.type`,
  /// `components` and `block` are those of the field in the store. Of faces a tree's field may have one value more than
  /// cells along that axis of a block: it is put as two, NAME_left and NAME_right, the low and the high face of each
  /// cell. FLASH: float64, float32 or integers; AMReX: float64 or float32 of cells; both: one component. A series: one
  /// value a point of this rank's piece, plane after plane, float64 or float32, converted to the file's precision.
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
  /// Bytes of this rank alone, by a name that other ranks may use too or not: the state of its random numbers ... A
  /// copy is made. Restart::opaque gives them back. A rank that puts no mesh has none. To a store only.
  void put_bytes(const std::string& name, std::span<const std::byte> bytes);
  /// Reports an error that the caller met in preparing a put. end_step() throws it on all ranks, like the error of a
  /// put.
  void put_error(const base::Error& error);
  /// Reports that the caller failed to begin the step. end_step() throws this error on all ranks, unless begin_step()
  /// succeeds before.
  void begin_error(const base::Error& error);
  /// Collective. Takes the step: writes it in sync mode, stages or lends it otherwise. Throws if something is wrong
  /// with the step (a put failed, ranks disagree, the target cannot be so); the step is then not taken. Also throws if
  /// an earlier step has failed in the meantime; the error names that one, and this step is taken all the same.
  void end_step();
  /// Collective. Whether no step is on its way any more, on any rank. Does not wait; a step that all ranks have written
  /// is shown. Throws as wait().
  bool finished();
  /// Collective. Waits until every step so far is durable and shown: all that all ranks write of it is on disk, on
  /// local disks if there is a staging directory. Throws one error for all steps that failed and that no error has
  /// named before.
  void wait();
  /// Collective. As wait(); with a staging directory it also drains every step to the store. It then writes what the
  /// option `statistics` asks for and closes the writer, even if it throws. Throws Error(usage) if a step was begun and
  /// not ended, and the error of a put that no end_step() threw.
  void close();

  /// Steps of which all ranks know that they are durable, and those that a series had when it was opened.
  std::int64_t steps() const;
  /// The newest step of a flow of which all ranks know that it is durable. Targets other than a store: of checkpoints.
  std::optional<store::StepId> newest_durable(store::Flow flow) const;
  /// The newest step of a flow of which all ranks know that it is in the store itself: newest_durable() where there is
  /// no staging directory.
  std::optional<store::StepId> newest_drained(store::Flow flow) const;
  /// A store: the fate of steps that an earlier run left on local disks (the same on all ranks), and options that this
  /// rank could not follow. A series: which ranks write how much of it.
  std::vector<std::string> notes() const;
  /// This rank's.
  Statistics statistics() const;
  /// Collective: of all ranks together, the same on all. Also after close().
  Statistics total_statistics() const;
  /// The mode that steps of this flow are written in from now on (Mode::automatic: not decided yet).
  Mode mode_of(store::Flow flow) const;

 private:
  struct State;  // writer_state.hpp
  std::unique_ptr<State> state_;
};

}  // namespace octavo::engine
