#include "octavo/verbs/stats.hpp"

#include <algorithm>
#include <limits>

#include "octavo/mesh/geometry.hpp"
#include "octavo/verbs/scope.hpp"
#include "octavo/verbs/sum_parts.hpp"
#include "octavo/verbs/triangles.hpp"

namespace octavo::verbs {
namespace {

using analysis::PartialStatistics;

}  // namespace

Stats stats(const mesh::Dataset& given, const StatsOptions& options) {
  const mesh::Dataset dataset = mesh::with_geometry(given, options.fields.value_or(std::vector<std::string>{}));
  const mesh::Header& header = dataset.header;
  const std::string density_name = mesh::density_field(header);
  const bool density = !density_name.empty();
  std::vector<std::string> fields;
  for (std::size_t i : mesh::select_fields(header, options.fields)) fields.push_back(header.fields[i].name);
  mesh::Request request;
  request.fields = fields;
  if (density && std::find(fields.begin(), fields.end(), density_name) == fields.end())
    request.fields->push_back(density_name);
  if (options.max_level) request.max_level = *options.max_level;
  request.particles = options.particles && !dataset.species.empty();
  const auto species = options.particles ? dataset.species : std::vector<mesh::SpeciesInfo>{};
  const analysis::Selection selection{options.region, options.max_level.value_or(std::numeric_limits<int>::max())};
  Stats result;
  Scope scope = scope_of(dataset, options.region, options.max_level);
  result.selection = std::move(scope.text);
  result.parts = std::move(scope.parts);
  result.bytes_read = scope.bytes;
  if (dataset.unstructured) {
    result.statistics = detail::triangle_statistics(dataset, fields, options.region);
    return result;
  }
  const auto work = [&](int part) {
    return analysis::statistics(dataset.read(part, request), header, selection, fields, species, density);
  };
  const PartialStatistics all =
      sum_parts(result.parts, Workers{threads_within_memory(dataset, options.threads), options.ranks, options.progress},
                Summation{work, [](PartialStatistics& to, PartialStatistics&& other) { analysis::add(to, other); }});
  result.statistics = analysis::finish(all, header, fields, species, density);
  return result;
}

}  // namespace octavo::verbs
