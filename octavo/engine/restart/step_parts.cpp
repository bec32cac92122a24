#include "octavo/engine/restart/step_parts.hpp"

#include <algorithm>

#include "octavo/base/error.hpp"
#include "octavo/base/pack.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/step/open.hpp"
#include "octavo/step/translate.hpp"

namespace octavo::engine {

namespace {

using base::Error;
using base::Kind;
namespace fs = std::filesystem;

// Keeps only the part of the scan that this step's segments need.
StepParts parts_of(const store::Scan& scan, const store::StepFound& found) {
  StoredStep step;
  step.scan.store = scan.store;
  step.found = found;
  step.first = {0};
  for (std::size_t s = 0; s < found.segments.size(); ++s) {
    store::Subfile subfile;
    subfile.path = scan.subfiles[found.segments[s].subfile].path;
    subfile.commits = {store::committed(scan, found.segments[s])};
    step.first.push_back(step.first.back() + subfile.commits[0].footer.parts);
    step.scan.subfiles.push_back(std::move(subfile));
    step.found.segments[s] = {s, 0};
  }
  return {step.found, {}, {}, std::make_shared<StoredStep>(std::move(step))};
}

const store::OpenedSegment& table_of(StoredStep& step, std::size_t segment) {
  const std::lock_guard lock(*step.reading);
  const auto known = step.tables.find(segment);
  if (known != step.tables.end()) return known->second;
  return step.tables.emplace(segment, store::open_segment(step.scan, step.found.segments[segment])).first->second;
}

// The first segment that has parts, because a segment without parts does not describe the fields.
std::size_t telling_segment(const StoredStep& step) {
  for (std::size_t s = 0; s + 1 < step.first.size(); ++s)
    if (step.first[s + 1] > step.first[s]) return s;
  return 0;
}

std::string describe(StoredStep& step, const std::vector<std::byte>& table) {
  base::Put put;
  std::string store = step.scan.store.string();
  std::size_t segments = step.scan.subfiles.size();
  both(put, store);
  both(put, step.found.flow);
  both(put, step.found.step);
  both(put, step.found.attempt);
  both(put, segments);
  for (store::Subfile& subfile : step.scan.subfiles) {
    std::string path = subfile.path.string();
    std::vector<std::byte> footer = to_bytes(subfile.commits[0].footer);
    both(put, path);
    both(put, footer);
    both(put, subfile.commits[0].at);
  }
  std::vector<std::byte> copy = table;
  both(put, copy);
  return {reinterpret_cast<const char*>(put.bytes.data()), put.bytes.size()};
}

PartEntry entry_of(StoredStep& step, int part) {
  const auto after = std::upper_bound(step.first.begin(), step.first.end(), part);
  const auto segment = static_cast<std::size_t>(after - step.first.begin()) - 1;
  const store::OpenedSegment& opened = table_of(step, segment);
  const auto row = static_cast<std::size_t>(part - step.first[segment]);
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
  dataset.path = step->scan.store.string();
  dataset.header = step->header;
  dataset.num_parts = step->first.back();
  dataset.read = [step](int part, const mesh::Request& request) { return read_stored(*step, part, request, {}); };
  return dataset;
}

StepParts understand(const std::string& described) {
  base::Get get{std::as_bytes(std::span(described))};
  StoredStep step;
  std::string text;
  std::size_t segments = 0;
  both(get, text);
  step.scan.store = text;
  both(get, step.found.flow);
  both(get, step.found.step);
  both(get, step.found.attempt);
  both(get, segments);
  step.first = {0};
  for (std::size_t s = 0; s < segments; ++s) {
    std::vector<std::byte> footer;
    store::Extent at;
    both(get, text);
    both(get, footer);
    both(get, at);
    store::Subfile subfile;
    subfile.path = text;
    subfile.commits = {{store::parse_footer(footer, at), at}};
    step.first.push_back(step.first.back() + subfile.commits[0].footer.parts);
    step.found.segments.push_back({s, 0});
    step.scan.subfiles.push_back(std::move(subfile));
  }
  std::vector<std::byte> table;
  both(get, table);
  store::Table known = store::parse_table(table, step.scan.subfiles[telling_segment(step)].commits[0].footer);
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
  const store::Scan scan = store::scan_store(path);
  for (const store::Finding& finding : scan.damage) notes.push_back(store::note_of(finding));
  notes.insert(notes.end(), scan.notes.begin(), scan.notes.end());
  std::vector<StepParts> steps;
  for (const store::StepFound& found : scan.steps)
    if (found.flow == flow && store::listed(found)) steps.push_back(parts_of(scan, found));
  std::sort(steps.begin(), steps.end(),
            [](const StepParts& a, const StepParts& b) { return a.found.step > b.found.step; });
  return steps;
}

StepParts share_step(MPI_Comm comm, StepParts step) {
  std::string text;
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) != 0) return;
    StoredStep& mine = *step.stored;
    const store::OpenedSegment& segment = table_of(mine, telling_segment(mine));
    text = describe(mine, to_bytes(segment.table));
  });
  text = ranks::from_first(comm, std::move(text));
  StepParts shared;
  ranks::agree(comm, [&] { shared = understand(text); });
  return shared;
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
