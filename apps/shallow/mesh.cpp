#include "apps/shallow/mesh.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "octavo/base/at.hpp"
#include "octavo/base/error.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::shallow {

namespace {

using Lists = std::vector<std::vector<std::int32_t>>;

using base::at;

Lists lists_for(MPI_Comm comm) { return Lists(at(ranks::size_of(comm))); }

/// Owners of the share's points, the lowest rank that has each: asked of the rank that keeps that stretch of numbers.
std::vector<std::int32_t> find_owners(MPI_Comm comm, const Share& share) {
  const std::int32_t stretch = share.all_points / ranks::size_of(comm) + 1;
  Lists questions = lists_for(comm);
  for (const std::int32_t point : share.points) questions[at(point / stretch)].push_back(point);
  Lists asked = all_to_all(comm, questions);
  const std::int32_t first = stretch * ranks::rank_in(comm);
  std::vector<std::int32_t> owner(at(stretch), -1);
  for (std::size_t r = 0; r < asked.size(); ++r)
    for (const std::int32_t point : asked[r])
      if (owner[at(point - first)] < 0) owner[at(point - first)] = static_cast<std::int32_t>(r);
  for (auto& list : asked)
    for (std::int32_t& point : list) point = owner[at(point - first)];
  std::vector<std::int32_t> owners;  // stretches ascend with ranks, as the points do
  for (const auto& answer : all_to_all(comm, asked)) owners.insert(owners.end(), answer.begin(), answer.end());
  return owners;
}

/// A triangle with its points' owners; the lowest point first, so that it is computed alike everywhere.
struct OwnedTriangle {
  std::array<std::int32_t, 3> point{}, owner{};
  bool operator<(const OwnedTriangle& other) const { return point < other.point; }
};

OwnedTriangle with_owners(const std::array<std::int32_t, 3>& corners, const Share& share,
                          const std::vector<std::int32_t>& owners) {
  const auto lowest = std::min_element(corners.begin(), corners.end()) - corners.begin();
  OwnedTriangle out;
  for (std::size_t k = 0; k < 3; ++k) {
    out.point[k] = corners[(k + static_cast<std::size_t>(lowest)) % 3];
    const auto place = std::lower_bound(share.points.begin(), share.points.end(), out.point[k]);
    out.owner[k] = owners[static_cast<std::size_t>(place - share.points.begin())];
  }
  return out;
}

/// Sends each triangle to all who own a point of it.
std::vector<OwnedTriangle> gather_triangles(MPI_Comm comm, const Share& share,
                                            const std::vector<std::int32_t>& owners) {
  Lists lists = lists_for(comm);
  for (const auto& corners : share.triangles) {
    const OwnedTriangle triangle = with_owners(corners, share, owners);
    for (std::size_t k = 0; k < 3; ++k) {
      const auto* here = triangle.owner.data() + k;
      if (std::find(triangle.owner.data(), here, *here) != here) continue;  // has it already
      auto& list = lists[at(triangle.owner[k])];
      list.insert(list.end(), triangle.point.begin(), triangle.point.end());
      list.insert(list.end(), triangle.owner.begin(), triangle.owner.end());
    }
  }
  std::vector<OwnedTriangle> mine;
  for (const auto& list : all_to_all(comm, lists))
    for (std::size_t i = 0; i < list.size(); i += 6)
      mine.push_back({{list[i], list[i + 1], list[i + 2]}, {list[i + 3], list[i + 4], list[i + 5]}});
  std::sort(mine.begin(), mine.end());
  return mine;
}

/// Local numbers: owned points by global number, then ghosts by owner and global number.
struct Numbering {
  struct Point {
    bool ghost = false;
    std::int32_t owner = 0, global = 0;
    auto operator<=>(const Point&) const = default;
  };
  int rank = 0;
  std::vector<Point> points;

  Point point(const OwnedTriangle& triangle, std::size_t corner) const {
    return {triangle.owner[corner] != rank, triangle.owner[corner], triangle.point[corner]};
  }
  std::int32_t local(const Point& wanted) const {
    return static_cast<std::int32_t>(std::lower_bound(points.begin(), points.end(), wanted) - points.begin());
  }
};

Numbering number_points(int rank, const std::vector<OwnedTriangle>& triangles) {
  Numbering numbering{rank, {}};
  for (const OwnedTriangle& triangle : triangles)
    for (std::size_t k = 0; k < 3; ++k) numbering.points.push_back(numbering.point(triangle, k));
  std::sort(numbering.points.begin(), numbering.points.end());
  numbering.points.erase(std::unique(numbering.points.begin(), numbering.points.end()), numbering.points.end());
  return numbering;
}

/// Tells every owner which of its points are ghosts here.
Halo plan_halo(MPI_Comm comm, const Numbering& numbering) {
  Lists wanted = lists_for(comm);
  std::vector<std::int32_t> first(wanted.size(), -1);
  for (std::size_t i = 0; i < numbering.points.size(); ++i) {
    const auto& point = numbering.points[i];
    if (!point.ghost) continue;
    if (first[at(point.owner)] < 0) first[at(point.owner)] = static_cast<std::int32_t>(i);
    wanted[at(point.owner)].push_back(point.global);
  }
  Lists asked = all_to_all(comm, wanted);
  Halo halo;
  for (std::size_t r = 0; r < wanted.size(); ++r) {
    if (wanted[r].empty() && asked[r].empty()) continue;
    for (std::int32_t& point : asked[r]) point = numbering.local({false, numbering.rank, point});
    halo.peers.push_back(
        {static_cast<int>(r), asked[r], std::max(first[r], 0), static_cast<std::int32_t>(wanted[r].size())});
  }
  return halo;
}

void place_points(MPI_Comm comm, const Share& share, Mesh& mesh) {
  mesh.x.resize(mesh.global.size());
  mesh.y.resize(mesh.global.size());
  for (std::size_t i = 0; i < at(mesh.owned); ++i) {
    const auto place = std::lower_bound(share.points.begin(), share.points.end(), mesh.global[i]);
    mesh.x[i] = share.x[static_cast<std::size_t>(place - share.points.begin())];
    mesh.y[i] = share.y[static_cast<std::size_t>(place - share.points.begin())];
  }
  fill_ghosts(comm, mesh.halo, mesh.x, 1);
  fill_ghosts(comm, mesh.halo, mesh.y, 1);
}

Triangle measure(const Mesh& mesh, std::array<std::int32_t, 3> point) {
  const auto twice_area = [&] {
    const std::size_t a = at(point[0]), b = at(point[1]), c = at(point[2]);
    return (mesh.x[b] - mesh.x[a]) * (mesh.y[c] - mesh.y[a]) - (mesh.x[c] - mesh.x[a]) * (mesh.y[b] - mesh.y[a]);
  };
  if (twice_area() < 0) std::swap(point[1], point[2]);
  const double twice = twice_area();
  if (!(twice > 0))
    throw base::Error(base::Kind::corrupt, "the triangle of points " + std::to_string(mesh.global[at(point[0])] + 1) +
                                               ", " + std::to_string(mesh.global[at(point[1])] + 1) + " and " +
                                               std::to_string(mesh.global[at(point[2])] + 1) + " has no area");
  Triangle out{point, {}, {}, 0.5 * twice};
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t next = at(point[(k + 1) % 3]), last = at(point[(k + 2) % 3]);
    out.dx[k] = (mesh.y[next] - mesh.y[last]) / twice;
    out.dy[k] = (mesh.x[last] - mesh.x[next]) / twice;
  }
  return out;
}

/// The contribution of one triangle to the face across one of its edges, and the edge's outward normal; lengths
/// included.
struct HalfEdge {
  std::int32_t global_a = 0, global_b = 0, a = 0, b = 0;
  double x = 0, y = 0, out_x = 0, out_y = 0;
  bool operator<(const HalfEdge& other) const {
    return std::tie(global_a, global_b) < std::tie(other.global_a, other.global_b);
  }
  bool operator==(const HalfEdge& other) const { return global_a == other.global_a && global_b == other.global_b; }
};

HalfEdge half_edge(const Mesh& mesh, const Triangle& triangle, std::size_t corner) {
  std::int32_t a = triangle.point[corner], b = triangle.point[(corner + 1) % 3];
  const std::size_t p = at(triangle.point[0]), q = at(triangle.point[1]), r = at(triangle.point[2]);
  const double out_x = mesh.y[at(b)] - mesh.y[at(a)], out_y = mesh.x[at(a)] - mesh.x[at(b)];
  if (mesh.global[at(a)] > mesh.global[at(b)]) std::swap(a, b);
  const double to_x = (mesh.x[p] + mesh.x[q] + mesh.x[r]) / 3 - 0.5 * (mesh.x[at(a)] + mesh.x[at(b)]);
  const double to_y = (mesh.y[p] + mesh.y[q] + mesh.y[r]) / 3 - 0.5 * (mesh.y[at(a)] + mesh.y[at(b)]);
  const double along = to_y * (mesh.x[at(b)] - mesh.x[at(a)]) - to_x * (mesh.y[at(b)] - mesh.y[at(a)]);
  const double sign = along > 0 ? 1 : -1;
  return {mesh.global[at(a)], mesh.global[at(b)], a, b, sign * to_y, -sign * to_x, out_x, out_y};
}

Face face_of(double x, double y) {
  const double length = std::sqrt(x * x + y * y);
  return {x / length, y / length, length};
}

void add_walls(Mesh& mesh, const HalfEdge& border) {
  for (const std::int32_t point : {border.a, border.b})
    if (point < mesh.owned) mesh.walls.push_back({point, face_of(0.5 * border.out_x, 0.5 * border.out_y)});
}

void join_edges(Mesh& mesh, std::vector<HalfEdge>& halves) {
  std::stable_sort(halves.begin(), halves.end());
  for (std::size_t i = 0; i < halves.size();) {
    std::size_t end = i + 1;
    while (end < halves.size() && halves[end] == halves[i]) ++end;
    HalfEdge edge = halves[i];
    if (end - i > 2)
      throw base::Error(base::Kind::corrupt, "more than two triangles have the edge of points " +
                                                 std::to_string(edge.global_a + 1) + " and " +
                                                 std::to_string(edge.global_b + 1));
    if (end - i == 2) {
      edge.x += halves[i + 1].x;
      edge.y += halves[i + 1].y;
    } else {
      add_walls(mesh, edge);
    }
    mesh.edges.push_back({edge.a, edge.b, face_of(edge.x, edge.y)});
    i = end;
  }
}

void measure_mesh(Mesh& mesh, const std::vector<OwnedTriangle>& triangles, const Numbering& numbering) {
  std::vector<HalfEdge> halves;
  mesh.area.assign(at(mesh.owned), 0);
  for (const OwnedTriangle& corners : triangles) {
    std::array<std::int32_t, 3> point{};
    for (std::size_t k = 0; k < 3; ++k) point[k] = numbering.local(numbering.point(corners, k));
    const Triangle& triangle = mesh.triangles.emplace_back(measure(mesh, point));
    for (std::size_t k = 0; k < 3; ++k) {
      if (triangle.point[k] < mesh.owned) mesh.area[at(triangle.point[k])] += triangle.area / 3;
      if (triangle.point[k] < mesh.owned || triangle.point[(k + 1) % 3] < mesh.owned)
        halves.push_back(half_edge(mesh, triangle, k));
    }
  }
  join_edges(mesh, halves);
}

void check_all_owned(MPI_Comm comm, const Mesh& mesh) {
  std::int32_t owned = mesh.owned;
  MPI_Allreduce(MPI_IN_PLACE, &owned, 1, MPI_INT32_T, MPI_SUM, comm);
  if (owned != mesh.all_points)
    throw base::Error(base::Kind::corrupt, std::to_string(mesh.all_points - owned) + " of " +
                                               std::to_string(mesh.all_points) + " points are in no triangle");
}

}  // namespace

Mesh build_mesh(MPI_Comm comm, const Share& share) {
  const std::vector<OwnedTriangle> triangles = gather_triangles(comm, share, find_owners(comm, share));
  const Numbering numbering = number_points(ranks::rank_in(comm), triangles);
  Mesh mesh;
  mesh.all_points = share.all_points;
  for (const auto& point : numbering.points) {
    mesh.global.push_back(point.global);
    if (!point.ghost) ++mesh.owned;
  }
  check_all_owned(comm, mesh);
  mesh.halo = plan_halo(comm, numbering);
  place_points(comm, share, mesh);
  ranks::agree(comm, [&] { measure_mesh(mesh, triangles, numbering); });
  return mesh;
}

}  // namespace octavo::shallow
