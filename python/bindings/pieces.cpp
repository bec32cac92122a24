#include "bindings.hpp"
#include "graph_cut.hpp"
#include "octavo/telemac/cut/partition.hpp"
#include "octavo/telemac/cut/refine_triangles.hpp"
#include "octavo/telemac/merge/merge_pieces.hpp"

namespace octavo::bindings {

base::Ranks ranks_from(const nb::object& ranks);

namespace {

using Path = std::filesystem::path;
using PartArray = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

telemac::PieceLayout layout_named(const std::string& name) {
  if (name == "concat") return telemac::PieceLayout::concat;
  if (name == "files") return telemac::PieceLayout::files;
  if (name == "med") return telemac::PieceLayout::med;
  if (name == "octavo") return telemac::PieceLayout::octavo;
  throw base::Error(base::Kind::usage, "no layout " + name + ": there are concat, files, med, octavo");
}

nb::dict partition(const Path& mesh, const Path& prefix, std::int32_t parts, const std::string& method,
                   const std::string& layout, std::optional<Path> boundary,
                   std::vector<telemac::PartitionOptions::Named> also, std::optional<Path> sections,
                   std::optional<Path> zones, std::optional<Path> weirs, std::optional<Path> cut,
                   const std::optional<PartArray>& part_of, std::optional<Path> write_cut, bool concat_sides,
                   bool overwrite, nb::object progress, const nb::object& ranks, const nb::object& scotch) {
  telemac::PartitionOptions options;
  options.parts = parts;
  options.method = partition::method_named(method);
  options.layout = layout_named(layout);
  options.boundary = std::move(boundary);
  options.also = std::move(also);
  options.sections = std::move(sections);
  options.zones = std::move(zones);
  options.weirs = std::move(weirs);
  options.cut = std::move(cut);
  if (part_of) options.part_of.emplace(part_of->data(), part_of->data() + part_of->size());
  options.write_cut = std::move(write_cut);
  options.concat_sides = concat_sides;
  options.overwrite = overwrite;
  options.progress = progress_from(std::move(progress));
  StopOnSignal guard;
  telemac::PartitionReport report;
  const base::Ranks among = ranks_from(ranks);
  const telemac::GraphCut by_ranks = scotch.is_none() ? telemac::GraphCut{} : nb::cast<BoundGraphCut>(scotch).cut;
  {
    nb::gil_scoped_release release;
    report = telemac::partition_mesh(mesh, prefix, options, among, by_ranks);
  }
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

nb::dict merge(const std::vector<Path>& pieces, const Path& out, std::optional<Path> mesh, std::optional<Path> boundary,
               bool overwrite, nb::object progress) {
  telemac::MergeOptions options;
  options.mesh = std::move(mesh);
  options.boundary = std::move(boundary);
  options.overwrite = overwrite;
  options.progress = progress_from(std::move(progress));
  StopOnSignal guard;
  telemac::MergeReport report;
  {
    nb::gil_scoped_release release;
    report = telemac::merge_pieces(pieces, out, options);
  }
  nb::dict result;
  result["parts"] = report.parts;
  result["elements"] = report.elements;
  result["points"] = report.points;
  result["steps"] = report.steps;
  result["bytes"] = report.bytes;
  result["notes"] = report.notes;
  return result;
}

nb::dict split(const Path& in, const std::vector<Path>& pieces, const Path& prefix, const std::string& layout,
               bool overwrite, nb::object progress) {
  telemac::SplitOptions options;
  options.overwrite = overwrite;
  options.layout = layout_named(layout);
  options.progress = progress_from(std::move(progress));
  StopOnSignal guard;
  telemac::SplitReport report;
  {
    nb::gil_scoped_release release;
    report = telemac::split_by_pieces(in, pieces, prefix, options);
  }
  nb::dict result;
  result["parts"] = report.parts;
  result["points"] = report.points;
  result["steps"] = report.steps;
  result["files"] = report.files;
  return result;
}

nb::dict refine(const Path& mesh, const Path& out, int times, std::optional<Path> boundary,
                std::optional<Path> boundary_out, bool overwrite, nb::object progress) {
  telemac::RefineOptions options;
  options.times = times;
  options.boundary = std::move(boundary);
  options.boundary_out = std::move(boundary_out);
  options.overwrite = overwrite;
  options.progress = progress_from(std::move(progress));
  StopOnSignal guard;
  telemac::RefineReport report;
  {
    nb::gil_scoped_release release;
    report = telemac::refine_triangles(mesh, out, options);
  }
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

void bind_pieces(nb::module_& m) {
  nb::class_<BoundGraphCut>(m, "GraphCut", "Cuts a graph that ranks share: what _mpi.scotch() gives.");
  m.def("partition", &partition, nb::arg("mesh"), nb::arg("prefix"), nb::kw_only(), nb::arg("parts"),
        nb::arg("method") = "metis", nb::arg("layout") = "concat", nb::arg("boundary") = nb::none(),
        nb::arg("also") = std::vector<telemac::PartitionOptions::Named>{}, nb::arg("sections") = nb::none(),
        nb::arg("zones") = nb::none(), nb::arg("weirs") = nb::none(), nb::arg("cut") = nb::none(),
        nb::arg("part_of") = nb::none(), nb::arg("write_cut") = nb::none(), nb::arg("concat_sides") = false,
        nb::arg("overwrite") = false, nb::arg("progress") = nb::none(), nb::arg("ranks") = nb::none(),
        nb::arg("scotch") = nb::none(), "Cuts a SERAFIN mesh into the pieces that TELEMAC reads. Releases the GIL.");
  m.def("merge", &merge, nb::arg("pieces"), nb::arg("out"), nb::kw_only(), nb::arg("mesh") = nb::none(),
        nb::arg("boundary") = nb::none(), nb::arg("overwrite") = false, nb::arg("progress") = nb::none(),
        "Puts SERAFIN pieces of a result together. Releases the GIL.");
  m.def("split", &split, nb::arg("path"), nb::arg("pieces"), nb::arg("prefix"), nb::kw_only(),
        nb::arg("layout") = "concat", nb::arg("overwrite") = false, nb::arg("progress") = nb::none(),
        "Cuts a SERAFIN result as pieces that are there. Releases the GIL.");
  m.def("refine", &refine, nb::arg("mesh"), nb::arg("out"), nb::kw_only(), nb::arg("times") = 1,
        nb::arg("boundary") = nb::none(), nb::arg("boundary_out") = nb::none(), nb::arg("overwrite") = false,
        nb::arg("progress") = nb::none(), "Cuts each triangle of a SERAFIN file into four. Releases the GIL.");
}

}  // namespace octavo::bindings
