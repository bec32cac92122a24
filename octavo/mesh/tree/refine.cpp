#include "octavo/mesh/tree/refine.hpp"

#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/mesh/tree/regrid.hpp"

namespace octavo::mesh {
namespace {

using base::BitArray;
using base::Error;
using base::Kind;

using Where = std::function<bool(int, const Coordinate&)>;

/// The new tree: children of the picked leaves stand where the order of the levels wants them.
Octree refined_tree(const Octree& tree, const Where& where) {
  Octree out{tree.dim, tree.roots, tree.block, {}, {}, tree.held};
  const auto levels = static_cast<std::size_t>(num_levels(tree));
  std::vector<Coordinate> at = root_coordinates(tree);
  // The old number of each new cell of the level, or none.
  constexpr std::size_t none = ~std::size_t{0};
  std::vector<std::size_t> old(at.size());
  for (std::size_t i = 0; i < old.size(); ++i) old[i] = i;
  for (std::size_t level = 0; level == 0 || !old.empty(); ++level) {
    BitArray refined(old.size()), owned(old.size(), true);
    std::vector<std::size_t> next;
    std::vector<std::size_t> family;
    if (level < levels) {
      family.assign(tree.refined[level].size(), none);
      std::size_t child = 0;
      tree.refined[level].for_each_set([&](std::size_t i) { family[i] = child++ * family_size(tree); });
    }
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (old[i] == none) continue;
      owned.set(i, tree.owned[level][old[i]]);
      const std::size_t first = family[old[i]];
      if (first == none && (!owned[i] || (where && !where(static_cast<int>(level), at[i])))) continue;
      refined.set(i);
      for (std::size_t c = 0; c < family_size(tree); ++c) next.push_back(first == none ? none : first + c);
    }
    out.refined.push_back(std::move(refined));
    out.owned.push_back(std::move(owned));
    at = child_coordinates(out, static_cast<int>(level), at);
    old = std::move(next);
  }
  return out;
}

void check_fields(const Part& part) {
  for (const Field& field : part.fields)
    if (field.info.centring == Centring::node || field.info.centring == Centring::particle)
      throw Error(Kind::usage, "only fields of cells and of faces are refined").at("field " + field.info.name);
}

}  // namespace

Part refine_leaves(const Part& part, const FillOptions& options, const Where& where) {
  check_fields(part);
  Regrid plan;
  plan.tree = refined_tree(octree_of(part), where);
  Part out{.index = part.index, .mesh = {}, .fields = {}, .particles = part.particles};
  const std::size_t values = num_cells(plan.tree) * block_size(plan.tree);
  for (const Field& field : part.fields) out.fields.push_back(make_field(field.info, values));
  BitArray known(values);
  // Cells that are not owned, too: their place is taken, and made values would go to whole families.
  Octree all = octree_of(part);
  for (BitArray& level : all.owned) level = BitArray(level.size(), true);
  scatter(all, part.fields, plan, plan.tree, out.fields, known);
  fill_down(plan.tree, 0, options, out.fields, known);
  out.mesh = std::move(plan.tree);
  return out;
}

}  // namespace octavo::mesh
