#include "apps/bubble/step.hpp"

#include <algorithm>
#include <cstring>

#include "apps/patches/step.hpp"
#include "octavo/base/error.hpp"
#include "octavo/mesh/octree_to_patches.hpp"
#include "octavo/mesh/patches_to_octree.hpp"
#include "octavo/parallel/all_patches.hpp"
#include "octavo/parallel/communicator.hpp"

namespace octavo::bubble {
namespace {

using patches::for_each_cell;

constexpr std::array<mesh::Centring, 3> centrings{mesh::Centring::face_x, mesh::Centring::face_y,
                                                  mesh::Centring::face_z};

std::string name_of_face(std::size_t axis, bool upper) {
  return std::string("velocity_") + "xyz"[axis] + (upper ? "_right" : "_left");
}

// Names of all fields: the level set, then lower and upper faces of each axis.
std::vector<std::string> names(int dim) {
  std::vector<std::string> out{"level_set"};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    for (bool upper : {false, true}) out.push_back(name_of_face(axis, upper));
  return out;
}

mesh::Field field_of(const std::string& name, const std::vector<double>& values) {
  mesh::Field field = mesh::make_field({.name = name, .unit = ""}, values.size());
  std::memcpy(field.bytes.data(), values.data(), field.bytes.size());
  return field;
}

// A value of each cell of all boxes: f(level, slot, cell).
template <class F>
std::vector<double> of_cells(const Hierarchy& mesh, F&& f) {
  std::vector<double> values;
  for (std::size_t l = 0; l < mesh.levels.size(); ++l)
    for (std::size_t slot = 0; slot < mesh.levels[l].mine.size(); ++slot)
      for_each_cell(mesh.levels[l].mine[slot], [&](const Index3& at) { values.push_back(f(l, slot, at)); });
  return values;
}

double face_value(const Faces& faces, std::size_t level, std::size_t slot, std::size_t axis, Index3 at, bool upper) {
  at[axis] += upper ? 1 : 0;
  return faces.of[level][slot][axis].at(0, at);
}

void check_fields(const parallel::Restart& restart, int dim) {
  for (const std::string& name : names(dim))
    if (std::none_of(restart.header.fields.begin(), restart.header.fields.end(),
                     [&](const mesh::FieldInfo& field) { return field.name == name; }))
      throw base::Error(base::Kind::usage, "the checkpoint of " + restart.header.code + " lacks the field " + name);
}

// The faces that the hierarchy's variables 1, 2 ... hold a copy of, lower and upper for each axis.
Faces faces_in(const Hierarchy& state) {
  Faces faces = make_faces(state, [](int, std::size_t, const Index3&) { return 0.0; });
  for (std::size_t l = 0; l < state.levels.size(); ++l)
    for (std::size_t slot = 0; slot < state.levels[l].mine.size(); ++slot)
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(state.shape.dim); ++axis)
        for_each_cell(state.levels[l].mine[slot], [&](Index3 at) {
          const Values& values = state.levels[l].values[slot];
          const int variable = 1 + 2 * static_cast<int>(axis);
          Values& out = faces.of[l][slot][axis];
          out.at(0, at) = values.at(variable, at);
          const double upper = values.at(variable + 1, at);
          ++at[axis];
          out.at(0, at) = upper;
        });
  return faces;
}

// The level set alone.
Hierarchy level_set_of(const Hierarchy& state, const patches::Shape& shape) {
  Hierarchy out{state.comm, shape, {}};
  for (const patches::Level& level : state.levels) {
    out.levels.push_back(make_level(state.comm, shape, level.boxes, level.owner));
    for (std::size_t slot = 0; slot < level.mine.size(); ++slot)
      for_each_cell(level.mine[slot],
                    [&](const Index3& at) { out.levels.back().values[slot].at(0, at) = level.values[slot].at(0, at); });
  }
  return out;
}

}  // namespace

mesh::Part tree_of(const Hierarchy& mesh, const Faces& faces) {
  const int dim = mesh.shape.dim;
  mesh::Part part;
  const mesh::Patches mine = patches_of(mesh);
  part.mesh = mine;
  part.fields.push_back(field_of("level_set", of_cells(mesh, [&](std::size_t l, std::size_t slot, const Index3& at) {
                                   return mesh.levels[l].values[slot].at(0, at);
                                 })));
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    for (bool upper : {false, true})
      part.fields.push_back(
          field_of(name_of_face(axis, upper), of_cells(mesh, [&](std::size_t l, std::size_t slot, const Index3& at) {
                     return face_value(faces, l, slot, axis, at, upper);
                   })));
  const mesh::Header header = header_of(mesh.shape, "octavo-bubble");
  const auto all = parallel::gather_patches(mesh.comm, &mine);
  mesh::Part tree = patches_to_octree(part, plan_patch_tree(mine, header.unfolded, header.block),
                                      parallel::patches_of_others(all, parallel::rank_in(mesh.comm)));
  for (std::size_t f = 1; f < tree.fields.size(); ++f) tree.fields[f].info.centring = centrings[(f - 1) / 2];
  return tree;
}

void put(parallel::Writer& writer, const mesh::Part& tree, bool faces_too) {
  const auto& octree = std::get<mesh::Octree>(tree.mesh);
  writer.put_mesh(octree);
  for (const mesh::Field& field : tree.fields) {
    if (!faces_too && field.info.centring != mesh::Centring::cell) continue;
    parallel::ArrayView view = parallel::view_of(field.as<double>());
    view.cells = num_cells(octree);
    view.block = octree.block;
    writer.put_field(field.info.name, view, field.info.unit, field.info.centring);
  }
}

State from_step(MPI_Comm comm, const patches::Shape& shape, const parallel::Restart& restart) {
  check_fields(restart, shape.dim);
  parallel::Restart cells{restart.id, restart.header, restart.part, {}};
  // Values of faces travel as values of the cells that they belong to.
  for (mesh::Field& field : cells.part.fields) field.info.centring = mesh::Centring::cell;
  int levels = num_levels(std::get<mesh::Octree>(cells.part.mesh));
  MPI_Allreduce(MPI_IN_PLACE, &levels, 1, MPI_INT, MPI_MAX, comm);
  mesh::PatchOptions cut;
  cut.levels = levels;
  cut.max_box = shape.max_box;
  cells.part = octree_to_patches(cells.part, cut);
  patches::Shape wide = shape;
  wide.variables = 1 + 2 * shape.dim;
  const Hierarchy state = hierarchy_from(comm, wide, cells, names(shape.dim));
  Faces faces = faces_in(state);
  restrict_faces(state, faces);
  return {level_set_of(state, shape), std::move(faces)};
}

}  // namespace octavo::bubble
