#pragma once
#include <mpi.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "octavo/engine/options.hpp"
#include "octavo/mesh/tree/curve.hpp"
#include "octavo/mesh/tree/fill.hpp"
#include "octavo/store/read/part.hpp"
#include "octavo/store/store.hpp"
#include "octavo/store/triangle_boundary.hpp"

namespace octavo::engine {

/// The kind of mesh a rank wants its share as.
enum class MeshKind : std::uint8_t {
  octree,  ///< as the store holds it, whatever was put: a tree cell carries the header's block
  patches  ///< cells merged to boxes; a tree of blocks or of cells becomes patches as well as patches do
};

struct RestartOptions {
  store::Flow flow = store::Flow::checkpoint;
  std::optional<std::int64_t> step{};                ///< nothing: the newest that is complete and undamaged
  std::optional<std::vector<std::string>> fields{};  ///< nothing: all
  bool particles = true;
  mesh::Curve curve = mesh::Curve::hilbert;  ///< along which shares are cut where the number of ranks differs
  MeshKind as = MeshKind::octree;
  std::int64_t max_box = 64;  ///< patches: boxes are at most that long [cells], but at least one block
  /// To go on with a finer mesh: the leaves of the step's finest level are refined, their children and so on, so many
  /// times; new values as mesh::refine_leaves makes them for the whole mesh, vectors on faces with the divergence they
  /// had. Shares are equal in leaves after it.
  int refine = 0;
  /// Blocks of other cells than the stored ones, {1, 1, 1} for cells; nothing: as stored. The header is that of the new
  /// tree. Not together with `refine`.
  std::optional<mesh::Index3> block{};
  bool fill = false;  ///< `block`: cells that the step does not hold may be made of the coarser ones
  mesh::FillBy fill_by = mesh::FillBy::linear;
  /// For `refine` and `fill`: more fields that are amounts per mass (mass fractions), beside those of
  /// mesh::specific_of.
  std::vector<std::string> per_mass{};
  /// Triangles: numbers of the points that this rank wants, in any order, also several times; the mesh is then these
  /// points alone. Nothing on any rank: the shares are equal numbers of triangles along the Hilbert curve, with all
  /// their points.
  std::optional<std::vector<std::int64_t>> points{};
  bool opaque = false;     ///< also Restart::opaque
  bool keep_parts = true;  ///< as many ranks as parts: each gets the part of its number, as it was written
  std::filesystem::path
      staging_directory{};  ///< where the run before had local disks; what is only there is drained first
  int ranks_per_node = 0;   ///< as the run before had it
  /// A start is remembered in the store until the run that goes on from it has written a step; steps from which one is
  /// remembered are passed over, but for one that `step` asks for. See failed_restarts.hpp.
  bool remember_failed = false;
  /// Memory of the caller for a field's values on this rank: called with each field and its bytes, on the calling
  /// thread, once the rank's share of the mesh is known; again for the fields of an older step if a newer one turns
  /// out to be damaged. It returns memory of that many bytes, or none: then the part holds the values. Fields that were
  /// given memory come back without bytes. A part that a rank has whole, stored as it is, is read straight into place.
  store::Place place{};
  /// An output of a code: fields and particles by Octavo's own names, as step::translate has them (density, velocity_x,
  /// pressure, position_x, identity ...), whatever the code calls them, and `id.step` the step that the code counts.
  bool own_names = false;
  /// Shown the step's header on every rank before its mesh and values are read; throws Error for one that the run
  /// cannot go on from.
  std::function<void(const mesh::Header&)> check{};
};
/// The options of a writer that say something about a restart.
RestartOptions restart_options(const Options& options);

/// The state that a rank starts from.
struct Restart {
  /// The step, for the Writer of the run that goes on from here. For an output of a code it has the output's number and
  /// no attempt. For FLASH it is the step that the run counts, nstep; the file's number is the attribute "flash/file
  /// number".
  store::StepId id;
  mesh::Header header;  ///< time, attributes and fields are those of the step
  /// This rank's; pruned, and with nothing owned (no boxes) where there are fewer leaves than ranks. Patches: what this
  /// rank owns, refined cells too, levels and ratios those of the patches that were put, or the tree's own from
  /// `header.unfolded` on (ratio 2).
  mesh::Part part;
  /// If triangles were cut with a boundary: all its lines, on every rank. triangle_neighbours.hpp derives a rank's
  /// neighbours from them and the mesh.
  store::BoundaryArrays boundary{};
  /// With options.opaque: what Writer::put_bytes was given, by rank of the run that wrote the step, then by name. As
  /// many ranks: of this rank's number alone; else of all, for each rank to choose from.
  std::map<int, std::map<std::string, std::vector<std::byte>>> opaque{};
  std::vector<std::int64_t> global_element{};  ///< triangles: the numbers of this rank's, ascending
  bool by_points = false;                      ///< triangles: options.points were asked for
  std::vector<std::string> notes{};  ///< what a user should know: damage, steps passed over; the same on all ranks
};

/// Collective. Whether rank 0 finds an output of a code at the path, and no store.
bool is_output(MPI_Comm comm, const std::filesystem::path& path);

/// Collective. Every rank gets its share of a step, whatever number of ranks wrote it and in how many files: cells and
/// values bit for bit. Rank 0 looks for steps, all take the same; where any rank finds it damaged, all take the next
/// older one and say so in `notes`, unless `options.step` asked for that step.
///
/// `store` may also be an output of a code: a FLASH checkpoint, an AMReX or RAMSES directory. Every rank opens it, and
/// gets an equal share along the curve; `keep_parts`, `flow`, `staging_directory` and `remember_failed` are for stores.
///
/// Returns nothing on a first start: the flow never had a durable step (it has no mark `checkpoint.durable`) and has no
/// complete one, whatever a killed run has left. If it had durable steps and none can be read, that is an error. If a
/// step newer than the one taken is lost, `notes` say so. Throws the same Error on all ranks: usage (no such step or
/// field; starts from all steps are remembered as failed), corrupt (no undamaged step is left), unreadable,
/// unsupported.
std::optional<Restart> restart(MPI_Comm comm, const std::filesystem::path& store, const RestartOptions& options = {});

}  // namespace octavo::engine
