#include "octavo/verbs/plan.hpp"

#include <algorithm>
#include <limits>

#include "octavo/verbs/scope.hpp"

namespace octavo::verbs {
namespace {

/// The names that a definition, a condition or a formula follows from are found as reading finds them.
mesh::Dataset with_names(const mesh::Dataset& dataset, const PlanOptions& options) {
  std::vector<std::string> names = options.fields.value_or(std::vector<std::string>{});
  names.push_back(options.where);
  return step::with_fields(dataset, names, options.definitions);
}

mesh::PartCost cost_of(const mesh::Dataset& dataset, int part, const mesh::Request& request) {
  if (dataset.cost) return dataset.cost(part, request);
  const std::int64_t bytes = dataset.part_bytes ? dataset.part_bytes(part) : 0;
  return {-1, bytes, dataset.part_sizes ? mesh::bytes_to_read(dataset, dataset.part_sizes(part), request) : bytes};
}

/// All of the step, down to a level on which refined cells count.
std::int64_t leaves_of_step(const mesh::Dataset& dataset, int max_level) {
  std::int64_t leaves = 0;
  for (const mesh::LevelCount& count : dataset.levels)
    if (count.level <= max_level) leaves += count.level == max_level ? count.cells : count.leaves;
  for (const std::int64_t cells : dataset.header.block) leaves *= cells;
  return leaves;
}

}  // namespace

Plan plan(const mesh::Dataset& given, const PlanOptions& options) {
  const mesh::Dataset dataset = with_names(given, options);
  const Scope scope = scope_of(given, options.region, options.max_level);
  mesh::Request request;
  request.fields.emplace();
  for (const std::size_t f : mesh::select_fields(options.fields ? dataset.header : given.header, options.fields))
    request.fields->push_back(dataset.header.fields[f].name);
  if (!options.where.empty()) request.fields->push_back(options.where);
  request.max_level = options.max_level.value_or(std::numeric_limits<int>::max());
  request.particles = options.particles;
  Plan plan;
  plan.parts = scope.parts;
  plan.of = dataset.num_parts;
  plan.selection = with_condition(scope.text, options.where);
  std::int64_t largest = 0;
  plan.leaves = 0;
  for (const int part : plan.parts) {
    const mesh::PartCost cost = cost_of(dataset, part, request);
    plan.leaves = cost.leaves < 0 || plan.leaves < 0 ? -1 : plan.leaves + cost.leaves;
    plan.bytes += cost.bytes;
    largest = std::max(largest, cost.memory);
  }
  plan.leaves = std::min(plan.leaves, leaves_of_step(dataset, request.max_level));
  const auto threads = std::min<std::int64_t>(threads_within_memory(dataset, options.threads), std::ssize(plan.parts));
  // Once for the parts, once for the work on them.
  plan.memory = 2 * largest * threads;
  return plan;
}

}  // namespace octavo::verbs
