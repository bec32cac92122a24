#include "octavo/partition/solids.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "octavo/base/at.hpp"
#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/mesh/solids/tetrahedra.hpp"
#include "octavo/mesh/tree/curve.hpp"
#include "octavo/partition/axis.hpp"

namespace octavo::partition {
namespace {

using base::at;
using base::Error;
using base::Kind;

/// A cell's centre, the mean of its corners.
struct CellCentre {
  double x = 0, y = 0, z = 0;
  std::int32_t cell = 0;
};

std::vector<CellCentre> centres_of(const mesh::Solids& mesh) {
  std::vector<CellCentre> centres(mesh.corners.size());
  std::size_t corner = 0;
  for (std::size_t c = 0; c < centres.size(); ++c) {
    centres[c].cell = static_cast<std::int32_t>(c);
    const double share = 1.0 / mesh.corners[c];
    for (std::size_t k = 0; k < mesh.corners[c]; ++k, ++corner) {
      const std::size_t point = at(mesh.connectivity[corner]);
      centres[c].x += share * mesh.x[point];
      centres[c].y += share * mesh.y[point];
      centres[c].z += share * mesh.z[point];
    }
  }
  return centres;
}

// ------------------------------------------------------------------------------------------------------------ inertial

void halve(std::span<CellCentre> some, std::int32_t first_part, std::int32_t parts, PartVector& part_of) {
  if (parts == 1) {
    for (const CellCentre& centre : some) part_of[at(centre.cell)] = first_part;
    return;
  }
  const std::array<double, 3> axis = principal_axis_in_space(some);
  const auto along = [&](const CellCentre& c) { return c.x * axis[0] + c.y * axis[1] + c.z * axis[2]; };
  const std::int32_t near_parts = parts / 2;
  const std::size_t middle = at(static_cast<std::int64_t>(some.size()) * near_parts / parts);
  // We break ties by cell number, so that every standard library halves alike.
  std::nth_element(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(middle), some.end(),
                   [&](const CellCentre& a, const CellCentre& b) {
                     const double u = along(a), v = along(b);
                     return u != v ? u < v : a.cell < b.cell;
                   });
  halve(some.first(middle), first_part, near_parts, part_of);
  halve(some.subspan(middle), first_part + near_parts, parts - near_parts, part_of);
}

// ------------------------------------------------------------------------------------------------------------- hilbert

PartVector cut_along_curve(const std::vector<CellCentre>& centres, std::int32_t parts) {
  constexpr int bits = 21;  // along each axis: a key has 63
  constexpr double none = std::numeric_limits<double>::infinity();
  std::array<double, 3> lo{none, none, none}, hi{-none, -none, -none};
  const auto place = [](const CellCentre& c) { return std::array{c.x, c.y, c.z}; };
  for (const CellCentre& centre : centres)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      lo[axis] = std::min(lo[axis], place(centre)[axis]);
      hi[axis] = std::max(hi[axis], place(centre)[axis]);
    }
  // Cells of the curve are cubes, so that its stretches are not long and narrow.
  const double extent = std::max({hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]});
  constexpr double last = (1 << bits) - 1;
  const double scale = extent > 0 ? last / extent : 0;
  std::vector<std::pair<std::uint64_t, std::int32_t>> keys;
  for (const CellCentre& centre : centres) {
    mesh::Coordinate cell{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      cell[axis] = static_cast<std::uint32_t>(std::clamp((place(centre)[axis] - lo[axis]) * scale, 0.0, last));
    keys.emplace_back(mesh::curve_key(mesh::Curve::hilbert, 3, bits, cell).low, centre.cell);
  }
  std::sort(keys.begin(), keys.end());
  PartVector part_of(centres.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    part_of[at(keys[i].second)] = static_cast<std::int32_t>(
        base::owner(static_cast<std::int64_t>(i), static_cast<std::int64_t>(keys.size()), parts));
  return part_of;
}

// -------------------------------------------------------------------------------------------------------- empty parts

/// Gives parts without a cell half of a larger one's, across the mesh's longest extent.
std::int64_t fill_empty_parts(const std::vector<CellCentre>& centres, std::int32_t parts, PartVector& part_of) {
  std::vector<std::int64_t> sizes(at(parts), 0);
  for (const std::int32_t part : part_of) ++sizes[at(part)];
  const std::vector<Halving> halvings = plan_halvings(sizes);
  if (halvings.empty()) return 0;
  const std::array<double, 3> axis = principal_axis_in_space(centres);
  std::vector<PlacedElement> elements;
  for (const CellCentre& c : centres)
    elements.push_back(
        {c.cell, part_of[at(c.cell)], static_cast<float>(c.x * axis[0] + c.y * axis[1] + c.z * axis[2]), 0});
  halve_parts(halvings, elements);
  for (const PlacedElement& element : elements) part_of[at(element.element)] = element.part;
  return std::ssize(halvings);
}

void require_small(const mesh::Solids& mesh) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 8;  // numbers of sides have 32 bits
  if (std::ssize(mesh.corners) > most || std::ssize(mesh.x) > std::numeric_limits<std::int32_t>::max())
    throw Error(Kind::unsupported, std::to_string(mesh.corners.size()) + " cells of " + std::to_string(mesh.x.size()) +
                                       " points: expected " + std::to_string(most) +
                                       " cells or fewer, and fewer than "
                                       "2^31 points");
}

}  // namespace

CellGraph side_graph(const mesh::Solids& mesh) {
  require_small(mesh);
  std::vector<KeyedSide<std::array<std::int32_t, 4>>> sides;
  std::size_t corner = 0;
  for (std::size_t c = 0; c < mesh.corners.size(); corner += mesh.corners[c], ++c)
    for (const mesh::SolidSide& side : mesh::sides_of(mesh.corners[c])) {
      std::array<std::int32_t, 4> points{-1, -1, -1, -1};
      for (std::size_t k = 0; k < side.count; ++k)
        points[k] = static_cast<std::int32_t>(mesh.connectivity[corner + side.corners[k]]);
      std::sort(points.begin(), points.begin() + side.count);
      // A cell may name a point twice: its side may be a triangle, or none.
      const auto end = std::unique(points.begin(), points.begin() + side.count);
      if (end - points.begin() < 3) continue;
      std::fill(end, points.end(), -1);
      sides.push_back({points, static_cast<std::int32_t>(c)});
    }
  return graph_of_sides(std::move(sides), mesh.corners.size());
}

SolidCut cut_solids(const mesh::Solids& mesh, CutMethod method, std::int32_t parts) {
  require_small(mesh);
  check_parts(parts, std::ssize(mesh.corners));
  SolidCut cut;
  cut.part_of.assign(mesh.corners.size(), 0);
  if (parts == 1) return cut;
  std::vector<CellCentre> centres = centres_of(mesh);
  switch (method) {
    case CutMethod::metis: cut.part_of = cut_metis(side_graph(mesh), parts); break;
    case CutMethod::scotch: cut.part_of = cut_scotch(side_graph(mesh), parts); break;
    case CutMethod::hilbert: cut.part_of = cut_along_curve(centres, parts); break;
    case CutMethod::inertial: halve(centres, 0, parts, cut.part_of); break;
  }
  cut.filled = fill_empty_parts(centres, parts, cut.part_of);
  return cut;
}

Quality quality_of(const mesh::Solids& mesh, const PartVector& part_of, std::int32_t parts) {
  Quality quality;
  const CellGraph graph = side_graph(mesh);
  std::vector<std::int64_t> sizes(at(parts), 0);
  std::vector<std::pair<std::int64_t, std::int32_t>> touched;  // points, and the parts that have them
  std::size_t corner = 0;
  for (std::size_t c = 0; c < part_of.size(); ++c) {
    ++sizes[at(part_of[c])];
    for (std::int32_t i = graph.first[c]; i < graph.first[c + 1]; ++i)
      quality.cut_edges += part_of[at(graph.neighbours[at(i)])] > part_of[c] ? 1 : 0;
    for (std::size_t k = 0; k < mesh.corners[c]; ++k) touched.emplace_back(mesh.connectivity[corner++], part_of[c]);
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  std::vector<std::pair<std::int32_t, std::int32_t>> neighbours;
  for (std::size_t i = 0; i < touched.size();) {
    std::size_t end = i + 1;
    while (end < touched.size() && touched[end].first == touched[i].first) ++end;
    quality.shared_points += end - i > 1 ? 1 : 0;
    for (std::size_t a = i; a < end; ++a)
      for (std::size_t b = i; b < end; ++b)
        if (a != b) neighbours.emplace_back(touched[a].second, touched[b].second);
    i = end;
  }
  std::sort(neighbours.begin(), neighbours.end());
  neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
  std::vector<std::int32_t> count(at(parts), 0);
  for (const auto& [part, other] : neighbours) ++count[at(part)];
  quality.most_neighbours = *std::max_element(count.begin(), count.end());
  const auto [fewest, most] = std::minmax_element(sizes.begin(), sizes.end());
  quality.fewest = *fewest;
  quality.most = *most;
  return quality;
}

}  // namespace octavo::partition
