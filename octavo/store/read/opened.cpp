#include "octavo/store/read/opened.hpp"

#include <algorithm>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"

namespace octavo::store {
namespace {

using base::Error;
using base::Kind;

// We compare headers bit for bit, so that a time that is NaN equals itself.
std::vector<std::byte> header_bytes(const OpenedSegment& segment) {
  Table only;
  only.header = segment.table.header;
  drop_long_lists(only.header);
  only.widths = segment.table.widths;
  only.triangles = segment.table.triangles;
  only.mesh = segment.table.mesh;
  return to_bytes(only);
}

void add_species(const Table& table, std::vector<mesh::SpeciesInfo>& all) {
  for (const mesh::SpeciesInfo& info : table.species) {
    const auto known = std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.name == info.name; });
    if (known == all.end())
      all.push_back(info);
    else if (known->attributes != info.attributes)
      throw Error(Kind::corrupt, "segments disagree on the attributes of species " + info.name);
    else
      known->count += info.count;
  }
}

void check_headers(const OpenedStep& step, std::size_t first) {
  const auto expected = header_bytes(step.segments[first]);
  for (const OpenedSegment& segment : step.segments)
    if (!segment.table.parts.empty() &&
        (segment.footer.mesh != step.segments[first].footer.mesh || header_bytes(segment) != expected))
      throw Error(Kind::corrupt, "segments disagree on the step's header or fields")
          .at(byte_range(segment.path, segment.footer.table.offset, segment.footer.table.length));
}

void order_parts(OpenedStep& step) {
  for (std::size_t s = 0; s < step.segments.size(); ++s)
    for (std::size_t row = 0; row < step.segments[s].table.parts.size(); ++row) step.parts.push_back({s, row});
  const auto index = [&](const PartPlace& place) { return part_row(step, place).index; };
  std::sort(step.parts.begin(), step.parts.end(),
            [&](const PartPlace& a, const PartPlace& b) { return index(a) < index(b); });
  for (std::size_t i = 1; i < step.parts.size(); ++i)
    if (index(step.parts[i]) == index(step.parts[i - 1]))
      throw Error(Kind::corrupt, "part " + std::to_string(index(step.parts[i])) + " is in the step twice");
}

// Parts of triangles and solids are stretches of one mesh, one after another.
void check_shares(const OpenedStep& step) {
  TriangleShare sum;
  const TriangleMesh& mesh = *step.triangles;
  const std::string kind = std::string("a mesh of ") + (mesh.of_solids() ? "solids" : "triangles");
  for (std::size_t p = 0; p < step.parts.size(); ++p) {
    const PartRow& part = part_row(step, step.parts[p]);
    if (part.index != static_cast<int>(p))
      throw Error(Kind::corrupt, kind + ": part " + std::to_string(p) + " is missing");
    sum.places += part.share.places, sum.points += part.share.points, sum.triangles += part.share.triangles;
    sum.cell_places += part.share.cell_places, sum.corners += part.share.corners;
  }
  const auto expect = [&](const char* what, std::uint64_t found, std::int64_t expected) {
    if (found != static_cast<std::uint64_t>(expected))
      throw Error(Kind::corrupt, kind + ": expected " + what + " " + std::to_string(expected) +
                                     " in all parts, found " + std::to_string(found));
  };
  expect("values of points", sum.places, mesh.points);
  if (mesh.of_solids()) expect("values of cells", sum.cell_places, mesh.triangles);
  if (mesh.origin) return;
  expect("points", sum.points, mesh.points);
  expect(mesh.of_solids() ? "cells" : "triangles", sum.triangles, mesh.triangles);
  expect("corners", sum.corners, mesh.corners());
}

}  // namespace

namespace {

void read_table(const file::File& file, OpenedSegment& segment) {
  const Extent& at = segment.footer.table;
  const auto bytes = read_extent(file, at, "table of the segment");
  try {
    segment.table = parse_table(bytes, segment.footer);
  } catch (Error& error) {
    throw error.at(byte_range(segment.path, at.offset, at.length));
  }
}

}  // namespace

OpenedSegment open_segment(const Scan& scan, const SegmentPlace& place, const file::File& file) {
  const Committed& commit = committed(scan, place);
  OpenedSegment segment{file.path(), commit.footer, commit.at, {}};
  read_table(file, segment);
  return segment;
}

OpenedSegment open_segment(const Scan& scan, const SegmentPlace& place) {
  return open_segment(scan, place, file::open_read(scan.subfiles[place.subfile].path));
}

OpenedSegment open_segment(const file::File& file, const Extent& footer) {
  OpenedSegment segment{file.path(), {}, footer, {}};
  const auto bytes = read_extent(file, footer, "footer");
  try {
    segment.footer = parse_footer(bytes, footer);
  } catch (Error& error) {
    throw error.at(byte_range(segment.path, footer.offset, footer.length));
  }
  read_table(file, segment);
  return segment;
}

OpenedStep join_segments(const StepFound& found, std::vector<OpenedSegment> segments) {
  OpenedStep step;
  step.flow = found.flow;
  step.step = found.step;
  step.attempt = found.attempt;
  step.segments = std::move(segments);
  std::size_t first = 0;
  // A segment without parts does not know the fields: it has the header that the writer began with.
  while (first + 1 < step.segments.size() && step.segments[first].table.parts.empty()) ++first;
  check_headers(step, first);
  step.header = step.segments[first].table.header;
  // Segment 0 has the long lists. `insert` leaves attributes alone that are there.
  const auto& of_first = step.segments[0].table.header.attributes;
  step.header.attributes.insert(of_first.begin(), of_first.end());
  for (const OpenedSegment& segment : step.segments) add_species(segment.table, step.species);
  order_parts(step);
  step.triangles = step.segments[first].table.triangles;
  step.mesh = step.segments[first].table.mesh;
  if (step.triangles) check_shares(step);
  return step;
}

OpenedStep open_segments(const Scan& scan, const StepFound& found) {
  try {
    std::vector<OpenedSegment> segments;
    for (const SegmentPlace& place : found.segments) segments.push_back(open_segment(scan, place));
    return join_segments(found, std::move(segments));
  } catch (Error& error) {
    throw error.at(name_of(found));
  }
}

Fetch fetch_from(const file::File& file) {
  return [&file](const StreamRow& stream) {
    // A raw stream that was written straight from the caller's memory has the checksum of its values alone, which the
    // decoder compares.
    if (stream.stored_checksum == 0) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(stream.stored_bytes));
      file::pread_all(file, stream.offset, bytes);
      return bytes;
    }
    return read_extent(file, {stream.offset, stream.stored_bytes, stream.stored_checksum}, "stored bytes");
  };
}

PartSource source_of(const file::File& file) {
  return {fetch_from(file),
          [&file](std::uint64_t offset, std::span<std::byte> out) { file::pread_all(file, offset, out); },
          {}};
}

void stream_from(const file::File& file, const OpenedSegment& segment, std::size_t row, const mesh::Request& request,
                 const ValueSink& sink) {
  try {
    stream_part(segment.table, row, request, source_of(file), sink);
  } catch (Error& error) {
    throw error.at(segment.path.string());
  }
}

}  // namespace octavo::store
