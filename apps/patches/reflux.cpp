#include "apps/patches/reflux.hpp"

#include <algorithm>

#include "apps/patches/sources.hpp"

namespace octavo::patches {
namespace {

// Faces on one side of a box, by the position of the cell above them.
IndexBox plane_of(IndexBox box, std::size_t axis, bool upper) {
  box.lo[axis] = upper ? box.hi[axis] : box.lo[axis];
  box.hi[axis] = box.lo[axis] + 1;
  return box;
}

IndexBox moved(IndexBox box, std::size_t axis, std::int64_t by) {
  box.lo[axis] += by;
  box.hi[axis] += by;
  return box;
}

std::size_t number_of(std::size_t slot, std::size_t axis, bool upper, int dim) {
  return slot * 2 * static_cast<std::size_t>(dim) + 2 * axis + (upper ? 1 : 0);
}

struct Planner {
  const Hierarchy& mesh;
  int level;
  const Level& fine;
  const Level& coarse;
  mesh::BoxIndex under;
  std::vector<FluxRegisters::Coarse> sides{};
  std::vector<Wanted> wanted{};
};

// Plans the uncovered faces on one side of the footprint of box `i` that lie in coarse box `slot`.
void plan_side(Planner& plan, std::size_t slot, std::size_t i, const Index3& shift, std::size_t axis, bool upper) {
  const Shape& shape = plan.mesh.shape;
  const IndexBox plane = plane_of(shifted(plan.under.boxes[i], shift), axis, upper);
  const std::int64_t to_cells = upper ? 0 : -1;
  const auto beside = intersection(moved(plane, axis, to_cells), plan.coarse.mine[slot], shape.dim);
  if (!beside) return;
  std::vector<IndexBox> covered;
  for_each_source(
      shape, plan.level - 1, plan.under, *beside,
      [&](std::size_t, const IndexBox& common, const Index3& by) { covered.push_back(shifted(common, by)); });
  for (const IndexBox& cells : without(*beside, covered, shape.dim)) {
    const IndexBox faces = moved(cells, axis, -to_cells);
    const auto from = static_cast<std::int64_t>(number_of(plan.fine.slot[i], axis, upper, shape.dim));
    plan.wanted.push_back({plan.fine.owner[i],
                           {from, static_cast<std::int64_t>(plan.sides.size()),
                            shifted(faces, {-shift[0], -shift[1], -shift[2]}), shift}});
    plan.sides.push_back({slot, axis, upper ? 1.0 : -1.0, cells, faces});
  }
}

}  // namespace

double mean_of_faces(const double* faces, const Values& box, const Index3& at, std::size_t axis, int dim) {
  double sum = 0;
  for (unsigned child = 0; child < 1U << dim; ++child) {
    if ((child >> axis & 1U) != 0) continue;
    Index3 fine = at;
    for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a)
      fine[a] = 2 * at[a] + static_cast<std::int64_t>(child >> a & 1U);
    sum += faces[box.offset(fine)];
  }
  return sum / static_cast<double>(1U << (dim - 1));
}

FluxRegisters plan_reflux(const Hierarchy& mesh, int level) {
  const int dim = mesh.shape.dim;
  const Level& fine = mesh.levels[static_cast<std::size_t>(level)];
  Planner plan{mesh, level, fine, mesh.levels[static_cast<std::size_t>(level - 1)], footprints(fine, dim)};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    for (bool upper : {false, true})
      for (std::size_t slot = 0; slot < plan.coarse.mine.size(); ++slot)
        for_each_source(
            mesh.shape, level - 1, plan.under, grown(plan.coarse.mine[slot], 1, dim),
            [&](std::size_t i, const IndexBox&, const Index3& shift) { plan_side(plan, slot, i, shift, axis, upper); });
  FluxRegisters registers;
  registers.copy = plan_copy(mesh.comm, plan.wanted);
  registers.sides = std::move(plan.sides);
  registers.sides_of.resize(plan.coarse.mine.size());
  for (std::size_t i = 0; i < registers.sides.size(); ++i) registers.sides_of[registers.sides[i].slot].push_back(i);
  for (const auto& side : registers.sides) registers.lost.push_back(make_values(side.faces, mesh.shape.variables));
  for (const IndexBox& box : fine.mine)
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
      for (bool upper : {false, true})
        registers.means.push_back(make_values(plane_of(coarsened_box(box, 2, dim), axis, upper), mesh.shape.variables));
  return registers;
}

void FluxRegisters::take_fine(std::size_t slot, std::size_t axis, int dim, const Values& box, const double* fluxes) {
  for (bool upper : {false, true}) {
    Values& mean = means[number_of(slot, axis, upper, dim)];
    for (int v = 0; v < box.variables; ++v) {
      const double* of = fluxes + static_cast<std::size_t>(v) * box.cells();
      for_each_cell(mean.box, [&](const Index3& at) { mean.at(v, at) = mean_of_faces(of, box, at, axis, dim); });
    }
  }
}

void FluxRegisters::take_coarse(std::size_t slot, std::size_t axis, const Values& box, const double* fluxes) {
  for (std::size_t i : sides_of[slot]) {
    if (sides[i].axis != axis) continue;
    for (int v = 0; v < box.variables; ++v) {
      const double* of = fluxes + static_cast<std::size_t>(v) * box.cells();
      for_each_cell(sides[i].faces, [&](const Index3& at) { lost[i].at(v, at) = of[box.offset(at)]; });
    }
  }
}

void correct(const Hierarchy& mesh, int level, double dt, const FluxRegisters& registers, std::vector<Values>& coarse) {
  std::vector<Values> gained;
  for (const Values& lost : registers.lost) gained.push_back(make_values(lost.box, lost.variables));
  copy(mesh.comm, registers.copy, registers.means, gained);
  const mesh::Point3 width = cell_size(mesh.shape, level - 1);
  for (std::size_t i = 0; i < registers.sides.size(); ++i) {
    const FluxRegisters::Coarse& side = registers.sides[i];
    const double factor = side.sign * dt / width[side.axis];
    const std::int64_t to_face = side.sign > 0 ? 0 : 1;
    for (int v = 0; v < mesh.shape.variables; ++v)
      for_each_cell(side.cells, [&](const Index3& cell) {
        Index3 face = cell;
        face[side.axis] += to_face;
        coarse[side.slot].at(v, cell) += factor * (gained[i].at(v, face) - registers.lost[i].at(v, face));
      });
  }
}

}  // namespace octavo::patches
