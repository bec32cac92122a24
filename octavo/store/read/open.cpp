#include <algorithm>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/store/read/described.hpp"
#include "octavo/store/read/solids.hpp"
#include "octavo/store/read/triangles.hpp"

namespace octavo::store {
namespace {

using base::Error;
using base::Kind;
namespace fs = std::filesystem;

// ------------------------------------------------------------------ which step

std::string first_lines(const std::vector<Finding>& damage) {
  constexpr std::size_t most_shown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(damage.size(), most_shown); ++i)
    text += "\n    " + damage[i].where + ": " + damage[i].what;
  if (damage.size() > most_shown) text += "\n    and " + std::to_string(damage.size() - most_shown) + " more";
  return text;
}

std::string steps_there(const Scan& scan) {
  std::string text;
  for (const StepFound& step : scan.steps)
    if (listed(step)) text += (text.empty() ? "" : ", ") + name_of(step);
  return text;
}

// The listed steps that match: analysis before checkpoint, then the largest number first.
std::vector<const StepFound*> candidates(const Scan& scan, std::optional<Flow> flow, std::optional<std::int64_t> step) {
  std::vector<const StepFound*> found;
  for (const StepFound& candidate : scan.steps)
    if (listed(candidate) && (!flow || candidate.flow == *flow) && (!step || candidate.step == *step))
      found.push_back(&candidate);
  std::stable_sort(found.begin(), found.end(), [](const StepFound* a, const StepFound* b) {
    return std::make_pair(a->flow, a->step) > std::make_pair(b->flow, b->step);
  });
  return found;
}

Error none_complete(const Scan& scan) {
  return Error(Kind::corrupt, "no complete step is left in the store" + first_lines(scan.damage))
      .at(scan.store.string());
}

Error no_such_step(const Scan& scan, std::optional<Flow> flow, std::optional<std::int64_t> step) {
  std::string wanted = flow ? to_string(*flow) + " step" : "step";
  if (step) wanted += " " + std::to_string(*step);
  for (const StepFound& attempt : scan.steps)
    if (!listed(attempt) && !attempt.superseded && (!flow || attempt.flow == *flow) && (!step || attempt.step == *step))
      return Error(Kind::corrupt, wanted + " is incomplete" + first_lines(scan.damage)).at(scan.store.string());
  return Error(Kind::usage, "there is no " + wanted).at(scan.store.string()).hint("there are " + steps_there(scan));
}

// If the caller named the step, we throw its damage. Otherwise we pass over a damaged step and take an older one.
OpenedStep choose(const Scan& scan, std::optional<Flow> flow, std::optional<std::int64_t> step,
                  std::vector<std::string>& notes) {
  const auto found = candidates(scan, flow, step);
  if (candidates(scan, {}, {}).empty()) throw none_complete(scan);
  if (found.empty()) throw no_such_step(scan, flow, step);
  for (const StepFound* candidate : found) {
    try {
      return open_segments(scan, *candidate);
    } catch (Error& error) {
      // A step of a newer version is whole. We must not pass off an older one as the newest.
      if (step || candidate == found.back() || error.kind() == Kind::unsupported) throw error.at(scan.store.string());
      const Finding finding = finding_of(error);
      notes.push_back(name_of(*candidate) + " is damaged and passed over: " + finding.what + " (" + finding.where +
                      ")");
    }
  }
  throw none_complete(scan);
}

// ------------------------------------------------------------------ the step as a data set

std::vector<mesh::LevelCount> level_counts(const OpenedStep& step) {
  std::vector<mesh::LevelCount> levels;
  for (const PartPlace& place : step.parts) {
    const PartRow& part = part_row(step, place);
    for (std::size_t l = 0; l < part.cells.size(); ++l) {
      if (l == levels.size()) levels.push_back({mesh::code_level(step.header, static_cast<int>(l)), 0, 0});
      levels[l].cells += static_cast<std::int64_t>(part.owned[l]);
      levels[l].leaves += static_cast<std::int64_t>(part.leaves[l]);
    }
  }
  int index = 0;
  std::erase_if(levels, [&](const mesh::LevelCount&) { return mesh::is_between_levels(step.header, index++); });
  return levels;
}

std::vector<int> parts_touching(const OpenedStep& step, const mesh::Region& region) {
  const mesh::Domain domain = mesh::domain_of(step.header);
  std::vector<int> parts;
  for (std::size_t i = 0; i < step.parts.size(); ++i) {
    const PartRow& part = part_row(step, step.parts[i]);
    const bool any = std::any_of(part.owned.begin(), part.owned.end(), [](std::uint64_t n) { return n > 0; });
    if (any && mesh::touches(region, domain, part.lo, part.hi)) parts.push_back(static_cast<int>(i));
  }
  return parts;
}

const PartPlace& place_of(const OpenedStep& step, int part) {
  if (part < 0 || static_cast<std::size_t>(part) >= step.parts.size())
    throw Error(Kind::usage, "there is no part " + std::to_string(part) + " of " + std::to_string(step.parts.size()));
  return step.parts[static_cast<std::size_t>(part)];
}

std::int64_t part_bytes(const OpenedStep& step, int part) {
  const PartPlace& place = place_of(step, part);
  const Table& table = step.segments[place.segment].table;
  const PartRow& row = table.parts[place.row];
  std::uint64_t bytes = 0;
  for (std::size_t s = row.first_stream; s < row.last_stream; ++s) bytes += table.streams[s].raw_bytes;
  return static_cast<std::int64_t>(bytes);
}

bool is_read(const StreamRow& stream, const mesh::Request& request, const std::vector<std::size_t>& fields,
             int deepest) {
  switch (stream.kind) {
    case StreamKind::field:
      return stream.first_level <= deepest && std::find(fields.begin(), fields.end(), stream.index) != fields.end();
    case StreamKind::particles: return request.particles;
    case StreamKind::opaque: return request.opaque;
    default: return true;
  }
}

mesh::PartCost cost(const OpenedStep& step, int part, const mesh::Request& request) {
  const PartPlace& place = place_of(step, part);
  const Table& table = step.segments[place.segment].table;
  const PartRow& row = table.parts[place.row];
  const int last = static_cast<int>(row.cells.size()) - 1;
  const int deepest = request.max_level > mesh::code_level(table.header, last)
                          ? last
                          : mesh::level_index(table.header, request.max_level);
  mesh::PartCost cost;
  // If deeper levels are left out, each cell of the last one read counts as a leaf.
  for (int l = 0; l <= std::min(deepest, last); ++l) {
    const auto level = static_cast<std::size_t>(l);
    cost.leaves += static_cast<std::int64_t>(l < deepest || deepest == last ? row.leaves[level] : row.owned[level]);
  }
  for (const std::int64_t cells : table.header.block) cost.leaves *= cells;
  const std::vector<std::size_t> fields = with_weights(table, row, mesh::select_fields(table.header, request.fields),
                                                       static_cast<std::size_t>(std::clamp(deepest, 0, last)));
  for (std::size_t s = row.first_stream; s < row.last_stream; ++s) {
    const StreamRow& stream = table.streams[s];
    if (!is_read(stream, request, fields, deepest)) continue;
    cost.bytes += static_cast<std::int64_t>(stream.stored_bytes);
    cost.memory += static_cast<std::int64_t>(stream.raw_bytes);
  }
  return cost;
}

mesh::Part read(const OpenedStep& step, int part, const mesh::Request& request) {
  const PartPlace& place = place_of(step, part);
  const OpenedSegment& segment = step.segments[place.segment];
  const file::File file = file::open_read(segment.path);
  try {
    mesh::Part out = decode_part(segment.table, place.row, request, source_of(file));
    // Species that only other segments have: this part has no particles of them.
    if (request.particles)
      for (const mesh::SpeciesInfo& info : step.species)
        if (std::none_of(out.particles.begin(), out.particles.end(),
                         [&](const mesh::Particles& particles) { return particles.species == info.name; })) {
          mesh::Particles none{info.name, 0, {}};
          for (const mesh::FieldInfo& attribute : info.attributes) none.attributes.push_back({attribute, {}});
          out.particles.push_back(std::move(none));
        }
    return out;
  } catch (Error& error) {
    throw error.at(segment.path.string());
  }
}

/// The bound in a codec's name, "point:0.002" of "tree/2 point:0.002"; empty: lossless.
std::string bound_in(const std::string& codec) {
  const auto at = std::min(codec.find(" abs:"), codec.find(" point:"));
  return at == std::string::npos ? std::string{} : codec.substr(at + 1);
}

std::map<std::string, std::string> lossy_fields(const OpenedStep& step) {
  std::map<std::string, std::string> fields;
  // Values may have lost bits before they came into this store. The attribute remembers that, the streams' codecs
  // cannot.
  if (const auto found = step.header.attributes.find(lossy_attribute); found != step.header.attributes.end())
    if (const auto* lines = std::get_if<std::vector<std::string>>(&found->second))
      for (const std::string& line : *lines)
        fields.emplace(line.substr(0, line.find('=')), line.substr(line.find('=') + 1));
  for (const OpenedSegment& segment : step.segments) {
    std::vector<std::string> bounds;
    for (const std::string& codec : segment.table.codecs) bounds.push_back(bound_in(codec));
    if (std::all_of(bounds.begin(), bounds.end(), [](const std::string& bound) { return bound.empty(); })) continue;
    for (const StreamRow& stream : segment.table.streams)
      if ((stream.kind == StreamKind::field || stream.kind == StreamKind::particles) && !bounds[stream.codec].empty())
        fields.emplace(name_of(segment.table, stream), bounds[stream.codec]);
  }
  return fields;
}

}  // namespace

mesh::Dataset dataset_of(const fs::path& path, const std::shared_ptr<const OpenedStep>& step,
                         std::vector<std::string> notes) {
  mesh::Dataset dataset;
  dataset.format = "octavo";
  dataset.path = path.string();
  dataset.header = step->header;
  for (const OpenedSegment& segment : step->segments)
    dataset.bytes += static_cast<std::int64_t>(segment_bytes(segment.footer, segment.at));
  dataset.lossy = lossy_fields(*step);
  dataset.notes = std::move(notes);
  if (step->triangles) {
    (step->triangles->of_solids() ? set_solids : set_triangles)(dataset, step, path);
    return dataset;
  }
  dataset.num_parts = static_cast<int>(step->parts.size());
  dataset.levels = level_counts(*step);
  dataset.species = step->species;
  dataset.parts_touching = [step](const mesh::Region& region) { return parts_touching(*step, region); };
  dataset.read = [step](int part, const mesh::Request& request) { return read(*step, part, request); };
  dataset.part_bytes = [step](int part) { return part_bytes(*step, part); };
  dataset.cost = [step](int part, const mesh::Request& request) { return cost(*step, part, request); };
  mesh::take_walls_out(dataset);
  return dataset;
}

namespace {

StepInfo info_of(const Scan& scan, const StepFound& step) {
  StepInfo info;
  info.flow = step.flow;
  info.step = step.step;
  info.attempt = step.attempt;
  const Footer& first = committed(scan, step.segments[0]).footer;
  info.time = first.time;
  info.writer = first.writer.name + " " + first.writer.version;
  info.unknown = step.unknown;
  if (step.totals) {
    info.parts = static_cast<int>(step.totals->parts);
    info.bytes = step.totals->bytes;
    return info;
  }
  for (const SegmentPlace& place : step.segments) {
    const Committed& commit = committed(scan, place);
    info.bytes += segment_bytes(commit.footer, commit.at);
    info.parts += commit.footer.parts;
  }
  return info;
}

}  // namespace

std::vector<StepInfo> list_steps(const fs::path& store, std::vector<std::string>* notes) {
  const Scan scan = scan_store(store, Trust::index);
  std::vector<StepInfo> steps;
  for (const StepFound& step : scan.steps)
    if (listed(step)) steps.push_back(info_of(scan, step));
  if (notes != nullptr) {
    for (const Finding& finding : scan.damage) notes->push_back(finding.where + ": " + finding.what);
    notes->insert(notes->end(), scan.notes.begin(), scan.notes.end());
  }
  return steps;
}

DescribedStep open_described(const fs::path& store, std::optional<Flow> flow, std::optional<std::int64_t> step) {
  const Scan scan = scan_store(store);
  std::vector<std::string> notes;
  for (const Finding& finding : scan.damage) notes.push_back(note_of(finding));
  const auto opened = std::make_shared<const OpenedStep>(choose(scan, flow, step, notes));
  return described(dataset_of(scan.store, opened, std::move(notes)), opened);
}

mesh::Dataset open_step(const fs::path& store, std::optional<Flow> flow, std::optional<std::int64_t> step) {
  return open_described(store, flow, step).dataset;
}

OpenedStep open_numbered(const fs::path& store, Flow flow, std::int64_t step) {
  std::vector<std::string> notes;
  return choose(scan_store(store), flow, step, notes);
}

std::string lost_bytes_note(const OpenedStep& step, const std::string& kept) {
  std::set<std::string> names;
  for (const OpenedSegment& segment : step.segments)
    names.insert(segment.table.opaque.begin(), segment.table.opaque.end());
  std::string text;
  for (const std::string& name : names)
    if (!name.starts_with('.') && (kept.empty() || name.find(kept) == std::string::npos))
      text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? text : "left out are bytes of the code's own, which belong to single parts: " + text;
}

std::string lost_bytes_note(const fs::path& store, std::optional<Flow> flow, std::optional<std::int64_t> step,
                            const std::string& kept) {
  std::vector<std::string> notes;
  return lost_bytes_note(choose(scan_store(store), flow, step, notes), kept);
}

std::map<int, std::map<std::string, std::vector<std::byte>>> read_opaque(const fs::path& store, Flow flow,
                                                                         std::int64_t step) {
  const OpenedStep opened = open_numbered(store, flow, step);
  std::map<int, std::map<std::string, std::vector<std::byte>>> all;
  for (const PartPlace& place : opened.parts) {
    const OpenedSegment& segment = opened.segments[place.segment];
    const file::File file = file::open_read(segment.path);
    auto bytes = decode_opaque(segment.table, place.row, fetch_from(file));
    if (!bytes.empty()) all.emplace(part_row(opened, place).index, std::move(bytes));
  }
  return all;
}

std::vector<StreamInfo> list_streams(const fs::path& store, Flow flow, std::int64_t step) {
  const OpenedStep opened = open_numbered(store, flow, step);
  std::vector<StreamInfo> streams;
  for (const PartPlace& place : opened.parts) {
    const OpenedSegment& segment = opened.segments[place.segment];
    const PartRow& part = segment.table.parts[place.row];
    for (std::size_t s = part.first_stream; s < part.last_stream; ++s) {
      const StreamRow& row = segment.table.streams[s];
      std::string codec = segment.table.codecs[row.codec];
      if (row.weights) codec += " by " + segment.table.header.fields[*row.weights].name;
      streams.push_back({part.index, name_of(segment.table, row), row.first_level, row.last_level, row.raw_bytes,
                         row.stored_bytes, std::move(codec), segment.path, row.offset});
    }
  }
  return streams;
}

}  // namespace octavo::store
