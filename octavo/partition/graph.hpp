#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "octavo/partition/cut.hpp"

/// The graph of elements that share an edge, and graphs of stretches of them: what a cut along a curve is made better
/// on.
namespace octavo::partition {

/// The element behind each side of each element (points 1-2, 2-3, 3-1), shape (elements, 3); -1 if there is none. At an
/// edge of more than two elements the first two are paired. Memory: 12 bytes an element, and 4 a point
/// meanwhile.
std::vector<std::int32_t> find_behind(Connectivity connectivity, std::int32_t points);

/// Vertices with weights, and edges with weights, each from both its ends.
struct Graph {
  struct Point {
    float x, y;
  };
  std::vector<Point> place;          ///< of each vertex; may be empty
  std::vector<std::int32_t> weight;  ///< of each vertex
  std::vector<std::int64_t> first;   ///< of each vertex's edges; one more than vertices
  std::vector<std::int32_t> to, edge_weight;
};

/// An edge between groups of elements: how many edges of the mesh it stands for.
struct GroupEdge {
  std::int32_t a = 0, b = 0;  ///< a < b
  std::int32_t edges = 0;
};
/// Counts them, by a and b ascending. `of_element` and `of_other` give an element's group, by position in `behind` / 3
/// and by what stands in `behind`.
template <class OfElement, class OfOther>
std::vector<GroupEdge> count_edges(std::span<const std::int32_t> behind, OfElement&& of_element, OfOther&& of_other);
/// The same edges of several lists together: each once.
std::vector<GroupEdge> add_up(std::vector<GroupEdge> edges);

/// `weight` by group. Places are left out.
Graph graph_of(const std::vector<GroupEdge>& edges, std::vector<std::int32_t> weight);

/// Joins vertices to parts of even weight (to about a fiftieth, where vertices are that light) with few edges between
/// them. Vertices are halved again and again: along their numbers, along their distance from the farthest of them, or
/// along the axis that their places vary most on, whichever becomes the best cut by the moves of Fiduccia and
/// Mattheyses 1982 ("A linear-time heuristic for improving network partitions"). Gives the part of each vertex. Needs
/// eight vertices a part of about the same weight, else parts might stay empty.
PartVector join_to_parts(const Graph& graph, std::int32_t parts);

/// The number of stretches a part that a curve is cut into before they are joined: that of its elements, at most 256.
/// 1 where they would be fewer than eight: then stretches are the parts.
std::int32_t stretches_a_part(std::int64_t elements, std::int32_t parts);

/// Sums of the curve's cells by stretch: columns, then rows. Integers, so that any order of adding gives the same.
std::vector<std::int64_t> no_sums(std::int32_t stretches);
void add_cell(std::vector<std::int64_t>& sums, std::int32_t stretch, const CurveCells::Cell& cell);

/// The part of each stretch that cut_hilbert makes of this many elements.
PartVector join_stretches(const std::vector<GroupEdge>& edges, const std::vector<std::int64_t>& sums,
                          std::int64_t elements, std::int32_t parts);

/// An element with an edge to another part.
struct CutElement {
  std::int32_t element = 0, part = 0;
  std::array<std::int32_t, 3> behind{};  ///< -1: nothing
  std::array<std::int32_t, 3> parts{};   ///< of those
};

/// Elements with a cut edge, ascending, of those from `first` on that `behind` tells of. Functions as in count_edges,
/// of parts.
template <class OfElement, class OfOther>
std::vector<CutElement> find_cut(std::span<const std::int32_t> behind, std::int64_t first, OfElement&& of_element,
                                 OfOther&& of_other);

/// Elements change their parts where fewer edges are cut then, in their order, forwards and backwards; sizes stay
/// within 3 hundredths of even ones (METIS's tolerance) where they are, and come nearer where they are not. Changes
/// `cut`, which has all elements of the mesh with a cut edge, and `sizes` (elements by part); gives the number of
/// moves.
std::int64_t smooth(std::vector<CutElement>& cut, std::vector<std::int64_t>& sizes);

/// Finds the elements along the cuts, smooths them and has them applied, until little moves.
void smooth_in_turns(std::vector<std::int64_t>& sizes, const std::function<std::vector<CutElement>()>& find,
                     const std::function<void(const std::vector<CutElement>&)>& apply);

// -------------------------------------------------------------------------------------------------------- templates

template <class OfElement, class OfOther>
std::vector<GroupEdge> count_edges(std::span<const std::int32_t> behind, OfElement&& of_element, OfOther&& of_other) {
  std::vector<GroupEdge> edges;
  for (std::size_t i = 0; i < behind.size(); ++i) {
    if (behind[i] < 0) continue;
    const std::int32_t a = of_element(i / 3), b = of_other(behind[i]);
    if (a < b) edges.push_back({a, b, 1});
  }
  return add_up(std::move(edges));
}

template <class OfElement, class OfOther>
std::vector<CutElement> find_cut(std::span<const std::int32_t> behind, std::int64_t first, OfElement&& of_element,
                                 OfOther&& of_other) {
  std::vector<CutElement> cut;
  for (std::size_t e = 0; 3 * e < behind.size(); ++e) {
    CutElement element{
        static_cast<std::int32_t>(first + static_cast<std::int64_t>(e)), of_element(e), {}, {-1, -1, -1}};
    bool is_cut = false;
    for (std::size_t side = 0; side < 3; ++side) {
      element.behind[side] = behind[3 * e + side];
      if (element.behind[side] < 0) continue;
      element.parts[side] = of_other(element.behind[side]);
      is_cut = is_cut || element.parts[side] != element.part;
    }
    if (is_cut) cut.push_back(element);
  }
  return cut;
}

}  // namespace octavo::partition
