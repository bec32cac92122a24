#include "apps/patches/fill.hpp"

#include <algorithm>

#include "apps/patches/sources.hpp"

namespace octavo::patches {
namespace {

constexpr std::int64_t far = std::int64_t{1} << 40;

// Cells that have a value inside of the domain or by its repetition.
IndexBox endless_domain(const Shape& shape, int level) {
  IndexBox box = domain_of(shape, level);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(shape.dim); ++axis)
    if (shape.boundary[axis] == Boundary::periodic) {
      box.lo[axis] = -far;
      box.hi[axis] = far;
    }
  return box;
}

// The cell inside of `inside` from which one outside takes its value.
Index3 image_of(const Index3& cell, const IndexBox& inside, const Shape& shape) {
  Index3 image = cell;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t lo = inside.lo[axis], last = inside.hi[axis] - 1;
    if (shape.boundary[axis] != Boundary::reflecting)
      image[axis] = std::clamp(cell[axis], lo, last);
    else if (cell[axis] < lo || cell[axis] > last)
      image[axis] = 2 * (cell[axis] < lo ? lo : last) + (cell[axis] < lo ? -1 : 1) - cell[axis];
  }
  return image;
}

double sign_of(int variable, const Index3& cell, const Index3& image, const Shape& shape) {
  double sign = 1;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (shape.boundary[axis] == Boundary::reflecting && shape.mirrored[axis] == variable && cell[axis] != image[axis])
      sign = -sign;
  return sign;
}

void fill_outside(Values& values, const IndexBox& domain, const Shape& shape) {
  const auto inside = intersection(values.box, domain, 3);
  if (!inside) return;
  for (const IndexBox& outside : without(values.box, {*inside}, 3))
    for_each_cell(outside, [&](const Index3& cell) {
      const Index3 image = image_of(cell, *inside, shape);
      for (int v = 0; v < values.variables; ++v)
        values.at(v, cell) = sign_of(v, cell, image, shape) * values.at(v, image);
    });
}

Wanted wanted_from(const Level& source, std::size_t box, const IndexBox& region, const Index3& shift, std::size_t to) {
  return {source.owner[box],
          {static_cast<std::int64_t>(source.slot[box]), static_cast<std::int64_t>(to), region, shift}};
}

// Plans for `regions`, one a box of this rank, where `own` are known already (empty boxes: nothing is).
FillPlan plan_fill(const Hierarchy& mesh, int level, const std::vector<IndexBox>& regions,
                   const std::vector<IndexBox>& own, const Level& source) {
  const Shape& shape = mesh.shape;
  FillPlan plan;
  plan.domain = endless_domain(shape, level);
  std::vector<Wanted> same, coarse;
  for (std::size_t slot = 0; slot < regions.size(); ++slot) {
    const auto region = intersection(regions[slot], plan.domain, shape.dim);
    std::vector<IndexBox> known;
    if (!own.empty()) known.push_back(own[slot]);
    for_each_source(shape, level, source.index, *region,
                    [&](std::size_t i, const IndexBox& common, const Index3& shift) {
                      const IndexBox there = shifted(common, shift);
                      if (!own.empty() && there == own[slot]) return;
                      same.push_back(wanted_from(source, i, common, shift, slot));
                      known.push_back(there);
                    });
    if (level == 0) continue;
    for (const IndexBox& left : without(*region, known, shape.dim)) plan.made.push_back({slot, left});
  }
  if (level > 0) plan.coarse_domain = endless_domain(shape, level - 1);
  for (const FillPlan::Made& made : plan.made) {
    plan.under.push_back(grown(coarsened_box(made.region, 2, shape.dim), 1, shape.dim));
    const auto region = intersection(plan.under.back(), plan.coarse_domain, shape.dim);
    const Level& below = mesh.levels[static_cast<std::size_t>(level - 1)];
    for_each_source(shape, level - 1, below.index, *region,
                    [&](std::size_t i, const IndexBox& common, const Index3& shift) {
                      coarse.push_back(wanted_from(below, i, common, shift, plan.under.size() - 1));
                    });
  }
  plan.same = plan_copy(mesh.comm, same);
  plan.coarse = plan_copy(mesh.comm, coarse);
  return plan;
}

}  // namespace

FillPlan plan_ghosts(const Hierarchy& mesh, int level) {
  const Level& here = mesh.levels[static_cast<std::size_t>(level)];
  std::vector<IndexBox> regions;
  for (const IndexBox& box : here.mine) regions.push_back(grown(box, mesh.shape.ghost, mesh.shape.dim));
  return plan_fill(mesh, level, regions, here.mine, here);
}

FillPlan plan_refill(const Hierarchy& mesh, int level, const Level& target, const Level& old) {
  return plan_fill(mesh, level, target.mine, {}, old);
}

void fill(MPI_Comm comm, const Shape& shape, const FillPlan& plan, const std::vector<Values>& same,
          const std::vector<Values>* coarse, const Admissible& admissible, std::vector<Values>& target) {
  copy(comm, plan.same, same, target);
  if (coarse != nullptr) {
    std::vector<Values> under;
    for (const IndexBox& box : plan.under) under.push_back(make_values(box, shape.variables));
    copy(comm, plan.coarse, *coarse, under);
    for (std::size_t i = 0; i < under.size(); ++i) {
      fill_outside(under[i], plan.coarse_domain, shape);
      interpolate(under[i], plan.made[i].region, shape.dim, admissible, target[plan.made[i].slot]);
    }
  }
  for (Values& values : target) fill_outside(values, plan.domain, shape);
}

MeanPlan plan_means(const Hierarchy& mesh, int level) {
  const Level& fine = mesh.levels[static_cast<std::size_t>(level)];
  const Level& coarse = mesh.levels[static_cast<std::size_t>(level - 1)];
  MeanPlan plan;
  for (const IndexBox& box : fine.mine) plan.coarse.push_back(coarsened_box(box, 2, mesh.shape.dim));
  const mesh::BoxIndex index = footprints(fine, mesh.shape.dim);
  std::vector<Wanted> wanted;
  for (std::size_t slot = 0; slot < coarse.mine.size(); ++slot)
    for_each_touching(index, coarse.mine[slot], [&](std::size_t i, const IndexBox& common) {
      wanted.push_back(wanted_from(fine, i, common, {0, 0, 0}, slot));
    });
  plan.copy = plan_copy(mesh.comm, wanted);
  return plan;
}

void average_down(MPI_Comm comm, const Shape& shape, const MeanPlan& plan, const std::vector<Values>& fine,
                  std::vector<Values>& coarse) {
  std::vector<Values> means;
  for (std::size_t i = 0; i < fine.size(); ++i) {
    means.push_back(make_values(plan.coarse[i], shape.variables));
    take_means(fine[i], plan.coarse[i], shape.dim, means.back());
  }
  copy(comm, plan.copy, means, coarse);
}

}  // namespace octavo::patches
