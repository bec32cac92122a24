#include "octavo/codec/boxes/walk.hpp"

#include <algorithm>

namespace octavo::codec {

namespace {

/// The place of a box beside in the list, which it joins.
std::size_t place_among(std::vector<Pattern::Other>& boxes, const Pattern::Other& other) {
  if (other.steps == 0) return 0;
  const auto found = std::find(boxes.begin(), boxes.end(), other);
  const auto place = static_cast<std::size_t>(found - boxes.begin());
  if (found == boxes.end()) boxes.push_back(other);
  return place;
}

}  // namespace

void set_lengths(const Symbols& symbols, std::span<const std::size_t> at, BoxState& state) {
  for (std::size_t t = 0; t < at.size(); ++t) {
    const bool special = symbols.symbol[t] < num_specials;
    state.length[at[t]] = static_cast<std::uint8_t>(special ? 0 : bit_length(symbols.number[t]));
  }
}

Pattern pattern_of(const BoxGrid& grid, const Stage& stage, const StageRows& rows) {
  constexpr std::array<std::int64_t, 4> distance{-1, 1, -3, 3};
  Pattern pattern;
  pattern.rows = rows;
  auto stride_in = static_cast<std::int64_t>(grid.components);
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t shape = grid.boxes.shape[a];
    for (std::int64_t n = 0; n < rows.row[a].count && (stage.axes >> a & 1) != 0; ++n) {
      const std::int64_t l = rows.row[a].first + n * stage.step();
      std::array<Near, 4> near{};
      for (std::size_t d = 0; d < 4; ++d) {
        const std::int64_t to = l + distance[d] * stage.stride;
        const std::int64_t boxes = to >= 0 ? to / shape : -((shape - 1 - to) / shape);
        near[d] = {place_among(pattern.boxes, {a, boxes}), (to - boxes * shape - l) * stride_in};
      }
      pattern.near[a].push_back(near);
    }
    stride_in *= shape;
  }
  return pattern;
}

}  // namespace octavo::codec
