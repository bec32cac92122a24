#pragma once
#include "octavo/mesh/dataset.hpp"

namespace octavo::mesh {

/// Takes ownership from every cell that shares no volume with the region; refinement stays. Prune afterwards. Each cell
/// that a map or a selection of the same region needs is kept.
void clip(Octree& tree, const Header& header, const Region& region);

/// Whether each particle's position is in the region; true for all if the species has no positions.
std::vector<bool> inside(const Region& region, const Header& header, const Particles& species);
/// Removes the particles whose entry is false, in place.
void keep(Particles& species, const std::vector<bool>& kept);

/// Position of a tree cell's lower corner, and its edge lengths, in fractions of the domain's x extent.
struct CellFrame {
  Point3 size{};
  Point3 corner(const Coordinate& at) const {
    return {static_cast<double>(at[0]) * size[0], static_cast<double>(at[1]) * size[1],
            static_cast<double>(at[2]) * size[2]};
  }
};
CellFrame cell_frame(const Header& header, int index);

}  // namespace octavo::mesh
