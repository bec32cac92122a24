#include "apps/bubble/step.hpp"

#include <algorithm>

#include "apps/patches/step.hpp"
#include "octavo/base/error.hpp"
#include "octavo/mesh/patches/octree_to_patches.hpp"

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

// The low and the high face of each cell of this rank's boxes along an axis, in the arrays of faces.
std::array<std::vector<engine::ArrayView>, 2> views_of_faces(const Hierarchy& mesh, const Faces& faces,
                                                             std::size_t axis) {
  std::array<std::vector<engine::ArrayView>, 2> views;
  for (std::size_t l = 0; l < mesh.levels.size(); ++l)
    for (std::size_t slot = 0; slot < mesh.levels[l].mine.size(); ++slot) {
      const Values& values = faces.of[l][slot][axis];
      const auto [low, high] = split_faces(patches::view_of_box(values.box, values.of(0), 0), axis);
      views[0].push_back(low);
      views[1].push_back(high);
    }
  return views;
}

void check_fields(const engine::Restart& restart, int dim) {
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

void put(engine::Writer& writer, const Hierarchy& mesh, const Faces& faces, bool faces_too) {
  writer.put_mesh(patches_of(mesh));
  writer.put_field("level_set", views_of(mesh, 0));
  for (std::size_t axis = 0; faces_too && axis < static_cast<std::size_t>(mesh.shape.dim); ++axis) {
    const auto views = views_of_faces(mesh, faces, axis);
    for (bool upper : {false, true})
      writer.put_field(name_of_face(axis, upper), views[upper ? 1 : 0], "", centrings[axis]);
  }
}

State from_step(MPI_Comm comm, const patches::Shape& shape, const engine::Restart& restart) {
  check_fields(restart, shape.dim);
  engine::Restart cells{.id = restart.id, .header = restart.header, .part = restart.part};
  // Values of faces travel as values of the cells that they belong to.
  for (mesh::Field& field : cells.part.fields) field.info.centring = mesh::Centring::cell;
  int levels = num_levels(std::get<mesh::Octree>(cells.part.mesh));
  MPI_Allreduce(MPI_IN_PLACE, &levels, 1, MPI_INT, MPI_MAX, comm);
  mesh::PatchOptions cut;
  cut.levels = levels;
  cut.unfolded = restart.header.unfolded;
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
