#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/curve.hpp"

namespace octavo::formats::ramses {

/// Returns the cell at position c (x fastest) of an oct, in units one level finer than the oct's own position.
inline mesh::Coordinate cell_at(const mesh::Coordinate& oct, unsigned c) {
  return {2 * oct[0] + (c & 1), 2 * oct[1] + (c >> 1 & 1), 2 * oct[2] + (c >> 2 & 1)};
}
/// The key of a place along the Z curve. Octs are sorted by it and found by it.
inline mesh::CurveKey oct_key(int dim, const mesh::Coordinate& oct) {
  return mesh::curve_key(mesh::Curve::morton, dim, 32, oct);
}

/// 2^dim cells of a tree that share a father.
struct TreeOct {
  mesh::Coordinate at;               ///< in units of the oct's size; on level index 0 that is the size of a coarse cell
  std::uint8_t refined = 0;          ///< a bit a cell
  std::uint8_t owned = 0;            ///< a bit a cell
  std::array<std::size_t, 8> cells;  ///< indices among the cells of the level; on level 0 only owned cells have one
};

/// Throws Error(unsupported) for another kind of mesh.
const mesh::Octree& tree_of(const mesh::Dataset& dataset, const mesh::Part& part);
/// Reads only the tree of a part.
mesh::Octree read_tree_of(const mesh::Dataset& dataset, int part);

/// Returns the octs of the coarse cells, x fastest, if any of their cells is owned. Their cells are on level 0.
std::vector<TreeOct> root_octs(const mesh::Octree& tree, const std::vector<mesh::Coordinate>& roots);

/// Calls f(level index, oct) for each oct that has an owned cell, coarse levels first.
template <class F>
void for_each_oct(const mesh::Octree& tree, F&& f) {
  std::vector<mesh::Coordinate> coordinates = mesh::root_coordinates(tree);
  for (const TreeOct& oct : root_octs(tree, coordinates)) f(0, oct);
  for (int level = 1; level < mesh::num_levels(tree); ++level) {
    coordinates = mesh::child_coordinates(tree, level - 1, coordinates);
    const auto l = static_cast<std::size_t>(level);
    for (std::size_t first = 0; first < coordinates.size(); first += std::size_t{1} << tree.dim) {
      TreeOct oct{};
      for (unsigned c = 0; c < (1U << tree.dim); ++c) {
        oct.cells[c] = first + c;
        oct.refined = static_cast<std::uint8_t>(oct.refined | unsigned{tree.refined[l][first + c]} << c);
        oct.owned = static_cast<std::uint8_t>(oct.owned | unsigned{tree.owned[l][first + c]} << c);
      }
      if (oct.owned == 0) continue;
      for (std::size_t a = 0; a < 3; ++a) oct.at[a] = coordinates[first][a] / 2;
      f(level, oct);
    }
  }
}

/// Octs of one level, gathered from parts.
struct OctTable {
  std::vector<mesh::CurveKey> key;           ///< ascending once sorted
  std::vector<std::uint8_t> refined, owned;  ///< a bit a cell; refined cells count where owned
  void add(int dim, const TreeOct& oct);
  /// Sorts the octs, and merges the entries of several parts for the same oct.
  void sort();
};

inline constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
std::size_t find(const std::vector<mesh::CurveKey>& keys, const mesh::CurveKey& key);

}  // namespace octavo::formats::ramses
