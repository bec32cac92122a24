#include "octavo/jobs/scope.hpp"

#include <numeric>

namespace octavo::jobs {

Scope scope_of(const mesh::Dataset& dataset, const std::optional<mesh::Region>& region, std::optional<int> max_level) {
  Scope scope;
  if (region) {
    scope.parts = dataset.parts_touching(*region);
    scope.text = mesh::to_string(*region, dataset.header.dim);
  } else {
    scope.parts.resize(static_cast<std::size_t>(dataset.num_parts));
    std::iota(scope.parts.begin(), scope.parts.end(), 0);
  }
  if (max_level) scope.text.append(scope.text.empty() ? "" : ", ").append("level <= " + std::to_string(*max_level));
  if (dataset.part_bytes)
    for (int part : scope.parts) scope.bytes += dataset.part_bytes(part);
  return scope;
}

}  // namespace octavo::jobs
