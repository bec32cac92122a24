#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "octavo/analysis/leaf_tree.hpp"
#include "octavo/analysis/statistics.hpp"

/// Clumps: sets of leaves above a threshold that hang together by their sides, across levels, parts and periodic sides.
namespace octavo::analysis {

struct ClumpPlan {
  std::string field;
  double above = 0;     ///< cells with field > above
  std::string density;  ///< empty: there is none, and cells have no mass
};

/// The leaves of a clump in one part, or of all.
struct ClumpSums {
  std::int64_t cells = 0;
  Sum volume, mass;           ///< [code length^dim], density times that
  std::array<Sum, 3> moment;  ///< of centres, weighted by mass, or volume where there is no density
  mesh::Point3 lo{}, hi{};    ///< the smallest box around the cells [code length]
  double peak = 0;            ///< largest value; of equal ones the first
  mesh::Point3 peak_at{};     ///< centre of its cell [code length]
  int deepest = 0;            ///< the code's own number of the finest level
};

/// The contribution of parts: clumps within a part, and those of their leaves that may touch others of other parts.
/// `id` of a leaf is the place of its clump.
struct PartClumps {
  std::vector<ClumpSums> clumps;
  std::vector<ValuedLeaf> border;
  std::vector<std::uint32_t> counts;  ///< of the clumps of each part, in order
};
/// Throws as cell_field does.
PartClumps part_clumps(const mesh::Part& part, const mesh::Header& header, const CommonGrid& grid,
                       const Selection& selection, const ClumpPlan& plan);
void add(PartClumps& to, PartClumps&& later);

struct Clump {
  ClumpSums sums;  ///< where it crosses a periodic side, in one piece: the box may reach beyond the domain
  mesh::Point3 centre{};
  std::array<bool, 3> around{};  ///< the clump wraps around this periodic axis: its box spans the domain there
};
struct JoinedClumps {
  std::vector<Clump> clumps;                      ///< the heaviest first (by mass, or volume where there is no density)
  std::vector<std::vector<std::uint32_t>> parts;  ///< [part][clump of that part]: its place in `clumps`
};
/// Joins what parts have found.
JoinedClumps join_clumps(PartClumps found, const mesh::Header& header, const CommonGrid& grid, const ClumpPlan& plan);

/// For each value of a cell field of the part: 1 + the number of the part's clump that the cell is in; 0: none, as of
/// refined cells. Throws as cell_field does.
std::vector<std::uint32_t> part_labels(const mesh::Part& part, const mesh::Header& header, const CommonGrid& grid,
                                       const Selection& selection, const ClumpPlan& plan);

template <class Way>
void both(Way& way, PartClumps& found) {
  both(way, found.clumps, found.border, found.counts);
}

}  // namespace octavo::analysis
