#include "octavo/telemac/cut/partition.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/partition/graph.hpp"
#include "octavo/step/boundary_groups.hpp"
#include "octavo/store/read/triangles.hpp"
#include "octavo/telemac/cut/as_serafin.hpp"
#include "octavo/telemac/cut/cut_file.hpp"
#include "octavo/telemac/cut/cut_mesh.hpp"
#include "octavo/telemac/cut/cut_steps.hpp"
#include "octavo/telemac/cut/med_pieces.hpp"
#include "octavo/telemac/cut/partition_names.hpp"
#include "octavo/telemac/cut/same_mesh.hpp"
#include "octavo/telemac/cut/side_files.hpp"
#include "octavo/telemac/cut/stored_cut.hpp"
#include "octavo/telemac/files/piece_text.hpp"
#include "octavo/verbs/convert.hpp"

namespace octavo::telemac {
namespace {

namespace fs = std::filesystem;
namespace serafin = formats::serafin;
using base::Error;
using base::Kind;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

partition::PartVector cut_by_method(const CutMesh& mesh, const PartitionOptions& options) {
  switch (options.method) {
    case partition::Method::metis: return partition::cut_metis(mesh.connectivity, mesh.points, options.parts);
    case partition::Method::scotch: return partition::cut_scotch(mesh.connectivity, mesh.points, options.parts);
    case partition::Method::hilbert: return partition::cut_joined(mesh.connectivity, mesh.x, mesh.y, options.parts);
    default: break;
  }
  partition::PartVector part_of = partition::cut_inertial(mesh.connectivity, mesh.x, mesh.y, options.parts);
  if (options.parts > 1)
    partition::smooth_cuts(partition::find_behind(mesh.connectivity, mesh.points), options.parts, part_of);
  return part_of;
}

partition::PartVector cut(const CutMesh& mesh, const PartitionOptions& options, std::vector<std::string>& notes) {
  if (options.part_of) {
    require_cut_of(std::ssize(*options.part_of), std::ssize(mesh.connectivity) / 3, options);
    for (const std::int32_t part : *options.part_of) require_part(part, options);
    return *options.part_of;
  }
  partition::PartVector part_of = cut_by_method(mesh, options);
  std::vector<bool> stays;
  if (options.boundary_first) {
    stays = put_boundary_first(
        mesh.connectivity, [&](std::int32_t point) { return mesh.rank[at(point)] != 0; }, part_of);
    const std::int64_t along = std::count(stays.begin(), stays.end(), true);
    require_parts_off_boundary(along, std::ssize(part_of), options);
    note_boundary_first(along, notes);
  }
  // Last, as the boundary's elements may be all that a part had.
  note_filled(partition::fill_empty_parts(mesh.connectivity, mesh.x, mesh.y, options.parts, part_of, stays), options,
              notes);
  return part_of;
}

void write_cut(step::NewFiles& files, const fs::path& path, const partition::PartVector& part_of) {
  constexpr std::size_t batch = 1 << 16;
  file::File file = files.make(path);
  std::uint64_t end = 0;
  for (std::size_t first = 0; first < part_of.size(); first += batch) {
    const auto some = std::span(part_of).subspan(first, std::min(batch, part_of.size() - first));
    const std::string bytes = encode_cut(path, some, static_cast<std::int64_t>(first), std::ssize(part_of));
    file::pwrite_all(file, end, std::as_bytes(std::span(bytes)));
    end += bytes.size();
  }
  file.close();
}

std::int64_t count_empty(const CutMesh& mesh) {
  std::int64_t empty = 0;
  for (std::int32_t part = 0; part < mesh.parts; ++part) empty += partition::elements_of(mesh.lists, part).empty();
  return empty;
}

/// A SERAFIN file and where its pieces go.
struct Input {
  serafin::Series series;
  PieceWriter writer;
  serafin::Header like{};  ///< of its pieces
  std::vector<PiecePlace> places{};
  std::unique_ptr<MedPieces> med{};  ///< then nothing is written by `writer`
  std::optional<fs::path> store{};   ///< no more then
};

fs::path named(const fs::path& prefix, const std::string& name) { return prefix.string() + name; }

/// Everything that is written, kind by kind.
struct Output {
  step::NewFiles& files;
  std::deque<Input> inputs;  // that stay where they are
  PieceWriter conditions, neighbours;
  Buckets points;  ///< of all parts, for their steps
};

void add_input(Output& output, const fs::path& path, const fs::path& prefix, const CutMesh& mesh, PieceLayout layout) {
  Input& input = output.inputs.emplace_back(
      Input{serafin::open_series(path), {output.files, prefix, mesh.parts, layout, IndexKind::bytes}});
  const bool is_geometry = &input == &output.inputs.front();
  input.like = is_geometry ? geometry_header(input.series.header) : input.series.header;
  if (!is_geometry) require_same_mesh({}, output.inputs.front().series, input.series);
  if (layout == PieceLayout::octavo) input.store = prefix.string() + ".octavo";
  if (layout == PieceLayout::med) input.med = std::make_unique<MedPieces>(prefix.string() + ".med", input.series);
}

/// Before any work: what a store cannot hold is not cut for one.
void require_room(const serafin::Series& series, const fs::path& path, PieceLayout layout) {
  if (layout == PieceLayout::octavo && at(serafin::plane_points(series.header)) >= store::most_triangle_points)
    throw Error(Kind::unsupported, "a store holds meshes of 1 to " + std::to_string(store::most_triangle_points - 1) +
                                       " points a plane, found " + std::to_string(serafin::plane_points(series.header)))
        .at(path.string())
        .hint("--layout concat");
}

/// Room for all parts' points at once: vectors that double would take twice the memory.
void reserve_points(const CutMesh& mesh, Buckets& points) {
  points.first.reserve(at(mesh.parts) + 1);
  points.first.push_back(0);
  points.items.reserve(at(mesh.points) + mesh.shared.parts.size() - mesh.shared.points.size());
}

void write_pieces(const CutMesh& mesh, const CutBoundary* boundary, bool parallel, Output& output) {
  reserve_points(mesh, output.points);
  std::vector<std::int32_t> local(at(mesh.points), 0);
  // As MedPieces has them.
  const bool groups = parallel && output.inputs.front().med != nullptr;
  for (std::int32_t part = 0; part < mesh.parts; ++part) {
    const Piece piece = make_piece(mesh, boundary, part, local);
    for (Input& input : output.inputs)
      if (input.med)
        input.med->add(piece);
      else if (!input.store)
        input.places.push_back(place_piece(input.series, input.like, input.writer, piece));
    if (boundary != nullptr) output.conditions.next(groups ? boundary_groups_text(piece) : boundary_text(piece));
    if (parallel) output.neighbours.next(parallel_text(piece));
    output.points.items.insert(output.points.items.end(), piece.points.begin(), piece.points.end());
    output.points.first.push_back(static_cast<std::int64_t>(output.points.items.size()));
  }
}

/// All steps, as checkpoints: what runs start from.
void write_store(const Input& input, const CutMesh& mesh, const CutBoundary* boundary,
                 const PartitionOptions& options) {
  verbs::ConvertOptions convert_options;
  convert_options.flow = store::Flow::checkpoint;
  convert_options.part_of = mesh.part_of;
  convert_options.cut_parts = mesh.parts;
  if (boundary != nullptr) convert_options.boundary = stored_boundary(boundary->points);
  convert_options.overwrite = true;
  convert_options.progress = options.progress;
  verbs::convert({input.series.file->path()}, *input.store, convert_options);
}

void collect(PartitionReport& report, PieceWriter& writer) {
  for (fs::path& path : writer.finish()) report.files.push_back(std::move(path));
}

void write_texts(step::NewFiles& files, const std::vector<std::string>& texts, const fs::path& prefix,
                 PieceLayout layout, PartitionReport& report) {
  PieceWriter writer(files, prefix, static_cast<std::int32_t>(texts.size()), layout, IndexKind::lines);
  for (const std::string& text : texts) writer.next(text);
  collect(report, writer);
}

std::vector<Section> trace(const CutMesh& mesh, const PartitionOptions& options) {
  if (!options.sections) return {};
  const base::Ranks alone;
  return trace_sections(*options.sections, {alone, mesh.points, mesh.connectivity, nullptr, mesh.x, mesh.y});
}

void write_sides(Output& output, const fs::path& prefix, const CutMesh& mesh, const std::vector<Section>& sections,
                 const PartitionOptions& options, PartitionReport& report) {
  const base::Ranks alone;
  const PieceLayout layout = side_layout(options);
  const SideParts parts{alone, mesh.points, mesh.parts, 0, output.points};
  const auto write = [&](const char* name, const std::vector<std::string>& texts) {
    write_texts(output.files, texts, named(prefix, name), layout, report);
  };
  if (options.sections) write("SEC", cut_sections(sections, parts));
  if (options.zones) write("ZFI", cut_zones(*options.zones, parts));
  if (options.weirs) write("SEU", cut_weirs(*options.weirs, parts));
}

/// The cut in memory, and the number of its parts known.
PartitionOptions with_given_cut(PartitionOptions options) {
  if (options.cut) options.part_of = read_cut(*options.cut, 0, measure_cut(*options.cut).elements);
  if (options.parts == 0 && !options.part_of->empty())
    options.parts = *std::max_element(options.part_of->begin(), options.part_of->end()) + 1;
  return options;
}

}  // namespace

bool is_artemis(const fs::path& prefix) { return prefix.filename() == "ART"; }

std::vector<bool> put_boundary_first(std::span<const std::int32_t> connectivity,
                                     const std::function<bool(std::int32_t)>& is_on_boundary,
                                     partition::PartVector& part_of) {
  std::vector<bool> along(part_of.size(), false);
  for (std::size_t e = 0; e < part_of.size(); ++e) {
    const auto corners = connectivity.subspan(3 * e, 3);
    if (std::none_of(corners.begin(), corners.end(), is_on_boundary)) continue;
    part_of[e] = 0;
    along[e] = true;
  }
  return along;
}

void note_boundary_first(std::int64_t elements, std::vector<std::string>& notes) {
  notes.push_back("of ARTEMIS's pieces (prefix ART) the first has all " + std::to_string(elements) +
                  " elements along the boundary, as partel cuts for it");
}

void note_filled(std::int64_t empty, const PartitionOptions& options, std::vector<std::string>& notes) {
  if (empty > 0)
    notes.push_back(std::string(partition::name_of(options.method)) +
                    (options.boundary_first ? " with the boundary in the first part left " : " left ") +
                    std::to_string(empty) + " of " + std::to_string(options.parts) +
                    " parts without an element: each got half of a larger one");
}

void require_own_names(const PartitionOptions& options) {
  std::set<std::string> taken{"GEO", "CLI", "PAR", "SEC", "ZFI", "SEU"};
  for (const auto& [name, path] : options.also)
    if (!taken.insert(name).second)
      throw Error(Kind::usage, "two inputs would have pieces called " + name)
          .at(path.string())
          .hint("--also NAME=FILE gives it a name; GEO, CLI, PAR, SEC, ZFI and SEU are taken");
}

void check_sides(const PartitionOptions& options, std::int32_t points) {
  if (options.zones) check_zones(*options.zones, points);
  if (options.weirs) check_weirs(*options.weirs, points);
}

PieceLayout side_layout(const PartitionOptions& options) {
  return options.concat_sides || options.layout == PieceLayout::files ? options.layout : PieceLayout::files;
}

PartitionReport partition_mesh(const fs::path& path, const fs::path& prefix, const PartitionOptions& options) {
  require_own_names(options);
  const bool is_given = options.cut || options.part_of;
  PartitionOptions known = is_given             ? with_given_cut(options)
                           : options.parts == 0 ? with_stored_cut(path, options)
                                                : options;
  known.boundary_first = options.boundary_first || is_artemis(prefix);
  require_inputs_stay(path, prefix, known);
  const InputsAsSerafin inputs({}, path, prefix, known);
  PartitionReport report = partition_serafin(inputs.mesh, prefix, inputs.options);
  report.notes.insert(report.notes.begin(), inputs.notes.begin(), inputs.notes.end());
  return report;
}

std::int64_t peak_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

PartitionReport partition_serafin(const fs::path& path, const fs::path& prefix, const PartitionOptions& options) {
  require_own_names(options);
  require_inputs_stay(path, prefix, options);
  PartitionReport report;
  const serafin::Series series = serafin::open_series(path);
  require_room(series, path, options.layout);  // and of further inputs: they are on this mesh
  CutMesh mesh = read_cut_mesh(series);
  mesh.parts = options.parts;
  require_parts(options, static_cast<std::int64_t>(mesh.connectivity.size() / 3), path);
  const std::vector<Section> sections = trace(mesh, options);
  check_sides(options, mesh.points);
  step::NewFiles files;
  Output output{files,
                {},
                {files, named(prefix, "CLI"), mesh.parts, options.layout, IndexKind::lines},
                {files, named(prefix, "PAR"), mesh.parts, options.layout, IndexKind::text},
                {}};
  add_input(output, path, named(prefix, "GEO"), mesh, options.layout);
  for (const auto& [name, also] : options.also) add_input(output, also, named(prefix, name), mesh, options.layout);
  std::optional<CutBoundary> boundary;
  if (options.boundary)
    boundary = read_cut_boundary(*options.boundary, mesh);
  else if (options.conditions)
    boundary = trace_cut_boundary(*options.conditions, mesh, path);
  note_turns(find_turns(mesh), report.notes);
  mesh.rank = find_ranks(series, boundary ? &*boundary : nullptr, mesh, report.notes);
  mesh.part_of = cut(mesh, options, report.notes);
  try {
    find_neighbours(mesh);
  } catch (Error& error) {  // an edge of three elements
    error.at(path.string());
    throw;
  }
  require_no_empty(count_empty(mesh), options);
  if (boundary) share_boundary(mesh, *boundary);
  report.parts = mesh.parts;
  report.elements = static_cast<std::int64_t>(mesh.part_of.size());
  report.points = mesh.points;
  report.quality = partition::quality_of(mesh.lists, mesh.part_of, mesh.shared, mesh.halo);

  const bool parallel = boundary && serafin::planes(series.header) == 1 && mesh.parts > 1;
  if (parallel && options.layout == PieceLayout::med) step::note_lost_values(boundary->points, report.notes);
  if (options.write_cut) {
    write_cut(files, *options.write_cut, mesh.part_of);
    report.files.push_back(*options.write_cut);
  }
  write_pieces(mesh, boundary ? &*boundary : nullptr, parallel, output);
  for (Input& input : output.inputs) {
    if (input.store) {
      write_store(input, mesh, boundary ? &*boundary : nullptr, options);
      report.files.push_back(*input.store);
      continue;
    }
    if (input.med) {
      report.files.push_back(input.med->finish(output.points, options.progress));
      continue;
    }
    cut_steps(input.series, input.writer, input.places, output.points, options.progress);
    collect(report, input.writer);
  }
  if (boundary) collect(report, output.conditions);
  if (parallel) collect(report, output.neighbours);
  write_sides(output, prefix, mesh, sections, options, report);
  files.publish();
  report.peak_bytes = peak_memory();
  return report;
}

}  // namespace octavo::telemac
