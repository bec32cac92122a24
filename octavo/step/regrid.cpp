#include "octavo/step/regrid.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/sides.hpp"
#include "octavo/mesh/tree/cell_runs.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/mesh/tree/prune.hpp"
#include "octavo/mesh/tree/walk.hpp"

namespace octavo::step {
namespace {

using base::Error;
using base::Kind;
using mesh::Octree;

/// The data that all parts of a regridded step share.
struct RegriddedStep {
  mesh::Dataset source;
  mesh::Header header;
  mesh::Regrid plan;
  std::optional<mesh::TreeIndex> index;          ///< of the plan's tree
  std::vector<std::vector<std::size_t>> bounds;  ///< part p owns the cells [bounds[p][l], bounds[p + 1][l]) of level l
  std::vector<std::vector<int>> source_of;       ///< the source parts with cells of each part
};

std::size_t num_parts(const RegriddedStep& shared) { return shared.bounds.size() - 1; }

/// Equal stretches of the walk.
void set_bounds(RegriddedStep& shared, std::size_t each) {
  const std::size_t cells = mesh::num_cells(shared.plan.tree), parts = each == 0 ? 1 : (cells + each - 1) / each;
  for (std::size_t p = 0; p <= parts; ++p) shared.bounds.push_back(mesh::cut_walk(*shared.index, cells * p / parts));
}

std::size_t part_of(const RegriddedStep& shared, std::size_t level, std::size_t cell) {
  const auto after =
      std::upper_bound(shared.bounds.begin(), shared.bounds.end(), cell,
                       [&](std::size_t c, const std::vector<std::size_t>& bound) { return c < bound[level]; });
  return static_cast<std::size_t>(after - shared.bounds.begin() - 1);
}

/// Whether values of a part are made of others that need not be its own.
bool needs_others(const RegriddedStep& shared) { return shared.plan.fills != 0 && num_parts(shared) > 1; }

/// The new part's own cells, to level index `deepest`: among those below its roots, or among all if it needs others.
Octree own_tree(const RegriddedStep& shared, std::size_t part, int deepest) {
  const auto &begin = shared.bounds[part], &end = shared.bounds[part + 1];
  std::vector<std::size_t> first(begin.size(), 0);  // cell of each level of the tree
  Octree tree;
  if (needs_others(shared)) {
    tree = shared.plan.tree;
  } else {
    // Its first cells may lie below the root before.
    const std::size_t root = begin[0] - (begin[0] == 0 ? 0 : 1);
    tree = mesh::roots_between(*shared.index, root, end[0]);
    first = mesh::cells_before(*shared.index, root);
  }
  for (std::size_t level = 0; level < tree.owned.size(); ++level) {
    tree.owned[level] = base::BitArray(tree.owned[level].size());
    for (std::size_t i = begin[level]; i < end[level]; ++i) tree.owned[level].set(i - first[level]);
  }
  if (deepest + 1 < mesh::num_levels(tree)) tree = mesh::truncate(tree, deepest).tree;
  return tree;
}

/// Where values are made: for each new cell, numbered over the levels, the parts that need a value of it. Sorted.
using Needs = std::vector<std::pair<std::size_t, std::size_t>>;
Needs list_needs(const RegriddedStep& shared) {
  Needs needs;
  if (!needs_others(shared)) return needs;
  const auto offsets = mesh::level_offsets(shared.plan.tree);
  for (std::size_t p = 0; p < num_parts(shared); ++p) {
    const Octree own = own_tree(shared, p, mesh::num_levels(shared.plan.tree));
    const auto needed = mesh::cells_to_complete(shared.plan, own, own.owned);
    for (std::size_t level = 0; level < needed.size(); ++level)
      needed[level].for_each_set([&](std::size_t i) { needs.emplace_back(offsets[level] + i, p); });
  }
  std::sort(needs.begin(), needs.end());
  return needs;
}

/// Parts that own, or need to make values, a new cell that shares something with an owned cell of this source part.
std::set<std::size_t> parts_fed_by(const RegriddedStep& shared, const Needs& needs, const Octree& source) {
  const mesh::Regrid& plan = shared.plan;
  const auto offsets = mesh::level_offsets(plan.tree);
  std::set<std::size_t> fed;
  const auto feed = [&](int level, const mesh::Index3& at) {
    const auto cell = shared.index->find(level, at);
    if (!cell) return;
    const auto l = static_cast<std::size_t>(level);
    if (needs.empty()) fed.insert(part_of(shared, l, *cell));
    const std::size_t number = offsets[l] + *cell;
    for (auto need = std::lower_bound(needs.begin(), needs.end(), std::pair(number, std::size_t{0}));
         need != needs.end() && need->first == number; ++need)
      fed.insert(need->second);
  };
  for (mesh::LevelCells places(source); places.level() < mesh::num_levels(source); places.next()) {
    const int level = places.level(), finer = std::max(0, plan.shift - level);
    const auto l = static_cast<std::size_t>(level);
    if (level < plan.first) continue;
    places.for_each([&](std::size_t i, const mesh::Coordinate& at) {
      if (!source.owned[l][i] || (finer > 0 && source.refined[l][i])) return;
      const mesh::IndexBox cells = mesh::refined_box(mesh::cells_of(source, at), std::int64_t{1} << finer, source.dim);
      mesh::for_each_row(mesh::blocks_touching(plan.tree, mesh::flat(cells, source.dim)),
                         [&](const mesh::Index3& row, std::int64_t n) {
                           for (std::int64_t x = 0; x < n; ++x)
                             feed(std::max(0, level - plan.shift), {row[0] + x, row[1], row[2]});
                         });
    });
  }
  return fed;
}

/// The new part's tree: its own cells, the cells from which their values are made, and the cells that complete the
/// tree.
Octree part_tree(const RegriddedStep& shared, std::size_t part, int deepest) {
  Octree tree = own_tree(shared, part, deepest);
  if (!needs_others(shared)) return mesh::prune_tree(tree);
  return tree_to_complete(shared.plan, std::move(tree)).tree;
}

bool is_face(const mesh::FieldInfo& info) { return mesh::is_face(info.centring); }

mesh::Part read_part(const RegriddedStep& shared, int number, const mesh::Request& request) {
  if (number < 0 || static_cast<std::size_t>(number) >= num_parts(shared))
    throw Error(Kind::usage, "no part " + std::to_string(number));
  const auto p = static_cast<std::size_t>(number);
  const std::int64_t deepest = std::int64_t{request.max_level} - shared.header.level_origin;
  Octree tree =
      part_tree(shared, p, static_cast<int>(std::clamp<std::int64_t>(deepest, -1, mesh::num_levels(shared.plan.tree))));
  mesh::Part part{.index = number, .mesh = {}, .fields = {}, .particles = {}};
  const auto asked = mesh::select_fields(shared.header, request.fields);
  if (!asked.empty()) part.fields = read_onto(shared.source, shared.source_of[p], shared.plan, tree, asked);
  part.mesh = std::move(tree);
  return part;
}

/// A cell of a hole has no value, and none can be made.
void refuse_holes(const mesh::Dataset& source, const Octree& whole) {
  const std::size_t held = count_roots(held_roots(whole));
  const std::int64_t all = mesh::num_roots(whole.roots);
  if (held != static_cast<std::size_t>(all))
    throw Error(Kind::unsupported, "the step does not hold the whole domain: expected " + std::to_string(all) +
                                       " roots, found " + std::to_string(held))
        .at(source.path);
}

bool has_faces(const mesh::Header& header) { return std::any_of(header.fields.begin(), header.fields.end(), is_face); }

/// Returns all parts for any region, because the place of a new part is known only from its tree.
std::vector<int> parts_touching(const RegriddedStep& shared, const mesh::Region&) {
  std::vector<int> all;
  for (std::size_t p = 0; p < num_parts(shared); ++p) all.push_back(static_cast<int>(p));
  return all;
}

mesh::Dataset dataset_of(const std::shared_ptr<const RegriddedStep>& shared) {
  mesh::Dataset out;
  out.format = shared->source.format;
  out.path = shared->source.path;
  out.header = shared->header;
  out.num_parts = static_cast<int>(num_parts(*shared));
  out.bytes = shared->source.bytes;
  out.notes = shared->source.notes;
  const Octree& tree = shared->plan.tree;
  for (int level = 0; level < mesh::num_levels(tree); ++level)
    out.levels.push_back({mesh::code_level(shared->header, level),
                          static_cast<std::int64_t>(mesh::num_owned(tree, level)),
                          static_cast<std::int64_t>(mesh::num_owned_leaves(tree, level))});
  out.parts_touching = [shared](const mesh::Region& region) { return parts_touching(*shared, region); };
  out.read = [shared](int part, const mesh::Request& request) { return read_part(*shared, part, request); };
  out.part_bytes = [shared](int part) {
    std::int64_t bytes = 0;
    for (int source : shared->source_of[static_cast<std::size_t>(part)]) bytes += shared->source.part_bytes(source);
    return bytes;
  };
  return out;
}

bool is_same(const Octree& source, const mesh::Regrid& plan) {
  return plan.shift == 0 && plan.first == 0 && plan.fills == 0 && plan.tree.block == source.block &&
         plan.tree.roots == source.roots && plan.tree.refined == source.refined;
}

}  // namespace

std::array<double, 3> cell_edges(const mesh::Header& header) {
  std::array<double, 3> out{1, 1, 1};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) {
    const double edge =
        (header.hi[axis] - header.lo[axis]) / static_cast<double>(header.roots[axis] * header.block[axis]);
    if (edge > 0) out[axis] = edge;
  }
  return out;
}

mesh::RegridOptions regrid_options(const mesh::Header& source, mesh::RegridOptions how) {
  how.first = source.unfolded;
  how.periodic = source.periodic;
  how.edge = cell_edges(source);
  if (how.specific == mesh::Specific{}) how.specific = formats::specific_of(source);
  return how;
}

mesh::Header header_on(const mesh::Header& source, const Octree& tree) {
  mesh::Header header = source;
  header.roots = tree.roots;
  header.block = tree.block;
  header.unfolded = 0;
  header.level_origin = 1;
  mesh::forget_levels(header);
  return header;
}

void check_made(const mesh::Header& header, const mesh::Regrid& plan, int coarsest) {
  const auto refuse = [](const mesh::FieldInfo& field, const std::string& why) {
    throw Error(Kind::unsupported, why).at("field " + field.name).hint("leave it out with --field");
  };
  for (const mesh::FieldInfo& field : header.fields) {
    if (field.centring == mesh::Centring::node && plan.fills != 0)
      refuse(field, "values would have to be made for a field of nodes");
    // One value for many cells is right for their mean only.
    if (field.centring != mesh::Centring::cell && coarsest < plan.shift)
      refuse(field, "values would have to be made for leaves coarser than the coarsest level that is written");
  }
  if (plan.fills != 0 || plan.means != 0) mesh::face_vectors(header.fields, header.dim);
}

mesh::Extract tree_to_complete(const mesh::Regrid& plan, Octree tree) {
  if (plan.fills == 0) return mesh::prune(tree);
  const auto owned = tree.owned;
  tree.owned = mesh::cells_to_complete(plan, tree, owned);
  mesh::Extract extract = mesh::prune(tree);
  for (std::size_t level = 0; level < extract.tree.owned.size(); ++level)
    for (std::size_t i = 0; i < extract.source[level].size(); ++i)
      extract.tree.owned[level].set(i, owned[level][extract.source[level][i]]);
  return extract;
}

std::vector<mesh::Field> read_onto(const mesh::Dataset& source, const std::vector<int>& parts, const mesh::Regrid& plan,
                                   const Octree& tree, const std::vector<std::size_t>& asked) {
  const std::size_t values = mesh::num_cells(tree) * mesh::block_size(tree);
  const bool made = plan.fills != 0 || plan.means != 0;
  const auto all = made ? with_partners(source.header.fields, plan.fill.specific, asked) : asked;
  std::vector<mesh::Field> fields;
  mesh::Request wanted;
  wanted.fields = std::vector<std::string>{};
  for (std::size_t f : all) {
    fields.push_back(mesh::make_field(source.header.fields[f], values));
    wanted.fields->push_back(source.header.fields[f].name);
  }
  base::BitArray known(values);
  for (int part : parts) mesh::scatter(source.read(part, wanted), plan, tree, fields, known);
  if (made) mesh::complete(plan, tree, fields, known);
  std::vector<mesh::Field> out;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (std::binary_search(asked.begin(), asked.end(), all[i])) out.push_back(std::move(fields[i]));
  return out;
}

std::vector<std::size_t> with_partners(const std::vector<mesh::FieldInfo>& fields, const mesh::Specific& specific,
                                       const std::vector<std::size_t>& asked) {
  const auto any_face = std::any_of(asked.begin(), asked.end(), [&](std::size_t f) { return is_face(fields[f]); });
  const auto needed = mesh::with_specific(fields, specific, asked);
  std::vector<std::size_t> all;
  for (std::size_t f = 0; f < fields.size(); ++f)
    if ((any_face && is_face(fields[f])) || std::binary_search(needed.begin(), needed.end(), f)) all.push_back(f);
  return all;
}

Regridded regrid(const mesh::Dataset& source, const RegridJob& job) {
  const std::vector<mesh::Part> parts = mesh::read_trees(source);
  const Octree whole = mesh::whole_tree(source, parts, source.header.unfolded);
  refuse_holes(source, whole);
  mesh::RegridOptions how = regrid_options(source.header, job.how);
  if (job.from_finest_full) how.root = std::max(how.root, mesh::coarsest_leaf(whole));
  const auto shared = std::make_shared<RegriddedStep>();
  try {
    shared->plan = mesh::plan_regrid(whole, how);
  } catch (Error& error) {
    throw error.at(source.path);
  }
  check_made(source.header, shared->plan, mesh::coarsest_leaf(whole));
  Regridded out;
  out.same_tree = is_same(whole, shared->plan);
  out.plan = shared->plan;
  out.plan.tree = {};
  if (out.same_tree) {
    out.dataset = source;
    out.dataset.header.level_origin = 1;
    return out;
  }
  shared->source = source;
  shared->header = header_on(source.header, shared->plan.tree);
  shared->index.emplace(shared->plan.tree);
  const auto block = static_cast<std::int64_t>(mesh::block_size(shared->plan.tree));
  // Means need all cells below a cell, and faces need the cells beside it. So the whole tree must be one part.
  const bool faces = shared->plan.fills != 0 && has_faces(source.header);
  const bool one = job.part_cells == 0 || shared->plan.means != 0 || faces;
  set_bounds(*shared, one ? 0 : static_cast<std::size_t>(std::max<std::int64_t>(1, job.part_cells / block)));
  shared->source_of.resize(num_parts(*shared));
  const Needs needs = list_needs(*shared);
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (std::size_t fed : parts_fed_by(*shared, needs, mesh::octree_of(parts[p])))
      shared->source_of[fed].push_back(static_cast<int>(p));
  out.dataset = dataset_of(shared);
  return out;
}

}  // namespace octavo::step
