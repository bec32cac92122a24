#include "apps/euler/state.hpp"

namespace octavo::euler {

std::vector<std::string> variable_names(const Gas& gas) {
  std::vector<std::string> names{"density"};
  for (int axis = 0; axis < gas.dim; ++axis) names.push_back(std::string("momentum_") + "xyz"[axis]);
  names.emplace_back("energy_density");
  for (int scalar = 0; scalar < gas.scalars; ++scalar) names.push_back("scalar_density_" + std::to_string(scalar));
  return names;
}

void to_conserved(const Gas& gas, const Primitive& primitive, double* out, std::size_t stride) {
  const auto at = [&](int variable) -> double& { return out[static_cast<std::size_t>(variable) * stride]; };
  double speed2 = 0;
  at(0) = primitive.density;
  for (int axis = 0; axis < gas.dim; ++axis) {
    const double velocity = primitive.velocity[static_cast<std::size_t>(axis)];
    at(momentum_of(axis)) = primitive.density * velocity;
    speed2 += velocity * velocity;
  }
  at(energy_of(gas)) = primitive.pressure / (gas.gamma - 1) + 0.5 * primitive.density * speed2;
  for (int scalar = 0; scalar < gas.scalars; ++scalar) {
    const auto s = static_cast<std::size_t>(scalar);
    at(scalar_of(gas, scalar)) = s < primitive.scalars.size() ? primitive.density * primitive.scalars[s] : 0.0;
  }
}

Primitive to_primitive(const Gas& gas, const double* in, std::size_t stride) {
  const auto at = [&](int variable) { return in[static_cast<std::size_t>(variable) * stride]; };
  Primitive primitive;
  primitive.density = at(0);
  double momentum2 = 0;
  for (int axis = 0; axis < gas.dim; ++axis) {
    const double momentum = at(momentum_of(axis));
    primitive.velocity[static_cast<std::size_t>(axis)] = momentum / at(0);
    momentum2 += momentum * momentum;
  }
  primitive.pressure = (gas.gamma - 1) * (at(energy_of(gas)) - 0.5 * momentum2 / at(0));
  for (int scalar = 0; scalar < gas.scalars; ++scalar) primitive.scalars.push_back(at(scalar_of(gas, scalar)) / at(0));
  return primitive;
}

}  // namespace octavo::euler
