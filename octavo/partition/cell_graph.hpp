#pragma once
#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

#include "octavo/partition/cut.hpp"

/// The graph of cells that share a side, for cells of any kind.
namespace octavo::partition {

/// Cell c has neighbours[first[c]] up to, not including, neighbours[first[c + 1]]. Each pair is listed at both.
struct CellGraph {
  std::vector<std::int32_t> first, neighbours;
};

/// A side of a cell. Sides of the same key are one.
template <class Key>
struct KeyedSide {
  Key key;
  std::int32_t cell = 0;
  auto operator<=>(const KeyedSide&) const = default;
};

/// If more than two cells have a side, each is a neighbour of the one before it. Memory: `sides`, and the result.
template <class Key>
CellGraph graph_of_sides(std::vector<KeyedSide<Key>> sides, std::size_t cells) {
  std::sort(sides.begin(), sides.end());
  CellGraph graph;
  graph.first.assign(cells + 1, 0);
  const auto each_pair = [&](auto&& f) {
    for (std::size_t i = 0; i + 1 < sides.size(); ++i)
      if (sides[i].key == sides[i + 1].key && sides[i].cell != sides[i + 1].cell) f(sides[i].cell, sides[i + 1].cell);
  };
  each_pair([&](std::int32_t a, std::int32_t b) {
    ++graph.first[static_cast<std::size_t>(a) + 1];
    ++graph.first[static_cast<std::size_t>(b) + 1];
  });
  for (std::size_t c = 1; c < graph.first.size(); ++c) graph.first[c] += graph.first[c - 1];
  graph.neighbours.resize(static_cast<std::size_t>(graph.first.back()));
  std::vector<std::int32_t> next(graph.first.begin(), graph.first.end() - 1);
  each_pair([&](std::int32_t a, std::int32_t b) {
    graph.neighbours[static_cast<std::size_t>(next[static_cast<std::size_t>(a)]++)] = b;
    graph.neighbours[static_cast<std::size_t>(next[static_cast<std::size_t>(b)]++)] = a;
  });
  return graph;
}

/// Cuts a graph into parts with METIS's multilevel k-way method, and with Scotch's recursive bisection. Throw as the
/// functions for triangles (cut.hpp).
PartVector cut_metis(const CellGraph& graph, std::int32_t parts);
PartVector cut_scotch(const CellGraph& graph, std::int32_t parts);

}  // namespace octavo::partition
