#include "octavo/mesh/unstructured.hpp"

#include <string>

#include "octavo/base/error.hpp"
#include "octavo/mesh/global_points.hpp"

namespace octavo::mesh {
namespace {

using base::Error;
using base::Kind;

void check_triangle(const Unstructured& mesh, std::size_t triangle) {
  const std::int64_t* p = &mesh.connectivity[3 * triangle];
  const auto points = static_cast<std::int64_t>(mesh.x.size());
  for (int i = 0; i < 3; ++i)
    if (p[i] < 0 || p[i] >= points)
      throw Error(Kind::corrupt,
                  "point index: expected 0 to " + std::to_string(points - 1) + ", found " + std::to_string(p[i]))
          .at("triangle " + std::to_string(triangle));
  if (p[0] == p[1] || p[1] == p[2] || p[0] == p[2])
    throw Error(Kind::corrupt, "a triangle names one point twice: " + std::to_string(p[0]) + ", " +
                                   std::to_string(p[1]) + ", " + std::to_string(p[2]))
        .at("triangle " + std::to_string(triangle));
}

}  // namespace

void validate(const Unstructured& mesh) {
  if (mesh.x.size() != mesh.y.size())
    throw Error(Kind::corrupt, "point coordinates: " + std::to_string(mesh.x.size()) + " x and " +
                                   std::to_string(mesh.y.size()) + " y, expected as many");
  if (mesh.connectivity.size() % 3 != 0)
    throw Error(Kind::corrupt, "connectivity: expected three points a triangle, found " +
                                   std::to_string(mesh.connectivity.size()) + " entries");
  if (mesh.planes < 1) throw Error(Kind::corrupt, "planes: expected at least 1, found " + std::to_string(mesh.planes));
  for (std::size_t t = 0; t < mesh.connectivity.size() / 3; ++t) check_triangle(mesh, t);
  check_global_points(mesh.global_point, mesh.x.size());
}

}  // namespace octavo::mesh
