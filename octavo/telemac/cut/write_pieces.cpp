#include "octavo/telemac/cut/write_pieces.hpp"

#include <algorithm>

#include "octavo/base/at.hpp"
#include "octavo/step/boundary_groups.hpp"
#include "octavo/telemac/cut/cut_file.hpp"
#include "octavo/telemac/cut/cut_steps.hpp"
#include "octavo/telemac/cut/med_pieces.hpp"
#include "octavo/telemac/cut/stored_cut.hpp"
#include "octavo/telemac/files/piece_text.hpp"
#include "octavo/verbs/convert.hpp"

namespace octavo::telemac {
namespace {

namespace fs = std::filesystem;

using base::at;

fs::path named(const fs::path& prefix, const std::string& name) { return prefix.string() + name; }

/// Global numbers of the own parts' points.
ItemLists points_of(const std::vector<GrowingPiece>& pieces) {
  ItemLists points;
  points.first.push_back(0);
  for (const GrowingPiece& growing : pieces) {
    points.items.insert(points.items.end(), growing.piece.points.begin(), growing.piece.points.end());
    points.first.push_back(static_cast<std::int64_t>(points.items.size()));
  }
  return points;
}

/// SERAFIN files: all parts are planned by what they count, the own ones written.
void write_serafin(const SharedJob& job, step::NewFiles& files, const serafin::SerafinSeries& series,
                   const serafin::SerafinHeader& like, const fs::path& prefix, const std::vector<GrowingPiece>& pieces,
                   PartitionReport& report) {
  std::vector<std::array<std::int32_t, 4>> counts;
  for (const GrowingPiece& g : pieces)
    counts.push_back({static_cast<std::int32_t>(g.piece.points.size()),
                      static_cast<std::int32_t>(g.piece.connectivity.size() / 3), g.piece.boundary_points,
                      static_cast<std::int32_t>(g.piece.shared.size())});
  counts = base::gather(job.ranks, counts);
  PieceWriter writer(files, prefix, job.options.parts, job.options.layout, IndexKind::bytes, job.own);
  std::vector<PiecePlace> own;
  base::agree(job.ranks, [&] {
    for (std::int32_t part = 0; part < job.options.parts; ++part) {
      const serafin::SerafinHeader header = piece_header(like, counts[at(part)]);
      PiecePlace place = writer.next(piece_bytes(header, series.steps), 0);
      place.header = header;
      if (part >= job.own.first && part < job.own.last) own.push_back(std::move(place));
    }
  });
  // next() made the file on the rank that has its first part. Others open it only after that, so this is an agree() of
  // its own.
  base::agree(job.ranks, [&] {
    for (std::size_t p = 0; p < pieces.size(); ++p)
      writer.put(own[p], 0, encode_piece(own[p].header, pieces[p].piece, job.points));
    cut_steps(series, writer, own, points_of(pieces), job.options.progress);
    for (fs::path& file : writer.finish()) report.files.push_back(std::move(file));
  });
}

/// All steps, as checkpoints: what runs start from. One process.
void write_store(const SharedJob& job, const serafin::SerafinSeries& series, const fs::path& path, const CutMesh& mesh,
                 PartitionReport& report) {
  verbs::ConvertOptions options;
  options.flow = store::Flow::checkpoint;
  options.part_of = mesh.part_of;
  options.cut_parts = job.options.parts;
  if (mesh.boundary.lines) options.boundary = stored_boundary(mesh.boundary.lines->points);
  options.overwrite = true;
  options.progress = job.options.progress;
  verbs::convert({series.file->path()}, path, options);
  report.files.push_back(path);
}

/// One process.
void write_med(const SharedJob& job, const serafin::SerafinSeries& series, const fs::path& path,
               const std::vector<GrowingPiece>& pieces, PartitionReport& report) {
  MedPieces med(path, series);
  for (const GrowingPiece& growing : pieces) med.add(growing.piece);
  report.files.push_back(med.finish(points_of(pieces), job.options.progress));
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

}  // namespace

void write_series(const SharedJob& job, step::NewFiles& files, const serafin::SerafinSeries& series,
                  const serafin::SerafinHeader& like, const fs::path& prefix, const CutMesh& mesh,
                  PartitionReport& report) {
  if (job.options.layout == PieceLayout::octavo)
    write_store(job, series, named(prefix, ".octavo"), mesh, report);
  else if (job.options.layout == PieceLayout::med)
    write_med(job, series, named(prefix, ".med"), mesh.pieces, report);
  else
    write_serafin(job, files, series, like, prefix, mesh.pieces, report);
}

void write_boundary(const SharedJob& job, step::NewFiles& files, const fs::path& prefix, const CutMesh& mesh,
                    PartitionReport& report) {
  std::vector<std::string> conditions, neighbours;
  const bool parallel = serafin::planes(job.series.header) == 1 && job.options.parts > 1;
  const bool groups = parallel && job.options.layout == PieceLayout::med;  // as MedPieces has them
  base::agree(job.ranks, [&] {
    for (const GrowingPiece& growing : mesh.pieces) {
      conditions.push_back(groups ? boundary_groups_text(growing.piece) : boundary_text(growing.piece));
      if (parallel) neighbours.push_back(parallel_text(growing.piece));
    }
  });
  if (groups) step::note_lost_values(mesh.boundary.lines->points, report.notes);
  write_texts(job, files, named(prefix, "CLI"), job.options.layout, IndexKind::lines, conditions, report);
  if (parallel) write_texts(job, files, named(prefix, "PAR"), job.options.layout, IndexKind::text, neighbours, report);
}

void write_sides(const SharedJob& job, step::NewFiles& files, const fs::path& prefix,
                 const std::vector<Section>& sections, const CutMesh& mesh, PartitionReport& report) {
  const PartitionOptions& options = job.options;
  if (!options.sections && !options.zones && !options.weirs) return;
  const ItemLists points = points_of(mesh.pieces);
  const SideParts parts{job.ranks, job.points, job.options.parts, job.own.first, points};
  const auto write = [&](const char* name, const std::vector<std::string>& texts) {
    write_texts(job, files, named(prefix, name), side_layout(job.options), IndexKind::lines, texts, report);
  };
  if (options.sections) write("SEC", cut_sections(sections, parts));
  if (options.zones) write("ZFI", cut_zones(*options.zones, parts));
  if (options.weirs) write("SEU", cut_weirs(*options.weirs, parts));
}

void write_cut(const SharedJob& job, step::NewFiles& files, const ElementBlock& block,
               const partition::PartVector& part_of, PartitionReport& report) {
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
  report.files.push_back(path);
}

}  // namespace octavo::telemac
