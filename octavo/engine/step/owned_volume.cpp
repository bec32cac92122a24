#include "octavo/engine/step/owned_volume.hpp"

#include <algorithm>
#include <cmath>

#include "octavo/mesh/boxes.hpp"

namespace octavo::engine {
namespace {

// The format's deepest level index, of whose cells the digits count.
constexpr int finest = 32;

// `count` cells of a level; count < 2^63.
void add(Volume& volume, std::uint64_t count, int dim, int level) {
  const int shift = dim * (finest - level);
  __extension__ using Wide = unsigned __int128;
  auto rest = static_cast<Wide>(count) << (shift % 32);
  for (auto digit = static_cast<std::size_t>(shift / 32); rest != 0; ++digit, rest >>= 32)
    volume.at(digit) += static_cast<std::int64_t>(rest & 0xFFFFFFFF);
}

std::uint64_t product(const mesh::Index3& counts) {
  return static_cast<std::uint64_t>(counts[0] * counts[1] * counts[2]);
}

}  // namespace

Volume owned_volume(const mesh::Octree& tree) {
  Volume volume{};
  for (int level = 0; level < num_levels(tree); ++level) add(volume, num_owned_leaves(tree, level), tree.dim, level);
  return volume;
}

Volume owned_volume(const mesh::Patches& patches, int unfolded, const mesh::Index3& block) {
  std::uint64_t cells = 0;
  for (const mesh::IndexBox& box : patches.boxes.at(0))
    cells += static_cast<std::uint64_t>(num_cells(box, patches.dim));
  Volume volume{};
  add(volume, cells / product(block), patches.dim, unfolded);
  return volume;
}

Volume domain_volume(int dim, const mesh::Index3& roots) {
  Volume volume{};
  add(volume, product(roots), dim, 0);
  return volume;
}

Volume normalised(std::span<const std::int64_t> digits) {
  Volume volume{};
  std::int64_t carry = 0;
  for (std::size_t i = 0; i < volume.size(); ++i) {
    const std::int64_t sum = digits[i] + carry;
    volume[i] = i + 1 < volume.size() ? sum & 0xFFFFFFFF : sum;
    carry = sum >> 32;
  }
  return volume;
}

bool is_larger(const Volume& volume, const Volume& than) {
  return std::lexicographical_compare(than.rbegin(), than.rend(), volume.rbegin(), volume.rend());
}

double to_double(const Volume& volume) {
  double sum = 0;
  for (std::size_t i = volume.size(); i-- > 0;) sum = std::ldexp(sum, 32) + static_cast<double>(volume[i]);
  return sum;
}

}  // namespace octavo::engine
