#pragma once
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace octavo::blocks {

/// Where a block is: its position among the blocks of its level; level 0 are the roots.
struct Place {
  std::int32_t level = 0;
  std::array<std::int32_t, 3> at{0, 0, 0};
  bool operator==(const Place&) const = default;
};
/// One number for each place of up to 2^19 blocks an axis.
inline std::uint64_t key_of(const Place& place) {
  std::uint64_t key = static_cast<std::uint64_t>(place.level);
  for (const std::int32_t at : place.at) key = key << 19 | static_cast<std::uint64_t>(at);
  return key;
}
inline Place parent_of(const Place& place) {
  return {place.level - 1, {place.at[0] >> 1, place.at[1] >> 1, place.at[2] >> 1}};
}
/// Child 0 is the lower corner, x fastest.
inline Place child_of(const Place& place, int child, int dim) {
  Place below{place.level + 1, {}};
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    below.at[a] = axis < dim ? 2 * place.at[a] + ((child >> axis) & 1) : place.at[a];
  }
  return below;
}
/// Which child of its parent it is.
inline int number_of(const Place& place, int dim) {
  int number = 0;
  for (int axis = 0; axis < dim; ++axis) number |= (place.at[static_cast<std::size_t>(axis)] & 1) << axis;
  return number;
}

/// The planned change of a leaf.
enum class Wish : std::int8_t { coarsen = -1, stay = 0, refine = 1 };

struct Forest {};  ///< stands for a p4est or a p8est with its connectivity and layer of ghosts

/// The functions of p4est for a mesh of blocks, for one dimension: forest.cpp is compiled twice. Leaves are those of
/// this rank, along the curve (roots and what is in them: Morton's). (c): collective.
struct ForestFunctions {
  /// (c) The roots, dealt out equally.
  Forest* (*plant)(MPI_Comm comm, const std::array<int, 3>& roots, const std::array<bool, 3>& periodic);
  /// (c) The leaves that each rank has, which all together are a whole tree along the curve.
  Forest* (*restore)(MPI_Comm comm, const std::array<int, 3>& roots, const std::array<bool, 3>& periodic,
                     const std::vector<Place>& leaves);
  void (*fell)(Forest*);  ///< frees it
  std::vector<Place> (*leaves)(const Forest*);
  /// (c) Coarsens families all of whose leaves wish it, refines, then refines until neighbours, over corners too,
  /// differ by one level at most. No leaf moves to another rank. The result does not depend on the number of ranks
  /// as long as leaves are dealt out by `deal`.
  void (*adapt)(Forest*, std::span<const Wish> wishes);
  /// (c) Deals leaves out anew in equal sums of weights, families of leaves staying together. Returns the number of
  /// the first leaf of each rank before that, for `transfer`.
  std::vector<std::int64_t> (*deal)(Forest*, std::span<const int> weights);
  /// (c) `bytes` of each leaf, from where leaves were to where they are.
  void (*transfer)(const Forest*, const std::vector<std::int64_t>& before, const void* from, void* to,
                   std::size_t bytes);
  /// (c) The leaves of other ranks that touch one of this rank, over corners too.
  std::vector<Place> (*make_ghosts)(Forest*);
  /// (c) `bytes` of each ghost, from the owner: `data` has those of each leaf, `out` gets those of each ghost.
  void (*exchange)(Forest*, const std::byte* data, std::byte* out, std::size_t bytes);
  /// The rank that owns the lower corner of a place.
  int (*owner)(const Forest*, const Place&);
};
const ForestFunctions& forest_functions(int dim);

extern const ForestFunctions quadtrees, octrees;

}  // namespace octavo::blocks
