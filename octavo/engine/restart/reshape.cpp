#include "octavo/engine/restart/reshape.hpp"

#include <algorithm>

#include "octavo/mesh/tree/finer.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/step/regrid.hpp"

namespace octavo::engine {
namespace {

// The parts that may own one of the cells; `keys` are sorted.
std::vector<int> parts_with(const Shares& shares, const std::vector<mesh::CurveKey>& keys) {
  std::vector<int> parts;
  for (std::size_t range = 0; range < shares.of_part.size(); ++range) {
    const KeyRange& stretch = shares.of_part[range];
    const int part = static_cast<int>(range / shares.stretches);
    if (!parts.empty() && parts.back() == part) continue;
    const auto first = std::lower_bound(keys.begin(), keys.end(), stretch.first);
    if (first != keys.end() && *first <= stretch.last) parts.push_back(part);
  }
  return parts;
}

mesh::Part only_mesh(const mesh::Dataset& dataset, int part) {
  mesh::Request request;
  request.fields = std::vector<std::string>{};
  return dataset.read(part, request);
}

// split() gives three parts: the middle one is the share.
mesh::Part share_of(const mesh::Part& part, const mesh::SplitPlan& plan, int rank) {
  return std::move(mesh::split(std::span(&part, 1), only_share(plan, rank))[1]);
}

}  // namespace

mesh::Part refine_share(const StepParts& step, const Shares& shares, mesh::Part part, const RestartOptions& options,
                        const mesh::Request& request) {
  const int level = finest_level(shares);
  const mesh::FillOptions how{options.fill_by, step.dataset.header.periodic, step::cell_edges(step.dataset.header),
                              mesh::specific_of(step.dataset.header, options.per_mass)};
  const auto cells = mesh::cells_beside(mesh::octree_of(part), level, how.periodic);
  std::vector<mesh::CurveKey> keys;
  for (const mesh::Index3& at : cells) {
    const mesh::Coordinate place{static_cast<std::uint32_t>(at[0]), static_cast<std::uint32_t>(at[1]),
                                 static_cast<std::uint32_t>(at[2])};
    keys.push_back(centre_key(shares.plan.curve, shares.plan.dim, shares.plan.bits, shares.plan.bits, place));
  }
  std::sort(keys.begin(), keys.end());
  std::vector<mesh::Part> beside;
  for (const int p : parts_with(shares, keys)) {
    mesh::Part found = mesh::only_cells(step.dataset.read(p, request), level, cells);
    if (mesh::owns_any(found)) beside.push_back(std::move(found));
  }
  return mesh::refine_level(std::move(part), std::move(beside), level, options.refine, how);
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
