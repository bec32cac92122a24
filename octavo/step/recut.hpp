#pragma once
#include <cstdint>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "octavo/base/ranks.hpp"
#include "octavo/mesh/tree/split.hpp"

namespace octavo::step {

/// A plan that cuts a step into other parts: equal shares of its leaves along the Hilbert curve (mesh::plan_split).
struct Recut {
  mesh::SplitPlan plan;
  /// The new parts first to last; none if first > last.
  struct Range {
    int first = 0, last = -1;
    bool has(int part) const { return first <= part && part <= last; }
  };
  std::vector<Range> cells;      ///< per old part: the new parts that get cells it owns
  std::vector<Range> particles;  ///< per old part: the new parts that get its particles
  /// For species without positions, whose particles are dealt out in order: the number of particles before each old
  /// part's first one; the last entry is the number of all particles.
  std::map<std::string, std::vector<std::int64_t>> numbers;
};

/// Plans `count` new parts. Reads the mesh of one part at a time, each a few times, and particles once if there are
/// any. Memory: one part and `most_counters` counters of 8 bytes, never the leaves of all parts. Collective over
/// `ranks`: each reads an equal number of parts. Throws Error(usage) if `count` is below 1.
Recut plan_recut(const mesh::Dataset& dataset, int count, const base::Ranks& ranks = {},
                 std::size_t most_counters = std::size_t{1} << 18);

/// The pieces of one old part.
struct CutPart {
  std::vector<mesh::Part> cells;                        ///< for the new parts of its Range
  std::vector<std::vector<mesh::Particles>> particles;  ///< by species, then for the new parts of its Range
};

/// Makes new parts. It reads and cuts old parts when they are needed, and keeps the last `held` of them, because new
/// parts that follow each other along the curve need the same old ones. Several threads may call it at once.
class Recutter {
 public:
  Recutter(const mesh::Dataset& dataset, const Recut& recut, int held);
  /// Makes a new part: pruned, with all its fields and particles. Owned cells keep their values bit for bit.
  mesh::Part part(int index);
  int reads() const;  ///< old parts read so far

 private:
  using Shared = std::shared_ptr<const CutPart>;
  Shared pieces_of(int old_part);
  const mesh::Dataset& dataset_;
  const Recut& recut_;
  std::size_t held_;
  mutable std::mutex mutex_;
  std::deque<std::pair<int, std::shared_future<Shared>>> kept_;
  int reads_ = 0;
};

}  // namespace octavo::step
