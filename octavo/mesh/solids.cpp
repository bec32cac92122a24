#include "octavo/mesh/solids.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/mesh/global_points.hpp"

namespace octavo::mesh {
namespace {

using base::Error;
using base::Kind;

void check_places(const Solids& mesh) {
  if (mesh.x.size() != mesh.y.size() || mesh.x.size() != mesh.z.size())
    throw Error(Kind::corrupt, "point coordinates: " + std::to_string(mesh.x.size()) + " x, " +
                                   std::to_string(mesh.y.size()) + " y and " + std::to_string(mesh.z.size()) +
                                   " z, expected as many");
  for (const std::vector<double>* axis : {&mesh.x, &mesh.y, &mesh.z})
    for (std::size_t i = 0; i < axis->size(); ++i)
      if (!std::isfinite((*axis)[i]))
        throw Error(Kind::corrupt, "coordinate: expected a finite number, found " + std::to_string((*axis)[i]))
            .at("point " + std::to_string(i));
}

/// The sum of the corners of all cells.
std::size_t checked_corners(const Solids& mesh) {
  std::size_t sum = 0;
  for (std::size_t c = 0; c < mesh.corners.size(); ++c) {
    const int corners = mesh.corners[c];
    if (corners != 4 && corners != 5 && corners != 6 && corners != 8)
      throw Error(Kind::corrupt, "corners: expected 4, 5, 6 or 8, found " + std::to_string(corners))
          .at("cell " + std::to_string(c));
    sum += static_cast<std::size_t>(corners);
  }
  return sum;
}

void check_indices(const Solids& mesh) {
  const auto points = static_cast<std::int64_t>(mesh.x.size());
  for (std::size_t c = 0, i = 0; c < mesh.corners.size(); ++c)
    for (std::size_t k = 0; k < mesh.corners[c]; ++k, ++i)
      if (mesh.connectivity[i] < 0 || mesh.connectivity[i] >= points)
        throw Error(Kind::corrupt, "point index: expected 0 to " + std::to_string(points - 1) + ", found " +
                                       std::to_string(mesh.connectivity[i]))
            .at("cell " + std::to_string(c));
}

}  // namespace

void validate(const Solids& mesh) {
  check_places(mesh);
  if (const std::size_t corners = checked_corners(mesh); corners != mesh.connectivity.size())
    throw Error(Kind::corrupt, "connectivity: expected " + std::to_string(corners) + " entries, the corners of " +
                                   std::to_string(mesh.corners.size()) + " cells, found " +
                                   std::to_string(mesh.connectivity.size()));
  check_indices(mesh);
  check_global_points(mesh.global_point, mesh.x.size());
}

}  // namespace octavo::mesh
