#include "octavo/engine/restart/reshape.hpp"

#include <algorithm>

#include "octavo/mesh/tree/finer.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/deliver.hpp"
#include "octavo/step/regrid.hpp"

namespace octavo::engine {
namespace {

mesh::Part only_mesh(const mesh::Dataset& dataset, int part) {
  mesh::Request request;
  request.fields = std::vector<std::string>{};
  return dataset.read(part, request);
}

// split() gives three parts: all before the share, the share, all after it.
mesh::Part share_of(const mesh::Part& part, const mesh::SplitPlan& plan, int rank) {
  mesh::SplitPlan mine = plan;
  const auto r = static_cast<std::size_t>(rank);
  mine.bounds = {plan.bounds.front(), plan.bounds[r], plan.bounds[r + 1], plan.bounds.back()};
  return std::move(mesh::split(std::span(&part, 1), mine)[1]);
}

// The stretches that hold the keys of cells of a level.
std::vector<KeyRange> stretches_of_cells(const mesh::SplitPlan& plan, const std::vector<mesh::Index3>& cells) {
  constexpr std::size_t most = 64;
  std::vector<KeyRange> keys;
  for (const mesh::Index3& at : cells) {
    const mesh::Coordinate place{static_cast<std::uint32_t>(at[0]), static_cast<std::uint32_t>(at[1]),
                                 static_cast<std::uint32_t>(at[2])};
    const mesh::CurveKey key = centre_key(plan.curve, plan.dim, plan.bits, plan.bits, place);
    keys.push_back({key, key});
  }
  return stretches_of(std::move(keys), most);
}

// Collective. The parts that may own a cell in the stretches: those that the owners of the stretches read for their
// shares.
std::vector<int> parts_beside(MPI_Comm comm, StepParts& step, const Shares& shares,
                              const std::vector<KeyRange>& stretches) {
  std::vector<ranks::Parcel> asked;
  for (const ranks::KeyOwner& owner : owners_of(comm, shares, stretches)) asked.push_back({owner.rank, {}, 0});
  std::vector<std::pair<int, int>> told;
  for (const ranks::Parcel& asker : ranks::deliver(comm, std::move(asked)))
    for (const int part : shares.parts) told.emplace_back(asker.rank, part);
  std::vector<int> parts = tell_parts(comm, step, told);
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

}  // namespace

mesh::Part refine_share(MPI_Comm comm, StepParts& step, const Shares& shares, mesh::Part part,
                        const RestartOptions& options, const mesh::Request& request) {
  const int level = finest_level(shares);
  const mesh::FillOptions how{options.fill_by, step.dataset.header.periodic, step::cell_edges(step.dataset.header),
                              mesh::specific_of(step.dataset.header, options.per_mass)};
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

Reblocked read_blocks(const StepParts& step, const RestartOptions& options, int ranks, int rank,
                      const mesh::Request& request) {
  step::RegridJob job;
  job.how.block = *options.block;
  job.how.root = step.dataset.header.unfolded;
  job.how.fill = options.fill;
  job.how.by = options.fill_by;
  job.how.specific = mesh::specific_of(step.dataset.header, options.per_mass);
  const step::Regridded made = step::regrid(step.dataset, job);
  mesh::Part whole;
  whole.mesh = mesh::whole_tree(made.dataset, made.dataset.header.unfolded);
  Reblocked out{made.dataset.header,
                mesh::plan_split(std::span(&whole, 1), ranks, options.curve),
                {},
                made.plan.fills,
                made.plan.means};
  std::vector<mesh::Part> pieces;
  for (int p = 0; p < made.dataset.num_parts; ++p) {
    if (!mesh::owns_any(share_of(only_mesh(made.dataset, p), out.plan, rank))) continue;
    pieces.push_back(share_of(made.dataset.read(p, request), out.plan, rank));
  }
  out.part = pieces.empty() ? mesh::empty_part(out.header, request) : mesh::merge(pieces);
  out.part.index = rank;
  return out;
}

}  // namespace octavo::engine
