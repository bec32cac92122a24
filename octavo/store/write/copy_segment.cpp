#include "octavo/store/write/copy_segment.hpp"

#include <algorithm>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/codec/codec.hpp"
#include "octavo/file/page_cache.hpp"
#include "octavo/store/write/append.hpp"

namespace octavo::store {
namespace {

using base::Error;
using base::Kind;

std::vector<mesh::SpeciesInfo> species_of(const Table& table, const PartRow& row) {
  std::vector<mesh::SpeciesInfo> species = table.species;
  for (std::size_t s = 0; s < species.size(); ++s) species[s].count = static_cast<std::int64_t>(row.particles[s]);
  return species;
}

// A raw stream is a sequence of chunks, each a head and raw values. Its checksum is that of all the values.
void check_values(const StreamRow& row, std::span<const std::byte> stored) {
  // Heads first: the size of a value follows from the number of values in all chunks.
  std::vector<codec::ChunkInfo> chunks;
  std::size_t values = 0;
  for (std::size_t at = 0; at < stored.size(); at += chunks.back().bytes) {
    chunks.push_back(codec::inspect(stored.subspan(at)));
    values += chunks.back().values;
  }
  const std::size_t size = values == 0 ? 0 : static_cast<std::size_t>(row.raw_bytes) / values;
  base::RunningChecksum sum;
  for (const codec::ChunkInfo& chunk : chunks) {
    if (chunk.values * size > chunk.bytes) throw Error(Kind::corrupt, "a raw chunk is too short for its values");
    sum.add(stored.subspan(chunk.bytes - chunk.values * size, chunk.values * size));
    stored = stored.subspan(chunk.bytes);
  }
  if (sum.value() != row.raw_checksum) throw Error(Kind::corrupt, "checksum of the values differs");
}

Stream stream_of(const Table& table, const StreamRow& row, const Fetch& fetch) {
  Stream stream;
  stream.kind = row.kind;
  stream.index = row.index;
  stream.field = name_of(table, row);
  stream.first_level = row.first_level;
  stream.last_level = row.last_level;
  stream.raw_bytes = row.raw_bytes;
  stream.raw_checksum = row.raw_checksum;
  stream.codec = table.codecs[row.codec];
  stream.weights = row.weights;
  stream.bytes = fetch(row);
  stream.stored_bytes = stream.bytes.size();
  stream.stored_checksum = row.stored_checksum;
  if (row.stored_checksum == 0 && row.raw_checksum != 0 && is_known(row.kind)) {
    check_values(row, stream.bytes);
    stream.stored_checksum = base::checksum(stream.bytes);
  }
  return stream;
}

}  // namespace

EncodedPart encoded_part(const OpenedSegment& segment, std::size_t index, const Fetch& fetch) {
  const Table& table = segment.table;
  const PartRow& row = table.parts[index];
  EncodedPart part;
  part.index = row.index;
  part.shape.dim = table.header.dim;
  part.shape.roots = table.header.roots;
  part.shape.block = table.header.block;
  part.cells = row.cells;
  part.owned = row.owned;
  part.leaves = row.leaves;
  part.intervals = row.intervals;
  part.lo = row.lo;
  part.hi = row.hi;
  part.keys = row.keys;
  part.fields = table.header.fields;
  part.widths = table.widths;
  part.species = species_of(table, row);
  part.opaque = table.opaque;
  part.triangles = table.triangles;
  part.share = row.share;
  part.mesh = table.mesh;
  for (std::size_t s = row.first_stream; s < row.last_stream; ++s) try {
      part.streams.push_back(stream_of(table, table.streams[s], fetch));
    } catch (Error& error) {
      throw error.at("part " + std::to_string(row.index) + ", " + describe(table, table.streams[s]))
          .at(segment.path.string());
    }
  return part;
}

OpenedSegment open_newest(const std::filesystem::path& path) {
  Scan scan;
  scan.subfiles.push_back(read_subfile(path));
  const Subfile& subfile = scan.subfiles[0];
  if (subfile.commits.empty()) throw Error(Kind::corrupt, "no segment is committed in the subfile").at(path.string());
  return open_segment(scan, {0, subfile.commits.size() - 1});
}

SegmentPlan plan_of_copy(const OpenedSegment& from, const std::filesystem::path& store, int subfile) {
  SegmentPlan plan;
  plan.store = store;
  plan.flow = from.footer.flow;
  plan.step = from.footer.step;
  plan.attempt = from.footer.attempt;
  plan.subfile = subfile;
  plan.segment = from.footer.segment;
  plan.segments = from.footer.segments;
  plan.whole_domain = from.footer.whole_domain;
  plan.continues = from.footer.continues;
  if (from.footer.order > 0) plan.after_order = from.footer.order - 1;
  return plan;
}

namespace {

bool is_there(const SegmentPlan& plan) {
  const Subfile subfile = read_subfile(directory_of(plan.store, plan.flow, plan.step) / subfile_name(plan.subfile));
  return std::any_of(subfile.commits.begin(), subfile.commits.end(), [&](const Committed& commit) {
    return commit.footer.step == plan.step && commit.footer.attempt == plan.attempt &&
           commit.footer.segment == plan.segment;
  });
}

Copied copy(const OpenedSegment& from, const SegmentPlan& plan, bool may_be_there,
            const std::function<void(std::uint64_t)>& copied) {
  const file::File file = file::open_read(from.path);
  const Fetch fetch = [&copied, read = fetch_from(file)](const StreamRow& row) {
    auto bytes = read(row);
    if (copied) copied(bytes.size());
    return bytes;
  };
  SegmentWriter writer(plan, from.table.header);
  // The writer has the file's lock by now, so nobody can add the segment after this look.
  if (may_be_there && is_there(plan)) return {};
  for (std::size_t row = 0; row < from.table.parts.size(); ++row) writer.add(encoded_part(from, row, fetch));
  writer.commit();
  Copied out{writer.bytes_written(), commit_in(writer.file())};
  file::drop_pages(writer.file());  // nobody reads the copy soon
  return out;
}

}  // namespace

Copied copy_segment(const OpenedSegment& from, const SegmentPlan& plan,
                    const std::function<void(std::uint64_t bytes)>& copied) {
  return copy(from, plan, false, copied);
}
std::uint64_t copy_segment_once(const OpenedSegment& from, const SegmentPlan& plan) {
  return copy(from, plan, true, {}).bytes;
}

}  // namespace octavo::store
