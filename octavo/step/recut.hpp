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

/// A step cut into other parts: equal shares of its leaves along the Hilbert curve, as mesh::plan_split gives them.
struct Recut {
  mesh::SplitPlan plan;
  /// New parts first ... last; none where first > last.
  struct Range {
    int first = 0, last = -1;
    bool has(int part) const { return first <= part && part <= last; }
  };
  std::vector<Range> cells;      ///< per old part: which new ones have cells it owns
  std::vector<Range> particles;  ///< the same of its particles
  /// For species without positions, which are dealt out in order: the number of each old part's first particle among
  /// all, and at the end the number of all.
  std::map<std::string, std::vector<std::int64_t>> numbers;
};

/// Reads meshes only, one part at a time and each a few times, and particles once where there are any: beside a part
/// it holds `most_counters` counters of 8 bytes, never the leaves of all. Collective over `ranks`: each reads an equal
/// number of parts. Throws Error(usage) where `count` is below 1.
Recut plan_recut(const mesh::Dataset& dataset, int count, const base::Ranks& ranks = {},
                 std::size_t most_counters = std::size_t{1} << 18);

/// The pieces of one old part.
struct Pieces {
  std::vector<mesh::Part> cells;                        ///< for the new parts of its Range
  std::vector<std::vector<mesh::Particles>> particles;  ///< by species, then for the new parts of its Range
};

/// Makes new parts. Old ones are read and cut when they are needed, and the last `held` of them are kept: those that
/// follow each other along the curve need the same. May be called from several threads.
class Recutter {
 public:
  Recutter(const mesh::Dataset& dataset, const Recut& recut, int held);
  /// Pruned, with every field and particle. Values of owned cells are those of the old parts, bit for bit.
  mesh::Part part(int index);
  int reads() const;  ///< old parts read so far

 private:
  using Shared = std::shared_ptr<const Pieces>;
  Shared pieces_of(int old_part);
  const mesh::Dataset& dataset_;
  const Recut& recut_;
  std::size_t held_;
  mutable std::mutex mutex_;
  std::deque<std::pair<int, std::shared_future<Shared>>> kept_;
  int reads_ = 0;
};

}  // namespace octavo::step
