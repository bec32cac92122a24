#ifdef OCTAVO_HAVE_HDF5
#include <algorithm>
#include <array>
#include <bit>

#include "octavo/base/byte_order.hpp"
#include "octavo/file/hdf5/hdf5_overlay.hpp"

namespace octavo::file::hdf5 {
namespace {

using base::Error;
using base::Kind;

constexpr std::endian little = std::endian::little;

struct HashState {
  std::uint32_t a, b, c;
};

void mix(HashState& w) {
  const auto step = [](std::uint32_t& x, std::uint32_t& y, std::uint32_t& z, int bits) {
    x -= z;
    x ^= std::rotl(z, bits);
    z += y;
  };
  step(w.a, w.b, w.c, 4);
  step(w.b, w.c, w.a, 6);
  step(w.c, w.a, w.b, 8);
  step(w.a, w.b, w.c, 16);
  step(w.b, w.c, w.a, 19);
  step(w.c, w.a, w.b, 4);
}

void finish(HashState& w) {
  const auto step = [](std::uint32_t& x, std::uint32_t y, int bits) {
    x ^= y;
    x -= std::rotl(y, bits);
  };
  step(w.c, w.b, 14);
  step(w.a, w.c, 11);
  step(w.b, w.a, 25);
  step(w.c, w.b, 16);
  step(w.a, w.c, 4);
  step(w.b, w.a, 14);
  step(w.c, w.b, 24);
}

/// Jenkins' lookup3, HDF5's checksum of metadata (Bob Jenkins, lookup3.c, May 2006).
std::uint32_t lookup3(std::span<const std::byte> bytes) {
  const auto start = static_cast<std::uint32_t>(0xdeadbeef + bytes.size());
  HashState w{start, start, start};
  while (!bytes.empty()) {
    std::array<std::byte, 12> block{};  // the last block ends in zeros
    const std::size_t count = std::min<std::size_t>(bytes.size(), 12);
    std::copy_n(bytes.begin(), count, block.begin());
    bytes = bytes.subspan(count);
    w.a += base::load<std::uint32_t>(block.data(), little);
    w.b += base::load<std::uint32_t>(block.data() + 4, little);
    w.c += base::load<std::uint32_t>(block.data() + 8, little);
    bytes.empty() ? finish(w) : mix(w);
  }
  return w.c;
}

/// Offsets within the superblock, by version.
struct SuperblockOffsets {
  std::size_t bytes, widths, base, end, root;
};

SuperblockOffsets places_of(int version) {
  if (version == 0) return {96, 13, 24, 40, 64};
  if (version == 1) return {100, 13, 28, 44, 68};
  if (version == 2 || version == 3) return {48, 9, 12, 28, 36};
  throw Error(Kind::unsupported, "an HDF5 superblock of version " + std::to_string(version));
}

}  // namespace

std::vector<std::byte> superblock(const file::File& file, std::uint64_t root, std::uint64_t end) {
  std::array<std::byte, 9> begin;
  pread_all(file, 0, begin);
  const int version = static_cast<int>(begin[8]);
  const SuperblockOffsets at = places_of(version);
  std::vector<std::byte> bytes(at.bytes);
  pread_all(file, 0, bytes);
  if (bytes[at.widths] != std::byte{8} || base::load<std::uint64_t>(&bytes[at.base], little) != 0)
    throw Error(Kind::unsupported, "an HDF5 file with addresses that are not 8 bytes from its beginning");
  base::store(&bytes[at.end], end, little);
  base::store(&bytes[at.root], root, little);
  if (version >= 2)
    base::store(&bytes[44], lookup3(std::span(bytes).first(44)), little);
  else  // clears what the file caches about the old root group
    std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(at.root) + 8, bytes.end(), std::byte{0});
  return bytes;
}

}  // namespace octavo::file::hdf5
#endif
