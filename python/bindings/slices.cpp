#include <variant>

#include "keywords.hpp"
#include "octavo/step/shared.hpp"
#include "octavo/verbs/cuts/line.hpp"
#include "octavo/verbs/cuts/slice.hpp"
#include "octavo/verbs/cuts/transect.hpp"
#include "octavo/verbs/structures/clumps.hpp"
#include "octavo/verbs/structures/contour.hpp"
#include "selection.hpp"

/// Planes and lines through cells, and clumps and surfaces of them; lines and surfaces through triangles.
namespace octavo::bindings {

namespace {

using Direction = std::array<double, 3>;

verbs::Map slice(const step::SharedStep& step, const std::string& field, const nb::kwargs& arguments) {
  Keywords given(arguments);
  verbs::SliceOptions options;
  options.field = field;
  const auto normal = given.get<std::variant<std::string, Direction>>("normal", std::string("z"));
  if (const auto* direction = std::get_if<Direction>(&normal))
    options.normal = *direction;
  else
    options.normal = named<int>("normal", std::get<std::string>(normal), {{"x", 0}, {"y", 1}, {"z", 2}});
  given.take("up", options.up);
  given.take("at", options.at);
  given.take("pixels", options.pixels);
  take_selection(given, step, options);
  given.take_common(options);
  given.finish();
  return without_gil([&] { return verbs::slice(step, options); });
}

/// A selection that a verb takes only in part.
struct TakenSelection {
  std::optional<int> max_level{};
  std::optional<mesh::Region> region{};
  std::string where{};
  step::Definitions definitions{};
};

nb::dict line(const step::SharedStep& step, const nb::kwargs& arguments) {
  Keywords given(arguments);
  verbs::LineOptions options;
  given.take("fields", options.fields);
  given.take("start", options.from);
  given.take("end", options.to);
  take_selection(given, step, options);
  given.take_common(options);
  given.finish();
  verbs::LineTable table = without_gil([&] { return verbs::line(step, options); });
  const std::size_t count = table.chords.chords.size(), fields = table.fields.size();
  std::vector<double> entry, exit;
  std::vector<std::int32_t> level;
  for (const analysis::Chord& chord : table.chords.chords) {
    entry.push_back(chord.entry);
    exit.push_back(chord.exit);
    level.push_back(chord.level);
  }
  nb::dict values;
  for (std::size_t f = 0; f < fields; ++f) {
    std::vector<double> column;
    for (std::size_t c = 0; c < count; ++c) column.push_back(table.chords.values[c * fields + f]);
    values[nb::cast(table.fields[f])] = to_array(std::move(column), {count});
  }
  const auto dim = static_cast<std::ptrdiff_t>(step.header.dim);
  nb::dict result;
  result["from"] = std::vector<double>(table.from.begin(), table.from.begin() + dim);
  result["to"] = std::vector<double>(table.to.begin(), table.to.begin() + dim);
  result["length"] = table.length;
  result["entry"] = to_array(std::move(entry), {count});
  result["exit"] = to_array(std::move(exit), {count});
  result["level"] = to_array(std::move(level), {count});
  result["values"] = values;
  result["units"] = table.units;
  result["selection"] = table.selection;
  result["time"] = table.time;
  result["parts_read"] = table.parts.size();
  result["bytes_read"] = table.bytes_read;
  return result;
}

/// The surface that `height`, `depth` or `plane` name.
std::optional<analysis::Level> level_from(Keywords& given) {
  using enum analysis::Level::Kind;
  std::optional<analysis::Level> level;
  for (const auto& [name, kind] : {std::pair{"height", height}, std::pair{"depth", depth}, std::pair{"plane", plane}})
    if (const auto at = given.get<std::optional<double>>(name)) {
      if (level) throw base::Error(base::Kind::usage, "a slice of planes: expected one height, depth or plane");
      level = analysis::Level{kind, *at};
    }
  return level;
}

verbs::Map surface(const step::SharedStep& step, const std::string& field, const nb::kwargs& arguments) {
  Keywords given(arguments);
  verbs::SurfaceOptions options;
  options.field = field;
  given.take("through", options.through);
  options.level = level_from(given);
  given.take("pixels", options.pixels);
  TakenSelection taken;
  take_selection(given, step, taken);
  options.region = taken.region;
  options.where = taken.where;
  options.definitions = taken.definitions;
  given.take_common(options);
  given.finish();
  return without_gil([&] { return verbs::surface(step, options); });
}

nb::dict transect(const step::SharedStep& step, const nb::kwargs& arguments) {
  Keywords given(arguments);
  verbs::TransectOptions options;
  given.take("fields", options.fields);
  given.take("through", options.through);
  given.take("start", options.from);
  given.take("end", options.to);
  TakenSelection taken;
  take_selection(given, step, taken);
  if (taken.region)
    throw base::Error(base::Kind::unsupported, "a line through triangles takes no region")
        .hint("let the line end where the region does");
  options.where = taken.where;
  options.definitions = taken.definitions;
  options.ranks = ranks_from(given.get<nb::object>("ranks", nb::none()));
  given.finish();
  verbs::TransectTable table = without_gil([&] { return verbs::transect(step, options); });
  const std::size_t rows = table.distance.size();
  const std::vector<std::size_t> shape =
      table.z.empty() ? std::vector{rows} : std::vector{rows, table.planes};  // of the values of a field
  nb::dict values;
  for (std::size_t f = 0; f < table.fields.size(); ++f) {
    const auto first = table.values.begin() + static_cast<std::ptrdiff_t>(f * rows * table.planes);
    values[nb::cast(table.fields[f])] =
        to_array(std::vector<double>(first, first + static_cast<std::ptrdiff_t>(rows * table.planes)), shape);
  }
  nb::dict result;
  result["distance"] = to_array(std::move(table.distance), {rows});
  result["x"] = to_array(std::move(table.x), {rows});
  result["y"] = to_array(std::move(table.y), {rows});
  result["z"] = table.z.empty() ? nb::none() : to_array(std::move(table.z), shape);
  result["values"] = values;
  result["units"] = table.units;
  result["length"] = table.length;
  result["selection"] = table.selection;
  result["time"] = table.time;
  return result;
}

/// The selection's facts that all results carry.
template <class Result>
nb::dict facts_of_leaves(const Result& found) {
  nb::dict facts;
  facts["field"] = found.field;
  facts["unit"] = found.unit;
  facts["selection"] = found.selection;
  facts["time"] = found.time;
  facts["parts_read"] = found.parts.size();
  facts["bytes_read"] = found.bytes_read;
  return facts;
}

nb::dict clumps(const step::SharedStep& step, const nb::kwargs& arguments) {
  Keywords given(arguments);
  verbs::ClumpsOptions options;
  given.take("field", options.field);
  given.take("above", options.above);
  take_selection(given, step, options);
  given.take_common(options);
  given.finish();
  const verbs::Clumps found = without_gil([&] { return verbs::clumps(step, options); });
  const std::size_t count = found.clumps.size(), dim = static_cast<std::size_t>(step.header.dim);
  std::vector<std::int64_t> cells;
  std::vector<std::int32_t> level;
  std::vector<double> volume, mass, peak, centre, lo, hi, peak_at;
  for (const analysis::Clump& clump : found.clumps) {
    cells.push_back(clump.sums.cells);
    level.push_back(clump.sums.deepest);
    volume.push_back(clump.sums.volume.value());
    if (found.has_mass) mass.push_back(clump.sums.mass.value());
    peak.push_back(clump.sums.peak);
    for (std::size_t axis = 0; axis < dim; ++axis) {
      centre.push_back(clump.centre[axis]);
      lo.push_back(clump.sums.lo[axis]);
      hi.push_back(clump.sums.hi[axis]);
      peak_at.push_back(clump.sums.peak_at[axis]);
    }
  }
  nb::dict result = facts_of_leaves(found);
  result["parts"] = found.parts;
  result["part_clumps"] = found.part_clumps;
  result["above"] = found.above;
  result["mass_unit"] = found.mass_unit;
  result["cells"] = to_array(std::move(cells), {count});
  result["level"] = to_array(std::move(level), {count});
  result["volume"] = to_array(std::move(volume), {count});
  result["mass"] = found.has_mass ? to_array(std::move(mass), {count}) : nb::none();
  result["peak"] = to_array(std::move(peak), {count});
  result["centre"] = to_array(std::move(centre), {count, dim});
  result["lo"] = to_array(std::move(lo), {count, dim});
  result["hi"] = to_array(std::move(hi), {count, dim});
  result["peak_at"] = to_array(std::move(peak_at), {count, dim});
  return result;
}

mesh::Dataset with_labels(const mesh::Dataset& dataset, const nb::kwargs& arguments) {
  Keywords given(arguments);
  verbs::ClumpsOptions options;
  given.take("field", options.field);
  given.take("above", options.above);
  const auto parts = given.get<std::vector<int>>("parts");
  const auto part_clumps = given.get<std::vector<std::vector<std::uint32_t>>>("part_clumps");
  const auto labels = given.get<std::vector<std::int64_t>>("labels");
  take_selection(given, dataset, options);
  given.finish();
  return without_gil([&] { return verbs::with_labels(dataset, options, parts, part_clumps, labels); });
}

nb::dict contour(const step::SharedStep& step, const nb::kwargs& arguments) {
  Keywords given(arguments);
  verbs::ContourOptions options;
  given.take("field", options.field);
  given.take("at", options.at);
  take_selection(given, step, options);
  given.take_common(options);
  given.finish();
  const verbs::Contour found = without_gil([&] { return verbs::contour(step, options); });
  const auto corners = static_cast<std::size_t>(found.surface.dim);
  const std::size_t points = found.surface.points.size(), triangles = found.surface.triangles.size();
  std::vector<double> places;
  std::vector<std::uint32_t> ends;
  for (const mesh::Point3& point : found.surface.points)
    places.insert(places.end(), point.begin(), point.begin() + static_cast<std::ptrdiff_t>(corners));
  for (const auto& triangle : found.surface.triangles)
    ends.insert(ends.end(), triangle.begin(), triangle.begin() + static_cast<std::ptrdiff_t>(corners));
  nb::dict result = facts_of_leaves(found);
  result["at"] = found.at;
  result["points"] = to_array(std::move(places), {points, corners});
  result["triangles"] = to_array(std::move(ends), {triangles, corners});
  return result;
}

}  // namespace

void bind_slices(nb::module_& m) {
  m.def("slice", &slice, nb::arg("dataset"), nb::arg("field"), nb::arg("options"),
        "The values of the leaves that a plane cuts. Releases the GIL. Collective over `ranks`.");
  m.def(
      "slice",
      [](const mesh::Dataset& dataset, const std::string& field, const nb::kwargs& options) {
        return slice(step::SharedStep(dataset), field, options);
      },
      nb::arg("dataset"), nb::arg("field"), nb::arg("options"));
  m.def("line", &line, nb::arg("dataset"), nb::arg("options"),
        "The chords of a line through the leaves. Releases the GIL. Collective over `ranks`.");
  m.def(
      "line",
      [](const mesh::Dataset& dataset, const nb::kwargs& options) { return line(step::SharedStep(dataset), options); },
      nb::arg("dataset"), nb::arg("options"));
  m.def("surface", &surface, nb::arg("dataset"), nb::arg("field"), nb::arg("options"),
        "A vertical cut along a line, or a surface of one height, depth or plane, through prisms. Releases the GIL. "
        "Collective over `ranks`.");
  m.def(
      "surface",
      [](const mesh::Dataset& dataset, const std::string& field, const nb::kwargs& options) {
        return surface(step::SharedStep(dataset), field, options);
      },
      nb::arg("dataset"), nb::arg("field"), nb::arg("options"));
  m.def("transect", &transect, nb::arg("dataset"), nb::arg("options"),
        "Values of points of triangles along a polyline. Releases the GIL. Collective over `ranks`.");
  m.def(
      "transect",
      [](const mesh::Dataset& dataset, const nb::kwargs& options) {
        return transect(step::SharedStep(dataset), options);
      },
      nb::arg("dataset"), nb::arg("options"));
  m.def("clumps", &clumps, nb::arg("dataset"), nb::arg("options"),
        "Sets of leaves above a threshold that touch. Releases the GIL. Collective over `ranks`.");
  m.def(
      "clumps",
      [](const mesh::Dataset& dataset, const nb::kwargs& options) {
        return clumps(step::SharedStep(dataset), options);
      },
      nb::arg("dataset"), nb::arg("options"));
  m.def("with_labels", &with_labels, nb::arg("dataset"), nb::arg("options"),
        "The step with a field `clump`: the label of the clump that each leaf is in. Releases the GIL.");
  m.def("contour", &contour, nb::arg("dataset"), nb::arg("options"),
        "The surface, or in 2-D the lines, of one value. Releases the GIL. Collective over `ranks`.");
  m.def(
      "contour",
      [](const mesh::Dataset& dataset, const nb::kwargs& options) {
        return contour(step::SharedStep(dataset), options);
      },
      nb::arg("dataset"), nb::arg("options"));
}

}  // namespace octavo::bindings
