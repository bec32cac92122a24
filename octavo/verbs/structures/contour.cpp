#include "octavo/verbs/structures/contour.hpp"

#include <cmath>
#include <utility>

#include "octavo/base/rank_exchange.hpp"
#include "octavo/verbs/structures/leaf_parts.hpp"
#include "octavo/verbs/triangles.hpp"

namespace octavo::verbs {
namespace {

using base::Error;
using base::Kind;

void check_contour(const step::SharedStep& step, const ContourOptions& options) {
  mesh::refuse_solids(step, "contours are of cells and triangles");
  if (!std::isfinite(options.at)) throw Error(Kind::usage, "the value of a contour is no finite number");
  if (step.header.dim == 1)
    throw Error(Kind::unsupported, "1-D data has no contour").at(step.path).hint("octavo line lists its cells");
  if (!step.unstructured) return;
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

}  // namespace

Contour contour(const step::SharedStep& step, const ContourOptions& options) {
  check_contour(step, options);
  Contour result;
  result.field = options.field;
  result.at = options.at;
  const detail::LeafParts parts = detail::leaf_parts(step, options, {options.field});
  if (step.unstructured) {
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
