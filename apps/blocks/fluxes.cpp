#include "apps/blocks/blocks.hpp"

namespace octavo::blocks {

namespace {

// The fluxes of each place: for each axis the lower and the upper side, for each side all variables, for each variable
// the face's cells, x fastest.
struct Faces {
  const euler::Shape& shape;
  std::size_t variables;
  std::size_t cells(std::size_t axis) const {
    std::size_t count = 1;
    for (std::size_t other = 0; other < 3; ++other)
      if (other != axis) count *= static_cast<std::size_t>(shape.cells[other]);
    return count;
  }
  // All axes in use have as many cells.
  std::size_t doubles() const { return 2 * static_cast<std::size_t>(shape.dim) * variables * cells(0); }
  std::size_t first(std::size_t axis, std::size_t side) const { return (2 * axis + side) * variables * cells(axis); }
  std::size_t cell(std::size_t axis, const std::array<int, 3>& at) const {
    std::size_t number = 0, stride = 1;
    for (std::size_t other = 0; other < 3; ++other) {
      if (other == axis) continue;
      number += stride * static_cast<std::size_t>(at[other]);
      stride *= static_cast<std::size_t>(shape.cells[other]);
    }
    return number;
  }
};

Faces faces_of(const Blocks& mesh) {
  return {mesh.shape, static_cast<std::size_t>(num_variables(mesh.settings.problem.gas))};
}

template <class F>
void for_each_face_cell(const euler::Shape& shape, std::size_t axis, F&& f) {
  euler::Shape plane = shape;
  plane.cells[axis] = 1;
  euler::for_each_cell(plane, [&](int i, int j, int k) { f(std::array<int, 3>{i, j, k}); });
}

// The mean of the fine fluxes through the face of a coarse cell; `side` is the coarse block's.
double fine_flux(const Blocks& mesh, const Faces& faces, const Neighbour& beside, std::size_t axis, std::size_t side,
                 std::size_t variable, const std::array<int, 3>& at) {
  std::array<int, 3> fine{0, 0, 0};
  std::size_t child = side == 0 ? std::size_t{1} << axis : 0;
  for (std::size_t other = 0; other < static_cast<std::size_t>(mesh.shape.dim); ++other) {
    if (other == axis) continue;
    const int n = mesh.shape.cells[other], half = 2 * at[other] >= n ? 1 : 0;
    child |= static_cast<std::size_t>(half) << other;
    fine[other] = 2 * at[other] - half * n;
  }
  const auto place = static_cast<std::size_t>(beside.block[child]);
  const double* flux =
      mesh.fluxes.data() + place * faces.doubles() + faces.first(axis, 1 - side) + variable * faces.cells(axis);
  std::array<std::size_t, 2> others{};
  std::size_t count = 0;
  for (std::size_t other = 0; other < static_cast<std::size_t>(mesh.shape.dim); ++other)
    if (other != axis) others[count++] = other;
  const auto shifted = [&](int a, int b) {
    auto moved = fine;
    moved[others[0]] += a;
    if (count > 1) moved[others[1]] += b;
    return flux[faces.cell(axis, moved)];
  };
  const double pair = shifted(0, 0) + shifted(1, 0);
  return count == 1 ? 0.5 * pair : 0.25 * (pair + (shifted(0, 1) + shifted(1, 1)));
}

std::size_t side_number(const euler::Shape& shape, std::size_t axis, std::size_t side) {
  const std::array<std::size_t, 3> stride{1, 3, 9};
  const std::size_t middle = shape.dim > 2 ? 13 : 4;
  return side == 0 ? middle - stride[axis] : middle + stride[axis];
}

}  // namespace

void keep_fluxes(Blocks& mesh, const euler::Box& box, const euler::Workspace& workspace, double) {
  if (!mesh.mixed) return;
  const Faces faces = faces_of(mesh);
  const std::size_t size = padded_size(mesh.shape);
  mesh.fluxes.resize(mesh.places.size() * faces.doubles());
  double* out = mesh.fluxes.data() + box.index * faces.doubles();
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(mesh.shape.dim); ++axis)
    for (std::size_t side = 0; side < 2; ++side)
      for (std::size_t v = 0; v < faces.variables; ++v)
        for_each_face_cell(mesh.shape, axis, [&](std::array<int, 3> at) {
          const std::size_t cell = faces.cell(axis, at);
          at[axis] = side == 0 ? 0 : mesh.shape.cells[axis];
          out[faces.first(axis, side) + v * faces.cells(axis) + cell] =
              workspace.flux[axis][v * size + offset_of(mesh.shape, at[0], at[1], at[2])];
        });
}

void correct_fluxes(Blocks& mesh, double dt) {
  if (!mesh.mixed) return;
  const Faces faces = faces_of(mesh);
  const std::size_t size = padded_size(mesh.shape), sides = mesh.shape.dim > 2 ? 27 : 9;
  mesh.fluxes.resize(mesh.places.size() * faces.doubles());
  mesh.functions->exchange(mesh.forest.get(), reinterpret_cast<const std::byte*>(mesh.fluxes.data()),
                           reinterpret_cast<std::byte*>(mesh.fluxes.data() + mesh.leaves * faces.doubles()),
                           faces.doubles() * sizeof(double));
  for_each_box(mesh, [&](euler::Box& box) {
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(mesh.shape.dim); ++axis)
      for (std::size_t side = 0; side < 2; ++side) {
        const Neighbour& beside = mesh.neighbours[box.index * sides + side_number(mesh.shape, axis, side)];
        if (beside.kind != Neighbour::Kind::finer) continue;
        const double factor = (side == 0 ? dt : -dt) / box.width[axis];
        const double* own = mesh.fluxes.data() + box.index * faces.doubles() + faces.first(axis, side);
        for (std::size_t v = 0; v < faces.variables; ++v)
          for_each_face_cell(mesh.shape, axis, [&](std::array<int, 3> at) {
            const double change =
                fine_flux(mesh, faces, beside, axis, side, v, at) - own[v * faces.cells(axis) + faces.cell(axis, at)];
            at[axis] = side == 0 ? 0 : mesh.shape.cells[axis] - 1;
            box.state[v * size + offset_of(mesh.shape, at[0], at[1], at[2])] += factor * change;
          });
      }
  });
}

}  // namespace octavo::blocks
