#include <algorithm>

#include "apps/blocks/blocks.hpp"
#include "apps/run/restart.hpp"
#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::blocks {

using base::Error;
using base::Kind;

engine::RestartOptions restart_options(const Blocks&) {
  engine::RestartOptions options;
  options.curve = mesh::Curve::morton;  // p4est's: each rank's share is a stretch of the forest's leaves
  options.as = engine::MeshKind::octree;
  options.keep_parts = false;  // parts of another mesh do not follow the curve
  return options;
}

namespace {

struct Kept {
  Place place;
  std::size_t cell;  // of the part's tree
};

// Owned leaves along the curve.
std::vector<Kept> owned_leaves(const mesh::Octree& tree) {
  std::vector<std::pair<mesh::CurveKey, Kept>> found;
  const auto offsets = level_offsets(tree);
  const int finest = num_levels(tree) - 1;
  int root_bits = 0;
  while ((std::int64_t{1} << root_bits) < *std::max_element(tree.roots.begin(), tree.roots.end())) ++root_bits;
  auto coordinates = root_coordinates(tree);
  for (int level = 0; level <= finest; ++level) {
    const auto l = static_cast<std::size_t>(level);
    tree.owned[l].for_each_set([&](std::size_t i) {
      if (tree.refined[l][i]) return;
      Place place{level, {}};
      for (std::size_t axis = 0; axis < 3; ++axis) place.at[axis] = static_cast<std::int32_t>(coordinates[i][axis]);
      found.push_back({first_key(mesh::Curve::morton, tree.dim, root_bits + finest, root_bits + level, coordinates[i]),
                       {place, offsets[l] + i}});
    });
    if (level < finest) coordinates = child_coordinates(tree, level, coordinates);
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Kept> kept;
  for (const auto& [key, leaf] : found) kept.push_back(leaf);
  return kept;
}

void check_shape(const Blocks& mesh, const mesh::Header& header) {
  const mesh::Header mine = header_of(mesh);
  const auto list = [](const mesh::Index3& n) {
    return std::to_string(n[0]) + "x" + std::to_string(n[1]) + "x" + std::to_string(n[2]);
  };
  if (header.block != mine.block)
    throw Error(Kind::usage,
                "the checkpoint has blocks of " + list(header.block) + " cells, this run of " + list(mine.block))
        .hint("--block " + std::to_string(header.block[0]));
  if (header.roots != mine.roots)
    throw Error(Kind::usage,
                "the checkpoint has " + list(header.roots) + " blocks of level 0, this run " + list(mine.roots))
        .hint("--roots " + std::to_string(header.roots[0]));
}

void take_values(Blocks& mesh, const mesh::Part& part, const std::vector<Kept>& leaves) {
  const std::size_t size = padded_size(mesh.shape), doubles = block_doubles(mesh);
  const auto names = euler::variable_names(mesh.settings.problem.gas);
  for (std::size_t v = 0; v < names.size(); ++v) {
    const auto values = run::field_of(part, names[v]);
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
      const std::size_t cells = mesh::block_size(std::get<mesh::Octree>(part.mesh));
      const double* next = values.data() + leaves[leaf].cell * cells;
      euler::for_each_cell(mesh.shape, [&](int i, int j, int k) {
        mesh.state[leaf * doubles + v * size + offset_of(mesh.shape, i, j, k)] = *next++;
      });
    }
  }
}

}  // namespace

void restore(Blocks& mesh, const engine::Restart& restart) {
  check_shape(mesh, restart.header);
  std::vector<Kept> leaves = owned_leaves(std::get<mesh::Octree>(restart.part.mesh));
  std::vector<Place> places;
  for (const Kept& leaf : leaves) places.push_back(leaf.place);
  const auto& boundary = mesh.settings.problem.boundary;
  std::array<bool, 3> periodic{};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(mesh.shape.dim); ++axis)
    periodic[axis] = boundary[axis] == euler::Boundary::periodic;
  mesh.forest = {mesh.functions->restore(mesh.comm, mesh.settings.roots, periodic, places), mesh.functions->fell};
  int different = mesh.functions->leaves(mesh.forest.get()) == places ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &different, 1, MPI_INT, MPI_MAX, mesh.comm);
  if (different != 0) throw Error(Kind::corrupt, "the leaves of the checkpoint are not in the order of the curve");
  set_leaves(mesh, places);
  mesh.state.assign(mesh.leaves * block_doubles(mesh), 0.0);
  take_values(mesh, restart.part, leaves);
  mesh.carried = run::tracers_of(restart.part, mesh.shape.dim);
  settle(mesh);
}

}  // namespace octavo::blocks
