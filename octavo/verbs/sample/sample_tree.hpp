#pragma once
#include <cstdint>
#include <vector>

#include "octavo/mesh/tree/curve.hpp"
#include "octavo/verbs/sample/sample_profile.hpp"

/// The whole tree of the generator, and who owns what (sample.hpp).
namespace octavo::verbs {

/// One level of it; index 0 is RAMSES level 1. A family is a RAMSES oct.
struct SampleLevel {
  base::BitArray refined;
  std::vector<std::uint32_t> refined_before;  ///< of each word of `refined`: refined cells in earlier words
  std::vector<mesh::Coordinate> fathers;      ///< of each family: position of its father on the level above
  std::vector<std::uint32_t> owner;           ///< of each family: part
  std::vector<Conserved> restricted;          ///< of each refined cell: mean of its children
};

struct SampleTree {
  int dim = 3;
  int bits = 0;  ///< of Hilbert keys, an axis
  std::vector<SampleLevel> levels;
  std::vector<std::uint64_t> bounds;  ///< part p holds the keys [bounds[p], bounds[p + 1])
};

/// Number of refined cells before cell i of the level: the family of its children, if it is refined.
std::size_t family_of_children(const SampleLevel& level, std::size_t i);
/// Position of child c (x lowest bit) of a cell.
mesh::Coordinate child_of(const mesh::Coordinate& father, std::uint32_t c);

SampleTree grow_tree(const Profile& profile, const SampleOptions& options);

}  // namespace octavo::verbs
