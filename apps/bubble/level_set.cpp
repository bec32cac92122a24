#include "apps/bubble/level_set.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace octavo::bubble {
namespace {

using patches::for_each_cell;

double stream(double x, double y) {
  const double a = std::sin(std::numbers::pi * x), b = std::sin(std::numbers::pi * y);
  return a * a * b * b / std::numbers::pi;
}

// Strides of the axes in an array of cells.
std::array<std::ptrdiff_t, 3> strides_of(const Values& values) {
  return {1, static_cast<std::ptrdiff_t>(values.stride_y()), static_cast<std::ptrdiff_t>(values.stride_z())};
}

// The value that the flow carries through a face: the value upwind, half a step later.
double value_on_face(const double* above, std::ptrdiff_t stride, double courant) {
  const double* from = courant > 0 ? above - stride : above;
  const double slope = patches::limited(*from - *(from - stride), *(from + stride) - *from);
  return *from + 0.5 * ((courant > 0 ? 1.0 : -1.0) - courant) * slope;
}

void advect_box(Values& values, const IndexBox& box, const std::array<Values, 3>& faces, int dim,
                const mesh::Point3& width, double dt) {
  const auto strides = strides_of(values);
  std::vector<double> change(values.cells(), 0.0);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    for_each_cell(faces[axis].box, [&](const Index3& at) {
      const double courant = faces[axis].at(0, at) * dt / width[axis];
      const std::size_t cell = values.offset(at);
      const double flux = courant * value_on_face(values.of(0) + cell, strides[axis], courant);
      change[cell] += flux;
      change[cell - static_cast<std::size_t>(strides[axis])] -= flux;
    });
  for_each_cell(box, [&](const Index3& at) { values.at(0, at) += change[values.offset(at)]; });
}

double sign_of(double value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

bool beside_surface(const double* at, const std::array<std::ptrdiff_t, 3>& strides, int dim) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    if (*at * *(at - strides[axis]) <= 0 || *at * *(at + strides[axis]) <= 0) return true;
  return false;
}

// The distance to the surface from central differences.
double subcell_distance(const double* at, const std::array<std::ptrdiff_t, 3>& strides, int dim, double width) {
  double square = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    const double slope = 0.5 * (*(at + strides[axis]) - *(at - strides[axis]));
    square += slope * slope;
  }
  return width * *at / std::sqrt(std::max(square, 1e-6 * width * width));
}

// |grad| from the side of the surface (Godunov).
double gradient_from_surface(const double* at, const std::array<std::ptrdiff_t, 3>& strides, int dim, double width,
                             double sign) {
  double square = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    const double back = sign * (*at - *(at - strides[axis])) / width;
    const double ahead = sign * (*(at + strides[axis]) - *at) / width;
    const double a = std::max(back, 0.0), b = std::min(ahead, 0.0);
    square += std::max(a * a, b * b);
  }
  return std::sqrt(square);
}

void redistance_box(Values& values, const std::vector<double>& first, const IndexBox& box, int dim, double width) {
  const auto strides = strides_of(values);
  std::vector<double> next(values.data);
  for_each_cell(box, [&](const Index3& at) {
    const std::size_t cell = values.offset(at);
    const double* now = values.data.data() + cell;
    const double* then = first.data() + cell;
    const double sign = sign_of(*then), step = 0.5 * width;
    if (beside_surface(then, strides, dim))
      next[cell] = *now - step / width * (sign * std::abs(*now) - subcell_distance(then, strides, dim, width));
    else
      next[cell] = *now - step * sign * (gradient_from_surface(now, strides, dim, width, sign) - 1);
  });
  values.data = std::move(next);
}

}  // namespace

double swirl(const mesh::Point3& low, double width, std::size_t axis) {
  const double x = low[0], y = low[1];
  if (axis == 0) return (stream(x, y + width) - stream(x, y)) / width;
  if (axis == 1) return -(stream(x + width, y) - stream(x, y)) / width;
  return 0;
}

Faces swirl_on(const Hierarchy& mesh) {
  return make_faces(mesh, [&](int level, std::size_t axis, const Index3& at) {
    const mesh::Point3 width = cell_size(mesh.shape, level);
    const mesh::Point3 low{static_cast<double>(at[0]) * width[0], static_cast<double>(at[1]) * width[1], 0};
    return swirl(low, width[0], axis);
  });
}

double distance_at(const mesh::Point3& at, int dim) {
  double square = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    const double from = at[axis] - std::floor(at[axis]) - (axis < 2 ? 0.75 : 0.5);
    // The bubbles of the next unit squares count too.
    const double nearest = std::abs(from) > 0.5 ? std::abs(from) - 1 : from;
    square += nearest * nearest;
  }
  return 0.1 - std::sqrt(square);
}

void set_bubbles(Hierarchy& mesh) {
  for_each_patch(mesh, [&](int level, Values& values, const IndexBox& box) {
    const mesh::Point3 width = cell_size(mesh.shape, level);
    for_each_cell(box, [&](const Index3& at) {
      mesh::Point3 centre{0, 0, 0};
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(mesh.shape.dim); ++axis)
        centre[axis] = (static_cast<double>(at[axis]) + 0.5) * width[axis];
      values.at(0, at) = distance_at(centre, mesh.shape.dim);
    });
  });
}

double step_of(const Hierarchy& mesh, double courant) {
  return courant * cell_size(mesh.shape, static_cast<int>(mesh.levels.size()) - 1)[0];
}

void advect(Hierarchy& mesh, const patches::Plans& plans, const Faces& faces, double dt) {
  fill_ghosts(mesh, plans);
  for (std::size_t l = 0; l < mesh.levels.size(); ++l)
    for (std::size_t slot = 0; slot < mesh.levels[l].mine.size(); ++slot)
      advect_box(mesh.levels[l].values[slot], mesh.levels[l].mine[slot], faces.of[l][slot], mesh.shape.dim,
                 cell_size(mesh.shape, static_cast<int>(l)), dt);
  average_down(mesh, plans);
}

void redistance(Hierarchy& mesh, const patches::Plans& plans, int iterations) {
  std::vector<std::vector<double>> first;
  for (int i = 0; i < iterations; ++i) {
    fill_ghosts(mesh, plans);
    if (i == 0) for_each_patch(mesh, [&](int, const Values& values, const IndexBox&) { first.push_back(values.data); });
    std::size_t number = 0;
    for_each_patch(mesh, [&](int level, Values& values, const IndexBox& box) {
      redistance_box(values, first[number++], box, mesh.shape.dim, cell_size(mesh.shape, level)[0]);
    });
    average_down(mesh, plans);
  }
}

std::vector<patches::Blocks> blocks_near_surface(const Hierarchy& mesh, double cells) {
  std::vector<patches::Blocks> near(static_cast<std::size_t>(mesh.shape.max_level));
  for_each_patch(mesh, [&](int level, const Values& values, const IndexBox& box) {
    if (level >= mesh.shape.max_level) return;
    const double reach = cells * cell_size(mesh.shape, level)[0];
    patches::Blocks& blocks = near[static_cast<std::size_t>(level)];
    for_each_cell(box, [&](const Index3& at) {
      if (std::abs(values.at(0, at)) > reach) return;
      Index3 block = at;
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(mesh.shape.dim); ++axis)
        block[axis] /= mesh.shape.block;
      if (blocks.empty() || blocks.back() != block) blocks.push_back(block);
    });
  });
  for (patches::Blocks& blocks : near) {
    patches::make_set(blocks);
    blocks = patches::gather_blocks(mesh.comm, blocks);
  }
  return near;
}

double volume_inside(const Hierarchy& mesh, const patches::Plans& plans) {
  double sum = 0;
  for (std::size_t l = 0; l < mesh.levels.size(); ++l)
    for (std::size_t slot = 0; slot < mesh.levels[l].mine.size(); ++slot) {
      const mesh::Point3 width = cell_size(mesh.shape, static_cast<int>(l));
      for (const IndexBox& leaves : patches::without(mesh.levels[l].mine[slot], plans.covered[l][slot], mesh.shape.dim))
        for_each_cell(leaves, [&](const Index3& at) {
          const double inside = std::clamp(mesh.levels[l].values[slot].at(0, at) / width[0] + 0.5, 0.0, 1.0);
          sum += inside * width[0] * width[1] * width[2];
        });
    }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, mesh.comm);
  return sum;
}

}  // namespace octavo::bubble
