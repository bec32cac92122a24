#pragma once
#include <cstdint>
#include <vector>

#include "apps/shallow/mesh.hpp"

/// Shallow water on triangles: finite volumes around the points, explicit in time.
namespace octavo::shallow {

/// The conserved quantities of a point: depth [m] and discharge [m2/s].
struct Water {
  double h = 0, qx = 0, qy = 0;
  bool operator==(const Water&) const = default;
};

struct Physics {
  double strickler = 0;     ///< K [m^(1/3)/s]; 0: no friction
  double courant = 0.8;     ///< of the limit that keeps depths positive; half of it is taken where order is 2
  double dry_depth = 1e-6;  ///< [m] thinner water does not move
  int order = 1;            ///< 2: limited gradients and Heun's method
};

struct Simulation {
  MPI_Comm comm = MPI_COMM_SELF;  ///< must outlive the value
  Physics physics;
  Mesh mesh;
  std::vector<double> bottom;  ///< [m], every local point
  std::vector<Water> water;    ///< every local point; ghosts are up to date between steps
  double time = 0;             ///< [s]
  std::int64_t step = 0;
};

/// Collective. `bottom` and `water` are given for owned points; ghosts get their values here.
Simulation start(MPI_Comm comm, const Physics& physics, Mesh mesh, std::vector<double> bottom,
                 std::vector<Water> water);

/// Collective. One step, not past `until` [s], where it ends exactly if it gets there. Depths stay >= 0 and water is
/// conserved up to rounding. The same bits on any number of ranks. Returns the step [s]. `stop`: whether this rank was
/// asked to; set on all ranks where it is on any.
double advance(Simulation& simulation, double until, bool& stop);

/// Collective. Volume of all water [m3], the same bits on any number of ranks.
double total_volume(const Simulation& simulation);

}  // namespace octavo::shallow
