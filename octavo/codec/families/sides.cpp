#include <type_traits>

#include "octavo/codec/families.hpp"
#include "octavo/codec/families/lanes.hpp"

/// Child after child of all families: none waits for another one of its kind, so any families can be taken together,
/// and each child knows its neighbours at both sides that are of an earlier kind (docs/codecs.md, "Sides").
namespace octavo::codec {

namespace {

/// A difference to the parent that a stencil weighs: of the cell beside a child, in the family at the upper face.
struct CellBeside {
  std::size_t axis, cell;
};
/// Those of all children, in order of visit; the k-th has [begin[k], begin[k + 1]) of them.
struct CellsBeside {
  std::array<CellBeside, 12> all{};
  std::array<std::uint8_t, 9> begin{};
};
CellsBeside cells_beside(std::size_t members) {
  CellsBeside cells;
  std::uint8_t count = 0;
  for (std::size_t k = 0; k < members; ++k) {
    const std::size_t cell = cell_by_sides(k, members);
    for (std::size_t a = 0; a < 3; ++a)
      if ((cell >> a & 1) != 0) cells.all[count++] = {a, cell ^ (std::size_t{1} << a)};
    cells.begin[k + 1] = count;
  }
  return cells;
}

/// The numbers whose differences a stencil weighs: values, or indices modulo 2^64. Where all indices are near 0,
/// doubles hold every sum of them exactly, and are multiplied several times as fast.
enum class Weighs : std::uint8_t { values, indices, near_indices };
constexpr double near_limit = 0x1p40;

/// Whether the indices of all decoded values are near. Only point-wise grids weigh indices of their own accord.
template <class Grid>
bool has_near_indices(const Model<Grid>& model) {
  if constexpr (Grid::signs_apart)
    return model.grid.grid.inverse < 0x1p29;
  else
    return false;
}

/// The numbers that predictions begin with, and the weights.
template <Weighs weighs>
struct SideStencil {
  static constexpr bool by_value = weighs == Weighs::values, near = weighs == Weighs::near_indices;
  using Number = std::conditional_t<weighs == Weighs::indices, std::uint64_t, double>;
  using Vector = std::conditional_t<weighs == Weighs::indices, FourBits, Four>;

  const FamilyModel& model;
  std::size_t m, w, axes;
  Factors<Number> factors;
  std::array<std::uint8_t, 8> cell{};  ///< visited k-th
  CellsBeside beside;

  explicit SideStencil(const FamilyModel& of)
      : model(of),
        m(of.place.members),
        w(of.place.width),
        axes(static_cast<std::size_t>(of.stencil.axes)),
        factors(factors_of<Number>(of.stencil)),
        beside(cells_beside(m)) {
    for (std::size_t k = 0; k < m; ++k) cell[k] = static_cast<std::uint8_t>(cell_by_sides(k, m));
  }

  bool balances(std::size_t k) const { return by_value && !model.weights.empty() && k + 1 == m; }

  [[gnu::always_inline]] std::int64_t index_of_parent(std::size_t family, std::size_t j) const {
    const std::uint32_t at = model.place.parents[family];
    const std::size_t p = at * w + j;
    return model.coarse.kind[p] == ValueKind::plain ? model.coarse.index[p]
                                                    : parent_index(model.place, model.coarse, at, j);
  }
  [[gnu::always_inline]] Number of_coarse(std::size_t at, std::size_t j, Number parent) const {
    const Numbers& coarse = model.coarse;
    const std::size_t q = at * w + j;
    if (q >= coarse.size()) return 0;
    if constexpr (by_value)
      return coarse.value[q] - parent;
    else
      return coarse.kind[q] == ValueKind::plain ? number_of(coarse.index[q]) - parent : Number{0};
  }
  static Number number_of(std::int64_t index) { return static_cast<Number>(index); }
  /// Value i of a family, that of its parent where it has no index.
  [[gnu::always_inline]] Number known(const Numbers& numbers, std::size_t family, std::size_t i, std::size_t j) const {
    if constexpr (by_value)
      return numbers.value[i];
    else
      return number_of(numbers.kind[i] == ValueKind::plain ? numbers.index[i] : index_of_parent(family, j));
  }
  /// The difference to a cell beside a child that is not there: three quarters of that to the parent's face.
  [[gnu::always_inline]] static Number on_the_way(Number face) {
    if constexpr (by_value)
      return 0.75 * face;
    else
      return face - number_of(static_cast<std::int64_t>(face) >> 2);
  }
  [[gnu::always_inline]] static void on_the_way(const Vector& face, Vector& result) {
    if constexpr (by_value) {
      result = 0.75 * face;
    } else if constexpr (near) {
      FourBits quarter;
      floor_of_four(0.25 * face, quarter);
      double_of_four(quarter, result);
      result = face - result;
    } else {
      result = face - (FourBits)((FourInts)face >> 2);
    }
  }
};

/// The parents of families, and the differences to the cells at the parents' faces: lower and upper along each axis.
template <class Number>
struct ParentLanes {
  Lane<Number> parent;
  Lane<std::int64_t> at;
  Lane<std::uint64_t> negative;
  std::array<Lane<Number>, 6> face;

  template <class Rules>
  [[gnu::always_inline]] void look_up(const Rules& rules, std::size_t lane, std::size_t family, std::size_t j) {
    const Numbers& coarse = rules.model.coarse;
    const std::uint32_t cell = rules.model.place.parents[family];
    const std::size_t p = cell * rules.w + j;
    const Sides& sides = rules.model.place.sides[family];
    at[lane] = rules.index_of_parent(family, j);
    negative[lane] = coarse.negative[p];
    Number own;
    if constexpr (Rules::by_value)
      own = coarse.value[p];
    else
      own = Rules::number_of(at[lane]);
    parent[lane] = own;
    for (std::size_t a = 0; a < rules.axes; ++a) {
      const Number inner = rules.of_coarse(cell ^ (std::size_t{1} << a), j, own);
      const Number outer = sides.outer[a] == cell ? -inner : rules.of_coarse(sides.outer[a], j, own);
      const bool up = (cell >> a & 1) != 0;
      face[2 * a][lane] = up ? inner : outer;
      face[2 * a + 1][lane] = up ? outer : inner;
    }
  }
  /// The part of the k-th children's sums that the faces give.
  template <class Rules, class Vector>
  [[gnu::always_inline]] void begin(const Rules& rules, std::size_t k, Fours<Vector>& sum) const {
    sum = {};
    if constexpr (!Rules::by_value) sum.fill(Vector{} + 16);
    for (std::size_t r = 0; r < 2 * rules.axes; ++r) {
      Fours<Vector> d;
      load_fours(face[r], d);
      for (std::size_t v = 0; v < num_fours; ++v) sum[v] = sum[v] + rules.factors[k][r] * d[v];
    }
  }
};

/// The expected indices and signs of children from the weighted sums of differences, or from the values that balance.
template <class Rules, class Place, class Vector>
[[gnu::always_inline]] inline void places_from(const Place& grid, const Fours<Vector>& sum, const Fours<Vector>& parent,
                                               Lane<std::int64_t>& index, Lane<std::uint64_t>& negative) {
  if constexpr (Rules::by_value) {
    Fours<Four> value;
    for (std::size_t v = 0; v < num_fours; ++v) value[v] = parent[v] + sum[v] * 0.03125;
    places_of(grid, value, index, negative);
  } else {
    Fours<FourBits> at;
    load_fours(index, at);
    for (std::size_t v = 0; v < num_fours; ++v) {
      FourBits steps;
      if constexpr (Rules::near)
        floor_of_four(sum[v] * 0.03125, steps);
      else
        steps = (FourBits)((FourInts)sum[v] >> 5);
      at[v] = at[v] + steps;
    }
    store_fours(at, index);
  }
}

/// The last children's values that make the parent's the mean by weights. `differences(k, d)` gives the k-th ones'.
template <class Rules, class FamilyOf, class Differences>
[[gnu::always_inline]] inline void balance(const Rules& rules, const FamilyOf& family_of, Differences&& differences,
                                           Fours<Four>& value) {
  Fours<Four> sum{}, d, weight;
  const auto load_weights = [&](std::size_t k) __attribute__((always_inline)) {
    for (std::size_t v = 0; v < num_fours; ++v)
      for (std::size_t n = 0; n < 4; ++n)
        weight[v][n] = rules.model.weights[family_of(4 * v + n) * rules.m + rules.cell[k]];
  };
  for (std::size_t k = 0; k + 1 < rules.m; ++k) {
    differences(k, d);
    load_weights(k);
    for (std::size_t v = 0; v < num_fours; ++v) sum[v] = sum[v] + weight[v] * d[v];
  }
  load_weights(rules.m - 1);
  for (std::size_t v = 0; v < num_fours; ++v) value[v] = value[v] - sum[v] / weight[v];
}

/// Some families of an encoder, which knows all values.
template <Weighs weighs>
struct KnownFamilies {
  using Rules = SideStencil<weighs>;
  using Number = typename Rules::Number;
  using Vector = typename Rules::Vector;

  const Rules& rules;
  const Lane<std::uint32_t>& family;
  ParentLanes<Number> above;
  std::array<Lane<Number>, 8> child;    ///< differences, in order of visit
  std::array<Lane<Number>, 12> beside;  ///< those of Rules::beside

  [[gnu::always_inline]] KnownFamilies(const Rules& by, const Numbers& numbers, const Lane<std::uint32_t>& families,
                                       std::size_t j)
      : rules(by), family(families) {
    const std::size_t m = rules.m, w = rules.w, num_beside = rules.beside.begin[m];
    for (std::size_t lane = 0; lane < families_together; ++lane) {
      const std::size_t own = family[lane];
      above.look_up(rules, lane, own, j);
      const Number parent = above.parent[lane];
      for (std::size_t k = 0; k < m; ++k)
        child[k][lane] = rules.known(numbers, own, (own * m + rules.cell[k]) * w + j, j) - parent;
      const Sides& sides = rules.model.place.sides[own];
      for (std::size_t b = 0; b < num_beside; ++b) {
        const auto [axis, cell] = rules.beside.all[b];
        const std::size_t upper = sides.upper[axis];
        beside[b][lane] = upper == own ? Rules::on_the_way(above.face[2 * axis + 1][lane])
                                       : rules.known(numbers, upper, (upper * m + cell) * w + j, j) - parent;
      }
    }
  }
  /// The expected indices and signs of the k-th children.
  template <class Place>
  [[gnu::always_inline]] void expect(const Place& grid, std::size_t k, Lane<std::int64_t>& index,
                                     Lane<std::uint64_t>& negative) const {
    index = above.at;
    negative = above.negative;
    Fours<Vector> sum, parent;
    load_fours(above.parent, parent);
    if constexpr (Rules::by_value)
      if (rules.balances(k)) {
        balance(
            rules, [&](std::size_t lane) __attribute__((always_inline)) { return std::size_t{family[lane]}; },
            [&](std::size_t before, Fours<Four> & d) __attribute__((always_inline)) { load_fours(child[before], d); },
            parent);
        return places_of(grid, parent, index, negative);
      }
    above.begin(rules, k, sum);
    std::size_t r = 2 * rules.axes;
    const auto weigh = [&](const Lane<Number>& row) __attribute__((always_inline)) {
      Fours<Vector> d;
      load_fours(row, d);
      for (std::size_t v = 0; v < num_fours; ++v) sum[v] = sum[v] + rules.factors[k][r] * d[v];
      ++r;
    };
    for (std::size_t b = rules.beside.begin[k]; b < rules.beside.begin[k + 1]; ++b) weigh(beside[b]);
    for (std::size_t before = 0; before < k; ++before) weigh(child[before]);
    places_from<Rules>(grid, sum, parent, index, negative);
  }
};

/// The expected indices and signs of the children of some families, in order of visit.
struct ExpectedCells {
  std::array<Lane<std::int64_t>, 8> index;
  std::array<Lane<std::uint64_t>, 8> negative;
};

}  // namespace

template <Weighs weighs, class Place>
OCTAVO_WIDE void expect_children(const SideStencil<weighs>& rules, const Place& grid, const Numbers& numbers,
                                 const Lane<std::uint32_t>& families, std::size_t j, ExpectedCells& expected) {
  const KnownFamilies<weighs> known(rules, numbers, families, j);
  for (std::size_t k = 0; k < rules.m; ++k) known.expect(grid, k, expected.index[k], expected.negative[k]);
}

namespace {

/// Calls settle(lanes, first values, expected children) for all children of these families, those of some families
/// together. Children stand at first value + cell_by_sides(k) * width.
template <Weighs weighs, class Place, class FamilyAt, class Settle>
void expect_each(const FamilyModel& model, const Place& grid, const Numbers& numbers, std::size_t count,
                 FamilyAt&& family_at, Settle&& settle) {
  const SideStencil<weighs> rules(model);
  Lane<std::uint32_t> families;
  Lane<std::size_t> first;
  ExpectedCells expected;
  for (std::size_t begin = 0; begin < count; begin += families_together) {
    const std::size_t lanes = std::min(families_together, count - begin);
    for (std::size_t lane = 0; lane < families_together; ++lane)  // lanes that are left over repeat the last
      families[lane] = family_at(begin + std::min(lane, lanes - 1));
    for (std::size_t j = 0; j < rules.w; ++j) {
      expect_children(rules, grid, numbers, families, j, expected);
      for (std::size_t lane = 0; lane < families_together; ++lane) first[lane] = families[lane] * rules.m * rules.w + j;
      settle(lanes, first, expected);
    }
  }
}

/// Calls expect_each with what the model's base weighs.
template <class Grid, class FamilyAt, class Settle>
void expect_by_base(const Model<Grid>& model, const Numbers& numbers, std::size_t count, FamilyAt&& family_at,
                    Settle&& settle) {
  const FamilyModel families = untyped(model);
  if (model.base == Base::fitted_value)
    expect_each<Weighs::values>(families, untyped(model.grid), numbers, count, family_at, settle);
  else if (has_near_indices(model))
    expect_each<Weighs::near_indices>(families, NoGrid(), numbers, count, family_at, settle);
  else
    expect_each<Weighs::indices>(families, NoGrid(), numbers, count, family_at, settle);
}

/// Rows of numbers with an entry for each slot: a family at a place of its cells. There are entries up to a multiple of
/// families_together. Kept from chunk to chunk, as Scratch is.
template <class Number>
struct SlotRows {
  std::size_t padded = 0;
  /// Rows, in order of visit: what a stencil makes of the parent's faces, then values in their place.
  Room<Number> child;
  Room<Number> parent, upper_face;  ///< what differences are to; rows: those at upper faces of parents
  Room<std::int64_t> parent_at;
  Room<std::uint64_t> parent_negative;
  Room<std::size_t> first;    ///< the number of a family's first cell
  Room<std::uint64_t> upper;  ///< rows: the slot at the upper face along each axis; this one where there is none

  void resize(std::size_t slots, std::size_t axes, std::size_t members) {
    padded = (slots + families_together - 1) / families_together * families_together;
    child.resize(members * padded);
    parent.resize(padded);
    upper_face.resize(axes * padded);
    parent_at.resize(padded);
    parent_negative.resize(padded);
    first.resize(padded);
    upper.resize(axes * padded);
  }
};

/// All slots of a chunk that is being decoded.
template <Weighs weighs>
struct FamilySlots {
  using Rules = SideStencil<weighs>;
  using Number = typename Rules::Number;
  using Vector = typename Rules::Vector;

  const Rules rules;
  std::size_t count;
  SlotRows<Number>& rows;

  static SlotRows<Number>& kept() {
    thread_local SlotRows<Number> space;
    return space;
  }
  explicit FamilySlots(const FamilyModel& model) : rules(model), count(model.place.families() * rules.w), rows(kept()) {
    rows.resize(count, rules.axes, rules.m);
  }
  [[gnu::always_inline]] void look_up() {
    ParentLanes<Number> above;
    std::size_t family = 0, j = 0;
    for (std::size_t slot = 0; slot < rows.padded; slot += families_together) {
      for (std::size_t lane = 0; lane < families_together; ++lane) {
        above.look_up(rules, lane, family, j);
        rows.first[slot + lane] = family * rules.m * rules.w + j;
        const Sides& sides = rules.model.place.sides[family];
        for (std::size_t a = 0; a < rules.axes; ++a)
          rows.upper[a * rows.padded + slot + lane] =
              sides.upper[a] == family ? slot + lane : sides.upper[a] * rules.w + j;
        if (slot + lane + 1 >= count) continue;  // slots behind the last one repeat it
        j = j + 1 == rules.w ? 0 : j + 1;
        family += j == 0 ? 1 : 0;
      }
      keep(slot, above);
    }
  }
  [[gnu::always_inline]] void keep(std::size_t slot, const ParentLanes<Number>& above) {
    const auto put = [&](const auto& lanes, auto* to) { std::copy(lanes.begin(), lanes.end(), to + slot); };
    put(above.parent, rows.parent.data());
    put(above.at, rows.parent_at.data());
    put(above.negative, rows.parent_negative.data());
    for (std::size_t a = 0; a < rules.axes; ++a) put(above.face[2 * a + 1], rows.upper_face.data() + a * rows.padded);
    for (std::size_t k = 0; k < rules.m; ++k) {
      Fours<Vector> sum;
      above.begin(rules, k, sum);
      store_fours(sum, child(k) + slot);
    }
  }

  Number* child(std::size_t k) const { return rows.child.data() + k * rows.padded; }

  /// Adds the weighted differences to the cells beside the k-th children, from `slot` on.
  [[gnu::always_inline]] void weigh_beside(std::size_t slot, std::size_t k, const Fours<Vector>& parent,
                                           Fours<Vector>& sum) const {
    std::size_t r = 2 * rules.axes;
    const FourBits lanes{0, 1, 2, 3};
    for (std::size_t b = rules.beside.begin[k]; b < rules.beside.begin[k + 1]; ++b, ++r) {
      const auto [axis, cell] = rules.beside.all[b];
      // A child's place among those visited is also its number among them, and the other way round.
      const Number* const from = child(cell_by_sides(cell, rules.m));
      const std::uint64_t* const upper = rows.upper.data() + axis * rows.padded + slot;
      Fours<Vector> face;
      Fours<FourBits> at;
      load_fours(rows.upper_face.data() + axis * rows.padded + slot, face);
      load_fours(upper, at);
      for (std::size_t v = 0; v < num_fours; ++v) {
        const std::uint64_t* const four = upper + 4 * v;
        const Vector d = Vector{from[four[0]], from[four[1]], from[four[2]], from[four[3]]} - parent[v];
        const FourBits none = (FourBits)(at[v] == lanes + (slot + 4 * v));
        Vector on_the_way;
        Rules::on_the_way(face[v], on_the_way);
        const Vector chosen = (Vector)((none & (FourBits)on_the_way) | (~none & (FourBits)d));
        sum[v] = sum[v] + rules.factors[k][r] * chosen;
      }
    }
  }
  /// The expected indices and signs of the k-th children from `slot` on.
  template <class Place>
  [[gnu::always_inline]] void expect(const Place& grid, std::size_t slot, std::size_t k, Lane<std::int64_t>& index,
                                     Lane<std::uint64_t>& negative) const {
    std::copy_n(rows.parent_at.data() + slot, families_together, index.begin());
    std::copy_n(rows.parent_negative.data() + slot, families_together, negative.begin());
    Fours<Vector> sum, parent, known;
    load_fours(rows.parent.data() + slot, parent);
    const auto difference = [&](std::size_t before, Fours<Vector> & d) __attribute__((always_inline)) {
      load_fours(child(before) + slot, known);
      for (std::size_t v = 0; v < num_fours; ++v) d[v] = known[v] - parent[v];
    };
    if constexpr (Rules::by_value)
      if (rules.balances(k)) {
        Fours<Four> value = parent;
        balance(
            rules,
            [&](std::size_t lane)
                __attribute__((always_inline)) { return rows.first[slot + lane] / (rules.m * rules.w); },
            difference, value);
        return places_of(grid, value, index, negative);
      }
    load_fours(child(k) + slot, sum);
    weigh_beside(slot, k, parent, sum);
    Fours<Vector> d;
    for (std::size_t before = 0, r = rules.model.stencil.around(k); before < k; ++before, ++r) {
      difference(before, d);
      for (std::size_t v = 0; v < num_fours; ++v) sum[v] = sum[v] + rules.factors[k][r] * d[v];
    }
    places_from<Rules>(grid, sum, parent, index, negative);
  }
};

/// Indices that are out of range, and those that are not near.
struct BadIndices {
  FourBits bad{}, far{};
};

/// Children are decoded from `symbols`. Those whose values are known at once are put into `out`.
struct CodedChildren {
  const Symbols& symbols;
  const Numbers* specials;
  const Decoded& out;
};

/// Decodes the k-th children from `slot` on.
template <Weighs weighs, class Place>
[[gnu::always_inline]] inline void settle_slots(const FamilySlots<weighs>& slots, const Place& grid, std::size_t slot,
                                                std::size_t k, const CodedChildren& coded, BadIndices& outside) {
  const FamilyModel& model = slots.rules.model;
  const auto& [symbols, specials, out] = coded;
  Lane<std::int64_t> index;
  Lane<std::uint64_t> negative, number;
  const std::size_t w = slots.rules.w;
  const std::size_t* const first = slots.rows.first.data() + slot;
  slots.expect(grid, slot, k, index, negative);
  for (std::size_t lane = 0; lane < families_together; ++lane) number[lane] = symbols.number[first[lane] + k * w];
  if (model.with_sign)
    for (std::size_t lane = 0; lane < families_together; ++lane)
      negative[lane] ^= (symbols.symbol[first[lane] + k * w] - std::uint64_t{num_specials}) & 1;
  else
    negative = {};
  if (specials != nullptr)  // an index in range stands for a special value until that is taken over again below
    for (std::size_t lane = 0; lane < families_together; ++lane) {
      if (symbols.symbol[first[lane] + k * w] >= num_specials) continue;
      number[lane] = 0;
      index[lane] = 0;
    }
  add_numbers<Place>(model, number, index, outside.bad);
  auto* const child = slots.child(k) + slot;
  const auto at = [first, to_child = slots.rules.cell[k] * w](std::size_t lane) { return first[lane] + to_child; };
  if constexpr (weighs == Weighs::values) {
    Lane<double> value;
    values_at(grid, out.floats != nullptr, index, negative, value);
    std::copy(value.begin(), value.end(), child);
    put_values<Place>(at, index, value, specials, out);
  } else if constexpr (weighs == Weighs::near_indices) {
    Fours<FourBits> places;
    Fours<Four> number_at;
    load_fours(index, places);
    for (std::size_t v = 0; v < num_fours; ++v) {
      double_of_four(places[v], number_at[v]);
      Four size;
      magnitudes_of_four(number_at[v], size);
      outside.far |= (FourBits)(size > near_limit);
    }
    store_fours(number_at, child);
  } else {
    std::memcpy(child, index.data(), sizeof index);
  }
  for (std::size_t lane = 0; specials != nullptr && lane < families_together; ++lane) {
    if (specials->kind[at(lane)] == ValueKind::plain) continue;
    if constexpr (weighs == Weighs::values)
      child[lane] = specials->value[at(lane)];
    else
      child[lane] = slots.rows.parent[slot + lane];
  }
}

}  // namespace

template <Weighs weighs>
OCTAVO_WIDE void look_up_slots(FamilySlots<weighs>& slots) {
  slots.look_up();
}

/// Decodes the children [begin, end) of all slots.
template <Weighs weighs, class Place>
OCTAVO_WIDE void settle_children(const FamilySlots<weighs>& slots, const Place& grid, std::size_t begin,
                                 std::size_t end, const CodedChildren& coded, BadIndices& outside) {
  for (std::size_t slot = 0; slot < slots.count; slot += families_together)
    for (std::size_t k = begin; k < end; ++k) settle_slots(slots, grid, slot, k, coded, outside);
}

namespace {

/// Puts the values in place whose indices have been decoded.
template <Weighs weighs, class Place>
void put_slots(const FamilySlots<weighs>& slots, const Place& grid, const CodedChildren& coded) {
  const std::size_t m = slots.rules.m, w = slots.rules.w;
  FoundCells found;
  found.negative = {};
  for (std::size_t slot = 0; slot < slots.count; slot += families_together) {
    for (std::size_t k = 0; k < m; ++k)
      for (std::size_t lane = 0; lane < families_together; ++lane) {
        const std::size_t first = slots.rows.first[slot + lane];
        found.at[k][lane] = first + slots.rules.cell[k] * w;
        found.index[k][lane] = static_cast<std::int64_t>(slots.child(k)[slot + lane]);
        if (slots.rules.model.with_sign)
          found.negative[k][lane] = (slots.rows.parent_negative[slot + lane] ^
                                     (coded.symbols.symbol[first + k * w] - std::uint64_t{num_specials})) &
                                    1;
      }
    put_found(grid, m, found, coded.specials, coded.out);
  }
}

/// If an index is not near, nothing is in place.
template <Weighs weighs, class Place>
BadIndices values_of_slots(const FamilyModel& model, const Place& grid, const CodedChildren& coded) {
  FamilySlots<weighs> slots(model);
  look_up_slots(slots);
  BadIndices outside;
  // Kinds with as many upper sides do not wait for each other's neighbours, only for their own families'.
  for (std::size_t begin = 0, end = 0; begin < slots.rules.m; begin = end) {
    const auto sides_of = [&](std::size_t k) { return slots.rules.beside.begin[k + 1] - slots.rules.beside.begin[k]; };
    for (end = begin; end < slots.rules.m && sides_of(end) == sides_of(begin);) ++end;
    if constexpr (weighs == Weighs::values)
      settle_children(slots, grid, begin, end, coded, outside);
    else
      settle_children(slots, NoGrid(), begin, end, coded, outside);
  }
  if constexpr (weighs != Weighs::values)
    if (!any_of(outside.far)) put_slots(slots, grid, coded);
  return outside;
}

}  // namespace

template <class Grid>
void residuals_by_sides(const Model<Grid>& model, const Numbers& numbers, Symbols& symbols) {
  const bool with_sign = model.alphabet() == Alphabet::signed_numbers;
  const std::size_t m = model.place.members, w = model.place.width;
  expect_by_base(
      model, numbers, model.place.families(), [](std::size_t n) { return static_cast<std::uint32_t>(n); },
      [&](std::size_t lanes, const Lane<std::size_t>& first, const ExpectedCells& expected) {
        for (std::size_t k = 0; k < m; ++k) {
          const std::size_t to_child = cell_by_sides(k, m) * w;
          for (std::size_t lane = 0; lane < lanes; ++lane) {
            const std::size_t i = first[lane] + to_child, t = first[lane] + k * w;
            if (Grid::has_specials && numbers.kind[i] != ValueKind::plain) {
              symbols.symbol[t] = static_cast<std::uint8_t>(static_cast<int>(numbers.kind[i]) - 1);
              continue;
            }
            const std::uint64_t u = zigzag(wrapping_difference(numbers.index[i], expected.index[k][lane]));
            const unsigned flip = with_sign && numbers.negative[i] != expected.negative[k][lane] ? 1u : 0u;
            const unsigned c = class_of(u);
            symbols.symbol[t] = static_cast<std::uint8_t>(num_specials + (with_sign ? 2 * c + flip : c));
            symbols.number[t] = u;
          }
        }
      });
}

template <class Grid>
std::uint64_t bits_by_sides(const Model<Grid>& model, const Numbers& numbers, std::span<const std::uint32_t> sample) {
  std::uint64_t bits = 0;
  const std::size_t m = model.place.members, w = model.place.width;
  expect_by_base(
      model, numbers, sample.size(), [&](std::size_t n) { return sample[n]; },
      [&](std::size_t lanes, const Lane<std::size_t>& first, const ExpectedCells& expected) {
        for (std::size_t k = 0; k < m; ++k)
          for (std::size_t lane = 0; lane < lanes; ++lane)
            bits += effort_for<Grid>(numbers, first[lane] + cell_by_sides(k, m) * w, expected.index[k][lane],
                                     expected.negative[k][lane] != 0);
      });
  return bits;
}

template <class Grid>
bool values_by_sides(const Model<Grid>& model, const Symbols& symbols, const Numbers* specials,
                     std::span<typename Grid::Value> out) {
  const FamilyModel families = untyped(model);
  const auto& grid = untyped(model.grid);
  const Decoded to(out);
  const CodedChildren coded{symbols, specials, to};
  if (model.base == Base::fitted_value) return !any_of(values_of_slots<Weighs::values>(families, grid, coded).bad);
  if (has_near_indices(model)) {
    const BadIndices outside = values_of_slots<Weighs::near_indices>(families, grid, coded);
    if (!any_of(outside.far)) return !any_of(outside.bad);
  }
  return !any_of(values_of_slots<Weighs::indices>(families, grid, coded).bad);
}

template void residuals_by_sides(const Model<ExactGrid<double>>&, const Numbers&, Symbols&);
template void residuals_by_sides(const Model<ExactGrid<float>>&, const Numbers&, Symbols&);
template void residuals_by_sides(const Model<PointwiseGrid<double>>&, const Numbers&, Symbols&);
template void residuals_by_sides(const Model<PointwiseGrid<float>>&, const Numbers&, Symbols&);
template void residuals_by_sides(const Model<AbsoluteGrid<double>>&, const Numbers&, Symbols&);
template void residuals_by_sides(const Model<AbsoluteGrid<float>>&, const Numbers&, Symbols&);
template std::uint64_t bits_by_sides(const Model<ExactGrid<double>>&, const Numbers&, std::span<const std::uint32_t>);
template std::uint64_t bits_by_sides(const Model<ExactGrid<float>>&, const Numbers&, std::span<const std::uint32_t>);
template std::uint64_t bits_by_sides(const Model<PointwiseGrid<double>>&, const Numbers&,
                                     std::span<const std::uint32_t>);
template std::uint64_t bits_by_sides(const Model<PointwiseGrid<float>>&, const Numbers&,
                                     std::span<const std::uint32_t>);
template std::uint64_t bits_by_sides(const Model<AbsoluteGrid<double>>&, const Numbers&,
                                     std::span<const std::uint32_t>);
template std::uint64_t bits_by_sides(const Model<AbsoluteGrid<float>>&, const Numbers&, std::span<const std::uint32_t>);
template bool values_by_sides(const Model<ExactGrid<double>>&, const Symbols&, const Numbers*, std::span<double>);
template bool values_by_sides(const Model<ExactGrid<float>>&, const Symbols&, const Numbers*, std::span<float>);
template bool values_by_sides(const Model<PointwiseGrid<double>>&, const Symbols&, const Numbers*, std::span<double>);
template bool values_by_sides(const Model<PointwiseGrid<float>>&, const Symbols&, const Numbers*, std::span<float>);
template bool values_by_sides(const Model<AbsoluteGrid<double>>&, const Symbols&, const Numbers*, std::span<double>);
template bool values_by_sides(const Model<AbsoluteGrid<float>>&, const Symbols&, const Numbers*, std::span<float>);

}  // namespace octavo::codec
