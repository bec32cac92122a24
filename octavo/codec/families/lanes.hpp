#pragma once
#include <type_traits>

#include "octavo/codec/families.hpp"
#include "octavo/codec/wide.hpp"

/// Inside the codec room: the numbers of families_together families as vectors, and grids.hpp's functions for them,
/// operation by operation the same.
namespace octavo::codec {

/// A number of each family.
template <class T>
using Lane = std::array<T, families_together>;

/// The same in vectors.
constexpr std::size_t num_fours = families_together / 4;
template <class Vector>
using Fours = std::array<Vector, num_fours>;
// One vector after another: as a copy of the whole, compilers store it by halves, and a vector loaded from two halves
// waits until both have left the processor for the cache.
template <class Vector, class T>
[[gnu::always_inline]] inline void load_fours(const T* from, Fours<Vector>& to) {
  for (std::size_t v = 0; v < num_fours; ++v) {
    Vector four;
    std::memcpy(&four, from + 4 * v, sizeof four);
    to[v] = four;
  }
}
template <class Vector, class T>
[[gnu::always_inline]] inline void store_fours(const Fours<Vector>& from, T* to) {
  for (std::size_t v = 0; v < num_fours; ++v) {
    const Vector four = from[v];
    std::memcpy(to + 4 * v, &four, sizeof four);
  }
}
template <class Vector, class T>
[[gnu::always_inline]] inline void load_fours(const Lane<T>& from, Fours<Vector>& to) {
  load_fours(from.data(), to);
}
template <class Vector, class T>
[[gnu::always_inline]] inline void store_fours(const Fours<Vector>& from, Lane<T>& to) {
  store_fours(from, to.data());
}

// The grid of a typed grid. With a bound only the last rounding of a value depends on its type.

template <class T>
const ExactGrid<T>& untyped(const ExactGrid<T>& grid) {
  return grid;
}
template <class T>
const LogGrid& untyped(const PointwiseGrid<T>& grid) {
  return grid.grid;
}
template <class T>
const LinearGrid& untyped(const AbsoluteGrid<T>& grid) {
  return grid.grid;
}

/// In their place where estimates are indices already.
struct NoGrid {};

/// Weights of cells, of one of both types.
struct CellWeights {
  const double* doubles = nullptr;
  const float* floats = nullptr;
  explicit CellWeights(std::span<const double> of) : doubles(of.empty() ? nullptr : of.data()) {}
  explicit CellWeights(std::span<const float> of) : floats(of.empty() ? nullptr : of.data()) {}
  bool empty() const { return doubles == nullptr && floats == nullptr; }
  double operator[](std::size_t cell) const { return floats != nullptr ? double{floats[cell]} : doubles[cell]; }
};

/// Where decoded values go, of one of both types.
struct Decoded {
  double* doubles = nullptr;
  float* floats = nullptr;
  explicit Decoded(std::span<double> to) : doubles(to.data()) {}
  explicit Decoded(std::span<float> to) : floats(to.data()) {}
};

/// The parts of a model from which many families are predicted. The code that uses them is compiled once for floats and
/// doubles.
struct FamilyModel {
  const Families& place;
  const Numbers& coarse;
  const Stencil& stencil;
  CellWeights weights;
  bool with_sign, signs_apart;
  std::int64_t least, most;  ///< of indices
};

template <class Grid>
FamilyModel untyped(const Model<Grid>& model) {
  using Exact = ExactGrid<typename Grid::Value>;
  using Bits = std::numeric_limits<typename Exact::Bits>;
  const bool exact = std::is_same_v<Grid, Exact>, with_sign = model.alphabet() == Alphabet::signed_numbers;
  return {model.place,
          model.coarse,
          model.stencil,
          CellWeights(model.weights),
          with_sign,
          Grid::signs_apart,
          exact ? std::int64_t{Bits::min()} : -index_limit,
          exact ? std::int64_t{Bits::max()} : index_limit};
}

// places_of: puts estimates on the grid; where they have no place there, index and sign stay.

[[gnu::always_inline]] inline void exact_place(const Four& x, FourBits& index) {
  constexpr std::uint64_t magnitude_bits = 0x7fffffffffffffffULL;
  const FourBits bits = (FourBits)x,
                 good = (FourBits)((Four)(bits & magnitude_bits) <= std::numeric_limits<double>::max());
  const FourBits place = bits ^ (-(bits >> 63) & magnitude_bits);
  index = (good & place) | (~good & index);
}
[[gnu::always_inline]] inline void places_of(const ExactGrid<double>&, const Fours<Four>& estimate,
                                             Lane<std::int64_t>& index, Lane<std::uint64_t>&) {
  Fours<FourBits> place;
  load_fours(index, place);
  for (std::size_t v = 0; v < num_fours; ++v) exact_place(estimate[v], place[v]);
  store_fours(place, index);
}
[[gnu::always_inline]] inline void places_of(const ExactGrid<float>&, const Fours<Four>& estimate,
                                             Lane<std::int64_t>& index, Lane<std::uint64_t>&) {
  Lane<double> x;
  store_fours(estimate, x);
  for (std::size_t lane = 0; lane < families_together; ++lane)
    if (std::abs(x[lane]) <= static_cast<double>(std::numeric_limits<float>::max()))
      index[lane] = ExactGrid<float>::index_of(static_cast<float>(x[lane]));
}
/// Takes over the places of `good` estimates.
template <class Grid, class Good>
[[gnu::always_inline]] inline void places_on(const Grid& grid, const Fours<Four>& estimate, Lane<std::int64_t>& index,
                                             Good&& good) {
  Lane<double> x;
  Lane<std::int64_t> found;
  store_fours(estimate, x);
  wide_indices_on(grid, x.data(), found.data(), families_together);
  Fours<FourBits> place, before;
  load_fours(found, place);
  load_fours(index, before);
  for (std::size_t v = 0; v < num_fours; ++v) {
    FourBits mask;
    Four size;
    magnitudes_of_four(estimate[v], size);
    good(size, v, mask);
    place[v] = (mask & place[v]) | (~mask & before[v]);
  }
  store_fours(place, index);
}
[[gnu::always_inline]] inline void places_of(const LogGrid& grid, const Fours<Four>& estimate,
                                             Lane<std::int64_t>& index, Lane<std::uint64_t>& negative) {
  Fours<FourBits> signs;
  load_fours(negative, signs);
  places_on(grid, estimate, index, [&](const Four& size, std::size_t v, FourBits& mask) {
    mask = (FourBits)(size >= log_grid_lowest) & (FourBits)(size <= std::numeric_limits<double>::max());
    signs[v] = (mask & (FourBits)(estimate[v] < 0.0) & 1) | (~mask & signs[v]);
  });
  store_fours(signs, negative);
}
[[gnu::always_inline]] inline void places_of(const LinearGrid& grid, const Fours<Four>& estimate,
                                             Lane<std::int64_t>& index, Lane<std::uint64_t>&) {
  places_on(grid, estimate, index, [&](const Four& size, std::size_t, FourBits& mask) {
    mask = (FourBits)(size * grid.inverse < linear_grid_limit);
  });
}

// values_at: the values of cells of the grid; with a bound as floats have them if they are `floats`.

template <class T>
[[gnu::always_inline]] inline void values_at(const ExactGrid<T>&, bool, const Lane<std::int64_t>& index,
                                             const Lane<std::uint64_t>&, Lane<double>& value) {
  for (std::size_t lane = 0; lane < families_together; ++lane)
    value[lane] = static_cast<double>(ExactGrid<T>::value_of(index[lane]));
}
/// Limits values to the finite ones of their type.
[[gnu::always_inline]] inline void finish(bool floats, Lane<double>& value) {
  const Four limit = Four{} + (floats ? double{std::numeric_limits<float>::max()} : std::numeric_limits<double>::max());
  Fours<Four> x;
  load_fours(value, x);
  for (std::size_t v = 0; v < num_fours; ++v) {
    const Four raised = x[v] < -limit ? -limit : x[v];
    x[v] = limit < raised ? limit : raised;
  }
  store_fours(x, value);
  if (!floats) return;
  for (double& y : value) y = double{static_cast<float>(y)};
}
[[gnu::always_inline]] inline void values_at(const LogGrid& grid, bool floats, const Lane<std::int64_t>& index,
                                             const Lane<std::uint64_t>& negative, Lane<double>& value) {
  wide_values_on(grid, index.data(), negative.data(), value.data(), families_together);
  Fours<Four> x;
  Fours<FourBits> signs;
  load_fours(value, x);
  load_fours(negative, signs);
  for (std::size_t v = 0; v < num_fours; ++v) x[v] = (Four)((FourBits)x[v] | signs[v] << 63);
  store_fours(x, value);
  finish(floats, value);
}
[[gnu::always_inline]] inline void values_at(const LinearGrid& grid, bool floats, const Lane<std::int64_t>& index,
                                             const Lane<std::uint64_t>&, Lane<double>& value) {
  wide_values_on(grid, index.data(), value.data(), families_together);
  finish(floats, value);
}

/// Puts values, which stand for these indices, in the places at(lane) that are not of specials. An exact float is not
/// taken from its double, which does not keep all bits of a NaN.
template <class Place, class At>
[[gnu::always_inline]] inline void put_values(At&& at, const Lane<std::int64_t>& index, const Lane<double>& value,
                                              const Numbers* specials, const Decoded& out) {
  const auto put = [&](auto* to, auto&& value_of) __attribute__((always_inline)) {
    if (specials == nullptr)
      for (std::size_t lane = 0; lane < families_together; ++lane) to[at(lane)] = value_of(lane);
    else
      for (std::size_t lane = 0; lane < families_together; ++lane)
        if (specials->kind[at(lane)] == ValueKind::plain) to[at(lane)] = value_of(lane);
  };
  if constexpr (std::is_same_v<Place, ExactGrid<float>>)
    put(out.floats, [&](std::size_t lane) { return ExactGrid<float>::value_of(index[lane]); });
  else if (out.floats == nullptr)
    put(out.doubles, [&](std::size_t lane) { return value[lane]; });
  else
    put(out.floats, [&](std::size_t lane) { return static_cast<float>(value[lane]); });
}

/// Decoded cells of some families, in order of visit.
struct FoundCells {
  std::array<Lane<std::size_t>, 8> at;
  std::array<Lane<std::int64_t>, 8> index;
  std::array<Lane<std::uint64_t>, 8> negative;
  FourBits bad{};  ///< of which all bits are set where an index was out of range
};
/// Puts the values of such cells in their places, but for those of specials.
template <class Place>
void put_found(const Place& grid, std::size_t members, const FoundCells& found, const Numbers* specials,
               const Decoded& out);

inline bool any_of(const FourBits& mask) { return (mask[0] | mask[1] | mask[2] | mask[3]) != 0; }

/// Adds what zigzag numbers stand for to indices. One that is out of range becomes 0, and all bits are set in `bad`.
template <class Place>
[[gnu::always_inline]] inline void add_numbers(const FamilyModel& model, const Lane<std::uint64_t>& number,
                                               Lane<std::int64_t>& index, FourBits& bad) {
  Fours<FourBits> u, at;
  load_fours(number, u);
  load_fours(index, at);
  for (std::size_t v = 0; v < num_fours; ++v) {
    at[v] = at[v] + ((u[v] >> 1) ^ -(u[v] & 1));
    if (std::is_same_v<Place, ExactGrid<double>>) continue;  // any is in range
    const FourBits good = (FourBits)((FourInts)at[v] <= model.most) & (FourBits)((FourInts)at[v] >= model.least);
    bad |= ~good;
    at[v] &= good;
  }
  store_fours(at, index);
}

/// The zigzag numbers that take expected indices to others, and their classes.
[[gnu::always_inline]] inline void numbers_of(const Lane<std::int64_t>& index, const Lane<std::int64_t>& expected,
                                              Lane<std::uint64_t>& number, Lane<std::uint64_t>& classes) {
  Fours<FourBits> at, from;
  FourBits large{};
  load_fours(index, at);
  load_fours(expected, from);
  for (std::size_t v = 0; v < num_fours; ++v) {
    const FourBits r = at[v] - from[v], u = (r << 1) ^ -(r >> 63);
    // A double has the length of a number below 2^52 in its exponent, and the bit after the leading one behind that.
    const Four x = (Four)(u | 0x4330000000000000ULL) - 0x1p52;
    const FourBits few = (FourBits)((FourInts)u < 8);
    at[v] = u;
    from[v] = (few & u) | (~few & (((FourBits)x >> 51) - 2044));
    large |= u >> 52;
  }
  store_fours(at, number);
  store_fours(from, classes);
  if ((large[0] | large[1] | large[2] | large[3]) == 0) return;
  for (std::size_t lane = 0; lane < families_together; ++lane) classes[lane] = class_of(number[lane]);
}

/// The weights of a stencil as factors of differences.
template <class Number>
using Factors = std::array<std::array<Number, max_terms>, 8>;

template <class Number>
Factors<Number> factors_of(const Stencil& stencil) {
  Factors<Number> factors;
  for (std::size_t k = 0; k < factors.size(); ++k)
    for (std::size_t r = 0; r < max_terms; ++r) factors[k][r] = static_cast<Number>(std::int64_t{stencil.weight[k][r]});
  return factors;
}

}  // namespace octavo::codec
