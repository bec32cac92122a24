#pragma once
#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/restart/shares.hpp"

/// Shares of a step on a mesh other than the stored one.
namespace octavo::engine {

/// Tree level index of the finest cells of all parts, known from plan_shares().
inline int finest_level(const Shares& shares) { return shares.plan.bits - shares.plan.root_bits; }

/// Reads this rank's part and refines the leaves of the finest level `options.refine` times. The values are bit for bit
/// those that mesh::refine_leaves gives for the whole mesh. Collective: other ranks say which parts hold cells within
/// two cells of this one, and this rank reads their meshes, and the values of those that do.
mesh::Part refine_share(MPI_Comm comm, StepParts& step, const Shares& shares, mesh::Part part,
                        const RestartOptions& options, const mesh::Request& request);

/// A rank's share of a step as a tree of blocks of `options.block` (step::regrid).
struct Reblocked {
  mesh::Header header;
  Shares shares;
  mesh::Part part;         ///< this rank's; without particles
  std::int64_t fills = 0;  ///< cells of all ranks that were not in the step
};
/// Shares have equal numbers of blocks, to one. The values are bit for bit those that step::regrid gives for the whole
/// step. Throws Error(unsupported) if blocks are not complete and `options.fill` is not set. Collective: each rank
/// reads the meshes of an equal number of parts, and tells the ranks to whose blocks they belong. It then reads the
/// parts that have cells of its own blocks; where values are made, those of the blocks above and beside them too.
Reblocked read_blocks(MPI_Comm comm, StepParts& step, const RestartOptions& options, const mesh::Request& request);

}  // namespace octavo::engine
