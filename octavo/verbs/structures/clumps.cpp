#include "octavo/verbs/structures/clumps.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "octavo/mesh/geometry.hpp"
#include "octavo/mesh/solids/refuse.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/verbs/structures/leaf_parts.hpp"

namespace octavo::verbs {
namespace {

using base::Error;
using base::Kind;

constexpr const char* label_name = "clump";

/// Finds the clumps of a part again, and knows the label of each.
struct Labels {
  mesh::Dataset source;  ///< with the fields that clumps are found by
  mesh::Header header;
  analysis::CommonGrid grid;
  analysis::Selection selection;
  analysis::ClumpPlan plan;
  mesh::Request request;
  std::vector<std::vector<std::int64_t>> of;  ///< [part][clump of the part]; empty: the part was not read

  /// The labels as a field of a tree, which may end at a coarser level.
  mesh::Field field(int part, const mesh::Octree& tree) const {
    mesh::FieldInfo info;
    info.name = label_name;
    info.type = mesh::ScalarType::int64;
    mesh::Field out = mesh::make_field(info, mesh::num_cells(tree) * mesh::block_size(tree));
    const std::vector<std::int64_t>& labels = of[static_cast<std::size_t>(part)];
    if (labels.empty()) return out;
    const mesh::Part whole = source.read(part, request);
    const mesh::Octree& deeper = mesh::octree_of(whole);
    for (int level = 0; level < std::min(mesh::num_levels(tree), mesh::num_levels(deeper)); ++level)
      if (mesh::num_cells(tree, level) != mesh::num_cells(deeper, level))
        throw Error(Kind::usage, "clumps were found in another selection of levels").at(source.path);
    const std::vector<std::uint32_t> found = analysis::part_labels(whole, header, grid, selection, plan);
    const auto values = out.as<std::int64_t>();
    for (std::size_t i = 0; i < std::min(values.size(), found.size()); ++i)
      if (found[i] != 0) values[i] = labels.at(found[i] - 1);
    return out;
  }
};

analysis::ClumpPlan plan_of_clumps(const mesh::Header& header, const ClumpsOptions& options) {
  return {options.field, options.above, mesh::density_field(header)};
}

mesh::Dataset labelled(const mesh::Dataset& step, std::shared_ptr<const Labels> labels) {
  mesh::Dataset out = step;
  mesh::FieldInfo info;
  info.name = label_name;
  info.type = mesh::ScalarType::int64;
  out.header.fields.push_back(info);
  const auto others = [](mesh::Request request) {
    if (request.fields) std::erase(*request.fields, std::string(label_name));
    return request;
  };
  if (step.cost)
    out.cost = [cost = step.cost, others](int part, const mesh::Request& asked) { return cost(part, others(asked)); };
  out.read = [read = step.read, labels, others](int part, const mesh::Request& asked) {
    mesh::Part made = read(part, others(asked));
    if (asked.fields && std::find(asked.fields->begin(), asked.fields->end(), label_name) == asked.fields->end())
      return made;
    mesh::Field field = labels->field(part, mesh::octree_of(made));
    auto place = made.fields.end();
    if (asked.fields) {
      const auto found = std::find(asked.fields->begin(), asked.fields->end(), label_name);
      place = made.fields.begin() + (found - asked.fields->begin());
    }
    made.fields.insert(place, std::move(field));
    return made;
  };
  return out;
}

}  // namespace

Clumps clumps(const step::SharedStep& step, const ClumpsOptions& options) {
  mesh::refuse_solids(
      step, "clumps are of cells of an adaptive mesh",
      "octavo stats --where 'F>V' integrates what lies above a value, and octavo contour gives its surface");
  if (step.unstructured)
    throw Error(Kind::unsupported, "a mesh of triangles has no clumps")
        .at(step.path)
        .hint("octavo contour draws lines");
  if (mesh::cell_shape(step.header) != mesh::CellShape::box)
    throw Error(Kind::unsupported, "clumps are found in Cartesian coordinates alone").at(step.path);
  if (std::isnan(options.above)) throw Error(Kind::usage, "the threshold of clumps is no number");
  const analysis::ClumpPlan plan = plan_of_clumps(step.header, options);
  const detail::LeafParts parts = detail::leaf_parts(step, options, {plan.field, plan.density});
  analysis::PartClumps found = detail::sum_leaf_parts(parts, options, [&](const mesh::Part& part) {
    return analysis::part_clumps(part, parts.header, parts.grid, parts.selection, plan);
  });
  Clumps result;
  analysis::JoinedClumps joined = analysis::join_clumps(std::move(found), parts.header, parts.grid, plan);
  result.clumps = std::move(joined.clumps);
  result.part_clumps = std::move(joined.parts);
  result.field = options.field;
  result.above = options.above;
  result.has_mass = !plan.density.empty();
  for (const mesh::FieldInfo& info : parts.header.fields)
    if (info.name == plan.density && !info.unit.empty())
      result.mass_unit = info.unit + "*code_length**" + std::to_string(parts.header.dim);
  detail::describe_leaves(result, parts);
  return result;
}

mesh::Dataset with_labels(const mesh::Dataset& step, const ClumpsOptions& options, const std::vector<int>& parts,
                          const std::vector<std::vector<std::uint32_t>>& part_clumps,
                          const std::vector<std::int64_t>& labels) {
  for (const mesh::FieldInfo& info : step.header.fields)
    if (info.name == label_name) throw Error(Kind::usage, "the step has a field clump already").at(step.path);
  ClumpsOptions alone = options;
  alone.ranks = {};
  const analysis::ClumpPlan plan = plan_of_clumps(step.header, options);
  detail::LeafParts found = detail::leaf_parts(step, alone, {plan.field, plan.density});
  auto made = std::make_shared<Labels>();
  made->source = step::with_fields(step, *found.request.fields, options.definitions);
  made->header = found.header;
  made->grid = found.grid;
  made->selection = found.selection;
  made->plan = plan;
  made->request = found.request;
  made->of.resize(static_cast<std::size_t>(step.num_parts));
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (const std::uint32_t clump : part_clumps.at(i))
      made->of.at(static_cast<std::size_t>(parts[i])).push_back(labels.at(clump));
  return labelled(step, std::move(made));
}

}  // namespace octavo::verbs
