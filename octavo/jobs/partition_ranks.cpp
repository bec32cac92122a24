#include "octavo/jobs/partition_ranks.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/jobs/as_serafin.hpp"
#include "octavo/jobs/cut_steps.hpp"
#include "octavo/jobs/piece_text.hpp"
#include "octavo/jobs/shared_mesh.hpp"

namespace octavo::jobs {
namespace {

namespace fs = std::filesystem;
namespace serafin = formats::serafin;
using base::Error;
using base::Kind;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

fs::path named(const fs::path& prefix, const std::string& name) { return prefix.string() + name; }

/// Pieces of a SERAFIN file: all parts are planned by what they count, the own ones written.
void write_series(const SharedJob& job, const fs::path& path, const fs::path& prefix,
                  const std::vector<Growing>& pieces, PartitionReport& report) {
  serafin::Series series;
  base::agree(job.ranks, [&] {
    series = serafin::open_series(path);
    require_same_mesh(series, job.points);
  });
  std::vector<std::array<std::int32_t, 4>> counts;
  for (const Growing& g : pieces)
    counts.push_back({static_cast<std::int32_t>(g.piece.points.size()),
                      static_cast<std::int32_t>(g.piece.connectivity.size() / 3), g.piece.boundary_points,
                      static_cast<std::int32_t>(g.piece.shared.size())});
  counts = gather(job.ranks, counts);
  PieceWriter writer(prefix, job.options.parts, job.options.layout, IndexKind::bytes, job.own);
  std::vector<PiecePlace> own;
  base::agree(job.ranks, [&] {
    for (std::int32_t part = 0; part < job.options.parts; ++part) {
      const serafin::Header header = piece_header(series.header, counts[at(part)]);
      PiecePlace place = writer.next(piece_bytes(header, series.steps), 0);
      place.header = header;
      if (part >= job.own.first && part < job.own.last) own.push_back(std::move(place));
    }
  });
  base::agree(job.ranks, [&] {
    Buckets points;
    points.first.push_back(0);
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const Piece& piece = pieces[p].piece;
      writer.put(own[p], 0, encode_piece(own[p].header, piece, job.points));
      points.items.insert(points.items.end(), piece.points.begin(), piece.points.end());
      points.first.push_back(static_cast<std::int64_t>(points.items.size()));
    }
    cut_steps(series, writer, own, points, job.options.progress);
    for (fs::path& file : writer.finish()) report.files.push_back(std::move(file));
  });
}

void write_texts(const SharedJob& job, const fs::path& prefix, IndexKind kind, std::string (*text_of)(const Piece&),
                 const std::vector<Growing>& pieces, PartitionReport& report) {
  std::vector<std::string> texts;
  std::vector<std::array<std::int64_t, 2>> sizes;
  base::agree(job.ranks, [&] {
    for (const Growing& growing : pieces) {
      texts.push_back(text_of(growing.piece));
      sizes.push_back(
          {static_cast<std::int64_t>(texts.back().size()), std::count(texts.back().begin(), texts.back().end(), '\n')});
    }
  });
  sizes = gather(job.ranks, sizes);
  PieceWriter writer(prefix, job.options.parts, job.options.layout, kind, job.own);
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

partition::Quality quality_of(const SharedJob& job, const std::vector<Growing>& pieces, std::int64_t cut_edges,
                              std::int64_t shared) {
  std::vector<std::array<std::int64_t, 2>> mine;  // elements, neighbours
  for (const Growing& growing : pieces)
    mine.push_back(
        {static_cast<std::int64_t>(growing.piece.connectivity.size() / 3),
         static_cast<std::int64_t>(std::set(growing.piece.sharers.begin(), growing.piece.sharers.end()).size())});
  partition::Quality quality;
  quality.fewest = job.elements;
  for (const auto& [elements, neighbours] : gather(job.ranks, mine)) {
    quality.fewest = std::min(quality.fewest, elements);
    quality.most = std::max(quality.most, elements);
    quality.most_neighbours = std::max(quality.most_neighbours, static_cast<std::int32_t>(neighbours));
  }
  for (const auto& [edges, points] : gather(job.ranks, std::vector<std::array<std::int64_t, 2>>{{cut_edges, shared}})) {
    quality.cut_edges += edges;
    quality.shared_points += points;
  }
  return quality;
}

void require_possible(const PartitionOptions& options, const base::Ranks& ranks, const GraphCut& scotch) {
  require_own_names(options);
  if (options.part_of) throw Error(Kind::unsupported, "several processes do not cut by a part vector");
  if (options.method == partition::Method::metis)
    throw Error(Kind::unsupported, "METIS cuts in one process only")
        .hint("--method scotch, which cuts as few edges, or hilbert or inertial; or run it without mpirun");
  if (options.method == partition::Method::scotch && !scotch)
    throw Error(Kind::unsupported, "this build has no PT-Scotch, by which several processes cut")
        .hint("install libptscotch-dev and build again, or take --method inertial");
  if (options.sections || options.zones || options.weirs)
    throw Error(Kind::unsupported, "sections, zones and weirs are cut by one process only")
        .hint("run it without mpirun");
  if (options.parts == 0)
    throw Error(Kind::unsupported, "the cut that a store has is taken by one process").hint("run it without mpirun");
  if (ranks.size > 1 && !ranks.all_to_all)
    throw Error(Kind::usage, "several processes need an exchange of all with all");
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
  const auto found = gather(ranks, numbers).at(0);
  report.quality = {};
  report.quality.fewest = found[0];
  report.quality.most = found[1];
  report.quality.cut_edges = found[2];
  report.quality.shared_points = found[3];
  report.quality.most_neighbours = static_cast<std::int32_t>(found[4]);
}

/// Into one file that one process writes, MED or a store: rank 0 has the whole mesh then.
PartitionReport write_by_root(const SharedJob& job, const partition::PartVector& mine, const fs::path& path,
                              const fs::path& prefix) {
  std::vector<partition::PartVector> to(job.size());
  to[0] = mine;
  PartitionOptions options = job.options;
  options.part_of = exchange(job.ranks, std::move(to));
  PartitionReport report;
  base::agree(job.ranks, [&] {
    if (job.ranks.rank == 0) report = partition_serafin(path, prefix, options);
  });
  report.parts = job.options.parts;
  report.elements = job.elements;
  report.points = job.points;
  report.peak_bytes = peak_memory();
  tell_report(job.ranks, report);
  return report;
}

PartitionReport partition_shared(const fs::path& path, const fs::path& prefix, const PartitionOptions& options,
                                 const base::Ranks& ranks, const GraphCut& scotch) {
  PartitionReport report;
  serafin::Series series;
  base::agree(ranks, [&] {
    series = serafin::open_series(path);
    partition::check_parts(options.parts, serafin::plane_elements(series.header));
  });
  const auto own = share(options.parts, ranks.rank, ranks.size);
  const SharedJob job{ranks,
                      series,
                      options,
                      serafin::plane_points(series.header),
                      serafin::plane_elements(series.header),
                      {static_cast<std::int32_t>(own[0]), static_cast<std::int32_t>(own[1])}};
  Block block = read_block(job);
  const partition::PartVector part_of = cut_block(job, block, scotch);
  if (options.layout == PieceLayout::med || options.layout == PieceLayout::octavo)
    return write_by_root(job, part_of, path, prefix);
  std::vector<Growing> pieces = make_pieces(job, move_elements(job, std::move(block), part_of));
  std::int64_t cut_edges = 0;
  const auto edges = pair_borders(job, pieces, cut_edges);
  const std::int64_t shared = share_points(job, pieces);
  add_boundary(job, edges, pieces, report);
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
  write_series(job, path, named(prefix, "GEO"), pieces, report);
  for (const auto& [name, also] : options.also) write_series(job, also, named(prefix, name), pieces, report);
  if (options.boundary) {
    write_texts(job, named(prefix, "CLI"), IndexKind::lines, boundary_text, pieces, report);
    if (serafin::planes(series.header) == 1 && options.parts > 1)
      write_texts(job, named(prefix, "PAR"), IndexKind::text, parallel_text, pieces, report);
  }
  report.peak_bytes = peak_memory();
  return report;
}

}  // namespace

PartitionReport partition_by_ranks(const fs::path& path, const fs::path& prefix, const PartitionOptions& options,
                                   const base::Ranks& ranks, const GraphCut& scotch) {
  base::agree(ranks, [&] { require_possible(options, ranks, scotch); });
  const InputsAsSerafin inputs(ranks, path, prefix, options);
  PartitionReport report = partition_shared(inputs.mesh, prefix, inputs.options, ranks, scotch);
  report.notes.insert(report.notes.begin(), inputs.notes.begin(), inputs.notes.end());
  return report;
}

}  // namespace octavo::jobs
