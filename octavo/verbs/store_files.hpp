#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>

#include "octavo/base/ranks.hpp"
#include "octavo/store/store.hpp"

/// Writes a step of a store by ranks that share its files.
namespace octavo::verbs {

/// The plan of a step's files: the parts in each file, and the rank that writes it.
struct StoreFiles {
  int parts = 0, per_file = 1, files = 1, ranks = 1;
  int rank_of(int file) const { return static_cast<int>(std::int64_t{file} * ranks / files); }
  int first(int file) const { return file * per_file; }
  int last(int file) const { return std::min(parts, first(file) + per_file); }
};
/// `per_file`: most parts of a file; 0: all parts.
StoreFiles plan_files(int parts, int per_file, const base::Ranks& ranks);

/// Collective. Writes this rank's files of a step, and marks the step as durable. `write` gets the number of a file and
/// its segment, and returns the order of the step. The caller sets store, flow, number and whole domain of `segment`.
void write_files(const base::Ranks& ranks, const StoreFiles& files, store::SegmentPlan segment,
                 const std::function<std::uint64_t(int file, const store::SegmentPlan& segment)>& write);

}  // namespace octavo::verbs
