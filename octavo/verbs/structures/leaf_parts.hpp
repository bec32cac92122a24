#pragma once
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "octavo/analysis/leaves.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/step/fields.hpp"
#include "octavo/verbs/scope.hpp"
#include "octavo/verbs/scope_share.hpp"
#include "octavo/verbs/sum_parts.hpp"

namespace octavo::verbs::detail {

/// The input of analyses that look at touching leaves: the parts of a selection, and the grid that their leaves lie in.
struct LeafParts {
  ScopeShare scope;
  mesh::Dataset mine;
  mesh::Header header;
  analysis::CommonGrid grid;
  analysis::Selection selection;
  mesh::Request request;
};

/// Parts, to be read with these fields. Unknown names are refused before anything is read. Collective.
template <class Options>
LeafParts leaf_parts(const step::SharedStep& step, const Options& options, std::vector<std::string> fields) {
  if (!options.where.empty()) fields.push_back(options.where);
  std::vector<std::string> asked;
  for (std::string& name : fields)
    if (!name.empty() && std::find(asked.begin(), asked.end(), name) == asked.end()) asked.push_back(std::move(name));
  LeafParts out;
  out.header = step::with_fields(step, asked, options.definitions).header;
  mesh::select_fields(out.header, asked);
  out.scope = share_scope(step, options.region, options.max_level, options.ranks, Sharing::in_ranges);
  out.scope.text = with_condition(std::move(out.scope.text), options.where);
  out.mine = step::with_fields(std::move(out.scope.mine), asked, options.definitions, step);
  // Ranks that have not opened the step do not know its levels.
  const int deepest = base::from_first(options.ranks, std::vector<int>{analysis::deepest_index(step)})[0];
  out.grid = analysis::common_grid(out.header, deepest, out.header, deepest).value();
  out.request.fields = asked;
  out.selection = {options.region, options.max_level.value_or(std::numeric_limits<int>::max()), options.where};
  out.request.max_level = out.selection.max_level;
  return out;
}

/// Adds up what `work(const mesh::Part&)` gives of each part. Collective.
template <class Options, class Work>
auto sum_leaf_parts(const LeafParts& parts, const Options& options, const Work& work) {
  using T = decltype(work(mesh::Part()));
  return sum_parts(parts.scope.parts,
                   Workers{threads_within_memory(parts.mine, options.threads), options.ranks, options.progress},
                   Summation{[&](std::size_t i) { return work(parts.mine.read(static_cast<int>(i), parts.request)); },
                             [](T& to, T&& later) { add(to, std::move(later)); }});
}

/// Fills in the facts that all results have about their selection.
template <class Result>
void describe_leaves(Result& result, const LeafParts& parts) {
  for (const mesh::FieldInfo& info : parts.header.fields)
    if (info.name == result.field) result.unit = info.unit;
  result.selection = parts.scope.text;
  result.time = parts.header.time;
  result.parts = parts.scope.listed;
  result.bytes_read = parts.scope.bytes;
}

}  // namespace octavo::verbs::detail
