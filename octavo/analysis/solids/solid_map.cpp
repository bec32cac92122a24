#include "octavo/analysis/solids/solid_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "octavo/analysis/solids/tent.hpp"
#include "octavo/mesh/solids/tetrahedra.hpp"

namespace octavo::analysis {
namespace {

double inside_of(const SeenSide& side, const mesh::Point3& at) {
  return side.at + side.slope[0] * at[0] + side.slope[1] * at[1] + side.slope[2] * at[2];
}

/// The sides of the view's box that cut the mesh. Sides across an axis of an upright picture are those of its window.
std::vector<SeenSide> sides_that_cut(const AnyView& view, const std::array<double, 2>& pixel,
                                     const std::vector<mesh::Point3>& points) {
  std::vector<SeenSide> sides;
  for (std::size_t a = 0; a < 3; ++a) {
    const double right = view.axes.right[a], up = view.axes.up[a];
    if (std::fabs(right) == 1 || std::fabs(up) == 1) continue;
    const double corner = right * view.lo[0] + up * view.lo[1];
    const double rounding = 1e-12 * (view.clip_hi[a] - view.clip_lo[a]);
    for (const double sign : {1.0, -1.0}) {
      const double at = sign > 0 ? corner - view.clip_lo[a] : view.clip_hi[a] - corner;
      const SeenSide side{at, {sign * right * pixel[0], sign * up * pixel[1], sign * view.axes.towards[a]}};
      if (std::any_of(points.begin(), points.end(),
                      [&](const mesh::Point3& point) { return inside_of(side, point) < -rounding; }))
        sides.push_back(side);
    }
  }
  return sides;
}

SeenCorner corner_between(const SeenCorner& a, const SeenCorner& b, double share) {
  const auto mixed = [&](double of_a, double of_b) { return of_a == of_b ? of_a : (1 - share) * of_a + share * of_b; };
  SeenCorner out;
  for (std::size_t i = 0; i < 3; ++i) out.at[i] = mixed(a.at[i], b.at[i]);
  out.value = mixed(a.value, b.value);
  out.weight = mixed(a.weight, b.weight);
  return out;
}

/// The tetrahedra of what a side leaves of a tetrahedron.
void cut_off(const SeenTetrahedron& t, const SeenSide& side, std::vector<SeenTetrahedron>& to) {
  std::array<std::size_t, 4> in{}, out{};
  std::array<double, 4> way{};
  std::size_t inner = 0, outer = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    way[k] = inside_of(side, t[k].at);
    (way[k] >= 0 ? in[inner++] : out[outer++]) = k;
  }
  const auto between = [&](std::size_t i, std::size_t o) {
    return corner_between(t[i], t[o], way[i] / (way[i] - way[o]));
  };
  // A wedge: two triangles, corner by corner.
  const auto wedge = [&](const std::array<SeenCorner, 3>& a, const std::array<SeenCorner, 3>& b) {
    to.push_back({a[0], a[1], a[2], b[0]});
    to.push_back({a[1], a[2], b[0], b[1]});
    to.push_back({a[2], b[0], b[1], b[2]});
  };
  const std::size_t i = in[0], o = out[0];
  switch (inner) {
    case 4: to.push_back(t); break;
    case 3: wedge({t[in[0]], t[in[1]], t[in[2]]}, {between(in[0], o), between(in[1], o), between(in[2], o)}); break;
    case 2:
      wedge({t[i], between(i, out[0]), between(i, out[1])}, {t[in[1]], between(in[1], out[0]), between(in[1], out[1])});
      break;
    case 1: to.push_back({t[i], between(i, out[0]), between(i, out[1]), between(i, out[2])}); break;
    default: break;
  }
}

/// The pixels of cells, within some rows and columns.
Tile tile_of_cells(const SeenSolids& seen, std::size_t first, std::size_t last, RowRange rows, std::size_t columns) {
  std::array<double, 2> lo{1e300, 1e300}, hi{-1e300, -1e300};
  const auto end = static_cast<std::size_t>(seen.first[last]);
  for (auto k = static_cast<std::size_t>(seen.first[first]); k < end; ++k)
    for (std::size_t i = 0; i < 2; ++i) {
      const double at = seen.at[static_cast<std::size_t>(seen.mesh->connectivity[k])][i];
      lo[i] = std::min(lo[i], at);
      hi[i] = std::max(hi[i], at);
    }
  const std::array<RowRange, 2> within{RowRange{0, columns}, rows};
  Tile tile;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto least = static_cast<double>(within[i].first), most = static_cast<double>(within[i].last);
    tile.first[i] = static_cast<std::size_t>(std::clamp(std::floor(lo[i]), least, most));
    tile.size[i] = static_cast<std::size_t>(std::clamp(std::ceil(hi[i]), least, most)) - tile.first[i];
  }
  return tile.size[0] == 0 || tile.size[1] == 0 ? Tile{} : tile;
}

}  // namespace

SeenSolids see_solids(const mesh::Solids& mesh, const AnyView& view, const SolidValues& field,
                      const SolidValues& weight, std::span<const char> chosen) {
  SeenSolids seen{&mesh, field, weight, chosen, {}, mesh::first_corners(mesh), {}};
  std::array<double, 2> pixel{};
  for (std::size_t i = 0; i < 2; ++i) pixel[i] = (view.hi[i] - view.lo[i]) / static_cast<double>(view.pixels[i]);
  for (std::size_t i = 0; i < mesh.x.size(); ++i) {
    const mesh::Point3 place{mesh.x[i], mesh.y[i], mesh.z[i]};
    seen.at.push_back({(dot(view.axes.right, place) - view.lo[0]) / pixel[0],
                       (dot(view.axes.up, place) - view.lo[1]) / pixel[1], dot(view.axes.towards, place)});
  }
  seen.sides = sides_that_cut(view, pixel, seen.at);
  return seen;
}

Tile project(const SeenSolids& seen, Projection kind, std::size_t first, std::size_t last, RowRange rows,
             std::size_t columns) {
  Tile tile = tile_of_cells(seen, first, last, rows, columns);
  if (tile.size[1] == 0) return tile;
  TentDrawer drawer(kind, tile);
  const bool weighted = !seen.weight.values.empty();
  std::vector<SeenTetrahedron> pieces, left;
  for (std::size_t cell = first; cell < last; ++cell) {
    if (!seen.chosen.empty() && seen.chosen[cell] == 0) continue;
    const auto points = std::span(seen.mesh->connectivity)
                            .subspan(static_cast<std::size_t>(seen.first[cell]), seen.mesh->corners[cell]);
    mesh::for_each_tetrahedron(*seen.mesh, points, [&](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
      const auto corner = [&](std::int64_t point) {
        return SeenCorner{seen.at[static_cast<std::size_t>(point)], seen.field(cell, point),
                          weighted ? seen.weight(cell, point) : 1};
      };
      pieces.assign(1, {corner(a), corner(b), corner(c), corner(d)});
      for (const SeenSide& side : seen.sides) {
        left.clear();
        for (const SeenTetrahedron& piece : pieces) cut_off(piece, side, left);
        std::swap(pieces, left);
      }
      for (const SeenTetrahedron& piece : pieces) drawer.draw(piece);
    });
  }
  return tile;
}

}  // namespace octavo::analysis
