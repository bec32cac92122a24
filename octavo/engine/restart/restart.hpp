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

/// The kind of mesh that a rank wants for its share.
enum class MeshKind : std::uint8_t {
  octree,  ///< as the store holds it, even if patches were put: a tree cell carries the header's block
  patches  ///< cells merged to boxes, whether patches or a tree of blocks or cells were put
};

struct RestartOptions {
  store::Flow flow = store::Flow::checkpoint;
  std::optional<std::int64_t> step{};                ///< nothing: the newest that is complete and undamaged
  std::optional<std::vector<std::string>> fields{};  ///< nothing: all
  bool particles = true;
  mesh::Curve curve = mesh::Curve::hilbert;  ///< along which shares are cut if the number of ranks differs
  MeshKind as = MeshKind::octree;
  std::int64_t max_box = 64;  ///< patches: longest side of a box [cells], but at least one block
  /// Go on with a finer mesh: refine the leaves of the step's finest level this many times, each time the children of
  /// the last. New values are those of mesh::refine_leaves for the whole mesh; vectors on faces keep their divergence.
  /// Shares have equal numbers of leaves after refinement.
  int refine = 0;
  /// Cells of a block, if they are to differ from the stored ones; {1, 1, 1} for single cells; nothing: as stored. The
  /// header describes the new tree. Not together with `refine`.
  std::optional<mesh::Index3> block{};
  bool fill = false;  ///< with `block`: cells that the step does not hold may be made from coarser ones
  mesh::FillBy fill_by = mesh::FillBy::linear;
  /// For `refine` and `fill`: further fields that are amounts per mass (mass fractions), besides those of
  /// mesh::specific_of.
  std::vector<std::string> per_mass{};
  /// Triangles: numbers of the points that this rank wants, in any order; a number may occur several times. The mesh
  /// then has only these points. Nothing on any rank: shares are equal numbers of triangles along the Hilbert curve,
  /// with all their points.
  std::optional<std::vector<std::int64_t>> points{};
  bool opaque = false;  ///< also fill Restart::opaque
  /// With `opaque`, on another number of ranks: bytes under names with this prefix go to one rank each, and not to all.
  /// A rank gets those of all its parts. Empty: none do.
  std::string opaque_dealt{};
  bool keep_parts =
      true;  ///< if there are as many ranks as parts, each rank gets the part of its number as it was written
  std::filesystem::path staging_directory{};  ///< the earlier run's, for steps that are only on local disks
  int ranks_per_node = 0;                     ///< the earlier run's
  /// Remember this restart in the store until the run has written a step. Pass over steps from which an earlier restart
  /// is still remembered, unless `step` names one. See failed_restarts.hpp.
  bool remember_failed = false;
  /// Gives the caller's memory for a field's values on this rank. It is called with each field and its number of bytes,
  /// on the calling thread, once the rank's share of the mesh is known; and again for the fields of an older step if a
  /// newer one turns out to be damaged. It returns memory of that many bytes, or none: then the part holds the values.
  /// Fields that were given memory come back without bytes. If a rank gets one whole part that is stored raw, values
  /// are read straight into place.
  store::Place place{};
  /// For an output of a code: use Octavo's own names for fields and particles (density, velocity_x, pressure,
  /// position_x, identity ..., see step::translate) instead of the code's. `id.step` is then the step that the code
  /// counts.
  bool own_names = false;
  /// Called on every rank with the step's header, before its mesh and values are read. It throws Error for a step that
  /// the run cannot go on from.
  std::function<void(const mesh::Header&)> check{};
};
/// The restart options that follow from a writer's options.
RestartOptions restart_options(const Options& options);

/// The state that a rank starts from.
struct Restart {
  /// The step, for the Writer of the run that goes on from here. For an output of a code it has the output's number and
  /// no attempt. For FLASH it is the step that the run counts, nstep; the file's number is the attribute "flash/file
  /// number".
  store::StepId id;
  store::Flow flow = store::Flow::checkpoint;  ///< of a store
  mesh::Header header;                         ///< time, attributes and fields are those of the step
  /// This rank's part, pruned. It owns nothing (has no boxes) if there are fewer leaves than ranks. Patches cover the
  /// cells that this rank owns, refined cells too. Levels and ratios are those of the patches that were put; for a
  /// tree, its own levels from `header.unfolded` on (ratio 2).
  mesh::Part part;
  /// If triangles were cut with a boundary: all lines of the boundary, on every rank. triangle_neighbours.hpp derives a
  /// rank's neighbours from them and the mesh.
  store::BoundaryArrays boundary{};
  /// With options.opaque: the bytes given to Writer::put_bytes, by rank of the run that wrote the step, then by name.
  /// On the same number of ranks each rank gets its own; otherwise every rank gets all and chooses, but for
  /// options.opaque_dealt.
  std::map<int, std::map<std::string, std::vector<std::byte>>> opaque{};
  std::vector<std::int64_t> global_element{};  ///< triangles: the numbers of this rank's, ascending
  bool by_points = false;                      ///< triangles: options.points chose the points
  bool from_local_disks = false;     ///< each rank has read its part from the disk of its node, and none from the store
  std::vector<std::string> notes{};  ///< for the user: damage, steps passed over; the same on all ranks
};

/// Collective. Whether rank 0 finds an output of a code at the path, and no store.
bool is_output(MPI_Comm comm, const std::filesystem::path& path);

/// Collective. Gives every rank its share of a step, cells and values bit for bit, however many ranks and files wrote
/// it. Rank 0 looks for steps and all ranks take the same. If any rank finds it damaged, all take the next older one
/// and say so in `notes`, unless `options.step` asked for that step.
///
/// With a staging directory the nearest complete level is taken. If the newest step lies complete on the local disks
/// and each node has the parts of its ranks (as many ranks as wrote it, on the same nodes), each rank reads its part
/// there. Otherwise, or if such a copy is damaged, the step first goes to the store: from the local disks, or from what
/// their groups make again.
///
/// `store` may also be an output of a code: a FLASH checkpoint, an AMReX or RAMSES directory. Every rank opens it and
/// gets an equal share along the curve. `keep_parts`, `flow`, `staging_directory` and `remember_failed` only apply to
/// stores.
///
/// Returns nothing on a first start: the flow never had a durable step (it has no mark `checkpoint.durable`) and has no
/// complete one, whatever a killed run has left behind. If the flow had durable steps and none can be read, that is an
/// error. If a step newer than the one taken is lost, `notes` say so. Throws the same Error on all ranks: usage (no
/// such step or field; restarts from all steps have failed before), corrupt (no undamaged step is left), unreadable,
/// unsupported.
std::optional<Restart> restart(MPI_Comm comm, const std::filesystem::path& store, const RestartOptions& options = {});

}  // namespace octavo::engine
