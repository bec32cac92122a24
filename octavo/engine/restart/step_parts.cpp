#include "octavo/engine/restart/step_parts.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/pack.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/deliver.hpp"
#include "octavo/ranks/halves.hpp"
#include "octavo/step/open.hpp"
#include "octavo/step/translate.hpp"
#include "octavo/store/read/described.hpp"

/// How the ranks learn of a step without a table of all its segments on any rank. Rank 0 tells the first file and the
/// number of segments; the other names follow from these. Each rank reads an equal number of footers, a scan numbers
/// the parts, and each rank tells the readers of its parts where they are.
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

// A step as rank 0 tells all ranks of it.
struct ToldStep {
  std::string store, first_file;
  store::Flow flow{};
  std::int64_t step = 0;
  store::Attempt attempt{};
  std::uint64_t order = 0;
  int segments = 0;
  bool elsewhere = false;  // rank 0 has a list of files
};

template <class Way>
void both(Way& way, ToldStep& told) {
  using base::both;
  both(way, told.store, told.first_file, told.flow, told.step, told.attempt, told.order, told.segments, told.elsewhere);
}

// A segment's footer and table, without their parts.
struct ToldHead {
  std::vector<std::byte> footer, table;
  store::Extent at{};  // of the footer
  int segment = 0;
};

template <class Way>
void both(Way& way, ToldHead& told) {
  using base::both;
  both(way, told.footer, told.table, told.at, told.segment);
}

std::string file_of_segment(const std::string& first, int segment) {
  return (fs::path(first).parent_path() / store::subfile_name(segment)).generic_string();
}

StepParts parts_of(const store::Scan& scan, const store::StepFound& found) {
  StoredStep step;
  step.store = scan.store;
  step.found = found;
  step.found.segments.clear();
  const auto file_of = [&](const store::SegmentPlace& place) {
    return scan.subfiles[place.subfile].path.lexically_relative(scan.store).generic_string();
  };
  StepFiles& files = step.files;
  files.first = file_of(found.segments[0]);
  files.segments = store::committed(scan, found.segments[0]).footer.segments;
  files.unread = found.totals.has_value();
  bool elsewhere = false;
  for (int segment = 1; segment < static_cast<int>(found.segments.size()) && !elsewhere; ++segment)
    elsewhere = file_of(found.segments[static_cast<std::size_t>(segment)]) != file_of_segment(files.first, segment);
  if (elsewhere)
    for (const store::SegmentPlace& place : found.segments) files.each.push_back(file_of(place));
  return {step.found, {}, {}, std::make_shared<StoredStep>(std::move(step))};
}

const SegmentRef& ref_of(const StoredStep& step, int part) {
  const auto after = step.known.upper_bound(part);
  if (after == step.known.begin() || part >= std::prev(after)->second.first + std::prev(after)->second.parts)
    throw std::logic_error("restart: this rank was not told where part " + std::to_string(part) + " is");
  return std::prev(after)->second;
}

// The rows of other ranks' parts are dropped: a file has those of a whole node.
const auto& opened_part(StoredStep& step, int part) {
  const std::lock_guard lock(*step.reading);
  if (const auto known = step.opened.find(part); known != step.opened.end()) return known->second;
  const SegmentRef& segment = ref_of(step, part);
  const auto file = step.handles->get(step.store / segment.file);
  auto opened = std::make_shared<store::OpenedSegment>(store::open_segment(*file, segment.footer));
  std::vector<int> parts;
  std::vector<std::size_t> rows;
  for (int p = segment.first; p < segment.first + segment.parts; ++p)
    if (p == part || step.wanted.contains(p)) {
      parts.push_back(p);
      rows.push_back(static_cast<std::size_t>(p - segment.first));
    }
  opened->table = store::with_rows(opened->table, rows);
  store::drop_long_lists(opened->table.header);
  for (std::size_t row = 0; row < parts.size(); ++row) step.opened.try_emplace(parts[row], opened, row);
  return step.opened.at(part);
}

void learn(StoredStep& step, std::vector<SegmentRef> segments) {
  for (SegmentRef& segment : segments) step.known.emplace(segment.first, std::move(segment));
}

PartEntry entry_of(StoredStep& step, int part) {
  const auto& [segment, row] = opened_part(step, part);
  const store::OpenedSegment& opened = *segment;
  const mesh::Header& header = opened.table.header;
  const mesh::Header& expected = step.head.header;
  if (header.fields != expected.fields || header.dim != expected.dim || header.roots != expected.roots ||
      header.block != expected.block)
    throw Error(Kind::corrupt, "segments disagree on the step's header or fields").at(opened.path.string());
  return {&opened, row};
}

mesh::Part read_stored(StoredStep& step, int part, const mesh::Request& request, const store::Place& place) {
  const PartEntry entry = entry_of(step, part);
  try {
    const auto file = step.handles->get(entry.segment->path);
    store::PartSource source = store::source_of(*file);
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
  dataset.header = step->head.header;
  dataset.num_parts = step->parts;
  dataset.read = [step](int part, const mesh::Request& request) { return read_stored(*step, part, request, {}); };
  return dataset;
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
  const store::Scan scan = store::scan_store(path, store::Trust::mark);
  for (const store::Finding& finding : scan.damage) notes.push_back(store::note_of(finding));
  notes.insert(notes.end(), scan.notes.begin(), scan.notes.end());
  std::vector<StepParts> steps;
  for (const store::StepFound& found : scan.steps)
    if (found.flow == flow && store::listed(found)) steps.push_back(parts_of(scan, found));
  std::sort(steps.begin(), steps.end(),
            [](const StepParts& a, const StepParts& b) { return a.found.step > b.found.step; });
  return steps;
}

// Lists with an item for each part of the run that wrote the step mean nothing for other parts, and no rank is to hold
// them.
void drop_lists_of_parts(mesh::Header& header) {
  for (const std::string_view name : formats::words_of(header).lists_of_parts)
    header.attributes.erase(std::string(name));
}

Deal deal(int parts, int ranks, int rank) {
  const auto [first, last] = base::share(parts, rank, ranks);
  return {static_cast<int>(first), static_cast<int>(last)};
}

namespace {

ToldStep tell_step(MPI_Comm comm, const StepParts& found) {
  ToldStep told;
  if (ranks::rank_in(comm) == 0) {
    const StoredStep& step = *found.stored;
    told = {step.store.string(), step.files.first, step.found.flow,     step.found.step,
            step.found.attempt,  step.found.order, step.files.segments, !step.files.each.empty()};
  }
  return base::unpacked<ToldStep>(ranks::from_first(comm, base::packed(told)));
}

// Collective. The files of the segments whose footers this rank reads, by segment.
std::vector<std::string> files_to_read(MPI_Comm comm, const StepParts& found, const ToldStep& told) {
  const int ranks = ranks::size_of(comm), rank = ranks::rank_in(comm);
  std::vector<std::string> files;
  if (!told.elsewhere) {
    const auto [first, last] = base::share(told.segments, rank, ranks);
    for (std::int64_t segment = first; segment < last; ++segment)
      files.push_back(file_of_segment(told.first_file, static_cast<int>(segment)));
    return files;
  }
  std::vector<ranks::Parcel> parcels;
  if (rank == 0)
    for (std::size_t segment = 0; segment < found.stored->files.each.size(); ++segment)
      parcels.push_back({static_cast<int>(base::owner(static_cast<std::int64_t>(segment), told.segments, ranks)),
                         found.stored->files.each[segment], 0});
  for (ranks::Parcel& parcel : ranks::deliver(comm, std::move(parcels))) files.push_back(std::move(parcel.bytes));
  return files;
}

SegmentRef read_footer_of(StoredStep& step, const std::string& file, int segment, int segments) {
  const auto open = step.handles->get(step.store / file);
  const store::Committed commit = store::find_commit(*open, {step.found.step, step.found.attempt});
  if (commit.footer.segment != segment || commit.footer.segments != segments)
    throw Error(Kind::corrupt, "expected segment " + std::to_string(segment) + " of " + std::to_string(segments) +
                                   " of the step, found segment " + std::to_string(commit.footer.segment) + " of " +
                                   std::to_string(commit.footer.segments))
        .at((step.store / file).string());
  if (commit.footer.mesh == store::solid_mesh)
    throw Error(Kind::unsupported, "a run cannot start from a mesh of solids").at((step.store / file).string());
  step.triangles = step.triangles || commit.footer.mesh == store::triangle_mesh;
  return {file, 0, commit.footer.parts, commit.at};
}

// Collective. Numbers the parts of the step, one segment after another.
void number_parts(MPI_Comm comm, StoredStep& step, std::vector<SegmentRef>& mine) {
  std::int64_t own = 0, before = 0, all = 0;
  for (const SegmentRef& segment : mine) own += segment.parts;
  MPI_Exscan(&own, &before, 1, MPI_INT64_T, MPI_SUM, comm);
  if (ranks::rank_in(comm) == 0) before = 0;
  MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, comm);
  ranks::agree(comm, [&] {
    if (all > std::numeric_limits<int>::max())
      throw Error(Kind::unsupported, "a step of " + std::to_string(all) + " parts");
  });
  step.parts = static_cast<int>(all);
  for (SegmentRef& segment : mine) {
    segment.first = static_cast<int>(before);
    before += segment.parts;
  }
}

store::OpenedSegment open_segment_of(StoredStep& step, const SegmentRef& segment) {
  return store::open_segment(*step.handles->get(step.store / segment.file), segment.footer);
}

using Attributes = decltype(mesh::Header::attributes);

// Collective. The attributes of segment 0, which alone has the long ones. Its reader is the first rank with segments.
Attributes first_attributes(MPI_Comm comm, StoredStep& step, const std::vector<SegmentRef>& mine) {
  const int reader = ranks::lowest_where(comm, !mine.empty());
  Attributes attributes;
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) == reader) attributes = open_segment_of(step, mine.front()).table.header.attributes;
  });
  return base::unpacked<Attributes>(ranks::from_rank(comm, reader, base::packed(attributes)));
}

// Collective. The first segment that has parts describes the step. If none has, the first one does.
void learn_head(MPI_Comm comm, StoredStep& step, const std::vector<SegmentRef>& mine) {
  const auto telling = std::find_if(mine.begin(), mine.end(),
                                    [&](const SegmentRef& segment) { return segment.parts > 0 || step.parts == 0; });
  const int teller = ranks::lowest_where(comm, telling != mine.end());
  ToldHead told;
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) != teller) return;
    store::OpenedSegment segment = open_segment_of(step, *telling);
    store::Footer footer = segment.footer;
    // The head describes the step alone; parts are learned by those who read them.
    footer.parts = 0;
    drop_lists_of_parts(segment.table.header);
    told = {to_bytes(footer), to_bytes(store::with_rows(segment.table, {})), segment.at, segment.footer.segment};
  });
  told = base::unpacked<ToldHead>(ranks::from_rank(comm, teller, base::packed(told)));
  ranks::agree(comm, [&] { step.head = store::parse_table(told.table, store::parse_footer(told.footer, told.at)); });
  if (told.segment == 0) return;
  step.head.header.attributes.merge(first_attributes(comm, step, mine));
  drop_lists_of_parts(step.head.header);
}

// Collective. Tells the ranks to which the parts of this rank's segments are dealt.
void tell_readers(MPI_Comm comm, StoredStep& step, const std::vector<SegmentRef>& mine) {
  const int ranks = ranks::size_of(comm);
  const auto reader = [&](int part) { return static_cast<int>(base::owner(part, step.parts, ranks)); };
  std::vector<ranks::Parcel> parcels;
  for (const SegmentRef& segment : mine) {
    if (segment.parts == 0) continue;
    const int first = reader(segment.first), last = reader(segment.first + segment.parts - 1);
    parcels.push_back({first, base::packed(segment), last - first});
  }
  const auto told = ranks::deliver(comm, std::move(parcels));
  ranks::agree(comm, [&] {
    for (const ranks::Parcel& parcel : told) learn(step, {base::unpacked<SegmentRef>(parcel.bytes)});
  });
  const Deal own = deal(step.parts, ranks, ranks::rank_in(comm));
  for (int part = own.first; part < own.last; ++part) step.wanted.insert(part);
}

}  // namespace

StepParts opened_step(StoredStep step) {
  const std::vector<std::size_t> widths(step.head.widths.begin(), step.head.widths.end());
  StepParts out{step.found, {}, widths, std::make_shared<StoredStep>(std::move(step))};
  out.dataset = dataset_of(out.stored);
  return out;
}

StepParts share_step(MPI_Comm comm, const StepParts& found) {
  const ToldStep told = tell_step(comm, found);
  StoredStep step;
  step.store = told.store;
  step.found.flow = told.flow;
  step.found.step = told.step;
  step.found.attempt = told.attempt;
  step.found.order = told.order;
  step.found.complete = true;
  const std::vector<std::string> files = files_to_read(comm, found, told);
  std::vector<SegmentRef> mine;
  ranks::agree(comm, [&] {
    auto segment = static_cast<int>(base::share_begin(told.segments, ranks::size_of(comm), ranks::rank_in(comm)));
    for (const std::string& file : files) mine.push_back(read_footer_of(step, file, segment++, told.segments));
  });
  // All footers could be read, so a later error is of the data: see why_not().
  if (ranks::rank_in(comm) == 0) found.stored->files.unread = false;
  step.triangles = ranks::lowest_where(comm, step.triangles) < ranks::size_of(comm);
  number_parts(comm, step, mine);
  learn_head(comm, step, mine);
  tell_readers(comm, step, mine);
  return opened_step(std::move(step));
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
      if (!step.stored) continue;
      learn(*step.stored, std::move(tidings.segments));
      step.stored->wanted.insert(tidings.parts.begin(), tidings.parts.end());
    }
  });
  std::sort(parts.begin(), parts.end());
  return parts;
}

PartEntry entry_of(const StepParts& step, int part) { return entry_of(*step.stored, part); }

std::shared_ptr<const file::File> open_file_of(const StepParts& step, const PartEntry& entry) {
  return step.stored->handles->get(entry.segment->path);
}

mesh::Part read_part(const StepParts& step, int part, const mesh::Request& request, const store::Place& place) {
  return step.stored && place ? read_stored(*step.stored, part, request, place) : step.dataset.read(part, request);
}

void stream_part(const StepParts& step, int part, const mesh::Request& request, const store::ValueSink& sink) {
  if (step.stored) {
    const PartEntry entry = entry_of(step, part);
    return store::stream_from(*open_file_of(step, entry), *entry.segment, entry.row, request, sink);
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

// The number of steps that the run has made, of a code whose outputs have other numbers in their names.
std::optional<std::int64_t> counted_step(const mesh::Header& header) {
  const auto count = formats::words_of(header).counted_step;
  return count == nullptr ? std::optional<std::int64_t>{} : count(header);
}

bool counts_steps(const formats::Format& format) {
  return format.words != nullptr && format.words->counted_step != nullptr;
}

mesh::Dataset open_step_of(const fs::path& path, std::optional<std::int64_t> number) {
  if (number && !store::recognise(path) && counts_steps(formats::format_of(path))) {
    mesh::Dataset output = step::open(path);
    if (counted_step(output.header) == number) return output;
  }
  return step::open(path, {std::nullopt, number});
}

StepParts open_output(const fs::path& path, std::optional<std::int64_t> number, bool own_names) {
  StepParts step;
  step.dataset = open_step_of(path, number);
  const std::int64_t file_number = step::step_number(step.dataset).value_or(0);
  if (step.dataset.unstructured)
    throw Error(Kind::unsupported, "a run on cells cannot start from a mesh of triangles or solids").at(path.string());
  if (own_names) step.dataset = by_own_names(step.dataset);
  mesh::Header& header = step.dataset.header;
  for (const mesh::FieldInfo& field : header.fields)
    step.widths.push_back(
        static_cast<std::size_t>(header.block[0] * header.block[1] * header.block[2] * field.components));
  step.found.step = step::step_number(step.dataset).value_or(0);
  if (const auto steps = counted_step(header)) {
    header.attributes[std::string(formats::words_of(header).output_number)] = file_number;
    step.found.step = *steps;
  }
  return step;
}

}  // namespace octavo::engine
