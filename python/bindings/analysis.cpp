#include <cstdio>

#include "arrays.hpp"
#include "keywords.hpp"
#include "octavo/analysis/cells.hpp"
#include "octavo/step/fields.hpp"
#include "octavo/step/shared.hpp"
#include "octavo/verbs/bins.hpp"
#include "octavo/verbs/map.hpp"
#include "octavo/verbs/plan.hpp"
#include "octavo/verbs/scope.hpp"
#include "octavo/verbs/stats.hpp"
#include "octavo/verbs/triangles.hpp"
#include "particle_source.hpp"
#include "selection.hpp"

namespace octavo::bindings {

namespace {

using Names = std::optional<std::vector<std::string>>;
using Text = std::optional<std::string>;

// ---------------------------------------------------------------------------------------------- map

std::vector<std::pair<const char*, analysis::RegionEdge>> edges() {
  return {{"centre", analysis::RegionEdge::centre}, {"clip", analysis::RegionEdge::clip}};
}

verbs::Map map(const step::SharedStep& dataset, const std::string& field, const nb::kwargs& arguments) {
  Keywords given(arguments);
  verbs::MapOptions options;
  options.field = field;
  given.take_named("axis", options.axis, {{"x", 0}, {"y", 1}, {"z", 2}});
  given.take("camera", options.camera);
  given.take("up", options.up);
  given.take_named("kind", options.kind,
                   {{"integral", analysis::Projection::integral},
                    {"mean", analysis::Projection::mean},
                    {"max", analysis::Projection::maximum},
                    {"min", analysis::Projection::minimum}});
  const auto weight = given.get<Text>("weight");
  if (weight && options.kind != analysis::Projection::mean)
    throw base::Error(base::Kind::usage, "a weight belongs to a map of kind mean");
  if (weight && *weight != "volume") options.weight = *weight;
  take_selection(given, dataset, options);
  given.take_named("edge", options.edge, edges());
  given.take("pixels", options.pixels);
  options.mask = given.get<Text>("mask").value_or("");
  given.take("above", options.above);
  given.take("blur", options.blur);
  given.take("blank_too", options.blank_too);
  given.take_common(options);
  given.finish();
  return without_gil([&] { return verbs::map(dataset, options); });
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// The plane of a slice for people: "at z = 0.5", or "across (0.577, 0.577, 0.577) at 0.866".
std::string plane_of(const verbs::Map& image) {
  const bool axis = image.axis.size() <= 2;  // "x", "-x"
  const double at = image.axis.front() == '-' ? -image.depth_lo : image.depth_lo;
  return axis ? "at " + image.axis.substr(image.axis.size() - 1) + " = " + short_number(at)
              : "across " + image.axis + " at " + short_number(at);
}

std::string label_of(const verbs::Map& image) {
  if (!image.label.empty()) return image.label;
  if (image.kind == "value") return image.field;
  if (image.kind == "slice" && image.flat) return image.field;
  if (image.kind == "slice") return image.field + ", slice " + (image.orientation ? plane_of(image) : image.axis);
  const bool extreme = image.kind == "max" || image.kind == "min";
  if (image.flat && !extreme) return image.field;
  if (image.flat) return image.field + ", " + image.kind + " in each pixel";
  const std::string blurred = image.blur == 0 ? "" : ", cells blurred by " + short_number(image.blur) + " edges";
  if (image.kind == "mean") return image.field + ", mean weighted by " + image.weight + blurred;
  return image.field + ", " + image.kind + " along " + image.axis + blurred;
}

nb::dict facts_of(const verbs::Map& image) {
  nb::dict facts;
  facts["field"] = image.field;
  facts["kind"] = image.kind;
  facts["weight"] = image.weight;
  facts["axis"] = image.axis;
  facts["flat"] = image.flat;
  facts["axes"] = std::vector<std::string>{image.axes[0], image.axes[1]};
  facts["label"] = label_of(image);
  facts["title"] = label_of(image) + (image.selection.empty() ? "" : "   (" + image.selection + ")");
  facts["unit"] = image.unit;
  facts["extent"] = std::vector<double>{image.lo[0], image.hi[0], image.lo[1], image.hi[1]};
  facts["depth"] = std::vector<double>{image.depth_lo, image.depth_hi};
  if (image.orientation) {
    facts["right"] = image.orientation->right;
    facts["up"] = image.orientation->up;
    facts["towards"] = image.orientation->towards;
  }
  facts["pixels"] = std::vector<std::size_t>{image.nx, image.ny};
  facts["selection"] = image.selection;
  facts["time"] = image.time;
  facts["over_time"] = image.over_time.empty() ? nb::none() : nb::cast(image.over_time);
  facts["unit_length"] = image.unit_length;
  facts["unit_density"] = image.unit_density;
  facts["unit_time"] = image.unit_time;
  facts["parts_read"] = image.parts.size();
  facts["bytes_read"] = image.bytes_read;
  if (image.blur != 0) facts["blur"] = image.blur;
  if (image.particles >= 0) facts["particles"] = image.particles;
  return facts;
}

nb::object values_of(nb::handle self) {
  const auto& image = nb::cast<const verbs::Map&>(self);
  const std::size_t shape[2] = {image.rows.count(), image.nx};
  return nb::cast(nb::ndarray<nb::numpy, const double>(image.values.data(), 2, shape, self));
}

/// On rank 0 an array of these rows, else None.
nb::object rows_of(const verbs::Map& image, nb::object among, std::size_t first, std::size_t last) {
  const base::Ranks ranks = ranks_from(among);
  std::vector<double> rows = without_gil([&] { return verbs::rows_of(image, ranks, {first, last}); });
  return ranks.rank == 0 ? to_array(std::move(rows), {last - first, image.nx}) : nb::none();
}

void write_npy(const verbs::Map& image, nb::object among, const std::filesystem::path& path) {
  const base::Ranks ranks = ranks_from(among);
  without_gil([&] { verbs::write_npy(image, ranks, path); });
}

void bind_map(nb::module_& m) {
  nb::class_<verbs::Map>(m, "Map", "An image and what it shows.")
      .def_prop_ro(
          "values", [](nb::handle self) { return values_of(self); },
          "float64 array (ny, nx), lowest row first, NaN where no cell is; a view. Over several ranks: this rank's "
          "rows.")
      .def("rows", &rows_of, nb::arg("ranks").none(), nb::arg("first"), nb::arg("last"),
           "Rows first <= row < last on rank 0, None on other ranks. Collective over `ranks`.")
      .def("write_npy", &write_npy, nb::arg("ranks").none(), nb::arg("path"),
           "Writes a new .npy file; each rank writes its rows. Collective over `ranks`.")
      .def(
          "scale",
          [](verbs::Map& image, double factor, const std::string& unit) {
            for (double& value : image.values) value *= factor;
            image.unit = unit;
          },
          nb::arg("factor"), nb::arg("unit"),
          "Gives the values in another unit, `factor` of which make the present one.")
      .def("facts", &facts_of);
  m.def("map", &map, nb::arg("dataset"), nb::arg("field"), nb::arg("options"),
        "Projects a field along an axis. Releases the GIL. Collective over `ranks`.");
  m.def(
      "map",
      [](const mesh::Dataset& dataset, const std::string& field, const nb::kwargs& options) {
        return map(step::SharedStep(dataset), field, options);
      },
      nb::arg("dataset"), nb::arg("field"), nb::arg("options"));
}

// ---------------------------------------------------------------------------------------------- stats

/// None where nothing has a value.
nb::object place_of(const analysis::Extreme& extreme, int dim) {
  if (std::isnan(extreme.value)) return nb::none();
  nb::list at;
  for (int axis = 0; axis < dim; ++axis) at.append(extreme.centre[static_cast<std::size_t>(axis)]);
  return at;
}

nb::object level_of(const analysis::Extreme& extreme) {
  return std::isnan(extreme.value) ? nb::none() : nb::cast(extreme.level);
}

nb::dict describe(const analysis::Summary& summary, int dim) {
  nb::dict row;
  row["leaves"] = summary.cells;
  row["min"] = summary.min.value;
  row["min_at"] = place_of(summary.min, dim);
  row["min_level"] = level_of(summary.min);
  row["max"] = summary.max.value;
  row["max_at"] = place_of(summary.max, dim);
  row["max_level"] = level_of(summary.max);
  row["mean"] = summary.mean;
  row["volume_mean"] = summary.volume_mean;
  row["mass_mean"] = nb::cast(summary.mass_mean);
  row["sum"] = summary.sum;
  row["integral"] = summary.integral;
  row["nan"] = summary.nan;
  row["inf"] = summary.inf;
  return row;
}

nb::dict describe(const analysis::AttributeStatistics& attribute) {
  nb::dict row;
  row["count"] = attribute.count;
  if (attribute.integer && attribute.count > 0) {
    row["min"] = attribute.int_min;
    row["max"] = attribute.int_max;
    row["sum"] = attribute.int_sum;
  } else {
    row["min"] = attribute.min;
    row["max"] = attribute.max;
    row["sum"] = attribute.sum;
  }
  row["nan"] = attribute.nan;
  return row;
}

nb::dict describe_particles(const std::vector<analysis::SpeciesStatistics>& all) {
  nb::dict rows;
  for (const analysis::SpeciesStatistics& species : all)
    for (const analysis::AttributeStatistics& attribute : species.attributes)
      rows[nb::cast(all.size() == 1 ? attribute.name : species.name + "/" + attribute.name)] = describe(attribute);
  return rows;
}

nb::dict stats(const step::SharedStep& dataset, const nb::kwargs& arguments) {
  Keywords given(arguments);
  verbs::StatsOptions options;
  given.take("fields", options.fields);
  take_selection(given, dataset, options);
  given.take_named("edge", options.edge, edges());
  given.take("particles", options.particles);
  given.take_common(options);
  given.finish();
  const verbs::Stats stats = without_gil([&] { return verbs::stats(dataset, options); });
  nb::dict all;
  for (const analysis::FieldStatistics& field : stats.statistics.fields) {
    nb::dict row = describe(field.all, dataset.header.dim);
    row["unit"] = field.unit;
    nb::list levels;
    for (const analysis::LevelSummary& level : field.levels) {
      nb::dict one = describe(level.summary, dataset.header.dim);
      one["level"] = level.level;
      levels.append(one);
    }
    row["levels"] = levels;
    all[nb::cast(field.name)] = row;
  }
  nb::dict result;
  result["leaves"] = stats.statistics.leaves;
  result["volume"] = stats.statistics.volume;
  result["selection"] = stats.selection;
  result["fields"] = all;
  result["particles"] = describe_particles(stats.statistics.particles);
  return result;
}

// ---------------------------------------------------------------------------------------------- bins

verbs::BinBy bin_by(const nb::kwargs& arguments) {
  Keywords given(arguments);
  verbs::BinBy axis;
  given.take("field", axis.field);
  if (const auto kind = given.get<Text>("distance")) {
    verbs::BinBy::Around around;
    around.kind = named<analysis::Distance::Kind>("distance", *kind,
                                                  {{"radius", analysis::Distance::Kind::radius},
                                                   {"cylinder", analysis::Distance::Kind::cylinder},
                                                   {"height", analysis::Distance::Kind::height},
                                                   {"angle", analysis::Distance::Kind::angle}});
    given.take("centre", around.centre);
    given.take("normal", around.normal);
    axis.around = around;
  }
  const int bins = given.get<int>("bins", 64);
  if (bins < 1) throw base::Error(base::Kind::usage, "bins: expected 1 to 65536, found " + std::to_string(bins));
  axis.bins = static_cast<std::size_t>(bins);
  given.take("log", axis.log);
  given.take("range", axis.range);
  given.finish();
  return axis;
}

nb::dict describe(const verbs::Bins::Rest& rest) {
  nb::dict row;
  row["cells"] = rest.cells;
  row["weight"] = rest.weight;
  return row;
}

/// Arrays of shape (bins,), or of two axes (bins of the second, bins of the first).
nb::dict describe(verbs::Bins& bins) {
  std::vector<std::size_t> shape;
  nb::list axes;
  for (verbs::Bins::Axis& axis : bins.axes) {
    nb::dict row;
    row["name"] = axis.name;
    row["unit"] = axis.unit;
    row["log"] = axis.log;
    const std::size_t edges = axis.edges.size();
    shape.insert(shape.begin(), edges - 1);
    row["edges"] = to_array(std::move(axis.edges), {edges});
    axes.append(row);
  }
  if (shape.empty()) shape = {1};
  nb::dict fields;
  for (verbs::Bins::Field& field : bins.fields) {
    nb::dict row;
    row["unit"] = field.unit;
    row["mean"] = to_array(std::move(field.mean), shape);
    row["std"] = to_array(std::move(field.deviation), shape);
    row["min"] = to_array(std::move(field.min), shape);
    row["max"] = to_array(std::move(field.max), shape);
    nb::list percentiles;
    for (std::vector<double>& values : field.percentiles) percentiles.append(to_array(std::move(values), shape));
    row["percentiles"] = percentiles;
    row["counted"] = to_array(std::move(field.counted), shape);
    fields[nb::cast(field.name)] = row;
  }
  nb::dict out;
  out["axes"] = axes;
  out["cells"] = to_array(std::move(bins.cells), shape);
  out["weights"] = to_array(std::move(bins.weights), shape);
  out["fields"] = fields;
  out["weight"] = bins.weight;
  out["weight_unit"] = bins.weight_unit;
  out["all"] = describe(bins.all);
  out["beyond"] = describe(bins.beyond);
  out["nan"] = describe(bins.nan);
  out["unweighed"] = bins.unweighed;
  out["centre"] = bins.centre ? nb::cast(*bins.centre) : nb::none();
  out["selection"] = bins.selection;
  out["over_time"] = bins.over_time.empty() ? nb::none() : nb::cast(bins.over_time);
  out["time"] = bins.time;
  out["unit_length"] = bins.unit_length;
  out["unit_density"] = bins.unit_density;
  out["unit_time"] = bins.unit_time;
  out["parts_read"] = bins.parts.size();
  out["bytes_read"] = bins.bytes_read;
  return out;
}

void take_diagram(Keywords& given, verbs::BinsOptions& options) {
  for (nb::handle axis : given.get<nb::list>("axes")) options.axes.push_back(bin_by(nb::cast<nb::kwargs>(axis)));
  given.take("fields", options.fields);
  given.take("percentiles", options.percentiles);
  given.take("weight", options.weight);
}

nb::dict bins(const step::SharedStep& dataset, const nb::kwargs& arguments) {
  Keywords given(arguments);
  verbs::BinsOptions options;
  take_diagram(given, options);
  if (const auto samples = given.get<nb::object>("samples", nb::none()); !samples.is_none())
    options.particles = particle_source(samples, given.get<bool>("in_parts", true));
  take_selection(given, dataset, options);
  given.take_common(options);
  given.finish();
  verbs::Bins result = without_gil([&] { return verbs::bins(dataset, options); });
  return describe(result);
}

nb::list diagrams(const step::SharedStep& dataset, const nb::kwargs& arguments) {
  Keywords given(arguments);
  std::vector<verbs::BinsOptions> several;
  for (nb::handle one : given.get<nb::list>("diagrams")) {
    Keywords own(nb::cast<nb::kwargs>(one));
    take_diagram(own, several.emplace_back());
    own.finish();
  }
  if (several.empty()) throw base::Error(base::Kind::usage, "no diagram is asked for");
  take_selection(given, dataset, several.front());
  given.take_common(several.front());
  given.finish();
  std::vector<verbs::Bins> found = without_gil([&] { return verbs::diagrams(dataset, several); });
  nb::list out;
  for (verbs::Bins& one : found) out.append(describe(one));
  return out;
}

// ---------------------------------------------------------------------------------------------- cells

nb::object take(mesh::Field&& field) {
  auto* owned = new mesh::Field(std::move(field));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<mesh::Field*>(p); });
  const std::size_t shape[1] = {owned->size()};
  return array_on(owned->info.type, owned->bytes.data(), shape, owner, true);
}

/// Arguments of cells().
struct CellsOptions {
  Names fields{};
  std::optional<mesh::Region> region{};
  std::optional<int> max_level{};
  std::string where{};
  step::Definitions definitions{};
};

nb::dict cells(const mesh::Dataset& given, int part, const nb::kwargs& arguments) {
  Keywords keywords(arguments);
  CellsOptions options;
  keywords.take("fields", options.fields);
  take_selection(keywords, given, options);
  keywords.finish();
  std::vector<std::string> made = options.fields.value_or(std::vector<std::string>{});
  made.push_back(options.where);
  const mesh::Dataset dataset =
      step::with_fields(verbs::within_domains(given, options.region), made, options.definitions, given);
  analysis::Selection selection{options.region, std::numeric_limits<int>::max(), options.where};
  mesh::Request request;
  if (options.max_level) selection.max_level = request.max_level = *options.max_level;
  const mesh::Header& all = options.fields ? dataset.header : given.header;
  std::vector<std::string> names;
  for (const std::size_t f : mesh::select_fields(all, options.fields)) names.push_back(all.fields[f].name);
  request.fields = names;
  if (!options.where.empty()) request.fields->push_back(options.where);
  analysis::CellArrays arrays;
  {
    nb::gil_scoped_release release;
    arrays = analysis::cell_arrays(dataset.read(part, request), dataset.header, selection, names);
  }
  const std::size_t count = arrays.level.size();
  nb::dict result;
  for (mesh::Field& field : arrays.fields) {
    const nb::object name = nb::cast(field.info.name);
    result[name] = take(std::move(field));
  }
  result["x"] = to_array(std::move(arrays.x), {count});
  if (dataset.header.dim > 1) result["y"] = to_array(std::move(arrays.y), {count});
  if (dataset.header.dim > 2) result["z"] = to_array(std::move(arrays.z), {count});
  result["dx"] = to_array(std::move(arrays.dx), {count});
  result["level"] = to_array(std::move(arrays.level), {count});
  return result;
}

nb::dict places(const mesh::Dataset& given, const nb::kwargs& arguments) {
  Keywords keywords(arguments);
  verbs::PlaceTableOptions options;
  keywords.take("fields", options.fields);
  keywords.take("in_cells", options.in_cells);
  take_selection(keywords, given, options);
  keywords.finish();
  verbs::PlaceTable table = without_gil([&] { return verbs::place_table(given, options); });
  const std::size_t rows = table.x.size();
  nb::dict fields, result;
  for (std::size_t f = 0; f < table.names.size(); ++f)
    fields[nb::cast(table.names[f])] = to_array(std::move(table.fields[f]), {rows});
  result["in_cells"] = table.in_cells;
  result["fields"] = fields;
  result["x"] = to_array(std::move(table.x), {rows});
  result["y"] = to_array(std::move(table.y), {rows});
  if (!table.z.empty() || given.header.dim == 3) result["z"] = to_array(std::move(table.z), {rows});
  result["size"] = to_array(std::move(table.size), {rows});
  return result;
}

nb::dict plan(const mesh::Dataset& dataset, const nb::kwargs& arguments) {
  Keywords given(arguments);
  verbs::PlanOptions options;
  given.take("fields", options.fields);
  given.take("particles", options.particles);
  given.take("threads", options.threads);
  take_selection(given, dataset, options);
  given.finish();
  const verbs::Plan plan = without_gil([&] { return verbs::plan(dataset, options); });
  nb::dict result;
  result["parts"] = plan.parts;
  result["of"] = plan.of;
  result["cells"] = plan.leaves < 0 ? nb::none() : nb::cast(plan.leaves);
  result["bytes"] = plan.bytes;
  result["memory"] = plan.memory;
  result["selection"] = plan.selection;
  return result;
}

}  // namespace

void bind_analysis(nb::module_& m) {
  bind_map(m);
  m.def("stats", &stats, nb::arg("dataset"), nb::arg("options"),
        "Statistics over the selected owned leaf cells. Releases the GIL. Collective over `ranks`.");
  m.def(
      "stats",
      [](const mesh::Dataset& dataset, const nb::kwargs& options) { return stats(step::SharedStep(dataset), options); },
      nb::arg("dataset"), nb::arg("options"));
  m.def("bins", &bins, nb::arg("dataset"), nb::arg("options"),
        "Sums over the selected cells in bins of one or two quantities. Releases the GIL. Collective over `ranks`.");
  m.def("diagrams", &diagrams, nb::arg("dataset"), nb::arg("options"),
        "Several of bins() of one selection, in one pass: `diagrams` is a list of dicts with their axes, fields, "
        "percentiles "
        "and weight. Releases the GIL. Collective over `ranks`.");
  m.def(
      "diagrams",
      [](const mesh::Dataset& dataset, const nb::kwargs& options) {
        return diagrams(step::SharedStep(dataset), options);
      },
      nb::arg("dataset"), nb::arg("options"));
  m.def(
      "bins",
      [](const mesh::Dataset& dataset, const nb::kwargs& options) { return bins(step::SharedStep(dataset), options); },
      nb::arg("dataset"), nb::arg("options"));
  m.def("plan", &plan, nb::arg("dataset"), nb::arg("options"),
        "Tells what reading a selection takes at most, from headers alone: parts, cells, bytes, memory. Releases the "
        "GIL.");
  m.def("places", &places, nb::arg("dataset"), nb::arg("options"),
        "The selected points of triangles or solids, or their cells, as arrays: x, y, z, size (the area or volume that "
        "each stands for), fields by name, and whether they are cells. Releases the GIL.");
  m.def("cells", &cells, nb::arg("dataset"), nb::arg("part"), nb::arg("options"),
        "The selected cells of one part as arrays. Releases the GIL.");
}

}  // namespace octavo::bindings
