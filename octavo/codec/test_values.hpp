#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "octavo/codec/codec.hpp"

/// Values that codecs are tested on. Seeds are fixed.
namespace octavo::codec::testing {

/// A chunk's values and where they stand.
template <class T>
struct Case {
  std::string name;
  std::vector<T> values, coarse;
  std::vector<std::uint32_t> parents;
  std::size_t family = 1, width = 1;
  std::array<std::uint32_t, 3> shape{1, 1, 1};  ///< of boxes
  std::vector<std::array<std::uint32_t, 3>> at{};
  Context<T> context() const { return {coarse, parents, family, width, {}, {}, {shape, at}}; }
};

template <class T>
std::vector<T> random_bits(std::size_t count, std::uint64_t seed) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& v : values) v = std::bit_cast<T>(static_cast<Bits>(random()));
  return values;
}

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  std::vector<T> values{T{0},
                        -T{0},
                        Limits::infinity(),
                        -Limits::infinity(),
                        Limits::quiet_NaN(),
                        Limits::max(),
                        -Limits::max(),
                        Limits::min(),
                        -Limits::min(),
                        Limits::denorm_min(),
                        -Limits::denorm_min(),
                        T{1},
                        -T{1},
                        Limits::epsilon()};
  const Bits infinity = std::bit_cast<Bits>(Limits::infinity());
  values.push_back(std::bit_cast<T>(static_cast<Bits>(infinity | 1)));        // a signalling NaN
  values.push_back(std::bit_cast<T>(static_cast<Bits>(infinity | 0x12345)));  // a payload
  values.push_back(std::bit_cast<T>(static_cast<Bits>(~Bits{0})));            // a negative one, all bits set
  return values;
}

/// A level of families below smooth coarse cells: a wave plus a little noise, around `offset`.
template <class T>
Case<T> tree_case(std::string name, std::size_t coarse_cells, std::size_t family, std::size_t width, double offset,
                  double noise, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Case<T> c;
  c.name = std::move(name);
  c.family = family;
  c.width = width;
  for (std::size_t i = 0; i < coarse_cells * width; ++i)
    c.coarse.push_back(
        static_cast<T>(offset + std::sin(0.05 * static_cast<double>(i / width)) + noise * uniform(random)));
  for (std::uint32_t p = 0; p < coarse_cells; ++p) {
    if (random() % 3 == 0) continue;
    c.parents.push_back(p);
    for (std::size_t k = 0; k < family * width; ++k)
      c.values.push_back(
          static_cast<T>(static_cast<double>(c.coarse[p * width + k % width]) * (1 + 0.01 * uniform(random)) +
                         noise * uniform(random)));
  }
  return c;
}

/// A plane wave through zero on cells of a uniform coarse level, sampled exactly on both levels.
template <class T>
Case<T> wave_case(std::size_t families) {
  Case<T> c;
  c.name = "wave";
  c.family = 8;
  const auto wave = [](double x, double y, double z) {
    return static_cast<T>(std::sin(0.31 * x + 0.17 * y - 0.23 * z));
  };
  for (std::uint32_t p = 0; p < 8 * families; ++p) {
    const std::uint32_t group = p / 8;
    const double x = 2.0 * (group % 4) + (p & 1), y = 2.0 * (group / 4 % 4) + ((p >> 1) & 1),
                 z = 2.0 * (group / 16) + ((p >> 2) & 1);
    c.coarse.push_back(wave(x, y, z));
    c.parents.push_back(p);
    for (int k = 0; k < 8; ++k)
      c.values.push_back(wave(x + 0.5 * (k & 1) - 0.25, y + 0.5 * ((k >> 1) & 1) - 0.25, z + 0.5 * (k >> 2) - 0.25));
  }
  return c;
}

/// A case whose coarse values are means of the others by weights, as far as rounding allows.
template <class T>
struct Weighted : Case<T> {
  std::vector<T> weights;  ///< one a cell
  Context<T> context() const {
    Context<T> context = Case<T>::context();
    context.weights = weights;
    return context;
  }
};
template <class T>
Weighted<T> weighted_case(std::size_t families, std::size_t family, std::size_t width, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Weighted<T> c;
  c.name = "weighted";
  c.family = family;
  c.width = width;
  for (std::uint32_t f = 0; f < families; ++f) {
    c.parents.push_back(f);
    std::vector<double> sums(width);
    double mass = 0;
    for (std::size_t k = 0; k < family; ++k) {
      c.weights.push_back(static_cast<T>(std::exp(3 * uniform(random))));
      mass += static_cast<double>(c.weights.back());
      for (double& sum : sums) {
        c.values.push_back(static_cast<T>(1.5 + 0.4 * uniform(random)));
        sum += static_cast<double>(c.weights.back()) * static_cast<double>(c.values.back());
      }
    }
    for (const double sum : sums) c.coarse.push_back(static_cast<T>(sum / mass));
  }
  return c;
}

/// A wave on families below most cells of a grid of 2 * edge cells along each axis, and what stands at their sides;
/// some count as standing at the end of what is there. Weights, of which no parent is a mean.
template <class T>
struct Surrounded : Weighted<T> {
  std::vector<Sides> sides;
  Context<T> context() const {
    Context<T> context = Weighted<T>::context();
    context.sides = sides;
    return context;
  }
};
template <class T>
Surrounded<T> surrounded_case(std::uint32_t edge, std::uint32_t dim, std::size_t width, double noise,
                              std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Surrounded<T> c;
  c.name = "surrounded";
  c.family = std::size_t{1} << dim;
  c.width = width;
  const auto put = [&](std::vector<T>& to, const std::array<std::uint32_t, 3>& at, double size) {
    const double x = size * (at[0] + 0.5), y = size * (at[1] + 0.5), z = size * (at[2] + 0.5);
    for (std::size_t j = 0; j < width; ++j)
      to.push_back(static_cast<T>(std::sin(0.9 * x + 0.7 * y - 0.8 * z + 0.4 * static_cast<double>(j)) +
                                  0.4 * std::sin(2.3 * x - 1.9 * y + 1.7 * z) + noise * uniform(random)));
  };
  const auto member = static_cast<std::uint32_t>(c.family);
  // Cell `child` of family f of the coarse level stands at 2 * (place of f) + child.
  const auto place = [&](std::uint32_t cell) {
    const std::uint32_t f = cell / member, child = cell % member;
    return std::array<std::uint32_t, 3>{2 * (f % edge) + (child & 1),
                                        dim > 1 ? 2 * (f / edge % edge) + (child >> 1 & 1) : 0,
                                        dim > 2 ? 2 * (f / edge / edge) + (child >> 2) : 0};
  };
  std::uint32_t cells = member;
  for (std::uint32_t axis = 0; axis < dim; ++axis) cells *= edge;
  std::vector<std::uint32_t> family_of(cells, cells);
  for (std::uint32_t cell = 0; cell < cells; ++cell) {
    const auto at = place(cell);
    put(c.coarse, at, 1);
    if (random() % 4 == 0) continue;
    const auto family = static_cast<std::uint32_t>(c.parents.size());
    family_of[cell] = family;
    c.parents.push_back(cell);
    c.sides.push_back({{cell, cell, cell}, {family, family, family}});
    std::uint32_t stride = member;  // from a family to the next along the axis
    for (std::uint32_t axis = 0; axis < dim; ++axis, stride *= edge) {
      const bool up = (cell >> axis & 1) != 0;
      if (random() % 8 == 0 || (up ? at[axis] + 1 == 2 * edge : at[axis] == 0)) continue;
      c.sides.back().outer[axis] = (cell ^ (1u << axis)) + (up ? stride : 0u - stride);
    }
    for (std::uint32_t child = 0; child < member; ++child)
      put(c.values, {2 * at[0] + (child & 1), 2 * at[1] + (child >> 1 & 1), 2 * at[2] + (child >> 2)}, 0.5);
  }
  for (std::size_t f = 0; f < c.sides.size(); ++f)
    for (std::uint32_t axis = 0; axis < dim; ++axis) {
      const std::uint32_t cell = c.parents[f];
      const std::uint32_t next = (cell >> axis & 1) != 0 ? c.sides[f].outer[axis] : cell ^ (1u << axis);
      if (next != cell && family_of[next] != cells) c.sides[f].upper[axis] = family_of[next];
    }
  return c;
}

/// Gives cells weights, and their parents the mean by these.
template <class T>
void weigh(Surrounded<T>& c) {
  for (std::size_t i = 0; i < c.parents.size() * c.family; ++i) c.weights.push_back(i % 3 == 0 ? T(0.25) : T(1));
  for (std::size_t f = 0; f < c.parents.size(); ++f)
    for (std::size_t j = 0; j < c.width; ++j) {
      double sum = 0, mass = 0;
      for (std::size_t i = f * c.family; i < (f + 1) * c.family; ++i) {
        sum += static_cast<double>(c.weights[i]) * static_cast<double>(c.values[i * c.width + j]);
        mass += static_cast<double>(c.weights[i]);
      }
      c.coarse[c.parents[f] * c.width + j] = static_cast<T>(sum / mass);
    }
}

/// Families that repeat earlier ones, turned and with either sign.
template <class T>
Case<T> mirrored_case(std::size_t families, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Case<T> c;
  c.name = "mirrored";
  c.family = 8;
  for (std::uint32_t f = 0; f < families; ++f) {
    const std::size_t like = f < 8 ? f : f % 8;
    const T sign = random() % 2 == 0 ? T{1} : T{-1};
    const std::size_t turn = random() % 8;
    c.parents.push_back(f);
    c.coarse.push_back(sign * static_cast<T>(1.5 + static_cast<double>(like)));
    for (std::size_t k = 0; k < 8; ++k)
      c.values.push_back(sign * static_cast<T>(std::sin(1.0 + static_cast<double>(8 * like + (k ^ turn)) * 17.3)));
  }
  return c;
}

/// Values of which many are `common`, below a coarse level of such; the others are nearly it, or have either sign.
template <class T>
Case<T> dominated_case(std::string name, std::size_t families, double common, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Case<T> c;
  c.name = std::move(name);
  c.family = 8;
  const auto value = [&] {
    const double part = static_cast<double>(random() % 1000) / 1000;
    if (part < 0.5) return static_cast<T>(common);
    return static_cast<T>(part < 0.6 ? common * (1 + 1e-5 * part) : common * (3 * part - 2));
  };
  for (std::uint32_t f = 0; f < families; ++f) {
    c.coarse.push_back(value());
    c.parents.push_back(f);
    for (int k = 0; k < 8; ++k) c.values.push_back(value());
  }
  return c;
}

/// A wave on boxes, of which some are missing, with special values here and there.
template <class T>
Case<T> box_case(std::string name, std::array<std::uint32_t, 3> shape, std::array<std::uint32_t, 3> boxes,
                 std::size_t components, double offset, std::size_t special_every) {
  Case<T> c;
  c.name = std::move(name);
  c.shape = shape;
  const std::vector<T> special = special_values<T>();
  for (std::uint32_t b = 0; b < boxes[0] * boxes[1] * boxes[2]; ++b) {
    if (b % 7 == 5) continue;
    const std::array<std::uint32_t, 3> at{3 + b % boxes[0], 1 + b / boxes[0] % boxes[1], b / boxes[0] / boxes[1]};
    c.at.push_back(at);
    for (std::uint32_t cell = 0; cell < shape[0] * shape[1] * shape[2]; ++cell)
      for (std::size_t j = 0; j < components; ++j) {
        const double x = at[0] * shape[0] + cell % shape[0], y = at[1] * shape[1] + cell / shape[0] % shape[1],
                     z = at[2] * shape[2] + cell / shape[0] / shape[1];
        c.values.push_back(
            static_cast<T>(offset + std::sin(0.1103 * x + 0.0717 * y - 0.1309 * z + 0.5 * static_cast<double>(j))));
      }
  }
  c.width = c.values.size() / c.at.size();
  for (std::size_t i = 3; special_every > 0 && i < c.values.size(); i += special_every)
    c.values[i] = special[i / special_every % special.size()];
  return c;
}

/// A bell on boxes that falls by many orders of magnitude; it is positive, and below `negative` boxes negative.
template <class T>
Case<T> steep_case(std::string name, std::array<std::uint32_t, 3> shape, std::uint32_t boxes, std::size_t negative) {
  Case<T> c;
  c.name = std::move(name);
  c.shape = shape;
  for (std::uint32_t b = 0; b < boxes * boxes * boxes; ++b) {
    const std::array<std::uint32_t, 3> at{b % boxes, b / boxes % boxes, b / boxes / boxes};
    c.at.push_back(at);
    for (std::uint32_t cell = 0; cell < shape[0] * shape[1] * shape[2]; ++cell) {
      const double x = at[0] * shape[0] + cell % shape[0], y = at[1] * shape[1] + cell / shape[0] % shape[1],
                   z = at[2] * shape[2] + cell / shape[0] / shape[1];
      const double size = std::exp(-0.05 * ((x - 11) * (x - 11) + 0.7 * (y - 9) * (y - 9) + 0.4 * (z - 5) * (z - 5)));
      c.values.push_back(static_cast<T>(b < negative ? -size : size));
    }
  }
  c.width = c.values.size() / c.at.size();
  return c;
}

/// Few values in no order, as masses of particles are.
template <class T>
Case<T> table_case(std::string name, std::size_t count, std::size_t distinct, std::uint64_t seed) {
  Case<T> c;
  c.name = std::move(name);
  const std::vector<T> table = random_bits<T>(distinct, seed);
  std::mt19937_64 random(seed + 1);
  for (std::size_t i = 0; i < count; ++i) c.values.push_back(table[random() % distinct]);
  return c;
}

/// Values whose indices grow by steps that come again every `period` values; with a second period two bytes of the
/// steps do so, each for itself.
template <class T>
Case<T> steps_case(std::string name, std::size_t count, std::size_t period, std::size_t second = 0) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  Case<T> c;
  c.name = std::move(name);
  std::mt19937_64 random(17);
  std::vector<Bits> one(period), two(std::max<std::size_t>(second, 1));
  for (Bits& step : one) step = static_cast<Bits>(random() % 251);
  for (Bits& step : two) step = second == 0 ? 0 : static_cast<Bits>(random() % 251);
  Bits bits = std::bit_cast<Bits>(T(1));
  for (std::size_t i = 0; i < count; ++i) {
    bits += one[i % period] + (two[i % two.size()] << 8);
    c.values.push_back(std::bit_cast<T>(bits));
  }
  return c;
}

/// All kinds of chunks; `size` scales how many values they have.
template <class T>
std::vector<Case<T>> cases(double size = 1) {
  std::vector<Case<T>> all;
  const auto scaled = [&](double n) { return static_cast<std::size_t>(n * size); };
  const auto flat = [&](std::string name, std::vector<T> values) {
    Case<T> c;
    c.name = std::move(name);
    c.values = std::move(values);
    all.push_back(std::move(c));
  };
  flat("empty", {});
  flat("one", {T(3.25)});
  flat("eight", {T(1), T(2), T(3), T(4), T(-5), T(6), T(7), T(8)});
  flat("specials", special_values<T>());
  flat("constant", std::vector<T>(scaled(1000), T(0.1)));
  std::vector<T> alternating(scaled(777)), ramp(scaled(3000));
  for (std::size_t i = 0; i < alternating.size(); ++i) alternating[i] = T(i % 2 == 0 ? 1.5 : -1.5);
  for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<T>(0.001 * static_cast<double>(i) - 1);
  std::vector<T> even(scaled(8000));  // in a step of a point-wise grid all places are taken alike
  for (std::size_t i = 0; i < even.size(); ++i)
    even[i] = static_cast<T>(std::exp(6.0 * static_cast<double>(i) / static_cast<double>(even.size()) - 3));
  flat("even", even);
  flat("alternating", alternating);
  flat("ramp", ramp);
  flat("random bits", random_bits<T>(scaled(2000), 7));
  all.push_back(dominated_case<T>("dominated", scaled(400), 1.0, 8));
  all.push_back(dominated_case<T>("dominated, below 0", scaled(400), -0.02, 9));
  all.push_back(dominated_case<T>("dominated, small", scaled(400), 3e-5, 10));
  all.push_back(tree_case<T>("3-D", scaled(600), 8, 1, 3, 1e-3, 1));
  all.push_back(tree_case<T>("3-D, signs", scaled(600), 8, 1, 0, 1e-3, 2));
  all.push_back(tree_case<T>("2-D", scaled(900), 4, 1, 3, 1e-6, 3));
  all.push_back(tree_case<T>("1-D", scaled(400), 2, 1, -2, 1e-6, 4));
  all.push_back(tree_case<T>("vectors", scaled(120), 8, 3, 1, 1e-2, 5));
  all.push_back(tree_case<T>("one child", scaled(50), 1, 1, 1, 1e-2, 6));
  all.push_back(tree_case<T>("refinement by 3", scaled(50), 27, 1, 1, 1e-2, 8));
  all.push_back(mirrored_case<T>(scaled(400), 9));
  all.push_back(wave_case<T>(scaled(100)));
  Case<T> wild = tree_case<T>("specials in a tree", scaled(300), 8, 1, 1, 1e-2, 10);
  const std::vector<T> special = special_values<T>();
  for (std::size_t i = 0; i < wild.values.size(); i += 5) wild.values[i] = special[(i / 5) % special.size()];
  for (std::size_t i = 0; i < wild.coarse.size(); i += 3) wild.coarse[i] = special[(i / 3) % special.size()];
  all.push_back(wild);
  all.push_back(table_case<T>("a table", scaled(3000), 9, 31));
  all.push_back(steps_case<T>("steps", scaled(3000), 41));
  all.push_back(steps_case<T>("steps, byte by byte", scaled(6000), 37, 53));
  Case<T> parabola;
  parabola.name = "a parabola";
  for (std::size_t i = 0; i < scaled(3000); ++i) {
    const double x = static_cast<double>(i) / 4096;
    parabola.values.push_back(static_cast<T>(std::ldexp(std::floor(std::ldexp(1 + 0.3 * x * x, 20)), -20)));
  }
  all.push_back(parabola);
  all.push_back(box_case<T>("blocks", {6, 4, 5}, {4, 3, 2}, 1, 0, 211));
  all.push_back(box_case<T>("blocks, positive", {8, 8, 1}, {4, 3, 1}, 2, 3, 0));
  all.push_back(steep_case<T>("blocks, steep", {4, 4, 4}, 4, 0));
  all.push_back(steep_case<T>("blocks, steep, signs", {4, 4, 4}, 4, 5));
  all.push_back(box_case<T>("cells", {1, 1, 1}, {24, 20, 5}, 1, 0.5, 0));
  Case<T> noise = tree_case<T>("random bits in a tree", scaled(300), 8, 1, 1, 1e-2, 11);
  noise.values = random_bits<T>(noise.values.size(), 12);
  noise.coarse = random_bits<T>(noise.coarse.size(), 13);
  all.push_back(noise);
  return all;
}

template <class T>
bool same_bits(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

/// Whether y may stand for x, judged in long double.
template <class T>
bool honours(const Bound& bound, T x, T y) {
  if (bound.kind == BoundKind::lossless || !std::isfinite(x) || x == 0) return same_bits(x, y);
  if (!std::isfinite(y)) return false;
  const long double error = std::fabs(static_cast<long double>(x) - static_cast<long double>(y));
  if (bound.kind == BoundKind::absolute) return error <= static_cast<long double>(bound.value);
  return error <= static_cast<long double>(bound.value) * std::fabs(static_cast<long double>(x)) &&
         (bound.value >= 1 || std::signbit(x) == std::signbit(y));
}

}  // namespace octavo::codec::testing
