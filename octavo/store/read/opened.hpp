#pragma once
#include "octavo/store/read/part.hpp"
#include "octavo/store/read/scan.hpp"
#include "octavo/store/read/values.hpp"

namespace octavo::store {

/// A segment with its table.
struct OpenedSegment {
  std::filesystem::path path;
  Footer footer;
  Extent at;  ///< the footer
  Table table;
};

struct PartPlace {
  std::size_t segment = 0, row = 0;
};

/// A complete step whose tables have all been read and agree.
struct OpenedStep {
  Flow flow = Flow::analysis;
  std::int64_t step = 0;
  Attempt attempt{};
  std::vector<OpenedSegment> segments;
  std::vector<PartPlace> parts;  ///< by contributor, ascending
  mesh::Header header;
  std::vector<mesh::SpeciesInfo> species;  ///< counts are sums over all parts
  std::optional<TriangleMesh> triangles{};
  std::vector<MeshArray> mesh{};  ///< of triangles
};

/// Reads the table of one segment. Throws Error(corrupt), naming the place.
OpenedSegment open_segment(const Scan& scan, const SegmentPlace& place);
/// The same from its file, which is open.
OpenedSegment open_segment(const Scan& scan, const SegmentPlace& place, const file::File& file);
/// The same for the segment whose footer is there, in a file that is open; reads the footer too.
OpenedSegment open_segment(const file::File& subfile, const Extent& footer);
/// Joins the segments of a step, of which the first one knows all attributes. Throws Error(corrupt) if their headers
/// disagree or a contributor is there twice.
OpenedStep join_segments(const StepFound& step, std::vector<OpenedSegment> segments);
OpenedStep open_segments(const Scan& scan, const StepFound& step);
/// The complete step of this number, as open_step() chooses it.
OpenedStep open_numbered(const std::filesystem::path& store, Flow flow, std::int64_t step);

/// Reads streams from an open subfile and checks them against their stored checksums.
Fetch fetch_from(const file::File& file);
/// The same; values that are stored raw are read from the file straight into place.
PartSource source_of(const file::File& file);

/// A note that the step's opaque bytes, which belong to its parts, are left out; empty if it has none. Names that begin
/// with a dot or contain `kept` are passed over.
std::string lost_bytes_note(const OpenedStep& step, const std::string& kept = {});
/// The same for a step as open_step() chooses it.
std::string lost_bytes_note(const std::filesystem::path& store, std::optional<Flow> flow,
                            std::optional<std::int64_t> step, const std::string& kept = {});
/// Gives the sink a part's values: stream_part() on the segment's file, which is open.
void stream_from(const file::File& file, const OpenedSegment& segment, std::size_t row, const mesh::Request& request,
                 const ValueSink& sink);

inline const PartRow& part_row(const OpenedStep& step, const PartPlace& place) {
  return step.segments[place.segment].table.parts[place.row];
}
/// Bytes on disk of the segment: streams, table, footer.
inline std::uint64_t segment_bytes(const Footer& footer, const Extent& at) {
  return at.offset + at.length - footer.begin;
}

}  // namespace octavo::store
