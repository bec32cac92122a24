#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace octavo::euler {

using Point3 = std::array<double, 3>;

/// Ghost cells on each side of a box, along the axes below `dim`: slopes in the first one need the second.
constexpr int ghosts = 2;

/// An ideal gas in `dim` dimensions with passive scalars. Units are the code's own; temperature is pressure / density.
struct Gas {
  int dim = 2;
  int scalars = 0;
  double gamma = 1.4;
};

/// Conserved variables, a value a volume: density, momentum along each axis, total energy, density of each scalar.
inline int num_variables(const Gas& gas) { return gas.dim + 2 + gas.scalars; }
inline int momentum_of(int axis) { return 1 + axis; }
inline int energy_of(const Gas& gas) { return gas.dim + 1; }
inline int scalar_of(const Gas& gas, int scalar) { return gas.dim + 2 + scalar; }
/// "density", "momentum_x", ..., "energy_density", "scalar_density_0", ...
std::vector<std::string> variable_names(const Gas& gas);

/// The same state as it is thought of: scalars are fractions of the mass.
struct Primitive {
  double density = 1;
  Point3 velocity{0, 0, 0};
  double pressure = 1;
  std::vector<double> scalars{};
};
/// Writes num_variables(gas) values, `stride` apart.
void to_conserved(const Gas& gas, const Primitive& primitive, double* out, std::size_t stride = 1);
Primitive to_primitive(const Gas& gas, const double* in, std::size_t stride = 1);

/// A box of cells and how its values lie in memory: variable after variable, and of each the cells with their ghosts,
/// x fastest.
struct Shape {
  int dim = 2;
  std::array<int, 3> cells{1, 1, 1};  ///< without ghosts; 1 beyond `dim`
};
inline int ghosts_along(const Shape& shape, int axis) { return axis < shape.dim ? ghosts : 0; }
inline std::size_t padded(const Shape& shape, int axis) {
  return static_cast<std::size_t>(shape.cells[static_cast<std::size_t>(axis)] + 2 * ghosts_along(shape, axis));
}
/// Values of one variable, ghosts included.
inline std::size_t padded_size(const Shape& shape) { return padded(shape, 0) * padded(shape, 1) * padded(shape, 2); }
inline std::size_t stride_of(const Shape& shape, int axis) {
  return axis == 0 ? 1 : axis == 1 ? padded(shape, 0) : padded(shape, 0) * padded(shape, 1);
}
/// Where cell (i, j, k) is in the array of a variable; ghosts have negative positions, or `cells` and more.
inline std::size_t offset_of(const Shape& shape, int i, int j, int k) {
  return static_cast<std::size_t>(i + ghosts_along(shape, 0)) +
         padded(shape, 0) * (static_cast<std::size_t>(j + ghosts_along(shape, 1)) +
                             padded(shape, 1) * static_cast<std::size_t>(k + ghosts_along(shape, 2)));
}

/// Calls f(i, j, k) for each cell without ghosts, x fastest.
template <class F>
void for_each_cell(const Shape& shape, F&& f) {
  for (int k = 0; k < shape.cells[2]; ++k)
    for (int j = 0; j < shape.cells[1]; ++j)
      for (int i = 0; i < shape.cells[0]; ++i) f(i, j, k);
}

}  // namespace octavo::euler
