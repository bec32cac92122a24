#include "octavo/verbs/repack.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/step/recut.hpp"
#include "octavo/step/target.hpp"
#include "octavo/store/pack.hpp"
#include "octavo/store/read/opened.hpp"
#include "octavo/store/write/copy_segment.hpp"
#include "octavo/verbs/store_files.hpp"

namespace octavo::verbs {
namespace {

using base::Error;
using base::Kind;
namespace fs = std::filesystem;

// ------------------------------------------------------------------ which steps

bool asked_for(const store::StepFound& step, const RepackOptions& options) {
  return listed(step) && (!options.flow || step.flow == *options.flow) &&
         (options.steps.empty() || std::count(options.steps.begin(), options.steps.end(), step.step) > 0);
}

std::vector<store::StepFound> choose_steps(const store::Scan& scan, const RepackOptions& options) {
  std::vector<store::StepFound> steps;
  std::copy_if(scan.steps.begin(), scan.steps.end(), std::back_inserter(steps),
               [&](const store::StepFound& step) { return asked_for(step, options); });
  for (const std::int64_t number : options.steps)
    if (std::none_of(steps.begin(), steps.end(), [&](const store::StepFound& step) { return step.step == number; }))
      throw Error(Kind::usage, "there is no complete step " + std::to_string(number))
          .at(scan.store.string())
          .hint("octavo ls lists the steps");
  if (steps.empty()) throw Error(Kind::usage, "there is no complete step to repack").at(scan.store.string());
  return steps;
}

std::vector<std::string> notes_of(const store::Scan& scan) {
  std::vector<std::string> notes = scan.notes;
  for (const store::Finding& finding : scan.damage) notes.push_back(finding.where + ": " + finding.what);
  return notes;
}

// ------------------------------------------------------------------ parts as they are

store::EncodedPart copy_part(const store::OpenedStep& step, const store::PartPlace& place) {
  const store::OpenedSegment& segment = step.segments[place.segment];
  const file::File file = file::open_read(segment.path);
  return store::encoded_part(segment, place.row, store::fetch_from(file));
}

// ------------------------------------------------------------------ new parts

/// The bound that a codec's name tells ("tree/2 point:0.002"; numbers in names are exact).
codec::Bound bound_in(const std::string& name) {
  const auto number_after = [&](const char* word) {
    const std::size_t at = name.find(word);
    return at == std::string::npos ? 0.0 : std::strtod(name.c_str() + at + std::strlen(word), nullptr);
  };
  if (const double value = number_after(" abs:"); value > 0) return {codec::BoundKind::absolute, value};
  if (const double value = number_after(" point:"); value > 0) return {codec::BoundKind::pointwise_relative, value};
  return {};
}

/// How each field was stored: with its bound, if any of its streams tells one.
store::EncodeOptions encoding_of(const store::OpenedStep& step, codec::Effort effort) {
  store::EncodeOptions options;
  options.codec.effort = effort;
  for (const store::OpenedSegment& segment : step.segments)
    for (const store::StreamRow& stream : segment.table.streams) {
      if (stream.kind != store::StreamKind::field) continue;
      const codec::Bound bound = bound_in(segment.table.codecs[stream.codec]);
      if (bound.kind == codec::BoundKind::lossless) continue;
      options.field_codec[store::name_of(segment.table, stream)] = {bound, effort, codec::Method::automatic};
    }
  return options;
}

/// The attributes of particles ("species/attribute") that were stored with a bound.
std::set<std::string> lossy_attributes(const store::OpenedStep& step) {
  std::set<std::string> found;
  for (const store::OpenedSegment& segment : step.segments)
    for (const store::StreamRow& stream : segment.table.streams)
      if (stream.kind == store::StreamKind::particles &&
          bound_in(segment.table.codecs[stream.codec]).kind != codec::BoundKind::lossless)
        found.insert(store::name_of(segment.table, stream));
  return found;
}

/// Whether a stream decodes to the field's values.
bool gives_back(const store::Stream& stream, const mesh::Field& field, const std::vector<std::size_t>& offsets) {
  const std::size_t cell = field.bytes.size() / offsets.back();
  const std::size_t begin = offsets[static_cast<std::size_t>(stream.first_level)] * cell;
  const std::size_t end = offsets[static_cast<std::size_t>(stream.last_level) + 1] * cell;
  const auto bytes = std::span<const std::byte>(field.bytes).subspan(begin, end - begin);
  return store::checksum_little_endian(bytes, mesh::size_of(field.info.type)) == stream.raw_checksum;
}

struct NewPart {
  store::EncodedPart part;
  int made_lossless = 0;
};

/// `lossy`: attributes of particles that had a bound. They are stored losslessly, because their grid belongs to the old
/// part.
NewPart encode_exactly(const mesh::Part& part, const mesh::Header& header, store::EncodeOptions options,
                       const std::set<std::string>& lossy) {
  NewPart out{store::encode(part, header, options), 0};
  for (const store::Stream& stream : out.part.streams)
    out.made_lossless += stream.kind == store::StreamKind::particles && lossy.contains(stream.field) ? 1 : 0;
  if (options.field_codec.empty()) return out;
  const int of_particles = out.made_lossless;
  const auto offsets = level_offsets(octree_of(part));
  for (const store::Stream& stream : out.part.streams)
    // Values that a codec gave back mostly keep their bits under the same bound. The others are stored losslessly, as
    // two losses could pass the bound.
    if (stream.kind == store::StreamKind::field && !gives_back(stream, part.fields[stream.index], offsets))
      out.made_lossless += static_cast<int>(options.field_codec.erase(stream.field));
  if (out.made_lossless > of_particles) out.part = store::encode(part, header, options);
  return out;
}

// ------------------------------------------------------------------ one step

/// Stands in the names of bytes that belong to the whole run, not to one part: "ramses/run/turb_fields.dat".
const std::string of_the_run = "/run/";

struct RepackRun {
  const RepackOptions& options;
  RepackReport report;
  std::int64_t done = 0, total = 0;

  void count() {
    ++report.parts;
    ++done;
    if (options.progress && !options.progress(done, total)) throw Error(Kind::interrupted, "interrupted");
  }
};

/// A step, and the sources of its new parts.
struct RepackedStep {
  store::OpenedStep step;
  StoreFiles files;
  bool keep = true;
  mesh::Dataset dataset;
  step::Recut recut;
  store::EncodeOptions encoding;
  std::set<std::string> lossy{};  ///< attributes of particles
  std::string lost_bytes{};       ///< a note; empty if nothing is left out
};

/// A mesh of triangles may be stored with another step. Throws Error(usage) unless that step is chosen, too.
void require_mesh(const store::OpenedStep& step, const std::vector<store::StepFound>& chosen) {
  if (!step.triangles || !step.triangles->origin) return;
  const std::int64_t number = step.triangles->origin->step;
  for (const store::StepFound& other : chosen)
    if (other.step == number && other.flow == step.flow) return;
  throw Error(Kind::usage, "the mesh of step " + std::to_string(step.step) + " is stored with step " +
                               std::to_string(number) + ", which is left out")
      .hint("repack both");
}

RepackedStep prepare(const store::Scan& scan, const store::StepFound& found,
                     const std::vector<store::StepFound>& chosen, const RepackOptions& options) {
  RepackedStep work;
  base::agree(options.ranks, [&] {
    work.step = store::open_segments(scan, found);
    require_mesh(work.step, chosen);
  });
  const int parts = static_cast<int>(work.step.parts.size());
  work.keep = options.domains == 0 || options.domains == parts;
  if (!work.keep && work.step.triangles)
    throw Error(Kind::unsupported, "a mesh of triangles or solids keeps its parts: expected " + std::to_string(parts) +
                                       ", found " + std::to_string(options.domains))
        .hint("convert it to a store of one part");
  work.files = plan_files(work.keep ? parts : options.domains, options.per_file, options.ranks);
  if (work.keep) return work;
  base::agree(options.ranks, [&] {
    work.dataset = mesh::with_walls_as_species(store::open_step(scan.store, found.flow, found.step));
  });
  work.lost_bytes = store::lost_bytes_note(work.step, of_the_run);
  work.recut = step::plan_recut(work.dataset, options.domains, options.ranks);
  work.encoding = encoding_of(work.step, options.effort);
  work.lossy = lossy_attributes(work.step);
  return work;
}

void copy_parts(const RepackedStep& work, int file, store::SegmentWriter& writer, RepackRun& run) {
  for (int part = work.files.first(file); part < work.files.last(file); ++part) {
    writer.add(copy_part(work.step, work.step.parts[static_cast<std::size_t>(part)]));
    ++run.report.parts_copied;
    run.count();
  }
}

bool is_of_the_run(const std::string& name) { return name.find(of_the_run) != std::string::npos; }

/// Bytes of the whole run, which part 0 has. Reads nothing if the step has none.
std::map<std::string, std::vector<std::byte>> bytes_of_the_run(const RepackedStep& work) {
  std::vector<std::string> names;
  for (const store::OpenedSegment& segment : work.step.segments)
    names.insert(names.end(), segment.table.opaque.begin(), segment.table.opaque.end());
  if (std::none_of(names.begin(), names.end(), is_of_the_run)) return {};
  mesh::Request bytes_only;
  bytes_only.fields.emplace();
  bytes_only.opaque = true;
  auto bytes = work.dataset.read(0, bytes_only).opaque;
  std::erase_if(bytes, [](const auto& one) { return !is_of_the_run(one.first); });
  return bytes;
}

void make_parts(const RepackedStep& work, int file, step::Recutter& recutter, int threads, store::SegmentWriter& writer,
                RepackRun& run) {
  const int first = work.files.first(file);
  base::ordered_for(
      static_cast<std::size_t>(work.files.last(file) - first), threads,
      [&](std::size_t i) {
        mesh::Part part = recutter.part(first + static_cast<int>(i));
        if (first + static_cast<int>(i) == 0) part.opaque = bytes_of_the_run(work);
        return encode_exactly(part, work.step.header, work.encoding, work.lossy);
      },
      [&](std::size_t, NewPart part) {
        run.report.made_lossless += part.made_lossless;
        writer.add(std::move(part.part));
        run.count();
      });
}

void write_step(const RepackedStep& work, const fs::path& target, int threads, RepackRun& run) {
  store::SegmentPlan segment;
  segment.store = target;
  segment.flow = work.step.flow;
  segment.step = work.step.step;
  segment.whole_domain = std::all_of(work.step.segments.begin(), work.step.segments.end(),
                                     [](const store::OpenedSegment& s) { return s.footer.whole_domain; });
  step::Recutter recutter(work.dataset, work.recut, threads);
  write_files(run.options.ranks, work.files, segment, [&](int file, const store::SegmentPlan& own) {
    store::SegmentWriter writer(own, work.step.header);
    if (work.keep)
      copy_parts(work, file, writer, run);
    else
      make_parts(work, file, recutter, threads, writer, run);
    writer.commit();
    run.report.stored_bytes += writer.bytes_written();
    return writer.order();
  });
  run.report.parts_read += recutter.reads();
  if (!work.lost_bytes.empty())
    run.report.notes.push_back(to_string(segment.flow) + " step " + std::to_string(segment.step) + ": " +
                               work.lost_bytes);
}

// ------------------------------------------------------------------ the whole

/// The path at which the new store is assembled; never its final name.
step::OutputPlace prepare_sibling(const fs::path& in, const fs::path& out, const store::Scan& scan,
                                  const RepackOptions& options) {
  std::error_code ignored;
  if (fs::equivalent(in, out, ignored) && !scan.damage.empty())
    throw Error(Kind::corrupt,
                "the store is damaged, and repacking it in place would drop what is left of the damage: " +
                    scan.damage.front().what)
        .at(scan.damage.front().where)
        .hint("write to another store");
  return step::prepare_target(out, {}, options.overwrite, false);
}

/// Adds the reports of the other ranks.
void sum_over_ranks(const base::Ranks& ranks, RepackReport& report) {
  const auto sum =
      base::sum<std::int64_t>(ranks, {report.parts, report.parts_copied, report.parts_read,
                                      static_cast<std::int64_t>(report.stored_bytes), report.made_lossless});
  report.parts = static_cast<int>(sum[0]);
  report.parts_copied = static_cast<int>(sum[1]);
  report.parts_read = static_cast<int>(sum[2]);
  report.stored_bytes = static_cast<std::uint64_t>(sum[3]);
  report.made_lossless = static_cast<int>(sum[4]);
}

/// How many new parts this rank will write.
std::int64_t count_parts(const store::Scan& scan, const std::vector<store::StepFound>& steps,
                         const RepackOptions& options) {
  std::int64_t total = 0;
  for (const store::StepFound& step : steps) {
    int parts = options.domains;
    if (parts == 0)
      for (const store::SegmentPlace& place : step.segments) parts += committed(scan, place).footer.parts;
    const StoreFiles files = plan_files(parts, options.per_file, options.ranks);
    for (int file = 0; file < files.files; ++file)
      if (files.rank_of(file) == options.ranks.rank) total += files.last(file) - files.first(file);
  }
  return total;
}

}  // namespace

RepackReport repack(const fs::path& in, const fs::path& asked, const RepackOptions& options) {
  const fs::path out = asked.has_filename() ? asked : asked.parent_path();
  const int threads = options.ranks.size > 1 && options.threads == 0 ? 1 : base::thread_count(options.threads);
  RepackRun run{options, {}, 0, 0};
  store::Scan scan;
  std::vector<store::StepFound> steps;
  base::agree(options.ranks, [&] {
    if (options.domains < 0) throw Error(Kind::usage, "domains: expected at least 1");
    if (!store::recognise(in)) throw Error(Kind::usage, "only a store can be repacked").at(in.string());
    scan = store::scan_store(store::store_of(in));
    steps = choose_steps(scan, options);
    run.total = count_parts(scan, steps, options);
  });
  step::write_beside(
      options.ranks, [&] { return prepare_sibling(scan.store, out, scan, options); },
      [&](const fs::path& path) {
        for (const store::StepFound& step : steps) write_step(prepare(scan, step, steps, options), path, threads, run);
      });
  run.report.steps = static_cast<int>(steps.size());
  const auto notes = notes_of(scan);
  run.report.notes.insert(run.report.notes.begin(), notes.begin(), notes.end());
  sum_over_ranks(options.ranks, run.report);
  return run.report;
}

}  // namespace octavo::verbs
