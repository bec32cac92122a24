#include "octavo/mesh/solids/centroids.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "octavo/mesh/solids/tetrahedra.hpp"

namespace octavo::mesh {
namespace {

Point3 mean_place(const Solids& mesh, std::span<const std::int64_t> points) {
  Point3 sum{};
  for (const std::int64_t point : points) {
    const auto i = static_cast<std::size_t>(point);
    const Point3 at{mesh.x[i], mesh.y[i], mesh.z[i]};
    for (std::size_t a = 0; a < 3; ++a) sum[a] += at[a] / static_cast<double>(points.size());
  }
  return sum;
}

}  // namespace

std::vector<Point3> centroids_of(const Solids& mesh) {
  std::vector<Point3> moments(mesh.corners.size(), Point3{});
  std::vector<double> volumes(mesh.corners.size(), 0);
  for_each_tetrahedron(mesh, [&](std::size_t cell, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    const double volume = std::fabs(six_volumes(mesh, a, b, c, d));
    const Point3 middle = mean_place(mesh, std::array{a, b, c, d});
    volumes[cell] += volume;
    for (std::size_t axis = 0; axis < 3; ++axis) moments[cell][axis] += volume * middle[axis];
  });
  const std::vector<std::int64_t> first = first_corners(mesh);
  for (std::size_t cell = 0; cell < moments.size(); ++cell) {
    if (volumes[cell] > 0) {
      for (double& moment : moments[cell]) moment /= volumes[cell];
    } else {
      const auto at = static_cast<std::size_t>(first[cell]);
      moments[cell] = mean_place(mesh, std::span(mesh.connectivity).subspan(at, mesh.corners[cell]));
    }
  }
  return moments;
}

}  // namespace octavo::mesh
