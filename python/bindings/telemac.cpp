#include "graph_cut.hpp"
#include "keywords.hpp"
#include "octavo/telemac/cut/partition.hpp"
#include "octavo/telemac/cut/refine_triangles.hpp"
#include "octavo/telemac/merge/merge_pieces.hpp"

namespace octavo::bindings {

namespace {

using Path = std::filesystem::path;
using PartArray = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void take_layout(Keywords& given, telemac::PieceLayout& layout) {
  given.take_named("layout", layout,
                   {{"concat", telemac::PieceLayout::concat},
                    {"files", telemac::PieceLayout::files},
                    {"med", telemac::PieceLayout::med},
                    {"octavo", telemac::PieceLayout::octavo}});
}

nb::dict partition(const Path& mesh, const Path& prefix, const nb::kwargs& arguments) {
  Keywords given(arguments);
  telemac::PartitionOptions options;
  given.take("parts", options.parts);
  options.method = partition::method_named(given.get<std::string>("method", "metis"));
  take_layout(given, options.layout);
  given.take("any_layout", options.any_layout);
  given.take("boundary", options.boundary);
  given.take("also", options.also);
  given.take("sections", options.sections);
  given.take("zones", options.zones);
  given.take("weirs", options.weirs);
  given.take("cut", options.cut);
  if (const auto part_of = given.get<std::optional<PartArray>>("part_of"))
    options.part_of.emplace(part_of->data(), part_of->data() + part_of->size());
  given.take("write_cut", options.write_cut);
  given.take("concat_sides", options.concat_sides);
  given.take_common(options);
  const base::Ranks among = ranks_from(given.get<nb::object>("ranks", nb::none()));
  const auto scotch = given.get<nb::object>("scotch", nb::none());
  given.finish();
  const telemac::GraphCut by_ranks = scotch.is_none() ? telemac::GraphCut{} : nb::cast<BoundGraphCut>(scotch).cut;
  const telemac::PartitionReport report =
      without_gil([&] { return telemac::partition_mesh(mesh, prefix, options, among, by_ranks); });
  nb::dict result;
  result["parts"] = report.parts;
  result["elements"] = report.elements;
  result["points"] = report.points;
  result["fewest_elements"] = report.quality.fewest;
  result["most_elements"] = report.quality.most;
  result["cut_edges"] = report.quality.cut_edges;
  result["shared_points"] = report.quality.shared_points;
  result["most_neighbours"] = report.quality.most_neighbours;
  result["peak_bytes"] = report.peak_bytes;
  result["files"] = report.files;
  result["notes"] = report.notes;
  return result;
}

nb::dict merge(const std::vector<Path>& pieces, const Path& out, const nb::kwargs& arguments) {
  Keywords given(arguments);
  telemac::MergeOptions options;
  given.take("mesh", options.mesh);
  given.take("boundary", options.boundary);
  given.take_common(options);
  given.finish();
  const telemac::MergeReport report = without_gil([&] { return telemac::merge_pieces(pieces, out, options); });
  nb::dict result;
  result["parts"] = report.parts;
  result["elements"] = report.elements;
  result["points"] = report.points;
  result["steps"] = report.steps;
  result["bytes"] = report.bytes;
  result["notes"] = report.notes;
  return result;
}

nb::dict split(const Path& in, const std::vector<Path>& pieces, const Path& prefix, const nb::kwargs& arguments) {
  Keywords given(arguments);
  telemac::SplitOptions options;
  take_layout(given, options.layout);
  given.take_common(options);
  given.finish();
  const telemac::SplitReport report =
      without_gil([&] { return telemac::split_by_pieces(in, pieces, prefix, options); });
  nb::dict result;
  result["parts"] = report.parts;
  result["points"] = report.points;
  result["steps"] = report.steps;
  result["files"] = report.files;
  return result;
}

nb::dict refine(const Path& mesh, const Path& out, const nb::kwargs& arguments) {
  Keywords given(arguments);
  telemac::RefineOptions options;
  given.take("times", options.times);
  given.take("boundary", options.boundary);
  given.take("boundary_out", options.boundary_out);
  given.take_common(options);
  given.finish();
  const telemac::RefineReport report = without_gil([&] { return telemac::refine_triangles(mesh, out, options); });
  nb::dict result;
  result["elements"] = report.elements;
  result["points"] = report.points;
  result["steps"] = report.steps;
  result["boundary_points"] = report.boundary_points;
  result["notes"] = report.notes;
  result["bytes"] = report.bytes;
  return result;
}

}  // namespace

void bind_telemac(nb::module_& m) {
  nb::class_<BoundGraphCut>(m, "GraphCut", "Cuts a graph that ranks share: what _mpi.scotch() gives.");
  m.def("partition", &partition, nb::arg("mesh"), nb::arg("prefix"), nb::arg("options"),
        "Cuts a SERAFIN mesh into the pieces that TELEMAC reads. Releases the GIL.");
  m.def("merge", &merge, nb::arg("pieces"), nb::arg("out"), nb::arg("options"),
        "Puts SERAFIN pieces of a result together. Releases the GIL.");
  m.def("split", &split, nb::arg("path"), nb::arg("pieces"), nb::arg("prefix"), nb::arg("options"),
        "Cuts a SERAFIN result in the same way as existing pieces. Releases the GIL.");
  m.def("refine", &refine, nb::arg("mesh"), nb::arg("out"), nb::arg("options"),
        "Cuts each triangle of a SERAFIN file into four. Releases the GIL.");
}

}  // namespace octavo::bindings
