#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include "octavo/codec/predict.hpp"
#include "octavo/codec/quantise.hpp"

/// Inside the codec room: the three ways to put values on integers (docs/codecs.md, "Grids").
namespace octavo::codec {

constexpr std::int64_t index_limit = std::int64_t{1} << 50;

/// Work space of one thread, kept from chunk to chunk: fresh memory costs as much as the coding itself.
struct Scratch {
  Numbers numbers, coarse;
  Symbols symbols;
  std::vector<double> given, logarithms, tried;
  std::vector<ValueKind> kind;
  std::vector<std::uint8_t> counted, moves, ones;
};
inline Scratch& scratch() {
  thread_local Scratch space;
  return space;
}

// A grid puts values on integers. `read` fills in entries [first, last) for values, `value` is the way back, `estimate`
// puts a predicted value on the grid (and leaves `expected` alone where it has no place there), `flip` changes an
// index's sign and `key` is the same for both signs.

/// Every bit pattern is an index, in the order of the values; ~index has the other sign.
template <class T>
struct ExactGrid {
  using Value = T;
  using Bits = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  static constexpr bool signs_apart = false;
  static constexpr bool has_specials = false;
  static constexpr Base fitted_bases[] = {Base::fitted_value};
  static double least_energy(Base) { return 0; }

  static std::int64_t index_of(T x) {
    const Bits bits = std::bit_cast<Bits>(x);
    return bits < 0 ? ~std::int64_t{bits & std::numeric_limits<Bits>::max()} : std::int64_t{bits};
  }
  void read(Numbers& to, std::span<const T> values, std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i < last; ++i) {
      to.index[i] = index_of(values[i]);
      to.value[i] = static_cast<double>(values[i]);
    }
    std::fill_n(to.kind.data() + first, last - first, ValueKind::plain);
    std::fill_n(to.negative.data() + first, last - first, std::uint8_t{0});
  }
  static T value_of(std::int64_t index) {
    return std::bit_cast<T>(
        static_cast<Bits>(index ^ ((index >> 63) & std::int64_t{std::numeric_limits<Bits>::max()})));
  }
  void estimate(PredictedCells& cells) const {
    const std::size_t lanes = cells.count == 1 ? 1 : num_lanes;
    for (std::size_t lane = 0; lane < lanes; ++lane)
      if (const double x = cells.estimate[lane]; std::abs(x) <= static_cast<double>(std::numeric_limits<T>::max()))
        cells.index[lane] = index_of(static_cast<T>(x));
  }
  void settle_values(const PredictedCells& cells, Numbers& numbers, std::span<T> out) const {
    for (std::size_t lane = 0; lane < cells.count; ++lane) {
      const std::size_t i = cells.position[lane];
      out[i] = value_of(numbers.index[i]);
      numbers.value[i] = static_cast<double>(out[i]);
    }
  }
  static std::int64_t flip(std::int64_t index) { return ~index; }
  static bool negative(const Numbers& of, std::size_t i) { return of.index[i] < 0; }
  static std::uint64_t key(std::int64_t index) { return static_cast<std::uint64_t>(index < 0 ? ~index : index); }
  static bool in_range(std::int64_t index) {
    return sizeof(T) == 8 || (index >= std::numeric_limits<Bits>::min() && index <= std::numeric_limits<Bits>::max());
  }
};

/// Point-wise relative. Values are magnitudes with a sign of their own.
template <class T>
struct PointwiseGrid {
  using Value = T;
  static constexpr bool signs_apart = true;
  static constexpr bool has_specials = true;
  static constexpr Base fitted_bases[] = {Base::fitted_index, Base::fitted_value};
  LogGrid grid;
  double bound;

  PointwiseGrid(double b, const Lattice& lattice) : grid(log_grid(b, lattice)), bound(b * (1 - 0x1p-50)) {}

  static double least_energy(Base base) { return base == Base::fitted_index ? 1 : 0; }
  static bool has_place(double magnitude) {
    return magnitude >= log_grid_lowest && magnitude <= std::numeric_limits<double>::max();
  }
  /// Whether y stands for x within `bound * |x|`: the bound has been lowered by more than the product can be rounded
  /// up.
  bool within(double x, double y) const { return std::abs(x - y) <= bound * std::abs(x); }
  static bool within(double x, double y, double b) { return std::abs(x - y) <= b * (1 - 0x1p-50) * std::abs(x); }

  /// Values that have been decoded: their index is whatever cell holds them.
  void read(Numbers& to, std::span<const T> values, std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i < last; ++i) to.value[i] = static_cast<double>(values[i]);
    indices_on(grid, to.value.data() + first, to.index.data() + first, last - first);
    for (std::size_t i = first; i < last; ++i) {
      const double magnitude = std::abs(to.value[i]);
      to.negative[i] = std::signbit(values[i]) ? 1 : 0;
      to.kind[i] = has_place(magnitude) ? ValueKind::plain : magnitude == 0 ? ValueKind::zero : ValueKind::exact;
      if (to.kind[i] != ValueKind::plain) to.index[i] = 0;
    }
  }
  static T finish(double magnitude, bool negative) {
    const double limited = std::min(magnitude, static_cast<double>(std::numeric_limits<T>::max()));
    return static_cast<T>(negative ? -limited : limited);
  }
  T value(std::int64_t index, bool negative) const { return finish(value_on(grid, index, negative), negative); }
  void estimate(PredictedCells& cells) const {
    std::array<std::int64_t, num_lanes> index;
    const std::size_t lanes = cells.count == 1 ? 1 : num_lanes;
    if (cells.count == 1)
      index[0] = index_on(grid, cells.estimate[0]);
    else
      indices_on(grid, cells.estimate.data(), index.data(), num_lanes);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const bool good = has_place(std::abs(cells.estimate[lane]));
      cells.index[lane] = good ? index[lane] : cells.index[lane];
      cells.negative[lane] = good ? (cells.estimate[lane] < 0 ? 1 : 0) : cells.negative[lane];
    }
  }
  void settle_values(const PredictedCells& cells, Numbers& numbers, std::span<T> out) const {
    std::array<std::int64_t, num_lanes> index{};
    std::array<std::uint8_t, num_lanes> negative{};
    std::array<double, num_lanes> magnitude;
    for (std::size_t lane = 0; lane < cells.count; ++lane) {
      index[lane] = numbers.index[cells.position[lane]];
      negative[lane] = numbers.negative[cells.position[lane]];
    }
    if (cells.count == 1)
      magnitude[0] = value_on(grid, index[0], negative[0] != 0);
    else
      values_on(grid, index.data(), negative.data(), magnitude.data(), num_lanes);
    for (std::size_t lane = 0; lane < cells.count; ++lane) {
      const std::size_t i = cells.position[lane];
      if (numbers.kind[i] != ValueKind::plain) continue;
      out[i] = finish(magnitude[lane], negative[lane] != 0);
      numbers.value[i] = static_cast<double>(out[i]);
    }
  }
  static std::int64_t flip(std::int64_t index) { return index; }
  static bool negative(const Numbers& of, std::size_t i) { return of.negative[i] != 0; }
  static std::uint64_t key(std::int64_t index) { return static_cast<std::uint64_t>(index); }
  static bool in_range(std::int64_t index) { return std::abs(index) <= index_limit; }
};

/// Absolute. An index has its value's sign.
template <class T>
struct AbsoluteGrid {
  using Value = T;
  static constexpr bool signs_apart = false;
  static constexpr bool has_specials = true;
  static constexpr Base fitted_bases[] = {Base::fitted_value};
  LinearGrid grid;
  double bound;

  AbsoluteGrid(double b, const Lattice& lattice) : grid(linear_grid(b, lattice)), bound(b) {}

  double least_energy(Base) const { return grid.step * grid.step; }
  bool has_place(double magnitude) const { return magnitude * grid.inverse < linear_grid_limit; }
  /// |x - y| <= bound for the exact difference: what subtraction rounds away is found again and counted.
  bool within(double x, double y) const { return within(x, y, bound); }
  static bool within(double x, double y, double bound) {
    const double difference = x - y;
    const double y_back = x - difference, x_back = difference + y_back;
    const double lost = std::abs((x - x_back) + (y_back - y));
    return std::abs(difference) < bound || (std::abs(difference) == bound && lost == 0.0);
  }

  void read(Numbers& to, std::span<const T> values, std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i < last; ++i) to.value[i] = static_cast<double>(values[i]);
    indices_on(grid, to.value.data() + first, to.index.data() + first, last - first);
    for (std::size_t i = first; i < last; ++i) {
      to.negative[i] = 0;
      to.kind[i] = has_place(std::abs(to.value[i])) ? ValueKind::plain : ValueKind::exact;
      if (to.kind[i] != ValueKind::plain) to.index[i] = 0;
    }
  }
  static T finish(double value) {
    const double limit = static_cast<double>(std::numeric_limits<T>::max());
    return static_cast<T>(std::min(std::max(value, -limit), limit));
  }
  T value(std::int64_t index, bool) const { return finish(value_on(grid, index)); }
  void estimate(PredictedCells& cells) const {
    std::array<std::int64_t, num_lanes> index;
    const std::size_t lanes = cells.count == 1 ? 1 : num_lanes;
    if (cells.count == 1)
      index[0] = index_on(grid, cells.estimate[0]);
    else
      indices_on(grid, cells.estimate.data(), index.data(), num_lanes);
    for (std::size_t lane = 0; lane < lanes; ++lane)
      cells.index[lane] = has_place(std::abs(cells.estimate[lane])) ? index[lane] : cells.index[lane];
  }
  void settle_values(const PredictedCells& cells, Numbers& numbers, std::span<T> out) const {
    std::array<std::int64_t, num_lanes> index{};
    std::array<double, num_lanes> found;
    for (std::size_t lane = 0; lane < cells.count; ++lane) index[lane] = numbers.index[cells.position[lane]];
    if (cells.count == 1)
      found[0] = value_on(grid, index[0]);
    else
      values_on(grid, index.data(), found.data(), num_lanes);
    for (std::size_t lane = 0; lane < cells.count; ++lane) {
      const std::size_t i = cells.position[lane];
      if (numbers.kind[i] != ValueKind::plain) continue;
      out[i] = finish(found[lane]);
      numbers.value[i] = static_cast<double>(out[i]);
    }
  }
  static std::int64_t flip(std::int64_t index) { return -index; }
  static bool negative(const Numbers& of, std::size_t i) { return of.index[i] < 0; }
  static std::uint64_t key(std::int64_t index) { return static_cast<std::uint64_t>(std::abs(index)); }
  static bool in_range(std::int64_t index) { return std::abs(index) <= index_limit; }
};

/// Values stored as they are, in order of visit: how (0 plain, 1 zstd) and the bytes.
template <class T>
void put_exact(std::span<const T> values, Bytes& out) {
  if (values.empty()) return;
  Bytes plain(values.size_bytes()), packed;
  to_little_endian(values, std::span<std::byte>(plain));
  if (plain.size() >= 64) zstd_compress(plain, Search::quick, packed);
  const bool pack = !packed.empty() && packed.size() + 5 < plain.size();
  put_byte(out, pack ? 1 : 0);
  if (pack) put_varint(out, packed.size());
  put_bytes(out, pack ? packed : plain);
}

template <class T>
std::vector<T> get_exact(ChunkReader& in, std::size_t count) {
  std::vector<T> values(count);
  if (count == 0) return values;
  const unsigned packed = in.byte();
  if (packed > 1) in.fail("unknown way of storing exact values");
  if (packed == 0) {
    from_little_endian(in.take(count * sizeof(T)), std::span<T>(values));
    return values;
  }
  Bytes plain(count * sizeof(T));
  const std::uint64_t size = in.varint();
  const auto frame = in.take(size);
  zstd_decompress(frame, plain, in);
  from_little_endian(plain, std::span<T>(values));
  return values;
}

}  // namespace octavo::codec
