#include "octavo/verbs/stats.hpp"

#include <algorithm>
#include <limits>

#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/step/fields.hpp"
#include "octavo/verbs/scope.hpp"
#include "octavo/verbs/scope_share.hpp"
#include "octavo/verbs/sum_parts.hpp"
#include "octavo/verbs/triangles.hpp"

namespace octavo::verbs {

using analysis::PartialStatistics;

namespace {

// Collective. Each rank reads an equal number of the fields and, if it has one, the mesh. Rank 0, which counts the
// points, has one if there is any: ranks without fields read nothing.
analysis::Statistics shared_triangle_statistics(const mesh::Dataset& step, const std::vector<std::string>& fields,
                                                const analysis::Selection& selection,
                                                const step::Definitions& definitions, const base::Ranks& ranks) {
  const auto first = [&](int rank) { return (std::ssize(fields) * rank + ranks.size - 1) / ranks.size; };
  const std::vector<std::string> own(fields.begin() + first(ranks.rank), fields.begin() + first(ranks.rank + 1));
  analysis::Statistics mine;
  base::agree(ranks, [&] {
    if (ranks.rank == 0 || !own.empty()) mine = detail::triangle_statistics(step, own, selection, definitions);
  });
  if (ranks.size == 1) return mine;
  auto by_rank = base::gather(ranks, std::vector<analysis::Statistics>{std::move(mine)});
  analysis::Statistics joined = std::move(by_rank[0]);
  for (std::size_t rank = 1; rank < by_rank.size(); ++rank)
    for (analysis::FieldStatistics& field : by_rank[rank].fields) joined.fields.push_back(std::move(field));
  return joined;
}

}  // namespace

Stats stats(const step::SharedStep& step, const StatsOptions& options) {
  std::vector<std::string> made = options.fields.value_or(std::vector<std::string>{});
  made.push_back(options.where);
  const mesh::Header header = step::with_fields(step, made, options.definitions).header;
  const std::string density_name = mesh::density_field(header);
  const bool density = !density_name.empty();
  std::vector<std::string> fields;
  const mesh::Header& known = options.fields ? header : step.header;
  for (std::size_t i : mesh::select_fields(known, options.fields)) fields.push_back(known.fields[i].name);
  mesh::Request request;
  request.fields = fields;
  if (!options.where.empty() && std::find(fields.begin(), fields.end(), options.where) == fields.end())
    request.fields->push_back(options.where);
  if (density && std::find(fields.begin(), fields.end(), density_name) == fields.end())
    request.fields->push_back(density_name);
  if (options.max_level) request.max_level = *options.max_level;
  request.particles = options.particles && !step.species.empty();
  const auto species = options.particles ? step.species : std::vector<mesh::SpeciesInfo>{};
  analysis::require_edge(options.region, options.edge);
  const bool clip = options.region && options.edge == analysis::RegionEdge::clip;
  if (clip && step.unstructured && !mesh::holds_solids(step.header))
    throw base::Error(base::Kind::unsupported, "points of triangles are in a region or not: no edge clips them")
        .at(step.path);
  const analysis::Selection selection{options.region, options.max_level.value_or(std::numeric_limits<int>::max()),
                                      options.where, clip};
  ScopeShare scope = share_scope(step, options.region, options.max_level, options.ranks, Sharing::in_ranges);
  Stats result{{},
               std::move(scope.listed),
               scope.bytes,
               with_condition(with_edge(std::move(scope.text), options.edge), options.where)};
  if (step.unstructured) {
    result.statistics = shared_triangle_statistics(step, fields, selection, options.definitions, options.ranks);
    return result;
  }
  const mesh::Dataset mine = step::with_fields(std::move(scope.mine), made, options.definitions, step);
  const auto work = [&](std::size_t i) {
    return analysis::statistics(mine.read(static_cast<int>(i), request), header, selection, fields, species, density);
  };
  const PartialStatistics all =
      sum_parts(scope.parts, Workers{threads_within_memory(mine, options.threads), options.ranks, options.progress},
                Summation{work, [](PartialStatistics& to, PartialStatistics&& other) { analysis::add(to, other); }});
  result.statistics = analysis::finish(all, header, fields, species, density);
  return result;
}

}  // namespace octavo::verbs
