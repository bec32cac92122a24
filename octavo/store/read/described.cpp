#include "octavo/store/read/described.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/base/pack.hpp"

/// A step as text for other processes: header, and the rows of the parts that each of them reads. They open no footer,
/// and no process but the first has the rows of all parts.
namespace octavo::store {
namespace {

/// A segment with the rows of some parts, as bytes.
struct SegmentText {
  std::string path;
  std::vector<std::byte> footer, table;
  Extent at;
};
template <class Way>
void both(Way& way, SegmentText& segment) {
  both(way, segment.path, segment.footer, segment.table, segment.at);
}

/// The first segment has no parts if those of the parts do not name all fields and species of the step: it then names
/// them.
struct StepText {
  std::string store;
  Flow flow{};
  std::int64_t step = 0, bytes = 0;
  Attempt attempt{};
  std::vector<std::string> notes;
  std::vector<SegmentText> segments;
};
template <class Way>
void both(Way& way, StepText& text) {
  both(way, text.store, text.flow, text.step, text.bytes, text.attempt, text.notes, text.segments);
}

SegmentText text_of(const OpenedSegment& segment, const Table& table) {
  Footer footer = segment.footer;
  footer.parts = static_cast<int>(table.parts.size());
  return {segment.path.string(), to_bytes(footer), to_bytes(table), segment.at};
}

OpenedSegment segment_of(const SegmentText& text) {
  OpenedSegment segment{text.path, parse_footer(text.footer, text.at), text.at, {}};
  segment.table = parse_table(text.table, segment.footer);
  return segment;
}

Table head_of(const Table& whole, const OpenedStep& step) {
  Table head = with_rows(whole, {});
  head.species = step.species;
  head.header.attributes = step.header.attributes;
  return head;
}

std::string describe(const OpenedStep& step, const mesh::Dataset& dataset, const std::vector<int>& parts) {
  StepText text;
  text.store = dataset.path;
  text.flow = step.flow;
  text.step = step.step;
  text.bytes = dataset.bytes;
  text.attempt = step.attempt;
  text.notes = dataset.notes;
  std::map<std::size_t, std::vector<std::size_t>> rows;
  for (const int part : parts) {
    const PartPlace& place = step.parts.at(static_cast<std::size_t>(part));
    rows[place.segment].push_back(place.row);
  }
  bool tells_all = !rows.empty();
  for (const auto& [s, of_segment] : rows)
    tells_all = tells_all && step.segments[s].table.species.size() == step.species.size();
  if (!tells_all) {
    std::size_t telling = 0;  // a segment without parts may not know the fields
    while (telling + 1 < step.segments.size() && step.segments[telling].table.parts.empty()) ++telling;
    const Table& table = step.segments[telling].table;
    text.segments.push_back(text_of(step.segments[telling], head_of(table, step)));
  }
  for (auto& [s, of_segment] : rows) {
    std::sort(of_segment.begin(), of_segment.end());
    Table table = with_rows(step.segments[s].table, of_segment);
    // The first one tells all attributes of the step, the others those that all segments have.
    if (text.segments.empty())
      table.header.attributes = step.header.attributes;
    else
      drop_long_lists(table.header);
    text.segments.push_back(text_of(step.segments[s], table));
  }
  return base::packed(text);
}

}  // namespace

Table with_rows(const Table& whole, const std::vector<std::size_t>& rows) {
  Table some;
  some.header = whole.header;
  some.widths = whole.widths;
  some.species = whole.species;
  some.opaque = whole.opaque;
  some.codecs = whole.codecs;
  some.triangles = whole.triangles;
  some.mesh = whole.mesh;
  for (const std::size_t row : rows) {
    PartRow part = whole.parts[row];
    const auto first = whole.streams.begin() + static_cast<std::ptrdiff_t>(part.first_stream);
    const auto last = whole.streams.begin() + static_cast<std::ptrdiff_t>(part.last_stream);
    part.first_stream = some.streams.size();
    some.streams.insert(some.streams.end(), first, last);
    part.last_stream = some.streams.size();
    some.parts.push_back(std::move(part));
  }
  return some;
}

std::string describe(const OpenedSegment& segment, const std::vector<std::size_t>& rows) {
  return base::packed(text_of(segment, with_rows(segment.table, rows)));
}

OpenedSegment understand_segment(const std::string& description) {
  return segment_of(base::unpacked<SegmentText>(description));
}

DescribedStep described(mesh::Dataset dataset, const std::shared_ptr<const OpenedStep>& step) {
  DescribedStep out{std::move(dataset), {}};
  if (!step->triangles)
    out.describe = [step, known = out.dataset](const std::vector<int>& parts) { return describe(*step, known, parts); };
  return out;
}

mesh::Dataset understand(const std::string& description) {
  const auto text = base::unpacked<StepText>(description);
  StepFound found;
  found.flow = text.flow;
  found.step = text.step;
  found.attempt = text.attempt;
  std::vector<OpenedSegment> segments;
  for (const SegmentText& segment : text.segments) segments.push_back(segment_of(segment));
  if (segments.empty()) throw base::Error(base::Kind::corrupt, "the description of a step has no header");
  const auto step = std::make_shared<const OpenedStep>(join_segments(found, std::move(segments)));
  mesh::Dataset dataset = dataset_of(text.store, step, text.notes);
  dataset.bytes = text.bytes;
  return dataset;
}

}  // namespace octavo::store
