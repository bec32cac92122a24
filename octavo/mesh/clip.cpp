#include "octavo/mesh/clip.hpp"

#include <algorithm>
#include <string>

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

std::vector<bool> inside(const Region& region, const Header& header, const Particles& species) {
  const auto count = static_cast<std::size_t>(species.count);
  const double unit = header.hi[0] - header.lo[0];
  std::vector<Point3> points(count, Point3{});
  bool placed = false;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis)
    for (const Field& attribute : species.attributes)
      if (attribute.info.name == std::string("position_") + "xyz"[axis]) {
        placed = true;
        visit_values(attribute, [&](auto values) {
          for (std::size_t i = 0; i < std::min(count, values.size()); ++i)
            points[i][axis] = (static_cast<double>(values[i]) - header.lo[axis]) / unit;
        });
      }
  std::vector<bool> kept(count, true);
  const Domain domain = domain_of(header);
  for (std::size_t i = 0; placed && i < count; ++i) kept[i] = contains(region, domain, points[i]);
  return kept;
}

void keep(Particles& species, const std::vector<bool>& kept) {
  const auto count = static_cast<std::size_t>(std::count(kept.begin(), kept.end(), true));
  for (Field& attribute : species.attributes) {
    const std::size_t width = size_of(attribute.info.type) * static_cast<std::size_t>(attribute.info.components);
    std::vector<std::byte> bytes(count * width);
    auto to = bytes.begin();
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (kept[i]) to = std::copy_n(attribute.bytes.begin() + static_cast<std::ptrdiff_t>(i * width), width, to);
    attribute.bytes = std::move(bytes);
  }
  species.count = static_cast<std::int64_t>(count);
}

}  // namespace octavo::mesh
