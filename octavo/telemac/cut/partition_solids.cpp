#include "octavo/telemac/cut/partition_solids.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "octavo/base/at.hpp"
#include "octavo/base/error.hpp"
#include "octavo/partition/solids.hpp"
#include "octavo/step/new_file.hpp"
#include "octavo/step/open.hpp"
#include "octavo/telemac/cut/cut_file.hpp"
#include "octavo/telemac/cut/partition_names.hpp"
#include "octavo/verbs/convert.hpp"

namespace octavo::telemac {
namespace {

namespace fs = std::filesystem;
using base::at;
using base::Error;
using base::Kind;

void require_possible(const fs::path& path, const PartitionOptions& options, const base::Ranks& ranks) {
  if (ranks.size > 1)
    throw Error(Kind::unsupported, "solids are cut in one process, not in " + std::to_string(ranks.size))
        .at(path.string())
        .hint("run it without mpirun");
  if (!options.any_layout && options.layout != PieceLayout::octavo)
    throw Error(Kind::unsupported, "pieces of TELEMAC are of triangles, and this mesh is of solids")
        .at(path.string())
        .hint("--layout octavo writes a store with the parts; --write-cut F.npy the part of each cell");
  if (has_boundary(options) || !options.also.empty() || options.sections || options.zones || options.weirs ||
      options.concat_sides)
    throw Error(Kind::unsupported,
                "boundary files, further results, sections, zones and weirs go with triangles, and "
                "this mesh is of solids")
        .at(path.string());
}

PartitionOptions known_options(const fs::path& path, PartitionOptions options) {
  options.layout = PieceLayout::octavo;
  if (options.parts != 0) return options;
  if (options.part_of)
    for (const std::int32_t part : *options.part_of) options.parts = std::max(options.parts, part + 1);
  else if (options.cut)
    options.parts = measure_cut(*options.cut).parts;
  else
    throw Error(Kind::usage, "expected a number of parts, or a cut").at(path.string()).hint("--parts P");
  return options;
}

/// The part of each cell, as it was given or by the method.
partition::PartVector cut_of(const mesh::Solids& mesh, const PartitionOptions& options,
                             std::vector<std::string>& notes) {
  const std::int64_t cells = std::ssize(mesh.corners);
  if (!options.cut && !options.part_of) {
    partition::SolidCut cut = partition::cut_solids(mesh, options.method, options.parts);
    note_filled(cut.filled, options, notes);
    return std::move(cut.part_of);
  }
  require_cut_of(options.cut ? measure_cut(*options.cut).elements : std::ssize(*options.part_of), cells, options);
  partition::PartVector part_of = options.cut ? read_cut(*options.cut, 0, cells) : *options.part_of;
  std::vector<bool> is_empty(at(options.parts), true);
  for (const std::int32_t part : part_of) {
    require_part(part, options);
    is_empty[at(part)] = false;
  }
  require_no_empty(std::count(is_empty.begin(), is_empty.end(), true), options);
  return part_of;
}

void write_cut(const partition::PartVector& part_of, const fs::path& path, step::NewFiles& files,
               PartitionReport& report) {
  const std::string bytes = encode_cut(path, part_of, 0, std::ssize(part_of));
  file::File file = files.make(path);
  file::pwrite_all(file, 0, std::as_bytes(std::span(bytes)));
  file.close();
  report.files.push_back(path);
}

}  // namespace

bool holds_solids(const fs::path& mesh) {
  const formats::Format* format = formats::format_there(mesh);
  return (store::recognise(mesh) || (format != nullptr && format->solids)) &&
         mesh::holds_solids(step::open(mesh).header);
}

PartitionReport partition_solids(const fs::path& path, const fs::path& prefix, const PartitionOptions& given,
                                 const base::Ranks& ranks) {
  require_possible(path, given, ranks);
  const PartitionOptions options = known_options(path, given);
  require_inputs_stay(path, prefix, options);
  const mesh::Dataset dataset = step::open(path);
  mesh::Request only;
  only.fields = std::vector<std::string>{};
  const auto mesh = std::get<mesh::Solids>(dataset.read(0, only).mesh);
  require_parts(options, std::ssize(mesh.corners), path);
  PartitionReport report;
  report.parts = options.parts;
  report.elements = std::ssize(mesh.corners);
  report.points = std::ssize(mesh.x);
  partition::PartVector part_of = cut_of(mesh, options, report.notes);
  report.quality = partition::quality_of(mesh, part_of, options.parts);
  step::NewFiles files;
  if (options.write_cut) write_cut(part_of, *options.write_cut, files, report);
  verbs::ConvertOptions convert;
  convert.flow = store::Flow::checkpoint;
  convert.part_of = std::move(part_of);
  convert.cut_parts = options.parts;
  convert.overwrite = true;
  convert.progress = options.progress;
  report.files.emplace_back(prefix.string() + "GEO.octavo");
  const verbs::ConvertReport written = verbs::convert({path}, report.files.back(), convert);
  report.notes.insert(report.notes.end(), written.notes.begin(), written.notes.end());
  files.publish();
  report.peak_bytes = peak_memory();
  return report;
}

}  // namespace octavo::telemac
