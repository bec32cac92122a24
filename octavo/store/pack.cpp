#include "octavo/store/pack.hpp"

#include <bit>
#include <string>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"

namespace octavo::store {

using base::Error;
using base::Kind;

void pack_bits(const base::BitArray& bits, std::vector<std::byte>& out) {
  const std::size_t begin = out.size();
  out.resize(begin + 8 * bits.words().size());
  for (std::size_t w = 0; w < bits.words().size(); ++w) base::store(out.data() + begin + 8 * w, bits.words()[w]);
  out.resize(begin + (bits.size() + 7) / 8);
}

// Gaps and lengths in turn. They are small where the numbers of roots are not, and encode well.
std::vector<std::uint64_t> numbers_of_roots(const mesh::RootIntervals& held) {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(2 * held.size());
  std::int64_t before = 0;
  for (const mesh::RootInterval& interval : held) {
    numbers.push_back(static_cast<std::uint64_t>(interval.begin - before));
    numbers.push_back(static_cast<std::uint64_t>(interval.end - interval.begin));
    before = interval.end;
  }
  return numbers;
}

mesh::RootIntervals roots_of_numbers(std::span<const std::uint64_t> numbers, std::uint64_t count, std::uint64_t all) {
  mesh::RootIntervals held;
  std::uint64_t end = 0, roots = 0;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) {
    const std::uint64_t gap = numbers[i], length = numbers[i + 1];
    // Differences are compared, because a sum of damaged numbers could overflow.
    if ((gap == 0 && i > 0) || length == 0 || gap > all - end || length > all - end - gap)
      throw Error(Kind::corrupt, "held roots, interval " + std::to_string(i / 2) + ": expected roots from " +
                                     std::to_string(end) + " to " + std::to_string(all) + ", found a gap of " +
                                     std::to_string(gap) + " and " + std::to_string(length) + " roots");
    held.push_back({static_cast<std::int64_t>(end + gap), static_cast<std::int64_t>(end + gap + length)});
    end += gap + length;
    roots += length;
  }
  if (roots != count)
    throw Error(Kind::corrupt, "held roots: expected " + std::to_string(count) + ", found " + std::to_string(roots));
  return held;
}

void pack_numbers(std::span<const std::uint64_t> numbers, std::vector<std::byte>& out) {
  for (const std::uint64_t number : numbers) {
    out.resize(out.size() + sizeof(number));
    base::store(out.data() + out.size() - sizeof(number), number);
  }
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
