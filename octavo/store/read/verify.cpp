#include "octavo/store/read/verify.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>
#include <type_traits>

#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/memory.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/store/read/described.hpp"
#include "octavo/store/read/index.hpp"
#include "octavo/store/read/opened.hpp"
#include "octavo/store/read/solids.hpp"
#include "octavo/store/read/triangles.hpp"

/// Checks every byte of a store that has a meaning, and that the bytes between are zero. Rank 0 reads heads, footers
/// and tables, and deals the parts to all ranks and threads; a part costs one read of its streams and one decode.
/// Findings are listed, so that damage in one place hides none elsewhere.
namespace octavo::store {

namespace {

using base::Error;
using base::Kind;
namespace fs = std::filesystem;
__extension__ using Wide = unsigned __int128;

template <class Work>
void attempt_to(std::vector<Finding>& findings, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    findings.push_back(finding_of(error));
  }
}

// ------------------------------------------------------------------ bytes between

// Checks that these bytes are zero. Nothing refers to them; they lie within a segment or in the head.
void check_zero(const file::File& file, std::uint64_t begin, std::uint64_t end, std::vector<Finding>& findings) {
  if (begin >= end) return;
  std::vector<std::byte> bytes(static_cast<std::size_t>(end - begin));
  attempt_to(findings, [&] {
    file::pread_all(file, begin, bytes);
    if (!all_zero(bytes))
      throw Error(Kind::corrupt, "padding: expected zeros").at(byte_range(file.path(), begin, end - begin));
  });
}

void check_head(const file::File& file, Report& report) {
  for (std::size_t block = 0; block < 3; ++block)
    check_zero(file, block * sector_block + sector_size, (block + 1) * sector_block, report.findings);
}

void check_records(const Subfile& subfile, Report& report) {
  report.bytes += head_size;
  const auto newest = newest_record(subfile);
  if (!newest) return;
  const std::size_t other_place = newest == subfile.records[0] ? 1 : 0;
  const auto& other = subfile.records[other_place];
  const std::string where = byte_range(subfile.path, record_place(other_place), sector_size);
  // A damaged record has been reported already. The other place holds the previous record if a crash came between the
  // two writes.
  const bool damaged = std::any_of(subfile.damage.begin(), subfile.damage.end(),
                                   [&](const Finding& finding) { return finding.where.starts_with(where); });
  if (!damaged && !is_pair(newest, other))
    report.findings.push_back({where, "the other commit record: expected that of commit " +
                                          std::to_string(newest->sequence) + " or the one before" +
                                          (other ? ", found another" : ", found none")});
}

void check_marker(const fs::path& store, Report& report) {
  const std::string expected = marker_text;
  attempt_to(report.findings, [&] {
    const file::File file = file::open_read(store / marker_name);
    std::string found(expected.size() + 1, '\0');
    found.resize(file::pread_some(file, 0, std::as_writable_bytes(std::span(found))));
    report.bytes += found.size();
    if (found != expected) throw Error(Kind::corrupt, "the store's marker has other bytes").at(file.path().string());
  });
}

// A wrong index is a note, not damage: readers do not have to trust it.
void check_indexes(const Scan& scan, Report& report) {
  for (Flow flow : {Flow::checkpoint, Flow::analysis}) {
    const fs::path path = index_path(scan.store, flow);
    std::error_code ignored;
    if (!fs::exists(path, ignored)) continue;
    Index index = read_index(scan.store, flow);
    // Lines of steps that were removed on purpose stay for a while.
    const DurableMark& mark = scan.marks[static_cast<std::size_t>(flow)];
    if (mark.is_there && mark.is_whole) index.steps = listed_by(mark, std::move(index.steps));
    const std::vector<IndexedStep> there = index_of(scan, flow);
    const auto is_there = [&](const IndexedStep& step) { return std::ranges::find(there, step) != there.end(); };
    if (index.is_whole && std::ranges::all_of(index.steps, is_there)) continue;
    report.notes.push_back(
        path.string() + " is damaged, or names steps that are not there; octavo verify --rebuild-index makes it anew");
  }
}

// A gap of fewer bytes between two ranges must be zero. A larger gap comes from a writer with a larger alignment, which
// need not write it.
constexpr std::uint64_t least_free_gap = 8;

/// The ranges of a segment that must be zero; the last may end with the file.
struct Gaps {
  std::vector<std::array<std::uint64_t, 2>> between;
  std::uint64_t last = 0;
};
template <class Way>
void both(Way& way, Gaps& gaps) {
  using base::both;
  both(way, gaps.between, gaps.last);
}

Gaps gaps_of(const OpenedSegment& segment) {
  Gaps gaps;
  const auto add = [&](std::uint64_t begin, std::uint64_t end) {
    if (begin < end && begin + least_free_gap > end) gaps.between.push_back({begin, end});
  };
  std::uint64_t position = segment.footer.begin;
  for (const StreamRow& stream : segment.table.streams) {
    add(position, stream.offset);
    position = stream.offset + stream.stored_bytes;
  }
  const Extent& table = segment.footer.table;
  add(position, table.offset);
  add(table.offset + table.length, segment.at.offset);
  gaps.last = segment.at.offset + segment.at.length;
  return gaps;
}

void check_gaps(const Gaps& gaps, const file::File& file, std::vector<Finding>& findings) {
  for (const auto& [begin, end] : gaps.between) check_zero(file, begin, end, findings);
  check_zero(file, gaps.last, std::min(align(gaps.last), file::size(file)), findings);
}

// ------------------------------------------------------------------ parts

/// A stretch of a segment's parts that one rank checks. The one with the first part also checks the bytes between
/// streams; a segment without parts is one, too.
struct CheckedStretch {
  OpenedSegment segment;
  std::string step;
  Gaps gaps{};
  bool has_gaps = false;
};

struct PartJob {
  const OpenedSegment* segment = nullptr;
  std::optional<std::size_t> row;
  std::string step;
  const Gaps* gaps = nullptr;
  NeighbourSource neighbours;  // of a mesh that another step holds
};

struct VerifiedPart {
  std::vector<Finding> findings;
  std::uint64_t streams = 0, bytes = 0;
};

// Checks the stored checksum of every stream; each mismatch is a finding. Returns whether all match.
bool check_stored(const file::File& file, const PartJob& job, VerifiedPart& result) {
  const std::size_t before = result.findings.size();
  const Table& table = job.segment->table;
  const PartRow& part = table.parts[*job.row];
  const Fetch fetch = fetch_from(file);
  for (std::size_t s = part.first_stream; s < part.last_stream; ++s) {
    ++result.streams;
    result.bytes += table.streams[s].stored_bytes;
    attempt_to(result.findings, [&] {
      try {
        fetch(table.streams[s]);
      } catch (Error& error) {
        throw error.at(describe(table, table.streams[s])).at("part " + std::to_string(part.index)).at(job.step);
      }
    });
  }
  return result.findings.size() == before;
}

StoredMesh mesh_of_part(const PartJob& job, const file::File& file) {
  mesh::Request only;
  only.fields.emplace();
  const StoredTriangles part = decode_triangles(job.segment->table, *job.row, only, source_of(file));
  return mesh_of(part.mesh, part.arrays, {&part, 1});
}

void check_triangles(const PartJob& job, const file::File& file, const mesh::Request& everything) {
  const Table& table = job.segment->table;
  PartSource source = source_of(file);
  source.neighbours = job.neighbours;
  if (!source.neighbours)
    source.neighbours = neighbours_of_step(*table.triangles, [&] { return mesh_of_part(job, file); }, {}, {});
  const StoredTriangles part = decode_triangles(table, *job.row, everything, source);
  if (!part.mesh.origin) mesh_of(part.mesh, part.arrays, {&part, 1});
}

void check_part_of_solids(const PartJob& job, const file::File& file, const mesh::Request& everything) {
  check_solids(decode_triangles(job.segment->table, *job.row, everything, source_of(file)));
}

VerifiedPart check_part_of(const PartJob& job) {
  VerifiedPart result;
  attempt_to(result.findings, [&] {
    const file::File file = file::open_read(job.segment->path);
    if (job.gaps != nullptr) check_gaps(*job.gaps, file, result.findings);
    // A wrong checksum is reported already. Decoding such bytes would only report it again.
    if (!job.row || !check_stored(file, job, result)) return;
    try {
      mesh::Request everything;
      everything.particles = everything.opaque = true;
      const Table& table = job.segment->table;
      if (table.triangles)
        (table.triangles->of_solids() ? check_part_of_solids : check_triangles)(job, file, everything);
      else
        check_part(table, *job.row, decode_part(table, *job.row, everything, source_of(file)));
    } catch (Error& error) {
      throw error.at(job.segment->path.string()).at(job.step);
    }
  });
  return result;
}

// ------------------------------------------------------------------ steps

// Checks that the owned leaves of a whole domain fill it exactly. Volumes are summed in units of the smallest cell.
void check_volume(const OpenedStep& step, const std::string& where, std::vector<Finding>& findings) {
  if (step.triangles) return;
  std::size_t levels = 1;
  for (const PartPlace& place : step.parts) levels = std::max(levels, part_row(step, place).leaves.size());
  const auto dim = static_cast<std::size_t>(step.header.dim);
  const mesh::Index3& roots = step.header.roots;
  const auto all = static_cast<std::uint64_t>(mesh::num_roots(roots));
  const double full = static_cast<double>(all);
  // The sum has 128 bits. Deeper meshes are not checked here.
  if (dim * (levels - 1) > 90 || dim * (levels - 1) + static_cast<std::size_t>(std::bit_width(all)) > 127) return;
  const Wide expected = static_cast<Wide>(all) << (dim * (levels - 1));
  Wide sum = 0;
  double volume = 0;
  for (const PartPlace& place : step.parts) {
    const PartRow& part = part_row(step, place);
    for (std::size_t l = 0; l < part.leaves.size(); ++l) {
      sum += static_cast<Wide>(part.leaves[l]) << (dim * (levels - 1 - l));
      volume += std::ldexp(static_cast<double>(part.leaves[l]) / full, -static_cast<int>(dim * l));
    }
  }
  const bool whole = step.segments[0].footer.whole_domain;
  if (whole ? sum != expected : sum > expected)
    findings.push_back({where, "owned leaves fill " + std::to_string(volume) +
                                   " of the domain's volume: cells are missing or held twice"});
}

struct Tables {
  std::vector<OpenedStep> complete;
  std::vector<OpenedSegment> others;  // of interrupted attempts, intact nevertheless
};

using SegmentsFound = std::map<std::pair<std::size_t, std::size_t>, OpenedSegment>;  // by subfile and commit

// Opens each file once, checks its head and reads the tables of all its segments. A table that cannot be read is left
// out: who asks for it gets the error.
SegmentsFound open_files(const Scan& scan, Report& report) {
  std::vector<std::vector<SegmentPlace>> wanted(scan.subfiles.size());
  for (const StepFound& found : scan.steps)
    if (found.unknown.empty())
      for (const SegmentPlace& place : found.segments) wanted[place.subfile].push_back(place);
  SegmentsFound segments;
  for (std::size_t s = 0; s < scan.subfiles.size(); ++s) {
    const Subfile& subfile = scan.subfiles[s];
    if (!subfile.head) continue;
    attempt_to(report.findings, [&] {
      const file::File file = file::open_read(subfile.path);
      check_head(file, report);
      // open_tables() opens these once more and reports them, with the step's name.
      std::vector<Finding> told_later;
      for (const SegmentPlace& place : wanted[s])
        attempt_to(told_later,
                   [&] { segments.emplace(std::pair(place.subfile, place.commit), open_segment(scan, place, file)); });
    });
    check_records(subfile, report);
  }
  return segments;
}

// Opens all tables, including those of incomplete steps, so that we read everything that is referred to.
Tables open_tables(const Scan& scan, SegmentsFound known, Report& report) {
  Tables tables;
  for (const StepFound& found : scan.steps) {
    if (!found.unknown.empty()) {
      const WriterProgram& writer = committed(scan, found.segments[0]).footer.writer;
      if (listed(found))
        report.findings.push_back({name_of(found), describe_unknown(found.unknown, writer), FindingKind::unsupported});
      continue;
    }
    std::vector<OpenedSegment> segments;
    for (const SegmentPlace& place : found.segments)
      attempt_to(report.findings, [&] {
        try {
          const auto found_there = known.find({place.subfile, place.commit});
          segments.push_back(found_there == known.end() ? open_segment(scan, place) : std::move(found_there->second));
        } catch (Error& error) {
          throw error.at(name_of(found));
        }
      });
    if (found.complete && segments.size() == found.segments.size()) {
      const std::size_t before = report.findings.size();
      attempt_to(report.findings, [&] { tables.complete.push_back(join_segments(found, segments)); });
      if (report.findings.size() == before) {
        check_volume(tables.complete.back(), name_of(found), report.findings);
        continue;
      }
    }
    std::move(segments.begin(), segments.end(), std::back_inserter(tables.others));
  }
  return tables;
}

// Several steps may share a mesh. We read it once.
using SharedMeshes = std::map<std::tuple<Flow, std::int64_t, std::int64_t>, NeighbourSource>;

NeighbourSource shared_neighbours(const OpenedSegment& segment, const fs::path& store, SharedMeshes& meshes) {
  const auto& mesh = segment.table.triangles;
  if (!mesh || !mesh->origin || mesh->of_solids()) return {};
  NeighbourSource& source = meshes[{segment.footer.flow, mesh->origin->step, mesh->origin->checksum}];
  if (!source) source = neighbours_of_step(*mesh, {}, store, segment.footer.flow);
  return source;
}

template <class Way>
void both(Way& way, CheckedStretch& piece) {
  using base::both;
  std::string text;
  if constexpr (std::is_same_v<Way, base::Put>) {
    std::vector<std::size_t> rows(piece.segment.table.parts.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    text = describe(piece.segment, rows);
  }
  both(way, text, piece.step, piece.gaps, piece.has_gaps);
  if constexpr (!std::is_same_v<Way, base::Put>) piece.segment = understand_segment(text);
}

std::int64_t jobs_in(const OpenedSegment& segment) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(segment.table.parts.size()));
}

// The pieces with the jobs of numbers [first, last), where segments have one job a part, or one if they have none.
std::vector<CheckedStretch> pieces_of(const std::vector<const OpenedSegment*>& segments, std::int64_t first,
                                      std::int64_t last) {
  std::vector<CheckedStretch> pieces;
  std::int64_t at = 0;  // the segment's first job
  for (const OpenedSegment* segment : segments) {
    const std::int64_t begin = std::max(first, at) - at, end = std::min(last, at + jobs_in(*segment)) - at;
    at += jobs_in(*segment);
    if (begin >= end) continue;
    std::vector<std::size_t> rows;
    for (std::int64_t row = begin; row < std::min<std::int64_t>(end, std::ssize(segment->table.parts)); ++row)
      rows.push_back(static_cast<std::size_t>(row));
    CheckedStretch piece{{segment->path, segment->footer, segment->at, with_rows(segment->table, rows)},
                         to_string(segment->footer.flow) + " step " + std::to_string(segment->footer.step)};
    piece.has_gaps = begin == 0;
    // Gaps are found here, because a piece has only some of the segment's streams.
    if (piece.has_gaps) piece.gaps = gaps_of(*segment);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

std::vector<PartJob> jobs_of(const std::vector<CheckedStretch>& pieces, const fs::path& store) {
  std::vector<PartJob> jobs;
  SharedMeshes meshes;
  for (const CheckedStretch& piece : pieces) {
    const NeighbourSource neighbours = shared_neighbours(piece.segment, store, meshes);
    const std::size_t parts = piece.segment.table.parts.size();
    for (std::size_t row = 0; row < std::max<std::size_t>(parts, 1); ++row)
      jobs.push_back({&piece.segment, parts > 0 ? std::optional(row) : std::nullopt, piece.step,
                      row == 0 && piece.has_gaps ? &piece.gaps : nullptr, neighbours});
  }
  return jobs;
}

// Size of the largest part, decoded, in bytes.
std::uint64_t largest_part(const std::vector<PartJob>& jobs) {
  std::uint64_t largest = 0;
  for (const PartJob& job : jobs) {
    if (!job.row) continue;
    const PartRow& row = job.segment->table.parts[*job.row];
    std::uint64_t bytes = 0;
    for (std::size_t s = row.first_stream; s < row.last_stream; ++s) bytes += job.segment->table.streams[s].raw_bytes;
    largest = std::max(largest, bytes);
  }
  return largest;
}

// Checks everything but the streams and the padding around them.
Tables check_footers(const Scan& scan, Report& report) {
  report.findings = scan.damage;
  report.notes = scan.notes;
  check_marker(scan.store, report);
  check_indexes(scan, report);
  SegmentsFound segments = open_files(scan, report);
  Tables tables = open_tables(scan, std::move(segments), report);
  report.steps = static_cast<int>(tables.complete.size());
  const auto is_damage = [](const Finding& finding) { return finding.kind == FindingKind::damaged; };
  if (tables.complete.empty() && tables.others.empty() &&
      std::any_of(report.findings.begin(), report.findings.end(), is_damage)) {
    std::string text = "nothing in the store could be opened";
    for (const Finding& finding : report.findings) text += "\n    " + finding.where + ": " + finding.what;
    throw Error(Kind::corrupt, text).at(scan.store.string());
  }
  return tables;
}

std::vector<const OpenedSegment*> segments_of(const Tables& tables) {
  std::vector<const OpenedSegment*> all;
  for (const OpenedStep& step : tables.complete)
    for (const OpenedSegment& segment : step.segments) all.push_back(&segment);
  for (const OpenedSegment& segment : tables.others) all.push_back(&segment);
  return all;
}

// Collective. Adds what each rank has found in its share, in the order of ranks.
void add_all(const base::Ranks& ranks, Report& report, Report mine) {
  for (Finding& finding : base::gather(ranks, mine.findings)) report.findings.push_back(std::move(finding));
  const auto sums = base::sum(ranks, std::vector<std::uint64_t>{mine.streams, mine.bytes});
  report.streams += sums[0];
  report.bytes += sums[1];
}

// Collective. Rank 0 tells each rank of its share of the jobs.
std::vector<CheckedStretch> deal_pieces(const Tables& tables, const base::Ranks& ranks) {
  const auto segments = segments_of(tables);
  std::int64_t jobs = 0;
  for (const OpenedSegment* segment : segments) jobs += jobs_in(*segment);
  std::vector<CheckedStretch> mine;
  std::vector<std::string> to(static_cast<std::size_t>(ranks.size));
  base::agree(ranks, [&] {
    if (ranks.rank != 0) return;
    for (int rank = 0; rank < ranks.size; ++rank) {
      const auto [first, last] = base::share(jobs, rank, ranks.size);
      std::vector<CheckedStretch> pieces = pieces_of(segments, first, last);
      if (rank == 0)
        mine = std::move(pieces);
      else
        to[static_cast<std::size_t>(rank)] = base::packed(pieces);
    }
  });
  const std::vector<std::string> from = base::all_to_all(ranks, std::move(to));
  base::agree(ranks, [&] {
    if (ranks.rank != 0) mine = base::unpacked<std::vector<CheckedStretch>>(from[0]);
  });
  return mine;
}

Report check_own_parts(std::span<const PartJob> jobs, int threads, const base::Progress& progress) {
  Report report;
  base::ordered_for(
      jobs.size(), threads, [&](std::size_t i) { return check_part_of(jobs[i]); },
      [&](std::size_t i, VerifiedPart result) {
        std::move(result.findings.begin(), result.findings.end(), std::back_inserter(report.findings));
        report.streams += result.streams;
        report.bytes += result.bytes;
        if (progress && !progress(static_cast<std::int64_t>(i + 1), static_cast<std::int64_t>(jobs.size())))
          throw Error(Kind::interrupted, "interrupted");
      });
  return report;
}

}  // namespace

std::string to_string(FindingKind kind) {
  if (kind == FindingKind::unsupported) return "unsupported";
  return kind == FindingKind::lost ? "lost" : "damaged";
}

Report verify_quick(const fs::path& path) {
  Report report;
  const Tables tables = check_footers(scan_store(path), report);
  const auto count = [&](const OpenedSegment& segment) {
    report.streams += segment.table.streams.size();
    report.bytes += segment.footer.table.length + segment.at.length;
  };
  for (const OpenedStep& step : tables.complete)
    for (const OpenedSegment& segment : step.segments) count(segment);
  for (const OpenedSegment& segment : tables.others) count(segment);
  return report;
}

Report verify_shared(const fs::path& path, int threads, const base::Progress& progress, const base::Ranks& ranks) {
  Report report, own_parts;
  std::vector<CheckedStretch> pieces;
  {
    Tables tables;
    base::agree(ranks, [&] {
      if (ranks.rank != 0) return;
      tables = check_footers(scan_store(path), report);
      for (const OpenedSegment* segment : segments_of(tables))
        report.bytes += segment->footer.table.length + segment->at.length;
    });
    report = base::from_first(ranks, report);
    pieces = deal_pieces(tables, ranks);
  }
  const auto jobs = jobs_of(pieces, path);
  base::agree(ranks, [&] {
    // A thread has a part's stored bytes and its values in memory: at most twice the values' size.
    own_parts = check_own_parts(jobs, base::threads_within_memory(threads, 2 * largest_part(jobs)), progress);
  });
  add_all(ranks, report, std::move(own_parts));
  return report;
}

Report verify(const fs::path& path, int threads, const base::Progress& progress) {
  return verify_shared(path, threads, progress, {});
}

}  // namespace octavo::store
