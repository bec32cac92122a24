#pragma once
#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "apps/shallow/exchange.hpp"
#include "apps/shallow/flux.hpp"

namespace octavo::shallow {

/// The triangles that a rank has read (no other rank has them), and their points.
struct Share {
  std::int32_t all_points = 0;                         ///< of the whole mesh
  std::vector<std::array<std::int32_t, 3>> triangles;  ///< global points from 0
  std::vector<std::int32_t> points;                    ///< global numbers, ascending
  std::vector<double> x, y;                            ///< [m], by position in `points`
};

/// Between the control volumes of two points; `a` has the lower global number.
struct Edge {
  std::int32_t a = 0, b = 0;
  Face face;
};
/// Half of an edge of the mesh's border, directed outwards.
struct Wall {
  std::int32_t point = 0;
  Face face;
};
/// The gradient of a linear function on a triangle is the sum of its values times these [1/m].
struct Triangle {
  std::array<std::int32_t, 3> point{};
  std::array<double, 3> dx{}, dy{};
  double area = 0;  ///< [m2]
};

/// The mesh that a rank computes on: its own points and one ring of other ranks' points. Control volumes are those of
/// the median dual: around each point, through the centres of triangles and the middles of edges. A point belongs to
/// the lowest rank that read it. Everything is in the order of global numbers, so that each owned point has its terms
/// added in the same order, and the same bits, whatever the cut.
struct Mesh {
  std::int32_t all_points = 0;
  std::int32_t owned = 0;            ///< points [0, owned) are this rank's, by ascending global number
  std::vector<std::int32_t> global;  ///< from 0; ghosts after the owned points
  std::vector<double> x, y;          ///< [m]
  std::vector<double> area;          ///< of control volumes [m2], owned points only
  std::vector<Edge> edges;           ///< with an owned point
  std::vector<Wall> walls;           ///< of owned points
  std::vector<Triangle> triangles;   ///< with an owned point
  Halo halo;
};

/// Collective. Throws Error(corrupt) for a triangle without area, an edge of more than two triangles, or points in
/// none.
Mesh build_mesh(MPI_Comm comm, const Share& share);

}  // namespace octavo::shallow
