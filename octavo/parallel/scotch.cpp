#include "octavo/parallel/scotch.hpp"

#include "octavo/base/error.hpp"

#ifdef OCTAVO_HAVE_PTSCOTCH
#include <mpi.h>

#include <cstdio>
// scotch.h uses FILE and int64_t without including what declares them.
#include <ptscotch.h>

#include <memory>

#include "octavo/partition/scotch_context.hpp"
#endif

namespace octavo::parallel {

#ifdef OCTAVO_HAVE_PTSCOTCH
namespace {

using partition::require_scotch;

/// Neighbours without the gaps where there is none.
struct Adjacency {
  std::vector<SCOTCH_Num> first, neighbours;
};

Adjacency adjacency_of(const jobs::SharedDual& dual) {
  Adjacency adjacency;
  adjacency.first.reserve(dual.behind.size() / 3 + 1);
  adjacency.neighbours.reserve(dual.behind.size());
  adjacency.first.push_back(0);
  for (std::size_t i = 0; i < dual.behind.size(); ++i) {
    if (dual.behind[i] >= 0) adjacency.neighbours.push_back(dual.behind[i]);
    if (i % 3 == 2) adjacency.first.push_back(static_cast<SCOTCH_Num>(adjacency.neighbours.size()));
  }
  return adjacency;
}

}  // namespace

bool has_scotch() noexcept { return true; }

partition::PartVector cut_by_scotch(const jobs::SharedDual& dual, std::int32_t parts) {
  static_assert(sizeof(SCOTCH_Num) == sizeof(std::int32_t), "Scotch built with 32-bit numbers");
  Adjacency adjacency = adjacency_of(dual);
  const auto vertices = static_cast<SCOTCH_Num>(dual.behind.size() / 3);
  const auto edges = static_cast<SCOTCH_Num>(adjacency.neighbours.size());
  partition::RepeatableScotch repeatable;
  SCOTCH_Dgraph graph, bound;
  SCOTCH_Strat strategy;
  require_scotch(SCOTCH_dgraphInit(&graph, MPI_COMM_WORLD), "dgraphInit");
  const std::unique_ptr<SCOTCH_Dgraph, void (*)(SCOTCH_Dgraph*)> graph_end(&graph, &SCOTCH_dgraphExit);
  require_scotch(SCOTCH_dgraphInit(&bound, MPI_COMM_WORLD), "dgraphInit");
  const std::unique_ptr<SCOTCH_Dgraph, void (*)(SCOTCH_Dgraph*)> bound_end(&bound, &SCOTCH_dgraphExit);
  SCOTCH_stratInit(&strategy);
  const std::unique_ptr<SCOTCH_Strat, void (*)(SCOTCH_Strat*)> strategy_end(&strategy, &SCOTCH_stratExit);
  require_scotch(SCOTCH_dgraphBuild(&graph, 0, vertices, vertices, adjacency.first.data(), nullptr, nullptr, nullptr,
                                    edges, edges, adjacency.neighbours.data(), nullptr, nullptr),
                 "dgraphBuild");
  // One more: without elements there would be a null pointer, by which PT-Scotch understands that no cut is wanted.
  partition::PartVector part_of(dual.behind.size() / 3 + 1);
  require_scotch(SCOTCH_contextBindDgraph(repeatable.context(), &graph, &bound), "contextBindDgraph");
  require_scotch(SCOTCH_dgraphPart(&bound, parts, &strategy, part_of.data()), "dgraphPart");
  part_of.pop_back();
  return part_of;
}

#else

bool has_scotch() noexcept { return false; }

partition::PartVector cut_by_scotch(const jobs::SharedDual&, std::int32_t) {
  throw base::Error(base::Kind::unsupported, "this build has no PT-Scotch, by which several processes cut")
      .hint("install libptscotch-dev and build again, or take --method inertial");
}

#endif

}  // namespace octavo::parallel
