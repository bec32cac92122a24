#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "apps/euler/box.hpp"

namespace octavo::euler {

/// The criterion that a mesh asks when it regrids. It fills `out`, laid out as one variable of the box, see
/// indicator().
using Indicate = std::function<void(const Box& box, std::span<double> out)>;
/// A tracer's new place.
using Move = std::function<Point3(const Box& box, const Point3& at)>;

/// A field of an output: a variable of the state as it is, or computed from the state of a cell.
struct OutputField {
  std::string name;
  int variable = -1;  ///< -1: computed
  std::function<double(const double* state, std::size_t stride)> compute{};
};
/// The fields that a run needs to continue bit for bit, and pressure and temperature, which restarts do not read.
std::vector<OutputField> checkpoint_fields(const Gas& gas);
/// The fields for analysis: density, velocity, pressure, temperature, fractions of scalars.
std::vector<OutputField> analysis_fields(const Gas& gas);
/// The same for a FLASH or AMReX output, with specific energies.
std::vector<OutputField> native_fields(const Gas& gas);
/// The fields that FLASH's hydro needs to start: native_fields(), a velocity along each of three axes, and the
/// adiabatic indices gamc (of sound) and game (of energy). FLASH calls no equation of state before its first step.
std::vector<OutputField> flash_fields(const Gas& gas);

}  // namespace octavo::euler
