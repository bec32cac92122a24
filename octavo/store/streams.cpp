#include "octavo/store/streams.hpp"

#include <algorithm>
#include <array>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/store/append.hpp"
#include "octavo/store/layout.hpp"

namespace octavo::store {
namespace {

using base::Error;
using base::Kind;

// Written, and then summed while it is still in the second-level cache; also what strided values are packed in.
constexpr std::size_t tile_bytes = std::size_t{256} << 10;
// Pieces wait for each other until they are so many bytes.
constexpr std::size_t most_pending = tile_bytes;
constexpr std::size_t most_pieces = 256;
constexpr std::array<std::byte, stream_alignment> zeros{};

// Bytes that follow one another in a file, written from where they are: pieces must stay until flush().
class Sequence {
 public:
  Sequence(const file::File& file, std::uint64_t begin) : file_(file), position_(begin) {}
  std::uint64_t position() const noexcept { return position_ + pending_; }

  void put(std::span<const std::byte> piece) {
    if (piece.empty()) return;
    pieces_.push_back(piece);
    pending_ += piece.size();
    if (pending_ >= most_pending || pieces_.size() >= most_pieces) flush();
  }
  void pad() { put(std::span(zeros).first(static_cast<std::size_t>(align(position()) - position()))); }
  void flush() {
    file::pwrite_pieces(file_, position_, pieces_);
    position_ += pending_;
    pending_ = 0;
    pieces_.clear();
  }

 private:
  const file::File& file_;
  std::uint64_t position_;
  std::uint64_t pending_ = 0;
  std::vector<std::span<const std::byte>> pieces_;
};

// The values of a raw stream in file order, tile by tile: f(tile). A tile is gone with the next.
template <class F>
void for_each_tile(const Values& values, std::size_t first, std::size_t bytes, std::size_t tile,
                   std::vector<std::byte>& memory, F&& f) {
  if (values.data == nullptr && tile >= values.cell_bytes) tile -= tile % std::max<std::size_t>(1, values.cell_bytes);
  if (values.data == nullptr) tile = std::max(tile, values.cell_bytes);
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t size = std::min(tile, bytes - done);
    if (values.data != nullptr) {
      f(std::span<const std::byte>(values.data + first + done, size));
    } else {
      memory.resize(tile);
      const auto packed = std::span(memory).first(size);
      values.pack(first + done, packed);
      f(std::span<const std::byte>(packed));
    }
    done += size;
  }
}

void check_expected(const Stream& stream) {
  if (stream.raw->expected && *stream.raw->expected != stream.raw_checksum)
    throw Error(Kind::corrupt,
                "the staged copy has changed since end_step(): a stray write of this process, or bad memory")
        .at("field " + stream.field);
}

void write_raw(Sequence& sequence, Stream& stream, std::vector<std::byte>& memory) {
  const RawStream& raw = *stream.raw;
  const bool whole = raw.values.data != nullptr && !raw.checksum;
  std::optional<base::RunningChecksum> sum;
  if (raw.checksum) sum.emplace();
  std::size_t first = raw.first;
  for (const RawStream::Chunk& chunk : raw.chunks) {
    sequence.put(chunk.head);
    for_each_tile(raw.values, first, chunk.bytes, whole ? chunk.bytes : tile_bytes, memory, [&](auto tile) {
      sequence.put(tile);
      if (raw.values.data == nullptr) sequence.flush();
      if (sum) sum->add(tile);
    });
    first += chunk.bytes;
  }
  stream.raw_checksum = sum ? sum->value() : 0;
  check_expected(stream);
}

}  // namespace

std::uint64_t stored_size(const EncodedPart& part) {
  std::uint64_t bytes = 0;
  for (const Stream& stream : part.streams) bytes += align(stream.stored_bytes);
  return bytes;
}

void write_streams(const file::File& file, EncodedPart& part, std::uint64_t begin) {
  if (align(begin) != begin) throw Error(Kind::usage, "a part begins at a multiple of 8");
  Sequence sequence(file, begin);
  std::vector<std::byte> memory;
  for (Stream& stream : part.streams) {
    stream.offset = sequence.position();
    if (stream.raw)
      write_raw(sequence, stream, memory);
    else
      sequence.put(stream.bytes);
    sequence.pad();
  }
  sequence.flush();
  for (Stream& stream : part.streams) {
    stream.raw.reset();
    stream.bytes = {};
  }
}

void write_streams(const SegmentPlan& plan, EncodedPart& part, std::uint64_t begin) {
  const file::File file = file::open_write(subfile_path(plan));
  write_streams(file, part, begin);
}

}  // namespace octavo::store
