#include "octavo/verbs/structures/clumps.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "octavo/verbs/structures/leaf_parts.hpp"

namespace octavo::verbs {

using base::Error;
using base::Kind;

Clumps clumps(const step::SharedStep& step, const ClumpsOptions& options) {
  if (step.unstructured)
    throw Error(Kind::unsupported, "a mesh of triangles has no clumps")
        .at(step.path)
        .hint("octavo contour draws lines");
  if (std::isnan(options.above)) throw Error(Kind::usage, "the threshold of clumps is no number");
  const analysis::ClumpPlan plan{options.field, options.above, mesh::density_field(step.header)};
  const detail::LeafParts parts = detail::leaf_parts(step, options, {plan.field, plan.density});
  analysis::PartClumps found = detail::sum_leaf_parts(parts, options, [&](const mesh::Part& part) {
    return analysis::part_clumps(part, parts.header, parts.grid, parts.selection, plan);
  });
  Clumps result;
  result.clumps = analysis::join_clumps(std::move(found), parts.header, parts.grid, plan);
  result.field = options.field;
  result.above = options.above;
  result.has_mass = !plan.density.empty();
  for (const mesh::FieldInfo& info : parts.header.fields)
    if (info.name == plan.density && !info.unit.empty())
      result.mass_unit = info.unit + "*code_length**" + std::to_string(parts.header.dim);
  detail::describe_leaves(result, parts);
  return result;
}

}  // namespace octavo::verbs
