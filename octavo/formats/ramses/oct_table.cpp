#include "octavo/formats/ramses/oct_table.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "octavo/base/error.hpp"

namespace octavo::formats::ramses {

const mesh::Octree& tree_of(const mesh::Dataset& dataset, const mesh::Part& part) {
  if (const auto* tree = std::get_if<mesh::Octree>(&part.mesh)) return *tree;
  throw base::Error(base::Kind::unsupported, "cannot be written as a RAMSES output: its mesh is no octree")
      .at(dataset.path);
}

mesh::Octree read_tree_of(const mesh::Dataset& dataset, int part) {
  mesh::Request trees;
  trees.fields.emplace();
  mesh::Part read = dataset.read(part, trees);
  tree_of(dataset, read);
  return std::get<mesh::Octree>(std::move(read.mesh));
}

std::size_t cell_of_oct(const mesh::Octree& tree, int level, std::size_t oct, unsigned c) {
  if (level > 0) return (oct << tree.dim) + c;
  std::size_t cell = 0, stride = 1;
  for (std::size_t a = 0; a < static_cast<std::size_t>(tree.dim); ++a) {
    const auto count = static_cast<std::size_t>(tree.roots[a] / 2);
    cell += stride * (2 * (oct % count) + (c >> a & 1));
    oct /= count;
    stride *= 2 * count;
  }
  return cell;
}

void OctTable::add(int dim, const TreeOct& oct) {
  key.push_back(oct_key(dim, oct.at));
  refined.push_back(oct.refined & oct.owned);
  owned.push_back(oct.owned);
}

void OctTable::sort() {
  std::vector<std::uint32_t> order(key.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key[a] < key[b]; });
  OctTable sorted;
  for (const std::uint32_t i : order) {
    if (!sorted.key.empty() && sorted.key.back() == key[i]) {
      sorted.refined.back() |= refined[i];
      sorted.owned.back() |= owned[i];
      continue;
    }
    sorted.key.push_back(key[i]);
    sorted.refined.push_back(refined[i]);
    sorted.owned.push_back(owned[i]);
  }
  *this = std::move(sorted);
}

std::size_t find(const std::vector<mesh::CurveKey>& keys, const mesh::CurveKey& key) {
  const auto found = std::lower_bound(keys.begin(), keys.end(), key);
  return found != keys.end() && *found == key ? static_cast<std::size_t>(found - keys.begin()) : nowhere;
}

}  // namespace octavo::formats::ramses
