#include "octavo/jobs/scope.hpp"

namespace octavo::jobs {

Scope scope_of(const mesh::Dataset& dataset, const std::optional<mesh::Region>& region, std::optional<int> max_level) {
  Scope scope;
  scope.parts = mesh::parts_of(dataset, region, max_level);
  if (region) scope.text = mesh::to_string(*region, dataset.header.dim);
  if (max_level) scope.text.append(scope.text.empty() ? "" : ", ").append("level <= " + std::to_string(*max_level));
  if (dataset.part_bytes)
    for (int part : scope.parts) scope.bytes += dataset.part_bytes(part);
  return scope;
}

}  // namespace octavo::jobs
