#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/curve.hpp"
#include "octavo/mesh/tree/merge.hpp"

namespace octavo::mesh {

/// Who owns what after a split: new part m owns the cells whose key is in [bounds[m], bounds[m+1]).
struct SplitPlan {
  Curve curve = Curve::hilbert;
  int dim = 3;
  int root_bits = 0;             ///< the level-0 cells lie in a cube of 2^root_bits along each axis
  int bits = 0;                  ///< of the keys, an axis: tree level index `bits - root_bits` has one key a cell
  std::vector<CurveKey> bounds;  ///< one more than new parts, ascending; no leaf reaches over one
  bool operator==(const SplitPlan&) const = default;
};

/// Shares the owned leaves of all `parts` (octrees) between `count` new ones: equal numbers along the curve, to one
/// leaf. With fewer leaves than parts some get none. Throws Error(usage) where `parts` is empty, `count` below 1, or
/// the parts differ in dim, roots or block; Error(unsupported) for another kind of mesh.
SplitPlan plan_split(std::span<const Part> parts, int count, Curve curve = Curve::hilbert);

/// The new part that owns a key.
int part_of_key(const SplitPlan& plan, const CurveKey& key);

/// The new parts, pruned, indices 0, 1, ... Each leaf that was owned is owned by one of them, each refined cell that
/// was owned by the one that holds the key of its own centre (it need not own what lies below). Fields go along;
/// particles do not: see split_particles. Throws as merge does, and Error(usage) where a tree is deeper than the plan.
std::vector<Part> split(std::span<const Part> parts, const SplitPlan& plan);

/// Whether the part's tree owns a cell.
bool owns_any(const Part& part);
/// The part of a rank without a share: a tree that holds no root, and the fields asked for without values.
Part empty_part(const Header& header, const Request& request);

/// The key of each particle's position (outside of the domain: that of the nearest cell). `plan` needs no bounds.
/// Throws Error(usage) where a position attribute is missing or not floating-point.
std::vector<CurveKey> particle_keys(const Particles& particles, const Header& header, const SplitPlan& plan);
/// The particles of each new part, by the key of their position. Throws as particle_keys does.
std::vector<Particles> split_particles(const Particles& particles, const Header& header, const SplitPlan& plan);

/// Whether particles with these attributes can be split by position in `dim` dimensions.
bool have_positions(std::span<const FieldInfo> attributes, int dim);
/// The particles of each of the new parts [begin, end) of `count` where they have no positions: equal numbers, to one,
/// in the order they stand in. The first of `particles` has the number `first` among all `total` of the species. Throws
/// Error(usage) where an attribute's size does not fit the number of particles.
std::vector<Particles> deal_particles(const Particles& particles, std::int64_t first, std::int64_t total, int count,
                                      int begin, int end);

}  // namespace octavo::mesh
