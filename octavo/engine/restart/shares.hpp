#pragma once
#include <mpi.h>

#include <span>
#include <vector>

#include "octavo/engine/restart/step_parts.hpp"
#include "octavo/mesh/tree/split.hpp"
#include "octavo/store/read/part.hpp"

namespace octavo::engine {

/// A stretch of the curve, both ends in it; empty where `first` > `last`.
struct KeyRange {
  mesh::CurveKey first{~std::uint64_t{0}, ~std::uint64_t{0}};
  mesh::CurveKey last{};
};

/// Keys, or stretches of them, in any order, as exactly `most` stretches that hold all of them, cut where the gaps are
/// widest; the last ones are empty where there are fewer. @pre most > 0, and none of `keys` is empty
std::vector<KeyRange> stretches_of(std::vector<KeyRange> keys, std::size_t most);
/// Whether one of the stretches has something in [begin, end).
bool touches(std::span<const KeyRange> stretches, const mesh::CurveKey& begin, const mesh::CurveKey& end);

/// How a step is shared between ranks.
struct Shares {
  mesh::SplitPlan plan;  ///< a part for each rank
  /// `stretches` of them per part of the step, one part after another: keys of the cells it owns. Blocks and patches
  /// that a code deals out lie all over the curve: one stretch would be the whole of it, and all parts would be read.
  std::vector<KeyRange> of_part;
  std::size_t stretches = 1;
  /// Parts that a rank reads for its share.
  std::vector<int> parts_of(int rank) const;
};

/// Equal numbers of owned leaves along the curve, to one leaf, as mesh::plan_split gives them; those of the finest
/// level count as the leaves that they are after being refined `refined` times. Collective: each rank reads the meshes
/// of an equal number of parts, once; no rank sees the leaves of all.
Shares plan_shares(MPI_Comm comm, const StepParts& step, mesh::Curve curve, int refined = 0);

/// The cells of this rank's share, with their values: reads the meshes of the parts that have some, one after another,
/// then their values, each straight to its place in the share. Fields that `place` gives memory for come without bytes.
/// Memory beside the share: a part's mesh, and a tile of a field's values, or the part's values of one field if they
/// are encoded.
mesh::Part read_share(const StepParts& step, const Shares& shares, int rank, const mesh::Request& request,
                      const store::Place& place = {});

/// The caller's memory for a field, or nothing. Throws Error(usage) if it has another size.
std::span<std::byte> given_memory(const mesh::FieldInfo& field, std::size_t bytes, const store::Place& place);

/// Pieces of a plan for all ranks: what lies before a rank's share, the share, and what comes after.
mesh::SplitPlan only_share(const mesh::SplitPlan& plan, int rank);

/// The particles of this rank's share. Collective: each rank reads those of an equal number of parts, once, and sends
/// each to the owner of its position; of species without positions equal numbers to each rank, in order. `header` has
/// the roots of the tree that is shared: the step's, unless it is shared in other blocks.
std::vector<mesh::Particles> read_particles(MPI_Comm comm, const StepParts& step, const Shares& shares,
                                            const mesh::Header& header);

/// The parts that a rank reads where parts are simply dealt out: [first, last).
struct Deal {
  int first = 0, last = 0;
};
Deal deal(int parts, int ranks, int rank);

}  // namespace octavo::engine
