#include "octavo/analysis/tile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "octavo/base/error.hpp"

namespace octavo::analysis {
namespace {

using base::Error;
using base::Kind;

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

double blank_of(Projection kind) { return is_extreme(kind) ? no_value : -0.0; }

std::vector<double> enlarged(const std::vector<double>& from, const Tile& old, const Tile& to, double blank) {
  std::vector<double> out(to.size[0] * to.size[1], blank);
  const std::size_t dx = old.first[0] - to.first[0], dy = old.first[1] - to.first[1];
  for (std::size_t y = 0; y < old.size[1]; ++y)
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(y * old.size[0]), old.size[0],
                out.begin() + static_cast<std::ptrdiff_t>((y + dy) * to.size[0] + dx));
  return out;
}

template <Projection kind>
void add_row(const double* from, double* to, std::size_t count) {
  for (std::size_t x = 0; x < count; ++x) {
    if constexpr (kind == Projection::maximum) {
      if (!(from[x] <= to[x]) && !std::isnan(from[x])) to[x] = from[x];
    } else if constexpr (kind == Projection::minimum) {
      if (!(from[x] >= to[x]) && !std::isnan(from[x])) to[x] = from[x];
    } else {
      to[x] += from[x];
    }
  }
}

void add_rows(Projection kind, const Tile& other, const std::vector<double>& from, const Tile& tile,
              std::vector<double>& to) {
  for (std::size_t y = 0; y < other.size[1]; ++y) {
    const double* row = from.data() + y * other.size[0];
    double* out = to.data() + (y + other.first[1] - tile.first[1]) * tile.size[0] + other.first[0] - tile.first[0];
    if (kind == Projection::maximum)
      add_row<Projection::maximum>(row, out, other.size[0]);
    else if (kind == Projection::minimum)
      add_row<Projection::minimum>(row, out, other.size[0]);
    else
      add_row<Projection::integral>(row, out, other.size[0]);
  }
}

}  // namespace

void cover(Projection kind, Tile& tile, std::array<std::size_t, 2> first, std::array<std::size_t, 2> last) {
  Tile to;
  for (std::size_t i = 0; i < 2; ++i) {
    const bool empty = tile.sum.empty();
    to.first[i] = empty ? first[i] : std::min(first[i], tile.first[i]);
    to.size[i] = (empty ? last[i] : std::max(last[i], tile.first[i] + tile.size[i])) - to.first[i];
  }
  if (to.first == tile.first && to.size == tile.size) return;
  tile.sum = enlarged(tile.sum, tile, to, blank_of(kind));
  if (kind == Projection::mean) tile.weight = enlarged(tile.weight, tile, to, -0.0);
  tile.first = to.first;
  tile.size = to.size;
}

void add(const Frame& frame, Tile& to, Tile&& other) {
  if (other.sum.empty()) return;
  if (to.sum.empty()) {
    to = std::move(other);
    return;
  }
  // Sums and extremes do not care which is first: the larger window stays, so that it need not be made again.
  if (to.sum.size() < other.sum.size()) std::swap(to, other);
  cover(frame.kind, to, other.first, {other.first[0] + other.size[0], other.first[1] + other.size[1]});
  add_rows(frame.kind, other, other.sum, to, to.sum);
  if (frame.kind == Projection::mean) add_rows(frame.kind, other, other.weight, to, to.weight);
  other = Tile{};
}

std::vector<double> finish(const Frame& frame, Tile&& tile) {
  cover(frame.kind, tile, {0, 0}, frame.pixels);
  if (is_extreme(frame.kind)) return std::move(tile.sum);
  for (std::size_t i = 0; i < tile.sum.size(); ++i) {
    double& value = tile.sum[i];
    if (value == 0 && std::signbit(value)) value = no_value;
    if (frame.kind == Projection::mean) value /= tile.weight[i];
  }
  return std::move(tile.sum);
}

}  // namespace octavo::analysis
