#include "octavo/analysis/solids/solid_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "octavo/mesh/solids/tetrahedra.hpp"

namespace octavo::analysis {
namespace {

mesh::Point3 mean_place(const mesh::Solids& mesh, std::span<const std::int64_t> points) {
  mesh::Point3 sum{};
  for (const std::int64_t point : points) {
    const auto i = static_cast<std::size_t>(point);
    const mesh::Point3 at{mesh.x[i], mesh.y[i], mesh.z[i]};
    for (std::size_t a = 0; a < 3; ++a) sum[a] += at[a] / static_cast<double>(points.size());
  }
  return sum;
}

}  // namespace

std::vector<mesh::Point3> centroids_of(const mesh::Solids& mesh) {
  std::vector<mesh::Point3> moments(mesh.corners.size(), mesh::Point3{});
  std::vector<double> volumes(mesh.corners.size(), 0);
  mesh::for_each_tetrahedron(mesh,
                             [&](std::size_t cell, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
                               const double volume = std::fabs(mesh::six_volumes(mesh, a, b, c, d));
                               const mesh::Point3 middle = mean_place(mesh, std::array{a, b, c, d});
                               volumes[cell] += volume;
                               for (std::size_t axis = 0; axis < 3; ++axis)
                                 moments[cell][axis] += volume * middle[axis];
                             });
  const std::vector<std::int64_t> first = mesh::first_corners(mesh);
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

std::vector<char> cells_within(const mesh::Solids& mesh, const Within& within) {
  const std::vector<mesh::Point3> centres = centroids_of(mesh);
  std::vector<char> chosen(centres.size());
  std::transform(centres.begin(), centres.end(), chosen.begin(),
                 [&](const mesh::Point3& centre) { return static_cast<char>(within(centre) ? 1 : 0); });
  return chosen;
}

std::vector<double> point_volumes(const mesh::Solids& mesh, std::span<const char> chosen) {
  std::vector<double> volumes(mesh.x.size(), 0);
  mesh::for_each_tetrahedron(mesh,
                             [&](std::size_t cell, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
                               if (!chosen.empty() && chosen[cell] == 0) return;
                               const double quarter = std::fabs(mesh::six_volumes(mesh, a, b, c, d)) / 24;
                               for (const std::int64_t point : {a, b, c, d})
                                 volumes[static_cast<std::size_t>(point)] += quarter;
                             });
  return volumes;
}

}  // namespace octavo::analysis
