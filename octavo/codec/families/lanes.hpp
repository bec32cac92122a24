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
  wide_indices_on(grid.grid, x.data(), found.data(), families_together);
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
template <class T>
[[gnu::always_inline]] inline void places_of(const PointwiseGrid<T>& grid, const Fours<Four>& estimate,
                                             Lane<std::int64_t>& index, Lane<std::uint64_t>& negative) {
  Fours<FourBits> signs;
  load_fours(negative, signs);
  places_on(grid, estimate, index, [&](const Four& size, std::size_t v, FourBits& mask) {
    mask = (FourBits)(size >= log_grid_lowest) & (FourBits)(size <= std::numeric_limits<double>::max());
    signs[v] = (mask & (FourBits)(estimate[v] < 0.0) & 1) | (~mask & signs[v]);
  });
  store_fours(signs, negative);
}
template <class T>
[[gnu::always_inline]] inline void places_of(const AbsoluteGrid<T>& grid, const Fours<Four>& estimate,
                                             Lane<std::int64_t>& index, Lane<std::uint64_t>&) {
  places_on(grid, estimate, index, [&](const Four& size, std::size_t, FourBits& mask) {
    mask = (FourBits)(size * grid.grid.inverse < linear_grid_limit);
  });
}

// values_at: the values of cells of the grid.

template <class T>
[[gnu::always_inline]] inline void values_at(const ExactGrid<T>&, const Lane<std::int64_t>& index,
                                             const Lane<std::uint64_t>&, Lane<T>& value) {
  using Bits = typename ExactGrid<T>::Bits;
  for (std::size_t lane = 0; lane < families_together; ++lane)
    value[lane] = std::bit_cast<T>(
        static_cast<Bits>(index[lane] ^ ((index[lane] >> 63) & std::int64_t{std::numeric_limits<Bits>::max()})));
}
template <class T>
[[gnu::always_inline]] inline void values_at(const PointwiseGrid<T>& grid, const Lane<std::int64_t>& index,
                                             const Lane<std::uint64_t>& negative, Lane<T>& value) {
  const Four limit = Four{} + static_cast<double>(std::numeric_limits<T>::max());
  Lane<double> found;
  wide_values_on(grid.grid, index.data(), negative.data(), found.data(), families_together);
  Fours<Four> magnitude;
  Fours<FourBits> signs;
  load_fours(found, magnitude);
  load_fours(negative, signs);
  for (std::size_t v = 0; v < num_fours; ++v) {
    const Four limited = limit < magnitude[v] ? limit : magnitude[v];
    magnitude[v] = (Four)((FourBits)limited | signs[v] << 63);
  }
  store_fours(magnitude, found);
  for (std::size_t lane = 0; lane < families_together; ++lane) value[lane] = static_cast<T>(found[lane]);
}
template <class T>
[[gnu::always_inline]] inline void values_at(const AbsoluteGrid<T>& grid, const Lane<std::int64_t>& index,
                                             const Lane<std::uint64_t>&, Lane<T>& value) {
  const Four limit = Four{} + static_cast<double>(std::numeric_limits<T>::max());
  Lane<double> found;
  wide_values_on(grid.grid, index.data(), found.data(), families_together);
  Fours<Four> x;
  load_fours(found, x);
  for (std::size_t v = 0; v < num_fours; ++v) {
    const Four raised = x[v] < -limit ? -limit : x[v];
    x[v] = limit < raised ? limit : raised;
  }
  store_fours(x, found);
  for (std::size_t lane = 0; lane < families_together; ++lane) value[lane] = static_cast<T>(found[lane]);
}

// in_range: 0 for indices that are out of range, and all bits set in `bad`.

template <class Grid>
[[gnu::always_inline]] inline void in_range(FourBits& index, FourBits& bad) {
  if constexpr (std::is_same_v<Grid, ExactGrid<double>>) return;
  constexpr bool exact = std::is_same_v<Grid, ExactGrid<float>>;
  constexpr std::int64_t most = exact ? std::numeric_limits<std::int32_t>::max() : index_limit;
  constexpr std::int64_t least = exact ? std::numeric_limits<std::int32_t>::min() : -index_limit;
  const FourBits good = (FourBits)((FourInts)index <= most) & (FourBits)((FourInts)index >= least);
  bad |= ~good;
  index &= good;
}

/// Adds what zigzag numbers stand for to indices.
template <class Grid>
[[gnu::always_inline]] inline void add_numbers(const Lane<std::uint64_t>& number, Lane<std::int64_t>& index,
                                               FourBits& bad) {
  Fours<FourBits> u, at;
  load_fours(number, u);
  load_fours(index, at);
  for (std::size_t v = 0; v < num_fours; ++v) {
    at[v] = at[v] + ((u[v] >> 1) ^ -(u[v] & 1));
    in_range<Grid>(at[v], bad);
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
