#pragma once
#include <span>

#include "apps/euler/advance.hpp"
#include "apps/euler/fields.hpp"
#include "apps/euler/indicator.hpp"
#include "apps/euler/problems.hpp"
#include "apps/euler/tracers.hpp"
#include "apps/patches/regrid.hpp"
#include "apps/patches/step.hpp"

/// The hierarchy of patches as a mesh of the Euler driver: what each of these functions is for is listed in
/// apps/euler/README.md. Collective ones are marked.
namespace octavo::patches {

/// Where a box stands in the hierarchy.
struct Place {
  std::size_t level = 0, slot = 0;
};

/// May be moved, not copied: boxes look at the hierarchy's values.
struct Mesh {
  euler::Gas gas;
  Hierarchy hierarchy;
  Plans plans;
  std::vector<euler::Box> boxes;  ///< of this rank, level after level
  std::vector<Place> places;      ///< of each of them
  bool averaged = false;          ///< coarse cells are the means of finer ones; not once boxes may have changed
  euler::Tracers tracers;         ///< in this rank's boxes, by id
  std::vector<std::vector<std::vector<double>>> derived;  ///< of each computed field and box: what a writer reads
  std::vector<double> positions;                          ///< of tracers, axis after axis: the same
};

/// The properties of a run's mesh that never change.
struct Settings {
  euler::Problem problem;
  std::array<int, 3> roots{8, 8, 8};  ///< blocks of level 0 along each axis; beyond dim not looked at
  int block = 8;                      ///< cells of a block along each axis: even
  int max_level = 3;
  int max_box = 64;         ///< boxes are at most that long [cells]
  double efficiency = 0.7;  ///< see Shape
};
Shape shape_of(const Settings& settings);

/// Collective. Level 0, values zero. Throws Error(usage).
Mesh make_mesh(MPI_Comm comm, const Settings& settings);
/// Density and pressure are positive.
Admissible admissible_in(const euler::Gas& gas);
/// Collective. Plans and boxes of a hierarchy that is new; tracers go to their owners.
void adopt(Mesh& mesh, Hierarchy hierarchy);

template <class F>
void for_each_box(Mesh& mesh, F&& f) {
  mesh.averaged = false;
  for (euler::Box& box : mesh.boxes) f(box);
}

/// Collective. Coarse cells take the means of finer ones, where they may be others.
void take_means(Mesh& mesh);
/// Collective.
void fill_ghosts(Mesh& mesh);
void keep_fluxes(Mesh& mesh, const euler::Box& box, const euler::Workspace& workspace, double dt);
/// Collective.
void correct_fluxes(Mesh& mesh, double dt);

/// Collective. A block is refined where the indicator of one of its cells, or of a cell within two of it, is above
/// euler::refine_above, or above euler::coarsen_below where the block is refined already.
bool regrid(Mesh& mesh, const euler::Indicate& indicate);

/// Collective.
void move_tracers(Mesh& mesh, const euler::Move& move);
/// Collective.
void add_tracers(Mesh& mesh, const euler::Tracers& tracers);
inline const euler::Tracers& tracers(const Mesh& mesh) { return mesh.tracers; }

/// f(box, offset, i, j, k)
template <class F>
void for_each_leaf_cell(const Mesh& mesh, F&& f) {
  for (const euler::Box& box : mesh.boxes) {
    const Place& place = mesh.places[box.index];
    const IndexBox& cells = mesh.hierarchy.levels[place.level].mine[place.slot];
    for (const IndexBox& leaves : without(cells, mesh.plans.covered[place.level][place.slot], mesh.gas.dim))
      for_each_cell(leaves, [&](const Index3& at) {
        const int i = static_cast<int>(at[0] - cells.lo[0]), j = static_cast<int>(at[1] - cells.lo[1]),
                  k = static_cast<int>(at[2] - cells.lo[2]);
        f(box, euler::offset_of(box.shape, i, j, k), i, j, k);
      });
  }
}

mesh::Header header_of(const Mesh& mesh);
engine::RestartOptions restart_options(const Mesh& mesh);
/// Collective. Mesh, state and tracers of a checkpoint of either mesh.
void restore(Mesh& mesh, const engine::Restart& restart);

/// Computes the fields that are no variables, into `mesh.derived`.
void derive(Mesh& mesh, std::span<const euler::OutputField> fields);

/// Collective, but for the writer's puts. Arrays stay until the next call.
template <class W>
void put_mesh_and_fields(Mesh& mesh, W& writer, std::span<const euler::OutputField> fields) {
  take_means(mesh);
  derive(mesh, fields);
  writer.put_mesh(patches_of(mesh.hierarchy));
  std::size_t computed = 0;
  for (const euler::OutputField& field : fields)
    writer.put_field(field.name, field.variable >= 0 ? views_of(mesh.hierarchy, field.variable)
                                                     : views_of(mesh.hierarchy, mesh.derived[computed++]));
  const std::size_t count = mesh.tracers.id.size();
  writer.put_particles("tracers", "id", engine::view_of(mesh.tracers.id));
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(mesh.gas.dim); ++axis)
    writer.put_particles("tracers", std::string("position_") + "xyz"[axis],
                         engine::view_of(std::span<const double>(mesh.positions).subspan(axis * count, count)));
}

/// All ranks have the same levels.
inline int num_levels(const Mesh& mesh) { return static_cast<int>(mesh.hierarchy.levels.size()); }

}  // namespace octavo::patches
