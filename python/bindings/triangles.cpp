#include <nanobind/stl/array.h>

#include "keywords.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/step/boundary_groups.hpp"
#include "octavo/step/over_time.hpp"
#include "octavo/store/store.hpp"
#include "octavo/verbs/cuts/discharge.hpp"
#include "octavo/verbs/cuts/streamlines.hpp"
#include "octavo/verbs/probe.hpp"

namespace octavo::bindings {

namespace {

std::optional<store::Flow> flow_of(const std::optional<std::string>& name) {
  return name ? std::optional(flow_named(*name)) : std::nullopt;
}

nb::dict probe(const std::filesystem::path& path, const std::vector<std::array<double, 3>>& places,
               const std::optional<std::vector<std::string>>& fields, int plane,
               const std::optional<std::string>& flow) {
  const verbs::ProbeOptions options{places, fields, plane, flow_of(flow)};
  verbs::ProbeSeries series;
  {
    nb::gil_scoped_release release;
    series = verbs::probe(path, options);
  }
  const std::size_t steps = series.times.size();
  nb::dict out;
  out["fields"] = series.fields;
  out["units"] = series.units;
  out["inside"] = std::vector<bool>(series.inside.begin(), series.inside.end());
  out["values"] = to_array(std::move(series.values), {places.size(), series.fields.size(), steps});
  out["times"] = to_array(std::move(series.times), {steps});
  return out;
}

nb::dict described(verbs::StepSeries series, std::size_t rows) {
  const std::size_t steps = series.times.size();
  nb::dict out;
  out["values"] = to_array(std::move(series.values), {rows, steps});
  out["times"] = to_array(std::move(series.times), {steps});
  out["sizes"] = to_array(std::move(series.sizes), {rows});
  return out;
}

verbs::OverStepsOptions over_steps_options(Keywords& given) {
  verbs::OverStepsOptions options;
  options.flow = flow_of(given.get<std::optional<std::string>>("flow"));
  given.take_common(options);
  return options;
}

nb::dict discharge(const std::filesystem::path& path, const std::vector<analysis::Polyline>& lines,
                   const nb::kwargs& arguments) {
  Keywords given(arguments);
  const auto depth = given.get<std::string>("depth", "water_depth");
  const verbs::OverStepsOptions options = over_steps_options(given);
  given.finish();
  return described(without_gil([&] { return verbs::discharge(path, lines, depth, options); }), lines.size());
}

nb::dict volume(const std::filesystem::path& path, const std::vector<mesh::Polygon>& polygons,
                const nb::kwargs& arguments) {
  Keywords given(arguments);
  const auto field = given.get<std::string>("field", "water_depth");
  const verbs::OverStepsOptions options = over_steps_options(given);
  given.finish();
  return described(without_gil([&] { return verbs::volume(path, polygons, field, options); }),
                   std::max<std::size_t>(1, polygons.size()));
}

/// Takes the step of a number or the last; with `over_time` all steps.
nb::dict ways(const std::filesystem::path& path, const nb::kwargs& arguments) {
  Keywords given(arguments);
  verbs::WayOptions options;
  given.take("seeds", options.seeds);
  given.take("count", options.count);
  given.take("velocity", options.velocity);
  using enum verbs::WayDirection;
  given.take_named("direction", options.direction, {{"forward", forward}, {"backward", backward}, {"both", both}});
  given.take("duration", options.duration);
  given.take("length", options.length);
  given.take("start", options.from);
  given.take("until", options.until);
  given.take("plane", options.plane);
  options.flow = flow_of(given.get<std::optional<std::string>>("flow"));
  const auto step = given.get<std::optional<std::int64_t>>("step", {});
  const bool over_time = given.get<bool>("over_time", false);
  given.take_common(options);
  given.finish();
  const verbs::Ways found = without_gil(
      [&] { return over_time ? verbs::pathlines(path, options) : verbs::streamlines(path, step, options); });
  std::vector<double> x, y, time;
  std::vector<std::int64_t> first{0};
  std::vector<std::string> ends;
  const std::array<const char*, 5> names{"time", "border", "standing", "length", "steps"};
  for (const analysis::Way& way : found.ways) {
    for (const auto& place : way.at) {
      x.push_back(place[0]);
      y.push_back(place[1]);
    }
    time.insert(time.end(), way.time.begin(), way.time.end());
    first.push_back(std::ssize(x));
    ends.emplace_back(names.at(static_cast<std::size_t>(way.end)));
  }
  nb::dict out;
  const std::size_t count = x.size(), lines = first.size();
  out["x"] = to_array(std::move(x), {count});
  out["y"] = to_array(std::move(y), {count});
  out["times"] = to_array(std::move(time), {count});
  out["first"] = to_array(std::move(first), {lines});
  out["ends"] = ends;
  out["time"] = found.time;
  out["notes"] = found.notes;
  return out;
}

nb::dict boundary_of_groups(const std::filesystem::path& path, const std::filesystem::path& out,
                            const std::optional<std::filesystem::path>& codes, bool overwrite) {
  step::BoundaryOfGroupsReport report;
  {
    nb::gil_scoped_release release;
    report = step::boundary_of_groups(path, out, {codes, overwrite});
  }
  nb::dict row;
  row["points"] = report.points;
  row["notes"] = report.notes;
  return row;
}

std::vector<double> times(const std::filesystem::path& path) {
  if (store::recognise(path)) return {};
  const formats::Format& format = formats::format_of(path);
  return format.list_steps == nullptr ? std::vector<double>{} : format.list_steps(path).times;
}

}  // namespace

void bind_triangles(nb::module_& m) {
  m.def("times", &times, nb::arg("path"), "Of all steps of a file of many; none for other formats, and stores.");
  m.def(
      "over_time",
      [](const std::filesystem::path& path, const std::string& kind, const std::optional<std::string>& flow) {
        return step::over_time(path, step::over_time_named(kind), flow_of(flow));
      },
      nb::arg("path"), nb::arg("kind"), nb::arg("flow") = nb::none(),
      "A dataset whose values are the largest, smallest (\"max\", \"min\") or \"mean\" of each point over all steps.");
  m.def(
      "probe", &probe, nb::arg("path"), nb::arg("places"), nb::kw_only(), nb::arg("fields") = nb::none(),
      nb::arg("plane") = -1, nb::arg("flow") = nb::none(),
      "Values at places over all steps: times (steps), values (places, fields, steps), NaN outside. Releases the GIL.");
  m.def("discharge", &discharge, nb::arg("path"), nb::arg("lines"), nb::arg("options"),
        "Through each line over all steps: times, values (lines, steps), lengths on the mesh. Releases the GIL.");
  m.def("volume", &volume, nb::arg("path"), nb::arg("polygons"), nb::arg("options"),
        "A field's integral over each polygon and step; without one over the mesh. Releases the GIL.");
  m.def("ways", &ways, nb::arg("path"), nb::arg("options"),
        "Streamlines, or with over_time ways of particles: x, y and times of all places, the first of each way. "
        "Releases the "
        "GIL.");
  m.def("boundary_of_groups", &boundary_of_groups, nb::arg("path"), nb::arg("out"), nb::kw_only(),
        nb::arg("codes") = nb::none(), nb::arg("overwrite") = false,
        "Writes the boundary file (.cli) that a MED file's groups of edges say. Releases the GIL.");
}

}  // namespace octavo::bindings
