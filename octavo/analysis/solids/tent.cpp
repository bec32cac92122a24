#include "octavo/analysis/solids/tent.hpp"

#include <algorithm>
#include <cmath>

namespace octavo::analysis {
namespace {

using Stop = TentDrawer::Stop;

using Slope = TentDrawer::Slope;
using Edge = TentDrawer::Edge;

constexpr double least_area = 1e-12;  // of a pixel; smaller ones are rounding errors of cells beside it

/// Twice the area, with the sign of the turn.
double turn(const Stop& a, const Stop& b, const Stop& c) {
  return (b.at[0] - a.at[0]) * (c.at[1] - a.at[1]) - (b.at[1] - a.at[1]) * (c.at[0] - a.at[0]);
}

/// The linear function with these values at the corners of a triangle.
Slope slope_through(const std::array<const Stop*, 3>& corners, double a, double b, double c) {
  const std::array<double, 2> u{corners[1]->at[0] - corners[0]->at[0], corners[1]->at[1] - corners[0]->at[1]},
      v{corners[2]->at[0] - corners[0]->at[0], corners[2]->at[1] - corners[0]->at[1]};
  const double area = u[0] * v[1] - u[1] * v[0];
  Slope slope;
  slope.across = ((b - a) * v[1] - (c - a) * u[1]) / area;
  slope.up = ((c - a) * u[0] - (b - a) * v[0]) / area;
  slope.at_origin = a - slope.across * corners[0]->at[0] - slope.up * corners[0]->at[1];
  return slope;
}

Edge edge_between(const Stop& a, const Stop& b) {
  return {a.at[0], a.at[1], (b.at[1] - a.at[1]) / (b.at[0] - a.at[0])};
}

/// Where an edge passes sides between rows, from one column's place to another's.
void add_crossings(const Edge& edge, double from, double to, std::vector<double>& stops) {
  const double one = edge(from), other = edge(to);
  const double last = std::ceil(std::max(one, other));
  for (double row = std::floor(std::min(one, other)) + 1; row < last; ++row) {
    const double at = edge.x + (row - edge.y) / edge.rise;
    if (at > from && at < to) stops.push_back(at);
  }
}

/// Places and weights of Gauss's rule on [0, 1]: of 2 places for polynomials of degree 3, of 3 for degree 5.
struct GaussPlace {
  double at, weight;
};
constexpr std::array<GaussPlace, 2> two_places{{{0.21132486540518713, 0.5}, {0.78867513459481287, 0.5}}};
constexpr std::array<GaussPlace, 3> three_places{
    {{0.11270166537925831, 5.0 / 18}, {0.5, 4.0 / 9}, {0.88729833462074169, 5.0 / 18}}};

/// The pole of the tent: the place where the line of sight passes two edges, or a corner and a side. Points of the
/// tetrahedron have shares in it that sum to 1 on either end of the line.
struct TentPole {
  Stop stop;
  std::array<std::size_t, 4> ring{};  ///< the corners around it
  std::size_t count = 0;              ///< of the ring
};

/// The shares that make 0 of the points' places in the picture, and sum to 0; those above 0 sum to 1. All are 0 if the
/// shadow has no area.
std::array<double, 4> shares_of(const SeenTetrahedron& t) {
  const auto cross = [&](std::size_t i, std::size_t j) {
    return (t[i].at[0] - t[0].at[0]) * (t[j].at[1] - t[0].at[1]) -
           (t[i].at[1] - t[0].at[1]) * (t[j].at[0] - t[0].at[0]);
  };
  std::array<double, 4> shares{0, -cross(2, 3), cross(1, 3), -cross(1, 2)};
  shares[0] = -(shares[1] + shares[2] + shares[3]);
  double above = 0;
  for (const double share : shares) above += std::max(share, 0.0);
  for (double& share : shares) share = above > 0 ? share / above : 0;
  return shares;
}

TentPole pole_of(const SeenTetrahedron& t, const std::array<double, 4>& shares) {
  TentPole pole;
  std::array<double, 2> depth{};
  std::array<std::array<std::size_t, 4>, 2> corners{};  // those with a share above 0, and the others
  std::array<std::size_t, 2> counts{};
  for (std::size_t k = 0; k < 4; ++k) {
    const std::size_t end = shares[k] > 0 ? 0 : 1;
    const double share = std::fabs(shares[k]);
    corners[end][counts[end]++] = k;
    if (share == 0) continue;
    depth[end] += share * (t[k].at[2] - t[0].at[2]);
    pole.stop.value[end] += share * t[k].value;
    pole.stop.weight[end] += share * t[k].weight;
    if (end == 0)
      for (std::size_t i = 0; i < 2; ++i) pole.stop.at[i] += share * t[k].at[i];
  }
  pole.stop.length = std::fabs(depth[1] - depth[0]);
  if (counts[0] == 2) {  // two edges cross
    pole.ring = {corners[0][0], corners[1][0], corners[0][1], corners[1][1]};
    pole.count = 4;
  } else {  // one corner is behind or before a side: the others are around it
    for (std::size_t k = 0; k < 4; ++k)
      if (counts[0] == 1 ? !(shares[k] > 0) : shares[k] > 0) pole.ring[pole.count++] = k;
  }
  return pole;
}

}  // namespace

TentDrawer::TentDrawer(Projection kind, Tile& tile) : kind_(kind), tile_(tile) {
  const std::size_t pixels = tile.size[0] * tile.size[1];
  tile.sum.assign(pixels, blank_of(kind));
  if (kind == Projection::mean) tile.weight.assign(pixels, -0.0);
}

void TentDrawer::draw(const SeenTetrahedron& t) {
  if (is_extreme(kind_) &&
      (std::isnan(t[0].value) || std::isnan(t[1].value) || std::isnan(t[2].value) || std::isnan(t[3].value)))
    return;
  std::array<double, 2> end{};
  for (std::size_t i = 0; i < 2; ++i) {
    origin_[i] = std::floor(std::min({t[0].at[i], t[1].at[i], t[2].at[i], t[3].at[i]}));
    end[i] = std::ceil(std::max({t[0].at[i], t[1].at[i], t[2].at[i], t[3].at[i]}));
    const auto first = static_cast<double>(tile_.first[i]), last = first + static_cast<double>(tile_.size[i]);
    if (!(end[i] > first) || !(origin_[i] < last)) return;
  }
  if (end[0] - origin_[0] == 1 && end[1] - origin_[1] == 1)
    return draw_within_pixel(t, static_cast<std::size_t>(origin_[0]), static_cast<std::size_t>(origin_[1]));
  SeenTetrahedron near = t;
  for (SeenCorner& corner : near)
    for (std::size_t i = 0; i < 2; ++i) corner.at[i] -= origin_[i];
  const std::array<double, 4> shares = shares_of(near);
  if (std::all_of(shares.begin(), shares.end(), [](double share) { return share == 0; })) return;
  const TentPole pole = pole_of(near, shares);
  const auto stop_of = [&](const SeenCorner& corner) {
    return Stop{{corner.at[0], corner.at[1]}, 0, {corner.value, corner.value}, {corner.weight, corner.weight}};
  };
  for (std::size_t k = 0; k < pole.count; ++k)
    draw_triangle(pole.stop, stop_of(near[pole.ring[k]]), stop_of(near[pole.ring[(k + 1) % pole.count]]));
}

void TentDrawer::draw_within_pixel(const SeenTetrahedron& t, std::size_t column, std::size_t row) {
  std::array<mesh::Point3, 3> edge{};
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t a = 0; a < 3; ++a) edge[k][a] = t[k + 1].at[a] - t[0].at[a];
  const auto& [u, v, w] = edge;
  const double volume = std::fabs(u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) +
                                  u[2] * (v[0] * w[1] - v[1] * w[0])) /
                        6;
  if (volume == 0) return;
  const std::size_t pixel = (row - tile_.first[1]) * tile_.size[0] + (column - tile_.first[0]);
  double values = 0, weights = 0, products = 0;
  for (const SeenCorner& corner : t) {
    if (is_extreme(kind_)) take_extreme(corner.value, pixel);
    values += corner.value;
    weights += corner.weight;
    products += corner.value * corner.weight;
  }
  if (kind_ == Projection::integral) tile_.sum[pixel] += volume * values / 4;
  if (kind_ != Projection::mean) return;
  tile_.sum[pixel] += volume * (values * weights + products) / 20;
  tile_.weight[pixel] += volume * weights / 4;
}

void TentDrawer::draw_triangle(const Stop& a, const Stop& b, const Stop& c) {
  std::array<const Stop*, 3> corners{&a, &b, &c};
  if (turn(a, b, c) == 0) return;
  const auto middle = [](const std::array<double, 2>& of) { return 0.5 * (of[0] + of[1]); };
  const auto change = [](const std::array<double, 2>& of) { return of[1] - of[0]; };
  const auto slope = [&](const auto& value_of) {
    return slope_through(corners, value_of(a), value_of(b), value_of(c));
  };
  Side side;
  side.length = slope([](const Stop& stop) { return stop.length; });
  side.value = slope([&](const Stop& stop) { return middle(stop.value); });
  if (kind_ != Projection::integral) side.value_change = slope([&](const Stop& stop) { return change(stop.value); });
  if (kind_ == Projection::mean) {
    side.weight = slope([&](const Stop& stop) { return middle(stop.weight); });
    side.weight_change = slope([&](const Stop& stop) { return change(stop.weight); });
  }
  const auto range = std::minmax({a.value[0], a.value[1], b.value[0], b.value[1], c.value[0], c.value[1]});
  side.range = {range.first, range.second};
  std::sort(corners.begin(), corners.end(),
            [](const Stop* one, const Stop* other) { return one->at[0] < other->at[0]; });
  const auto [first, second, last] = corners;
  const Edge whole = edge_between(*first, *last);
  const bool above = second->at[1] > whole(second->at[0]);  // the second corner
  for (const auto& [from, to] : {std::pair{first, second}, std::pair{second, last}}) {
    if (!(from->at[0] < to->at[0])) continue;
    const Edge part = edge_between(*from, *to);
    for (double column = std::floor(from->at[0]); column < to->at[0]; ++column)
      draw_column(above ? whole : part, above ? part : whole, std::max(from->at[0], column),
                  std::min(to->at[0], column + 1), side);
  }
}

// Rows that no edge passes are drawn in one piece.
void TentDrawer::draw_column(const Edge& lower, const Edge& upper, double from, double to, const Side& side) {
  const double first = std::ceil(std::max(lower(from), lower(to)));
  const double last = std::floor(std::min(upper(from), upper(to)));
  if (!(first < last)) return draw_between(lower, upper, from, to, side);
  const Edge bottom{from, first, 0}, top{from, last, 0};
  draw_between(lower, bottom, from, to, side);
  if (is_extreme(kind_))
    draw_between(bottom, top, from, to, side);
  else
    add_rows(from, to, first, last, side);
  draw_between(top, upper, from, to, side);
}

// A product of linear functions over a rectangle is that at its middle, and what the spread of two of them adds.
void TentDrawer::add_rows(double from, double to, double first, double last, const Side& side) {
  const double middle = 0.5 * (from + to), wide = to - from;
  const double column = std::floor(middle) + origin_[0] - static_cast<double>(tile_.first[0]);
  if (column < 0 || !(column < static_cast<double>(tile_.size[0]))) return;
  const double below = static_cast<double>(tile_.first[1]) - origin_[1];
  first = std::max(first, below);
  last = std::min(last, below + static_cast<double>(tile_.size[1]));
  const auto spread = [&](const Slope& a, const Slope& b) {
    return (wide * wide * a.across * b.across + a.up * b.up) / 12;
  };
  const auto product = [&](double a, double b, double c, const std::array<double, 3>& spreads) {
    return a * b * c + a * spreads[0] + b * spreads[1] + c * spreads[2];
  };
  const double of_values = spread(side.length, side.value), of_weights = spread(side.length, side.weight);
  const std::array<double, 3> middles{spread(side.value, side.weight), of_weights, of_values},
      changes{spread(side.value_change, side.weight_change), spread(side.length, side.weight_change),
              spread(side.length, side.value_change)};
  for (double row = first; row < last; ++row) {
    const std::size_t pixel = static_cast<std::size_t>(row - below) * tile_.size[0] + static_cast<std::size_t>(column);
    const double y = row + 0.5, length = side.length(middle, y), value = side.value(middle, y);
    if (kind_ == Projection::integral) {
      tile_.sum[pixel] += wide * (length * value + of_values);
      continue;
    }
    const double weight = side.weight(middle, y), of_both = product(length, value, weight, middles);
    const double more = product(length, side.value_change(middle, y), side.weight_change(middle, y), changes) / 12;
    tile_.sum[pixel] += wide * (of_both + more);
    tile_.weight[pixel] += wide * (length * weight + of_weights);
  }
}

void TentDrawer::draw_between(const Edge& lower, const Edge& upper, double from, double to, const Side& side) {
  stops_.clear();
  add_crossings(lower, from, to, stops_);
  add_crossings(upper, from, to, stops_);
  std::sort(stops_.begin(), stops_.end());
  stops_.push_back(to);
  for (const double stop : stops_) {
    if (stop > from) draw_piece({from, stop, lower, upper}, side);
    from = stop;
  }
}

void TentDrawer::draw_piece(const Piece& piece, const Side& side) {
  const double middle = 0.5 * (piece.from + piece.to);
  const double column = std::floor(middle) + origin_[0] - static_cast<double>(tile_.first[0]);
  if (column < 0 || !(column < static_cast<double>(tile_.size[0]))) return;
  const double below = static_cast<double>(tile_.first[1]) - origin_[1];
  const double first = std::max(std::floor(piece.lower(middle)), below);
  const double last = std::min(std::ceil(piece.upper(middle)), below + static_cast<double>(tile_.size[1]));
  for (double row = first; row < last; ++row) {
    const std::size_t pixel = static_cast<std::size_t>(row - below) * tile_.size[0] + static_cast<std::size_t>(column);
    is_extreme(kind_) ? add_extremes(piece, row, side, pixel) : add_pixel(piece, row, side, pixel);
  }
}

// The integrand is of degree 2, with weights 3, and so 3 or 4 across once it is integrated upwards.
void TentDrawer::add_pixel(const Piece& piece, double row, const Side& side, std::size_t pixel) {
  double sum = 0, weight = 0;
  const auto add_column = [&](const GaussPlace& place) {
    const double x = piece.from + place.at * (piece.to - piece.from);
    const double low = std::max(piece.lower(x), row), high = std::min(piece.upper(x), row + 1);
    if (!(high > low)) return;
    const double area = place.weight * (piece.to - piece.from) * (high - low);
    for (const GaussPlace& up : two_places) {
      const double y = low + up.at * (high - low), length = up.weight * area * side.length(x, y);
      const double value = side.value(x, y);
      if (kind_ == Projection::integral) {
        sum += length * value;
        continue;
      }
      // Along the line of sight value and weight are linear: the mean of their product is that of their middles, and a
      // twelfth of that of their changes.
      const double weigh = side.weight(x, y);
      sum += length * (value * weigh + side.value_change(x, y) * side.weight_change(x, y) / 12);
      weight += length * weigh;
    }
  };
  if (kind_ == Projection::integral)
    for (const GaussPlace& place : two_places) add_column(place);
  else
    for (const GaussPlace& place : three_places) add_column(place);
  tile_.sum[pixel] += sum;
  if (kind_ == Projection::mean) tile_.weight[pixel] += weight;
}

void TentDrawer::add_extremes(const Piece& piece, double row, const Side& side, std::size_t pixel) {
  double area = 0;
  std::array<std::array<double, 2>, 2> ends{};  // low and high, of the left and the right
  for (std::size_t i = 0; i < 2; ++i) {
    const double x = i == 0 ? piece.from : piece.to;
    ends[i] = {std::max(piece.lower(x), row), std::min(piece.upper(x), row + 1)};
    area += 0.5 * (piece.to - piece.from) * std::max(0.0, ends[i][1] - ends[i][0]);
  }
  if (!(area > least_area)) return;
  for (std::size_t i = 0; i < 2; ++i)
    for (const double y : ends[i]) {
      const double x = i == 0 ? piece.from : piece.to;
      const double middle = side.value(x, y), half = 0.5 * side.value_change(x, y);
      for (const double value : {middle - half, middle + half})
        take_extreme(std::clamp(value, side.range[0], side.range[1]), pixel);
    }
}

void TentDrawer::take_extreme(double value, std::size_t pixel) {
  double& to = tile_.sum[pixel];
  if (kind_ == Projection::maximum ? !(value <= to) : !(value >= to)) to = value;
}

}  // namespace octavo::analysis
