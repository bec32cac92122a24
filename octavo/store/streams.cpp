#include "octavo/store/streams.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/release.hpp"
#include "octavo/file/direct_queue.hpp"
#include "octavo/file/page_cache.hpp"
#include "octavo/store/layout.hpp"

/// Writes the streams of a part without gathering them: pieces of the caller's memory are collected until they reach a
/// multiple of tile_bytes in the file, and go out in one call. Checksums are taken tile by tile on the way.
namespace octavo::store {
namespace {

using base::Error;
using base::Kind;
namespace fs = std::filesystem;

// Pieces are gathered up to a multiple of tile_bytes in the file, or until there are as many.
constexpr std::size_t most_pieces = 256;
constexpr std::array<std::byte, stream_alignment> zeros{};

// Size of one direct I/O request, and the number of buffers: two are in flight while one is being filled.
constexpr std::size_t direct_bytes = std::size_t{4} << 20;
constexpr std::size_t direct_buffers = 3;
// Write-back is asked for in pieces of this size.
constexpr std::uint64_t writeback_bytes = std::uint64_t{8} << 20;

// Gathers bytes in aligned memory. The first and the last block, if they are only partly this rank's, are written
// without direct I/O.
class DirectBuffer {
 public:
  DirectBuffer(const file::File& file, const file::File& direct, std::uint64_t begin)
      : file_(file),
        queue_(direct, direct_buffers, direct_bytes),
        base_(begin / file::direct_alignment * file::direct_alignment),
        begin_(begin) {
    end_ = begin;
  }
  void put(std::span<const std::byte> piece) {
    while (!piece.empty()) {
      const auto used = static_cast<std::size_t>(end_ - base_);
      const std::size_t size = std::min(piece.size(), direct_bytes - used);
      std::memcpy(queue_.buffer().data() + used, piece.data(), size);
      end_ += size;
      piece = piece.subspan(size);
      if (used + size == direct_bytes) flush();
    }
  }
  void flush() {
    constexpr std::uint64_t block = file::direct_alignment;
    const std::uint64_t first = std::min(end_, (begin_ + block - 1) / block * block);
    const std::uint64_t last = std::max(first, end_ / block * block);
    const auto bytes = [&](std::uint64_t from, std::uint64_t to) {
      return std::span<const std::byte>(queue_.buffer()).subspan(from - base_, static_cast<std::size_t>(to - from));
    };
    if (first > begin_) file::pwrite_all(file_, begin_, bytes(begin_, first));
    if (end_ > last) file::pwrite_all(file_, last, bytes(last, end_));
    queue_.write(first - base_, last - base_, first);
    base_ = end_ / block * block;
    begin_ = end_;
  }
  void finish() {
    flush();
    queue_.wait();
  }

 private:
  const file::File& file_;
  file::DirectQueue queue_;
  std::uint64_t base_, begin_, end_ = 0;  // file offsets: of the memory, and of the gathered bytes
};

// Writes pieces that follow one another in a file, without copying them: they must stay in place until settle() or
// finish(). Writes end at multiples of tile_bytes in the file.
class Sequence {
 public:
  Sequence(const file::File& file, std::uint64_t begin, const file::File* direct, bool starts_writeback)
      : file_(file), position_(begin), begun_(begin), starts_writeback_(starts_writeback && direct == nullptr) {
    if (direct != nullptr) direct_ = std::make_unique<DirectBuffer>(file, *direct, begin);
  }
  std::uint64_t position() const noexcept { return position_ + pending_; }

  void put(std::span<const std::byte> piece) {
    if (piece.empty()) return;
    if (direct_) {
      direct_->put(piece);
      position_ += piece.size();
      return;
    }
    pieces_.push_back(piece);
    pending_ += piece.size();
    if (position() / tile_bytes > position_ / tile_bytes) write_tiles();
    if (pieces_.size() >= most_pieces) write_up_to(position());
  }
  void pad() { put(std::span(zeros).first(static_cast<std::size_t>(align(position()) - position()))); }
  /// After this call pieces no longer have to stay in place.
  void settle() {
    if (direct_) return;
    write_tiles();
    std::vector<std::byte> rest;
    rest.reserve(pending_);
    for (const auto piece : pieces_) rest.insert(rest.end(), piece.begin(), piece.end());
    rest_ = std::move(rest);
    pieces_.assign(rest_.empty() ? 0 : 1, rest_);
  }
  void finish() {
    write_up_to(position());
    if (direct_) direct_->finish();
    if (starts_writeback_) file::start_writeback(file_, begun_, position_ - begun_);
  }

 private:
  void write_tiles() { write_up_to(position() / tile_bytes * tile_bytes); }
  // Writes the pending bytes before byte `end` of the file.
  void write_up_to(std::uint64_t end) {
    if (end <= position_) return;
    std::uint64_t left = end - position_;
    std::vector<std::span<const std::byte>> later;
    for (auto& piece : pieces_) {
      const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(left, piece.size()));
      if (now < piece.size()) later.push_back(piece.subspan(now));
      piece = piece.first(now);
      left -= now;
    }
    std::erase_if(pieces_, [](const auto piece) { return piece.empty(); });
    file::pwrite_pieces(file_, position_, pieces_);
    pending_ -= end - position_;
    position_ = end;
    pieces_ = std::move(later);
    if (!starts_writeback_ || position_ - begun_ < writeback_bytes) return;
    file::start_writeback(file_, begun_, position_ - begun_);
    begun_ = position_;
  }

  const file::File& file_;
  std::unique_ptr<DirectBuffer> direct_;
  std::uint64_t position_;
  std::uint64_t pending_ = 0;
  std::vector<std::span<const std::byte>> pieces_;
  std::vector<std::byte> rest_;  // bytes of settled pieces
  std::uint64_t begun_;          // write-back was asked for up to here
  bool starts_writeback_;
};

// Calls f(tile) with the values of a raw stream in file order. A tile is valid until the next call. The first has the
// size `begin`, so that all others begin near a multiple of tile_bytes in the file.
template <class F>
void for_each_tile(const Values& values, std::size_t first, std::size_t bytes, std::size_t tile, std::size_t begin,
                   std::vector<std::byte>& memory, F&& f) {
  const auto whole_cells = [&](std::size_t size) {
    const std::size_t cell = std::max<std::size_t>(1, values.cell_bytes);
    return values.data != nullptr ? size : std::max(size / cell, std::size_t{1}) * cell;
  };
  tile = whole_cells(tile);
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t size = std::min(done == 0 ? std::min(tile, whole_cells(begin)) : tile, bytes - done);
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

Error changed(const Stream& stream) {
  return Error(Kind::corrupt,
               "the staged copy has changed since end_step(): a stray write of this process, or bad memory")
      .at("field " + stream.field);
}

// Writes heads and values alternately. The values of one tile may belong to several pieces.
class ChunkSequence {
 public:
  ChunkSequence(Sequence& sequence, const std::vector<codec::ChunkPiece>& pieces, base::RunningChecksum* sum)
      : sequence_(sequence), next_(pieces.begin()), end_(pieces.end()), sum_(sum) {}

  void put_values(std::span<const std::byte> tile) {
    while (!tile.empty()) {
      if (left_ == 0) put_head();
      const auto part = tile.first(std::min(left_, tile.size()));
      put(part);
      left_ -= part.size();
      tile = tile.subspan(part.size());
    }
  }
  /// Writes the remaining heads, which have no values.
  void finish() {
    while (next_ != end_) put_head();
  }

 private:
  void put_head() {
    left_ = next_->bytes;
    put((next_++)->head);
  }
  void put(std::span<const std::byte> bytes) {
    sequence_.put(bytes);
    // The stored bytes include the heads, the values' own checksum does not.
    if (sum_ != nullptr) sum_->add(bytes);
  }

  Sequence& sequence_;
  std::vector<codec::ChunkPiece>::const_iterator next_, end_;
  base::RunningChecksum* sum_;
  std::size_t left_ = 0;
};

std::size_t bytes_of(const std::vector<codec::ChunkPiece>& pieces) {
  std::size_t bytes = 0;
  for (const codec::ChunkPiece& piece : pieces) bytes += piece.bytes;
  return bytes;
}

// If a stream holds only some of its values, we compare a checksum of just these. The table then has the checksum of
// the stored bytes, so that nobody has to sum zeros.
void write_raw(Sequence& sequence, Stream& stream, std::vector<std::byte>& memory) {
  const RawStream& raw = *stream.raw;
  const bool sparse = raw.values.held.has_value(), whole = raw.values.data != nullptr && !raw.checksum;
  const std::size_t bytes = bytes_of(raw.pieces);
  std::optional<base::RunningChecksum> of_values, of_stored;
  if (raw.checksum && (!sparse || raw.expected)) of_values.emplace();
  if (raw.checksum && sparse) of_stored.emplace();
  ChunkSequence pieces(sequence, raw.pieces, of_stored ? &*of_stored : nullptr);
  const std::size_t most = whole ? bytes : tile_bytes;
  const std::size_t begin = whole ? bytes : tile_bytes - sequence.position() % tile_bytes;
  for_each_tile(raw.values, raw.first, bytes, most, begin, memory, [&](auto tile) {
    pieces.put_values(tile);
    // The tile's memory is used again for the next one.
    if (raw.values.data == nullptr) sequence.settle();
    if (of_values) of_values->add(tile);
  });
  pieces.finish();
  if (raw.expected && *raw.expected != of_values->value()) throw changed(stream);
  if (of_stored) stream.stored_checksum = of_stored->value();
  if (of_values && !sparse) stream.raw_checksum = of_values->value();
}

}  // namespace

std::uint64_t stored_size(const EncodedPart& part) {
  std::uint64_t bytes = 0;
  for (const Stream& stream : part.streams) bytes += align(stream.stored_bytes);
  return bytes;
}

void drop_values(EncodedPart& part) {
  for (Stream& stream : part.streams) {
    stream.raw.reset();
    base::release(stream.bytes);
  }
}

bool write_streams(const file::File& file, EncodedPart& part, std::uint64_t begin, const WriteWay& way) {
  if (align(begin) != begin) throw Error(Kind::usage, "a part begins at a multiple of 8");
  const std::optional<file::File> direct = way.direct_io ? file::open_direct(file.path()) : std::nullopt;
  Sequence sequence(file, begin, direct ? &*direct : nullptr, way.starts_writeback);
  std::vector<std::byte> memory;
  for (Stream& stream : part.streams) {
    stream.offset = sequence.position();
    if (stream.raw)
      write_raw(sequence, stream, memory);
    else
      sequence.put(stream.bytes);
    sequence.pad();
  }
  sequence.finish();
  if (!way.keeps_values) drop_values(part);
  return direct.has_value() == way.direct_io;
}

}  // namespace octavo::store
