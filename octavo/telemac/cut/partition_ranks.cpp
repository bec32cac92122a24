#include "octavo/telemac/cut/partition_ranks.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/telemac/cut/as_serafin.hpp"
#include "octavo/telemac/cut/cut_file.hpp"
#include "octavo/telemac/cut/cut_steps.hpp"
#include "octavo/telemac/cut/partition_names.hpp"
#include "octavo/telemac/cut/same_mesh.hpp"
#include "octavo/telemac/cut/shared_mesh.hpp"
#include "octavo/telemac/cut/side_files.hpp"
#include "octavo/telemac/files/piece_text.hpp"

namespace octavo::telemac {
namespace {

namespace fs = std::filesystem;
namespace serafin = formats::serafin;
using base::Error;
using base::Kind;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

fs::path named(const fs::path& prefix, const std::string& name) { return prefix.string() + name; }

/// Global numbers of the own parts' points.
Buckets points_of(const std::vector<Growing>& pieces) {
  Buckets points;
  points.first.push_back(0);
  for (const Growing& growing : pieces) {
    points.items.insert(points.items.end(), growing.piece.points.begin(), growing.piece.points.end());
    points.first.push_back(static_cast<std::int64_t>(points.items.size()));
  }
  return points;
}

/// Pieces of a SERAFIN file: all parts are planned by what they count, the own ones written. `like`: of their headers.
void write_series(const SharedJob& job, step::NewFiles& files, const serafin::Series& series,
                  const serafin::Header& like, const fs::path& prefix, const std::vector<Growing>& pieces,
                  PartitionReport& report) {
  std::vector<std::array<std::int32_t, 4>> counts;
  for (const Growing& g : pieces)
    counts.push_back({static_cast<std::int32_t>(g.piece.points.size()),
                      static_cast<std::int32_t>(g.piece.connectivity.size() / 3), g.piece.boundary_points,
                      static_cast<std::int32_t>(g.piece.shared.size())});
  counts = base::gather(job.ranks, counts);
  PieceWriter writer(files, prefix, job.options.parts, job.options.layout, IndexKind::bytes, job.own);
  std::vector<PiecePlace> own;
  base::agree(job.ranks, [&] {
    for (std::int32_t part = 0; part < job.options.parts; ++part) {
      const serafin::Header header = piece_header(like, counts[at(part)]);
      PiecePlace place = writer.next(piece_bytes(header, series.steps), 0);
      place.header = header;
      if (part >= job.own.first && part < job.own.last) own.push_back(std::move(place));
    }
  });
  base::agree(job.ranks, [&] {
    for (std::size_t p = 0; p < pieces.size(); ++p)
      writer.put(own[p], 0, encode_piece(own[p].header, pieces[p].piece, job.points));
    cut_steps(series, writer, own, points_of(pieces), job.options.progress);
    for (fs::path& file : writer.finish()) report.files.push_back(std::move(file));
  });
}

void write_texts(const SharedJob& job, step::NewFiles& files, const fs::path& prefix, PieceLayout layout,
                 IndexKind kind, const std::vector<std::string>& texts, PartitionReport& report) {
  std::vector<std::array<std::int64_t, 2>> sizes;
  for (const std::string& text : texts)
    sizes.push_back({static_cast<std::int64_t>(text.size()), std::count(text.begin(), text.end(), '\n')});
  sizes = base::gather(job.ranks, sizes);
  PieceWriter writer(files, prefix, job.options.parts, layout, kind, job.own);
  std::vector<PiecePlace> places;
  base::agree(job.ranks, [&] {
    for (const auto& [bytes, lines] : sizes) places.push_back(writer.next(static_cast<std::uint64_t>(bytes), lines));
  });
  base::agree(job.ranks, [&] {
    for (std::size_t p = 0; p < texts.size(); ++p)
      writer.put(places[at(job.own.first) + p], 0, std::as_bytes(std::span(texts[p])));
    for (fs::path& file : writer.finish()) report.files.push_back(std::move(file));
  });
}

void write_boundary(const SharedJob& job, step::NewFiles& files, const fs::path& prefix,
                    const std::vector<Growing>& pieces, PartitionReport& report) {
  std::vector<std::string> conditions, neighbours;
  const bool parallel = serafin::planes(job.series.header) == 1 && job.options.parts > 1;
  base::agree(job.ranks, [&] {
    for (const Growing& growing : pieces) {
      conditions.push_back(boundary_text(growing.piece));
      if (parallel) neighbours.push_back(parallel_text(growing.piece));
    }
  });
  write_texts(job, files, named(prefix, "CLI"), job.options.layout, IndexKind::lines, conditions, report);
  if (parallel) write_texts(job, files, named(prefix, "PAR"), job.options.layout, IndexKind::text, neighbours, report);
}

std::vector<Section> trace(const SharedJob& job, const Block& block) {
  if (!job.options.sections) return {};
  return trace_sections(*job.options.sections,
                        {job.ranks, job.points, block.triangles, &block.places.set, block.places.x, block.places.y});
}

void write_sides(const SharedJob& job, step::NewFiles& files, const fs::path& prefix,
                 const std::vector<Section>& sections, const std::vector<Growing>& pieces, PartitionReport& report) {
  const PartitionOptions& options = job.options;
  if (!options.sections && !options.zones && !options.weirs) return;
  const Buckets points = points_of(pieces);
  const SideParts parts{job.ranks, job.points, job.options.parts, job.own.first, points};
  const auto write = [&](const char* name, const std::vector<std::string>& texts) {
    write_texts(job, files, named(prefix, name), side_layout(job.options), IndexKind::lines, texts, report);
  };
  if (options.sections) write("SEC", cut_sections(sections, parts));
  if (options.zones) write("ZFI", cut_zones(*options.zones, parts));
  if (options.weirs) write("SEU", cut_weirs(*options.weirs, parts));
}

partition::Quality quality_of(const SharedJob& job, const std::vector<Growing>& pieces, std::int64_t cut_edges,
                              std::int64_t shared) {
  std::vector<std::array<std::int64_t, 2>> mine;  // elements, neighbours
  for (const Growing& growing : pieces)
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
  for (const auto& [edges, points] :
       base::gather(job.ranks, std::vector<std::array<std::int64_t, 2>>{{cut_edges, shared}})) {
    quality.cut_edges += edges;
    quality.shared_points += points;
  }
  return quality;
}

void require_possible(const PartitionOptions& options, const base::Ranks& ranks, const GraphCut& scotch) {
  require_own_names(options);
  if (ranks.size > 1 && !ranks.all_to_all)
    throw Error(Kind::usage, "several processes need an exchange of all with all");
  if (options.cut || options.part_of) return;
  if (options.method == partition::Method::metis)
    throw Error(Kind::unsupported, "METIS cuts in one process only")
        .hint("--method scotch, which cuts as few edges, or hilbert or inertial; or run it without mpirun");
  if (options.method == partition::Method::scotch && !scotch)
    throw Error(Kind::unsupported, "this build has no PT-Scotch, by which several processes cut")
        .hint("install libptscotch-dev and build again, or take --method inertial");
  if (options.parts == 0)
    throw Error(Kind::unsupported, "the cut that a store has is taken by one process").hint("run it without mpirun");
}

/// The number of parts that a cut has, which rank 0 looks through.
PartitionOptions with_parts_of_cut(const base::Ranks& ranks, PartitionOptions options) {
  std::int32_t parts = 0;
  base::agree(ranks, [&] {
    if (ranks.rank != 0) return;
    if (options.part_of)
      for (const std::int32_t part : *options.part_of) parts = std::max(parts, part + 1);
    else
      parts = measure_cut(*options.cut).parts;
  });
  options.parts = base::gather(ranks, std::vector{parts}).at(0);
  return options;
}

/// A cut in a file that is not the mesh's is so before it is read by all.
void require_size_of_cut(const SharedJob& job) {
  base::agree(job.ranks, [&] {
    if (job.options.cut && job.ranks.rank == 0)
      require_cut_of(measure_cut(*job.options.cut).elements, job.elements, job.options);
  });
}

void write_cut(const SharedJob& job, step::NewFiles& files, const Block& block, const partition::PartVector& part_of) {
  const fs::path& path = *job.options.write_cut;
  const std::string mine = encode_cut(path, part_of, block.first, job.elements);
  std::uint64_t begin = 0;
  const auto sizes = base::gather(job.ranks, std::vector{mine.size()});
  for (int rank = 0; rank < job.ranks.rank; ++rank) begin += sizes[at(rank)];
  base::agree(job.ranks, [&] {
    if (job.ranks.rank == 0) files.make(path).close();
  });
  base::agree(job.ranks, [&] {
    file::File file = file::open_write(files.partial(path));
    file::pwrite_all(file, begin, std::as_bytes(std::span(mine)));
    file.close();
  });
}

/// What rank 0 found, on all of them.
void tell_report(const base::Ranks& ranks, PartitionReport& report) {
  const auto texts_of_root = [&](std::vector<std::string> texts) {
    std::string mine;
    if (ranks.rank == 0)
      for (const std::string& text : texts) mine += text + '\0';
    texts.clear();
    const std::string all = base::all_gather(ranks, mine)[0];
    for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end + 1) {
      end = all.find('\0', begin);
      texts.push_back(all.substr(begin, end - begin));
    }
    return texts;
  };
  report.notes = texts_of_root(std::move(report.notes));
  std::vector<std::string> files;
  for (const fs::path& file : report.files) files.push_back(file.string());
  files = texts_of_root(std::move(files));
  report.files.assign(files.begin(), files.end());
  const partition::Quality& mine = report.quality;
  std::vector<std::array<std::int64_t, 5>> numbers;
  if (ranks.rank == 0) numbers = {{mine.fewest, mine.most, mine.cut_edges, mine.shared_points, mine.most_neighbours}};
  const auto found = base::gather(ranks, numbers).at(0);
  report.quality = {};
  report.quality.fewest = found[0];
  report.quality.most = found[1];
  report.quality.cut_edges = found[2];
  report.quality.shared_points = found[3];
  report.quality.most_neighbours = static_cast<std::int32_t>(found[4]);
}

/// Into one file that one process writes, MED or a store: rank 0 has the whole mesh then.
PartitionReport write_by_root(const SharedJob& job, const partition::PartVector& mine, const fs::path& path,
                              const fs::path& prefix, std::vector<std::string> notes) {
  std::vector<partition::PartVector> to(job.size());
  to[0] = mine;
  PartitionOptions options = job.options;
  options.part_of = base::exchange(job.ranks, std::move(to));
  PartitionReport report;
  base::agree(job.ranks, [&] {
    if (job.ranks.rank == 0) report = partition_serafin(path, prefix, options);
  });
  report.parts = job.options.parts;
  report.elements = job.elements;
  report.points = job.points;
  report.peak_bytes = peak_memory();
  tell_report(job.ranks, report);
  report.notes.insert(report.notes.begin(), notes.begin(), notes.end());
  return report;
}

/// Before anything is cut: of further inputs.
void require_same_meshes(const SharedJob& job) {
  for (const auto& [name, also] : job.options.also) {
    serafin::Series series;
    base::agree(job.ranks, [&, path = also] { series = serafin::open_series(path); });
    require_same_mesh(job.ranks, job.series, series);
  }
}

PartitionReport partition_shared(const fs::path& path, const fs::path& prefix, const PartitionOptions& options,
                                 const base::Ranks& ranks, const GraphCut& scotch) {
  PartitionReport report;
  serafin::Series series;
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
  require_same_meshes(job);
  if (options.cut) require_size_of_cut(job);
  Block block = read_block(job);
  const partition::PartVector part_of = cut_block(job, block, scotch, report.notes);
  if (options.layout == PieceLayout::med || options.layout == PieceLayout::octavo)
    return write_by_root(job, part_of, path, prefix, std::move(report.notes));
  const partition::Turns turns = find_turns(job, block);
  note_turns(turns, report.notes);
  step::NewFiles files(base::all_gather(ranks, step::partial_suffix())[0]);
  if (options.write_cut) {
    write_cut(job, files, block, part_of);
    report.files.push_back(*options.write_cut);
  }
  const std::vector<Section> sections = trace(job, block);
  base::agree(ranks, [&] {
    if (ranks.rank == 0) check_sides(options, job.points);  // before pieces are replaced
  });
  std::vector<Growing> pieces = make_pieces(job, move_elements(job, std::move(block), part_of));
  std::int64_t cut_edges = 0;
  const auto edges = pair_borders(job, pieces, cut_edges);
  const std::int64_t shared = share_points(job, pieces);
  add_boundary(job, edges, turns, pieces, report);
  add_places(job, pieces);
  for (Growing& growing : pieces) {  // what was needed on the way
    growing.behind = {};
    growing.border = {};
    growing.border_points = {};
  }
  report.parts = options.parts;
  report.elements = job.elements;
  report.points = job.points;
  report.quality = quality_of(job, pieces, cut_edges, shared);
  write_series(job, files, series, geometry_header(series.header), named(prefix, "GEO"), pieces, report);
  for (const auto& [name, also] : options.also) {
    serafin::Series other;
    base::agree(ranks, [&, path = also] { other = serafin::open_series(path); });
    write_series(job, files, other, other.header, named(prefix, name), pieces, report);
  }
  if (options.boundary) write_boundary(job, files, prefix, pieces, report);
  write_sides(job, files, prefix, sections, pieces, report);
  files.publish(ranks);
  report.peak_bytes = peak_memory();
  return report;
}

}  // namespace

PartitionReport partition_by_ranks(const fs::path& path, const fs::path& prefix, const PartitionOptions& options,
                                   const base::Ranks& ranks, const GraphCut& scotch) {
  base::agree(ranks, [&] { require_possible(options, ranks, scotch); });
  PartitionOptions known = options.parts == 0 ? with_parts_of_cut(ranks, options) : options;
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
