#include "octavo/partition/cut.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/curve.hpp"

namespace octavo::partition {
namespace {

using base::Error;
using base::Kind;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

constexpr int curve_bits = 16;

std::uint32_t cell_of(double value, double lo, double scale) {
  const auto last = static_cast<double>((1 << curve_bits) - 1);
  const double cell = (value - lo) * scale;
  return cell > 0 ? static_cast<std::uint32_t>(std::min(cell, last)) : 0;
}

CurveCells::Extent extent_of(std::span<const double> values) {
  if (values.empty()) return {0, 0};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, *most};
}

/// The edge as a number: the lower point high.
std::uint64_t edge_key(std::int32_t a, std::int32_t b) {
  const auto low = static_cast<std::uint64_t>(std::min(a, b)), high = static_cast<std::uint64_t>(std::max(a, b));
  return low << 32 | high;
}

struct Edge {
  std::uint64_t key;
  std::int32_t element;
  std::int32_t side;
  auto operator<=>(const Edge&) const = default;
};

std::vector<bool> marked(const SharedPoints& shared) {
  std::vector<bool> marks(shared.points.empty() ? 0 : at(shared.points.back()) + 1, false);
  for (const std::int32_t point : shared.points) marks[at(point)] = true;
  return marks;
}

/// Edges with a shared point: all that an element with a cut edge can have.
std::vector<Edge> edges_around(Connectivity connectivity, const std::vector<bool>& shared) {
  std::vector<Edge> edges;
  const auto is_shared = [&](std::int32_t point) { return at(point) < shared.size() && shared[at(point)]; };
  for (std::size_t e = 0; e < connectivity.size() / 3; ++e)
    for (std::size_t side = 0; side < 3; ++side) {
      const std::int32_t a = connectivity[3 * e + side], b = connectivity[3 * e + (side + 1) % 3];
      if (is_shared(a) || is_shared(b))
        edges.push_back({edge_key(a, b), static_cast<std::int32_t>(e), static_cast<std::int32_t>(side)});
    }
  std::sort(edges.begin(), edges.end());
  return edges;
}

}  // namespace

std::string_view name_of(Method method) noexcept {
  switch (method) {
    case Method::metis: return "metis";
    case Method::scotch: return "scotch";
    case Method::hilbert: return "hilbert";
    default: return "inertial";
  }
}

Method method_named(std::string_view name) {
  for (const Method method : {Method::metis, Method::scotch, Method::hilbert, Method::inertial})
    if (name == name_of(method)) return method;
  throw Error(Kind::usage, "no partitioning method " + std::string(name))
      .hint("there are: metis, scotch, hilbert, inertial");
}

void check_parts(std::int64_t parts, std::int64_t elements) {
  if (parts < 1 || parts > elements)
    throw Error(Kind::usage, "expected 1 to " + std::to_string(elements) + " parts (one an element), found " +
                                 std::to_string(parts));
}

CurveCells::CurveCells(Extent x, Extent y) : lo_x_(x.lo), lo_y_(y.lo) {
  const auto scale_of = [](Extent e) { return e.hi > e.lo ? static_cast<double>(1 << curve_bits) / (e.hi - e.lo) : 0; };
  scale_x_ = scale_of(x);
  scale_y_ = scale_of(y);
  // Cells are square: stretches of the curve that are longer than wide have more edges.
  if (scale_x_ > 0 && scale_y_ > 0) scale_x_ = scale_y_ = std::min(scale_x_, scale_y_);
}

CurveCells::Cell CurveCells::cell(const std::array<double, 3>& x, const std::array<double, 3>& y) const {
  const double cx = x[0] / 3 + x[1] / 3 + x[2] / 3, cy = y[0] / 3 + y[1] / 3 + y[2] / 3;
  return {cell_of(cx, lo_x_, scale_x_), cell_of(cy, lo_y_, scale_y_)};
}

std::uint32_t CurveCells::key(const Cell& cell) {
  return static_cast<std::uint32_t>(mesh::curve_key(mesh::Curve::hilbert, 2, curve_bits, {cell[0], cell[1], 0}).low);
}

CurveCells cells_over(std::span<const double> x, std::span<const double> y) { return {extent_of(x), extent_of(y)}; }

PartVector cut_hilbert(Connectivity connectivity, std::span<const double> x, std::span<const double> y,
                       std::int32_t parts) {
  const auto elements = static_cast<std::int64_t>(connectivity.size() / 3);
  check_parts(parts, elements);
  const CurveCells cells = cells_over(x, y);
  struct Keyed {
    std::uint32_t key;
    std::int32_t element;
  };
  std::vector<Keyed> order(at(elements));
  for (std::size_t e = 0; e < order.size(); ++e) {
    const std::size_t a = at(connectivity[3 * e]), b = at(connectivity[3 * e + 1]), c = at(connectivity[3 * e + 2]);
    order[e] = {CurveCells::key(cells.cell({x[a], x[b], x[c]}, {y[a], y[b], y[c]})), static_cast<std::int32_t>(e)};
  }
  std::sort(order.begin(), order.end(),
            [](const Keyed& a, const Keyed& b) { return a.key != b.key ? a.key < b.key : a.element < b.element; });
  PartVector part_of(order.size());
  for (std::int64_t p = 0; p < parts; ++p)
    for (std::int64_t i = p * elements / parts; i < (p + 1) * elements / parts; ++i)
      part_of[at(order[at(i)].element)] = static_cast<std::int32_t>(p);
  return part_of;
}

PartLists list_parts(const PartVector& part_of, std::int32_t parts) {
  PartLists lists;
  lists.first.assign(at(parts) + 1, 0);
  for (const std::int32_t part : part_of) ++lists.first[at(part) + 1];
  std::partial_sum(lists.first.begin(), lists.first.end(), lists.first.begin());
  lists.elements.resize(part_of.size());
  std::vector<std::int64_t> next(lists.first.begin(), lists.first.end() - 1);
  for (std::size_t e = 0; e < part_of.size(); ++e)
    lists.elements[at(next[at(part_of[e])]++)] = static_cast<std::int32_t>(e);
  return lists;
}

std::span<const std::int32_t> elements_of(const PartLists& lists, std::int32_t part) {
  const std::size_t begin = at(lists.first[at(part)]), end = at(lists.first[at(part) + 1]);
  return std::span(lists.elements).subspan(begin, end - begin);
}

SharedPoints find_shared(Connectivity connectivity, std::int32_t points, const PartVector& part_of) {
  constexpr std::int32_t none = -1;
  std::vector<std::int32_t> first_part(at(points), none);
  struct Pair {
    std::int32_t point, part;
    auto operator<=>(const Pair&) const = default;
  };
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < connectivity.size(); ++i) {
    std::int32_t& first = first_part[at(connectivity[i])];
    const std::int32_t part = part_of[i / 3];
    if (first == none)
      first = part;
    else if (first != part)
      pairs.push_back({connectivity[i], part});
  }
  const std::size_t others = pairs.size();
  for (std::size_t i = 0; i < others; ++i) pairs.push_back({pairs[i].point, first_part[at(pairs[i].point)]});
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  SharedPoints shared;
  for (const Pair& pair : pairs) {
    if (shared.points.empty() || shared.points.back() != pair.point) {
      shared.points.push_back(pair.point);
      shared.first.push_back(static_cast<std::int64_t>(shared.parts.size()));
    }
    shared.parts.push_back(pair.part);
  }
  shared.first.push_back(static_cast<std::int64_t>(shared.parts.size()));
  return shared;
}

std::vector<HaloElement> find_halo(Connectivity connectivity, const PartVector& part_of, const SharedPoints& shared) {
  const std::vector<Edge> edges = edges_around(connectivity, marked(shared));
  struct Side {
    std::int32_t element, side, behind;
    auto operator<=>(const Side&) const = default;
  };
  std::vector<Side> sides;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    if (edges[i].key != edges[i + 1].key) continue;
    if (i + 2 < edges.size() && edges[i].key == edges[i + 2].key)
      throw Error(Kind::corrupt, "an edge of three elements: " + std::to_string(edges[i].element + 1) + ", " +
                                     std::to_string(edges[i + 1].element + 1) + " and " +
                                     std::to_string(edges[i + 2].element + 1));
    sides.push_back({edges[i].element, edges[i].side, edges[i + 1].element});
    sides.push_back({edges[i + 1].element, edges[i + 1].side, edges[i].element});
  }
  std::sort(sides.begin(), sides.end());
  std::vector<HaloElement> halo;
  for (std::size_t i = 0; i < sides.size();) {
    HaloElement found{sides[i].element, {-1, -1, -1}};
    bool cut = false;
    for (; i < sides.size() && sides[i].element == found.element; ++i) {
      found.behind[at(sides[i].side)] = sides[i].behind;
      cut = cut || part_of[at(sides[i].behind)] != part_of[at(found.element)];
    }
    if (cut) halo.push_back(found);
  }
  return halo;
}

Quality quality_of(const PartLists& lists, const PartVector& part_of, const SharedPoints& shared,
                   const std::vector<HaloElement>& halo) {
  Quality quality;
  const auto parts = static_cast<std::int32_t>(lists.first.size() - 1);
  quality.fewest = static_cast<std::int64_t>(part_of.size());
  for (std::int32_t p = 0; p < parts; ++p) {
    const auto count = static_cast<std::int64_t>(elements_of(lists, p).size());
    quality.fewest = std::min(quality.fewest, count);
    quality.most = std::max(quality.most, count);
  }
  for (const HaloElement& h : halo)
    for (const std::int32_t behind : h.behind)
      if (behind > h.element && part_of[at(behind)] != part_of[at(h.element)]) ++quality.cut_edges;
  quality.shared_points = static_cast<std::int64_t>(shared.points.size());
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  for (std::size_t i = 0; i < shared.points.size(); ++i)
    for (std::int64_t a = shared.first[i]; a < shared.first[i + 1]; ++a)
      for (std::int64_t b = shared.first[i]; b < shared.first[i + 1]; ++b)
        if (a != b) pairs.emplace_back(shared.parts[at(a)], shared.parts[at(b)]);
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::vector<std::int32_t> neighbours(at(parts), 0);
  for (const auto& pair : pairs)
    quality.most_neighbours = std::max(quality.most_neighbours, ++neighbours[at(pair.first)]);
  return quality;
}

}  // namespace octavo::partition
