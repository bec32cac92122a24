#include "octavo/verbs/store_files.hpp"

#include <algorithm>
#include <optional>

#include "octavo/base/rank_exchange.hpp"
#include "octavo/store/durable.hpp"

namespace octavo::verbs {

StoreFiles plan_files(int parts, int per_file, const base::Ranks& ranks) {
  StoreFiles plan;
  plan.parts = parts;
  plan.per_file = per_file > 0 ? per_file : std::max(1, parts);
  plan.files = std::max(1, (parts + plan.per_file - 1) / plan.per_file);
  plan.ranks = ranks.size;
  return plan;
}

void write_files(const base::Ranks& ranks, const StoreFiles& files, store::SegmentPlan segment,
                 const std::function<std::uint64_t(int file, const store::SegmentPlan& segment)>& write) {
  segment.attempt = base::from_first(ranks, store::random_attempt());
  segment.segments = files.files;
  std::optional<std::uint64_t> order;
  base::agree(ranks, [&] {
    for (int file = 0; file < files.files; ++file) {
      if (files.rank_of(file) != ranks.rank) continue;
      segment.subfile = segment.segment = file;
      const std::uint64_t in_file = write(file, segment);
      if (file == 0) order = in_file;
    }
  });
  base::agree(ranks, [&] {
    if (order) store::note_durable(segment.store, segment.flow, *order, segment.step);
  });
}

}  // namespace octavo::verbs
