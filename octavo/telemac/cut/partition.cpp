#include "octavo/telemac/cut/partition.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/base/release.hpp"
#include "octavo/telemac/cut/as_serafin.hpp"
#include "octavo/telemac/cut/cut_file.hpp"
#include "octavo/telemac/cut/partition_names.hpp"
#include "octavo/telemac/cut/partition_solids.hpp"
#include "octavo/telemac/cut/same_mesh.hpp"
#include "octavo/telemac/cut/shared_cut.hpp"
#include "octavo/telemac/cut/stored_cut.hpp"
#include "octavo/telemac/cut/write_pieces.hpp"

namespace octavo::telemac {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

std::vector<Section> trace(const SharedJob& job, const ElementBlock& block) {
  if (!job.options.sections) return {};
  return trace_sections(*job.options.sections,
                        {job.ranks, job.points, block.triangles, &block.places.set, block.places.x, block.places.y});
}

partition::Quality quality_of(const SharedJob& job, const std::vector<GrowingPiece>& pieces, std::int64_t cut_edges,
                              std::int64_t shared) {
  std::vector<std::array<std::int64_t, 2>> mine;  // elements, neighbours
  for (const GrowingPiece& growing : pieces)
    mine.push_back(
        {static_cast<std::int64_t>(growing.piece.connectivity.size() / 3),
         static_cast<std::int64_t>(std::set(growing.piece.sharers.begin(), growing.piece.sharers.end()).size())});
  partition::Quality quality;
  quality.fewest = job.elements;
  std::int64_t empty = 0;
  for (const auto& [elements, neighbours] : base::gather(job.ranks, mine)) {
    quality.fewest = std::min(quality.fewest, elements);
    empty += elements == 0;
    quality.most = std::max(quality.most, elements);
    quality.most_neighbours = std::max(quality.most_neighbours, static_cast<std::int32_t>(neighbours));
  }
  require_no_empty(empty, job.options);  // all ranks know
  const auto sums = base::sum<std::int64_t>(job.ranks, {cut_edges, shared});
  quality.cut_edges = sums[0];
  quality.shared_points = sums[1];
  return quality;
}

void require_possible(const PartitionOptions& options, const base::Ranks& ranks, const GraphCut& scotch) {
  require_own_names(options);
  if (ranks.size > 1 && !ranks.all_to_all)
    throw Error(Kind::usage, "several processes need an exchange of all with all");
  if (options.cut || options.part_of || ranks.size == 1) return;
  if (options.method == partition::CutMethod::metis)
    throw Error(Kind::unsupported, "METIS cuts in one process only")
        .hint("--method scotch, which cuts as few edges, or hilbert or inertial; or run it without mpirun");
  if (options.method == partition::CutMethod::scotch && !scotch)
    throw Error(Kind::unsupported, "this build has no PT-Scotch, by which several processes cut")
        .hint("install libptscotch-dev and build again, or take --method inertial");
  if (options.parts == 0)
    throw Error(Kind::unsupported, "the cut that a store has is taken by one process").hint("run it without mpirun");
}

/// With the number of parts that a given cut has, which rank 0 looks through, or with the cut that a store has.
PartitionOptions with_parts(const base::Ranks& ranks, const fs::path& path, PartitionOptions options) {
  if (options.parts != 0) return options;
  if (!options.cut && !options.part_of) return with_stored_cut(path, std::move(options));
  std::int32_t parts = 0;
  base::agree(ranks, [&] {
    if (ranks.rank != 0) return;
    if (options.part_of)
      for (const std::int32_t part : *options.part_of) parts = std::max(parts, part + 1);
    else
      parts = measure_cut(*options.cut).parts;
  });
  options.parts = base::from_first(ranks, parts);
  return options;
}

/// A cut in a file that is not the mesh's is so before it is read by all.
void require_size_of_cut(const SharedJob& job) {
  base::agree(job.ranks, [&] {
    if (job.options.cut && job.ranks.rank == 0)
      require_cut_of(measure_cut(*job.options.cut).elements, job.elements, job.options);
  });
}

/// Rank 0's findings, on all ranks.
void tell_report(const base::Ranks& ranks, PartitionReport& report) {
  report.notes = base::from_first(ranks, report.notes);
  std::vector<std::string> files;
  for (const fs::path& file : report.files) files.push_back(file.string());
  files = base::from_first(ranks, files);
  report.files.assign(files.begin(), files.end());
  report.quality = base::from_first(ranks, report.quality);
}

PartitionReport partition_shared(const fs::path& path, const fs::path& prefix, const PartitionOptions& options,
                                 const base::Ranks& ranks, const GraphCut& scotch);

/// Into one file that one process writes, MED or a store: rank 0 has the whole mesh then.
PartitionReport write_by_root(const SharedJob& job, const partition::PartVector& mine, const fs::path& path,
                              const fs::path& prefix, PartitionReport report) {
  std::vector<partition::PartVector> to(job.size());
  to[0] = mine;
  PartitionOptions options = job.options;
  options.part_of = base::exchange(job.ranks, std::move(to));
  const std::vector<std::string> notes = std::move(report.notes);
  base::agree(job.ranks, [&] {
    if (job.ranks.rank == 0) report = partition_shared(path, prefix, options, base::Ranks{}, {});
  });
  report.peak_bytes = peak_memory();
  tell_report(job.ranks, report);
  report.notes.insert(report.notes.begin(), notes.begin(), notes.end());
  return report;
}

/// Before anything is cut: of further inputs.
void require_same_meshes(const SharedJob& job) {
  for (const auto& [name, also] : job.options.also) {
    serafin::SerafinSeries series;
    base::agree(job.ranks, [&, path = also] { series = serafin::open_series(path); });
    require_same_mesh(job.ranks, job.series, series);
  }
}

/// Makes this rank's pieces of the cut, and measures it.
CutMesh make_cut_mesh(const SharedJob& job, ElementBlock block, partition::PartVector part_of,
                      const partition::Turns& turns, PartitionReport& report) {
  CutMesh mesh;
  if (job.options.layout == PieceLayout::octavo) mesh.part_of = part_of;
  mesh.pieces = make_pieces(job, move_elements(job, std::move(block), std::move(part_of)));
  std::int64_t cut_edges = 0;
  const auto edges = pair_borders(job, mesh.pieces, cut_edges);
  const std::int64_t shared = share_points(job, mesh.pieces);
  mesh.boundary = find_mesh_boundary(job, edges, turns, report.notes);
  add_boundary(job, mesh.boundary, mesh.pieces);
  add_places(job, mesh.pieces);
  for (GrowingPiece& growing : mesh.pieces) {  // what was needed on the way
    base::release(growing.along);
    base::release(growing.border);
    base::release(growing.border_points);
    growing.halo = {};
  }
  report.quality = quality_of(job, mesh.pieces, cut_edges, shared);
  return mesh;
}

/// Everything, kind by kind.
void write_all(const SharedJob& job, step::NewFiles& files, const fs::path& prefix, const CutMesh& mesh,
               const std::vector<Section>& sections, PartitionReport& report) {
  write_series(job, files, job.series, geometry_header(job.series.header), prefix.string() + "GEO", mesh, report);
  for (const auto& [name, also] : job.options.also) {
    serafin::SerafinSeries other;
    base::agree(job.ranks, [&, path = also] { other = serafin::open_series(path); });
    write_series(job, files, other, other.header, prefix.string() + name, mesh, report);
  }
  if (mesh.boundary.lines) write_boundary(job, files, prefix, mesh, report);
  write_sides(job, files, prefix, sections, mesh, report);
  files.publish(job.ranks);
}

PartitionReport partition_shared(const fs::path& path, const fs::path& prefix, const PartitionOptions& options,
                                 const base::Ranks& ranks, const GraphCut& scotch) {
  PartitionReport report;
  serafin::SerafinSeries series;
  base::agree(ranks, [&] {
    series = serafin::open_series(path);
    require_parts(options, serafin::plane_elements(series.header), path);
  });
  const auto own = base::share(options.parts, ranks.rank, ranks.size);
  const SharedJob job{ranks,
                      series,
                      options,
                      serafin::plane_points(series.header),
                      serafin::plane_elements(series.header),
                      {static_cast<std::int32_t>(own[0]), static_cast<std::int32_t>(own[1])}};
  report.parts = options.parts;
  report.elements = job.elements;
  report.points = job.points;
  require_same_meshes(job);
  if (options.cut) require_size_of_cut(job);
  ElementBlock block = read_block(job);
  partition::PartVector part_of = cut_block(job, block, scotch, report.notes);
  if (ranks.size > 1 && (options.layout == PieceLayout::med || options.layout == PieceLayout::octavo))
    return write_by_root(job, part_of, path, prefix, std::move(report));
  const partition::Turns turns = find_turns(job, block);
  note_turns(turns, report.notes);
  const std::vector<Section> sections = trace(job, block);
  base::agree(ranks, [&] {
    if (ranks.rank == 0) check_sides(options, job.points);  // before pieces are replaced
  });
  step::NewFiles files(base::from_first(ranks, step::partial_suffix()));
  if (options.write_cut) write_cut(job, files, block, part_of, report);
  const CutMesh mesh = make_cut_mesh(job, std::move(block), std::move(part_of), turns, report);
  write_all(job, files, prefix, mesh, sections, report);
  report.peak_bytes = peak_memory();
  return report;
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

std::int64_t peak_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

PartitionReport partition_mesh(const fs::path& path, const fs::path& prefix, const PartitionOptions& options,
                               const base::Ranks& ranks, const GraphCut& scotch) {
  bool solids = false;
  base::agree(ranks, [&] { solids = holds_solids(path); });
  if (solids) return partition_solids(path, prefix, options, ranks);
  base::agree(ranks, [&] { require_possible(options, ranks, scotch); });
  PartitionOptions known = with_parts(ranks, path, options);
  known.boundary_first = options.boundary_first || is_artemis(prefix);
  base::agree(ranks, [&] {
    if (ranks.rank == 0) require_inputs_stay(path, prefix, known);
  });
  const InputsAsSerafin inputs(ranks, path, prefix, known);
  PartitionReport report = partition_shared(inputs.mesh, prefix, inputs.options, ranks, scotch);
  report.notes.insert(report.notes.begin(), inputs.notes.begin(), inputs.notes.end());
  return report;
}

}  // namespace octavo::telemac
