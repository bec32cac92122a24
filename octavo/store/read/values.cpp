#include "octavo/store/read/values.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/store/layout.hpp"

namespace octavo::store {
namespace {

using base::Error;
using base::Kind;

// A field of a part, and how its streams are made.
struct FieldStreams {
  mesh::FieldInfo info;
  std::size_t scalar = 8;             // bytes of a value
  std::vector<std::uint64_t> values;  // by level
  std::vector<const StreamRow*> streams;
  std::vector<std::byte> head(std::size_t level) const {
    return codec::raw_head(has_integer_chunks(info.type), scalar, static_cast<std::size_t>(values[level]));
  }
};

FieldStreams streams_of(const Table& table, const PartRow& part, std::size_t index) {
  FieldStreams field{table.header.fields[index], mesh::size_of(table.header.fields[index].type), {}, {}};
  for (const std::uint64_t cells : part.cells) field.values.push_back(cells * table.widths[index]);
  for (std::size_t s = part.first_stream; s < part.last_stream; ++s)
    if (table.streams[s].kind == StreamKind::field && table.streams[s].index == index)
      field.streams.push_back(&table.streams[s]);
  return field;
}

// Whether all of the field's streams are raw: heads and unencoded values, one level after another.
bool is_stored_raw(const FieldStreams& field, const PartSource& source) {
  if (!source.read_to || std::endian::native != std::endian::little) return false;
  for (const StreamRow* stream : field.streams) {
    std::uint64_t offset = stream->offset;
    const std::uint64_t end = offset + stream->stored_bytes;
    for (int level = stream->first_level; level <= stream->last_level; ++level) {
      const auto expected = field.head(static_cast<std::size_t>(level));
      std::vector<std::byte> found(expected.size());
      if (found.size() > end - offset) return false;
      source.read_to(offset, found);
      const std::uint64_t bytes = field.values[static_cast<std::size_t>(level)] * field.scalar;
      if (found != expected || bytes > end - offset - found.size()) return false;
      offset += found.size() + bytes;
    }
    if (offset != end) return false;
  }
  return true;
}

// The two checksums of a stream. Either may be missing.
struct StreamChecksums {
  std::optional<base::RunningChecksum> stored, raw;
  explicit StreamChecksums(const StreamRow& stream) {
    if (stream.stored_checksum != 0) stored.emplace();
    if (stream.raw_checksum != 0) raw.emplace();
  }
  void check(const StreamRow& stream) const {
    if (stored && stored->value() != stream.stored_checksum)
      throw Error(Kind::corrupt, "stored bytes: checksum differs");
    if (raw && raw->value() != stream.raw_checksum)
      throw Error(Kind::corrupt, "checksum of the decoded values differs");
  }
};

// The sink gets values before the checksums are known. If this throws, the caller must drop what the sink has got.
void stream_raw(const FieldStreams& field, const StreamRow& stream, const PartSource& source,
                const std::function<void(int level, std::size_t first, std::span<const std::byte>)>& sink) {
  StreamChecksums sums(stream);
  std::vector<std::byte> tile;
  std::uint64_t offset = stream.offset;
  for (int level = stream.first_level; level <= stream.last_level; ++level) {
    const auto head = field.head(static_cast<std::size_t>(level));
    if (sums.stored) sums.stored->add(head);
    offset += head.size();
    const std::uint64_t bytes = field.values[static_cast<std::size_t>(level)] * field.scalar;
    for (std::uint64_t begin = 0; begin < bytes; begin += tile_bytes) {
      tile.resize(static_cast<std::size_t>(std::min<std::uint64_t>(tile_bytes, bytes - begin)));
      source.read_to(offset + begin, tile);
      if (sums.stored) sums.stored->add(tile);
      if (sums.raw) sums.raw->add(tile);
      sink(level, static_cast<std::size_t>(begin / field.scalar), tile);
    }
    offset += bytes;
  }
  sums.check(stream);
}

// Gives the sink all values of a field that was decoded as a whole.
void stream_decoded(const FieldStreams& field, const mesh::Field& decoded,
                    const std::function<void(int level, std::size_t first, std::span<const std::byte>)>& sink) {
  std::size_t begin = 0;
  for (std::size_t level = 0; level < field.values.size(); ++level) {
    const auto bytes = static_cast<std::size_t>(field.values[level]) * field.scalar;
    if (bytes != 0) sink(static_cast<int>(level), 0, std::span(decoded.bytes).subspan(begin, bytes));
    begin += bytes;
  }
}

}  // namespace

void stream_part(const Table& table, std::size_t row, const mesh::Request& request, const PartSource& source,
                 const ValueSink& sink) {
  const PartRow& part = table.parts[row];
  const std::vector<std::size_t> chosen = mesh::select_fields(table.header, request.fields);
  std::vector<FieldStreams> encoded;
  std::vector<std::size_t> numbers, indices;  // of `encoded`
  const auto taker = [&](std::size_t number) {
    return [&sink, number](int level, std::size_t first, std::span<const std::byte> values) {
      sink(number, level, first, values);
    };
  };
  for (std::size_t number = 0; number < chosen.size(); ++number) {
    const FieldStreams field = streams_of(table, part, chosen[number]);
    if (!is_stored_raw(field, source)) {
      encoded.push_back(field);
      numbers.push_back(number);
      indices.push_back(chosen[number]);
      continue;
    }
    for (const StreamRow* stream : field.streams) {
      try {
        stream_raw(field, *stream, source, taker(number));
      } catch (Error& error) {
        throw error.at(describe(table, *stream)).at("part " + std::to_string(part.index));
      }
    }
  }
  std::size_t next = 0;
  // Encoded fields come last and together: decode_each() decodes the tree once for all of them.
  decode_each(table, row, indices, source, [&](const mesh::Field& decoded) {
    stream_decoded(encoded[next], decoded, taker(numbers[next]));
    ++next;
  });
}

}  // namespace octavo::store
