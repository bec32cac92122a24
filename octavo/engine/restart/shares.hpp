#pragma once
#include <mpi.h>

#include <functional>
#include <span>
#include <vector>

#include "octavo/engine/restart/step_parts.hpp"
#include "octavo/engine/restart/stretches.hpp"
#include "octavo/mesh/tree/split.hpp"
#include "octavo/ranks/key_share.hpp"
#include "octavo/store/read/part.hpp"

namespace octavo::engine {

/// How a step is shared among ranks, as one of them knows it.
struct Shares {
  mesh::SplitPlan plan;    ///< three parts: the cells before this rank's share, the share, the cells after it
  ranks::KeyShare keys;    ///< the keys of the share, and the route to the ranks that have the other keys
  std::vector<int> parts;  ///< the parts of the step that this rank reads for its share, ascending
};

/// Collective. Finds the ranks whose share overlaps one of this rank's stretches.
std::vector<ranks::KeyOwner> owners_of(MPI_Comm comm, const Shares& shares, const std::vector<KeyRange>& stretches);
/// Selects from `owners` the ranks whose share overlaps one of `stretches`, ascending. @pre no share is empty
std::vector<int> ranks_touched(std::span<const ranks::KeyOwner> owners, std::span<const KeyRange> stretches);
/// Sets this rank's share in `plan` and `keys`.
void set_keys(Shares& shares, ranks::KeyShare keys);
/// Collective. Finds the keys of this rank's share: an equal number of the leaves that all trees own. Each leaf has one
/// owner.
ranks::KeyShare find_own_keys(MPI_Comm comm, const std::vector<mesh::Octree>& trees, int refined,
                              const mesh::SplitPlan& plan);
/// Collective. The deepest level of any rank's trees, from 0.
int deepest_level(MPI_Comm comm, const std::vector<mesh::Octree>& trees);
/// Collective. The parts that this rank's share touches, ascending. `stretches`: most_stretches for each part that is
/// dealt to this rank.
std::vector<int> parts_to_read(MPI_Comm comm, StepParts& step, const Shares& shares,
                               const std::vector<KeyRange>& stretches);
/// Collective. The parts that have a cell in the stretches, and others: all that the owners of the stretches read for
/// their shares.
std::vector<int> parts_beside(MPI_Comm comm, StepParts& step, const Shares& shares,
                              const std::vector<KeyRange>& stretches);

/// The tree of a part.
mesh::Octree tree_of(const StepParts& step, int part);
/// Parts of a step, the cells that a rank keeps of their trees, and the tree that these make together. Parts of which
/// it keeps none are left out.
struct KeptTrees {
  std::vector<int> parts;
  std::vector<mesh::Part> kept;
  mesh::Octree whole;  ///< without levels if nothing is kept
};
/// Reads one tree after another; `keep` says what to keep of it.
KeptTrees read_trees(const StepParts& step, const std::vector<int>& parts,
                     const std::function<mesh::Octree(mesh::Octree)>& keep);

inline base::WideKey wide(const mesh::CurveKey& key) { return base::WideKey{key.high} << 64 | key.low; }
/// Key bits of the roots, an axis.
int root_bits_of(const mesh::Index3& roots);

/// Cuts the step into shares with equal numbers of owned leaves along the curve, to one leaf, as mesh::plan_split does.
/// A leaf of the finest level counts as the leaves that it becomes when refined `refined` times. Collective: each rank
/// reads the meshes of an equal number of parts, once, and tells the ranks whose shares they touch; no rank sees the
/// leaves, the shares or the parts of all.
Shares plan_shares(MPI_Comm comm, StepParts& step, mesh::Curve curve, int refined = 0);

/// Reads the cells of this rank's share with their values: the meshes of the parts that have some, one after another,
/// then their values, each straight to its place in the share. Fields for which `place` gives memory come without
/// bytes. Needs memory besides the share for one part's mesh, and for a tile of a field's values; for a part's values
/// of one field if they are encoded.
mesh::Part read_share(const StepParts& step, const Shares& shares, int rank, const mesh::Request& request,
                      const store::Place& place = {});

/// The caller's memory for a field, or nothing. Throws Error(usage) if it has another size.
std::span<std::byte> given_memory(const mesh::FieldInfo& field, std::size_t bytes, const store::Place& place);

/// The particles of this rank's share. Collective: each rank reads the particles of an equal number of parts, once, and
/// sends each to the owner of its position. Species without positions are dealt out in order, equal numbers to each
/// rank. `header` has the roots of the tree that is shared: the step's, unless it is shared in other blocks.
std::vector<mesh::Particles> read_particles(MPI_Comm comm, const StepParts& step, const Shares& shares,
                                            const mesh::Header& header);

}  // namespace octavo::engine
