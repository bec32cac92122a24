#include "octavo/step/finer.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/mesh/tree/finer.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/mesh/tree/tree_index.hpp"
#include "octavo/step/regrid.hpp"

namespace octavo::step {
namespace {

struct Refining {
  mesh::Dataset source;
  std::vector<mesh::Part> trees;
  int level = 0;  ///< tree level index of the finest cells
  int times = 0;
  mesh::FillOptions how;
};

int finest_level(const std::vector<mesh::Part>& trees) {
  int finest = 0;
  for (const mesh::Part& part : trees) {
    const mesh::Octree& tree = mesh::octree_of(part);
    for (int level = 0; level < mesh::num_levels(tree); ++level)
      if (tree.owned[static_cast<std::size_t>(level)].count() != 0) finest = std::max(finest, level);
  }
  return finest;
}

bool owns_one_of(const mesh::Octree& tree, int level, const std::vector<mesh::Index3>& cells) {
  if (level >= mesh::num_levels(tree) || cells.empty()) return false;
  const mesh::TreeIndex index(tree);
  return std::any_of(cells.begin(), cells.end(), [&](const mesh::Index3& at) {
    const auto cell = index.find(level, at);
    return cell && tree.owned[static_cast<std::size_t>(level)][*cell];
  });
}

std::vector<mesh::Part> read_beside(const Refining& shared, int number, const mesh::Request& request) {
  const auto own = static_cast<std::size_t>(number);
  const auto cells = mesh::cells_beside(mesh::octree_of(shared.trees[own]), shared.level, shared.how.periodic);
  mesh::Request values = request;
  values.particles = false;
  std::vector<mesh::Part> beside;
  for (std::size_t p = 0; p < shared.trees.size(); ++p)
    if (p != own && owns_one_of(mesh::octree_of(shared.trees[p]), shared.level, cells))
      beside.push_back(mesh::only_cells(shared.source.read(static_cast<int>(p), values), shared.level, cells));
  return beside;
}

mesh::Part read(const Refining& shared, int number, const mesh::Request& request) {
  const int finest = mesh::code_level(shared.source.header, shared.level);
  const int times = std::min(shared.times, std::max(0, request.max_level - finest));
  if (times == 0) return shared.source.read(number, request);
  const auto& infos = shared.source.header.fields;
  const auto asked = mesh::select_fields(shared.source.header, request.fields);
  mesh::Request wanted = request;
  wanted.fields = std::vector<std::string>{};
  for (const std::size_t f : with_partners(infos, shared.how.specific, asked)) wanted.fields->push_back(infos[f].name);
  mesh::Part part = mesh::refine_level(shared.source.read(number, wanted), read_beside(shared, number, wanted),
                                       shared.level, times, shared.how);
  std::erase_if(part.fields, [&](const mesh::Field& field) {
    return std::none_of(asked.begin(), asked.end(), [&](std::size_t f) { return infos[f].name == field.info.name; });
  });
  return part;
}

void add_levels(mesh::Dataset& step, int level, int times) {
  for (mesh::LevelCount& count : step.levels)
    if (count.level == mesh::code_level(step.header, level)) {
      std::int64_t leaves = std::exchange(count.leaves, 0);
      for (int n = 1; n <= times; ++n) {
        leaves <<= step.header.dim;
        step.levels.push_back({mesh::code_level(step.header, level + n), leaves, n == times ? leaves : 0});
      }
      return;
    }
}

void shorten_step(mesh::Header& header, int times) {
  // FLASH goes on with the time step of its checkpoint. Cells half as wide allow half of it (Courant, Friedrichs and
  // Lewy).
  for (const char* name : {"real scalars/dt", "real scalars/dtnew"})
    if (const auto found = header.attributes.find(name); found != header.attributes.end())
      if (double* dt = std::get_if<double>(&found->second)) *dt = std::ldexp(*dt, -times);
}

}  // namespace

void forget_layout(mesh::Dataset& step) {
  for (const formats::Format* format : formats::table())
    if (format->forget_layout != nullptr) format->forget_layout(step.header, step.notes);
}

std::string weights_note(const mesh::Specific& specific) {
  std::string names;
  for (const std::string& name : per_mass(specific)) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "values are made by volume: no field is known to be an amount per mass"
                       : "values made of " + names + " are weighted by density, others by volume";
}

mesh::Dataset finer(const mesh::Dataset& source, int times, mesh::FillBy by, const std::vector<std::string>& per_mass) {
  if (times <= 0) return source;
  const auto shared = std::make_shared<Refining>();
  shared->source = source;
  shared->trees = mesh::read_trees(source);
  shared->level = finest_level(shared->trees);
  shared->times = times;
  shared->how = {by, source.header.periodic, cell_edges(source.header), formats::specific_of(source.header, per_mass)};
  mesh::Dataset out = source;
  forget_layout(out);
  shorten_step(out.header, times);
  add_levels(out, shared->level, times);
  out.read = [shared](int part, const mesh::Request& request) { return read(*shared, part, request); };
  return out;
}

}  // namespace octavo::step
