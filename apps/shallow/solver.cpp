#include "apps/shallow/solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/shallow/gradient.hpp"
#include "octavo/base/at.hpp"

namespace octavo::shallow {

namespace {

using base::at;

void fill_ghost_water(const Simulation& simulation, std::vector<Water>& water) {
  static_assert(sizeof(Water) == 3 * sizeof(double));
  fill_ghosts(simulation.comm, simulation.mesh.halo, {water.empty() ? nullptr : &water[0].h, 3 * water.size()}, 3);
}

std::vector<Side> sides_of(const Simulation& simulation, const std::vector<Water>& water) {
  std::vector<Side> sides(water.size());
  for (std::size_t i = 0; i < water.size(); ++i) {
    const Water& w = water[i];
    const bool moves = w.h > simulation.physics.dry_depth;
    sides[i] = {w.h, moves ? w.qx / w.h : 0, moves ? w.qy / w.h : 0, simulation.bottom[i]};
  }
  return sides;
}

/// The outflow of each control volume [m3/s, m4/s2], and the sum over its faces of wave speed times length [m2/s].
struct Outflow {
  std::vector<Water> loss;
  std::vector<double> speed;
};

void subtract(Outflow& out, std::int32_t point, double mass, double x, double y, double speed) {
  Water& loss = out.loss[at(point)];
  loss.h += mass;
  loss.qx += x;
  loss.qy += y;
  out.speed[at(point)] += speed;
}

/// A point's side at the middle of the way to another. The pressure between the point and there (Audusse, Bristeau
/// 2005), less that at rest of both depths, is g/2 (h_i + h_ij) (level_ij - level_i): zero for still water, exactly.
struct Reconstructed {
  Side side;
  double pressure = 0;
};

Reconstructed reconstruct(const Side& side, const Slopes& slopes, double dx, double dy) {
  const auto change = [&](const double* slope) { return slope[0] * dx + slope[1] * dy; };
  const double h = std::max(0.0, side.h + change(slopes.h)), rise = change(slopes.level);
  return {{h, side.u + change(slopes.u), side.v + change(slopes.v), side.h + side.z + rise - h},
          0.5 * gravity * (side.h + h) * rise};
}

void cross_edges(const Simulation& simulation, const std::vector<Side>& sides, Outflow& out) {
  for (const Edge& edge : simulation.mesh.edges) {
    const FaceFlux flux = flux_between(sides[at(edge.a)], sides[at(edge.b)], edge.face);
    subtract(out, edge.a, flux.mass, flux.left_x, flux.left_y, flux.speed);
    subtract(out, edge.b, -flux.mass, -flux.right_x, -flux.right_y, flux.speed);
  }
}

void cross_edges_second_order(const Simulation& simulation, const std::vector<Side>& sides, Outflow& out) {
  const Mesh& mesh = simulation.mesh;
  const auto slopes = limited_slopes(simulation.comm, mesh, sides, simulation.physics.dry_depth);
  for (const Edge& edge : mesh.edges) {
    const std::size_t a = at(edge.a), b = at(edge.b);
    const double dx = 0.5 * (mesh.x[b] - mesh.x[a]), dy = 0.5 * (mesh.y[b] - mesh.y[a]);
    const Reconstructed left = reconstruct(sides[a], slopes[a], dx, dy);
    const Reconstructed right = reconstruct(sides[b], slopes[b], -dx, -dy);
    const FaceFlux flux = flux_between(left.side, right.side, edge.face);
    const double push_a = left.pressure * edge.face.length, push_b = right.pressure * edge.face.length;
    subtract(out, edge.a, flux.mass, flux.left_x + push_a * edge.face.x, flux.left_y + push_a * edge.face.y,
             flux.speed);
    subtract(out, edge.b, -flux.mass, -flux.right_x - push_b * edge.face.x, -flux.right_y - push_b * edge.face.y,
             flux.speed);
  }
}

Outflow outflow_of(const Simulation& simulation, const std::vector<Water>& water) {
  const std::vector<Side> sides = sides_of(simulation, water);
  Outflow out{std::vector<Water>(water.size()), std::vector<double>(water.size(), 0.0)};
  simulation.physics.order == 2 ? cross_edges_second_order(simulation, sides, out)
                                : cross_edges(simulation, sides, out);
  for (const Wall& wall : simulation.mesh.walls) {
    const FaceFlux flux = flux_at_wall(sides[at(wall.point)], wall.face);
    subtract(out, wall.point, flux.mass, flux.left_x, flux.left_y, flux.speed);
  }
  return out;
}

/// Collective. The longest step that keeps depths positive [s]; `stop` as advance() says.
double longest_step(const Simulation& simulation, const Outflow& out, bool& stop) {
  std::array<double, 2> least{std::numeric_limits<double>::max(), stop ? -1.0 : 0.0};
  for (std::size_t i = 0; i < simulation.mesh.area.size(); ++i)
    if (out.speed[i] > 0) least[0] = std::min(least[0], simulation.mesh.area[i] / out.speed[i]);
  MPI_Allreduce(MPI_IN_PLACE, least.data(), 2, MPI_DOUBLE, MPI_MIN, simulation.comm);
  stop = least[1] < 0;
  // A reconstructed depth may be twice the volume's, which halves the limit.
  return least[0] * simulation.physics.courant * (simulation.physics.order == 2 ? 0.5 : 1.0);
}

/// Owned points after a step; thin water stands still.
void move(const Simulation& simulation, const Outflow& out, double step, std::vector<Water>& water) {
  for (std::size_t i = 0; i < simulation.mesh.area.size(); ++i) {
    const double by = step / simulation.mesh.area[i];
    Water& w = water[i];
    w.h -= by * out.loss[i].h;
    w.qx -= by * out.loss[i].qx;
    w.qy -= by * out.loss[i].qy;
    if (w.h <= simulation.physics.dry_depth) w.qx = w.qy = 0;
  }
  fill_ghost_water(simulation, water);
}

/// Heun's method: the mean of the old state and of the state after two steps. Shorter if the second stage asks for it.
double move_twice(const Simulation& simulation, const Outflow& out, double step, std::vector<Water>& water) {
  for (;;) {
    std::vector<Water> next = water;
    move(simulation, out, step, next);
    const Outflow again = outflow_of(simulation, next);
    bool stop = false;
    const double longest = longest_step(simulation, again, stop) / simulation.physics.courant;
    if (step <= longest) {
      move(simulation, again, step, next);
      for (std::size_t i = 0; i < water.size(); ++i)
        water[i] = {0.5 * (water[i].h + next[i].h), 0.5 * (water[i].qx + next[i].qx), 0.5 * (water[i].qy + next[i].qy)};
      return step;
    }
    step = std::min(0.5 * step, longest);
  }
}

void rub(const Simulation& simulation, double step, std::vector<Water>& water) {
  if (simulation.physics.strickler <= 0) return;
  for (Water& w : water) {
    if (w.h <= simulation.physics.dry_depth) continue;
    const double speed = std::sqrt(w.qx * w.qx + w.qy * w.qy) / w.h;
    const double stays = friction_factor(w.h, speed, simulation.physics.strickler, step);
    w.qx *= stays;
    w.qy *= stays;
  }
}

}  // namespace

Simulation start(MPI_Comm comm, const Physics& physics, Mesh mesh, std::vector<double> bottom,
                 std::vector<Water> water) {
  Simulation simulation{comm, physics, std::move(mesh), std::move(bottom), std::move(water), 0, 0};
  simulation.bottom.resize(simulation.mesh.global.size());
  simulation.water.resize(simulation.mesh.global.size());
  fill_ghosts(comm, simulation.mesh.halo, simulation.bottom, 1);
  fill_ghost_water(simulation, simulation.water);
  return simulation;
}

double advance(Simulation& simulation, double until, bool& stop) {
  const Outflow out = outflow_of(simulation, simulation.water);
  const double left = until - simulation.time;
  double step = std::min(longest_step(simulation, out, stop), left);
  if (simulation.physics.order == 2)
    step = move_twice(simulation, out, step, simulation.water);
  else
    move(simulation, out, step, simulation.water);
  rub(simulation, step, simulation.water);
  simulation.time = step < left ? simulation.time + step : until;
  ++simulation.step;
  return step;
}

double total_volume(const Simulation& simulation) {
  std::vector<double> volumes(simulation.mesh.area.size());
  for (std::size_t i = 0; i < volumes.size(); ++i) volumes[i] = simulation.mesh.area[i] * simulation.water[i].h;
  return exact_sum(volumes, reduce_over(simulation.comm));
}

}  // namespace octavo::shallow
