#include "apps/euler/advance.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#define RESTRICT __restrict__

namespace octavo::euler {

namespace {

// Loops run over the padded box as one line of memory: cells at the ends of rows get values that nobody uses, and the
// loops become vectors. `variables` of the primitive state: density, velocities, pressure, fractions of scalars.
struct Line {
  std::size_t first = 0, last = 0;
};

// Cells that have both neighbours along each axis in memory.
Line inner(const Shape& shape, std::size_t layers) {
  std::size_t margin = 0;
  for (int axis = 0; axis < shape.dim; ++axis) margin += layers * stride_of(shape, axis);
  return {margin, padded_size(shape) - margin};
}

// Monotonized central difference of three neighbours, for one cell's width.
inline double limited(double left, double centre, double right) {
  const double a = centre - left, b = right - centre;
  const double mean = 0.5 * std::abs(a + b), least = 2 * std::min(std::abs(a), std::abs(b));
  const double size = std::min(mean, least);
  return a * b > 0 ? (a > 0 ? size : -size) : 0.0;
}

void to_primitives(const Gas& gas, std::size_t size, const double* RESTRICT state, double* RESTRICT out) {
  const auto energy = static_cast<std::size_t>(energy_of(gas));
  const auto variables = static_cast<std::size_t>(num_variables(gas));
  double* RESTRICT pressure = out + energy * size;
  for (std::size_t i = 0; i < size; ++i) out[i] = state[i];
  for (std::size_t i = 0; i < size; ++i) pressure[i] = state[energy * size + i];
  for (std::size_t v = 1; v < energy; ++v)
    for (std::size_t i = 0; i < size; ++i) {
      const double momentum = state[v * size + i];
      const double velocity = momentum / state[i];
      out[v * size + i] = velocity;
      pressure[i] -= 0.5 * momentum * velocity;
    }
  // A pressure that rounding has made negative would be a NaN a step later; the energy stays the same.
  for (std::size_t i = 0; i < size; ++i)
    pressure[i] = std::max((gas.gamma - 1) * pressure[i], 1e-14 * std::abs(state[energy * size + i]));
  for (std::size_t v = energy + 1; v < variables; ++v)
    for (std::size_t i = 0; i < size; ++i) out[v * size + i] = state[v * size + i] / state[i];
}

void slopes(const Line& line, std::size_t size, std::size_t variables, std::size_t stride,
            const double* RESTRICT primitive, double* RESTRICT out) {
  for (std::size_t v = 0; v < variables; ++v) {
    const double* RESTRICT w = primitive + v * size;
    double* RESTRICT d = out + v * size;
    for (std::size_t i = line.first; i < line.last; ++i) d[i] = limited(w[i - stride], w[i], w[i + stride]);
  }
}

// Half a step of the primitive equations with the slopes of the cell, for cells where both sides of every face stay
// positive; the others keep their value, with which faces are positive since slopes are monotone.
template <int dim>
void predict(const Gas& gas, const Line& line, std::size_t size, const std::array<double, 3>& half,
             const double* RESTRICT w, const std::array<const double*, 3>& slope, double* RESTRICT out) {
  const double* RESTRICT dx = slope[0];
  const double* RESTRICT dy = slope[1];
  const double* RESTRICT dz = slope[2];
  const std::size_t p = (dim + 1) * size, u = size, v = 2 * size, z = 3 * size;
  for (std::size_t i = line.first; i < line.last; ++i) {
    const double density = w[i], pressure = w[p + i];
    const double a = half[0] * w[u + i], b = dim > 1 ? half[1] * w[v + i] : 0.0, c = dim > 2 ? half[2] * w[z + i] : 0.0;
    // The change of variable q by the flow in half a step.
    const auto carried = [&](std::size_t q) {
      double sum = a * dx[q + i];
      if constexpr (dim > 1) sum += b * dy[q + i];
      if constexpr (dim > 2) sum += c * dz[q + i];
      return sum;
    };
    double divergence = half[0] * dx[u + i];
    if constexpr (dim > 1) divergence += half[1] * dy[v + i];
    if constexpr (dim > 2) divergence += half[2] * dz[z + i];
    double least_density = std::abs(dx[i]), least_pressure = std::abs(dx[p + i]);
    if constexpr (dim > 1) {
      least_density = std::max(least_density, std::abs(dy[i]));
      least_pressure = std::max(least_pressure, std::abs(dy[p + i]));
    }
    if constexpr (dim > 2) {
      least_density = std::max(least_density, std::abs(dz[i]));
      least_pressure = std::max(least_pressure, std::abs(dz[p + i]));
    }
    const double new_density = density - carried(0) - density * divergence;
    const double new_pressure = pressure - carried(p) - gas.gamma * pressure * divergence;
    const bool positive =
        (new_density - 0.5 * least_density > 1e-3 * density) & (new_pressure - 0.5 * least_pressure > 1e-3 * pressure);
    const double weight = positive ? 1.0 : 0.0;
    out[i] = positive ? new_density : density;
    out[p + i] = positive ? new_pressure : pressure;
    out[u + i] = w[u + i] - weight * (carried(u) + half[0] * dx[p + i] / density);
    if constexpr (dim > 1) out[v + i] = w[v + i] - weight * (carried(v) + half[1] * dy[p + i] / density);
    if constexpr (dim > 2) out[z + i] = w[z + i] - weight * (carried(z) + half[2] * dz[p + i] / density);
  }
  const auto variables = static_cast<std::size_t>(num_variables(gas));
  for (std::size_t q = (dim + 2) * size; q < variables * size; q += size)
    for (std::size_t i = line.first; i < line.last; ++i) {
      double sum = half[0] * w[u + i] * dx[q + i];
      if constexpr (dim > 1) sum += half[1] * w[v + i] * dy[q + i];
      if constexpr (dim > 2) sum += half[2] * w[z + i] * dz[q + i];
      out[q + i] = w[q + i] - sum;
    }
}

// HLLC through the lower face along `axis` of each cell of the line, with the contact deciding which side is upwind.
template <int dim, int axis>
void hllc(const Gas& gas, const Line& line, std::size_t size, std::size_t stride, const double* RESTRICT w,
          const double* RESTRICT slope, double* RESTRICT flux) {
  constexpr int second = (axis + 1) % dim, third = (axis + 2) % 3;
  const std::size_t p = (dim + 1) * size, n = (1 + axis) * size, t = (1 + second) * size, b = (1 + third) * size;
  const double gamma = gas.gamma;
  for (std::size_t i = line.first; i < line.last; ++i) {
    const std::size_t l = i - stride;
    const auto left = [&](std::size_t q) { return w[q + l] + 0.5 * slope[q + l]; };
    const auto right = [&](std::size_t q) { return w[q + i] - 0.5 * slope[q + i]; };
    const double rl = left(0), rr = right(0), ul = left(n), ur = right(n), pl = left(p), pr = right(p);
    const double cl = std::sqrt(gamma * pl / rl), cr = std::sqrt(gamma * pr / rr);
    const double sl = std::min(ul - cl, ur - cr), sr = std::max(ul + cl, ur + cr);
    const double ml = rl * (sl - ul), mr = rr * (sr - ur);
    const double contact = (pr - pl + ml * ul - mr * ur) / (ml - mr);
    const bool from_left = contact >= 0;
    const double r = from_left ? rl : rr, u = from_left ? ul : ur, pressure = from_left ? pl : pr;
    const double s = from_left ? sl : sr, m = from_left ? ml : mr;
    const double clipped = from_left ? std::min(sl, 0.0) : std::max(sr, 0.0);  // 0: all waves go one way
    double speed2 = u * u, vt = 0, vb = 0;
    if constexpr (dim > 1) {
      vt = from_left ? left(t) : right(t);
      speed2 += vt * vt;
    }
    if constexpr (dim > 2) {
      vb = from_left ? left(b) : right(b);
      speed2 += vb * vb;
    }
    const double energy = pressure / (gamma - 1) + 0.5 * r * speed2;
    const double star = m / (s - contact);
    const double star_energy = star * (energy / r + (contact - u) * (contact + pressure / m));
    const double mass = r * u + clipped * (star - r);
    flux[i] = mass;
    flux[n + i] = r * u * u + pressure + clipped * (star * contact - r * u);
    if constexpr (dim > 1) flux[t + i] = mass * vt;
    if constexpr (dim > 2) flux[b + i] = mass * vb;
    flux[p + i] = u * (energy + pressure) + clipped * (star_energy - energy);
  }
}

// The fluxes of the scalars, which the mass flux carries.
void carry_scalars(const Gas& gas, const Line& line, std::size_t size, std::size_t stride, const double* RESTRICT w,
                   const double* RESTRICT slope, double* RESTRICT flux) {
  const std::size_t first = static_cast<std::size_t>(energy_of(gas)) + 1;
  const auto variables = static_cast<std::size_t>(num_variables(gas));
  for (std::size_t q = first * size; q < variables * size; q += size)
    for (std::size_t i = line.first; i < line.last; ++i) {
      const std::size_t l = i - stride;
      const double upwind = flux[i] >= 0 ? w[q + l] + 0.5 * slope[q + l] : w[q + i] - 0.5 * slope[q + i];
      flux[q + i] = flux[i] * upwind;
    }
}

// Cells where the pressure more than triples from the one neighbour along an axis to the other: a strong shock that
// runs along it. Returns whether there are any.
bool find_shocks(const Line& line, std::size_t stride, const double* RESTRICT pressure,
                 std::uint8_t* RESTRICT shocked) {
  unsigned any = 0;
  for (std::size_t i = line.first; i < line.last; ++i) {
    const double below = pressure[i - stride], above = pressure[i + stride];
    const bool is = std::max(below, above) > 3 * std::min(below, above);
    shocked[i] = is ? 1 : 0;
    any |= is ? 1U : 0U;
  }
  return any != 0;
}

// HLL through one lower face, as hllc() has it: no wave in the middle, so that it damps what runs along a front.
template <int dim, int axis>
void hll(const Gas& gas, std::size_t i, std::size_t size, std::size_t stride, const double* w, const double* slope,
         double* flux) {
  constexpr std::size_t energy = dim + 1, normal = 1 + axis, variables = dim + 2;
  using State = std::array<double, variables>;
  std::array<State, 2> state, through;
  double low = 0, high = 0;  // signal speeds, at most and at least 0: beyond that all waves go one way
  for (std::size_t side = 0; side < 2; ++side) {
    const std::size_t cell = i - (side == 0 ? stride : 0);
    State& u = state[side];
    for (std::size_t q = 0; q < variables; ++q)
      u[q] = w[q * size + cell] + (side == 0 ? 0.5 : -0.5) * slope[q * size + cell];
    const double density = u[0], speed = u[normal], pressure = u[energy];
    const double sound = std::sqrt(gas.gamma * pressure / density);
    low = std::min(low, speed - sound);
    high = std::max(high, speed + sound);
    double speed2 = 0;
    for (std::size_t q = 1; q <= dim; ++q) speed2 += u[q] * u[q];
    u[energy] = pressure / (gas.gamma - 1) + 0.5 * density * speed2;
    for (std::size_t q = 1; q <= dim; ++q) u[q] *= density;
    for (std::size_t q = 0; q < variables; ++q) through[side][q] = speed * u[q];
    through[side][normal] += pressure;
    through[side][energy] += speed * pressure;
  }
  for (std::size_t q = 0; q < variables; ++q)
    flux[q * size + i] =
        (high * through[0][q] - low * through[1][q] + high * low * (state[1][q] - state[0][q])) / (high - low);
}

// A strong shock along the mesh lets HLLC, which has no viscosity along it, grow ripples (the carbuncle): there fluxes
// along the front are HLL's (Quirk 1994, A contribution to the great Riemann solver debate).
template <int dim, int axis>
void calm_shocks(const Gas& gas, const Line& faces, const Shape& shape, const Workspace& work, double* flux) {
  const std::size_t size = padded_size(shape), stride = stride_of(shape, axis);
  const double* slope = work.slope[axis].data();
  for (std::size_t i = faces.first; i < faces.last; ++i) {
    bool shocked = false;
    for (std::size_t other = 0; other < dim; ++other)
      if (other != axis) shocked = shocked || work.shocked[other][i - stride] + work.shocked[other][i] > 0;
    if (shocked) hll<dim, axis>(gas, i, size, stride, work.predicted.data(), slope, flux);
  }
}

template <int dim, int axis>
void find_fluxes(const Gas& gas, const Line& faces, const Shape& shape, bool shocks, Workspace& work) {
  const std::size_t size = padded_size(shape), stride = stride_of(shape, axis);
  const double *w = work.predicted.data(), *slope = work.slope[axis].data();
  double* flux = work.flux[axis].data();
  hllc<dim, axis>(gas, faces, size, stride, w, slope, flux);
  if (shocks) calm_shocks<dim, axis>(gas, faces, shape, work, flux);
  carry_scalars(gas, faces, size, stride, w, slope, flux);
}

void update(const Shape& shape, std::size_t variables, std::size_t stride, double factor, const double* RESTRICT flux,
            double* RESTRICT state) {
  const std::size_t size = padded_size(shape);
  const auto length = static_cast<std::size_t>(shape.cells[0]);
  for (std::size_t v = 0; v < variables; ++v)
    for (int k = 0; k < shape.cells[2]; ++k)
      for (int j = 0; j < shape.cells[1]; ++j) {
        const std::size_t first = v * size + offset_of(shape, 0, j, k);
        for (std::size_t i = first; i < first + length; ++i) state[i] -= factor * (flux[i + stride] - flux[i]);
      }
}

void resize(Workspace& workspace, int dim, std::size_t values, std::size_t size) {
  workspace.primitive.resize(values);
  workspace.predicted.resize(values);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    workspace.slope[axis].resize(values);
    workspace.flux[axis].resize(values);
    workspace.shocked[axis].resize(size);
  }
}

template <int dim>
void advance(const Gas& gas, const Shape& shape, const Point3& width, double dt, std::span<double> state,
             Workspace& work) {
  const std::size_t size = padded_size(shape);
  const auto variables = static_cast<std::size_t>(num_variables(gas));
  resize(work, dim, variables * size, size);
  to_primitives(gas, size, state.data(), work.primitive.data());
  const Line line = inner(shape, 1), faces{line.first + stride_of(shape, dim - 1), line.last};
  std::array<double, 3> half{};
  std::array<const double*, 3> slope{};
  for (int axis = 0; axis < dim; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    slopes(line, size, variables, stride_of(shape, axis), work.primitive.data(), work.slope[a].data());
    half[a] = 0.5 * dt / width[a];
    slope[a] = work.slope[a].data();
  }
  predict<dim>(gas, line, size, half, work.primitive.data(), slope, work.predicted.data());
  bool shocks = false;
  const double* pressure = work.primitive.data() + static_cast<std::size_t>(energy_of(gas)) * size;
  for (int axis = 0; dim > 1 && axis < dim; ++axis)
    shocks |= find_shocks(line, stride_of(shape, axis), pressure, work.shocked[static_cast<std::size_t>(axis)].data());
  find_fluxes<dim, 0>(gas, faces, shape, shocks, work);
  if constexpr (dim > 1) find_fluxes<dim, 1>(gas, faces, shape, shocks, work);
  if constexpr (dim > 2) find_fluxes<dim, 2>(gas, faces, shape, shocks, work);
  for (int axis = 0; axis < dim; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    update(shape, variables, stride_of(shape, axis), dt / width[a], work.flux[a].data(), state.data());
  }
}

}  // namespace

void advance(const Gas& gas, const Shape& shape, const Point3& width, double dt, std::span<double> state,
             Workspace& workspace) {
  switch (gas.dim) {
    case 1: return advance<1>(gas, shape, width, dt, state, workspace);
    case 2: return advance<2>(gas, shape, width, dt, state, workspace);
    default: return advance<3>(gas, shape, width, dt, state, workspace);
  }
}

double signal_rate(const Gas& gas, const Shape& shape, const Point3& width, std::span<const double> state) {
  const std::size_t size = padded_size(shape);
  const auto energy = static_cast<std::size_t>(energy_of(gas));
  double most = 0;
  for_each_cell(shape, [&](int i, int j, int k) {
    const std::size_t at = offset_of(shape, i, j, k);
    const double density = state[at];
    double moving = 0, inverse = 0, kinetic = 0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(gas.dim); ++axis) {
      const double momentum = state[(1 + axis) * size + at];
      moving += std::abs(momentum) / (density * width[axis]);
      inverse += 1 / width[axis];
      kinetic += 0.5 * momentum * momentum / density;
    }
    const double total = state[energy * size + at];
    const double pressure = std::max((gas.gamma - 1) * (total - kinetic), 1e-14 * std::abs(total));
    const double rate = moving + inverse * std::sqrt(gas.gamma * pressure / density);
    most = rate <= std::numeric_limits<double>::max() ? std::max(most, rate) : std::numeric_limits<double>::infinity();
  });
  return most;
}

}  // namespace octavo::euler
