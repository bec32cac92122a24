#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/euler/box.hpp"

namespace octavo::euler {

enum class Boundary : std::uint8_t { outflow, reflecting, periodic };

/// The initial state of a run, on any mesh.
struct Problem {
  std::string name;  ///< kept in checkpoints: a restart on another problem is refused
  Gas gas;
  Point3 lo{0, 0, 0}, hi{1, 1, 1};                       ///< corners of the domain [code length]
  std::array<Boundary, 3> boundary{};                    ///< of both sides of an axis
  int samples = 1;                                       ///< points an axis of which a cell's first value is the mean
  std::function<Primitive(const Point3& at)> initial{};  ///< at time 0
};

/// Fills in cells without ghosts: means of `samples` points an axis of the conserved variables.
void set_initial(const Problem& problem, Box& box);

/// Energy `energy` in a ball of `radius` around the middle of [0, 1]^dim, in a gas of density 1 at rest (Sedov 1946).
Problem sedov(int dim, double radius, double energy = 1.0, double gamma = 1.4);
/// Where the shock of it is (E t^2 / (alpha density))^(1/(dim + 2)): alpha is 0.984 in 2-D and 0.851 in 3-D at
/// gamma 1.4.
double sedov_radius(int dim, double time, double energy = 1.0, double density = 1.0);

/// Sod's tube along x on [0, 1] x [0, edge]^(dim - 1), the membrane at 0.5, a scalar that tells left (1) from right.
Problem sod(int dim, double edge = 0.25);

/// A density wave 1 + 0.2 sin(2 pi sum(x)) that a flow of velocity 1 along each axis carries through the periodic
/// [0, 1]^dim: the same again at time 1; exact at all times.
Problem wave(int dim);
double wave_density(int dim, const Point3& at, double time);

}  // namespace octavo::euler
