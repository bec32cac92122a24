#include "apps/run/restart.hpp"

#include <algorithm>

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

std::span<const double> field_of(const mesh::Part& part, const std::string& name) {
  for (const mesh::Field& field : part.fields)
    if (field.info.name == name && field.info.type == mesh::ScalarType::float64) return field.as<double>();
  throw Error(Kind::corrupt, "there is no field of doubles").at("field " + name);
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
        if (field.info.name == std::string("position_") + "xyz"[axis])
          for (std::size_t i = 0; i < tracers.id.size(); ++i) tracers.position[i][axis] = field.as<double>()[i];
    }
  }
  return tracers;
}

}  // namespace octavo::run
