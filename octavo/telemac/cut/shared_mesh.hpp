#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/partition/contour.hpp"
#include "octavo/telemac/cut/cut_boundary.hpp"
#include "octavo/telemac/cut/partition.hpp"
#include "octavo/telemac/files/piece.hpp"

/// A mesh that ranks share while they cut it. Ranks first hold blocks of elements, then parts. Edges and points on the
/// borders of parts meet on the rank that owns their points; points are owned by blocks. All functions but those on one
/// piece are collective.
namespace octavo::telemac {

/// A set of points of a mesh, ascending, and the position of each in the set.
class PointSet {
 public:
  PointSet() = default;
  /// The points that occur in `corners`.
  PointSet(std::span<const std::int32_t> corners, std::int32_t points);
  /// The points that are marked.
  explicit PointSet(const std::vector<bool>& has);
  /// Whether it has all points of the mesh.
  bool is_whole() const { return first_.empty(); }
  /// The position of a point in the set.
  std::size_t of(std::int32_t point) const {
    if (is_whole()) return static_cast<std::size_t>(point);
    auto i = static_cast<std::size_t>(first_[static_cast<std::size_t>(point) >> bits]);
    while (points_[i] < point) ++i;
    return i;
  }
  bool has(std::int32_t point) const { return std::binary_search(points_.begin(), points_.end(), point); }
  const std::vector<std::int32_t>& points() const { return points_; }

 private:
  static constexpr int bits = 4;  ///< a position is kept for every 16 numbers
  std::vector<std::int32_t> points_;
  std::vector<std::int32_t> first_;  ///< empty: the set is whole
};

/// Coordinates of a set's points.
struct PointCoordinates {
  PointSet set;
  std::vector<double> x, y;
};

/// Reads all coordinates and keeps those of the set. Not collective.
PointCoordinates read_places(const formats::serafin::SerafinSeries& series, PointSet set);

/// Facts that all ranks know.
struct SharedJob {
  const base::Ranks& ranks;
  const formats::serafin::SerafinSeries& series;
  const PartitionOptions& options;
  std::int32_t points = 0;
  std::int64_t elements = 0;
  PieceWriter::Own own;
  std::size_t size() const { return static_cast<std::size_t>(ranks.size); }
  std::size_t owner_of_part(std::int32_t part) const { return base::owner(part, options.parts, ranks.size); }
  std::size_t owner_of_element(std::int32_t element) const { return base::owner(element, elements, ranks.size); }
  std::size_t owner_of_point(std::int32_t point) const { return base::owner(point, points, ranks.size); }
};

/// An element on its way to its part.
struct Moved {
  std::int32_t part, element;
  std::array<std::int32_t, 3> corners;
  bool operator<(const Moved& other) const { return part != other.part ? part < other.part : element < other.element; }
};

/// An edge of an element of this rank's parts. Local element numbers count from 0.
struct Edge {
  std::int32_t low, high, from, part, element, side;
  bool operator<(const Edge& other) const {
    return std::tie(low, high, part, element) < std::tie(other.low, other.high, other.part, other.element);
  }
  bool same(const Edge& other) const { return low == other.low && high == other.high; }
};

/// A piece that is being made, with the data needed until it is whole.
struct GrowingPiece {
  Piece piece;
  /// Neighbours behind the sides of an element of the part: local numbers from 0; -1: none of the part.
  struct Behind {
    std::int32_t element = 0;
    std::array<std::int32_t, 3> elements{};
  };
  std::vector<Behind> along;               ///< elements with a side on the part's border, ascending
  std::vector<Edge> border;                ///< edges of one element of the part
  std::map<std::int32_t, PieceHalo> halo;  ///< by local element from 0
  /// The local number, from 1, of a point that several parts have.
  std::int32_t local(std::int32_t point) const {
    const auto found = std::lower_bound(border_points.begin(), border_points.end(), std::pair(point, std::int32_t{0}));
    return found->second;
  }
  std::vector<std::pair<std::int32_t, std::int32_t>> border_points;  ///< point, local number; ascending
};

/// One rank's block of elements; the mesh has as many blocks as there are ranks.
struct ElementBlock {
  std::int64_t first = 0;
  std::vector<std::int32_t> triangles;  ///< shape (elements of the block, 3), points from 0
  PointCoordinates places;              ///< of those points
};
/// Throws Error(corrupt) if a point belongs to no element.
ElementBlock read_block(const SharedJob& job);
/// Counts which way the elements of all ranks' blocks turn, clockwise or not. Collective.
partition::Turns find_turns(const SharedJob& job, const ElementBlock& block);
/// Sends each element to the rank that owns its part; returns the elements of this rank's parts, by part and number.
/// `part_of` gives the part of each element of the block.
std::vector<Moved> move_elements(const SharedJob& job, ElementBlock block, partition::PartVector part_of);
/// Makes this rank's pieces: numbers their points and elements, and finds the edges that border on other parts.
std::vector<GrowingPiece> make_pieces(const SharedJob& job, const std::vector<Moved>& elements);
/// Fills in the pieces' halos, and counts the cut edges that meet on this rank. Returns all edges of the mesh's
/// boundary, on every rank; they have part numbers in place of element numbers.
std::vector<partition::BoundaryEdge> pair_borders(const SharedJob& job, std::vector<GrowingPiece>& pieces,
                                                  std::int64_t& cut_edges);
/// Fills in which parts share which points. Returns the number of points that this rank owns.
std::int64_t share_points(const SharedJob& job, std::vector<GrowingPiece>& pieces);
/// The lines of the boundary file, or those given in its place. Not collective.
std::vector<formats::serafin::BoundaryPoint> lines_of(const SharedJob& job);
/// The numbers of boundary points, and the lines of a boundary file if there is one.
struct MeshBoundary {
  using Numbered = std::vector<std::pair<std::int32_t, std::int32_t>>;  ///< point, number from 1; by point
  std::optional<CutBoundary> lines;
  Numbered numbers;
};
/// Numbers points in the order of the boundary file's lines, as partel does. Without a file they have the mesh's own
/// numbers (IPOBO), or, if these are all zero, their order along `edges`. A note says if the mesh's own numbers were
/// not taken. If the edges make no lines, the error names an element that turns the other way (`turns`).
MeshBoundary find_mesh_boundary(const SharedJob& job, const std::vector<partition::BoundaryEdge>& edges,
                                const partition::Turns& turns, std::vector<std::string>& notes);
/// Fills in the pieces' boundaries. Not collective.
void add_boundary(const SharedJob& job, const MeshBoundary& boundary, std::vector<GrowingPiece>& pieces);
/// Fills in the points' coordinates.
void add_places(const SharedJob& job, std::vector<GrowingPiece>& pieces);

}  // namespace octavo::telemac
