#include "octavo/verbs/export/export.hpp"

#include "keywords.hpp"
#include "octavo/step/shared.hpp"
#include "selection.hpp"

/// Files for other programs.
namespace octavo::bindings {

namespace {

nb::dict export_step(const step::SharedStep& step, const std::filesystem::path& out, const nb::kwargs& arguments) {
  Keywords given(arguments);
  verbs::ExportOptions options;
  given.take("fields", options.fields);
  given.take("single_precision", options.single_precision);
  take_selection(given, step, options);
  given.take_common(options);
  given.finish();
  const verbs::ExportReport report = without_gil([&] { return verbs::export_hyper_trees(step, out, options); });
  nb::dict result;
  result["cells"] = report.cells;
  result["leaves"] = report.leaves;
  result["means"] = report.means;
  result["fields"] = report.fields;
  result["bytes"] = report.bytes;
  result["parts_read"] = report.parts.size();
  result["selection"] = report.selection;
  result["notes"] = report.notes;
  return result;
}

}  // namespace

void bind_export(nb::module_& m) {
  m.def("export_hyper_trees", &export_step, nb::arg("dataset"), nb::arg("out"), nb::arg("options"),
        "Writes the selected cells as a hyper tree grid for VTK. Releases the GIL. Collective over `ranks`.");
  m.def(
      "export_hyper_trees",
      [](const mesh::Dataset& dataset, const std::filesystem::path& out, const nb::kwargs& options) {
        return export_step(step::SharedStep(dataset), out, options);
      },
      nb::arg("dataset"), nb::arg("out"), nb::arg("options"));
}

}  // namespace octavo::bindings
