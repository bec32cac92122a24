#pragma once
#include <algorithm>

#include "octavo/codec/chunk.hpp"

/// Inside the codec room: bits packed into bytes, lowest first.
namespace octavo::codec {

class BitWriter {
 public:
  explicit BitWriter(Bytes& out) : out_(out) {}
  /// The low `count` bits of value, count <= 64.
  void put(std::uint64_t value, unsigned count) {
    if (count > 32) {
      put(value & 0xffffffff, 32);
      value >>= 32;
      count -= 32;
    }
    held_ |= (value & ((std::uint64_t{1} << count) - 1)) << filled_;
    filled_ += count;
    if (filled_ < 32) return;
    put_number(out_, static_cast<std::uint32_t>(held_));
    held_ >>= 32;
    filled_ -= 32;
  }
  void finish() {
    for (; filled_ > 0; filled_ -= std::min(filled_, 8u), held_ >>= 8) put_byte(out_, held_ & 255);
    held_ = 0;
  }

 private:
  Bytes& out_;
  std::uint64_t held_ = 0;
  unsigned filled_ = 0;
};

class BitReader {
 public:
  explicit BitReader(ChunkReader& in) : in_(in) {}
  /// The next `count` bits, count <= 64.
  std::uint64_t get(unsigned count) {
    if (count > 32) {
      const std::uint64_t low = get(32);
      return low | get(count - 32) << 32;
    }
    for (; filled_ < count; filled_ += 8) held_ |= std::uint64_t{in_.byte()} << filled_;
    const std::uint64_t value = held_ & ((std::uint64_t{1} << count) - 1);
    held_ >>= count;
    filled_ -= count;
    return value;
  }

 private:
  ChunkReader& in_;
  std::uint64_t held_ = 0;
  unsigned filled_ = 0;
};

}  // namespace octavo::codec
