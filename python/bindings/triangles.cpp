#include <nanobind/stl/array.h>

#include "keywords.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/step/boundary_groups.hpp"
#include "octavo/step/over_time.hpp"
#include "octavo/store/store.hpp"
#include "octavo/verbs/probe.hpp"

namespace octavo::bindings {

namespace {

std::optional<store::Flow> flow_of(const std::optional<std::string>& name) {
  return name ? std::optional(flow_named(*name)) : std::nullopt;
}

nb::dict probe(const std::filesystem::path& path, const std::vector<std::array<double, 2>>& places,
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
  m.def("boundary_of_groups", &boundary_of_groups, nb::arg("path"), nb::arg("out"), nb::kw_only(),
        nb::arg("codes") = nb::none(), nb::arg("overwrite") = false,
        "Writes the boundary file (.cli) that a MED file's groups of edges say. Releases the GIL.");
}

}  // namespace octavo::bindings
