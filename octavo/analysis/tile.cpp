#include "octavo/analysis/tile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace octavo::analysis {
namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

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
  // A blank pixel of an extreme is NaN: the comparison fails, and the value is taken. A blank pixel of a sum is -0.0: a
  // sum of two is -0.0 again.
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

void add_row(Projection kind, const double* from, double* to, std::size_t count) {
  if (kind == Projection::maximum)
    add_row<Projection::maximum>(from, to, count);
  else if (kind == Projection::minimum)
    add_row<Projection::minimum>(from, to, count);
  else
    add_row<Projection::integral>(from, to, count);
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

ImageRows blank_rows(const Frame& frame, const DealtRows& rows) {
  ImageRows image{rows, frame.pixels[0], {}, {}};
  const std::size_t pixels = rows.count() * image.width;
  image.sum.assign(pixels, blank_of(frame.kind));
  if (frame.kind == Projection::mean) image.weight.assign(pixels, -0.0);
  return image;
}

Strip strip_of(const Tile& tile, RowRange rows) {
  const std::size_t width = tile.size[0], from = (rows.first - tile.first[1]) * width;
  const std::size_t count = (rows.last - rows.first) * width;
  Strip strip{rows, tile.first[0], width, std::span(tile.sum).subspan(from, count), {}};
  if (!tile.weight.empty()) strip.weight = std::span(tile.weight).subspan(from, count);
  return strip;
}

void add(Projection kind, ImageRows& to, const Strip& strip) {
  for (std::size_t row = strip.rows.first; row < strip.rows.last; ++row) {
    const std::size_t from = (row - strip.rows.first) * strip.width;
    const std::size_t at = to.rows.place(row) * to.width + strip.column;
    add_row(kind, strip.sum.data() + from, to.sum.data() + at, strip.width);
    if (kind == Projection::mean) add_row(kind, strip.weight.data() + from, to.weight.data() + at, strip.width);
  }
}

void add(Projection kind, ImageRows& to, const Tile& tile) {
  to.rows.for_each_block({tile.first[1], tile.first[1] + tile.size[1]},
                         [&](RowRange rows) { add(kind, to, strip_of(tile, rows)); });
}

std::vector<double> finish(Projection kind, ImageRows&& image) {
  for (std::size_t i = 0; !is_extreme(kind) && i < image.sum.size(); ++i) {
    double& value = image.sum[i];
    if (is_blank(kind, value)) value = no_value;
    if (kind == Projection::mean) value /= image.weight[i];
  }
  return std::move(image.sum);
}

}  // namespace octavo::analysis
