#include "octavo/verbs/export/export.hpp"

#include "keywords.hpp"
#include "octavo/base/memory.hpp"
#include "octavo/formats/vtkhdf/join_steps.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/patches/octree_to_patches.hpp"
#include "octavo/step/shared.hpp"
#include "octavo/verbs/export/cube.hpp"
#include "selection.hpp"

/// Files for other programs.
namespace octavo::bindings {

namespace {

using Export = verbs::ExportReport (*)(const step::SharedStep&, const std::filesystem::path&,
                                       const verbs::ExportOptions&);

nb::dict export_as(const std::string& kind, const step::SharedStep& step, const std::filesystem::path& out,
                   const nb::kwargs& arguments) {
  Keywords given(arguments);
  verbs::ExportOptions options;
  given.take("fields", options.fields);
  given.take("species", options.species);
  given.take("single_precision", options.single_precision);
  take_selection(given, step, options);
  given.take_common(options);
  given.finish();
  const auto write = named<Export>("kind of export", kind,
                                   {{"htg", verbs::export_hyper_trees},
                                    {"amr", verbs::export_boxes},
                                    {"ug", verbs::export_cells},
                                    {"particles", verbs::export_particles}});
  const verbs::ExportReport report = without_gil([&] { return write(step, out, options); });
  nb::dict result;
  result["cells"] = report.cells;
  result["leaves"] = report.leaves;
  result["means"] = report.means;
  result["fields"] = report.fields;
  result["species"] = report.species;
  result["bytes"] = report.bytes;
  result["parts_read"] = report.parts.size();
  result["selection"] = report.selection;
  result["notes"] = report.notes;
  return result;
}

struct CubeOptions {
  std::optional<mesh::Region> region;
  std::optional<int> max_level;
  std::string where;
  step::Definitions definitions;
};

/// Units by field, stored or not.
nb::dict units_of(const mesh::Dataset& dataset, const std::vector<std::string>& fields,
                  const step::Definitions& definitions) {
  nb::dict units;
  const mesh::Header header = step::with_fields(dataset, fields, definitions).header;
  for (const std::string& field : fields)
    units[nb::cast(field)] = header.fields[mesh::select_fields(header, std::vector{field}).front()].unit;
  return units;
}

/// Arrays of shape (z, y, x), as many axes as the data have, their units, and where they lie. The level is `max_level`,
/// else the finest.
nb::dict cube_of(const mesh::Dataset& dataset, const std::vector<std::string>& fields, const nb::kwargs& arguments) {
  Keywords given(arguments);
  CubeOptions options;
  take_selection(given, dataset, options);
  given.finish();
  const auto dim = static_cast<std::size_t>(dataset.header.dim);
  const int finest = dataset.levels.empty() ? 0 : dataset.levels.back().level;
  nb::dict values;
  verbs::Cube cube;
  {
    const nb::gil_scoped_release free;
    cube = verbs::cube_over(dataset, options.region, std::min(options.max_level.value_or(finest), finest));
  }
  std::vector<std::size_t> shape;
  for (std::size_t axis = dim; axis-- > 0;)
    shape.push_back(static_cast<std::size_t>(cube.box.hi[axis] - cube.box.lo[axis]));
  const auto cells = static_cast<std::size_t>(mesh::num_cells(cube.box, 3));
  base::need_memory(cells * sizeof(double) * std::max<std::size_t>(1, fields.size()),
                    "a cube of " + std::to_string(cells) + " cells");
  for (const std::string& field : fields) {
    std::vector<double> found;
    without_gil([&] {
      found.resize(cells);
      verbs::read_cube(dataset, cube, options.region, field, options.where, options.definitions, found);
    });
    values[nb::cast(field)] = to_array(std::move(found), shape);
  }
  const auto listed = [&](const auto& all) {
    return std::vector(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(dim));
  };
  nb::dict result;
  result["level"] = cube.level;
  result["first"] = listed(cube.box.lo);
  result["corner"] = listed(cube.corner);
  result["cell"] = listed(cube.cell);
  result["fields"] = values;
  result["units"] = units_of(dataset, fields, options.definitions);
  return result;
}

/// The boxes that the cells of a part make, of the levels from `coarsest` on: dicts of level (from 0), lower and upper
/// index, and fields, flat, x fastest.
nb::list boxes_of_part(const mesh::Dataset& dataset, int number, int coarsest, const std::vector<std::string>& fields,
                       const nb::kwargs& arguments) {
  Keywords given(arguments);
  CubeOptions options;
  take_selection(given, dataset, options);
  given.finish();
  mesh::Part part = without_gil([&] {
    mesh::Request request;
    request.fields = fields;
    request.max_level = options.max_level.value_or(request.max_level);
    mesh::PatchOptions how;
    how.unfolded = mesh::level_index(dataset.header, coarsest);
    return mesh::octree_to_patches(step::with_fields(dataset, fields, options.definitions).read(number, request), how);
  });
  std::vector<std::vector<double>> values;
  for (const std::string& name : fields)
    for (const mesh::Field& field : part.fields)
      if (field.info.name == name) values.push_back(mesh::to_doubles(field));
  nb::list all;
  std::size_t first = 0;
  const auto& levels = std::get<mesh::Patches>(part.mesh).boxes;
  for (std::size_t level = 0; level < levels.size(); ++level)
    for (const mesh::IndexBox& box : levels[level]) {
      const auto cells = static_cast<std::size_t>(mesh::num_cells(box, 3));
      nb::dict one, own;
      for (std::size_t f = 0; f < fields.size(); ++f) {
        const double* begin = values[f].data() + first;
        own[nb::cast(fields[f])] = to_array(std::vector<double>(begin, begin + cells), {cells});
      }
      one["level"] = level;
      one["lower"] = box.lo;
      one["upper"] = box.hi;
      one["fields"] = own;
      all.append(one);
      first += cells;
    }
  return all;
}

}  // namespace

void bind_export(nb::module_& m) {
  m.def(
      "join_steps",
      [](const std::vector<std::filesystem::path>& steps, const std::vector<double>& times,
         const std::filesystem::path& out) { without_gil([&] { formats::vtkhdf::join_steps(steps, times, out); }); },
      nb::arg("steps"), nb::arg("times"), nb::arg("out"),
      "Makes one VTKHDF file of files of one step each, of export_as \"htg\" or \"ug\". Releases the GIL.");
  m.def("export_as", &export_as, nb::arg("kind"), nb::arg("dataset"), nb::arg("out"), nb::arg("options"),
        "Writes the selected cells or particles as a VTKHDF file: \"htg\", \"amr\", \"ug\" or \"particles\". Releases "
        "the GIL. "
        "Collective over `ranks`.");
  m.def(
      "export_as",
      [](const std::string& kind, const mesh::Dataset& dataset, const std::filesystem::path& out,
         const nb::kwargs& options) { return export_as(kind, step::SharedStep(dataset), out, options); },
      nb::arg("kind"), nb::arg("dataset"), nb::arg("out"), nb::arg("options"));
  m.def("cube", &cube_of, nb::arg("dataset"), nb::arg("fields"), nb::arg("options"),
        "Fields on a uniform grid of the cells of a level over the selection. Releases the GIL.");
  m.def("boxes", &boxes_of_part, nb::arg("dataset"), nb::arg("part"), nb::arg("coarsest"), nb::arg("fields"),
        nb::arg("options"), "The cells of a part as boxes on levels. Releases the GIL.");
}

}  // namespace octavo::bindings
