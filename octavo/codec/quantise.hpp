#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "octavo/codec/lattice.hpp"

/// Inside the codec room: our own log2 and exp2, and the grids of lossy chunks (docs/codecs.md, "Arithmetic"). Nothing
/// but IEEE-754 double add, multiply and divide in a fixed order, so that every machine gets the same bits.
namespace octavo::codec {

/// log2 of |x|, for finite normal x. Absolute error below 1e-13.
inline double log2_of(double x) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x) & 0x7fffffffffffffffULL;
  // The exponent is taken at sqrt(1/2), so that the mantissa m lies in [0.707, 1.414).
  const std::uint64_t biased = (bits + 0x00095f619980c433ULL) >> 52;
  const double m = std::bit_cast<double>(bits - ((biased - 1023) << 52));
  // The exponent as a double, by way of the low bits of 2^52 + exponent.
  const double exponent = std::bit_cast<double>(biased | 0x4330000000000000ULL) - 4503599627371519.0;
  // log2(m) = 2/ln2 * (s + s^3/3 + s^5/5 + ...), s = (m - 1) / (m + 1), |s| < 0.172
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double sum = 0.16972882833987804;
  sum = sum * z + 0.19235933878519512;
  sum = sum * z + 0.22195308321368667;
  sum = sum * z + 0.2623081892525388;
  sum = sum * z + 0.3205988979753252;
  sum = sum * z + 0.4121985831111324;
  sum = sum * z + 0.5770780163555853;
  sum = sum * z + 0.9617966939259756;
  sum = sum * z + 2.8853900817779268;
  return exponent + s * sum;
}

/// 2^y; 0 or infinity where y is out of range. Relative error below 1e-15.
inline double exp2_of(double y) {
  const double clamped = std::min(std::max(y, -1023.0), 1024.0);
  // Adding 1.5 * 2^52 rounds to the nearest integer and leaves it in the low bits.
  const double magic = 6755399441055744.0;
  const double shifted = clamped + magic;
  const double t = (clamped - (shifted - magic)) * 0.6931471805599453;
  const std::uint64_t whole = std::bit_cast<std::uint64_t>(shifted) - std::bit_cast<std::uint64_t>(magic);
  double sum = 2.08767569878681e-09;
  sum = sum * t + 2.505210838544172e-08;
  sum = sum * t + 2.755731922398589e-07;
  sum = sum * t + 2.7557319223985893e-06;
  sum = sum * t + 2.48015873015873e-05;
  sum = sum * t + 0.0001984126984126984;
  sum = sum * t + 0.001388888888888889;
  sum = sum * t + 0.008333333333333333;
  sum = sum * t + 0.041666666666666664;
  sum = sum * t + 0.16666666666666666;
  sum = sum * t + 0.5;
  sum = sum * t + 1.0;
  sum = sum * t + 1.0;
  return sum * std::bit_cast<double>((whole + 1023) << 52);
}

/// The largest integer not above y; |y| < 2^51. By adding and subtracting, which compilers can do for several at once.
inline std::int64_t floor_of(double y) {
  const double magic = 6755399441055744.0;
  const double nearest = (y + magic) - magic;
  const double below = nearest > y ? nearest - 1.0 : nearest;
  return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(below + magic) - std::bit_cast<std::uint64_t>(magic));
}

/// An integer below 2^51 in magnitude as a double.
inline double double_of(std::int64_t q) {
  const double magic = 6755399441055744.0;
  return std::bit_cast<double>(static_cast<std::uint64_t>(q) + std::bit_cast<std::uint64_t>(magic)) - magic;
}

/// A cell of its own among those of one sign, for the value that is common in a chunk: those beyond are one further.
struct Inserted {
  static constexpr std::int64_t nowhere = std::int64_t{1} << 62;
  std::int64_t cell = nowhere;
  bool negative = false;
  double magnitude = 0, reach = 0;  ///< nearer values are expected in this cell
  explicit operator bool() const { return cell != nowhere; }
  /// The number of the cell q of the grid after the insertion. Cells of the other sign keep their numbers.
  std::int64_t beside(std::int64_t q, bool of_negative) const {
    return of_negative == negative && q >= cell ? q + 1 : q;
  }
  /// The cell of a magnitude of this sign that is in cell q of the grid.
  std::int64_t index(std::int64_t q, double x) const {
    return std::abs(x - magnitude) < reach ? cell : q >= cell ? q + 1 : q;
  }
};

/// Point-wise relative: |x| of cell q stands for 2^(q * step + offset), positive and negative values each on a grid of
/// their own. The widest step keeps every |x| within `bound * |x|`, less one part in a million.
struct LogGrid {
  double step, inverse;
  std::array<double, 2> phase, offset;  ///< of positive, of negative values; phases in steps
  Inserted common;
};
LogGrid log_grid(double bound, const Lattice& lattice = {});

/// Magnitudes on a log grid; anything below (and infinity, NaN) is stored exactly.
constexpr double log_grid_lowest = 0x1p-960;

inline std::int64_t index_on(const LogGrid& grid, double x) {
  const bool negative = std::signbit(x);
  const std::int64_t q = floor_of(log2_of(x) * grid.inverse - grid.phase[negative ? 1 : 0]);
  return grid.common && grid.common.negative == negative ? grid.common.index(q, std::abs(x)) : q;
}
/// The magnitude that cell q stands for.
inline double value_on(const LogGrid& grid, std::int64_t q, bool negative = false) {
  if (grid.common && grid.common.negative == negative && q >= grid.common.cell) {
    if (q == grid.common.cell) return grid.common.magnitude;
    --q;
  }
  return exp2_of(double_of(q) * grid.step + grid.offset[negative ? 1 : 0]);
}
/// Which of `count` values are negative; whether all have a place on a log grid.
bool signs_of(const double* values, std::uint8_t* negative, std::size_t count);
/// log2_of for `count` values, any bits allowed: a value without a logarithm gets an arbitrary result.
void logarithms_of(const double* values, double* logarithms, std::size_t count);
/// index_on for values with these logarithms, negative where that is 1; the common value apart.
void indices_of(const LogGrid& grid, const double* logarithms, const std::uint8_t* negative, std::int64_t* indices,
                std::size_t count);
/// index_on for `count` values, any bits allowed: a value without a place gets an arbitrary index.
void indices_on(const LogGrid& grid, const double* values, std::int64_t* indices, std::size_t count);
/// value_on for `count` indices below 2^50.
void values_on(const LogGrid& grid, const std::int64_t* indices, const std::uint8_t* negative, double* values,
               std::size_t count);

/// Absolute: cell 0 stands for 0, cell q > 0 for (q - phase) * step, cell -q for -(q - phase) * step. The step is at
/// most 2 * bound.
struct LinearGrid {
  double step, inverse;
  std::array<double, 2> phase;  ///< of positive, of negative values, in steps
  Inserted common;
};
LinearGrid linear_grid(double bound, const Lattice& lattice = {});

/// Indices on a linear grid are below this.
constexpr double linear_grid_limit = 0x1p50;

inline std::int64_t index_on(const LinearGrid& grid, double x) {
  const bool negative = std::signbit(x);
  const double distance = std::abs(x) * grid.inverse, phase = grid.phase[negative ? 1 : 0];
  std::int64_t q = distance + distance < 1.0 - phase ? 0 : floor_of((distance + phase) + 0.5);
  if (grid.common && grid.common.negative == negative) q = grid.common.index(q, std::abs(x));
  return negative ? -q : q;
}
inline double value_on(const LinearGrid& grid, std::int64_t index) {
  const bool negative = index < 0;
  std::int64_t q = negative ? -index : index;
  double magnitude = 0;
  if (grid.common && grid.common.negative == negative && q == grid.common.cell) {
    magnitude = grid.common.magnitude;
  } else {
    if (grid.common && grid.common.negative == negative && q > grid.common.cell) --q;
    if (q > 0) magnitude = (double_of(q) - grid.phase[negative ? 1 : 0]) * grid.step;
  }
  return negative ? -magnitude : magnitude;
}

/// Gives for each value the cell that an encoder puts it in, and the value of that cell. All values within half a step
/// of 0 go to 0, since fewer cells take fewer bits. A value above the limit gets an arbitrary cell. The common value is
/// not handled here.
void cells_of(const LinearGrid& grid, const double* values, std::int64_t* indices, double* decoded, std::size_t count);
/// Whether all of `count` values have a place on the grid; -0.0 has none.
bool have_places(const LinearGrid& grid, const double* values, std::size_t count);
/// index_on for `count` values below the limit, and back.
void indices_on(const LinearGrid& grid, const double* values, std::int64_t* indices, std::size_t count);
void values_on(const LinearGrid& grid, const std::int64_t* indices, double* values, std::size_t count);

}  // namespace octavo::codec
