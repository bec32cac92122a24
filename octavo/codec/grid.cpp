#include "octavo/codec/grid.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "octavo/codec/centre.hpp"
#include "octavo/codec/choose.hpp"
#include "octavo/codec/families.hpp"

namespace octavo::codec {

namespace {

template <class Grid>
void put_model(const Model<Grid>& model, Bytes& out) {
  const bool twins = !model.twins.empty();
  put_byte(out, static_cast<std::size_t>(model.base) | (twins ? 4u : 0u) | (model.signs ? 8u : 0u) |
                    static_cast<std::size_t>(model.across) << 4 | (model.weights.empty() ? 0u : weights_bit) |
                    (model.stencil.sides ? sides_bit : 0u));
  if (model.base == Base::fitted_index || model.base == Base::fitted_value)
    put_stencil(out, model.stencil, model.place.members);
  if (!twins) return;
  put_byte(out, model.shift);
  Symbols symbols(model.orientation.size());
  symbols.symbol = model.orientation;
  encode_symbols(symbols, Alphabet::plain, {1, symbols.symbol.size(), 1}, {}, out);
}

template <class Grid>
void check_across(const ChunkReader& in, const Model<Grid>& model, unsigned flags) {
  const std::size_t points = model.neighbours.order.size(), count = model.layout.size();
  if ((flags & (7 | weights_bit | sides_bit)) != 0) in.fail("prediction from neighbours and from parents");
  if (points == 0) in.fail("prediction from neighbours, of which there are none");
  if (count % points != 0)
    in.fail("prediction from neighbours: expected layers of " + std::to_string(points) + " points, found " +
            std::to_string(count) + " values");
}

template <class Grid>
void get_model(ChunkReader& in, Model<Grid>& model) {
  const unsigned flags = in.byte();
  model.across = static_cast<Across>((flags & across_bits) >> 4);
  model.base = static_cast<Base>(flags & 3);
  model.signs = (flags & 8) != 0;
  const bool twins = (flags & 4) != 0;
  if (model.across != Across::none) return check_across(in, model, flags);
  if (model.base == Base::previous && !twins && (flags & (weights_bit | sides_bit)) == 0) return;
  if (model.place.parents.empty() || model.base == Base::previous)
    in.fail("prediction from parents, of which there are none");
  if ((flags & weights_bit) != 0) {
    if (model.base != Base::fitted_value) in.fail("weights where values are not fitted");
    if (model.known_weights.empty()) in.fail("prediction by weights, of which there are none");
    model.weights = model.known_weights;
  }
  const bool sides = (flags & sides_bit) != 0;
  if (sides && (model.base == Base::parent || twins)) in.fail("prediction by sides where values are not fitted alone");
  if (sides && model.place.sides.empty()) in.fail("prediction by sides, of which none is known");
  use_tree_layout(model);
  if (model.base != Base::parent) model.stencil = get_stencil(in, model.place.members, sides);
  if (!twins) return;
  model.shift = in.byte();
  if (model.shift > 63 || model.place.width != 1) in.fail("twins where there can be none");
  Symbols symbols;
  decode_symbols(in, Alphabet::plain, {1, model.place.families(), 1}, {}, symbols);
  model.orientation = std::move(symbols.symbol);
  model.twins = twins_of(model, model.shift);
  const int turns = orientations(model.place.members).count;
  for (std::size_t f = 0; f < model.twins.size(); ++f)
    if (model.orientation[f] > turns || (model.orientation[f] != 0 && model.twins[f] == no_twin))
      in.fail("family " + std::to_string(f) + " has a twin that is not there");
}

template <class Grid>
void make_symbols(const Model<Grid>& model, const Numbers& numbers, Symbols& symbols) {
  symbols.resize(numbers.size());
  const bool with_sign = model.alphabet() == Alphabet::signed_numbers;
  const std::size_t m = model.layout.members, w = model.layout.width;
  const auto put = [&](std::size_t k, std::size_t j, const PredictedCells& cells) {
    for (std::size_t lane = 0; lane < cells.count; ++lane) {
      const std::size_t i = cells.position[lane], t = (cells.family[lane] * m + k) * w + j;
      if (Grid::has_specials && numbers.kind[i] != ValueKind::plain) {
        symbols.symbol[t] = static_cast<std::uint8_t>(static_cast<int>(numbers.kind[i]) - 1);
        continue;
      }
      const std::uint64_t u = zigzag(wrapping_difference(numbers.index[i], cells.index[lane]));
      const unsigned flip = with_sign && numbers.negative[i] != cells.negative[lane] ? 1u : 0u;
      const unsigned c = class_of(u);
      symbols.symbol[t] = static_cast<std::uint8_t>(num_specials + (with_sign ? 2 * c + flip : c));
      symbols.number[t] = u;
    }
  };
  if (model.stencil.sides) return residuals_by_sides(model, numbers, symbols);
  if (!in_lanes(model)) return predict_all(model, numbers, put);
  const auto is_plain = [&](std::size_t i) { return numbers.kind[i] == ValueKind::plain; };
  for_each_run(
      model, is_plain, [&](std::size_t first, std::size_t last) { residuals_of(model, numbers, first, last, symbols); },
      [&](std::span<const std::uint32_t> families) { predict_apart(model, numbers, families, put); });
}

/// The prediction, the coded block and the exact values of one model.
template <class Grid, class T>
Bytes encode_with(const Model<Grid>& model, std::span<const T> values, const Numbers& numbers, Effort effort) {
  Bytes out;
  put_model(model, out);
  Symbols& symbols = scratch().symbols;
  make_symbols(model, numbers, symbols);
  encode_symbols(symbols, model.alphabet(), model.layout, model_activity(model), out, effort);
  if (!Grid::has_specials) return out;
  std::vector<T> exact;
  if (std::find(numbers.kind.begin(), numbers.kind.end(), ValueKind::exact) == numbers.kind.end()) return out;
  for_each_position(model, values.size(), [&](std::size_t, std::size_t i) {
    if (numbers.kind[i] == ValueKind::exact) exact.push_back(values[i]);
  });
  put_exact(std::span<const T>(exact), out);
  return out;
}

template <class Grid, class T>
void encode_on(const Grid& grid, std::span<const T> values, const Context<T>& context, const Numbers& numbers,
               Effort effort, std::initializer_list<unsigned> shifts, Bytes& out) {
  Model<Grid> model = make_model(grid, context, values.size(), !context.sides.empty());
  if (Grid::signs_apart)
    model.signs = std::any_of(numbers.negative.begin(), numbers.negative.end(), [](std::uint8_t n) { return n != 0; });
  const bool fast = effort == Effort::fast;
  const std::size_t most = fast ? 1024 : 8192;
  const std::size_t sample = std::clamp<std::size_t>(values.size() / (fast ? 64 : 8), 512, most);
  if (fast)
    choose_fast(model, numbers, sample);
  else
    choose_model(model, numbers, sample, shifts);
  Bytes smallest = encode_with(model, values, numbers, effort);
  if (effort == Effort::max)
    for_each_model(model, numbers, {sample, values.size()}, shifts, [&] {
      if (Bytes bytes = encode_with(model, values, numbers, effort); bytes.size() < smallest.size())
        smallest = std::move(bytes);
    });
  put_bytes(out, smallest);
}

/// Zeros and exact values, which follow from nothing: they are all put in place first.
template <class Grid, class T>
void place_specials(const Model<Grid>& model, const Symbols& symbols, std::span<const T> exact, Numbers& numbers,
                    std::span<T> out) {
  std::size_t next_exact = 0;
  for_each_position(model, out.size(), [&](std::size_t t, std::size_t i) {
    const unsigned s = symbols.symbol[t];
    if (s >= num_specials) return;
    numbers.kind[i] = static_cast<ValueKind>(s + 1);
    out[i] = s == 0 ? T{0} : s == 1 ? -T{0} : exact[next_exact++];
    numbers.value[i] = static_cast<double>(out[i]);
    numbers.negative[i] = std::signbit(out[i]) ? 1 : 0;
  });
}

template <class Grid, class T>
void decode_on(const Grid& grid, ChunkReader& in, const Context<T>& context, std::span<T> out) {
  const bool with_sides = (static_cast<unsigned>(in.peek(1)[0]) & sides_bit) != 0;
  Model<Grid> model = make_model(grid, context, out.size(), with_sides);
  get_model(in, model);
  Symbols& symbols = scratch().symbols;
  decode_symbols(in, model.alphabet(), model.layout, model_activity(model), symbols);
  const auto is_special = [](std::uint8_t s) { return s < num_specials; };
  const bool any_special = std::any_of(symbols.symbol.begin(), symbols.symbol.end(), is_special);
  if (any_special && !Grid::has_specials) in.fail("a value is out of range");
  Numbers& numbers = scratch().numbers;
  numbers.resize(out.size());
  std::fill(numbers.kind.begin(), numbers.kind.end(), ValueKind::plain);
  if (any_special) {
    const auto num_exact = static_cast<std::size_t>(std::count(symbols.symbol.begin(), symbols.symbol.end(), 2));
    const std::vector<T> exact = get_exact<T>(in, num_exact);
    place_specials(model, symbols, std::span<const T>(exact), numbers, out);
  }
  const bool with_sign = model.alphabet() == Alphabet::signed_numbers;
  const std::size_t m = model.layout.members, w = model.layout.width;
  bool sound = true;
  const auto settle = [&](std::size_t k, std::size_t j, const PredictedCells& cells) {
    for (std::size_t lane = 0; lane < cells.count; ++lane) {
      const std::size_t i = cells.position[lane], t = (cells.family[lane] * m + k) * w + j;
      if (numbers.kind[i] != ValueKind::plain) continue;
      const std::int64_t index = wrapping_sum(cells.index[lane], unzigzag(symbols.number[t]));
      // A broken chunk is refused at the end; until then 0 stands for what is out of range.
      const bool good = Grid::in_range(index);
      sound = sound && good;
      numbers.index[i] = good ? index : 0;
      const unsigned flip = (symbols.symbol[t] - static_cast<unsigned>(num_specials)) & 1u;
      numbers.negative[i] = with_sign ? static_cast<std::uint8_t>(cells.negative[lane] ^ flip) : std::uint8_t{0};
    }
    grid.settle_values(cells, numbers, out);
  };
  if (model.stencil.sides)
    sound = values_by_sides(model, symbols, any_special ? &numbers : nullptr, out);
  else if (in_lanes(model))
    for_each_run(
        model, [&](std::size_t i) { return !any_special || numbers.kind[i] == ValueKind::plain; },
        [&](std::size_t first, std::size_t last) { sound = values_of(model, symbols, first, last, out) && sound; },
        [&](std::span<const std::uint32_t> families) { predict_apart(model, numbers, families, settle); });
  else
    predict_all(model, numbers, settle);
  if (!sound) in.fail("a value is out of range");
}

}  // namespace

template <class T>
bool encode_tree(std::span<const T> values, const Context<T>& context, Effort effort, Bytes& payload) {
  const ExactGrid<T> grid;
  Numbers& numbers = scratch().numbers;
  numbers.resize(values.size());
  grid.read(numbers, values, 0, values.size());
  encode_on(grid, values, context, numbers, effort, {sizeof(T) == 8 ? 8u : 4u, sizeof(T) == 8 ? 24u : 8u}, payload);
  return true;
}

template <class T>
void decode_tree(ChunkReader& in, const Context<T>& context, std::span<T> out) {
  decode_on(ExactGrid<T>(), in, context, out);
}

/// Whether each value is counted.
template <class T>
std::span<const std::uint8_t> counted_values(const Context<T>& context, std::size_t count) {
  Scratch& space = scratch();
  if (context.counted.empty()) {
    if (space.ones.size() < count) space.ones.assign(count, 1);
    return std::span<const std::uint8_t>(space.ones).first(count);
  }
  if (context.width == 1) return context.counted;
  space.counted.resize(count);
  for (std::size_t cell = 0; cell < context.counted.size(); ++cell)
    std::fill_n(space.counted.begin() + static_cast<std::ptrdiff_t>(cell * context.width), context.width,
                context.counted[cell]);
  return space.counted;
}

template <class T>
std::span<const double> as_doubles(std::span<const T> values) {
  if constexpr (std::is_same_v<T, double>) return values;
  Scratch& space = scratch();
  space.given.assign(values.begin(), values.end());
  return space.given;
}

template <class Grid, class T>
void encode_centred(std::span<const T> values, const Context<T>& context, double bound, Effort effort,
                    std::span<T> decoded, Bytes& payload) {
  Scratch& space = scratch();
  const std::size_t count = values.size();
  space.numbers.resize(count);
  if (Grid::signs_apart) space.logarithms.resize(count);
  space.kind.resize(count);
  space.moves.resize(count);
  space.tried.resize(count);
  Draft<T> draft{values,
                 as_doubles(values),
                 counted_values(context, count),
                 space.logarithms,
                 space.kind,
                 space.moves,
                 space.tried,
                 space.numbers,
                 decoded,
                 true};
  const Laid<Grid> laid = centre<Grid>(bound, draft);
  put_lattice(payload, laid.lattice, scalar_of<T>);
  encode_on(laid.grid, values, context, space.numbers, effort, {0}, payload);
}

template <class T>
bool encode_grid(std::span<const T> values, const Context<T>& context, const Bound& bound, Effort effort,
                 std::span<T> decoded, Bytes& payload) {
  put_bound(payload, bound.value);
  if (bound.kind == BoundKind::pointwise_relative) {
    // Below, the grid is as fine as the arithmetic.
    if (bound.value < 0x1p-39) return false;
    encode_centred<PointwiseGrid<T>>(values, context, bound.value, effort, decoded, payload);
  } else {
    // Within these, a step and its inverse are normal numbers.
    if (bound.value < 0x1p-1000 || bound.value > 0x1p1000) return false;
    encode_centred<AbsoluteGrid<T>>(values, context, bound.value, effort, decoded, payload);
  }
  return true;
}

template <class T>
void decode_grid(ChunkReader& in, BoundKind kind, const Context<T>& context, std::span<T> out) {
  const double bound = get_bound(in);
  const bool pointwise = kind == BoundKind::pointwise_relative;
  if (!(bound >= (pointwise ? 0x1p-39 : 0x1p-1000)) ||
      !(bound <= (pointwise ? std::numeric_limits<double>::max() : 0x1p1000)))
    in.fail("a bound out of range");
  const Lattice lattice = get_lattice(in, scalar_of<T>);
  if (pointwise)
    decode_on(PointwiseGrid<T>(bound, lattice), in, context, out);
  else
    decode_on(AbsoluteGrid<T>(bound, lattice), in, context, out);
}

template bool encode_tree(std::span<const double>, const Context<double>&, Effort, Bytes&);
template bool encode_tree(std::span<const float>, const Context<float>&, Effort, Bytes&);
template void decode_tree(ChunkReader&, const Context<double>&, std::span<double>);
template void decode_tree(ChunkReader&, const Context<float>&, std::span<float>);
template bool encode_grid(std::span<const double>, const Context<double>&, const Bound&, Effort, std::span<double>,
                          Bytes&);
template bool encode_grid(std::span<const float>, const Context<float>&, const Bound&, Effort, std::span<float>,
                          Bytes&);
template void decode_grid(ChunkReader&, BoundKind, const Context<double>&, std::span<double>);
template void decode_grid(ChunkReader&, BoundKind, const Context<float>&, std::span<float>);

}  // namespace octavo::codec
