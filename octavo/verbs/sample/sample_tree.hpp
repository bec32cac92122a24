#pragma once
#include <cstdint>
#include <vector>

#include "octavo/mesh/tree/curve.hpp"
#include "octavo/verbs/sample/sample_profile.hpp"

/// The whole tree of the generator, and the owners of its cells (sample.hpp).
namespace octavo::verbs {

/// One level of the tree; index 0 is RAMSES level 1. A family is a RAMSES oct.
struct SampleLevel {
  base::BitArray refined;
  std::vector<std::uint32_t> refined_before;  ///< per word of `refined`: refined cells in earlier words
  std::vector<mesh::Coordinate> fathers;      ///< per family: position of its father on the level above
  std::vector<std::uint32_t> owner;           ///< per family: its part
  std::vector<Conserved> restricted;          ///< per refined cell: mean of its children
};

struct SampleTree {
  int dim = 3;
  int bits = 0;  ///< of Hilbert keys, an axis
  std::vector<SampleLevel> levels;
  std::vector<std::uint64_t> bounds;  ///< part p holds the keys [bounds[p], bounds[p + 1])
};

/// Number of refined cells before cell i of the level. If the cell is refined, this is the family of its children.
std::size_t family_of_children(const SampleLevel& level, std::size_t i);
/// Position of child c (x lowest bit) of a cell.
mesh::Coordinate child_of(const mesh::Coordinate& father, std::uint32_t c);

SampleTree grow_tree(const Profile& profile, const SampleOptions& options);

}  // namespace octavo::verbs
