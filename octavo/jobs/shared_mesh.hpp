#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/jobs/partition.hpp"
#include "octavo/jobs/piece.hpp"
#include "octavo/jobs/rank_exchange.hpp"
#include "octavo/partition/contour.hpp"

/// A mesh that ranks share while they cut it: elements by blocks, then by parts; edges and points of the parts' borders
/// meet where their points are owned, by blocks. All functions but those on one piece are collective.
namespace octavo::jobs {

/// Coordinates of some points, which ascend.
struct Places {
  std::vector<std::int32_t> points;
  std::vector<double> x, y;
  std::size_t of(std::int32_t point) const {
    return static_cast<std::size_t>(std::lower_bound(points.begin(), points.end(), point) - points.begin());
  }
};

/// Reads the coordinates through, and keeps those. Not collective.
Places read_places(const formats::serafin::Series& series, std::vector<std::int32_t> points);
/// Ascending, each once.
void sort_unique(std::vector<std::int32_t>& points);

/// What all know.
struct SharedJob {
  const base::Ranks& ranks;
  const formats::serafin::Series& series;
  const PartitionOptions& options;
  std::int32_t points = 0;
  std::int64_t elements = 0;
  PieceWriter::Own own;
  std::size_t size() const { return static_cast<std::size_t>(ranks.size); }
  std::size_t owner_of_part(std::int32_t part) const { return owner(part, options.parts, ranks.size); }
  std::size_t owner_of_point(std::int32_t point) const { return owner(point, points, ranks.size); }
};

/// An element on its way to its part.
struct Moved {
  std::int32_t part, element;
  std::array<std::int32_t, 3> corners;
  bool operator<(const Moved& other) const { return part != other.part ? part < other.part : element < other.element; }
};

/// An edge that an element of this rank's parts has, local elements from 0.
struct Edge {
  std::int32_t low, high, from, part, element, side;
  bool operator<(const Edge& other) const {
    return std::tie(low, high, part, element) < std::tie(other.low, other.high, other.part, other.element);
  }
  bool same(const Edge& other) const { return low == other.low && high == other.high; }
};

/// What a piece needs until it is whole.
struct Growing {
  Piece piece;
  std::vector<std::int32_t> behind;        ///< elements of the part behind each side, local from 0; -1: none of them
  std::vector<Edge> border;                ///< edges of one element of the part
  std::map<std::int32_t, PieceHalo> halo;  ///< by local element from 0
  std::int32_t local(std::int32_t point) const {  ///< from 1
    const auto found = std::lower_bound(by_point.begin(), by_point.end(), std::pair(point, std::int32_t{0}));
    return found->second;
  }
  std::vector<std::pair<std::int32_t, std::int32_t>> by_point;  ///< point, local number
};

/// This rank's parts, element by element. Throws Error(corrupt) for a point of no element.
std::vector<Moved> move_elements(const SharedJob& job);
/// Numbered, and with what borders on other parts.
std::vector<Growing> make_pieces(const SharedJob& job, const std::vector<Moved>& elements);
/// Fills in the pieces' halos; counts cut edges that meet here. Gives the edges of the mesh's boundary, all of them on
/// every rank, with parts for elements.
std::vector<partition::BoundaryEdge> pair_borders(const SharedJob& job, std::vector<Growing>& pieces,
                                                  std::int64_t& cut_edges);
/// Fills in who shares which points; counts those that are owned here.
std::int64_t share_points(const SharedJob& job, std::vector<Growing>& pieces);
/// Fills in the boundary.
void add_boundary(const SharedJob& job, const std::vector<partition::BoundaryEdge>& edges, std::vector<Growing>& pieces,
                  PartitionReport& report);
/// Fills in coordinates.
void add_places(const SharedJob& job, std::vector<Growing>& pieces);

}  // namespace octavo::jobs
