#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "octavo/codec/codec.hpp"
#include "octavo/codec/entropy.hpp"

/// Inside the codec room: the prediction of a value from its parent, the parent's siblings, its own siblings, or
/// a family elsewhere that looks alike (docs/codecs.md, "Prediction"). The same code runs in encoder and decoder.
namespace octavo::codec {

enum class ValueKind : std::uint8_t { plain = 0, zero = 1, minus_zero = 2, exact = 3 };

/// Values on a grid: |value| is cell `index` of it. Lossless chunks have all bits in `index`.
struct Numbers {
  Room<std::int64_t> index;
  Room<double> value;  ///< as decoded
  std::vector<ValueKind> kind;
  std::vector<std::uint8_t> negative;

  void resize(std::size_t size) {
    index.resize(size);
    value.resize(size);
    kind.resize(size);
    negative.resize(size);
  }
  std::size_t size() const { return index.size(); }
};

/// A value's expected index, and sign.
struct Expected {
  std::int64_t index = 0;
  bool negative = false;
};

enum class Base : std::uint8_t { previous = 0, parent = 1, fitted_index = 2, fitted_value = 3 };

/// How a value at a point of a mesh is predicted from the points near[k] = a, b, c visited before (docs/codecs.md,
/// "Neighbours").
enum class Across : std::uint8_t {
  none = 0,
  beside = 1,  ///< a + b - c
  below = 2,   ///< a, and how the layer below goes on from there
  both = 3,    ///< a + b - c, and the difference of the layer below from that
};

/// The child that is visited k-th by sides: those come first that have the fewest neighbours before them.
inline std::size_t cell_by_sides(std::size_t k, std::size_t members) {
  constexpr std::array<std::uint8_t, 8> order{0, 1, 2, 4, 3, 5, 6, 7};
  return members == 8 ? order[k] : k;
}

/// Terms that a stencil can have: by sides six faces, three families beside and seven children.
constexpr std::size_t max_terms = 16;

/// How a child follows from the values before it: per child in order of visit, weights in 1/32 of the differences
/// to the parent's value. They are those of the parent's siblings along each axis, and of the children before it. By
/// `sides` (docs/codecs.md, "Sides") they are those of the cells at the parent's faces, lower and upper along each
/// axis; of the cells that stand beside the child in the families at upper faces; and of the children before it.
struct Stencil {
  int axes = 0;
  bool sides = false;
  std::array<std::array<std::int8_t, max_terms>, 8> weight{};

  /// Terms before those of children.
  std::size_t around(std::size_t k) const {
    const auto a = static_cast<std::size_t>(axes);
    constexpr std::array<std::uint8_t, 8> set_bits{0, 1, 1, 2, 1, 2, 2, 3};
    return sides ? 2 * a + set_bits[cell_by_sides(k, std::size_t{1} << a)] : a;
  }
  std::size_t terms(std::size_t k) const { return around(k) + k; }
};

/// Where the families of a chunk stand.
struct Families {
  std::span<const std::uint32_t> parents;  ///< empty: no parents, one family of all values
  std::size_t members = 1;                 ///< cells a family
  std::size_t width = 1;
  std::span<const Sides> sides{};  ///< empty: unknown
  std::size_t families() const { return parents.size(); }
};

/// Memory position of the k-th visited cell of a family: children are visited from the corner that points out of their
/// parent's own family to the one that points in, so that position k always means the same surroundings.
inline std::size_t cell_of(std::size_t k, std::uint32_t parent, std::size_t members) {
  return k ^ (parent & (members - 1));
}

/// The ways to turn and mirror a family: orientation o maps cell c to `map[o][c]`. 2, 8 or 48 of them.
struct Orientations {
  int count = 0;
  std::array<std::array<std::uint8_t, 8>, 48> map{};
};
const Orientations& orientations(std::size_t members);

constexpr std::uint32_t no_twin = 0xffffffff;

/// For each family, the last one before it whose parent has the same key, or `no_twin`. `keys`: one a family.
/// `usable[f]`: whether the parent has an index at all.
std::vector<std::uint32_t> find_twins(std::span<const std::uint64_t> keys, std::span<const std::uint8_t> usable);

/// The bit length of the parent's largest difference to a sibling, plus one; per family and place in the cell.
/// `by_sides`: or to the cell at any of its faces.
std::vector<std::uint8_t> activity_of(const Families& place, const Numbers& coarse, bool by_sides);

int axes_of(std::size_t members);

/// The index that stands for a parent: its own, or where it has none that of its first sibling that has, or 0.
std::int64_t parent_index(const Families& place, const Numbers& coarse, std::size_t parent, std::size_t j);

/// Families are predicted several at a time: each waits for its own cells, one by one, but not for the others.
constexpr std::size_t num_lanes = 8;

/// The k-th visited cells of up to `num_lanes` families, and their predictions.
struct PredictedCells {
  std::size_t count = 0;  ///< families
  std::array<std::uint32_t, num_lanes> family{};
  std::array<std::size_t, num_lanes> position{};  ///< in memory
  std::array<std::int64_t, num_lanes> index{};
  std::array<std::uint8_t, num_lanes> negative{};
  std::array<double, num_lanes> estimate{};
};

// Indices of numbers of opposite signs lie further apart than an int64 reaches: encoder and decoder wrap alike.
inline std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t wrapping_difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

/// Up to `num_lanes` families at place j of their cells, with what their cells are predicted from. Lanes without a
/// family repeat the first.
template <Base base, class Value>
class Lanes {
 public:
  Lanes(const Families& place, const Numbers& coarse, const Stencil& stencil, std::span<const Value> weights,
        std::span<const std::uint32_t> families, std::size_t j)
      : stencil_(stencil), axes_(static_cast<std::size_t>(stencil.axes)), place_(place), weights_(weights), j_(j) {
    cells.count = families.size();
    for (std::size_t lane = 0; lane < num_lanes; ++lane) {
      cells.family[lane] = families[lane < families.size() ? lane : 0];
      parent_[lane] = place.parents[cells.family[lane]];
      const std::size_t p = parent_[lane] * place.width + j;
      index_[lane] = parent_index(place, coarse, parent_[lane], j);
      negative_[lane] = coarse.negative[p];
      value_[lane] = coarse.value[p];
      if constexpr (is_fitted) add_siblings(coarse, lane);
    }
  }

  /// The k-th visited cells: where they are, and their predictions. `grid` puts estimates on the grid.
  template <class Grid>
  void predict(std::size_t k, const Grid& grid) {
    for (std::size_t lane = 0; lane < num_lanes; ++lane)
      cells.position[lane] =
          (cells.family[lane] * place_.members + cell_of(k, parent_[lane], place_.members)) * place_.width + j_;
    cells.index = index_;
    cells.negative = negative_;
    if constexpr (base == Base::fitted_index) {
      const auto sum = weighted_sum<std::uint64_t>(k, 16);
      for (std::size_t lane = 0; lane < num_lanes; ++lane)
        cells.index[lane] = wrapping_sum(cells.index[lane], static_cast<std::int64_t>(sum[lane]) >> 5);
    } else if constexpr (base == Base::fitted_value) {
      if (!weights_.empty() && k + 1 == place_.members) {
        for (std::size_t lane = 0; lane < num_lanes; ++lane) cells.estimate[lane] = balance(lane);
      } else {
        const auto sum = weighted_sum<double>(k, 0);
        for (std::size_t lane = 0; lane < num_lanes; ++lane) cells.estimate[lane] = value_[lane] + sum[lane] * 0.03125;
      }
      grid.estimate(cells);
    }
  }

  /// Takes over what these cells became: later ones follow from them.
  void follow(std::size_t k, const Numbers& numbers) {
    for (std::size_t lane = 0; lane < num_lanes; ++lane) {
      const std::size_t i = cells.position[lane];
      if constexpr (base == Base::fitted_index) differences_[axes_ + k][lane] = index_step(numbers, i, lane);
      if constexpr (base == Base::fitted_value) differences_[axes_ + k][lane] = numbers.value[i] - value_[lane];
    }
  }

  PredictedCells cells;

 private:
  static constexpr bool is_fitted = base == Base::fitted_index || base == Base::fitted_value;
  using Difference = std::conditional_t<base == Base::fitted_value, double, std::uint64_t>;

  /// 0 where a number has no index.
  std::uint64_t index_step(const Numbers& numbers, std::size_t i, std::size_t lane) const {
    return numbers.kind[i] == ValueKind::plain
               ? static_cast<std::uint64_t>(wrapping_difference(numbers.index[i], index_[lane]))
               : 0;
  }
  /// The parent's siblings along each axis; 0 where there is none.
  void add_siblings(const Numbers& coarse, std::size_t lane) {
    for (std::size_t a = 0; a < axes_; ++a) {
      const std::size_t q = (parent_[lane] ^ (std::size_t{1} << a)) * place_.width + j_;
      const bool there = q < coarse.size();
      if constexpr (base == Base::fitted_index)
        differences_[a][lane] = there ? index_step(coarse, q, lane) : 0;
      else
        differences_[a][lane] = there ? coarse.value[q] - value_[lane] : 0.0;
    }
  }
  /// By the weights of the k-th child, from `start` on.
  template <class Sum>
  std::array<Sum, num_lanes> weighted_sum(std::size_t k, Sum start) const {
    std::array<Sum, num_lanes> sum;
    sum.fill(start);
    for (std::size_t r = 0; r < axes_ + k; ++r) {
      const auto weight = static_cast<Sum>(std::int64_t{stencil_.weight[k][r]});
      for (std::size_t lane = 0; lane < num_lanes; ++lane) sum[lane] = sum[lane] + weight * differences_[r][lane];
    }
    return sum;
  }

  double weight(std::size_t k, std::size_t lane) const {
    const std::size_t cell = cells.family[lane] * place_.members + cell_of(k, parent_[lane], place_.members);
    return static_cast<double>(weights_[cell]);
  }
  /// The last child's value that makes the parent's the mean by weights.
  double balance(std::size_t lane) const {
    double sum = 0;
    for (std::size_t k = 0; k + 1 < place_.members; ++k) sum = sum + weight(k, lane) * differences_[axes_ + k][lane];
    return value_[lane] - sum / weight(place_.members - 1, lane);
  }

  const Stencil& stencil_;
  std::size_t axes_;
  const Families& place_;
  std::span<const Value> weights_;
  std::size_t j_;
  std::array<std::uint32_t, num_lanes> parent_;
  std::array<std::int64_t, num_lanes> index_;  ///< these three: of the parents
  std::array<std::uint8_t, num_lanes> negative_;
  std::array<double, num_lanes> value_;
  std::array<std::array<Difference, num_lanes>, max_terms> differences_;  ///< to the parent's value
};

/// Visits the cells of families at place j, in order: settle(k, cells). When `settle` returns, `numbers` must hold the
/// cells. Estimates are rounded to the model's grid if they lie on it.
template <Base base, class Model, class Settle>
void predict_families(const Model& model, const Numbers& numbers, const Stencil& stencil,
                      std::span<const std::uint32_t> families, std::size_t j, Settle&& settle) {
  Lanes<base, typename decltype(model.weights)::value_type> lanes(model.place, model.coarse, stencil, model.weights,
                                                                  families, j);
  for (std::size_t k = 0; k < model.place.members; ++k) {
    lanes.predict(k, model.grid);
    settle(k, lanes.cells);
    lanes.follow(k, numbers);
  }
}

/// Least-squares stencil from the families `sample`, each weighted by its own inverse energy so that steep regions do
/// not rule; `least` is what any family has at least. Nothing where it cannot be found.
Stencil fit(const Families& place, const Numbers& coarse, const Numbers& numbers, Base base, double least,
            std::span<const std::uint32_t> sample);

/// The same by sides.
Stencil fit_by_sides(const Families& place, const Numbers& coarse, const Numbers& numbers, Base base, double least,
                     std::span<const std::uint32_t> sample);

void put_stencil(Bytes& out, const Stencil& stencil, std::size_t members);
Stencil get_stencil(ChunkReader& in, std::size_t members, bool sides);

}  // namespace octavo::codec
