#include "octavo/codec/families.hpp"
#include "octavo/codec/families/lanes.hpp"

/// Child after child of all families: none waits for another one of its kind, so any families can be taken together,
/// and each child knows its neighbours at both sides that are of an earlier kind (docs/codecs.md, "Sides").
namespace octavo::codec {

namespace {

/// Rows of numbers with an entry for each slot: a family at a place of its cells. There are entries up to a multiple of
/// families_together. Kept from chunk to chunk, as Scratch is.
template <class Number>
struct SlotRows {
  std::size_t padded = 0;
  Room<Number> child, begun;        ///< rows, in order of visit: values; what a stencil makes of the parent's faces
  Room<Number> parent, upper_face;  ///< what differences are to; rows: those at upper faces of parents
  Room<std::int64_t> parent_at;
  Room<std::uint64_t> parent_negative;
  Room<std::uint32_t> upper;  ///< rows: the slot at the upper face along each axis; this one where there is none

  void resize(std::size_t slots, std::size_t axes, std::size_t members, bool encodes) {
    padded = (slots + families_together - 1) / families_together * families_together;
    child.resize(members * padded);
    begun.resize(encodes ? members * padded : 0);
    parent.resize(padded);
    upper_face.resize(axes * padded);
    parent_at.resize(padded);
    parent_negative.resize(padded);
    upper.resize(axes * padded);
  }
};

/// The entries of a row from `from` on.
template <class T, class To>
[[gnu::always_inline]] inline void load_row(const T* from, To& to) {
  std::memcpy(to.data(), from, sizeof to);
}

/// All slots of a chunk. Differences are those of values, or of indices modulo 2^64.
template <class Grid, Base base>
struct FamilySlots {
  static constexpr bool by_value = base == Base::fitted_value;
  using Number = std::conditional_t<by_value, double, std::uint64_t>;
  using Vector = std::conditional_t<by_value, Four, FourBits>;
  using Faces = std::array<Lane<Number>, 6>;  ///< lower and upper along each axis

  const Model<Grid>& model;
  std::size_t m, w, axes, count;
  SlotRows<Number>& rows;
  Factors<Number> factors;
  std::array<std::uint8_t, 8> cell{};  ///< visited k-th
  Number *child_rows, *begun_rows;     ///< a decoder's are the same: a value comes in place of its beginning

  static SlotRows<Number>& kept() {
    thread_local SlotRows<Number> space;
    return space;
  }
  [[gnu::always_inline]] FamilySlots(const Model<Grid>& of, bool encodes)
      : model(of),
        m(of.place.members),
        w(of.place.width),
        axes(static_cast<std::size_t>(of.stencil.axes)),
        count(of.place.families() * w),
        rows(kept()),
        factors(factors_of<Number>(of.stencil)) {
    rows.resize(count, axes, m, encodes);
    child_rows = rows.child.data();
    begun_rows = encodes ? rows.begun.data() : child_rows;
    for (std::size_t k = 0; k < m; ++k) cell[k] = static_cast<std::uint8_t>(cell_by_sides(k, m));
    std::size_t family = 0, j = 0;
    for (std::size_t slot = 0; slot < rows.padded; slot += families_together) {
      Faces faces;
      for (std::size_t lane = 0; lane < families_together; ++lane) {
        look_up(slot + lane, lane, family, j, faces);
        if (slot + lane + 1 >= count) continue;  // slots behind the last one repeat it
        j = j + 1 == w ? 0 : j + 1;
        family += j == 0 ? 1 : 0;
      }
      begin(slot, faces);
    }
  }

  Number* child(std::size_t k) const { return child_rows + k * rows.padded; }
  /// The number of a family's first cell.
  std::size_t first(std::size_t slot) const { return w == 1 ? slot * m : slot / w * m * w + slot % w; }

  Number of_coarse(std::size_t at, std::size_t j, Number parent) const {
    const Numbers& coarse = model.coarse;
    const std::size_t q = at * w + j;
    if (q >= coarse.size()) return 0;
    if constexpr (by_value)
      return coarse.value[q] - parent;
    else
      return coarse.kind[q] == ValueKind::plain ? static_cast<Number>(coarse.index[q]) - parent : 0;
  }
  [[gnu::always_inline]] void look_up(std::size_t slot, std::size_t lane, std::size_t family, std::size_t j,
                                      Faces& faces) const {
    const Numbers& coarse = model.coarse;
    const std::uint32_t at = model.place.parents[family];
    const std::size_t p = at * w + j;
    const Sides& sides = model.place.sides[family];
    const std::int64_t index =
        coarse.kind[p] == ValueKind::plain ? coarse.index[p] : parent_index(model.place, coarse, at, j);
    Number parent;
    if constexpr (by_value)
      parent = coarse.value[p];
    else
      parent = static_cast<Number>(index);
    rows.parent[slot] = parent;
    rows.parent_at[slot] = index;
    rows.parent_negative[slot] = coarse.negative[p];
    for (std::size_t a = 0; a < axes; ++a) {
      const Number inner = of_coarse(at ^ (std::size_t{1} << a), j, parent);
      const Number outer = sides.outer[a] == at ? -inner : of_coarse(sides.outer[a], j, parent);
      const bool up = (at >> a & 1) != 0;
      faces[2 * a][lane] = up ? inner : outer;
      faces[2 * a + 1][lane] = up ? outer : inner;
      rows.upper_face[a * rows.padded + slot] = faces[2 * a + 1][lane];
      rows.upper[a * rows.padded + slot] =
          static_cast<std::uint32_t>(sides.upper[a] == family ? slot : sides.upper[a] * w + j);
    }
  }
  /// The part of all sums that the faces give.
  [[gnu::always_inline]] void begin(std::size_t slot, const Faces& faces) const {
    std::array<Fours<Vector>, 6> face;
    for (std::size_t r = 0; r < 2 * axes; ++r) load_fours(faces[r], face[r]);
    for (std::size_t k = 0; k < m; ++k) {
      Fours<Vector> sum{};
      if constexpr (!by_value) sum.fill(FourBits{} + 16);
      for (std::size_t r = 0; r < 2 * axes; ++r)
        for (std::size_t v = 0; v < num_fours; ++v) sum[v] = sum[v] + factors[k][r] * face[r][v];
      std::memcpy(begun_rows + k * rows.padded + slot, sum.data(), sizeof sum);
    }
  }
  /// Takes over a value that is known.
  [[gnu::always_inline]] void know(std::size_t k, std::size_t slot, const Numbers& numbers, std::size_t i) const {
    if constexpr (by_value)
      child(k)[slot] = numbers.value[i];
    else
      child(k)[slot] = numbers.kind[i] == ValueKind::plain ? static_cast<Number>(numbers.index[i]) : rows.parent[slot];
  }

  /// The difference from a slot's parent to the value beside the child at the upper face; three quarters of that to
  /// the parent's face where there is no family.
  [[gnu::always_inline]] static Number beside(const Number* from, std::size_t upper, std::size_t slot, Number parent,
                                              Number face) {
    Number on_the_way;
    if constexpr (by_value)
      on_the_way = 0.75 * face;
    else
      on_the_way = face - static_cast<Number>(static_cast<std::int64_t>(face) >> 2);
    return upper != slot ? from[upper] - parent : on_the_way;
  }
  /// The weighted differences of the k-th children from `slot` on.
  [[gnu::always_inline]] void weigh(std::size_t slot, std::size_t k, Fours<Vector>& sum) const {
    Fours<Vector> known, parents;
    load_row(begun_rows + k * rows.padded + slot, sum);
    const Number* const parent = rows.parent.data() + slot;
    std::size_t r = 2 * axes;
    for (std::size_t a = 0; a < axes; ++a) {
      if ((cell[k] >> a & 1) == 0) continue;
      // A child's place among those visited is also its number among them, and the other way round.
      const Number* const from = child(cell_by_sides(cell[k] ^ (std::size_t{1} << a), m));
      const Number* const face = rows.upper_face.data() + a * rows.padded + slot;
      const std::uint32_t* const upper = rows.upper.data() + a * rows.padded + slot;
      for (std::size_t v = 0; v < num_fours; ++v) {
        Vector d;
        for (std::size_t n = 0, lane = 4 * v; n < 4; ++n, ++lane)
          d[n] = beside(from, upper[lane], slot + lane, parent[lane], face[lane]);
        sum[v] = sum[v] + factors[k][r] * d;
      }
      ++r;
    }
    load_row(parent, parents);
    for (std::size_t before = 0; before < k; ++before, ++r) {
      load_row(child(before) + slot, known);
      for (std::size_t v = 0; v < num_fours; ++v) sum[v] = sum[v] + factors[k][r] * (known[v] - parents[v]);
    }
  }
  /// The last children's values that make the parent's the mean by weights.
  [[gnu::always_inline]] void balance(std::size_t slot, Fours<Four>& value) const {
    Fours<Four> sum{}, known, weight;
    const auto load_weights = [&](std::size_t k) __attribute__((always_inline)) {
      for (std::size_t v = 0; v < num_fours; ++v)
        for (std::size_t n = 0; n < 4; ++n) {
          const std::size_t at = std::min(slot + 4 * v + n, count - 1);
          weight[v][n] = static_cast<double>(model.weights[(w == 1 ? at : at / w) * m + cell[k]]);
        }
    };
    for (std::size_t k = 0; k + 1 < m; ++k) {
      load_row(child(k) + slot, known);
      load_weights(k);
      for (std::size_t v = 0; v < num_fours; ++v) sum[v] = sum[v] + weight[v] * (known[v] - value[v]);
    }
    load_weights(m - 1);
    for (std::size_t v = 0; v < num_fours; ++v) value[v] = value[v] - sum[v] / weight[v];
  }
  /// The expected indices and signs of the k-th children from `slot` on.
  [[gnu::always_inline]] void expect(std::size_t slot, std::size_t k, Lane<std::int64_t>& index,
                                     Lane<std::uint64_t>& negative) const {
    load_row(rows.parent_at.data() + slot, index);
    load_row(rows.parent_negative.data() + slot, negative);
    Fours<Vector> sum;
    if constexpr (by_value) {
      Fours<Four> value;
      load_row(rows.parent.data() + slot, value);
      if (!model.weights.empty() && k + 1 == m) {
        balance(slot, value);
      } else {
        weigh(slot, k, sum);
        for (std::size_t v = 0; v < num_fours; ++v) value[v] = value[v] + sum[v] * 0.03125;
      }
      places_of(model.grid, value, index, negative);
    } else {
      Lane<std::int64_t> sums;
      weigh(slot, k, sum);
      store_fours(sum, sums);
      for (std::size_t lane = 0; lane < families_together; ++lane)
        index[lane] = wrapping_sum(index[lane], sums[lane] >> 5);
    }
  }
};

template <Base base, class Grid>
[[gnu::always_inline]] inline void residuals_of_slots(const Model<Grid>& model, const Numbers& numbers,
                                                      Symbols& symbols) {
  const FamilySlots<Grid, base> slots(model, true);
  const std::size_t m = slots.m, w = slots.w;
  const bool with_sign = model.alphabet() == Alphabet::signed_numbers;
  for (std::size_t slot = 0; slot < slots.rows.padded; ++slot) {
    const std::size_t first = slots.first(std::min(slot, slots.count - 1));
    for (std::size_t k = 0; k < m; ++k) slots.know(k, slot, numbers, first + slots.cell[k] * w);
  }
  Lane<std::int64_t> expected;
  Lane<std::uint64_t> negative;
  for (std::size_t slot = 0; slot < slots.count; slot += families_together)
    for (std::size_t k = 0; k < m; ++k) {
      slots.expect(slot, k, expected, negative);
      for (std::size_t lane = 0; lane < std::min(families_together, slots.count - slot); ++lane) {
        const std::size_t first = slots.first(slot + lane), i = first + slots.cell[k] * w, t = first + k * w;
        if (Grid::has_specials && numbers.kind[i] != ValueKind::plain) {
          symbols.symbol[t] = static_cast<std::uint8_t>(static_cast<int>(numbers.kind[i]) - 1);
          continue;
        }
        const std::uint64_t u = zigzag(wrapping_difference(numbers.index[i], expected[lane]));
        const unsigned flip = with_sign && numbers.negative[i] != negative[lane] ? 1u : 0u, c = class_of(u);
        symbols.symbol[t] = static_cast<std::uint8_t>(num_specials + (with_sign ? 2 * c + flip : c));
        symbols.number[t] = u;
      }
    }
}

template <Base base, class Grid>
[[gnu::always_inline]] inline bool values_of_slots(const Model<Grid>& model, const Symbols& symbols,
                                                   const Numbers& numbers, std::span<typename Grid::Value> out) {
  const FamilySlots<Grid, base> slots(model, false);
  const std::size_t m = slots.m, w = slots.w;
  const bool with_sign = model.alphabet() == Alphabet::signed_numbers;
  Lane<std::int64_t> index;
  Lane<std::uint64_t> negative, number{};
  Lane<typename Grid::Value> found;
  FourBits bad{};
  for (std::size_t k = 0; k < m; ++k)
    for (std::size_t slot = 0; slot < slots.count; slot += families_together) {
      const std::size_t lanes = std::min(families_together, slots.count - slot), to_child = slots.cell[k] * w;
      slots.expect(slot, k, index, negative);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const std::size_t t = slots.first(slot + lane) + k * w;
        const bool special = Grid::has_specials && symbols.symbol[t] < num_specials;
        // An index in range stands for a special value until that is taken over again below.
        number[lane] = special ? 0 : symbols.number[t];
        if (special) index[lane] = 0;
        if (with_sign) negative[lane] ^= (symbols.symbol[t] - std::uint64_t{num_specials}) & 1;
      }
      for (std::size_t lane = lanes; lane < families_together; ++lane) index[lane] = 0;
      if (Grid::signs_apart && !with_sign) negative = {};
      add_numbers<Grid>(number, index, bad);
      values_at(model.grid, index, negative, found);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const std::size_t i = slots.first(slot + lane) + to_child;
        if (Grid::has_specials && numbers.kind[i] != ValueKind::plain) {
          slots.know(k, slot + lane, numbers, i);
          continue;
        }
        out[i] = found[lane];
        if constexpr (FamilySlots<Grid, base>::by_value)
          slots.child(k)[slot + lane] = static_cast<double>(found[lane]);
        else
          slots.child(k)[slot + lane] = static_cast<std::uint64_t>(index[lane]);
      }
    }
  return (bad[0] | bad[1] | bad[2] | bad[3]) == 0;
}

}  // namespace

template <class Grid>
OCTAVO_WIDE void residuals_by_sides(const Model<Grid>& model, const Numbers& numbers, Symbols& symbols) {
  if (model.base == Base::fitted_index) return residuals_of_slots<Base::fitted_index>(model, numbers, symbols);
  residuals_of_slots<Base::fitted_value>(model, numbers, symbols);
}

template <class Grid>
OCTAVO_WIDE bool values_by_sides(const Model<Grid>& model, const Symbols& symbols, const Numbers& numbers,
                                 std::span<typename Grid::Value> out) {
  if (model.base == Base::fitted_index) return values_of_slots<Base::fitted_index>(model, symbols, numbers, out);
  return values_of_slots<Base::fitted_value>(model, symbols, numbers, out);
}

template void residuals_by_sides(const Model<ExactGrid<double>>&, const Numbers&, Symbols&);
template void residuals_by_sides(const Model<ExactGrid<float>>&, const Numbers&, Symbols&);
template void residuals_by_sides(const Model<PointwiseGrid<double>>&, const Numbers&, Symbols&);
template void residuals_by_sides(const Model<PointwiseGrid<float>>&, const Numbers&, Symbols&);
template void residuals_by_sides(const Model<AbsoluteGrid<double>>&, const Numbers&, Symbols&);
template void residuals_by_sides(const Model<AbsoluteGrid<float>>&, const Numbers&, Symbols&);
template bool values_by_sides(const Model<ExactGrid<double>>&, const Symbols&, const Numbers&, std::span<double>);
template bool values_by_sides(const Model<ExactGrid<float>>&, const Symbols&, const Numbers&, std::span<float>);
template bool values_by_sides(const Model<PointwiseGrid<double>>&, const Symbols&, const Numbers&, std::span<double>);
template bool values_by_sides(const Model<PointwiseGrid<float>>&, const Symbols&, const Numbers&, std::span<float>);
template bool values_by_sides(const Model<AbsoluteGrid<double>>&, const Symbols&, const Numbers&, std::span<double>);
template bool values_by_sides(const Model<AbsoluteGrid<float>>&, const Symbols&, const Numbers&, std::span<float>);

}  // namespace octavo::codec
