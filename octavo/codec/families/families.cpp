#include "octavo/codec/families.hpp"

#include <type_traits>

#include "octavo/codec/families/lanes.hpp"

namespace octavo::codec {

namespace {

/// Families at place j of their cells, with their known values. The operations are those of Lanes
/// (predict.hpp).
template <Base base, class Place>
struct Together {
  static constexpr bool by_value = base == Base::fitted_value, by_index = base == Base::fitted_index;
  using Number = std::conditional_t<by_index, std::uint64_t, double>;
  using Vector = std::conditional_t<by_index, FourBits, Four>;
  static constexpr bool signs_apart = std::is_same_v<Place, LogGrid> || std::is_same_v<Place, NoGrid>;

  const FamilyModel& model;
  const Place& grid;
  const Factors<Number> factors;
  const std::size_t m = model.place.members, w = model.place.width, axes = static_cast<std::size_t>(model.stencil.axes);
  Lane<std::size_t> first, turn;  ///< the first cell's number, and what turns the order of cells
  Lane<std::int64_t> parent_at;
  Lane<std::uint64_t> parent_negative;
  Lane<double> parent_value;
  std::array<Fours<Vector>, max_terms> difference;
  std::array<Fours<Four>, 8> weight;  ///< of the cells, if the model has weights

  [[gnu::always_inline]] Together(const FamilyModel& of, const Place& on)
      : model(of), grid(on), factors(factors_of<Number>(of.stencil)) {}

  std::size_t cell(std::size_t k, std::size_t lane) const { return first[lane] + (k ^ turn[lane]) * w; }

  [[gnu::always_inline]] void look_up(std::size_t family, std::size_t j) {
    const Numbers& coarse = model.coarse;
    std::array<Lane<Number>, 3> beside;
    for (std::size_t lane = 0; lane < families_together; ++lane) {
      const std::uint32_t parent = model.place.parents[family + lane];
      const std::size_t p = parent * w + j;
      first[lane] = (family + lane) * m * w + j;
      turn[lane] = parent & (m - 1);
      parent_at[lane] =
          coarse.kind[p] == ValueKind::plain ? coarse.index[p] : parent_index(model.place, coarse, parent, j);
      if constexpr (signs_apart) parent_negative[lane] = coarse.negative[p];
      parent_value[lane] = coarse.value[p];
      if constexpr (by_value || by_index)
        for (std::size_t a = 0; a < axes; ++a) {
          const std::size_t q = (parent ^ (std::size_t{1} << a)) * w + j;
          beside[a][lane] = q < coarse.size() ? sibling(q, lane) : Number{0};
        }
    }
    if constexpr (by_value || by_index)
      for (std::size_t a = 0; a < axes; ++a) load_fours(beside[a], difference[a]);
    if constexpr (by_value) look_up_weights(family);
  }
  [[gnu::always_inline]] void look_up_weights(std::size_t family) {
    for (std::size_t k = 0; !model.weights.empty() && k < m; ++k) {
      Lane<double> of_cells;
      for (std::size_t lane = 0; lane < families_together; ++lane)
        of_cells[lane] = model.weights[(family + lane) * m + (k ^ turn[lane])];
      load_fours(of_cells, weight[k]);
    }
  }
  [[gnu::always_inline]] Number sibling(std::size_t q, std::size_t lane) const {
    if constexpr (by_value) return model.coarse.value[q] - parent_value[lane];
    if (model.coarse.kind[q] != ValueKind::plain) return 0;
    return static_cast<Number>(wrapping_difference(model.coarse.index[q], parent_at[lane]));
  }

  /// The expected indices and signs of the k-th cells.
  [[gnu::always_inline]] void expect(std::size_t k, Lane<std::int64_t>& index, Lane<std::uint64_t>& negative) const {
    index = parent_at;
    if constexpr (signs_apart) negative = parent_negative;
    if constexpr (by_value)
      if (!model.weights.empty() && k + 1 == m) return balance(index, negative);
    if constexpr (by_value || by_index) {
      Fours<Vector> sum{};
      if constexpr (by_index) sum.fill(FourBits{} + 16);
      for (std::size_t r = 0; r < model.stencil.terms(k); ++r)
        for (std::size_t v = 0; v < num_fours; ++v) sum[v] = sum[v] + factors[k][r] * difference[r][v];
      if constexpr (by_value) {
        Fours<Four> value;
        load_fours(parent_value, value);
        for (std::size_t v = 0; v < num_fours; ++v) value[v] = value[v] + sum[v] * 0.03125;
        places_of(grid, value, index, negative);
      } else {
        Lane<std::int64_t> sums;
        store_fours(sum, sums);
        for (std::size_t lane = 0; lane < families_together; ++lane)
          index[lane] = wrapping_sum(index[lane], sums[lane] >> 5);
      }
    }
  }
  /// The same for last cells, which make the parent's value the mean by weights.
  [[gnu::always_inline]] void balance(Lane<std::int64_t>& index, Lane<std::uint64_t>& negative) const {
    const std::size_t last = m - 1;
    Fours<Four> sum{}, value;
    for (std::size_t k = 0; k < last; ++k)
      for (std::size_t v = 0; v < num_fours; ++v) sum[v] = sum[v] + weight[k][v] * difference[axes + k][v];
    load_fours(parent_value, value);
    for (std::size_t v = 0; v < num_fours; ++v) value[v] = value[v] - sum[v] / weight[last][v];
    places_of(grid, value, index, negative);
  }
  /// The indices and signs that the numbers of the k-th cells stand for.
  [[gnu::always_inline]] void decode(const Symbols& symbols, std::size_t k, Lane<std::int64_t>& index,
                                     Lane<std::uint64_t>& negative, FourBits& bad) const {
    Lane<std::uint64_t> number;
    expect(k, index, negative);
    for (std::size_t lane = 0; lane < families_together; ++lane) number[lane] = symbols.number[first[lane] + k * w];
    if constexpr (signs_apart) {
      if (model.with_sign)
        for (std::size_t lane = 0; lane < families_together; ++lane)
          negative[lane] ^= (symbols.symbol[first[lane] + k * w] - std::uint64_t{num_specials}) & 1;
      else
        negative = {};
    }
    add_numbers<Place>(model, number, index, bad);
  }
  /// Takes over the new indices or values of the k-th cells.
  template <class T>
  [[gnu::always_inline]] void follow(std::size_t k, const Lane<T>& number) {
    Fours<Vector> now, parent;
    load_fours(number, now);
    if constexpr (by_value)
      load_fours(parent_value, parent);
    else
      load_fours(parent_at, parent);
    for (std::size_t v = 0; v < num_fours; ++v) difference[axes + k][v] = now[v] - parent[v];
  }
};

}  // namespace

template <Base base, class Place>
OCTAVO_WIDE void residuals_together(const FamilyModel& model, const Place& grid, const Numbers& numbers,
                                    std::size_t begin, std::size_t end, Symbols& symbols) {
  Together<base, Place> together(model, grid);
  const std::size_t m = together.m, w = together.w;
  const bool with_sign = model.with_sign;
  std::array<Lane<std::int64_t>, 8> index;
  std::array<Lane<std::uint64_t>, 8> signs;
  std::array<Lane<double>, 8> value;
  Lane<std::int64_t> expected;
  Lane<std::uint64_t> negative, number, classes;
  for (std::size_t family = begin; family < end; family += families_together)
    for (std::size_t j = 0; j < w; ++j) {
      together.look_up(family, j);
      // All cells first: vectors that are loaded right after their numbers were stored one by one would wait.
      for (std::size_t k = 0; k < m; ++k)
        for (std::size_t lane = 0; lane < families_together; ++lane) {
          const std::size_t i = together.cell(k, lane);
          index[k][lane] = numbers.index[i];
          if (base == Base::fitted_value) value[k][lane] = numbers.value[i];
          if (with_sign) signs[k][lane] = numbers.negative[i];
        }
      for (std::size_t k = 0; k < m; ++k) {
        if constexpr (base == Base::fitted_value) together.follow(k, value[k]);
        if constexpr (base == Base::fitted_index) together.follow(k, index[k]);
      }
      for (std::size_t k = 0; k < m; ++k) {
        together.expect(k, expected, negative);
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

template <class Place>
OCTAVO_WIDE bool values_together(const FamilyModel& model, const Place& grid, const Symbols& symbols, std::size_t begin,
                                 std::size_t end, const Decoded& out) {
  Together<Base::fitted_value, Place> together(model, grid);
  Lane<std::int64_t> index;
  Lane<std::uint64_t> negative;
  Lane<double> value;
  FourBits bad{};
  for (std::size_t family = begin; family < end; family += families_together)
    for (std::size_t j = 0; j < together.w; ++j) {
      together.look_up(family, j);
      for (std::size_t k = 0; k < together.m; ++k) {
        together.decode(symbols, k, index, negative, bad);
        values_at(grid, out.floats != nullptr, index, negative, value);
        put_values<Place>([&](std::size_t lane) { return together.cell(k, lane); }, index, value, nullptr, out);
        together.follow(k, value);
      }
    }
  return !any_of(bad);
}

/// Decodes the indices of families_together families at place j.
template <Base base>
OCTAVO_WIDE void indices_together(const FamilyModel& model, const Symbols& symbols, std::size_t family, std::size_t j,
                                  FoundCells& found) {
  const NoGrid none;
  Together<base, NoGrid> together(model, none);
  together.look_up(family, j);
  for (std::size_t k = 0; k < together.m; ++k) {
    together.decode(symbols, k, found.index[k], found.negative[k], found.bad);
    for (std::size_t lane = 0; lane < families_together; ++lane) found.at[k][lane] = together.cell(k, lane);
    if constexpr (base == Base::fitted_index) together.follow(k, found.index[k]);
  }
}

template <class Place>
OCTAVO_WIDE void put_found(const Place& grid, std::size_t members, const FoundCells& found, const Numbers* specials,
                           const Decoded& out) {
  Lane<double> value;
  for (std::size_t k = 0; k < members; ++k) {
    values_at(grid, out.floats != nullptr, found.index[k], found.negative[k], value);
    put_values<Place>([&](std::size_t lane) { return found.at[k][lane]; }, found.index[k], value, specials, out);
  }
}
template void put_found(const ExactGrid<double>&, std::size_t, const FoundCells&, const Numbers*, const Decoded&);
template void put_found(const ExactGrid<float>&, std::size_t, const FoundCells&, const Numbers*, const Decoded&);
template void put_found(const LogGrid&, std::size_t, const FoundCells&, const Numbers*, const Decoded&);
template void put_found(const LinearGrid&, std::size_t, const FoundCells&, const Numbers*, const Decoded&);

template <class Grid>
void residuals_of(const Model<Grid>& model, const Numbers& numbers, std::size_t first, std::size_t last,
                  Symbols& symbols) {
  const FamilyModel families = untyped(model);
  if (model.base == Base::parent)
    residuals_together<Base::parent>(families, NoGrid(), numbers, first, last, symbols);
  else if (model.base == Base::fitted_index)
    residuals_together<Base::fitted_index>(families, NoGrid(), numbers, first, last, symbols);
  else
    residuals_together<Base::fitted_value>(families, untyped(model.grid), numbers, first, last, symbols);
}

template <class Grid>
bool values_of(const Model<Grid>& model, const Symbols& symbols, std::size_t first, std::size_t last,
               std::span<typename Grid::Value> out) {
  const FamilyModel families = untyped(model);
  if (model.base == Base::fitted_value)
    return values_together(families, untyped(model.grid), symbols, first, last, Decoded(out));
  FoundCells found;
  for (std::size_t family = first; family < last; family += families_together)
    for (std::size_t j = 0; j < model.place.width; ++j) {
      if (model.base == Base::parent)
        indices_together<Base::parent>(families, symbols, family, j, found);
      else
        indices_together<Base::fitted_index>(families, symbols, family, j, found);
      put_found(untyped(model.grid), model.place.members, found, nullptr, Decoded(out));
    }
  return !any_of(found.bad);
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
