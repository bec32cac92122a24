#include "octavo/formats/ramses/naming.hpp"

#include <cstdio>

namespace octavo::formats::ramses {
namespace {

std::string axis_name(const std::string& vector, int axis) { return vector + "_" + "xyz"[axis]; }

std::vector<std::string> gravity_names(int variables, int ndim) {
  std::vector<std::string> names;
  if (variables >= ndim + 2) names.push_back("particle_density");
  if (variables >= ndim + 1) names.push_back("potential");
  for (int axis = 0; axis < ndim; ++axis) names.push_back(axis_name("force", axis));
  return names;
}

std::vector<std::string> photon_names(int variables, int ndim) {
  std::vector<std::string> names;
  for (int group = 1; group * (ndim + 1) <= variables; ++group) {
    std::string name = "photon_flux_" + std::string(group < 10 ? "0" : "") + std::to_string(group);
    names.push_back(name);
    for (int axis = 0; axis < ndim; ++axis) names.push_back(axis_name(name, axis));
  }
  return names;
}

}  // namespace

std::string unit_of(std::string_view name) {
  if (name == "density" || name == "particle_density") return "code_mass/code_length**3";
  if (name == "mass") return "code_mass";
  if (name == "potential") return "code_length**2/code_time**2";
  if (name == "pressure" || name == "thermal_pressure" || name.starts_with("non_thermal_"))
    return "code_mass/code_length/code_time**2";
  if (name.starts_with("velocity_")) return "code_length/code_time";
  if (name.starts_with("force_")) return "code_length/code_time**2";
  if (name.starts_with("position_")) return "code_length";
  return {};
}

mesh::Centring centring_of(std::string_view name) {
  const bool face = name.starts_with("B_") && (name.find("left") != name.npos || name.find("right") != name.npos);
  if (!face) return mesh::Centring::cell;
  if (name.find("_x") != name.npos) return mesh::Centring::face_x;
  if (name.find("_y") != name.npos) return mesh::Centring::face_y;
  return name.find("_z") != name.npos ? mesh::Centring::face_z : mesh::Centring::cell;
}

std::vector<std::string> default_names(CellKind kind, int variables, int ndim) {
  std::vector<std::string> names;
  if (kind == CellKind::grav) names = gravity_names(variables, ndim);
  if (kind == CellKind::rt) names = photon_names(variables, ndim);
  const std::string rest = kind == CellKind::hydro ? "var" : prefix(kind) + "_var";
  names.resize(std::min(names.size(), static_cast<std::size_t>(variables)));
  for (auto i = static_cast<int>(names.size()); i < variables; ++i) names.push_back(rest + std::to_string(i + 1));
  return names;
}

}  // namespace octavo::formats::ramses
