#pragma once
#include <type_traits>

#include "octavo/codec/codec.hpp"
#include "octavo/codec/grids.hpp"

/// Inside the codec room: the prediction of each value of a chunk, in encoder and decoder alike.
namespace octavo::codec {

/// Everything that the prediction of each value depends on.
template <class Grid>
struct Model {
  const Grid& grid;
  Families place;
  SymbolOrder layout;
  Numbers& coarse;
  Base base = Base::previous;
  bool signs = false;
  Stencil stencil;
  Neighbours neighbours{};
  Across across = Across::none;           ///< other than none: no parents, base previous
  unsigned shift = 0;                     ///< of twins' keys
  std::vector<std::uint32_t> twins;       ///< empty: none
  std::vector<std::uint8_t> orientation;  ///< per family: 0 no twin, else 1 + orientation
  /// One a cell. Not empty: a last child is what makes the parent's value the mean by them. Only with base
  /// fitted_value.
  std::span<const typename Grid::Value> weights{};
  std::span<const typename Grid::Value> known_weights{};  ///< of the context, whether used or not
  Alphabet alphabet() const { return Grid::signs_apart && signs ? Alphabet::signed_numbers : Alphabet::numbers; }
};

template <class T>
bool has_tree(const Context<T>& context) {
  const std::size_t m = context.family;
  return !context.parents.empty() && (m == 1 || m == 2 || m == 4 || m == 8);
}

/// The coarse values that families look at: all of them with sides, else their parents and the parents' siblings.
template <class Grid, class T>
void read_coarse(Model<Grid>& model, std::span<const T> values, bool with_sides) {
  model.coarse.resize(values.size());
  if (with_sides) return model.grid.read(model.coarse, values, 0, values.size());
  const std::size_t m = model.place.members, w = model.place.width;
  std::size_t first = 0, last = 0;
  for (const std::uint32_t parent : model.place.parents) {
    const std::size_t begin = (parent - parent % m) * w, end = std::min(begin + m * w, values.size());
    if (begin >= first && end <= last) continue;
    if (begin != last) {
      model.grid.read(model.coarse, values, first, last);
      first = begin;
    }
    last = end;
  }
  model.grid.read(model.coarse, values, first, last);
}

/// `with_sides`: families may look at the cells beside their parents.
template <class Grid, class T>
Model<Grid> make_model(const Grid& grid, const Context<T>& context, std::size_t count, bool with_sides) {
  Model<Grid> model{grid, {}, {1, count, 1}, scratch().coarse, Base::previous, false, {}, {}, Across::none, 0, {}, {},
                    {},   {}};
  if (context.parents.empty()) model.neighbours = context.neighbours;
  if (!has_tree(context)) return model;
  model.place = {context.parents, context.family, context.width};
  // Slots of families have numbers in 32 bits.
  if (count <= std::numeric_limits<std::uint32_t>::max()) model.place.sides = context.sides;
  read_coarse(model, context.coarse, with_sides);
  model.known_weights = context.weights;
  return model;
}

template <class Grid>
void use_tree_layout(Model<Grid>& model) {
  model.layout = {model.place.families(), model.place.members, model.place.width};
}

template <class Grid>
std::vector<std::uint32_t> twins_of(const Model<Grid>& model, unsigned shift) {
  const std::size_t families = model.place.families();
  std::vector<std::uint64_t> keys(families);
  std::vector<std::uint8_t> usable(families);
  for (std::size_t f = 0; f < families; ++f) {
    const std::uint32_t parent = model.place.parents[f];
    keys[f] = Grid::key(model.coarse.index[parent]) >> shift;
    usable[f] = model.coarse.kind[parent] == ValueKind::plain ? 1 : 0;
  }
  return find_twins(keys, usable);
}

/// As predict_families, of one family, from its twin, turned by `turn`.
template <class Grid, class Settle>
void predict_by_twin(const Model<Grid>& model, const Numbers& numbers, std::uint32_t family, std::size_t turn,
                     Settle&& settle) {
  const std::size_t m = model.place.members;
  const std::uint32_t parent = model.place.parents[family], twin = model.twins[family];
  const bool other_sign =
      Grid::negative(model.coarse, parent) != Grid::negative(model.coarse, model.place.parents[twin]);
  const auto& map = orientations(m).map[turn];
  PredictedCells cells;
  cells.count = 1;
  cells.family[0] = family;
  for (std::size_t k = 0; k < m; ++k) {
    const std::size_t c = cell_of(k, parent, m);
    const std::size_t like = twin * m + map[c];
    const bool plain = numbers.kind[like] == ValueKind::plain;
    cells.position[0] = family * m + c;
    cells.index[0] = !plain       ? model.coarse.index[parent]
                     : other_sign ? Grid::flip(numbers.index[like])
                                  : numbers.index[like];
    cells.negative[0] =
        plain ? (numbers.negative[like] ^ (other_sign && Grid::signs_apart ? 1 : 0)) : model.coarse.negative[parent];
    settle(k, cells);
  }
}

template <class Grid, class Settle>
void predict_by_base(const Model<Grid>& model, Base base, const Stencil& stencil, const Numbers& numbers,
                     std::span<const std::uint32_t> families, std::size_t j, Settle&& settle) {
  const auto predict = [&]<Base b>(std::integral_constant<Base, b>) {
    predict_families<b>(model, numbers, stencil, families, j, settle);
  };
  if (base == Base::parent)
    predict(std::integral_constant<Base, Base::parent>());
  else if (base == Base::fitted_index)
    predict(std::integral_constant<Base, Base::fitted_index>());
  else
    predict(std::integral_constant<Base, Base::fitted_value>());
}

/// Visits all values that have parents; neighbouring families without twin together.
template <class Grid, class Settle>
void predict_tree(const Model<Grid>& model, const Numbers& numbers, Settle&& settle) {
  std::array<std::uint32_t, num_lanes> waiting{};
  std::size_t num_waiting = 0;
  const auto flush = [&] {
    for (std::size_t j = 0; j < model.place.width && num_waiting > 0; ++j)
      predict_by_base(model, model.base, model.stencil, numbers, std::span(waiting.data(), num_waiting), j,
                      [&](std::size_t k, const PredictedCells& cells) { settle(k, j, cells); });
    num_waiting = 0;
  };
  for (std::uint32_t family = 0; family < model.place.families(); ++family) {
    if (!model.orientation.empty() && model.orientation[family] != 0) {
      flush();
      predict_by_twin(model, numbers, family, model.orientation[family] - 1u,
                      [&](std::size_t k, const PredictedCells& cells) { settle(k, 0, cells); });
    } else {
      waiting[num_waiting++] = family;
      if (num_waiting == num_lanes) flush();
    }
  }
  flush();
}

/// Visits all values one after another, each expected to be like the one before.
template <class Settle>
void predict_flat(const Numbers& numbers, Settle&& settle) {
  PredictedCells cells;
  cells.count = 1;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    cells.position[0] = i;
    settle(i, 0, cells);
    if (numbers.kind[i] == ValueKind::plain) {
      cells.index[0] = numbers.index[i];
      cells.negative[0] = numbers.negative[i];
    }
  }
}

/// Predicts the value at visit k of the layer whose first value is number `layer`. Specials count as the first of a, b,
/// c that is plain.
template <class Grid>
void expect_across(const Model<Grid>& model, Across across, const Numbers& numbers, std::size_t layer, std::size_t k,
                   PredictedCells& cells) {
  const std::size_t points = model.neighbours.order.size(), i = layer + model.neighbours.order[k];
  cells.position[0] = i;
  cells.index[0] = 0;
  cells.negative[0] = 0;
  if (k == 0 && layer == 0) return;
  std::array<std::size_t, 3> near;
  for (std::size_t n = 0; n < 3; ++n) near[n] = k == 0 ? i - points : layer + model.neighbours.near[k][n];
  std::size_t like = near[0];
  for (std::size_t n = 3; n-- > 0;)
    if (numbers.kind[near[n]] == ValueKind::plain) like = near[n];
  const bool plain = numbers.kind[like] == ValueKind::plain;
  cells.index[0] = plain ? numbers.index[like] : 0;
  cells.negative[0] = numbers.negative[like];
  if (k == 0) return;
  const std::size_t step = layer == 0 ? 0 : points;
  const bool beside = across != Across::below || step == 0, below = across != Across::beside && step != 0;
  const auto& v = numbers.value;
  const auto fan = [&](std::size_t down) {
    return beside ? v[near[0] - down] + (v[near[1] - down] - v[near[2] - down]) : v[near[0] - down];
  };
  cells.estimate[0] = below ? fan(0) + (v[i - step] - fan(step)) : fan(0);
  model.grid.estimate(cells);
}

/// Visits all values, layer after layer, each expected from points visited before.
template <class Grid, class Settle>
void predict_across(const Model<Grid>& model, const Numbers& numbers, Settle&& settle) {
  const std::size_t points = model.neighbours.order.size();
  PredictedCells cells;
  cells.count = 1;
  for (std::size_t layer = 0; layer < numbers.size(); layer += points)
    for (std::size_t k = 0; k < points; ++k) {
      expect_across(model, model.across, numbers, layer, k, cells);
      settle(layer + k, 0, cells);
    }
}

/// Visits all values: settle(k, j, cells), the order in the block following from family, k and j.
template <class Grid, class Settle>
void predict_all(const Model<Grid>& model, const Numbers& numbers, Settle&& settle) {
  if (model.across != Across::none)
    predict_across(model, numbers, settle);
  else if (model.base == Base::previous)
    predict_flat(numbers, settle);
  else
    predict_tree(model, numbers, settle);
}

/// Calls f(t, position in memory) for each value in the order of the block.
template <class Grid, class F>
void for_each_position(const Model<Grid>& model, std::size_t count, F&& f) {
  const std::size_t m = model.place.members, w = model.place.width;
  if (model.across != Across::none) {
    const auto order = model.neighbours.order;
    for (std::size_t layer = 0; layer < count; layer += order.size())
      for (std::size_t k = 0; k < order.size(); ++k) f(layer + k, layer + order[k]);
    return;
  }
  if (model.base == Base::previous) {
    for (std::size_t i = 0; i < count; ++i) f(i, i);
    return;
  }
  std::size_t t = 0;
  for (std::size_t family = 0; family < model.place.families(); ++family)
    for (std::size_t k = 0; k < m; ++k) {
      const std::size_t child = model.stencil.sides ? cell_by_sides(k, m) : cell_of(k, model.place.parents[family], m);
      const std::size_t cell = family * m + child;
      for (std::size_t j = 0; j < w; ++j, ++t) f(t, cell * w + j);
    }
}

template <class Grid>
std::vector<std::uint8_t> model_activity(const Model<Grid>& model) {
  if (model.base == Base::previous) return {};
  std::vector<std::uint8_t> activity = activity_of(model.place, model.coarse, model.stencil.sides);
  if (!model.orientation.empty())
    for (std::size_t f = 0; f < activity.size(); ++f)
      if (model.orientation[f] != 0) activity[f] = 0;
  return activity;
}

}  // namespace octavo::codec
