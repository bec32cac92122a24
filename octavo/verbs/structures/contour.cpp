#include "octavo/verbs/structures/contour.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "octavo/base/rank_exchange.hpp"
#include "octavo/verbs/solids/read_solids.hpp"
#include "octavo/verbs/structures/leaf_parts.hpp"
#include "octavo/verbs/triangles.hpp"

namespace octavo::verbs {
namespace {

using base::Error;
using base::Kind;

void check_contour(const step::SharedStep& step, const ContourOptions& options) {
  if (!std::isfinite(options.at)) throw Error(Kind::usage, "the value of a contour is no finite number");
  if (step.header.dim == 1)
    throw Error(Kind::unsupported, "1-D data has no contour").at(step.path).hint("octavo line lists its cells");
  if (!step.unstructured || mesh::holds_solids(step.header)) return;
  if (step.header.dim == 3)
    throw Error(Kind::unsupported, "prisms between planes of triangles have no contour").at(step.path);
  if (options.region || !options.where.empty())
    throw Error(Kind::unsupported, "contours on triangles are of the whole mesh").at(step.path);
}

/// Rank 0 reads the mesh of triangles.
analysis::Surface lines_of_triangles(const step::SharedStep& step, const ContourOptions& options) {
  const std::vector<std::string> names{options.field};
  const mesh::Dataset whole = step::with_fields(step, names, options.definitions);
  mesh::select_fields(whole.header, names);
  analysis::Surface surface;
  base::agree(options.ranks, [&] {
    if (options.ranks.rank != 0) return;
    if (detail::all_in_cells(whole, names))
      throw Error(Kind::unsupported, "contours on triangles are of values at points, not in cells")
          .at("field " + options.field)
          .at(step.path);
    const detail::PointValues read = detail::read_points(whole, names);
    surface = analysis::triangle_lines(read.mesh, read.fields[0], options.at);
  });
  return options.ranks.size > 1 ? base::from_first(options.ranks, surface) : surface;
}

/// The surface in one part of solids; a point on which the condition does not hold opens it.
analysis::Surface surface_in_solids(const mesh::Dataset& dataset, int part, const ContourOptions& options) {
  std::vector<std::string> names{options.field};
  if (!options.where.empty()) names.push_back(options.where);
  if (detail::all_in_cells(dataset, names))
    throw Error(Kind::unsupported, "contours in solids are of values at points, not in cells")
        .at("field " + options.field)
        .at(dataset.path);
  detail::SolidPart read =
      detail::read_solids(dataset, part, names, detail::within_region(dataset.header, options.region));
  for (std::size_t i = 0; names.size() > 1 && i < read.values[0].size(); ++i)
    if (read.values[1][i] == 0 || std::isnan(read.values[1][i]))
      read.values[0][i] = std::numeric_limits<double>::quiet_NaN();
  return analysis::solid_surface(read.mesh, read.values[0], options.at, read.chosen);
}

analysis::Surface surface_of_solids(const detail::LeafParts& parts, const ContourOptions& options) {
  analysis::Surface surface = sum_parts(
      parts.scope.parts, Workers{threads_within_memory(parts.mine, options.threads), options.ranks, options.progress},
      Summation{[&](std::size_t i) { return surface_in_solids(parts.mine, static_cast<int>(i), options); },
                [](analysis::Surface& to, analysis::Surface&& later) { analysis::add(to, std::move(later)); }});
  analysis::join_points(surface);
  return surface;
}

}  // namespace

Contour contour(const step::SharedStep& step, const ContourOptions& options) {
  check_contour(step, options);
  Contour result;
  result.field = options.field;
  result.at = options.at;
  const detail::LeafParts parts = detail::leaf_parts(step, options, {options.field});
  if (mesh::holds_solids(step.header)) {
    result.surface = surface_of_solids(parts, options);
  } else if (step.unstructured) {
    result.surface = lines_of_triangles(step, options);
  } else {
    result.surface = detail::sum_leaf_parts(parts, options, [&](const mesh::Part& part) {
      return analysis::part_surface(part, parts.header, parts.grid, parts.selection, options.field, options.at);
    });
    result.surface.dim = step.header.dim;
    analysis::join_surface(result.surface, parts.grid, options.at);
  }
  detail::describe_leaves(result, parts);
  return result;
}

}  // namespace octavo::verbs
