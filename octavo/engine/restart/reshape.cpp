#include "octavo/engine/restart/reshape.hpp"

#include <algorithm>

#include "octavo/formats/formats.hpp"
#include "octavo/mesh/tree/finer.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/step/regrid.hpp"

namespace octavo::engine {
namespace {

mesh::Part only_mesh(const mesh::Dataset& dataset, int part) {
  mesh::Request request;
  request.fields = std::vector<std::string>{};
  return dataset.read(part, request);
}

// The stretches that hold the keys of cells of a level.
std::vector<KeyRange> stretches_of_cells(const mesh::SplitPlan& plan, const std::vector<mesh::Index3>& cells) {
  Stretches stretches;
  for (const mesh::Index3& at : cells) {
    const mesh::Coordinate place{static_cast<std::uint32_t>(at[0]), static_cast<std::uint32_t>(at[1]),
                                 static_cast<std::uint32_t>(at[2])};
    stretches.add(centre_key(plan.curve, plan.dim, plan.bits, plan.bits, place));
  }
  return std::move(stretches).result();
}

}  // namespace

mesh::Part refine_share(MPI_Comm comm, StepParts& step, const Shares& shares, mesh::Part part,
                        const RestartOptions& options, const mesh::Request& request) {
  const int level = finest_level(shares);
  const mesh::FillOptions how{options.fill_by, step.dataset.header.periodic, step::cell_edges(step.dataset.header),
                              formats::specific_of(step.dataset.header, options.per_mass)};
  std::vector<mesh::Index3> cells;
  std::vector<KeyRange> stretches;
  ranks::agree(comm, [&] {
    cells = mesh::cells_beside(mesh::octree_of(part), level, how.periodic);
    stretches = stretches_of_cells(shares.plan, cells);
  });
  const std::vector<int> parts = parts_beside(comm, step, shares, stretches);
  ranks::agree(comm, [&] {
    std::vector<mesh::Part> beside;
    for (const int p : parts) {
      if (!mesh::owns_any(mesh::only_cells(only_mesh(step.dataset, p), level, cells))) continue;
      beside.push_back(mesh::only_cells(step.dataset.read(p, request), level, cells));
    }
    part = mesh::refine_level(std::move(part), std::move(beside), level, options.refine, how);
  });
  return part;
}

}  // namespace octavo::engine
