#include "apps/patches/regrid.hpp"

#include <algorithm>

#include "apps/patches/sources.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::patches {
namespace {

std::vector<std::vector<IndexBox>> covered_by(const Hierarchy& mesh, std::size_t level) {
  const Level& here = mesh.levels[level];
  std::vector<std::vector<IndexBox>> covered(here.mine.size());
  if (level + 1 == mesh.levels.size()) return covered;
  const mesh::BoxIndex under = footprints(mesh.levels[level + 1], mesh.shape.dim);
  for (std::size_t slot = 0; slot < covered.size(); ++slot)
    for_each_touching(under, here.mine[slot],
                      [&](std::size_t, const IndexBox& common) { covered[slot].push_back(common); });
  return covered;
}

std::vector<IndexBox> sorted(std::vector<IndexBox> boxes) {
  std::sort(boxes.begin(), boxes.end(), [](const IndexBox& a, const IndexBox& b) { return a.lo < b.lo; });
  return boxes;
}

}  // namespace

Plans make_plans(const Hierarchy& mesh) {
  Plans plans;
  for (std::size_t l = 0; l < mesh.levels.size(); ++l) {
    const int level = static_cast<int>(l);
    plans.ghosts.push_back(plan_ghosts(mesh, level));
    plans.means.push_back(l == 0 ? MeanPlan{} : plan_means(mesh, level));
    plans.registers.push_back(l == 0 ? FluxRegisters{} : plan_reflux(mesh, level));
    plans.covered.push_back(covered_by(mesh, l));
  }
  return plans;
}

Hierarchy make_hierarchy(MPI_Comm comm, const Shape& shape) {
  check(shape);
  Hierarchy mesh{comm, shape, {}};
  mesh.levels.push_back(make_level(comm, shape, base_boxes(shape, ranks::size_of(comm))));
  return mesh;
}

Blocks gather_blocks(MPI_Comm comm, const Blocks& mine) {
  const auto ranks = static_cast<std::size_t>(ranks::size_of(comm));
  const int count = static_cast<int>(3 * mine.size());
  std::vector<int> counts(ranks), at(ranks, 0);
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
  for (std::size_t r = 1; r < ranks; ++r) at[r] = at[r - 1] + counts[r - 1];
  Blocks all(static_cast<std::size_t>(at.back() + counts.back()) / 3);
  MPI_Allgatherv(mine.data(), count, MPI_INT64_T, all.data(), counts.data(), at.data(), MPI_INT64_T, comm);
  make_set(all);
  return all;
}

Hierarchy with_boxes(const Hierarchy& old, std::vector<std::vector<IndexBox>> finer, const Admissible& admissible) {
  const Level none;
  Hierarchy next{old.comm, old.shape, {old.levels[0]}};
  for (std::size_t l = 1; l <= finer.size(); ++l) {
    Level target = make_level(old.comm, old.shape, std::move(finer[l - 1]));
    const Level& before = l < old.levels.size() ? old.levels[l] : none;
    const FillPlan plan = plan_refill(next, static_cast<int>(l), target, before);
    fill(old.comm, old.shape, plan, before.values, &next.levels[l - 1].values, admissible, target.values);
    next.levels.push_back(std::move(target));
  }
  for (std::size_t l = next.levels.size(); l-- > 1;)
    average_down(next.comm, next.shape, plan_means(next, static_cast<int>(l)), next.levels[l].values,
                 next.levels[l - 1].values);
  return next;
}

bool has_boxes(const Hierarchy& mesh, const std::vector<std::vector<IndexBox>>& finer) {
  if (mesh.levels.size() != finer.size() + 1) return false;
  for (std::size_t l = 0; l < finer.size(); ++l)
    if (sorted(mesh.levels[l + 1].boxes) != sorted(finer[l])) return false;
  return true;
}

void fill_ghosts(Hierarchy& mesh, const Plans& plans, const Admissible& admissible) {
  for (std::size_t l = 0; l < mesh.levels.size(); ++l)
    fill(mesh.comm, mesh.shape, plans.ghosts[l], mesh.levels[l].values, l == 0 ? nullptr : &mesh.levels[l - 1].values,
         admissible, mesh.levels[l].values);
}

void average_down(Hierarchy& mesh, const Plans& plans) {
  for (std::size_t l = mesh.levels.size(); l-- > 1;)
    average_down(mesh.comm, mesh.shape, plans.means[l], mesh.levels[l].values, mesh.levels[l - 1].values);
}

}  // namespace octavo::patches
