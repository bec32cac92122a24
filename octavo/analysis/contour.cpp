#include "octavo/analysis/contour.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "octavo/base/error.hpp"
#include "octavo/mesh/solids/tetrahedra.hpp"

namespace octavo::analysis {
namespace {

/// Makes the points of a surface, one for each pair of leaves, and its triangles. `centre(i)` is that of a leaf.
template <class Centre>
class SurfaceMaker {
 public:
  SurfaceMaker(const std::vector<ValuedLeaf>& leaves, double at, const Centre& centre, Surface& to)
      : leaves_(leaves), at_(at), centre_(centre), to_(to) {
    made_.reserve(leaves.size() / 4);
  }

  using Corners = std::array<std::uint32_t, 4>;

  /// A tetrahedron whose last three corners turn counter-clockwise as seen from outside. One with less than four
  /// different leaves has no volume.
  void tetrahedron(const Corners& c) {
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (c[i] == c[j]) return;
    unsigned above = 0;
    for (unsigned i = 0; i < 4; ++i) above |= (is_above(c[i]) ? 1U : 0U) << i;
    for (const auto& order : even_orders) {
      const unsigned one = 1U << order[0], two = one | 1U << order[1];
      const std::uint32_t i = c[order[0]], j = c[order[1]], k = c[order[2]], l = c[order[3]];
      if (order[0] < order[1] && above == two) return two_above(i, j, k, l);
      if (order[1] != (order[0] == 0 ? 1 : 0)) continue;  // one order for each corner that is alone
      if (above == one) return triangle(point(i, j), point(i, k), point(i, l));
      if ((above ^ 15U) == one) return triangle(point(i, j), point(i, l), point(i, k));
    }
  }
  /// A triangle that turns counter-clockwise.
  void flat(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    if (a == b || b == c || c == a) return;
    const std::array<std::uint32_t, 3> corners{a, b, c};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::uint32_t one = corners[i], next = corners[(i + 1) % 3], last = corners[(i + 2) % 3];
      if (is_above(next) != is_above(last) || is_above(one) == is_above(next)) continue;
      if (is_above(one))
        to_.triangles.push_back({point(one, next), point(one, last), 0});
      else
        to_.triangles.push_back({point(one, last), point(one, next), 0});
    }
  }
  bool is_above(std::uint32_t leaf) const { return leaves_[leaf].value > at_; }

 private:
  /// Even permutations keep a tetrahedron's orientation. For each pair of corners there is one that begins with it, and
  /// for each corner one that begins with it and the lowest other.
  static constexpr std::array<std::array<std::uint8_t, 4>, 9> even_orders{{{0, 1, 2, 3},
                                                                           {0, 2, 3, 1},
                                                                           {0, 3, 1, 2},
                                                                           {1, 0, 3, 2},
                                                                           {1, 2, 0, 3},
                                                                           {1, 3, 2, 0},
                                                                           {2, 3, 0, 1},
                                                                           {2, 0, 1, 3},
                                                                           {3, 0, 2, 1}}};
  void two_above(std::uint32_t i, std::uint32_t j, std::uint32_t k, std::uint32_t l) {
    const std::uint32_t ik = point(i, k), il = point(i, l), jl = point(j, l), jk = point(j, k);
    triangle(ik, il, jl);
    triangle(ik, jl, jk);
  }
  void triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c) { to_.triangles.push_back({a, b, c}); }

  std::uint32_t point(std::uint32_t a, std::uint32_t b) {
    // The leaf with the smaller key comes first, so the parts on both sides of a border compute the same bits.
    if (leaves_[b].key < leaves_[a].key) std::swap(a, b);
    const auto [found, added] =
        made_.try_emplace(std::uint64_t{a} << 32 | b, static_cast<std::uint32_t>(to_.points.size()));
    if (!added) return found->second;
    if (to_.points.size() >= LeafTree::none) throw base::Error(base::Kind::unsupported, "a surface of 2^32 points");
    const double share = (at_ - leaves_[a].value) / (leaves_[b].value - leaves_[a].value);
    const mesh::Point3 from = centre_(a), to = centre_(b);
    mesh::Point3 place{};
    for (std::size_t axis = 0; axis < 3; ++axis) place[axis] = from[axis] + share * (to[axis] - from[axis]);
    to_.edges.push_back({leaves_[a].key, leaves_[b].key});
    to_.points.push_back(place);
    return found->second;
  }

  const std::vector<ValuedLeaf>& leaves_;
  double at_;
  const Centre& centre_;
  Surface& to_;
  std::unordered_map<std::uint64_t, std::uint32_t> made_;
};

// ------------------------------------------------------------------------------------------------ dual cells

/// The first leaf along the curve among some corners of a dual cell.
template <std::size_t N>
std::size_t first_of(const std::array<std::uint32_t, N>& leaves) {  // leaves are numbered along the curve
  return static_cast<std::size_t>(std::min_element(leaves.begin(), leaves.end()) - leaves.begin());
}

/// The corners of a side of the dual cell, counter-clockwise as seen from outside.
std::array<unsigned, 4> side_of_cell(unsigned axis, bool upper) {
  const unsigned here = upper ? 1U << axis : 0, b = 1U << (axis + 1) % 3, c = 1U << (axis + 2) % 3;
  return upper ? std::array<unsigned, 4>{here, here | b, here | b | c, here | c}
               : std::array<unsigned, 4>{here, here | c, here | b | c, here | b};
}

template <class Maker>
void cut_cell(const std::array<std::uint32_t, 8>& leaves, Maker& maker) {
  const auto apex = static_cast<unsigned>(first_of(leaves));
  for (unsigned axis = 0; axis < 3; ++axis) {
    const auto side = side_of_cell(axis, (apex >> axis & 1U) == 0);
    std::array<std::uint32_t, 4> around{};
    for (std::size_t k = 0; k < 4; ++k) around[k] = leaves[side[k]];
    const std::size_t first = first_of(around);
    const auto corner = [&](std::size_t k) { return around[(first + k) % 4]; };
    maker.tetrahedron({leaves[apex], corner(0), corner(1), corner(2)});
    maker.tetrahedron({leaves[apex], corner(0), corner(2), corner(3)});
  }
}

template <class Maker>
void cut_square(const std::array<std::uint32_t, 8>& leaves, Maker& maker) {
  const std::array<std::uint32_t, 4> around{leaves[0], leaves[1], leaves[3], leaves[2]};
  const std::size_t first = first_of(around);
  const auto corner = [&](std::size_t k) { return around[(first + k) % 4]; };
  maker.flat(corner(0), corner(1), corner(2));
  maker.flat(corner(0), corner(2), corner(3));
}

/// Windows below which there is no crossing and no border: all values on one side, and nothing unknown beside values.
bool no_crossing(const LeafTree& tree, const NodeWindow& window, double at) {
  double lo = std::numeric_limits<double>::infinity(), hi = -lo;
  bool unknown = false;
  const Subsets& sides = subsets_of_axes[window.split];
  for (unsigned i = 0; i < sides.count; ++i) {
    const LeafTree::Node& node = tree.nodes[window.nodes[sides.of[i]]];
    lo = std::min(lo, node.lo);
    hi = std::max(hi, node.hi);
    unknown = unknown || node.unknown;
    if (lo <= hi && (unknown || (lo <= at && hi > at))) return false;
  }
  return true;
}

/// Calls cell(leaves) for dual cells that the surface may cross, and border(leaf) for leaves beside unknown ones.
template <class Cell, class Border>
void for_each_dual_cell(const LeafTree& tree, double at, const Cell& cell, const Border& border) {
  const unsigned count = 1U << tree.dim;
  for_each_window(
      tree, tree.dim, {}, [&](const NodeWindow& window) { return no_crossing(tree, window, at); },
      [&](const NodeWindow& window) {
        std::array<std::uint32_t, 8> leaves{};
        bool unknown = false, hole = false;
        for (unsigned w = 0; w < count; ++w) {
          const LeafTree::Node& node = tree.nodes[window.nodes[w]];
          leaves[w] = node.leaf;
          unknown = unknown || node.unknown;
          hole = hole || (!node.unknown && !node.taken());
        }
        // A hole is a known place without a value: the surface ends there. Dual cells at an unknown place are made
        // later, by join_surface(), from the border leaves of all parts.
        if (!unknown && !hole) return cell(leaves);
        for (unsigned w = 0; unknown && w < count; ++w)
          if (leaves[w] != LeafTree::none) border(leaves[w]);
      });
}

}  // namespace

void join_points(Surface& surface) {
  std::vector<std::uint32_t> order(surface.points.size()), place(order.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return surface.edges[a] != surface.edges[b] ? surface.edges[a] < surface.edges[b] : a < b;
  });
  for (std::size_t k = 0; k < order.size(); ++k)
    place[order[k]] = k > 0 && surface.edges[order[k]] == surface.edges[order[k - 1]] ? place[order[k - 1]] : order[k];
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < place.size(); ++i) {
    if (place[i] != i) {
      place[i] = place[place[i]];  // an earlier point, which has its new place already
      continue;
    }
    surface.points[next] = surface.points[i];
    surface.edges[next] = surface.edges[i];
    place[i] = next++;
  }
  surface.points.resize(next);
  surface.edges.resize(next);
  for (auto& triangle : surface.triangles)
    for (std::size_t k = 0; k < static_cast<std::size_t>(surface.dim); ++k) triangle[k] = place[triangle[k]];
}

Surface part_surface(const mesh::Part& part, const mesh::Header& header, const CommonGrid& grid,
                     const Selection& selection, const std::string& field, double at) {
  Surface surface;
  surface.dim = grid.dim;
  std::vector<ValuedLeaf> leaves = valued_leaves(part, header, grid, selection, field);
  for (ValuedLeaf& leaf : leaves) {
    if (std::isinf(leaf.value)) leaf.value = std::numeric_limits<double>::quiet_NaN();
    leaf.id = static_cast<std::uint32_t>(part.index);
  }
  const LeafTree tree = leaf_tree(grid, leaves);
  const auto centre = [&](std::uint32_t i) { return centre_of(grid, leaves[i].key, leaves[i].depth); };
  SurfaceMaker maker(leaves, at, centre, surface);
  std::vector<char> border(leaves.size(), 0);
  for_each_dual_cell(
      tree, at,
      [&](const std::array<std::uint32_t, 8>& around) {
        grid.dim == 3 ? cut_cell(around, maker) : cut_square(around, maker);
      },
      [&](std::uint32_t leaf) { border[leaf] = 1; });
  for (std::size_t i = 0; i < leaves.size(); ++i)
    if (border[i] != 0) surface.border.push_back(leaves[i]);
  return surface;
}

void add(Surface& to, Surface&& later) {
  if (to.points.size() + later.points.size() >= LeafTree::none)
    throw base::Error(base::Kind::unsupported, "a surface of 2^32 points");
  const auto before = static_cast<std::uint32_t>(to.points.size());
  to.dim = later.dim;
  to.edges.insert(to.edges.end(), later.edges.begin(), later.edges.end());
  to.points.insert(to.points.end(), later.points.begin(), later.points.end());
  to.border.insert(to.border.end(), later.border.begin(), later.border.end());
  for (auto& triangle : later.triangles)
    for (std::size_t k = 0; k < static_cast<std::size_t>(to.dim); ++k) triangle[k] += before;
  to.triangles.insert(to.triangles.end(), later.triangles.begin(), later.triangles.end());
}

void join_surface(Surface& surface, const CommonGrid& grid, double at) {
  std::vector<ValuedLeaf> leaves = std::move(surface.border);
  surface.border.clear();
  std::sort(leaves.begin(), leaves.end(), [](const ValuedLeaf& a, const ValuedLeaf& b) { return a.key < b.key; });
  const auto centre = [&](std::uint32_t i) { return centre_of(grid, leaves[i].key, leaves[i].depth); };
  Surface between;
  between.dim = grid.dim;
  SurfaceMaker maker(leaves, at, centre, between);
  const std::size_t count = std::size_t{1} << grid.dim;
  for_each_dual_cell(
      leaf_tree(grid, leaves), at,
      [&](const std::array<std::uint32_t, 8>& around) {
        bool one_part = true;
        for (std::size_t w = 1; w < count; ++w) one_part = one_part && leaves[around[w]].id == leaves[around[0]].id;
        if (one_part) return;  // its part has made it
        grid.dim == 3 ? cut_cell(around, maker) : cut_square(around, maker);
      },
      [](std::uint32_t) {});
  add(surface, std::move(between));
  join_points(surface);
}

Surface triangle_lines(const mesh::Unstructured& mesh, const std::vector<double>& values, double at) {
  Surface surface;
  surface.dim = 2;
  std::vector<ValuedLeaf> points(values.size());
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = {{0, i}, values[i], static_cast<std::uint32_t>(i), 0};
  const auto place = [&](std::uint32_t i) { return mesh::Point3{mesh.x[i], mesh.y[i], 0}; };
  SurfaceMaker maker(points, at, place, surface);
  for (std::size_t t = 0; t + 2 < mesh.connectivity.size(); t += 3) {
    const auto corner = [&](std::size_t k) { return static_cast<std::uint32_t>(mesh.connectivity[t + k]); };
    const std::uint32_t a = corner(0), b = corner(1), c = corner(2);
    if (!std::isfinite(values[a]) || !std::isfinite(values[b]) || !std::isfinite(values[c])) continue;
    const double turn =
        (mesh.x[b] - mesh.x[a]) * (mesh.y[c] - mesh.y[a]) - (mesh.y[b] - mesh.y[a]) * (mesh.x[c] - mesh.x[a]);
    turn > 0 ? maker.flat(a, b, c) : maker.flat(a, c, b);
  }
  return surface;
}

Surface solid_surface(const mesh::Solids& mesh, const std::vector<double>& values, double at,
                      std::span<const char> chosen) {
  if (values.size() >= LeafTree::none) throw base::Error(base::Kind::unsupported, "a surface in 2^32 points");
  Surface surface;
  std::vector<ValuedLeaf> points(values.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto number =
        static_cast<std::uint64_t>(mesh.global_point.empty() ? static_cast<std::int64_t>(i) : mesh.global_point[i]);
    points[i] = {{0, number}, values[i], static_cast<std::uint32_t>(i), 0};
  }
  const auto place = [&](std::uint32_t i) { return mesh::Point3{mesh.x[i], mesh.y[i], mesh.z[i]}; };
  SurfaceMaker maker(points, at, place, surface);
  // All tetrahedra of a cell turn as the cell does, even one that is inside out: so sides fit together.
  const std::vector<double> volumes = mesh::volumes_of(mesh);
  mesh::for_each_tetrahedron(
      mesh, [&](std::size_t cell, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
        if (!chosen.empty() && chosen[cell] == 0) return;
        if (volumes[cell] < 0) std::swap(c, d);
        const std::array corners{static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b),
                                 static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(d)};
        if (std::all_of(corners.begin(), corners.end(), [&](std::uint32_t i) { return std::isfinite(values[i]); }))
          maker.tetrahedron(corners);
      });
  return surface;
}

}  // namespace octavo::analysis
