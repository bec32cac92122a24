#pragma once
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/octree.hpp"

namespace octavo::mesh {

/// Gives refined cells the means of their children, by `weights` (one a cell; empty: plain means).
inline void weigh_parents(const Octree& tree, Field& field, std::span<const double> weights) {
  const auto offsets = level_offsets(tree);
  const auto values = field.as<double>();
  const std::size_t family = family_size(tree), width = values.size() / offsets.back();
  for (std::size_t level = tree.refined.size() - 1; level-- > 0;) {
    std::size_t child = offsets[level + 1];
    tree.refined[level].for_each_set([&](std::size_t cell) {
      for (std::size_t j = 0; j < width; ++j) {
        double sum = 0, mass = 0;
        for (std::size_t c = child; c < child + family; ++c) {
          const double weight = weights.empty() ? 1 : weights[c];
          sum += weight * values[c * width + j];
          mass += weight;
        }
        values[(offsets[level] + cell) * width + j] = sum / mass;
      }
      child += family;
    });
  }
}

}  // namespace octavo::mesh
