#pragma once
#include <functional>
#include <span>

#include "apps/euler/advance.hpp"
#include "apps/euler/indicator.hpp"
#include "apps/euler/problems.hpp"
#include "apps/euler/tracers.hpp"
#include "apps/patches/regrid.hpp"

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
  euler::Tracers tracers;         ///< in this rank's boxes, by id
};

/// Collective. Level 0 of the problem's domain. `shape` says how it is cut and refined; its dim, domain, boundaries,
/// ghosts and variables are the problem's.
Mesh make_mesh(MPI_Comm comm, const euler::Problem& problem, Shape shape);
/// Density and pressure are positive.
Admissible admissible_in(const euler::Gas& gas);
/// Collective. Plans and boxes of a hierarchy that is new; tracers go to their owners.
void adopt(Mesh& mesh, Hierarchy hierarchy);

template <class F>
void for_each_box(Mesh& mesh, F&& f) {
  for (euler::Box& box : mesh.boxes) f(box);
}

/// Collective.
void fill_ghosts(Mesh& mesh);
void keep_fluxes(Mesh& mesh, const euler::Box& box, const euler::Workspace& workspace, double dt);
/// Collective.
void correct_fluxes(Mesh& mesh, double dt);

using Indicate = std::function<void(const euler::Box& box, std::span<double> out)>;
/// Collective. A block is refined where the indicator of one of its cells, or of a cell within two of it, is above
/// euler::refine_above, or above euler::coarsen_below where the block is refined already.
bool regrid(Mesh& mesh, const Indicate& indicate);

using Move = std::function<euler::Point3(const euler::Box& box, const euler::Point3& position)>;
/// Collective.
void move_tracers(Mesh& mesh, const Move& move);
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

/// All ranks have the same levels.
inline int num_levels(const Mesh& mesh) { return static_cast<int>(mesh.hierarchy.levels.size()); }

}  // namespace octavo::patches
