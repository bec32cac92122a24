#include "apps/euler/fields.hpp"

namespace octavo::euler {

namespace {

double kinetic(const Gas& gas, const double* state, std::size_t stride) {
  double momentum2 = 0;
  for (int axis = 0; axis < gas.dim; ++axis) {
    const double momentum = state[static_cast<std::size_t>(momentum_of(axis)) * stride];
    momentum2 += momentum * momentum;
  }
  return 0.5 * momentum2 / state[0];
}
double pressure(const Gas& gas, const double* state, std::size_t stride) {
  return (gas.gamma - 1) * (state[static_cast<std::size_t>(energy_of(gas)) * stride] - kinetic(gas, state, stride));
}

OutputField ratio(const std::string& name, int variable) {
  return {name, -1, [variable](const double* state, std::size_t stride) {
            return state[static_cast<std::size_t>(variable) * stride] / state[0];
          }};
}
OutputField pressure_field(const Gas& gas) {
  return {"pressure", -1, [gas](const double* state, std::size_t stride) { return pressure(gas, state, stride); }};
}
OutputField temperature_field(const Gas& gas) {
  return {"temperature", -1,
          [gas](const double* state, std::size_t stride) { return pressure(gas, state, stride) / state[0]; }};
}

}  // namespace

std::vector<OutputField> checkpoint_fields(const Gas& gas) {
  std::vector<OutputField> fields;
  const auto names = variable_names(gas);
  for (std::size_t v = 0; v < names.size(); ++v) fields.push_back({names[v], static_cast<int>(v), {}});
  fields.push_back(pressure_field(gas));
  fields.push_back(temperature_field(gas));
  return fields;
}

std::vector<OutputField> analysis_fields(const Gas& gas) {
  std::vector<OutputField> fields{{"density", 0, {}}};
  for (int axis = 0; axis < gas.dim; ++axis)
    fields.push_back(ratio(std::string("velocity_") + "xyz"[axis], momentum_of(axis)));
  fields.push_back(pressure_field(gas));
  fields.push_back(temperature_field(gas));
  for (int scalar = 0; scalar < gas.scalars; ++scalar)
    fields.push_back(ratio("scalar_" + std::to_string(scalar), scalar_of(gas, scalar)));
  return fields;
}

std::vector<OutputField> native_fields(const Gas& gas) {
  std::vector<OutputField> fields = analysis_fields(gas);
  fields.push_back(ratio("total_energy", energy_of(gas)));
  fields.push_back({"internal_energy", -1, [gas](const double* state, std::size_t stride) {
                      return pressure(gas, state, stride) / ((gas.gamma - 1) * state[0]);
                    }});
  return fields;
}

std::vector<OutputField> flash_fields(const Gas& gas) {
  std::vector<OutputField> fields = native_fields(gas);
  const auto constant = [](double value) { return [value](const double*, std::size_t) { return value; }; };
  for (int axis = gas.dim; axis < 3; ++axis)
    fields.push_back({std::string("velocity_") + "xyz"[axis], -1, constant(0)});
  for (const char* name : {"gamc", "game"}) fields.push_back({name, -1, constant(gas.gamma)});
  return fields;
}

}  // namespace octavo::euler
