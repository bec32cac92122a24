#include "octavo/verbs/probe.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "octavo/analysis/solids/solid_values.hpp"
#include "octavo/analysis/triangles.hpp"
#include "octavo/base/error.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/mesh/triangles/cells.hpp"
#include "octavo/step/fields.hpp"
#include "octavo/step/one_mesh.hpp"
#include "octavo/step/open.hpp"

namespace octavo::verbs {
namespace {

using base::Error;
using base::Kind;
namespace serafin = formats::serafin;

constexpr double outside = std::numeric_limits<double>::quiet_NaN();

// ------------------------------------------------------------------ SERAFIN: the values alone are read

struct Probed {
  std::size_t variable = 0;
  std::string name, unit;
};
std::vector<Probed> variables_of(const serafin::SerafinSeries& series,
                                 const std::optional<std::vector<std::string>>& names) {
  std::vector<Probed> out;
  const auto add = [&](std::size_t v) {
    out.push_back({v, name_of(series.header.variables[v]), unit_of(series.header.variables[v])});
  };
  if (names)
    for (const std::string& name : *names) add(find_variable(series.header, name));
  else
    for (std::size_t v = 0; v < series.header.variables.size(); ++v) add(v);
  return out;
}

/// As seen from above.
std::vector<std::array<double, 2>> places_in_plane(const std::vector<mesh::Point3>& places) {
  std::vector<std::array<double, 2>> out;
  for (const mesh::Point3& place : places) out.push_back({place[0], place[1]});
  return out;
}

std::int64_t first_of_plane(int planes, std::int64_t points, int plane) {
  if (plane < -1 || plane >= planes)
    throw Error(Kind::usage, "plane: expected 0 to " + std::to_string(planes - 1) + ", found " + std::to_string(plane));
  return static_cast<std::int64_t>(plane < 0 ? planes - 1 : plane) * points;
}

double value_at(const serafin::SerafinSeries& series, std::int64_t step, std::size_t variable, std::int64_t first,
                const analysis::TrianglePlace& place) {
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    double value = 0;
    read_values(series, step, variable, first + place.points[k], {&value, 1});
    if (place.shares[k] > 0) sum += place.shares[k] * value;
  }
  return sum;
}

ProbeSeries probe_serafin(const std::filesystem::path& path, const ProbeOptions& options) {
  const serafin::SerafinSeries series = serafin::open_series(path);
  const std::vector<Probed> variables = variables_of(series, options.fields);
  const std::int64_t first =
      first_of_plane(serafin::planes(series.header), serafin::plane_points(series.header), options.plane);
  const auto places = analysis::locate(read_mesh(series), places_in_plane(options.places));
  ProbeSeries out;
  out.times = read_times(series);
  for (const Probed& variable : variables) {
    out.fields.push_back(variable.name);
    out.units.push_back(variable.unit);
  }
  for (const auto& place : places) {
    out.inside.push_back(place ? 1 : 0);
    for (const Probed& variable : variables)
      for (std::int64_t step = 0; step < series.steps; ++step)
        out.values.push_back(place ? value_at(series, step, variable.variable, first, *place) : outside);
  }
  return out;
}

// ------------------------------------------------------------------ others: a field of a step and part at a time

/// A place in a part of the mesh: some of its points with their shares, and the cell around it.
struct FoundPlace {
  int part = -1;
  analysis::SolidPlace place;  ///< of triangles the last share is 0
};

struct Located {
  std::vector<FoundPlace> found;
  std::vector<std::size_t> sizes;  ///< values of a field at the points of each part
  mesh::Mesh mesh;                 ///< of the first part; a store has one
};

std::vector<std::optional<analysis::SolidPlace>> locate_in_triangles(const mesh::Unstructured& mesh,
                                                                     const mesh::Header& header,
                                                                     const ProbeOptions& options) {
  const std::int64_t first = first_of_plane(mesh.planes, static_cast<std::int64_t>(mesh.x.size()), options.plane);
  std::vector<std::int64_t> cells;  // of each triangle, where values may stand in cells
  if (!mesh::cells_by_corners(header).empty()) cells = mesh::cells_of_triangles(mesh.connectivity);
  std::vector<std::optional<analysis::SolidPlace>> out;
  for (const auto& found : analysis::locate(mesh, places_in_plane(options.places))) {
    out.emplace_back();
    if (!found) continue;
    analysis::SolidPlace& place = out.back().emplace();
    for (std::size_t k = 0; k < 3; ++k) {
      place.points[k] = first + found->points[k];
      place.shares[k] = found->shares[k];
    }
    if (!cells.empty()) place.cell = cells.at(static_cast<std::size_t>(found->triangle));
  }
  return out;
}

Located locate_in_parts(const mesh::Dataset& dataset, const ProbeOptions& options) {
  Located out;
  std::vector<FoundPlace>& found = out.found;
  found.resize(options.places.size());
  mesh::Request only;
  only.fields = std::vector<std::string>{};
  for (int part = 0; part < dataset.num_parts; ++part) {
    mesh::Part read = dataset.read(part, only);
    std::vector<std::optional<analysis::SolidPlace>> places;
    if (const auto* solids = std::get_if<mesh::Solids>(&read.mesh)) {
      out.sizes.push_back(solids->x.size());
      places = analysis::locate(*solids, options.places);
    } else {
      const auto& mesh = std::get<mesh::Unstructured>(read.mesh);
      out.sizes.push_back(mesh.x.size() * static_cast<std::size_t>(mesh.planes));
      places = locate_in_triangles(mesh, dataset.header, options);
    }
    for (std::size_t i = 0; i < places.size(); ++i)
      if (found[i].part < 0 && places[i]) found[i] = {part, *places[i]};
    if (part == 0) out.mesh = std::move(read.mesh);
  }
  return out;
}

double value_at(const mesh::Field& field, const analysis::SolidPlace& place) {
  return mesh::visit_values(field, [&](auto values) {
    double sum = 0;
    for (std::size_t k = 0; k < 4; ++k)
      if (place.shares[k] > 0)
        sum += place.shares[k] * static_cast<double>(values[static_cast<std::size_t>(place.points[k])]);
    return sum;
  });
}

void read_step(const mesh::Dataset& dataset, const Located& located, std::size_t step, ProbeSeries& out) {
  const std::vector<FoundPlace>& places = located.found;
  const std::size_t fields = out.fields.size(), steps = out.times.size();
  for (int part = 0; part < dataset.num_parts; ++part)
    for (std::size_t f = 0; f < fields; ++f) {
      mesh::Part read;
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i].part != part) continue;
        if (read.fields.empty()) read = dataset.read(part, {.fields = {{out.fields[f]}}, .mesh = false});
        const mesh::Field& field = read.fields.at(0);
        const auto part_number = static_cast<std::size_t>(part);
        if (mesh::in_cells(dataset.header, field.info)) {
          const auto cell = static_cast<std::size_t>(places[i].place.cell);
          if (cell >= field.size())
            throw Error(Kind::unsupported, "the mesh changes from step to step").at(dataset.path);
          out.values[(i * fields + f) * steps + step] =
              mesh::visit_values(field, [&](auto values) { return static_cast<double>(values[cell]); });
          continue;
        }
        if (field.size() != located.sizes[part_number])
          throw Error(Kind::unsupported, "the mesh changes from step to step").at(dataset.path);
        out.values[(i * fields + f) * steps + step] = value_at(field, places[i].place);
      }
    }
}

ProbeSeries probe_steps(const std::filesystem::path& path, const ProbeOptions& options) {
  const std::vector<store::StepInfo> all = step::steps_of_flow(path, options.flow);
  const mesh::Dataset dataset = step::open(path, {options.flow, {}});
  if (!dataset.unstructured)
    throw Error(Kind::unsupported, "time series are read of meshes of triangles and solids").at(path.string());
  Located located = locate_in_parts(dataset, options);
  step::OneMesh mesh(std::move(located.mesh));
  ProbeSeries out;
  auto fields = options.fields;
  if (fields) fields = step::stored_names(dataset.header, *fields);
  for (const std::size_t f : mesh::select_fields(dataset.header, fields)) {
    const mesh::FieldInfo& info = dataset.header.fields[f];
    if (!options.fields && info.type != mesh::ScalarType::float32 && info.type != mesh::ScalarType::float64) continue;
    out.fields.push_back(info.name);
    out.units.push_back(info.unit);
  }
  for (const store::StepInfo& step : all) out.times.push_back(step.time);
  for (const FoundPlace& place : located.found) out.inside.push_back(place.part >= 0 ? 1 : 0);
  out.values.assign(located.found.size() * out.fields.size() * all.size(), outside);
  const bool flows = store::recognise(path);
  for (std::size_t s = 0; s < all.size(); ++s) {
    const mesh::Dataset step = step::open(path, {flows ? std::optional(all[s].flow) : std::nullopt, all[s].step});
    mesh.require(step, all[s]);
    read_step(step, located, s, out);
  }
  return out;
}

}  // namespace

ProbeSeries probe(const std::filesystem::path& path, const ProbeOptions& options) {
  return serafin::looks_like_series(path) && !options.flow ? probe_serafin(path, options) : probe_steps(path, options);
}

}  // namespace octavo::verbs
