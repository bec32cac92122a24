#include "octavo/engine/restart/scotch.hpp"

#include "octavo/base/error.hpp"

#ifdef OCTAVO_HAVE_PTSCOTCH
#include <mpi.h>

#include <cstdio>
// scotch.h uses FILE and int64_t without including what declares them.
#include <ptscotch.h>

#include <memory>

#include "octavo/partition/scotch_context.hpp"
#include "octavo/ranks/communicator.hpp"
#endif

namespace octavo::engine {

#ifdef OCTAVO_HAVE_PTSCOTCH
namespace {

using partition::require_scotch;

/// The neighbours of each element in compact form: no entry where there is no neighbour.
struct Adjacency {
  std::vector<SCOTCH_Num> first, neighbours;
};

Adjacency adjacency_of(const telemac::SharedDual& dual) {
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

/// Owns one of PT-Scotch's objects and ends it in its destructor.
template <class T>
class Ended {
 public:
  explicit Ended(void (*end)(T*)) : end_(end) {}
  ~Ended() {
    if (begun_) end_(&value_);
  }
  Ended(const Ended&) = delete;
  Ended& operator=(const Ended&) = delete;
  template <class Begin>
  void begin(Begin&& call, const char* name) {
    require_scotch(call(&value_), name);
    begun_ = true;
  }
  T* get() { return &value_; }

 private:
  T value_{};
  void (*end_)(T*);
  bool begun_ = false;
};

}  // namespace

bool has_scotch() noexcept { return true; }

partition::PartVector cut_by_scotch(const telemac::SharedDual& dual, std::int32_t parts) {
  static_assert(sizeof(SCOTCH_Num) == sizeof(std::int32_t), "Scotch built with 32-bit numbers");
  const MPI_Comm comm = MPI_COMM_WORLD;
  Adjacency adjacency;
  std::unique_ptr<partition::RepeatableScotch> repeatable;
  // We take one element more: a rank without elements would pass a null pointer, which tells PT-Scotch not to cut.
  partition::PartVector part_of;
  Ended<SCOTCH_Dgraph> graph(&SCOTCH_dgraphExit), bound(&SCOTCH_dgraphExit);
  Ended<SCOTCH_Strat> strategy(&SCOTCH_stratExit);
  ranks::agree(comm, [&] {  // all steps at which one rank alone can fail, memory first
    adjacency = adjacency_of(dual);
    part_of.resize(dual.behind.size() / 3 + 1);
    repeatable = std::make_unique<partition::RepeatableScotch>();
    strategy.begin([](SCOTCH_Strat* value) { return SCOTCH_stratInit(value); }, "stratInit");
  });
  // Each call is collective or followed by a collective one. If a rank fails, all leave before the next call.
  ranks::agree(
      comm, [&] { graph.begin([&](SCOTCH_Dgraph* value) { return SCOTCH_dgraphInit(value, comm); }, "dgraphInit"); });
  ranks::agree(
      comm, [&] { bound.begin([&](SCOTCH_Dgraph* value) { return SCOTCH_dgraphInit(value, comm); }, "dgraphInit"); });
  const auto vertices = static_cast<SCOTCH_Num>(dual.behind.size() / 3);
  const auto edges = static_cast<SCOTCH_Num>(adjacency.neighbours.size());
  ranks::agree(comm, [&] {
    require_scotch(SCOTCH_dgraphBuild(graph.get(), 0, vertices, vertices, adjacency.first.data(), nullptr, nullptr,
                                      nullptr, edges, edges, adjacency.neighbours.data(), nullptr, nullptr),
                   "dgraphBuild");
  });
  ranks::agree(comm, [&] {
    require_scotch(SCOTCH_contextBindDgraph(repeatable->context(), graph.get(), bound.get()), "contextBindDgraph");
  });
  ranks::agree(comm, [&] {
    require_scotch(SCOTCH_dgraphPart(bound.get(), parts, strategy.get(), part_of.data()), "dgraphPart");
  });
  part_of.pop_back();
  return part_of;
}

#else

bool has_scotch() noexcept { return false; }

partition::PartVector cut_by_scotch(const telemac::SharedDual&, std::int32_t) {
  throw base::Error(base::Kind::unsupported, "this build has no PT-Scotch, by which several processes cut")
      .hint("install libptscotch-dev and build again, or take --method inertial");
}

#endif

}  // namespace octavo::engine
