#include "apps/patches/mesh.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/patches/owners.hpp"
#include "apps/patches/sources.hpp"
#include "apps/run/restart.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::patches {
namespace {

constexpr std::int64_t buffer = 2;  // cells around one that asks for refinement

Boundary boundary_of(euler::Boundary boundary) {
  switch (boundary) {
    case euler::Boundary::periodic: return Boundary::periodic;
    case euler::Boundary::reflecting: return Boundary::reflecting;
    default: return Boundary::outflow;
  }
}

euler::Box box_of(const Shape& shape, int level, const IndexBox& cells, std::size_t index, Values& values) {
  euler::Box box;
  box.shape.dim = shape.dim;
  box.width = cell_size(shape, level);
  box.level = level;
  box.index = index;
  box.state = values.data;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(shape.dim); ++axis) {
    box.shape.cells[axis] = static_cast<int>(cells.hi[axis] - cells.lo[axis]);
    box.lo[axis] = shape.lo[axis] + static_cast<double>(cells.lo[axis]) * box.width[axis];
  }
  return box;
}

void list_boxes(Mesh& mesh) {
  mesh.boxes.clear();
  mesh.places.clear();
  for (std::size_t l = 0; l < mesh.hierarchy.levels.size(); ++l) {
    Level& level = mesh.hierarchy.levels[l];
    for (std::size_t slot = 0; slot < level.mine.size(); ++slot) {
      mesh.boxes.push_back(
          box_of(mesh.hierarchy.shape, static_cast<int>(l), level.mine[slot], mesh.boxes.size(), level.values[slot]));
      mesh.places.push_back({l, slot});
    }
  }
}

// ------------------------------------------------------------------ refinement

// touch(cell) for the cells of a box that ask for refinement.
template <class F>
void for_each_asking(const Mesh& mesh, const euler::Box& box, const std::vector<double>& out, F&& touch) {
  const Place& place = mesh.places[box.index];
  const IndexBox& cells = mesh.hierarchy.levels[place.level].mine[place.slot];
  const auto& covered = mesh.plans.covered[place.level][place.slot];
  const auto ask = [&](const IndexBox& region, double above) {
    for_each_cell(region, [&](const Index3& at) {
      const int i = static_cast<int>(at[0] - cells.lo[0]), j = static_cast<int>(at[1] - cells.lo[1]),
                k = static_cast<int>(at[2] - cells.lo[2]);
      if (out[euler::offset_of(box.shape, i, j, k)] > above) touch(at);
    });
  };
  for (const IndexBox& region : without(cells, covered, mesh.gas.dim)) ask(region, euler::refine_above);
  for (const IndexBox& region : covered) ask(region, euler::coarsen_below);
}

// Blocks of the domain within `buffer` cells of one; a periodic border is crossed.
void add_blocks_around(const Shape& shape, int level, const Index3& cell, Blocks& blocks) {
  const IndexBox domain = domain_of(shape, level);
  const IndexBox around = grown({cell, {cell[0] + 1, cell[1] + 1, cell[2] + 1}}, buffer, shape.dim);
  for (const Index3& shift : periodic_shifts(domain.hi, periodic_axes(shape), shape.dim))
    if (const auto inside = intersection(shifted(around, shift), domain, shape.dim))
      for_each_cell(coarsened_box(*inside, shape.block, shape.dim), [&](const Index3& at) {
        if (blocks.empty() || blocks.back() != at) blocks.push_back(at);
      });
}

std::vector<Blocks> flagged_blocks(Mesh& mesh, const euler::Indicate& indicate) {
  const Shape& shape = mesh.hierarchy.shape;
  std::vector<Blocks> flagged(static_cast<std::size_t>(shape.max_level));
  std::vector<double> out;
  for (const euler::Box& box : mesh.boxes) {
    if (box.level >= shape.max_level) continue;
    out.assign(euler::padded_size(box.shape), 0.0);
    indicate(box, out);
    Blocks& blocks = flagged[static_cast<std::size_t>(box.level)];
    for_each_asking(mesh, box, out, [&](const Index3& at) { add_blocks_around(shape, box.level, at, blocks); });
    make_set(blocks);
  }
  return flagged;
}

}  // namespace

Admissible admissible_in(const euler::Gas& gas) {
  return [gas](const double* state, std::size_t stride) {
    double kinetic = 0;
    for (int axis = 0; axis < gas.dim; ++axis) {
      const double momentum = state[static_cast<std::size_t>(euler::momentum_of(axis)) * stride];
      kinetic += 0.5 * momentum * momentum / state[0];
    }
    return state[0] > 0 && state[static_cast<std::size_t>(euler::energy_of(gas)) * stride] > kinetic;
  };
}

Shape shape_of(const Settings& settings) {
  const euler::Problem& problem = settings.problem;
  Shape shape;
  shape.dim = problem.gas.dim;
  shape.lo = problem.lo;
  shape.hi = problem.hi;
  shape.block = settings.block;
  shape.max_box = settings.max_box;
  shape.max_level = settings.max_level;
  shape.efficiency = settings.efficiency;
  shape.ghost = euler::ghosts;
  shape.variables = euler::num_variables(problem.gas);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool used = axis < static_cast<std::size_t>(shape.dim);
    shape.cells[axis] = used ? std::int64_t{settings.roots[axis]} * settings.block : 1;
    shape.boundary[axis] = boundary_of(problem.boundary[axis]);
    shape.mirrored[axis] = used ? euler::momentum_of(static_cast<int>(axis)) : -1;
  }
  return shape;
}

Mesh make_mesh(MPI_Comm comm, const Settings& settings) {
  Mesh mesh;
  mesh.gas = settings.problem.gas;
  adopt(mesh, make_hierarchy(comm, shape_of(settings)));
  return mesh;
}

void adopt(Mesh& mesh, Hierarchy hierarchy) {
  mesh.hierarchy = std::move(hierarchy);
  mesh.plans = make_plans(mesh.hierarchy);
  list_boxes(mesh);
  mesh.averaged = true;
  send_home(mesh.hierarchy, mesh.tracers);
}

void fill_ghosts(Mesh& mesh) {
  take_means(mesh);
  fill_ghosts(mesh.hierarchy, mesh.plans, admissible_in(mesh.gas));
}

void take_means(Mesh& mesh) {
  if (!mesh.averaged) average_down(mesh.hierarchy, mesh.plans);
  mesh.averaged = true;
}

void keep_fluxes(Mesh& mesh, const euler::Box& box, const euler::Workspace& workspace, double) {
  const Place& place = mesh.places[box.index];
  const Values& values = mesh.hierarchy.levels[place.level].values[place.slot];
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(mesh.gas.dim); ++axis) {
    const double* flux = workspace.flux[axis].data();
    if (place.level > 0) mesh.plans.registers[place.level].take_fine(place.slot, axis, mesh.gas.dim, values, flux);
    if (place.level + 1 < mesh.plans.registers.size())
      mesh.plans.registers[place.level + 1].take_coarse(place.slot, axis, values, flux);
  }
}

void correct_fluxes(Mesh& mesh, double dt) {
  Hierarchy& hierarchy = mesh.hierarchy;
  for (std::size_t l = hierarchy.levels.size(); l-- > 1;)
    correct(hierarchy, static_cast<int>(l), dt, mesh.plans.registers[l], hierarchy.levels[l - 1].values);
  average_down(hierarchy, mesh.plans);
  mesh.averaged = true;
}

bool regrid(Mesh& mesh, const euler::Indicate& indicate) {
  const Shape& shape = mesh.hierarchy.shape;
  std::vector<Blocks> flagged = flagged_blocks(mesh, indicate);
  for (Blocks& blocks : flagged) blocks = gather_blocks(mesh.hierarchy.comm, blocks);
  auto finer = plan_levels(shape, std::move(flagged));
  if (has_boxes(mesh.hierarchy, finer)) return false;
  adopt(mesh, with_boxes(mesh.hierarchy, std::move(finer), admissible_in(mesh.gas)));
  return true;
}

void move_tracers(Mesh& mesh, const euler::Move& move) {
  const Shape& shape = mesh.hierarchy.shape;
  std::vector<std::size_t> first(mesh.hierarchy.levels.size(), 0);  // number of each level's first box
  for (std::size_t l = 1; l < first.size(); ++l) first[l] = first[l - 1] + mesh.hierarchy.levels[l - 1].mine.size();
  for (euler::Point3& position : mesh.tracers.position) {
    const auto found = find_box(mesh.hierarchy, position);
    if (!found) continue;
    position = move(mesh.boxes[first[found->level] + found->slot], position);
    wrap(shape, position);
  }
  send_home(mesh.hierarchy, mesh.tracers);
}

void add_tracers(Mesh& mesh, const euler::Tracers& tracers) {
  const int me = ranks::rank_in(mesh.hierarchy.comm);
  for (std::size_t i = 0; i < tracers.id.size(); ++i) {
    const auto found = find_box(mesh.hierarchy, tracers.position[i]);
    if (!found || found->rank != me) continue;
    mesh.tracers.id.push_back(tracers.id[i]);
    mesh.tracers.position.push_back(tracers.position[i]);
  }
}

mesh::Header header_of(const Mesh& mesh) { return header_of(mesh.hierarchy.shape, "octavo-euler"); }

engine::RestartOptions restart_options(const Mesh& mesh) {
  engine::RestartOptions options;
  options.as = engine::MeshKind::patches;
  options.max_box = mesh.hierarchy.shape.max_box;
  options.fields = euler::variable_names(mesh.gas);
  return options;
}

void restore(Mesh& mesh, const engine::Restart& restart) {
  Hierarchy hierarchy =
      hierarchy_from(mesh.hierarchy.comm, mesh.hierarchy.shape, restart, euler::variable_names(mesh.gas));
  mesh.tracers = run::tracers_of(restart.part, mesh.gas.dim);
  adopt(mesh, std::move(hierarchy));
}

void derive(Mesh& mesh, std::span<const euler::OutputField> fields) {
  mesh.derived.clear();
  for (const euler::OutputField& field : fields) {
    if (field.variable >= 0) continue;
    auto& arrays = mesh.derived.emplace_back();
    for (const euler::Box& box : mesh.boxes) {
      std::vector<double>& out = arrays.emplace_back();
      const std::size_t stride = euler::padded_size(box.shape);
      euler::for_each_cell(box.shape, [&](int i, int j, int k) {
        out.push_back(field.compute(box.state.data() + euler::offset_of(box.shape, i, j, k), stride));
      });
    }
  }
  mesh.positions.clear();
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const euler::Point3& at : mesh.tracers.position) mesh.positions.push_back(at[axis]);
}

}  // namespace octavo::patches
