#include "octavo/codec/families.hpp"

#include <type_traits>

#include "octavo/codec/families/lanes.hpp"

namespace octavo::codec {

namespace {

/// Families at place j of their cells, with their known values. The operations are those of Lanes
/// (predict.hpp).
template <class Grid, Base base>
struct Together {
  static constexpr bool by_value = base == Base::fitted_value, by_index = base == Base::fitted_index;
  using Number = std::conditional_t<by_index, std::uint64_t, double>;
  using Vector = std::conditional_t<by_index, FourBits, Four>;

  Lane<std::size_t> first, turn;  ///< the first cell's number, and what turns the order of cells
  Lane<std::int64_t> parent_at;
  Lane<std::uint64_t> parent_negative;
  Lane<double> parent_value;
  std::array<Fours<Vector>, max_terms> difference;
  std::array<Fours<Four>, 8> weight;  ///< of the cells, if the model has weights

  [[gnu::always_inline]] void look_up(const Model<Grid>& model, std::size_t family, std::size_t j) {
    const Families& place = model.place;
    const Numbers& coarse = model.coarse;
    const std::size_t m = place.members, w = place.width, axes = static_cast<std::size_t>(model.stencil.axes);
    std::array<Lane<Number>, 3> beside;
    for (std::size_t lane = 0; lane < families_together; ++lane) {
      const std::uint32_t parent = place.parents[family + lane];
      const std::size_t p = parent * w + j;
      first[lane] = (family + lane) * m * w + j;
      turn[lane] = parent & (m - 1);
      parent_at[lane] = coarse.kind[p] == ValueKind::plain ? coarse.index[p] : parent_index(place, coarse, parent, j);
      if constexpr (Grid::signs_apart) parent_negative[lane] = coarse.negative[p];
      parent_value[lane] = coarse.value[p];
      if constexpr (by_value || by_index)
        for (std::size_t a = 0; a < axes; ++a) {
          const std::size_t q = (parent ^ (std::size_t{1} << a)) * w + j;
          beside[a][lane] = q < coarse.size() ? sibling(coarse, q, lane) : Number{0};
        }
    }
    if constexpr (by_value || by_index)
      for (std::size_t a = 0; a < axes; ++a) load_fours(beside[a], difference[a]);
    if constexpr (by_value) look_up_weights(model, family);
  }
  [[gnu::always_inline]] void look_up_weights(const Model<Grid>& model, std::size_t family) {
    const std::size_t m = model.place.members;
    for (std::size_t k = 0; !model.weights.empty() && k < m; ++k) {
      Lane<double> of_cells;
      for (std::size_t lane = 0; lane < families_together; ++lane)
        of_cells[lane] = static_cast<double>(model.weights[(family + lane) * m + (k ^ turn[lane])]);
      load_fours(of_cells, weight[k]);
    }
  }
  [[gnu::always_inline]] Number sibling(const Numbers& coarse, std::size_t q, std::size_t lane) const {
    if constexpr (by_value) return coarse.value[q] - parent_value[lane];
    if (coarse.kind[q] != ValueKind::plain) return 0;
    return static_cast<Number>(wrapping_difference(coarse.index[q], parent_at[lane]));
  }

  /// The expected indices and signs of the k-th cells.
  [[gnu::always_inline]] void expect(const Model<Grid>& model, const Factors<Number>& factors, std::size_t k,
                                     Lane<std::int64_t>& index, Lane<std::uint64_t>& negative) const {
    index = parent_at;
    if constexpr (Grid::signs_apart) negative = parent_negative;
    if constexpr (by_value)
      if (!model.weights.empty() && k + 1 == model.place.members) return balance(model, index, negative);
    if constexpr (by_value || by_index) {
      Fours<Vector> sum{};
      if constexpr (by_index) sum.fill(FourBits{} + 16);
      for (std::size_t r = 0; r < model.stencil.terms(k); ++r)
        for (std::size_t v = 0; v < num_fours; ++v) sum[v] = sum[v] + factors[k][r] * difference[r][v];
      if constexpr (by_value) {
        Fours<Four> value;
        load_fours(parent_value, value);
        for (std::size_t v = 0; v < num_fours; ++v) value[v] = value[v] + sum[v] * 0.03125;
        places_of(model.grid, value, index, negative);
      } else {
        Lane<std::int64_t> sums;
        store_fours(sum, sums);
        for (std::size_t lane = 0; lane < families_together; ++lane)
          index[lane] = wrapping_sum(index[lane], sums[lane] >> 5);
      }
    }
  }
  /// The same for last cells, which make the parent's value the mean by weights.
  [[gnu::always_inline]] void balance(const Model<Grid>& model, Lane<std::int64_t>& index,
                                      Lane<std::uint64_t>& negative) const {
    const std::size_t axes = static_cast<std::size_t>(model.stencil.axes), last = model.place.members - 1;
    Fours<Four> sum{}, value;
    for (std::size_t k = 0; k < last; ++k)
      for (std::size_t v = 0; v < num_fours; ++v) sum[v] = sum[v] + weight[k][v] * difference[axes + k][v];
    load_fours(parent_value, value);
    for (std::size_t v = 0; v < num_fours; ++v) value[v] = value[v] - sum[v] / weight[last][v];
    places_of(model.grid, value, index, negative);
  }
  /// Takes over the new values of the k-th cells.
  [[gnu::always_inline]] void follow(std::size_t row, const Lane<std::int64_t>& index, const Lane<double>& value) {
    if constexpr (by_value) {
      Fours<Four> now, parent;
      load_fours(value, now);
      load_fours(parent_value, parent);
      for (std::size_t v = 0; v < num_fours; ++v) difference[row][v] = now[v] - parent[v];
    } else if constexpr (by_index) {
      Fours<FourBits> now, parent;
      load_fours(index, now);
      load_fours(parent_at, parent);
      for (std::size_t v = 0; v < num_fours; ++v) difference[row][v] = now[v] - parent[v];
    }
  }
};

template <Base base, class Grid>
[[gnu::always_inline]] inline void residuals_by(const Model<Grid>& model, const Numbers& numbers, std::size_t begin,
                                                std::size_t end, Symbols& symbols) {
  const std::size_t m = model.place.members, w = model.place.width, axes = static_cast<std::size_t>(model.stencil.axes);
  const bool with_sign = model.alphabet() == Alphabet::signed_numbers;
  const auto factors = factors_of<typename Together<Grid, base>::Number>(model.stencil);
  Together<Grid, base> together;
  std::array<Lane<std::int64_t>, 8> index;
  std::array<Lane<std::uint64_t>, 8> signs;
  std::array<Lane<double>, 8> value;
  Lane<std::int64_t> expected;
  Lane<std::uint64_t> negative{}, number, classes;
  for (std::size_t family = begin; family < end; family += families_together)
    for (std::size_t j = 0; j < w; ++j) {
      together.look_up(model, family, j);
      // All cells first: vectors that are loaded right after their numbers were stored one by one would wait.
      for (std::size_t k = 0; k < m; ++k)
        for (std::size_t lane = 0; lane < families_together; ++lane) {
          const std::size_t i = together.first[lane] + (k ^ together.turn[lane]) * w;
          index[k][lane] = numbers.index[i];
          if (base == Base::fitted_value) value[k][lane] = numbers.value[i];
          if (with_sign) signs[k][lane] = numbers.negative[i];
        }
      for (std::size_t k = 0; k < m; ++k) together.follow(axes + k, index[k], value[k]);
      for (std::size_t k = 0; k < m; ++k) {
        together.expect(model, factors, k, expected, negative);
        numbers_of(index[k], expected, number, classes);
        for (std::size_t lane = 0; lane < families_together; ++lane) {
          const std::size_t t = together.first[lane] + k * w;
          const std::uint64_t c = with_sign ? 2 * classes[lane] + (signs[k][lane] ^ negative[lane]) : classes[lane];
          symbols.symbol[t] = static_cast<std::uint8_t>(num_specials + c);
          symbols.number[t] = number[lane];
        }
      }
    }
}

template <Base base, class Grid>
[[gnu::always_inline]] inline bool values_by(const Model<Grid>& model, const Symbols& symbols, std::size_t begin,
                                             std::size_t end, std::span<typename Grid::Value> out) {
  const std::size_t m = model.place.members, w = model.place.width, axes = static_cast<std::size_t>(model.stencil.axes);
  const bool with_sign = model.alphabet() == Alphabet::signed_numbers;
  const auto factors = factors_of<typename Together<Grid, base>::Number>(model.stencil);
  Together<Grid, base> together;
  Lane<std::int64_t> index;
  Lane<std::uint64_t> negative{};
  Lane<double> value;
  Lane<typename Grid::Value> found;
  Lane<std::uint64_t> number;
  FourBits bad{};
  for (std::size_t family = begin; family < end; family += families_together)
    for (std::size_t j = 0; j < w; ++j) {
      together.look_up(model, family, j);
      for (std::size_t k = 0; k < m; ++k) {
        together.expect(model, factors, k, index, negative);
        for (std::size_t lane = 0; lane < families_together; ++lane) {
          const std::size_t t = together.first[lane] + k * w;
          number[lane] = symbols.number[t];
          if (with_sign) negative[lane] ^= (symbols.symbol[t] - std::uint64_t{num_specials}) & 1;
        }
        if (Grid::signs_apart && !with_sign) negative = {};
        add_numbers<Grid>(number, index, bad);
        values_at(model.grid, index, negative, found);
        for (std::size_t lane = 0; lane < families_together; ++lane) {
          out[together.first[lane] + (k ^ together.turn[lane]) * w] = found[lane];
          value[lane] = static_cast<double>(found[lane]);
        }
        together.follow(axes + k, index, value);
      }
    }
  return (bad[0] | bad[1] | bad[2] | bad[3]) == 0;
}

}  // namespace

template <class Grid>
OCTAVO_WIDE void residuals_of(const Model<Grid>& model, const Numbers& numbers, std::size_t first, std::size_t last,
                              Symbols& symbols) {
  if (model.base == Base::parent)
    residuals_by<Base::parent>(model, numbers, first, last, symbols);
  else if (model.base == Base::fitted_index)
    residuals_by<Base::fitted_index>(model, numbers, first, last, symbols);
  else
    residuals_by<Base::fitted_value>(model, numbers, first, last, symbols);
}

template <class Grid>
OCTAVO_WIDE bool values_of(const Model<Grid>& model, const Symbols& symbols, std::size_t first, std::size_t last,
                           std::span<typename Grid::Value> out) {
  if (model.base == Base::parent) return values_by<Base::parent>(model, symbols, first, last, out);
  if (model.base == Base::fitted_index) return values_by<Base::fitted_index>(model, symbols, first, last, out);
  return values_by<Base::fitted_value>(model, symbols, first, last, out);
}

template void residuals_of(const Model<ExactGrid<double>>&, const Numbers&, std::size_t, std::size_t, Symbols&);
template void residuals_of(const Model<ExactGrid<float>>&, const Numbers&, std::size_t, std::size_t, Symbols&);
template void residuals_of(const Model<PointwiseGrid<double>>&, const Numbers&, std::size_t, std::size_t, Symbols&);
template void residuals_of(const Model<PointwiseGrid<float>>&, const Numbers&, std::size_t, std::size_t, Symbols&);
template void residuals_of(const Model<AbsoluteGrid<double>>&, const Numbers&, std::size_t, std::size_t, Symbols&);
template void residuals_of(const Model<AbsoluteGrid<float>>&, const Numbers&, std::size_t, std::size_t, Symbols&);
template bool values_of(const Model<ExactGrid<double>>&, const Symbols&, std::size_t, std::size_t, std::span<double>);
template bool values_of(const Model<ExactGrid<float>>&, const Symbols&, std::size_t, std::size_t, std::span<float>);
template bool values_of(const Model<PointwiseGrid<double>>&, const Symbols&, std::size_t, std::size_t,
                        std::span<double>);
template bool values_of(const Model<PointwiseGrid<float>>&, const Symbols&, std::size_t, std::size_t, std::span<float>);
template bool values_of(const Model<AbsoluteGrid<double>>&, const Symbols&, std::size_t, std::size_t,
                        std::span<double>);
template bool values_of(const Model<AbsoluteGrid<float>>&, const Symbols&, std::size_t, std::size_t, std::span<float>);

}  // namespace octavo::codec
