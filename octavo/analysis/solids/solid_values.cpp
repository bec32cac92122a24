#include "octavo/analysis/solids/solid_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "octavo/mesh/solids/centroids.hpp"
#include "octavo/mesh/solids/tetrahedra.hpp"

namespace octavo::analysis {
namespace {

mesh::Point3 from_to(const mesh::Point3& a, const mesh::Point3& b) { return {b[0] - a[0], b[1] - a[1], b[2] - a[2]}; }

/// Six times the volume that three edges span.
double spanned(const mesh::Point3& a, const mesh::Point3& b, const mesh::Point3& c) {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/// Whether a place is in the box around some points.
bool in_box_of(const mesh::Solids& mesh, std::span<const std::int64_t> points, const mesh::Point3& place) {
  for (std::size_t a = 0; a < 3; ++a) {
    const std::vector<double>& places = a == 0 ? mesh.x : a == 1 ? mesh.y : mesh.z;
    const auto [lo, hi] = std::minmax_element(points.begin(), points.end(), [&](std::int64_t i, std::int64_t j) {
      return places[static_cast<std::size_t>(i)] < places[static_cast<std::size_t>(j)];
    });
    const double least = places[static_cast<std::size_t>(*lo)], most = places[static_cast<std::size_t>(*hi)];
    const double rounding = 1e-10 * (most - least);
    if (place[a] < least - rounding || place[a] > most + rounding) return false;
  }
  return true;
}

}  // namespace

std::optional<std::array<double, 4>> shares_in(const mesh::Solids& mesh, const std::array<std::int64_t, 4>& points,
                                               const mesh::Point3& place) {
  const auto at = [&](std::size_t k) {
    const auto i = static_cast<std::size_t>(points[k]);
    return mesh::Point3{mesh.x[i], mesh.y[i], mesh.z[i]};
  };
  const mesh::Point3 origin = at(0), u = from_to(origin, at(1)), v = from_to(origin, at(2)), w = from_to(origin, at(3));
  const double volume = spanned(u, v, w);
  if (volume == 0) return {};
  const mesh::Point3 way = from_to(origin, place);
  const double b = spanned(way, v, w) / volume, c = spanned(u, way, w) / volume, d = spanned(u, v, way) / volume;
  return std::array{1 - b - c - d, b, c, d};
}

std::vector<std::optional<SolidPlace>> locate(const mesh::Solids& mesh, std::span<const mesh::Point3> places) {
  std::vector<std::optional<SolidPlace>> found(places.size());
  constexpr double rounding = -1e-12;  // places on a side are on both sides of it but for this
  std::size_t first = 0;
  for (std::size_t cell = 0; cell < mesh.corners.size(); first += mesh.corners[cell], ++cell) {
    const auto corners = std::span(mesh.connectivity).subspan(first, mesh.corners[cell]);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (found[i] || !in_box_of(mesh, corners, places[i])) continue;
      mesh::for_each_tetrahedron(mesh, corners, [&](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
        const std::array points{a, b, c, d};
        const auto shares = shares_in(mesh, points, places[i]);
        if (!found[i] && shares && *std::min_element(shares->begin(), shares->end()) >= rounding)
          found[i] = SolidPlace{points, *shares, static_cast<std::int64_t>(cell)};
      });
    }
  }
  return found;
}

std::vector<char> cells_within(const mesh::Solids& mesh, const Within& within) {
  const std::vector<mesh::Point3> centres = mesh::centroids_of(mesh);
  std::vector<char> chosen(centres.size());
  std::transform(centres.begin(), centres.end(), chosen.begin(),
                 [&](const mesh::Point3& centre) { return static_cast<char>(within(centre) ? 1 : 0); });
  return chosen;
}

std::vector<double> point_volumes(const mesh::Solids& mesh, std::span<const char> chosen) {
  std::vector<double> volumes(mesh.x.size(), 0);
  mesh::for_each_tetrahedron(mesh,
                             [&](std::size_t cell, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
                               if (!chosen.empty() && chosen[cell] == 0) return;
                               const double quarter = std::fabs(mesh::six_volumes(mesh, a, b, c, d)) / 24;
                               for (const std::int64_t point : {a, b, c, d})
                                 volumes[static_cast<std::size_t>(point)] += quarter;
                             });
  return volumes;
}

namespace {

/// A corner of a piece of a tetrahedron: its place, and the shares there of the tetrahedron's points.
struct ClippedCorner {
  mesh::Point3 at{};
  std::array<double, 4> shares{};
};
using ClippedPiece = std::array<ClippedCorner, 4>;

/// The corner on an edge that is so far from its first end [length of the edge].
ClippedCorner corner_on(const ClippedCorner& a, const ClippedCorner& b, double distance) {
  ClippedCorner out;
  for (std::size_t k = 0; k < 3; ++k) out.at[k] = std::lerp(a.at[k], b.at[k], distance);
  for (std::size_t k = 0; k < 4; ++k) out.shares[k] = std::lerp(a.shares[k], b.shares[k], distance);
  return out;
}

/// Adds the part of a piece on one side of a plane across an axis: `sign` * (place - plane) >= 0.
void cut_piece(const ClippedPiece& piece, std::size_t axis, double plane, double sign, std::vector<ClippedPiece>& to) {
  std::array<double, 4> depth{};
  std::array<std::size_t, 4> order{};  // corners inside come first
  std::size_t in = 0, out = 4;
  for (std::size_t k = 0; k < 4; ++k) {
    depth[k] = sign * (piece[k].at[axis] - plane);
    order[depth[k] > 0 ? in++ : --out] = k;
  }
  const auto own = [&](std::size_t i) { return piece[order[i]]; };
  const auto on = [&](std::size_t i, std::size_t o) {
    const std::size_t a = order[i], b = order[o];
    return corner_on(piece[a], piece[b], depth[a] / (depth[a] - depth[b]));
  };
  // Between two triangles whose corners belong together.
  const auto wedge = [&](const std::array<ClippedCorner, 3>& a, const std::array<ClippedCorner, 3>& b) {
    to.push_back({a[0], a[1], a[2], b[2]});
    to.push_back({a[0], a[1], b[1], b[2]});
    to.push_back({a[0], b[0], b[1], b[2]});
  };
  switch (in) {
    case 0: return;
    case 1: return to.push_back({own(0), on(0, 1), on(0, 2), on(0, 3)});
    case 2: return wedge({own(0), on(0, 2), on(0, 3)}, {own(1), on(1, 2), on(1, 3)});
    case 3: return wedge({own(0), own(1), own(2)}, {on(0, 3), on(1, 3), on(2, 3)});
    default: to.push_back(piece);
  }
}

double volume_of_piece(const ClippedPiece& piece) {
  const mesh::Point3& at = piece[0].at;
  return std::fabs(spanned(from_to(at, piece[1].at), from_to(at, piece[2].at), from_to(at, piece[3].at))) / 6;
}

}  // namespace

SolidsInBox clip_to_box(const mesh::Solids& mesh, const mesh::Point3& lo, const mesh::Point3& hi) {
  SolidsInBox in_box{std::vector<double>(mesh.corners.size(), 0), std::vector<double>(mesh.x.size(), 0)};
  std::vector<ClippedPiece> pieces, cut;
  mesh::for_each_tetrahedron(
      mesh, [&](std::size_t cell, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
        const std::array<std::int64_t, 4> points{a, b, c, d};
        ClippedPiece whole;
        for (std::size_t k = 0; k < 4; ++k) {
          const auto point = static_cast<std::size_t>(points[k]);
          whole[k].at = {mesh.x[point], mesh.y[point], mesh.z[point]};
          whole[k].shares[k] = 1;
        }
        pieces.assign(1, whole);
        for (std::size_t axis = 0; axis < 3; ++axis)
          for (const double sign : {1.0, -1.0}) {
            cut.clear();
            for (const ClippedPiece& piece : pieces) cut_piece(piece, axis, sign > 0 ? lo[axis] : hi[axis], sign, cut);
            pieces.swap(cut);
          }
        for (const ClippedPiece& piece : pieces) {
          const double volume = volume_of_piece(piece);
          in_box.cells[cell] += volume;
          for (std::size_t k = 0; k < 4; ++k)
            for (const ClippedCorner& corner : piece)
              in_box.points[static_cast<std::size_t>(points[k])] += volume / 4 * corner.shares[k];
        }
      });
  return in_box;
}

}  // namespace octavo::analysis
