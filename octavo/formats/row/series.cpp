#include "octavo/formats/row/series.hpp"

#include <algorithm>
#include <type_traits>

#include "octavo/base/error.hpp"
#include "octavo/mesh/triangles/cells.hpp"

namespace octavo::formats {

using base::Error;
using base::Kind;

std::int64_t num_points(const Series& series) {
  return static_cast<std::int64_t>(series.mesh.x.size()) * series.mesh.planes + std::ssize(series.solids.x);
}

std::int64_t num_elements(const Series& series) {
  return static_cast<std::int64_t>(series.mesh.connectivity.size() / 3) * std::max(1, series.mesh.planes - 1) +
         std::ssize(series.solids.corners);
}

WriteReport report_of(const Series& series) {
  WriteReport report;
  report.steps = std::ssize(series.times);
  report.points = num_points(series);
  report.elements = num_elements(series);
  return report;
}

void for_each_step(const Series& series, const base::Progress& progress,
                   const std::function<void(std::int64_t, const mesh::Dataset&)>& each) {
  for_each_step(series, {0, std::ssize(series.times)}, progress, each);
}

void for_each_step(const Series& series, std::array<std::int64_t, 2> steps, const base::Progress& progress,
                   const std::function<void(std::int64_t, const mesh::Dataset&)>& each) {
  for (std::int64_t step = steps[0]; step < steps[1]; ++step) {
    each(step, series.open(static_cast<std::size_t>(step)));
    if (progress && !progress(step + 1 - steps[0], steps[1] - steps[0])) throw Error(Kind::interrupted, "interrupted");
  }
}

namespace {

template <class T>
std::vector<T> values_at(std::size_t places, const mesh::Dataset& step, const std::string& variable) {
  const auto& fields = step.header.fields;
  if (std::none_of(fields.begin(), fields.end(), [&](const auto& info) { return info.name == variable; }))
    throw Error(Kind::unsupported, "variable " + variable + " has no values at the step of time " +
                                       std::to_string(step.header.time) +
                                       " s: expected the same variables at each step")
        .at(step.path)
        .hint("--field with the others");
  mesh::Request request;
  request.fields = {{variable}};
  request.mesh = false;
  const mesh::Part part = step.read(0, request);
  const mesh::Field& field = part.fields.at(0);
  if (field.size() != places) throw Error(Kind::unsupported, "the mesh changes from step to step").at(step.path);
  return mesh::visit_values(field, [&](auto all) {
    using Stored = std::remove_cv_t<typename decltype(all)::element_type>;
    if constexpr (std::is_same_v<T, double> && std::is_integral_v<Stored> && sizeof(Stored) == 8) {
      constexpr Stored most = Stored{1} << 53;
      for (const Stored value : all)
        if (value > most || (std::is_signed_v<Stored> && value < 0 - most))
          throw Error(Kind::unsupported, "the integer " + std::to_string(value) + ": reals are exact up to 2^53")
              .at("variable " + variable)
              .at(step.path)
              .hint("--field with the others");
    }
    return std::vector<T>(all.begin(), all.end());
  });
}

/// How many values a variable has.
std::size_t places_of(const Series& series, const mesh::FieldInfo& info) {
  if (!mesh::in_cells(series.first.header, info)) return static_cast<std::size_t>(num_points(series));
  return mesh::holds_solids(series.first.header)
             ? series.solids.corners.size()
             : static_cast<std::size_t>(mesh::num_cells(mesh::cells_by_corners(series.first.header)));
}

}  // namespace

std::vector<double> values_of(const Series& series, const mesh::Dataset& step, const std::string& variable) {
  for (const mesh::FieldInfo& info : step.header.fields)
    if (info.name == variable && mesh::in_cells(step.header, info))
      throw Error(Kind::unsupported, "its values stand in cells: expected values at points")
          .at("variable " + variable)
          .at(step.path);
  return values_at<double>(static_cast<std::size_t>(num_points(series)), step, variable);
}

std::vector<double> values_of(const Series& series, const mesh::Dataset& step, const mesh::FieldInfo& info) {
  if (!mesh::in_cells(series.first.header, info)) return values_of(series, step, info.name);
  return values_at<double>(places_of(series, info), step, info.name);
}

std::vector<std::int64_t> integers_of(const Series& series, const mesh::Dataset& step, const mesh::FieldInfo& info) {
  return values_at<std::int64_t>(places_of(series, info), step, info.name);
}

std::vector<double> plane_heights(const Series& series) {
  std::vector<double> z;
  for (int plane = 0; plane < series.mesh.planes; ++plane) z.insert(z.end(), series.mesh.x.size(), plane);
  return z;
}

std::array<std::int64_t, 2> origin_parameters(const mesh::Header& header) {
  if (const auto iparam = attribute<std::vector<std::int64_t>>(header, "iparam"); iparam && iparam->size() == 10)
    return {(*iparam)[2], (*iparam)[3]};
  return {attribute<std::int64_t>(header, "X_ORIG").value_or(0), attribute<std::int64_t>(header, "Y_ORIG").value_or(0)};
}

std::string unique_name(const mesh::Header& header, std::size_t f) {
  return f < header.fields.size() ? header.fields[f].name : "VARIABLE " + std::to_string(f + 1);
}

}  // namespace octavo::formats
