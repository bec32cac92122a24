#include "octavo/store/pack.hpp"

#include <bit>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/checksum.hpp"

namespace octavo::store {

void pack_bits(const base::BitArray& bits, std::vector<std::byte>& out) {
  const std::size_t begin = out.size();
  out.resize(begin + 8 * bits.words().size());
  for (std::size_t w = 0; w < bits.words().size(); ++w) base::store(out.data() + begin + 8 * w, bits.words()[w]);
  out.resize(begin + (bits.size() + 7) / 8);
}

std::uint64_t checksum_little_endian(std::span<const std::byte> values, std::size_t scalar_size) {
  if constexpr (std::endian::native == std::endian::little) return base::checksum(values);
  std::vector<std::byte> swapped(values.begin(), values.end());
  base::swap_bytes(swapped, scalar_size);
  return base::checksum(swapped);
}

std::vector<std::vector<std::uint32_t>> parents_of(const mesh::Octree& tree) {
  std::vector<std::vector<std::uint32_t>> parents(tree.refined.size());
  if (block_size(tree) != 1) return parents;
  for (std::size_t level = 1; level < parents.size(); ++level)
    parents[level] = base::set_positions(tree.refined[level - 1]);
  return parents;
}

}  // namespace octavo::store
