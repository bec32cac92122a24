#include "octavo/base/error.hpp"
#include "octavo/partition/cell_graph.hpp"

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

/// The graph of elements that share an edge.
CellGraph dual_graph(Connectivity connectivity) {
  std::vector<KeyedSide<std::uint64_t>> edges(connectivity.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const std::int32_t a = connectivity[i], b = connectivity[i % 3 == 2 ? i - 2 : i + 1];
    edges[i] = {static_cast<std::uint64_t>(std::min(a, b)) << 32 | static_cast<std::uint64_t>(std::max(a, b)),
                static_cast<std::int32_t>(i / 3)};
  }
  return graph_of_sides(std::move(edges), connectivity.size() / 3);
}

}  // namespace

PartVector cut_scotch(Connectivity connectivity, std::int32_t, std::int32_t parts) {
  check_parts(parts, static_cast<std::int64_t>(connectivity.size() / 3));
  if (parts == 1) return PartVector(connectivity.size() / 3, 0);
  return cut_scotch(dual_graph(connectivity), parts);
}

PartVector cut_scotch(const CellGraph& dual, std::int32_t parts) {
  static_assert(sizeof(SCOTCH_Num) == sizeof(std::int32_t), "Scotch built with 32-bit numbers");
  check_parts(parts, std::ssize(dual.first) - 1);
  PartVector part_of(dual.first.size() - 1, 0);
  if (parts == 1) return part_of;
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

namespace {

[[noreturn]] void refuse_scotch() {
  throw base::Error(base::Kind::unsupported, "this build has no Scotch")
      .hint("install libscotch-dev and build again, or take --method inertial");
}

}  // namespace

PartVector cut_scotch(Connectivity, std::int32_t, std::int32_t) { refuse_scotch(); }
PartVector cut_scotch(const CellGraph&, std::int32_t) { refuse_scotch(); }

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
