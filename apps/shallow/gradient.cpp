#include "apps/shallow/gradient.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace octavo::shallow {

namespace {

constexpr std::size_t quantities = 4;
static_assert(sizeof(Slopes) == 2 * quantities * sizeof(double));

using Values = std::array<double, quantities>;
Values values_of(const Side& side) { return {side.h, side.h + side.z, side.u, side.v}; }

/// Least and greatest value around each point, and how much of its slope stays.
struct Limits {
  Values least{}, greatest{}, part{1, 1, 1, 1};
  bool dry = false;
};

std::vector<Limits> find_limits(const Mesh& mesh, const std::vector<Side>& sides, double dry_depth) {
  std::vector<Limits> limits(sides.size());
  for (std::size_t i = 0; i < sides.size(); ++i) {
    limits[i].least = limits[i].greatest = values_of(sides[i]);
    limits[i].dry = sides[i].h <= dry_depth;
  }
  const auto see = [&](std::int32_t point, std::int32_t neighbour) {
    Limits& mine = limits[static_cast<std::size_t>(point)];
    const Side& other = sides[static_cast<std::size_t>(neighbour)];
    const Values values = values_of(other);
    for (std::size_t k = 0; k < quantities; ++k) {
      mine.least[k] = std::min(mine.least[k], values[k]);
      mine.greatest[k] = std::max(mine.greatest[k], values[k]);
    }
    mine.dry = mine.dry || other.h <= dry_depth;
  };
  for (const Edge& edge : mesh.edges) {
    see(edge.a, edge.b);
    see(edge.b, edge.a);
  }
  return limits;
}

double* slope(Slopes& slopes, std::size_t quantity) { return slopes.h + 2 * quantity; }

void add_triangles(const Mesh& mesh, const std::vector<Side>& sides, std::vector<Slopes>& slopes) {
  for (const Triangle& triangle : mesh.triangles) {
    std::array<Values, 3> values{};
    for (std::size_t c = 0; c < 3; ++c) values[c] = values_of(sides[static_cast<std::size_t>(triangle.point[c])]);
    for (std::size_t k = 0; k < quantities; ++k) {
      double gx = 0, gy = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        gx += values[c][k] * triangle.dx[c];
        gy += values[c][k] * triangle.dy[c];
      }
      for (const std::int32_t point : triangle.point) {
        if (point >= mesh.owned) continue;
        const auto p = static_cast<std::size_t>(point);
        slope(slopes[p], k)[0] += gx * triangle.area / (3 * mesh.area[p]);
        slope(slopes[p], k)[1] += gy * triangle.area / (3 * mesh.area[p]);
      }
    }
  }
}

/// How much of a change may stay between the extrema.
double allowed(double change, double value, double least, double greatest) {
  if (change > 0) return std::min(1.0, (greatest - value) / change);
  return change < 0 ? std::min(1.0, (least - value) / change) : 1.0;
}

void limit(const Mesh& mesh, const std::vector<Side>& sides, std::vector<Slopes>& slopes, std::vector<Limits>& limits) {
  const auto look = [&](std::int32_t from, std::int32_t to) {
    const auto i = static_cast<std::size_t>(from), j = static_cast<std::size_t>(to);
    const double dx = 0.5 * (mesh.x[j] - mesh.x[i]), dy = 0.5 * (mesh.y[j] - mesh.y[i]);
    const Values values = values_of(sides[i]);
    for (std::size_t k = 0; k < quantities; ++k) {
      const double change = slope(slopes[i], k)[0] * dx + slope(slopes[i], k)[1] * dy;
      const double greatest = k == 0 ? std::min(limits[i].greatest[k], 2 * values[k]) : limits[i].greatest[k];
      limits[i].part[k] = std::min(limits[i].part[k], allowed(change, values[k], limits[i].least[k], greatest));
    }
  };
  for (const Edge& edge : mesh.edges) {
    if (edge.a < mesh.owned) look(edge.a, edge.b);
    if (edge.b < mesh.owned) look(edge.b, edge.a);
  }
  for (std::size_t i = 0; i < mesh.area.size(); ++i)
    for (std::size_t k = 0; k < quantities; ++k)
      for (int axis = 0; axis < 2; ++axis) slope(slopes[i], k)[axis] *= limits[i].dry ? 0 : limits[i].part[k];
}

}  // namespace

std::vector<Slopes> limited_slopes(MPI_Comm comm, const Mesh& mesh, const std::vector<Side>& sides, double dry_depth) {
  std::vector<Slopes> slopes(sides.size());
  std::vector<Limits> limits = find_limits(mesh, sides, dry_depth);
  add_triangles(mesh, sides, slopes);
  limit(mesh, sides, slopes, limits);
  fill_ghosts(comm, mesh.halo, {slopes.empty() ? nullptr : slopes[0].h, 2 * quantities * slopes.size()},
              2 * quantities);
  return slopes;
}

}  // namespace octavo::shallow
