#include "octavo/telemac/cut/cut_boundary.hpp"

#include <algorithm>

#include "octavo/base/at.hpp"
#include "octavo/base/error.hpp"
#include "octavo/formats/serafin/liquid.hpp"

namespace octavo::telemac {
namespace {

using base::at;
using base::Error;
using base::Kind;

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

std::string clockwise_text(const partition::Turns& turns) {
  return "element " + std::to_string(turns.first + 1) + " turns clockwise (" + std::to_string(turns.clockwise) +
         " of " + std::to_string(turns.clockwise + turns.counter_clockwise) + " do)";
}

}  // namespace

void note_turns(const partition::Turns& turns, std::vector<std::string>& notes) {
  if (turns.clockwise > 0) notes.push_back(clockwise_text(turns) + ": TELEMAC stops at such elements");
}

void require_one_turn(const partition::Turns& turns, const std::string& mesh) {
  if (turns.clockwise == 0 || turns.counter_clockwise == 0) return;
  throw Error(Kind::corrupt,
              clockwise_text(turns) + ", so that the boundary has no direction: expected counter-clockwise")
      .at(mesh);
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

CutBoundary link_boundary(std::vector<serafin::BoundaryPoint> lines, std::vector<double> x, std::vector<double> y,
                          std::span<const partition::BoundaryEdge> edges, const std::string& from) {
  CutBoundary boundary;
  boundary.points = std::move(lines);
  if (boundary.points.empty())
    throw Error(Kind::corrupt, "no lines: expected one for each point on the mesh's boundary").at(from);
  boundary.x = std::move(x);
  boundary.y = std::move(y);
  std::vector<std::int32_t> points;
  for (const serafin::BoundaryPoint& line : boundary.points) points.push_back(line.point - 1);
  try {
    boundary.contour = partition::link_edges(edges, points);
    boundary.liquid = serafin::number_liquid(boundary.points, boundary.contour.next, boundary.x, boundary.y);
  } catch (Error& error) {
    error.at(from);
    throw;
  }
  boundary.edge_part = boundary.contour.element;  // the edges name parts, not elements
  return boundary;
}

PieceBoundaryPoint boundary_point(const CutBoundary& boundary, std::int32_t part, std::int32_t k, std::int32_t local) {
  PieceBoundaryPoint point;
  point.condition = boundary.points[at(k)];
  point.condition.point = local;
  point.liquid = boundary.liquid[at(k)];
  find_leaving(boundary, part, k, point);
  return point;
}

void set_boundary(Piece& piece, std::vector<PieceBoundaryPoint> points) {
  piece.boundary = std::move(points);
  mark_liquid_edges(piece);
}

}  // namespace octavo::telemac
