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

namespace octavo::engine {

/// How a simulation writes its steps (docs/engine.md):
///
///     Writer writer(MPI_COMM_WORLD, "run.octavo", header, read_options());
///     writer.begin_step(store::Flow::checkpoint, step, time);
///     writer.put_mesh(tree);
///     writer.put_field("density", view_of(density));
///     writer.end_step();            // collective; arrays may change from here on
///     ...
///     writer.close();               // collective; all steps are durable, or this throws
///
/// Every rank writes one part, its own, or none: parts have the numbers of their ranks. Arrays are read in end_step():
/// until then, or with the option `lend` until the next call, they must stay as they are. Errors are collective: what
/// goes wrong on any rank, in a put or in the background, is thrown by the next collective call on all, and the writer
/// can be used further; a failed step does not exist in the store, those before and after it are whole. Each failed
/// step is thrown once, when all ranks are done with it.
///
/// All calls belong to the thread that initialised MPI. In sync mode no thread is started, but for a staging directory.
class Writer {
 public:
  /// Collective. `header` is what all steps have in common (time and fields are filled in per step). `resumed_from`:
  /// the checkpoint a restarted run continues; steps with larger numbers that another run wrote after it are
  /// superseded. Throws Error(usage) where the header cannot be (dimensions, roots, block, corners), options contradict
  /// each other, MPI gives too few guarantees for a thread, or another writer has the store open.
  Writer(MPI_Comm comm, const std::filesystem::path& store, const mesh::Header& header, const Options& options = {},
         std::optional<store::StepId> resumed_from = {});
  ~Writer();  ///< without close(): waits for this rank's own work, tells nobody
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;

  /// Waits for lent arrays. Throws Error(usage) inside a step or after close().
  void begin_step(store::Flow flow, std::int64_t step, double time);
  /// Whether the option `checkpoint.every` or `analysis.every` asks for this step of the flow. Call it at every step of
  /// the simulation; collective where wall time decides (rank 0's clock), local otherwise.
  bool due(store::Flow flow, std::int64_t step, double time);
  void put_attribute(const std::string& name, mesh::Attribute value);
  /// This rank's tree, which holds the roots that it lists (`tree.held`): those that it owns or has owned cells below,
  /// and no others, for all that it holds is stored. A rank may hold none.
  void put_mesh(const mesh::Octree& tree);
  /// The boxes of this rank (disjoint from all others'). They become a tree of the header's roots and block, level 0 of
  /// the patches at tree level index `header.unfolded`: see mesh::plan_patch_tree, which gives the roots. Boxes, and
  /// the coarse cells under finer ones, must be whole blocks; ratios are 2 or 4; values come back bit for bit. Every
  /// rank learns the boxes of all in end_step(): 52 bytes a box.
  void put_mesh(const mesh::Patches& patches);
  /// Triangles: this rank's piece, maybe without points, on every rank. Points and triangles may be held by several
  /// ranks; every number (`global_point`; `global_element`, where given on all ranks) from 0 up by one at least.
  /// Without `global_element` triangles stand in the order of their lowest points. The header has one root and no
  /// blocks. Fields have one value a point, plane after plane, of 4 or 8 bytes; the lowest rank's counts. Values go to
  /// the ranks that write them in end_step(), by an exchange that is planned when the mesh is new. Integer fields
  /// belong to the mesh. Checkpoints have the mesh each, steps of the analysis flow that of the first that is durable,
  /// while it stays.
  void put_mesh(const mesh::Unstructured& piece, std::span<const std::int64_t> global_element = {});
  /// A value on every tree cell. Does nothing for a field that the flow's option `fields` leaves out. `view.type`,
  /// `components` and `block` are those of the field in the store.
  void put_field(const std::string& name, const ArrayView& view, const std::string& unit = "",
                 mesh::Centring centring = mesh::Centring::cell);
  /// On patches: box after box, cells x fastest, in one array of one value a cell (put_field above), or an array for
  /// each box of this rank, levels ascending, with views of one cell whose `block` is the box. Values of faces are put
  /// as in a tree: one value a cell, a field for its low and one for its high faces (split_faces).
  void put_field(const std::string& name, std::span<const ArrayView> boxes, const std::string& unit = "",
                 mesh::Centring centring = mesh::Centring::cell);
  /// One attribute of `count` particles of a species; cells of the view are particles.
  void put_particles(const std::string& species, const std::string& attribute, const ArrayView& view,
                     const std::string& unit = "");
  /// Bytes of this rank alone, by a name that other ranks may use too or not: the state of its random numbers ... A
  /// copy is made. Restart::opaque gives them back. A rank that puts no mesh has none.
  void put_bytes(const std::string& name, std::span<const std::byte> bytes);
  /// Reports an error that the caller met in preparing a put. end_step() throws it on all ranks, like the error of a
  /// put.
  void put_error(const base::Error& error);
  /// Reports that the caller failed to begin the step. end_step() throws this error on all ranks, unless begin_step()
  /// succeeds before.
  void begin_error(const base::Error& error);
  /// Collective. Takes the step: writes it in sync mode, stages or lends it otherwise. Throws if something is wrong
  /// with the step (a put failed, ranks disagree); the step is then not taken. Also throws if an earlier step has
  /// failed in the meantime; the error names that one, and this step is taken all the same.
  void end_step();
  /// Collective. Waits until every step so far is durable: all its segments of all ranks are on disk, on local disks if
  /// there is a staging directory. Throws one error for all steps that failed and that no error has named before.
  void wait();
  /// Collective. As wait(); with a staging directory it also drains every step to the store. It then writes what the
  /// option `statistics` asks for and closes the writer, even if it throws. Throws Error(usage) if a step was begun and
  /// not ended, and the error of a put that no end_step() threw.
  void close();

  /// The newest step of a flow of which all ranks know that it is durable.
  std::optional<store::StepId> newest_durable(store::Flow flow) const;
  /// The newest step of a flow of which all ranks know that it is in the store itself: newest_durable() where there is
  /// no staging directory.
  std::optional<store::StepId> newest_drained(store::Flow flow) const;
  /// What became of steps that an earlier run left on local disks (the same on all ranks), and what could not be done
  /// as the options ask and was done another way (of this rank).
  std::vector<std::string> notes() const;
  /// Of this rank.
  Statistics statistics() const;
  /// Collective: of all ranks together, the same on all. Also after close().
  Statistics total_statistics() const;
  /// The mode that steps of this flow are written in from now on (Mode::automatic: not decided yet).
  Mode mode_of(store::Flow flow) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octavo::engine
