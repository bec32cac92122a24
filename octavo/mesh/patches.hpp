#pragma once
#include <vector>

#include "octavo/mesh/octree.hpp"

namespace octavo::mesh {

/// A half-open box of cells on one level: lo <= index < hi, along each axis.
struct IndexBox {
  Index3 lo{0, 0, 0};
  Index3 hi{0, 0, 0};
  bool operator==(const IndexBox&) const = default;
};

/// Block-structured AMR as AMReX has it: per level a list of boxes, each an array of cells, x fastest. Level l+1
/// refines level l by `ratio[l]` along every axis. Values of a field stand box after box, level after level.
struct Patches {
  int dim = 3;
  std::vector<IndexBox> domain;              ///< per level: all its cells' extent
  std::vector<int> ratio;                    ///< one entry fewer than levels
  std::vector<std::vector<IndexBox>> boxes;  ///< per level: this part's
  bool operator==(const Patches&) const = default;
};

/// Throws Error(corrupt) unless: dim is 1-3; counts of levels agree; ratios are at least 2; domains nest by the ratios;
/// boxes are not empty, lie in their domain and do not overlap on a level.
void validate(const Patches& patches);

}  // namespace octavo::mesh
