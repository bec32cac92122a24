#pragma once
#include <vector>

#include "octavo/mesh/region.hpp"
#include "octavo/mesh/solids.hpp"

namespace octavo::mesh {

/// The centroid of each cell; of one without volume the mean of its corners. [code length]
std::vector<Point3> centroids_of(const Solids& mesh);

}  // namespace octavo::mesh
