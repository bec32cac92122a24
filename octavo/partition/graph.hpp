#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "octavo/partition/cut.hpp"

/// The graph of elements that share an edge, and the graph of stretches of a curve. We use them to improve a cut along
/// a curve.
namespace octavo::partition {

/// The element behind each side of each element (points 1-2, 2-3, 3-1), shape (elements, 3); -1 if there is none. If
/// more than two elements share an edge, the first two are paired. Memory: 12 bytes an element for the result, and 4
/// bytes a point meanwhile.
std::vector<std::int32_t> find_behind(Connectivity connectivity, std::int32_t points);

/// Vertices and edges with weights. Each edge is listed at both its ends.
struct Graph {
  struct Point {
    float x, y;
  };
  std::vector<Point> place;          ///< of each vertex; may be empty
  std::vector<std::int32_t> weight;  ///< of each vertex
  std::vector<std::int64_t> first;   ///< where each vertex's edges begin; one entry more than vertices
  std::vector<std::int32_t> to, edge_weight;
};

/// An edge between two groups of elements. `edges` counts the edges of the mesh that it stands for.
struct GroupEdge {
  std::int32_t a = 0, b = 0;  ///< a < b
  std::int32_t edges = 0;
};
/// Counts the edges between groups; the result ascends by a, then b. `of_element` gives the group of an element by its
/// position in `behind` / 3; `of_other` gives it by the number that `behind` holds.
template <class OfElement, class OfOther>
std::vector<GroupEdge> count_edges(std::span<const std::int32_t> behind, OfElement&& of_element, OfOther&& of_other);
/// Joins lists of edges: each pair of groups appears once.
std::vector<GroupEdge> add_up(std::vector<GroupEdge> edges);

/// `weight` is indexed by group. The places of the vertices stay empty.
Graph graph_of(const std::vector<GroupEdge>& edges, std::vector<std::int32_t> weight);

/// Joins vertices to parts of even weight (to about 2 %, if vertices are light enough) with few edges between them.
/// Returns the part of each vertex. Vertices are halved again and again. Each halving tries three orders: by vertex
/// number, by distance from an end of the graph, and along the axis on which places vary most. The moves of Fiduccia
/// and Mattheyses 1982 ("A linear-time heuristic for improving network partitions") improve each, and the best cut
/// wins. There must be eight vertices a part of about the same weight, or parts may stay empty.
PartVector join_to_parts(const Graph& graph, std::int32_t parts);

/// The number of stretches for each part into which a curve is cut before they are joined: one an element, but at most
/// 256. Returns 1 if there would be fewer than eight; then the stretches are the parts.
std::int32_t stretches_a_part(std::int64_t elements, std::int32_t parts);

/// Sums of the positions of the curve's cells, by stretch: all columns, then all rows. They are integers, so the order
/// of adding does not matter.
std::vector<std::int64_t> no_sums(std::int32_t stretches);
void add_cell(std::vector<std::int64_t>& sums, std::int32_t stretch, const CurveCells::Cell& cell);

/// The part of each stretch. The stretches are those of cut_hilbert; there are `elements` elements in all.
PartVector join_stretches(const std::vector<GroupEdge>& edges, const std::vector<std::int64_t>& sums,
                          std::int64_t elements, std::int32_t parts);

/// An element that has an edge to another part.
struct CutElement {
  std::int32_t element = 0, part = 0;
  std::array<std::int32_t, 3> behind{};  ///< element behind each side; -1: none
  std::array<std::int32_t, 3> parts{};   ///< part of each of those
};

/// The elements with a cut edge, ascending. `behind` describes the elements from `first` on. The functions are as in
/// count_edges, but return parts.
template <class OfElement, class OfOther>
std::vector<CutElement> find_cut(std::span<const std::int32_t> behind, std::int64_t first, OfElement&& of_element,
                                 OfOther&& of_other);

/// Moves elements to other parts if fewer edges are cut then. It goes through `cut` forwards and backwards in turn.
/// Sizes that are within 3 % of even (METIS's tolerance) stay so; others come nearer. `cut` must hold all elements of
/// the mesh with a cut edge; both `cut` and `sizes` (elements by part) are updated. Returns the number of moves.
std::int64_t smooth(std::vector<CutElement>& cut, std::vector<std::int64_t>& sizes);

/// Repeats three acts until few elements move: find the elements along the cuts, smooth them, apply the result.
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
