#include "octavo/base/error.hpp"
#include "octavo/partition/cut.hpp"

#ifdef OCTAVO_HAVE_SCOTCH
#include <cstdio>
// scotch.h uses FILE and int64_t without including their headers.
#include <scotch.h>

#include <algorithm>
#include <memory>

#include "octavo/partition/scotch_context.hpp"
#endif

namespace octavo::partition {

#ifdef OCTAVO_HAVE_SCOTCH
namespace {

struct DualGraph {
  std::vector<SCOTCH_Num> first;  ///< where each element's neighbours begin
  std::vector<SCOTCH_Num> neighbours;
};

/// The graph of elements that share an edge.
DualGraph dual_graph(Connectivity connectivity) {
  struct KeyedEdge {
    std::uint64_t key;
    std::int32_t element;
    auto operator<=>(const KeyedEdge&) const = default;
  };
  std::vector<KeyedEdge> edges(connectivity.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const std::int32_t a = connectivity[i], b = connectivity[i % 3 == 2 ? i - 2 : i + 1];
    edges[i] = {static_cast<std::uint64_t>(std::min(a, b)) << 32 | static_cast<std::uint64_t>(std::max(a, b)),
                static_cast<std::int32_t>(i / 3)};
  }
  std::sort(edges.begin(), edges.end());
  DualGraph graph;
  graph.first.assign(connectivity.size() / 3 + 1, 0);
  const auto each_pair = [&](auto&& f) {
    for (std::size_t i = 0; i + 1 < edges.size(); ++i)
      if (edges[i].key == edges[i + 1].key) f(edges[i].element, edges[i + 1].element);
  };
  each_pair([&](std::int32_t a, std::int32_t b) {
    ++graph.first[static_cast<std::size_t>(a) + 1];
    ++graph.first[static_cast<std::size_t>(b) + 1];
  });
  for (std::size_t e = 1; e < graph.first.size(); ++e) graph.first[e] += graph.first[e - 1];
  graph.neighbours.resize(static_cast<std::size_t>(graph.first.back()));
  std::vector<SCOTCH_Num> next(graph.first.begin(), graph.first.end() - 1);
  each_pair([&](std::int32_t a, std::int32_t b) {
    graph.neighbours[static_cast<std::size_t>(next[static_cast<std::size_t>(a)]++)] = b;
    graph.neighbours[static_cast<std::size_t>(next[static_cast<std::size_t>(b)]++)] = a;
  });
  return graph;
}

}  // namespace

PartVector cut_scotch(Connectivity connectivity, std::int32_t, std::int32_t parts) {
  static_assert(sizeof(SCOTCH_Num) == sizeof(std::int32_t), "Scotch built with 32-bit numbers");
  check_parts(parts, static_cast<std::int64_t>(connectivity.size() / 3));
  PartVector part_of(connectivity.size() / 3, 0);
  if (parts == 1) return part_of;
  DualGraph dual = dual_graph(connectivity);
  RepeatableScotch repeatable;
  SCOTCH_Graph graph;
  SCOTCH_Strat strategy;
  SCOTCH_graphInit(&graph);
  SCOTCH_stratInit(&strategy);
  const std::unique_ptr<SCOTCH_Graph, void (*)(SCOTCH_Graph*)> graph_end(&graph, &SCOTCH_graphExit);
  const std::unique_ptr<SCOTCH_Strat, void (*)(SCOTCH_Strat*)> strategy_end(&strategy, &SCOTCH_stratExit);
  require_scotch(
      SCOTCH_graphBuild(&graph, 0, static_cast<SCOTCH_Num>(part_of.size()), dual.first.data(), nullptr, nullptr,
                        nullptr, static_cast<SCOTCH_Num>(dual.neighbours.size()), dual.neighbours.data(), nullptr),
      "graphBuild");
#ifdef SCOTCH_OPTIONNUMDETERMINISTIC
  SCOTCH_Graph bound;
  SCOTCH_graphInit(&bound);
  const std::unique_ptr<SCOTCH_Graph, void (*)(SCOTCH_Graph*)> bound_end(&bound, &SCOTCH_graphExit);
  require_scotch(SCOTCH_contextBindGraph(repeatable.context(), &graph, &bound), "contextBindGraph");
  require_scotch(SCOTCH_graphPart(&bound, parts, &strategy, part_of.data()), "graphPart");
#else
  SCOTCH_randomReset();
  require_scotch(SCOTCH_graphPart(&graph, parts, &strategy, part_of.data()), "graphPart");
#endif
  return part_of;
}

#else

PartVector cut_scotch(Connectivity, std::int32_t, std::int32_t) {
  throw base::Error(base::Kind::unsupported, "this build has no Scotch")
      .hint("install libscotch-dev and build again, or take --method inertial");
}

#endif

bool has(CutMethod method) noexcept {
#ifndef OCTAVO_HAVE_METIS
  if (method == CutMethod::metis) return false;
#endif
#ifndef OCTAVO_HAVE_SCOTCH
  if (method == CutMethod::scotch) return false;
#endif
  return method <= CutMethod::inertial;
}

}  // namespace octavo::partition
