#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/patches.hpp"
#include "octavo/step/fields.hpp"

namespace octavo::verbs {

/// A uniform grid over a region: cells of one level.
struct Cube {
  int level = 0;                  ///< the code's own number
  mesh::IndexBox box;             ///< counted from the domain's lower corner; one cell along axes that the data lack
  mesh::Point3 corner{}, cell{};  ///< lower corner of the box, and edges of a cell [code length]
};

/// The smallest box of the level's cells that holds all whose centre is in the region; without a region all. A region
/// across a periodic side has cells at both ends of the axis, so the box takes all of it. Throws Error(usage) where no
/// centre is in the region, and for a level above the coarsest; Error(unsupported) for triangles.
Cube cube_over(const mesh::Dataset& dataset, const std::optional<mesh::Region>& region, int level);

/// The field, a name or a formula, on the cells of the cube, x fastest: the value of the coarser leaf that a cell lies
/// in, of the leaf that it is, or the value that the step holds for a refined cell, its mean. So the sum of value times
/// volume is that of the leaves. NaN where the condition does not hold, where a cell's centre is not in the region, and
/// where the step has no value. Reads the parts that touch the cube one after another. Memory: one part, and `values`.
/// @pre values.size() is the number of cells
void read_cube(const mesh::Dataset& dataset, const Cube& cube, const std::optional<mesh::Region>& region,
               const std::string& field, const std::string& where, const step::Definitions& definitions,
               std::span<double> values);

}  // namespace octavo::verbs
