#include "octavo/engine/restart/step_parts.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/pack.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/deliver.hpp"
#include "octavo/step/open.hpp"
#include "octavo/step/translate.hpp"

namespace octavo::engine {

template <class Way>
void both(Way& way, SegmentRef& segment) {
  using base::both;
  both(way, segment.file, segment.first, segment.parts, segment.footer);
}

namespace {

using base::Error;
using base::Kind;
namespace fs = std::filesystem;

// A step as all ranks are told of it.
struct Told {
  std::string store;
  store::Flow flow{};
  std::int64_t step = 0;
  store::Attempt attempt{};
  std::uint64_t order = 0;
  int parts = 0;
  bool triangles = false;
  std::vector<std::byte> footer, table;  // of a segment
  store::Extent at{};                    // of the footer
};

template <class Way>
void both(Way& way, Told& told) {
  using base::both;
  both(way, told.store, told.flow, told.step, told.attempt, told.order, told.parts, told.triangles, told.footer,
       told.table, told.at);
}

void add(StoredStep& step, const std::string& file, const store::Committed& commit) {
  step.triangles = step.triangles || commit.footer.mesh == store::triangle_mesh;
  // A segment without parts does not describe the fields; it stands for the step only if there is no other.
  if (!step.all.empty() && step.parts == 0 && commit.footer.parts > 0) step.all.clear();
  if (step.all.empty() || commit.footer.parts > 0)
    step.all.push_back({file, step.parts, commit.footer.parts, commit.at});
  step.parts += commit.footer.parts;
}

StepParts parts_of(const store::Scan& scan, const store::StepFound& found) {
  StoredStep step;
  step.store = scan.store;
  step.found = found;
  step.found.segments.clear();
  const auto file_of = [&](const store::SegmentPlace& place) {
    return scan.subfiles[place.subfile].path.lexically_relative(scan.store).generic_string();
  };
  if (found.totals) {
    step.first_file = file_of(found.segments[0]);
    step.segments = store::committed(scan, found.segments[0]).footer.segments;
  } else {
    for (const store::SegmentPlace& place : found.segments) add(step, file_of(place), store::committed(scan, place));
  }
  return {step.found, {}, {}, std::make_shared<StoredStep>(std::move(step))};
}

const store::OpenedSegment& segment_of(StoredStep& step, const SegmentRef& segment) {
  const std::lock_guard lock(*step.reading);
  const auto known = step.read.find(segment.first);
  if (known != step.read.end()) return known->second;
  return step.read.emplace(segment.first, store::open_segment(step.store / segment.file, segment.footer)).first->second;
}

const SegmentRef& ref_of(const StoredStep& step, int part) {
  const auto after = step.known.upper_bound(part);
  if (after == step.known.begin() || part >= std::prev(after)->second.first + std::prev(after)->second.parts)
    throw std::logic_error("restart: this rank was not told where part " + std::to_string(part) + " is");
  return std::prev(after)->second;
}

// The segments that have some of the parts [first, last), of all.
std::vector<SegmentRef> segments_with(const std::vector<SegmentRef>& all, int first, int last) {
  std::vector<SegmentRef> some;
  auto segment = std::upper_bound(all.begin(), all.end(), first,
                                  [](int part, const SegmentRef& s) { return part < s.first + s.parts; });
  for (; segment != all.end() && segment->first < last; ++segment) some.push_back(*segment);
  return some;
}

void learn(StoredStep& step, std::vector<SegmentRef> segments) {
  for (SegmentRef& segment : segments) step.known.emplace(segment.first, std::move(segment));
}

Told describe(StoredStep& step) {
  const store::OpenedSegment& telling = segment_of(step, step.all.front());
  return {step.store.string(), step.found.flow, step.found.step,          step.found.attempt,      step.found.order,
          step.parts,          step.triangles,  to_bytes(telling.footer), to_bytes(telling.table), telling.at};
}

PartEntry entry_of(StoredStep& step, int part) {
  const SegmentRef& segment = ref_of(step, part);
  const store::OpenedSegment& opened = segment_of(step, segment);
  const auto row = static_cast<std::size_t>(part - segment.first);
  const mesh::Header& header = opened.table.header;
  if (header.fields != step.header.fields || header.dim != step.header.dim || header.roots != step.header.roots ||
      header.block != step.header.block)
    throw Error(Kind::corrupt, "segments disagree on the step's header or fields").at(opened.path.string());
  return {&opened, row};
}

mesh::Part read_stored(StoredStep& step, int part, const mesh::Request& request, const store::Place& place) {
  const PartEntry entry = entry_of(step, part);
  try {
    const file::File file = file::open_read(entry.segment->path);
    store::Source source = store::source_of(file);
    source.place = place;
    return store::decode_part(entry.segment->table, entry.row, request, source);
  } catch (Error& error) {
    throw error.at(entry.segment->path.string());
  }
}

// A restart only asks for a part and its values. We leave out the rest of a Dataset, which would need the tables of all
// segments.
mesh::Dataset dataset_of(const std::shared_ptr<StoredStep>& step) {
  mesh::Dataset dataset;
  dataset.format = "octavo";
  dataset.path = step->store.string();
  dataset.header = step->header;
  dataset.num_parts = step->parts;
  dataset.read = [step](int part, const mesh::Request& request) { return read_stored(*step, part, request, {}); };
  return dataset;
}

StepParts understand(const Told& told) {
  StoredStep step;
  step.store = told.store;
  step.found.flow = told.flow;
  step.found.step = told.step;
  step.found.attempt = told.attempt;
  step.found.order = told.order;
  step.found.complete = true;
  step.parts = told.parts;
  step.triangles = told.triangles;
  store::Table known = store::parse_table(told.table, store::parse_footer(told.footer, told.at));
  step.header = std::move(known.header);
  StepParts out{
      step.found, {}, {known.widths.begin(), known.widths.end()}, std::make_shared<StoredStep>(std::move(step))};
  out.dataset = dataset_of(out.stored);
  return out;
}

// Whether the store was created but is still empty.
bool is_empty_store(const fs::path& path) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end; it.increment(error))
    if (!it->is_directory(error)) return false;
  return !error;
}

}  // namespace

std::vector<StepParts> find_steps(const fs::path& path, store::Flow flow, std::vector<std::string>& notes) {
  std::error_code ignored;
  if (!fs::exists(path, ignored) || is_empty_store(path)) return {};
  const store::Scan scan = store::scan_store(path, store::Trust::index);
  for (const store::Finding& finding : scan.damage) notes.push_back(store::note_of(finding));
  notes.insert(notes.end(), scan.notes.begin(), scan.notes.end());
  std::vector<StepParts> steps;
  for (const store::StepFound& found : scan.steps)
    if (found.flow == flow && store::listed(found)) steps.push_back(parts_of(scan, found));
  std::sort(steps.begin(), steps.end(),
            [](const StepParts& a, const StepParts& b) { return a.found.step > b.found.step; });
  return steps;
}

Deal deal(int parts, int ranks, int rank) {
  const auto [first, last] = base::share(parts, rank, ranks);
  return {static_cast<int>(first), static_cast<int>(last)};
}

void read_footers(StepParts& step) {
  StoredStep& stored = *step.stored;
  if (stored.first_file.empty()) return;
  const fs::path directory = fs::path(stored.first_file).parent_path();
  for (int segment = 0; segment < stored.segments; ++segment) {
    const fs::path file = directory / store::subfile_name(segment);
    const store::Committed commit = store::find_commit(stored.store / file, {stored.found.step, stored.found.attempt});
    if (commit.footer.segment != segment || commit.footer.segments != stored.segments)
      throw Error(Kind::corrupt, "expected segment " + std::to_string(segment) + " of " +
                                     std::to_string(stored.segments) + " of the step, found segment " +
                                     std::to_string(commit.footer.segment) + " of " +
                                     std::to_string(commit.footer.segments))
          .at((stored.store / file).string());
    add(stored, file.generic_string(), commit);
  }
  stored.first_file.clear();
}

StepParts share_step(MPI_Comm comm, StepParts step) {
  const int ranks = ranks::size_of(comm);
  const bool tells = ranks::rank_in(comm) == 0;
  std::string text;
  std::vector<ranks::Parcel> parcels;
  ranks::agree(comm, [&] {
    if (!tells) return;
    read_footers(step);
    text = base::packed(describe(*step.stored));
    for (const SegmentRef& segment : step.stored->all) {
      if (segment.parts == 0) continue;
      const auto reader = [&](int part) { return static_cast<int>(base::owner(part, step.stored->parts, ranks)); };
      const int first = reader(segment.first), last = reader(segment.first + segment.parts - 1);
      parcels.push_back({first, base::packed(segment), last - first});
    }
  });
  text = ranks::from_first(comm, std::move(text));
  StepParts shared;
  ranks::agree(comm, [&] { shared = understand(base::unpacked<Told>(text)); });
  const auto told = ranks::deliver(comm, std::move(parcels));
  ranks::agree(comm, [&] {
    for (const ranks::Parcel& parcel : told) learn(*shared.stored, {base::unpacked<SegmentRef>(parcel.bytes)});
  });
  if (tells) shared.stored->all = std::move(step.stored->all);
  return shared;
}

void know_all(MPI_Comm comm, StepParts& step) {
  if (!step.stored) return;
  StoredStep& stored = *step.stored;
  const bool tells = ranks::rank_in(comm) == 0;
  const std::string text = ranks::from_first(comm, tells ? base::packed(stored.all) : std::string());
  ranks::agree(comm, [&] {
    if (!tells) stored.all = base::unpacked<std::vector<SegmentRef>>(text);
    learn(stored, segments_with(stored.all, 0, stored.parts));
  });
}

namespace {

// A message from one rank to another: parts, and the segments that have them.
struct Tidings {
  std::vector<int> parts;
  std::vector<SegmentRef> segments;
};

template <class Way>
void both(Way& way, Tidings& tidings) {
  using base::both;
  both(way, tidings.parts, tidings.segments);
}

}  // namespace

std::vector<int> tell_parts(MPI_Comm comm, StepParts& step, const std::vector<std::pair<int, int>>& told) {
  std::vector<ranks::Parcel> parcels;
  ranks::agree(comm, [&] {
    for (auto next = told.begin(); next != told.end();) {
      Tidings tidings;
      const int rank = next->first;
      for (; next != told.end() && next->first == rank; ++next) {
        tidings.parts.push_back(next->second);
        if (!step.stored) continue;
        const SegmentRef& segment = ref_of(*step.stored, next->second);
        if (tidings.segments.empty() || tidings.segments.back().first != segment.first)
          tidings.segments.push_back(segment);
      }
      parcels.push_back({rank, base::packed(tidings), 0});
    }
  });
  const auto came = ranks::deliver(comm, std::move(parcels));
  std::vector<int> parts;
  ranks::agree(comm, [&] {
    for (const ranks::Parcel& parcel : came) {
      Tidings tidings = base::unpacked<Tidings>(parcel.bytes);
      parts.insert(parts.end(), tidings.parts.begin(), tidings.parts.end());
      if (step.stored) learn(*step.stored, std::move(tidings.segments));
    }
  });
  std::sort(parts.begin(), parts.end());
  return parts;
}

PartEntry entry_of(const StepParts& step, int part) { return entry_of(*step.stored, part); }

mesh::Part read_part(const StepParts& step, int part, const mesh::Request& request, const store::Place& place) {
  return step.stored && place ? read_stored(*step.stored, part, request, place) : step.dataset.read(part, request);
}

void stream_part(const StepParts& step, int part, const mesh::Request& request, const store::ValueSink& sink) {
  if (step.stored) {
    const PartEntry entry = entry_of(step, part);
    return store::stream_from(*entry.segment, entry.row, request, sink);
  }
  const mesh::Part read = step.dataset.read(part, request);
  const auto offsets = level_offsets(std::get<mesh::Octree>(read.mesh));
  for (std::size_t f = 0; f < read.fields.size(); ++f) {
    const std::span<const std::byte> bytes(read.fields[f].bytes);
    const std::size_t width = bytes.size() / std::max<std::size_t>(1, offsets.back());
    for (std::size_t level = 0; level + 1 < offsets.size(); ++level)
      sink(f, static_cast<int>(level), 0,
           bytes.subspan(offsets[level] * width, (offsets[level + 1] - offsets[level]) * width));
  }
}

// Translates an output to Octavo's names. Code and attributes remain those of the output.
mesh::Dataset by_own_names(const mesh::Dataset& output) {
  std::vector<std::string> notes = output.notes;
  mesh::Dataset out = step::translate(output, {}, notes);
  const auto counted = out.header.attributes.find("nstep_coarse");
  auto attributes = output.header.attributes;
  if (counted != out.header.attributes.end()) attributes["step"] = counted->second;
  out.header.code = output.header.code;
  out.header.attributes = std::move(attributes);
  out.notes = std::move(notes);
  return out;
}

// The number in the name of a FLASH file counts files; the run counts its steps in nstep.
std::optional<std::int64_t> flash_step(const mesh::Header& header) {
  const auto found = header.attributes.find("integer scalars/nstep");
  if (header.code != "FLASH" || found == header.attributes.end()) return {};
  const auto* steps = std::get_if<std::int64_t>(&found->second);
  return steps == nullptr ? std::optional<std::int64_t>{} : *steps;
}

mesh::Dataset open_step_of(const fs::path& path, std::optional<std::int64_t> number) {
  if (number && !store::recognise(path) && formats::format_of(path).name == "flash") {
    mesh::Dataset output = step::open(path);
    if (flash_step(output.header) == number) return output;
  }
  return step::open(path, {std::nullopt, number});
}

StepParts open_output(const fs::path& path, std::optional<std::int64_t> number, bool own_names) {
  StepParts step;
  step.dataset = open_step_of(path, number);
  const std::int64_t file_number = step::step_number(step.dataset).value_or(0);
  if (step.dataset.unstructured)
    throw Error(Kind::unsupported, "a run on cells cannot start from a mesh of triangles").at(path.string());
  if (own_names) step.dataset = by_own_names(step.dataset);
  mesh::Header& header = step.dataset.header;
  for (const mesh::FieldInfo& field : header.fields)
    step.widths.push_back(
        static_cast<std::size_t>(header.block[0] * header.block[1] * header.block[2] * field.components));
  step.found.step = step::step_number(step.dataset).value_or(0);
  if (const auto steps = flash_step(header)) {
    header.attributes["flash/file number"] = file_number;
    step.found.step = *steps;
  }
  return step;
}

}  // namespace octavo::engine
