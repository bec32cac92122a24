#pragma once
#include <vector>

#include "apps/shallow/mesh.hpp"

namespace octavo::shallow {

/// Slopes in a control volume: of depth, free surface and velocity.
struct Slopes {
  double h[2]{}, level[2]{}, u[2]{}, v[2]{};
};

/// Collective. Slopes of every local point: means of the triangles' gradients, limited so that no neighbour's middle
/// of the way passes the extrema around (Barth, Jespersen 1989), nor the depth its own double. Zero at a point that is
/// dry or beside a dry one, so that still water around islands stays still. `sides`: of every local point.
std::vector<Slopes> limited_slopes(MPI_Comm comm, const Mesh& mesh, const std::vector<Side>& sides, double dry_depth);

}  // namespace octavo::shallow
