#pragma once
#include "octavo/codec/model.hpp"

/// Inside the codec room: the residuals of families, and values from residuals, for many families at a time. It gives
/// what model.hpp's predict_tree gives, for values of which none is special and families of which none has a twin.
namespace octavo::codec {

/// Each cell of a family waits for the cell before it. With 16 families there is always work on another one.
constexpr std::size_t families_together = 16;

/// Whether the families of this model may be taken together.
template <class Grid>
bool in_lanes(const Model<Grid>& model) {
  return model.across == Across::none && model.base != Base::previous && model.orientation.empty() &&
         !model.stencil.sides;
}

/// Calls together(first, last) for runs of families of which no value is special, by families_together, and
/// apart(families) for the others, at most num_lanes at a time. Families come in order.
template <class Grid, class IsPlain, class Together, class Apart>
void for_each_run(const Model<Grid>& model, IsPlain&& is_plain, Together&& together, Apart&& apart) {
  const std::size_t families = model.place.families(), size = model.place.members * model.place.width;
  const auto all_plain = [&](std::size_t first) {
    bool all = first + families_together <= families;
    for (std::size_t i = first * size; all && Grid::has_specials && i < (first + families_together) * size; ++i)
      all = is_plain(i);
    return all;
  };
  for (std::size_t first = 0; first < families;) {
    std::size_t last = first;
    while (all_plain(last)) last += families_together;
    if (last > first) together(first, last);
    const std::size_t end = std::min(last + families_together, families);
    for (first = last; first < end;) {
      std::array<std::uint32_t, num_lanes> others;
      std::size_t count = 0;
      for (; count < num_lanes && first < end; ++count, ++first) others[count] = static_cast<std::uint32_t>(first);
      apart(std::span<const std::uint32_t>(others.data(), count));
    }
  }
}

/// Visits the values of a few families: settle(k, j, cells).
template <class Grid, class Settle>
void predict_apart(const Model<Grid>& model, const Numbers& numbers, std::span<const std::uint32_t> families,
                   Settle&& settle) {
  for (std::size_t j = 0; j < model.place.width; ++j)
    predict_by_base(model, model.base, model.stencil, numbers, families, j,
                    [&](std::size_t k, const PredictedCells& cells) { settle(k, j, cells); });
}

/// Symbols and numbers of the families [first, last), a multiple of families_together.
template <class Grid>
void residuals_of(const Model<Grid>& model, const Numbers& numbers, std::size_t first, std::size_t last,
                  Symbols& symbols);

/// Values of the families [first, last), a multiple of families_together. False if an index is out of range.
template <class Grid>
bool values_of(const Model<Grid>& model, const Symbols& symbols, std::size_t first, std::size_t last,
               std::span<typename Grid::Value> out);

/// Symbols and numbers of all families of a model by sides, special values among them.
template <class Grid>
void residuals_by_sides(const Model<Grid>& model, const Numbers& numbers, Symbols& symbols);

/// About the bits that a difference takes.
template <class Grid>
unsigned effort_for(const Numbers& numbers, std::size_t i, std::int64_t index, bool negative) {
  if (numbers.kind[i] != ValueKind::plain) return 2;
  const unsigned sign = Grid::signs_apart && (numbers.negative[i] != 0) != negative ? 1u : 0u;
  return sign + static_cast<unsigned>(bit_length(zigzag(wrapping_difference(numbers.index[i], index))));
}

/// The sum of efforts of some families of a model by sides.
template <class Grid>
std::uint64_t bits_by_sides(const Model<Grid>& model, const Numbers& numbers, std::span<const std::uint32_t> sample);

/// All values of such a model. Special ones are in place, in `specials` and in `out`; null: there are none. False if an
/// index is out of range.
template <class Grid>
bool values_by_sides(const Model<Grid>& model, const Symbols& symbols, const Numbers* specials,
                     std::span<typename Grid::Value> out);

}  // namespace octavo::codec
