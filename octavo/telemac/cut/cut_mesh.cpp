#include "octavo/telemac/cut/cut_mesh.hpp"

#include <algorithm>
#include <numeric>

#include "octavo/base/error.hpp"
#include "octavo/formats/serafin/liquid.hpp"

namespace octavo::telemac {
namespace {

namespace serafin = formats::serafin;
using base::Error;
using base::Kind;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// `each(f)` calls f(part, item) for all, the same twice.
template <class Each>
Buckets fill_buckets(std::int32_t parts, Each&& each) {
  Buckets buckets;
  buckets.first.assign(at(parts) + 1, 0);
  each([&](std::int32_t part, std::int32_t) { ++buckets.first[at(part) + 1]; });
  std::partial_sum(buckets.first.begin(), buckets.first.end(), buckets.first.begin());
  buckets.items.resize(at(buckets.first.back()));
  std::vector<std::int64_t> next(buckets.first.begin(), buckets.first.end() - 1);
  each([&](std::int32_t part, std::int32_t item) { buckets.items[at(next[at(part)]++)] = item; });
  return buckets;
}

void require_all_used(const CutMesh& mesh, const serafin::Series& series) {
  std::vector<bool> used(at(mesh.points), false);
  for (const std::int32_t point : mesh.connectivity) used[at(point)] = true;
  const auto unused = std::find(used.begin(), used.end(), false);
  if (unused != used.end())
    throw Error(Kind::corrupt, "point " + std::to_string(unused - used.begin() + 1) + " belongs to no element (of " +
                                   std::to_string(std::count(used.begin(), used.end(), false)) + " such points)")
        .at(series.file->path().string());
}

/// The parts that have a point: those of its elements.
template <class F>
void each_part(const CutMesh& mesh, std::int32_t point, std::int32_t element, F&& f) {
  const auto& points = mesh.shared.points;
  const auto found = std::lower_bound(points.begin(), points.end(), point);
  if (found == points.end() || *found != point) return f(mesh.part_of[at(element)]);
  const auto i = static_cast<std::size_t>(found - points.begin());
  for (std::int64_t k = mesh.shared.first[i]; k < mesh.shared.first[i + 1]; ++k) f(mesh.shared.parts[at(k)]);
}

/// Numbers points by first appearance in the part's elements.
void number_points(const CutMesh& mesh, std::int32_t part, std::vector<std::int32_t>& local, Piece& piece) {
  const auto elements = partition::elements_of(mesh.lists, part);
  piece.connectivity.reserve(3 * elements.size());
  piece.points.reserve(elements.size());
  for (const std::int32_t element : elements)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int32_t point = mesh.connectivity[3 * at(element) + k];
      if (local[at(point)] == 0) {
        piece.points.push_back(point);
        local[at(point)] = static_cast<std::int32_t>(piece.points.size());
        if (mesh.rank[at(point)] != 0) ++piece.boundary_points;
      }
      piece.connectivity.push_back(local[at(point)]);
    }
  for (const std::int32_t point : piece.points) {
    piece.x.push_back(mesh.x[at(point)]);
    piece.y.push_back(mesh.y[at(point)]);
  }
}

void add_shared(const CutMesh& mesh, std::int32_t part, const std::vector<std::int32_t>& local, Piece& piece) {
  piece.shared_first.push_back(0);
  for (const std::int32_t i : mesh.shared_of.of(part)) {
    piece.shared.push_back(local[at(mesh.shared.points[at(i)])]);
    for (std::int64_t k = mesh.shared.first[at(i)]; k < mesh.shared.first[at(i) + 1]; ++k)
      if (mesh.shared.parts[at(k)] != part) piece.sharers.push_back(mesh.shared.parts[at(k)]);
    piece.shared_first.push_back(static_cast<std::int64_t>(piece.sharers.size()));
  }
}

void add_halo(const CutMesh& mesh, std::int32_t part, Piece& piece) {
  const auto number_in = [&](std::int32_t in, std::int32_t element) {
    const auto elements = partition::elements_of(mesh.lists, in);
    const auto found = std::lower_bound(elements.begin(), elements.end(), element);
    return static_cast<std::int32_t>(found - elements.begin() + 1);
  };
  for (const std::int32_t i : mesh.halo_of.of(part)) {
    const partition::HaloElement& halo = mesh.halo[at(i)];
    PieceHalo line{number_in(part, halo.element), {-1, -1, -1}, {-1, -1, -1}};
    for (std::size_t side = 0; side < 3; ++side)
      if (const std::int32_t behind = halo.behind[side]; behind >= 0) {
        line.parts[side] = mesh.part_of[at(behind)];
        line.elements[side] = number_in(line.parts[side], behind);
      }
    piece.halo.push_back(line);
  }
}

/// Where the boundary line leaves the part at a point: to the next point, from the previous one, or both.
void find_leaving(const CutBoundary& boundary, std::int32_t part, std::int32_t k, PieceBoundaryPoint& point) {
  const std::int32_t next = boundary.contour.next[at(k)], previous = boundary.contour.previous[at(k)];
  std::int32_t over = -1;
  if (boundary.edge_part[at(k)] != part) {
    over = next;
    point.segment = boundary.points[at(next)].point;
  }
  if (boundary.edge_part[at(previous)] != part) {
    point.segment = over == -1 ? -boundary.points[at(previous)].point : -9999;
    over = previous;
  }
  if (over == -1) return;
  point.x = static_cast<float>(boundary.x[at(over)]);
  point.y = static_cast<float>(boundary.y[at(over)]);
}

/// Part 0 and element 0 lie behind a boundary edge whose points are both liquid, -1 behind others: as partel writes.
void mark_liquid_edges(Piece& piece) {
  constexpr int wall = 2;
  std::vector<bool> liquid(piece.points.size() + 1, false);  // by local number
  for (const PieceBoundaryPoint& point : piece.boundary)
    liquid[at(point.condition.point)] = point.condition.depth != wall;
  for (PieceHalo& halo : piece.halo)
    for (std::size_t side = 0; side < 3; ++side) {
      const std::int32_t* corners = &piece.connectivity[3 * at(halo.element - 1)];
      if (halo.elements[side] == -1 && liquid[at(corners[side])] && liquid[at(corners[(side + 1) % 3])])
        halo.parts[side] = halo.elements[side] = 0;
    }
}

/// Of lines that are not those of the boundary: the first boundary point without one, where there is one.
void require_all_lines(const CutBoundary& boundary, const CutMesh& mesh) {
  std::vector<bool> has(at(mesh.points), false);
  for (const serafin::BoundaryPoint& line : boundary.points) has[at(line.point - 1)] = true;
  for (const std::int32_t point : partition::find_boundary(mesh.connectivity, mesh.x, mesh.y))
    if (!has[at(point)])
      throw Error(Kind::corrupt, "point " + std::to_string(point + 1) + " is on the mesh's boundary and has no line");
}

partition::Contour contour_of(const CutBoundary& boundary, const CutMesh& mesh,
                              const std::vector<std::int32_t>& points) {
  try {
    return partition::trace_contour(mesh.connectivity, mesh.points, points);
  } catch (const Error&) {
    require_all_lines(boundary, mesh);  // which says more
    throw;
  }
}

std::string clockwise_text(const partition::Turns& turns) {
  return "element " + std::to_string(turns.first + 1) + " turns clockwise (" + std::to_string(turns.clockwise) +
         " of " + std::to_string(turns.clockwise + turns.counter_clockwise) + " do)";
}

}  // namespace

partition::Turns find_turns(const CutMesh& mesh) {
  const auto x = [&](std::int32_t point) { return mesh.x[at(point)]; };
  const auto y = [&](std::int32_t point) { return mesh.y[at(point)]; };
  return partition::find_turns(mesh.connectivity, x, y);
}

void note_turns(const partition::Turns& turns, std::vector<std::string>& notes) {
  if (turns.clockwise > 0) notes.push_back(clockwise_text(turns) + ": TELEMAC stops at such elements");
}

void require_one_turn(const partition::Turns& turns, const std::string& mesh) {
  if (turns.clockwise == 0 || turns.counter_clockwise == 0) return;
  throw Error(Kind::corrupt,
              clockwise_text(turns) + ", so that the boundary has no direction: expected counter-clockwise")
      .at(mesh);
}

void require_lines(const CutBoundary& boundary) {
  if (boundary.points.empty())
    throw Error(Kind::corrupt, "no lines: expected one for each point on the mesh's boundary").at(boundary.from);
}

void note_own_numbers(const std::vector<std::int32_t>& own, std::int64_t numbered, const CutBoundary& boundary,
                      std::vector<std::string>& notes) {
  const std::int64_t without = std::count(own.begin(), own.end(), 0), lines = std::ssize(own);
  if (numbered == 0) {
    notes.push_back("IPOBO is zero everywhere: the boundary file's order is taken");
    return;
  }
  if (without > 0 || numbered != lines) {
    notes.push_back("IPOBO numbers " + std::to_string(numbered) + " points, " +
                    std::to_string(numbered - (lines - without)) + " of them off the boundary, and the boundary has " +
                    std::to_string(lines) + ": the boundary file's points and order are taken");
    return;
  }
  for (std::size_t k = 0; k < own.size(); ++k)
    if (own[k] != static_cast<std::int32_t>(k + 1)) {
      notes.push_back("IPOBO orders the boundary otherwise than the boundary file (line " + std::to_string(k + 1) +
                      ", point " + std::to_string(boundary.points[k].point) + ": IPOBO says " + std::to_string(own[k]) +
                      "): the file's order is taken, as partel does");
      return;
    }
}

CutMesh read_cut_mesh(const serafin::Series& series) {
  CutMesh mesh;
  mesh.from = series.file->path().string();
  mesh.points = serafin::plane_points(series.header);
  mesh.connectivity = serafin::read_triangles(series);
  mesh.x.resize(at(mesh.points));
  mesh.y.resize(at(mesh.points));
  serafin::read_coordinates(series, 0, 0, mesh.x);
  serafin::read_coordinates(series, 1, 0, mesh.y);
  require_all_used(mesh, series);
  return mesh;
}

PieceBoundaryPoint boundary_point(const CutBoundary& boundary, std::int32_t part, std::int32_t k, std::int32_t local) {
  PieceBoundaryPoint point;
  point.condition = boundary.points[at(k)];
  point.condition.point = local;
  point.liquid = boundary.liquid[at(k)];
  find_leaving(boundary, part, k, point);
  return point;
}

CutBoundary read_cut_boundary(const std::filesystem::path& path, const CutMesh& mesh) {
  return trace_cut_boundary(serafin::read_boundary(path, mesh.points), mesh, path);
}

CutBoundary trace_cut_boundary(std::vector<serafin::BoundaryPoint> lines, const CutMesh& mesh,
                               const std::filesystem::path& from) {
  CutBoundary boundary;
  boundary.from = from.string();
  boundary.points = std::move(lines);
  require_lines(boundary);
  std::vector<std::int32_t> points;
  for (const serafin::BoundaryPoint& p : boundary.points) {
    points.push_back(p.point - 1);
    boundary.x.push_back(mesh.x[at(p.point - 1)]);
    boundary.y.push_back(mesh.y[at(p.point - 1)]);
  }
  try {
    boundary.contour = contour_of(boundary, mesh, points);
    boundary.liquid = serafin::number_liquid(boundary.points, boundary.contour.next, boundary.x, boundary.y);
  } catch (Error& error) {
    require_one_turn(find_turns(mesh), mesh.from);  // which says more
    error.at(from.string());
    throw;
  }
  return boundary;
}

std::vector<std::int32_t> find_ranks(const serafin::Series& series, const CutBoundary* boundary, const CutMesh& mesh,
                                     std::vector<std::string>& notes) {
  std::vector<std::int32_t> own(at(mesh.points));
  serafin::read_numbers(series, 0, own);
  const auto numbered = std::count_if(own.begin(), own.end(), [](std::int32_t number) { return number != 0; });
  if (boundary == nullptr) {
    if (numbered > 0) return own;
    notes.push_back("IPOBO is zero everywhere: the boundary was found from the mesh");
    require_one_turn(find_turns(mesh), mesh.from);
    const auto found = partition::find_boundary(mesh.connectivity, mesh.x, mesh.y);
    for (std::size_t k = 0; k < found.size(); ++k) own[at(found[k])] = static_cast<std::int32_t>(k + 1);
    return own;
  }
  std::vector<std::int32_t> rank(at(mesh.points), 0), by_line;
  for (const serafin::BoundaryPoint& line : boundary->points) {
    by_line.push_back(own[at(line.point - 1)]);
    rank[at(line.point - 1)] = static_cast<std::int32_t>(by_line.size());
  }
  note_own_numbers(by_line, numbered, *boundary, notes);
  return rank;
}

void find_neighbours(CutMesh& mesh) {
  mesh.lists = partition::list_parts(mesh.part_of, mesh.parts);
  mesh.shared = partition::find_shared(mesh.connectivity, mesh.points, mesh.part_of);
  mesh.halo = partition::find_halo(mesh.connectivity, mesh.part_of, mesh.shared);
  mesh.shared_of = fill_buckets(mesh.parts, [&](auto&& f) {
    for (std::size_t i = 0; i < mesh.shared.points.size(); ++i)
      for (std::int64_t k = mesh.shared.first[i]; k < mesh.shared.first[i + 1]; ++k)
        f(mesh.shared.parts[at(k)], static_cast<std::int32_t>(i));
  });
  mesh.halo_of = fill_buckets(mesh.parts, [&](auto&& f) {
    for (std::size_t i = 0; i < mesh.halo.size(); ++i)
      f(mesh.part_of[at(mesh.halo[i].element)], static_cast<std::int32_t>(i));
  });
}

void set_boundary(Piece& piece, std::vector<PieceBoundaryPoint> points) {
  piece.boundary = std::move(points);
  mark_liquid_edges(piece);
}

void share_boundary(const CutMesh& mesh, CutBoundary& boundary) {
  for (const std::int32_t element : boundary.contour.element) boundary.edge_part.push_back(mesh.part_of[at(element)]);
  boundary.of = fill_buckets(mesh.parts, [&](auto&& f) {
    for (std::size_t k = 0; k < boundary.points.size(); ++k)
      each_part(mesh, boundary.points[k].point - 1, boundary.contour.element[k],
                [&](std::int32_t part) { f(part, static_cast<std::int32_t>(k)); });
  });
}

Piece make_piece(const CutMesh& mesh, const CutBoundary* boundary, std::int32_t part,
                 std::vector<std::int32_t>& local) {
  Piece piece;
  piece.part = part;
  number_points(mesh, part, local, piece);
  add_shared(mesh, part, local, piece);
  add_halo(mesh, part, piece);
  std::vector<PieceBoundaryPoint> points;
  if (boundary != nullptr)
    for (const std::int32_t k : boundary->of.of(part))
      points.push_back(boundary_point(*boundary, part, k, local[at(boundary->points[at(k)].point - 1)]));
  set_boundary(piece, std::move(points));
  for (const std::int32_t point : piece.points) local[at(point)] = 0;
  return piece;
}

}  // namespace octavo::telemac
