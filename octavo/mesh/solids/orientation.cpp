#include "octavo/mesh/solids/orientation.hpp"

#include <algorithm>
#include <array>

#include "octavo/mesh/solids/tetrahedra.hpp"

namespace octavo::mesh {
namespace {

using Places = std::span<const std::uint8_t>;

constexpr std::array<std::uint8_t, 4> tetrahedron_turned{0, 2, 1, 3};
constexpr std::array<std::uint8_t, 5> pyramid_turned{0, 3, 2, 1, 4};
constexpr std::array<std::uint8_t, 6> prism_turned{0, 2, 1, 3, 5, 4};
constexpr std::array<std::uint8_t, 8> hexahedron_turned{0, 3, 2, 1, 4, 7, 6, 5};

}  // namespace

std::span<const std::uint8_t> turned_round(int corners) {
  return corners == 4   ? Places(tetrahedron_turned)
         : corners == 5 ? Places(pyramid_turned)
         : corners == 6 ? Places(prism_turned)
                        : Places(hexahedron_turned);
}

std::int64_t turn_negative_cells(Solids& mesh) {
  const std::vector<double> volumes = volumes_of(mesh);
  std::array<std::int64_t, 8> old{};
  std::int64_t turned = 0;
  std::size_t first = 0;
  for (std::size_t c = 0; c < mesh.corners.size(); first += mesh.corners[c], ++c) {
    if (!(volumes[c] < 0)) continue;
    const std::span<std::int64_t> points = std::span(mesh.connectivity).subspan(first, mesh.corners[c]);
    std::copy(points.begin(), points.end(), old.begin());
    const Places places = turned_round(mesh.corners[c]);
    for (std::size_t k = 0; k < points.size(); ++k) points[k] = old[places[k]];
    ++turned;
  }
  return turned;
}

}  // namespace octavo::mesh
