#pragma once
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "apps/shallow/solver.hpp"
#include "octavo/ranks/communicator.hpp"

/// Meshes and runs for the tests of the solver.
namespace octavo::shallow {

/// A rectangle [0, length] x [0, width] m of nx x ny squares halved into triangles, inner points moved by up to
/// `shake` of a square. Points are numbered along x, or shuffled where shaken.
struct Basin {
  int nx = 10, ny = 4;
  double length = 10, width = 4, shake = 0;
};

struct WholeMesh {
  std::vector<double> x, y;
  std::vector<std::array<std::int32_t, 3>> triangles;
};

inline WholeMesh mesh_of(const Basin& basin, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<std::int32_t> number(static_cast<std::size_t>((basin.nx + 1) * (basin.ny + 1)));
  for (std::size_t i = 0; i < number.size(); ++i) number[i] = static_cast<std::int32_t>(i);
  if (basin.shake > 0) std::shuffle(number.begin(), number.end(), random);
  WholeMesh mesh{std::vector<double>(number.size()), std::vector<double>(number.size()), {}};
  const auto point = [&](int i, int j) { return number[static_cast<std::size_t>(j * (basin.nx + 1) + i)]; };
  const double dx = basin.length / basin.nx, dy = basin.width / basin.ny;
  std::uniform_real_distribution<double> shift(-basin.shake, basin.shake);
  for (int j = 0; j <= basin.ny; ++j)
    for (int i = 0; i <= basin.nx; ++i) {
      const auto p = static_cast<std::size_t>(point(i, j));
      mesh.x[p] = dx * (i + (i == 0 || i == basin.nx ? 0 : shift(random)));
      mesh.y[p] = dy * (j + (j == 0 || j == basin.ny ? 0 : shift(random)));
    }
  for (int j = 0; j < basin.ny; ++j)
    for (int i = 0; i < basin.nx; ++i) {
      const std::int32_t a = point(i, j), b = point(i + 1, j), c = point(i + 1, j + 1), d = point(i, j + 1);
      const bool up = (i + j) % 2 == 0;
      mesh.triangles.push_back(up ? std::array{a, b, c} : std::array{a, b, d});
      mesh.triangles.push_back(up ? std::array{a, c, d} : std::array{b, c, d});
    }
  return mesh;
}

/// The triangles that `mine` picks, with their points.
inline Share share_of(const WholeMesh& mesh, const std::function<bool(std::size_t triangle)>& mine) {
  Share share;
  share.all_points = static_cast<std::int32_t>(mesh.x.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    if (mine(t)) share.triangles.push_back(mesh.triangles[t]);
  for (const auto& triangle : share.triangles)
    share.points.insert(share.points.end(), triangle.begin(), triangle.end());
  std::sort(share.points.begin(), share.points.end());
  share.points.erase(std::unique(share.points.begin(), share.points.end()), share.points.end());
  for (const std::int32_t p : share.points) {
    share.x.push_back(mesh.x[static_cast<std::size_t>(p)]);
    share.y.push_back(mesh.y[static_cast<std::size_t>(p)]);
  }
  return share;
}

/// Bottom and water at a place.
using Profile = std::function<std::pair<double, Water>(double x, double y)>;

/// Collective: a run on all ranks of `comm`, triangles dealt out at random in clumps (some ranks may get none).
inline Simulation basin_run(MPI_Comm comm, const WholeMesh& whole, const Physics& physics, const Profile& profile) {
  const auto ranks = static_cast<std::size_t>(ranks::size_of(comm));
  const auto rank = static_cast<std::size_t>(ranks::rank_in(comm));
  Mesh mesh = build_mesh(comm, share_of(whole, [&](std::size_t t) { return (t / 37 * 7919) % ranks == rank; }));
  std::vector<double> bottom;
  std::vector<Water> water;
  for (std::size_t i = 0; i < mesh.area.size(); ++i) {
    const auto [z, w] = profile(mesh.x[i], mesh.y[i]);
    bottom.push_back(z);
    water.push_back(w);
  }
  return start(comm, physics, std::move(mesh), std::move(bottom), std::move(water));
}

inline void run_until(Simulation& simulation, double until) {
  bool stop = false;
  while (simulation.time < until) advance(simulation, until, stop);
}

}  // namespace octavo::shallow
