#include "octavo/mesh/clip.hpp"

namespace octavo::mesh {

CellFrame cell_frame(const Header& header, int index) {
  const Domain domain = domain_of(header);
  CellFrame frame;
  for (std::size_t a = 0; a < 3; ++a)
    frame.size[a] = domain.extent[a] / (static_cast<double>(header.roots[a]) *
                                        static_cast<double>(static_cast<int>(a) < header.dim ? 1LL << index : 1LL));
  return frame;
}

void clip(Octree& tree, const Header& header, const Region& region) {
  const Domain domain = domain_of(header);
  auto coordinates = root_coordinates(tree);
  for (int level = 0; level < num_levels(tree); ++level) {
    const CellFrame frame = cell_frame(header, level);
    auto& owned = tree.owned[static_cast<std::size_t>(level)];
    for (std::size_t i = 0; i < owned.size(); ++i) {
      if (!owned[i]) continue;
      const auto& [x, y, z] = coordinates[i];
      // Both corners from integers, so that neighbours share a face to the last bit.
      if (!touches(region, domain, frame.corner(coordinates[i]), frame.corner({x + 1, y + 1, z + 1})))
        owned.set(i, false);
    }
    if (level + 1 < num_levels(tree)) coordinates = child_coordinates(tree, level, coordinates);
  }
}

}  // namespace octavo::mesh
