#include "octavo/verbs/sample/sample_profile.hpp"

#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>

namespace octavo::verbs {
namespace {

using Complex = std::complex<double>;
using mesh::Point3;

// ---------------------------------------------------------------------------------------------------- the spectrum

constexpr std::size_t grid = 64;  // points an axis of a tile: at least 4 a wave
constexpr int highest = 15;       // wave number along an axis
constexpr std::size_t modes = 2 * highest + 1;
constexpr int first_octave = 4;  // wave numbers 2^4 to 2^5 and up come from the octave tile

/// A standard complex Gaussian number (Box-Muller).
Complex gaussian(std::uint64_t seed, std::uint64_t field, std::uint64_t mode) {
  const double radius = std::sqrt(-2 * std::log(1 - uniform(mixed(seed, field, 2 * mode))));
  const double angle = 2 * std::numbers::pi * uniform(mixed(seed, field, 2 * mode + 1));
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// Amplitudes of the modes with lowest <= |k| <= highest, x fastest; a root mean square sum of `rms` for all from 1 on.
std::vector<Complex> amplitudes(int dim, double lowest, std::uint64_t seed, std::uint64_t field) {
  const auto extent = [&](int axis) { return axis < dim ? highest : 0; };
  std::vector<Complex> out;
  double variance = 0;
  for (int kz = -extent(2); kz <= extent(2); ++kz)
    for (int ky = -extent(1); ky <= extent(1); ++ky)
      for (int kx = -highest; kx <= highest; ++kx) {
        const double k = std::sqrt(static_cast<double>(kx * kx + ky * ky + kz * kz));
        const bool any = k >= 1 && k <= highest + 1;
        const double power = any ? std::pow(k, -(5.0 / 3 + dim - 1)) : 0;
        variance += power;
        out.push_back(k >= lowest && any ? std::sqrt(power) * gaussian(seed, field, out.size()) : Complex{});
      }
  for (Complex& a : out) a /= std::sqrt(variance);
  return out;
}

/// Sums the modes of one axis: [outer][modes][inner] to [outer][grid][inner]. FFT-free: three such passes are cheap.
std::vector<Complex> sum_axis(const std::vector<Complex>& from, std::size_t inner) {
  std::array<Complex, grid> wave;
  for (std::size_t i = 0; i < grid; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(grid);
    wave[i] = {std::cos(angle), std::sin(angle)};
  }
  const std::size_t outer = from.size() / modes / inner;
  std::vector<Complex> to(outer * grid * inner);
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t x = 0; x < grid; ++x)
      for (std::size_t k = 0; k < modes; ++k) {
        const Complex w = wave[(x * (k + grid - highest)) % grid];
        const Complex* source = from.data() + (o * modes + k) * inner;
        Complex* sum = to.data() + (o * grid + x) * inner;
        for (std::size_t i = 0; i < inner; ++i) {
          const double re = source[i].real() * w.real() - source[i].imag() * w.imag();
          const double im = source[i].real() * w.imag() + source[i].imag() * w.real();
          sum[i] += Complex{re, im};
        }
      }
  return to;
}

std::vector<Spectrum::Values> make_tile(int dim, double lowest, std::uint64_t seed) {
  std::vector<Spectrum::Values> tile;
  for (std::size_t field = 0; field < 4; ++field) {
    std::vector<Complex> sum = amplitudes(dim, lowest, seed, field);
    std::size_t inner = 1;
    for (int axis = 0; axis < dim; ++axis, inner *= grid) sum = sum_axis(sum, inner);
    tile.resize(sum.size());
    for (std::size_t i = 0; i < sum.size(); ++i) tile[i][field] = sum[i].real();
  }
  return tile;
}

/// Four neighbours of a place on a periodic grid, and their weights.
struct Taps {
  std::array<std::size_t, 4> at{};
  std::array<double, 4> weight{1, 0, 0, 0};
};

Taps taps_of(double place) {
  const double floor = std::floor(place), t = place - floor;
  const auto first = static_cast<std::size_t>(static_cast<std::int64_t>(floor) - 1 + (std::int64_t{1} << 32));
  Taps taps;
  for (std::size_t i = 0; i < 4; ++i) taps.at[i] = (first + i) % grid;
  taps.weight = {0.5 * t * ((2 - t) * t - 1), 0.5 * (t * t * (3 * t - 5) + 2), 0.5 * t * ((4 - 3 * t) * t + 1),
                 0.5 * t * t * (t - 1)};
  return taps;
}

Spectrum::Values interpolate(const std::vector<Spectrum::Values>& tile, int dim, const Point3& place) {
  const Taps x = taps_of(place[0]), y = dim > 1 ? taps_of(place[1]) : Taps{}, z = dim > 2 ? taps_of(place[2]) : Taps{};
  const std::size_t rows = dim > 1 ? 4 : 1, planes = dim > 2 ? 4 : 1;
  Spectrum::Values sum{};
  for (std::size_t k = 0; k < planes; ++k)
    for (std::size_t j = 0; j < rows; ++j) {
      const Spectrum::Values* row = tile.data() + (z.at[k] * grid + y.at[j]) * grid;
      const double w = z.weight[k] * y.weight[j];
      Spectrum::Values line{};
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t f = 0; f < 4; ++f) line[f] += x.weight[i] * row[x.at[i]][f];
      for (std::size_t f = 0; f < 4; ++f) sum[f] += w * line[f];
    }
  return sum;
}

// ---------------------------------------------------------------------------------------------------- the gas

constexpr Point3 shell_centre{0.41, 0.56, 0.47};
constexpr double shell_radius = 0.27, shell_width = 0.012, shell_speed = 2.0;
constexpr double blast_radius = 0.3, blast_speed = 2.8, ambient_pressure = 1e-5;
constexpr double spread = 0.9;  // standard deviation of the logarithm of density, about

Point3 centre_of(int level, const mesh::Coordinate& cell) {
  Point3 centre{};
  for (std::size_t axis = 0; axis < 3; ++axis) centre[axis] = std::ldexp(cell[axis] + 0.5, -level);
  return centre;
}

/// From `from` to the place; components that are not used are 0.
Point3 offset(const Point3& place, const Point3& from, int dim) {
  Point3 d{};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) d[axis] = place[axis] - from[axis];
  return d;
}

double length(const Point3& d) { return std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]); }

/// 1 on the shell, and falling off to both sides.
double shell_at(double radius) {
  const double x = (radius - shell_radius) / shell_width;
  return std::exp(-x * x);
}

Primitive turbulence(const Profile& profile, int level, const mesh::Coordinate& cell) {
  const Spectrum::Values fields = evaluate(profile.spectrum, level, cell);
  const Point3 d = offset(centre_of(level, cell), shell_centre, profile.dim);
  const double radius = length(d), shell = shell_at(radius);
  Primitive gas;
  gas.density = std::exp(spread * fields[0] - 0.5 * spread * spread) * (1 + 3 * shell);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(profile.dim); ++axis)
    gas.velocity[axis] = fields[axis + 1] + shell_speed * shell * d[axis] / (radius + 1e-9);
  gas.pressure = 0.5 * std::pow(gas.density, sample_gamma);
  return gas;
}

/// Inside of the shock, x = r / R: density 6 x^7.5, pressure 0.37 + 0.63 x^8 of that at the shock, velocity ~ x.
Primitive blast(const Profile& profile, int level, const mesh::Coordinate& cell) {
  const Point3 d = offset(centre_of(level, cell), {0.5, 0.5, 0.5}, profile.dim);
  const double x = length(d) / blast_radius;
  Primitive gas{1, {}, ambient_pressure};
  if (x >= 1) return gas;
  const double x8 = x * x * x * x * x * x * x * x;
  gas.density = 1e-3 + (sample_gamma + 1) / (sample_gamma - 1) * x8 / (0.05 + 0.95 * std::sqrt(x));
  for (std::size_t axis = 0; axis < 3; ++axis)
    gas.velocity[axis] = 2 / (sample_gamma + 1) * blast_speed / blast_radius * d[axis];
  gas.pressure = 2 / (sample_gamma + 1) * blast_speed * blast_speed * (0.37 + 0.63 * x8);
  return gas;
}

Primitive smooth_leaf(const Profile& profile, int level, const mesh::Coordinate& cell) {
  return profile.kind == SampleKind::sedov ? blast(profile, level, cell) : turbulence(profile, level, cell);
}

void add_noise(const Profile& profile, int level, const mesh::Coordinate& cell, Primitive& gas) {
  const std::uint64_t place =
      mixed(profile.seed ^ static_cast<std::uint64_t>(level) << 56, std::uint64_t{cell[0]} << 32 | cell[1], cell[2]);
  const auto shake = [&](double& value, std::uint64_t which) {
    value *= 1 + profile.noise * (2 * uniform(mixed(place, which)) - 1);
  };
  shake(gas.density, 0);
  for (std::size_t axis = 0; axis < 3; ++axis) shake(gas.velocity[axis], 1 + axis);
  shake(gas.pressure, 4);
}

}  // namespace

std::uint64_t mixed(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  // The finaliser of SplitMix64 over a running state.
  std::uint64_t state = 0;
  for (std::uint64_t x : {a, b, c}) {
    std::uint64_t z = state + x + 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    state = z ^ (z >> 31);
  }
  return state;
}

Conserved conserved_of(const Primitive& gas) {
  Conserved out{gas.density, {}, gas.pressure / (sample_gamma - 1)};
  double square = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    out.momentum[axis] = gas.density * gas.velocity[axis];
    square += gas.velocity[axis] * gas.velocity[axis];
  }
  out.energy += 0.5 * gas.density * square;
  return out;
}

Primitive primitive_of(const Conserved& gas) {
  Primitive out{gas.density, {}, 0};
  double square = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    out.velocity[axis] = gas.momentum[axis] / gas.density;
    square += out.velocity[axis] * out.velocity[axis];
  }
  out.pressure = (sample_gamma - 1) * (gas.energy - 0.5 * gas.density * square);
  return out;
}

Spectrum make_spectrum(int dim, std::uint64_t seed) {
  Spectrum spectrum{dim, make_tile(dim, 1, mixed(seed, 1)), make_tile(dim, 8, mixed(seed, 2)), {}};
  for (std::size_t o = 0; o < spectrum.shift.size(); ++o)
    for (std::size_t axis = 0; axis < 3; ++axis)
      spectrum.shift[o][axis] = uniform(mixed(seed, 3, 4 * o + axis)) * static_cast<double>(grid);
  return spectrum;
}

Spectrum::Values evaluate(const Spectrum& spectrum, int level, const mesh::Coordinate& cell) {
  const Point3 centre = centre_of(level, cell);
  const auto place = [&](int doublings, const std::array<double, 3>& shift) {
    Point3 at{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      at[axis] = std::ldexp(centre[axis] * static_cast<double>(grid), doublings) + shift[axis];
    return at;
  };
  Spectrum::Values sum = interpolate(spectrum.base, spectrum.dim, place(0, {}));
  double amplitude = 1;
  for (int o = first_octave; o <= level - 3; ++o) {
    amplitude *= 0x1.965fea53d6e3dp-1;  // 2^(-1/3)
    const Spectrum::Values more =
        interpolate(spectrum.octave, spectrum.dim, place(o - 3, spectrum.shift[static_cast<std::size_t>(o)]));
    for (std::size_t f = 0; f < 4; ++f) sum[f] += amplitude * more[f];
  }
  return sum;
}

Profile make_profile(const SampleOptions& options) {
  const bool random = options.kind == SampleKind::turbulence;
  Profile profile{options.kind, options.dim, options.seed, options.noise.value_or(random ? 1e-6 : 0.0), {}};
  if (random) profile.spectrum = make_spectrum(options.dim, options.seed);
  return profile;
}

Primitive leaf_of(const Profile& profile, int level, const mesh::Coordinate& cell) {
  Primitive gas = smooth_leaf(profile, level, cell);
  if (profile.noise != 0) add_noise(profile, level, cell, gas);
  return gas;
}

double refinement_score(const Profile& profile, int level, const mesh::Coordinate& cell) {
  const Point3 centre = centre_of(level, cell);
  if (profile.kind == SampleKind::sedov) {
    constexpr double cells_on_each_side = 1.0;
    const double radius = length(offset(centre, {0.5, 0.5, 0.5}, profile.dim));
    return std::ldexp(cells_on_each_side, -level) - std::abs(radius - blast_radius);
  }
  const double shell = shell_at(length(offset(centre, shell_centre, profile.dim)));
  return turbulence(profile, level, cell).density * (1 + 8 * shell);
}

}  // namespace octavo::verbs
