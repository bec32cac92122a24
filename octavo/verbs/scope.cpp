#include "octavo/verbs/scope.hpp"

#include <algorithm>

#include "octavo/base/memory.hpp"
#include "octavo/base/threads.hpp"

namespace octavo::verbs {

Scope scope_of(const mesh::Dataset& dataset, const std::optional<mesh::Region>& region, std::optional<int> max_level) {
  Scope scope;
  scope.parts = mesh::parts_of(dataset, region, max_level);
  if (region) scope.text = mesh::to_string(*region, dataset.header.dim);
  if (max_level) scope.text.append(scope.text.empty() ? "" : ", ").append("level <= " + std::to_string(*max_level));
  if (dataset.part_bytes)
    for (int part : scope.parts) scope.bytes += dataset.part_bytes(part);
  return scope;
}

int threads_within_memory(const mesh::Dataset& dataset, int threads) {
  const int asked = base::thread_count(threads);
  if (asked == 1 || !dataset.part_bytes) return asked;
  std::int64_t largest = 0;
  for (int part = 0; part < dataset.num_parts; ++part) largest = std::max(largest, dataset.part_bytes(part));
  return base::threads_within_memory(asked, 2 * static_cast<std::uint64_t>(largest));
}

}  // namespace octavo::verbs
