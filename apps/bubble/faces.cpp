#include "apps/bubble/faces.hpp"

#include <algorithm>
#include <cmath>

#include "apps/patches/sources.hpp"
#include "octavo/mesh/tree/face_refine.hpp"

namespace octavo::bubble {
namespace {

using patches::CopyPlan;
using patches::for_each_cell;
using patches::Level;
using patches::Wanted;

double minmod(double a, double b) {
  if (a * b <= 0) return 0;
  return std::abs(a) < std::abs(b) ? a : b;
}

std::vector<Values> along(const std::vector<std::array<Values, 3>>& boxes, std::size_t axis) {
  std::vector<Values> out;
  for (const auto& box : boxes) out.push_back(box[axis]);
  return out;
}

void put_back(std::vector<Values>&& values, std::size_t axis, std::vector<std::array<Values, 3>>& boxes) {
  for (std::size_t i = 0; i < values.size(); ++i) boxes[i][axis] = std::move(values[i]);
}

// Copies of the faces that `wanted` regions share with boxes of `source`.
void want_faces(const Level& source, const mesh::BoxIndex& index, const IndexBox& wanted, std::size_t axis,
                std::size_t to, std::vector<Wanted>& out) {
  // A face is of the boxes of the cells on both of its sides.
  IndexBox cells = wanted;
  --cells.lo[axis];
  for (std::size_t i : boxes_touching(index, cells))
    if (const auto common = intersection(faces_of(index.boxes[i], axis), wanted, 3))
      out.push_back({source.owner[i],
                     {static_cast<std::int64_t>(source.slot[i]), static_cast<std::int64_t>(to), *common, {0, 0, 0}}});
}

// Cells of a box of the new level that were not there, a coarse cell at a time, and the coarse faces to make them from.
struct Made {
  std::size_t slot = 0;
  IndexBox cells;                  // fine
  std::array<IndexBox, 3> coarse;  // faces, with one more on each side along the faces
};

std::vector<Made> cells_to_make(const Hierarchy& now, int level, const Level& old) {
  std::vector<Made> made;
  const Level& here = now.levels[static_cast<std::size_t>(level)];
  const int dim = now.shape.dim;
  const IndexBox domain = domain_of(now.shape, level - 1);
  for (std::size_t slot = 0; slot < here.mine.size(); ++slot) {
    std::vector<IndexBox> known;
    if (!old.boxes.empty())
      for_each_touching(old.index, here.mine[slot],
                        [&](std::size_t, const IndexBox& common) { known.push_back(common); });
    for (const IndexBox& cells : patches::without(here.mine[slot], known, dim)) {
      Made& piece = made.emplace_back(Made{slot, cells, {}});
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
        IndexBox wide = patches::grown(coarsened_box(cells, 2, dim), 1, dim);
        ++wide.lo[axis];
        --wide.hi[axis];
        piece.coarse[axis] = faces_of(*intersection(wide, domain, dim), axis);
      }
    }
  }
  return made;
}

// The slope of a coarse face's value along another axis; 0 at the border of the domain.
double slope_of(const Values& coarse, Index3 at, std::size_t side) {
  if (at[side] == coarse.box.lo[side] || at[side] + 1 == coarse.box.hi[side]) return 0;
  const double here = coarse.at(0, at);
  --at[side];
  const double before = coarse.at(0, at);
  at[side] += 2;
  return minmod(here - before, coarse.at(0, at) - here);
}

// Calls f(fine face, its value) for the 2^(dim-1) fine faces on a coarse one.
template <class F>
void split_face(const Values& coarse, const Index3& at, std::size_t axis, int dim, F&& f) {
  std::array<double, 3> quarter{};
  for (std::size_t side = 0; side < static_cast<std::size_t>(dim); ++side)
    if (side != axis) quarter[side] = 0.25 * slope_of(coarse, at, side);
  for (unsigned child = 0; child < 1U << dim; ++child) {
    if ((child >> axis & 1U) != 0) continue;
    Index3 fine = at;
    double value = coarse.at(0, at);
    for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) {
      const bool upper = (child >> a & 1U) != 0;
      fine[a] = 2 * at[a] + (upper ? 1 : 0);
      value += upper ? quarter[a] : -quarter[a];
    }
    f(fine, value);
  }
}

bool is_known(const Level& old, const Index3& face, std::size_t axis) {
  if (old.boxes.empty()) return false;
  IndexBox cells{face, {face[0] + 1, face[1] + 1, face[2] + 1}};
  --cells.lo[axis];
  return !boxes_touching(old.index, cells).empty();
}

// Fine faces that lie on coarse ones.
void make_outer(const Made& made, const std::array<const Values*, 3>& coarse, const Level& old, int dim,
                std::array<Values, 3>& fine) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    const IndexBox border = patches::grown(made.cells, 1, dim);
    const bool alone = old.boxes.empty() || boxes_touching(old.index, border).empty();
    for_each_cell(faces_of(coarsened_box(made.cells, 2, dim), axis), [&](const Index3& at) {
      split_face(*coarse[axis], at, axis, dim, [&](const Index3& face, double value) {
        if (alone || !is_known(old, face, axis)) fine[axis].at(0, face) = value;
      });
    });
  }
}

// The faces inside of each coarse cell, by the library.
void make_inner(const Made& made, const Hierarchy& mesh, int level, std::array<Values, 3>& fine) {
  const int dim = mesh.shape.dim;
  const mesh::Point3 size = cell_size(mesh.shape, level - 1);
  std::array<Values, 3> cell;
  for_each_cell(coarsened_box(made.cells, 2, dim), [&](const Index3& at) {
    const IndexBox children = mesh::refined_box({at, {at[0] + 1, at[1] + 1, at[2] + 1}}, 2, dim);
    mesh::FaceArrays arrays;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
      cell[axis] = patches::make_values(faces_of(children, axis), 1);
      for_each_cell(cell[axis].box, [&](const Index3& face) { cell[axis].at(0, face) = fine[axis].at(0, face); });
      arrays[axis] = cell[axis].data;
    }
    mesh::fill_inner_faces(dim, size, arrays);
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
      for_each_cell(cell[axis].box, [&](const Index3& face) { fine[axis].at(0, face) = cell[axis].at(0, face); });
  });
}

// Collective. Faces of cells that were there.
void take_known(const Hierarchy& now, std::size_t level, const Level& old,
                const std::vector<std::array<Values, 3>>& before, Faces& faces) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(now.shape.dim); ++axis) {
    std::vector<Wanted> wanted;
    if (!old.boxes.empty())
      for (std::size_t slot = 0; slot < now.levels[level].mine.size(); ++slot)
        want_faces(old, old.index, faces_of(now.levels[level].mine[slot], axis), axis, slot, wanted);
    const CopyPlan plan = patches::plan_copy(now.comm, wanted);
    std::vector<Values> target = along(faces.of[level], axis);
    patches::copy(now.comm, plan, along(before, axis), target);
    put_back(std::move(target), axis, faces.of[level]);
  }
}

// Collective. Faces of cells that are new.
void make_new(const Hierarchy& now, int level, const Level& old, Faces& faces) {
  const auto l = static_cast<std::size_t>(level);
  const int dim = now.shape.dim;
  const std::vector<Made> made = cells_to_make(now, level, old);
  std::array<std::vector<Values>, 3> coarse;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    std::vector<Wanted> wanted;
    for (std::size_t i = 0; i < made.size(); ++i) {
      coarse[axis].push_back(patches::make_values(made[i].coarse[axis], 1));
      want_faces(now.levels[l - 1], now.levels[l - 1].index, made[i].coarse[axis], axis, i, wanted);
    }
    patches::copy(now.comm, patches::plan_copy(now.comm, wanted), along(faces.of[l - 1], axis), coarse[axis]);
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    std::array<const Values*, 3> from{};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) from[axis] = &coarse[axis][i];
    make_outer(made[i], from, old, dim, faces.of[l][made[i].slot]);
    make_inner(made[i], now, level, faces.of[l][made[i].slot]);
  }
}

}  // namespace

IndexBox faces_of(IndexBox cells, std::size_t axis) {
  ++cells.hi[axis];
  return cells;
}

Faces make_faces(const Hierarchy& mesh, const std::function<double(int, std::size_t, const Index3&)>& value) {
  Faces faces;
  for (std::size_t l = 0; l < mesh.levels.size(); ++l) {
    auto& level = faces.of.emplace_back();
    for (const IndexBox& box : mesh.levels[l].mine) {
      auto& arrays = level.emplace_back();
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(mesh.shape.dim); ++axis) {
        arrays[axis] = patches::make_values(faces_of(box, axis), 1);
        for_each_cell(arrays[axis].box,
                      [&](const Index3& at) { arrays[axis].at(0, at) = value(static_cast<int>(l), axis, at); });
      }
    }
  }
  return faces;
}

double largest_divergence(const Hierarchy& mesh, const patches::Plans& plans, const Faces& faces) {
  double largest = 0;
  for (std::size_t l = 0; l < mesh.levels.size(); ++l)
    for (std::size_t slot = 0; slot < mesh.levels[l].mine.size(); ++slot)
      for (const IndexBox& leaves : patches::without(mesh.levels[l].mine[slot], plans.covered[l][slot], mesh.shape.dim))
        for_each_cell(leaves, [&](const Index3& at) {
          double sum = 0;
          for (std::size_t axis = 0; axis < static_cast<std::size_t>(mesh.shape.dim); ++axis) {
            Index3 above = at;
            ++above[axis];
            const Values& values = faces.of[l][slot][axis];
            sum += values.at(0, above) - values.at(0, at);
          }
          largest = std::max(largest, std::abs(sum));
        });
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, mesh.comm);
  return largest;
}

Faces regrid_faces(const Hierarchy& before, const Faces& faces, const Hierarchy& now) {
  Faces next = make_faces(now, [](int, std::size_t, const Index3&) { return 0.0; });
  const Level none;
  const std::vector<std::array<Values, 3>> nothing;
  for (std::size_t l = 0; l < now.levels.size(); ++l) {
    const bool was = l < before.levels.size();
    take_known(now, l, was ? before.levels[l] : none, was ? faces.of[l] : nothing, next);
    if (l > 0) make_new(now, static_cast<int>(l), was ? before.levels[l] : none, next);
  }
  restrict_faces(now, next);
  return next;
}

void restrict_faces(const Hierarchy& mesh, Faces& faces) {
  const int dim = mesh.shape.dim;
  for (std::size_t l = mesh.levels.size(); l-- > 1;) {
    const mesh::BoxIndex under = patches::footprints(mesh.levels[l], dim);
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
      std::vector<Values> means;
      for (std::size_t slot = 0; slot < mesh.levels[l].mine.size(); ++slot) {
        const Values& fine = faces.of[l][slot][axis];
        Values& mean = means.emplace_back(
            patches::make_values(faces_of(coarsened_box(mesh.levels[l].mine[slot], 2, dim), axis), 1));
        for_each_cell(mean.box, [&](const Index3& at) {
          mean.at(0, at) = patches::mean_of_faces(fine.data.data(), fine, at, axis, dim);
        });
      }
      std::vector<Wanted> wanted;
      for (std::size_t slot = 0; slot < mesh.levels[l - 1].mine.size(); ++slot)
        want_faces(mesh.levels[l], under, faces_of(mesh.levels[l - 1].mine[slot], axis), axis, slot, wanted);
      std::vector<Values> coarse = along(faces.of[l - 1], axis);
      patches::copy(mesh.comm, patches::plan_copy(mesh.comm, wanted), means, coarse);
      put_back(std::move(coarse), axis, faces.of[l - 1]);
    }
  }
}

}  // namespace octavo::bubble
