#include "apps/run/restart.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "apps/euler/fields.hpp"
#include "octavo/base/error.hpp"

namespace octavo::run {

using base::Error;
using base::Kind;

namespace {

template <class T>
const T* attribute(const mesh::Header& header, const std::string& name) {
  const auto found = header.attributes.find(name);
  return found == header.attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

// Codes name the problem in their own words. If they name one, it should be this one.
bool is_of_another(std::string told, const std::string& problem) {
  std::transform(told.begin(), told.end(), told.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool names_one = told.find("setup") != std::string::npos || told.find("octavo-") != std::string::npos;
  return names_one && told.find(problem) == std::string::npos;
}

mesh::Field as_ids(const mesh::Field& identity) {
  mesh::Field ids = mesh::make_field(
      {.name = "id", .unit = "", .type = mesh::ScalarType::int64, .centring = mesh::Centring::particle},
      identity.size());
  mesh::visit_values(identity, [&](auto values) {
    std::transform(values.begin(), values.end(), ids.as<std::int64_t>().begin(),
                   [](auto value) { return static_cast<std::int64_t>(value); });
  });
  return ids;
}

}  // namespace

void check_restart(const mesh::Header& header, const euler::Problem& problem) {
  const auto* name = attribute<std::string>(header, "problem");
  if (name == nullptr || *name != problem.name)
    throw Error(Kind::usage, "the checkpoint is of problem " + (name == nullptr ? "\"" + header.code + "\"" : *name) +
                                 ", this run is of problem " + problem.name);
  if (header.dim != problem.gas.dim)
    throw Error(Kind::usage, "the checkpoint has " + std::to_string(header.dim) + " dimensions, this run " +
                                 std::to_string(problem.gas.dim))
        .hint("--dim " + std::to_string(header.dim));
  const auto* gamma = attribute<double>(header, "gamma");
  if (gamma == nullptr || *gamma != problem.gas.gamma)
    throw Error(Kind::usage, "the checkpoint is of a gas with another gamma");
  std::string missing;
  for (const std::string& wanted : variable_names(problem.gas))
    if (std::none_of(header.fields.begin(), header.fields.end(), [&](const auto& f) { return f.name == wanted; }))
      missing += (missing.empty() ? "" : ", ") + wanted;
  if (!missing.empty())
    throw Error(Kind::corrupt, "the checkpoint lacks variables that this run needs: " + missing)
        .hint("was it written with the option checkpoint.fields?");
}

std::string checkpoint_title(const euler::Problem& problem) { return "Checkpoint file of octavo-" + problem.name; }

std::string flash_name(int scalar) { return "s" + std::to_string(1000 + scalar).substr(1); }

namespace {

// Our names of an output's fields whose format has none, or shorter ones: components of an AMReX checkpoint, FLASH's
// passive scalars.
std::map<std::string, std::string> names_before(const mesh::Header& header, const euler::Problem& problem) {
  std::map<std::string, std::string> names;
  const auto* title = attribute<std::string>(header, "version");
  const auto fields = native_fields(problem.gas);
  for (std::size_t f = 0; title != nullptr && *title == checkpoint_title(problem) && f < fields.size(); ++f)
    names["phi_" + std::to_string(f)] = fields[f].name;
  for (int scalar = 0; header.code == "FLASH" && scalar < problem.gas.scalars; ++scalar)
    names[flash_name(scalar)] = "scalar_" + std::to_string(scalar);
  return names;
}

std::string name_before(const std::map<std::string, std::string>& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

}  // namespace

void check_output(const mesh::Header& header, const euler::Problem& problem) {
  const auto refuse = [&](const std::string& why) {
    throw Error(Kind::usage, "the " + header.code + " output " + why);
  };
  if (header.dim != problem.gas.dim)
    refuse("has " + std::to_string(header.dim) + " dimensions, this run " + std::to_string(problem.gas.dim));
  for (const char* name : {"sim info/setup call", "string runtime parameters/run_comment", "version"})
    if (const auto* told = attribute<std::string>(header, name); told != nullptr && is_of_another(*told, problem.name))
      refuse("is of \"" + *told + "\", this run is of problem " + problem.name);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis)
    if (header.lo[axis] != problem.lo[axis] || header.hi[axis] != problem.hi[axis])
      refuse("reaches from " + std::to_string(header.lo[axis]) + " to " + std::to_string(header.hi[axis]) + " along " +
             "xyz"[axis] + ", this run from " + std::to_string(problem.lo[axis]) + " to " +
             std::to_string(problem.hi[axis]));
  const auto* gamma = attribute<double>(header, "real runtime parameters/gamma");
  if (gamma != nullptr && *gamma != problem.gas.gamma) refuse("is of a gas with another gamma");
  std::string missing;
  const auto names = names_before(header, problem);
  for (const std::string& wanted : primitive_names(problem.gas))
    if (std::none_of(header.fields.begin(), header.fields.end(),
                     [&](const auto& f) { return name_before(names, f.name) == wanted; }))
      missing += (missing.empty() ? "" : ", ") + wanted;
  if (!missing.empty()) refuse("lacks variables that this run needs: " + missing);
}

std::vector<std::string> primitive_names(const euler::Gas& gas) {
  std::vector<std::string> names{"density"};
  for (int axis = 0; axis < gas.dim; ++axis) names.push_back(std::string("velocity_") + "xyz"[axis]);
  names.emplace_back("pressure");
  for (int scalar = 0; scalar < gas.scalars; ++scalar) names.push_back("scalar_" + std::to_string(scalar));
  return names;
}

void make_conserved(mesh::Part& part, const mesh::Header& header, const euler::Problem& problem) {
  const euler::Gas& gas = problem.gas;
  const auto before = names_before(header, problem);
  for (mesh::Field& field : part.fields) {
    field.info.name = name_before(before, field.info.name);
    widen(field);
  }
  std::vector<std::span<const double>> from;
  for (const std::string& name : primitive_names(gas)) from.push_back(field_of(part, name));
  const std::size_t values = from[0].size();
  std::vector<double> state(static_cast<std::size_t>(num_variables(gas)) * values);
  for (std::size_t i = 0; i < values; ++i) {
    euler::Primitive primitive;
    std::size_t next = 0;
    primitive.density = from[next++][i];
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(gas.dim); ++axis)
      primitive.velocity[axis] = from[next++][i];
    primitive.pressure = from[next++][i];
    while (next < from.size()) primitive.scalars.push_back(from[next++][i]);
    to_conserved(gas, primitive, state.data() + i, values);
  }
  part.fields.clear();
  const auto names = variable_names(gas);
  for (std::size_t v = 0; v < names.size(); ++v) {
    mesh::Field& field = part.fields.emplace_back(mesh::make_field({.name = names[v], .unit = ""}, values));
    std::copy_n(state.begin() + static_cast<std::ptrdiff_t>(v * values), values, field.as<double>().begin());
  }
  if (part.particles.size() == 1) part.particles[0].species = "tracers";
  for (mesh::Particles& species : part.particles)
    for (mesh::Field& field : species.attributes)
      if (field.info.name == "identity") field = as_ids(field);
}

std::span<const double> field_of(const mesh::Part& part, const std::string& name) {
  for (const mesh::Field& field : part.fields)
    if (field.info.name == name) return field.as<double>();
  throw Error(Kind::corrupt, "there is no such field").at("field " + name);
}

euler::Tracers tracers_of(const mesh::Part& part, int dim) {
  euler::Tracers tracers;
  for (const mesh::Particles& species : part.particles) {
    if (species.species != "tracers") continue;
    tracers.id.resize(static_cast<std::size_t>(species.count));
    tracers.position.assign(tracers.id.size(), euler::Point3{0, 0, 0});
    for (const mesh::Field& field : species.attributes) {
      if (field.info.name == "id" && field.info.type == mesh::ScalarType::int64)
        std::copy_n(field.as<std::int64_t>().begin(), tracers.id.size(), tracers.id.begin());
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
        if (field.info.name == std::string("position_") + "xyz"[axis] && field.info.type == mesh::ScalarType::float64)
          for (std::size_t i = 0; i < tracers.id.size(); ++i) tracers.position[i][axis] = field.as<double>()[i];
    }
  }
  return tracers;
}

}  // namespace octavo::run
