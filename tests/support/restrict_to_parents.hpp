#pragma once
#include "octavo/mesh/tree/fill.hpp"

namespace octavo::mesh {

/// Gives all refined cells of a part the means of the finer ones, those on faces the means of the faces on them. Means
/// of fields of `specific` are weighted.
inline void restrict_to_parents(Part& part, const Specific& specific = {}) {
  const Octree& tree = octree_of(part);
  const std::size_t block = block_size(tree);
  base::BitArray known(num_cells(tree) * block);
  const auto offsets = level_offsets(tree);
  for (std::size_t level = 0; level < tree.refined.size(); ++level)
    for (std::size_t i = 0; i < tree.refined[level].size(); ++i)
      if (!tree.refined[level][i])
        for (std::size_t k = 0; k < block; ++k) known.set((offsets[level] + i) * block + k);
  form_means(tree, num_levels(tree), part.fields, known, specific);
}

}  // namespace octavo::mesh
