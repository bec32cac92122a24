#include "octavo/formats/ramses/oct_table.hpp"

#include <algorithm>
#include <map>
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

std::vector<TreeOct> root_octs(const mesh::Octree& tree, const std::vector<mesh::Coordinate>& roots) {
  // The part need not hold all cells of an oct.
  std::map<std::array<std::uint32_t, 3>, TreeOct> octs;  // by position, z first
  tree.owned[0].for_each_set([&](std::size_t i) {
    const auto& [x, y, z] = roots[i];
    TreeOct& oct = octs[{z / 2, y / 2, x / 2}];
    oct.at = {x / 2, y / 2, z / 2};
    const unsigned c = (x & 1) | (y & 1) << 1 | (z & 1) << 2;
    oct.cells[c] = i;
    oct.owned = static_cast<std::uint8_t>(oct.owned | 1U << c);
    oct.refined = static_cast<std::uint8_t>(oct.refined | unsigned{tree.refined[0][i]} << c);
  });
  std::vector<TreeOct> out;
  for (const auto& [at, oct] : octs) out.push_back(oct);
  return out;
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
