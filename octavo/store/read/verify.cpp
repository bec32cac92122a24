#include "octavo/store/read/verify.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>

#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/memory.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/store/read/index.hpp"
#include "octavo/store/read/opened.hpp"
#include "octavo/store/read/triangles.hpp"

namespace octavo::store {

template <class Way>
void both(Way& way, Finding& finding) {
  using base::both;
  both(way, finding.where, finding.what, finding.kind);
}

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

// ------------------------------------------------------------------ bytes that say nothing

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

void check_head(const Subfile& subfile, Report& report) {
  if (!subfile.head) return;
  attempt_to(report.findings, [&] {
    const file::File file = file::open_read(subfile.path);
    for (std::size_t block = 0; block < 3; ++block)
      check_zero(file, block * sector_block + sector_size, (block + 1) * sector_block, report.findings);
  });
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
  const bool expected = other ? other == newest || other->sequence + 1 == newest->sequence : newest->sequence == 1;
  if (!damaged && !expected)
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

void check_padding(const OpenedSegment& segment, std::vector<Finding>& findings) {
  attempt_to(findings, [&] {
    const file::File file = file::open_read(segment.path);
    const auto check_gap = [&](std::uint64_t begin, std::uint64_t end) {
      if (begin + least_free_gap > end) check_zero(file, begin, end, findings);
    };
    std::uint64_t position = segment.footer.begin;
    for (const StreamRow& stream : segment.table.streams) {
      check_gap(position, stream.offset);
      position = stream.offset + stream.stored_bytes;
    }
    const Extent& table = segment.footer.table;
    check_gap(position, table.offset);
    check_gap(table.offset + table.length, segment.at.offset);
    const std::uint64_t last = segment.at.offset + segment.at.length;
    check_zero(file, last, std::min(align(last), file::size(file)), findings);
  });
}

// ------------------------------------------------------------------ parts

struct PartJob {
  const OpenedSegment* segment = nullptr;
  std::size_t row = 0;
  std::string step;
  NeighbourSource neighbours;  // of a mesh that another step holds
};

struct PartResult {
  std::vector<Finding> findings;
  std::uint64_t streams = 0, bytes = 0;
};

// Checks the stored checksum of every stream; each mismatch is a finding. Returns whether all match.
bool check_stored(const file::File& file, const PartJob& job, PartResult& result) {
  const Table& table = job.segment->table;
  const PartRow& part = table.parts[job.row];
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
  return result.findings.empty();
}

StoredMesh mesh_of_part(const PartJob& job, const file::File& file) {
  mesh::Request only;
  only.fields.emplace();
  const StoredTriangles part = decode_triangles(job.segment->table, job.row, only, source_of(file));
  return mesh_of(part.mesh, part.arrays, {&part, 1});
}

void check_triangles(const PartJob& job, const file::File& file, const mesh::Request& everything) {
  const Table& table = job.segment->table;
  Source source = source_of(file);
  source.neighbours = job.neighbours;
  if (!source.neighbours)
    source.neighbours = neighbours_of_step(*table.triangles, [&] { return mesh_of_part(job, file); }, {}, {});
  const StoredTriangles part = decode_triangles(table, job.row, everything, source);
  if (!part.mesh.origin) mesh_of(part.mesh, part.arrays, {&part, 1});
}

PartResult check_part_of(const PartJob& job) {
  PartResult result;
  attempt_to(result.findings, [&] {
    const file::File file = file::open_read(job.segment->path);
    if (!check_stored(file, job, result)) return;
    try {
      mesh::Request everything;
      everything.particles = everything.opaque = true;
      const Table& table = job.segment->table;
      if (table.triangles)
        check_triangles(job, file, everything);
      else
        check_part(table, job.row, decode_part(table, job.row, everything, source_of(file)));
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

// Opens all tables, including those of incomplete steps, so that we read everything that is referred to.
Tables open_tables(const Scan& scan, Report& report) {
  Tables tables;
  for (const StepFound& found : scan.steps) {
    if (!found.unknown.empty()) {
      const Program& writer = committed(scan, found.segments[0]).footer.writer;
      if (listed(found))
        report.findings.push_back({name_of(found), describe_unknown(found.unknown, writer), FindingKind::unsupported});
      continue;
    }
    std::vector<OpenedSegment> segments;
    for (const SegmentPlace& place : found.segments)
      attempt_to(report.findings, [&] {
        try {
          segments.push_back(open_segment(scan, place));
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
  if (!mesh || !mesh->origin) return {};
  NeighbourSource& source = meshes[{segment.footer.flow, mesh->origin->step, mesh->origin->checksum}];
  if (!source) source = neighbours_of_step(*mesh, {}, store, segment.footer.flow);
  return source;
}

std::vector<PartJob> jobs_of(const Tables& tables, const fs::path& store) {
  std::vector<PartJob> jobs;
  SharedMeshes meshes;
  const auto add = [&](const OpenedSegment& segment) {
    const NeighbourSource neighbours = shared_neighbours(segment, store, meshes);
    const std::string step = to_string(segment.footer.flow) + " step " + std::to_string(segment.footer.step);
    for (std::size_t row = 0; row < segment.table.parts.size(); ++row)
      jobs.push_back({&segment, row, step, neighbours});
  };
  for (const OpenedStep& step : tables.complete)
    for (const OpenedSegment& segment : step.segments) add(segment);
  for (const OpenedSegment& segment : tables.others) add(segment);
  return jobs;
}

// Size of the largest part, decoded, in bytes.
std::uint64_t largest_part(const std::vector<PartJob>& jobs) {
  std::uint64_t largest = 0;
  for (const PartJob& job : jobs) {
    const PartRow& row = job.segment->table.parts[job.row];
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
  for (const Subfile& subfile : scan.subfiles) check_head(subfile, report);
  Tables tables = open_tables(scan, report);
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

// This rank's share of some things that all ranks have, unless a writer has changed the store meanwhile.
std::array<std::size_t, 2> own_share(const base::Ranks& ranks, std::size_t things) {
  const auto all = base::gather(ranks, std::vector<std::size_t>{things});
  if (std::ranges::any_of(all, [&](std::size_t other) { return other != things; }))
    throw Error(Kind::unreadable, "the store has changed while several ranks read it").hint("verify with one process");
  const auto [first, last] = base::share(static_cast<std::int64_t>(things), ranks.rank, ranks.size);
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(last)};
}

Report check_own_segments(const std::vector<const OpenedSegment*>& segments, std::size_t first, std::size_t last) {
  Report report;
  for (std::size_t s = first; s < last; ++s) {
    check_padding(*segments[s], report.findings);
    report.bytes += segments[s]->footer.table.length + segments[s]->at.length;
  }
  return report;
}

Report check_own_parts(std::span<const PartJob> jobs, int threads, const base::Progress& progress) {
  Report report;
  base::ordered_for(
      jobs.size(), threads, [&](std::size_t i) { return check_part_of(jobs[i]); },
      [&](std::size_t i, PartResult result) {
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
  Report report, own_segments, own_parts;
  Tables tables;
  base::agree(ranks, [&] { tables = check_footers(scan_store(path), report); });
  const auto segments = segments_of(tables);
  const auto jobs = jobs_of(tables, path);
  const auto mine = own_share(ranks, segments.size());
  base::agree(ranks, [&] { own_segments = check_own_segments(segments, mine[0], mine[1]); });
  add_all(ranks, report, std::move(own_segments));
  const auto my_jobs = own_share(ranks, jobs.size());
  base::agree(ranks, [&] {
    own_parts = check_own_parts(std::span(jobs).subspan(my_jobs[0], my_jobs[1] - my_jobs[0]),
                                base::threads_within_memory(threads, 2 * largest_part(jobs)), progress);
  });
  add_all(ranks, report, std::move(own_parts));
  return report;
}

Report verify(const fs::path& path, int threads, const base::Progress& progress) {
  return verify_shared(path, threads, progress, {});
}

}  // namespace octavo::store
