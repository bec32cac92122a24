#include "apps/blocks/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "octavo/base/error.hpp"

namespace octavo::blocks {

using base::Error;
using base::Kind;

void check(const Settings& settings) {
  const int dim = settings.problem.gas.dim;
  if (dim != 2 && dim != 3)
    throw Error(Kind::usage, "a mesh of blocks has 2 or 3 dimensions, not " + std::to_string(dim));
  if (settings.block < 4 || settings.block % 2 != 0)
    throw Error(Kind::usage,
                "a block has an even number of cells along an axis, 4 at least, not " + std::to_string(settings.block));
  if (settings.max_level < 0 || settings.max_level > 12)
    throw Error(Kind::usage, "the finest level is 0 to 12, not " + std::to_string(settings.max_level));
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    if (settings.roots[axis] < 1 || settings.roots[axis] > 64)
      throw Error(Kind::usage,
                  "there are 1 to 64 blocks of level 0 along an axis, not " + std::to_string(settings.roots[axis]));
}

namespace {

bool periodic(const Blocks& mesh, std::size_t axis) {
  return axis < static_cast<std::size_t>(mesh.shape.dim) &&
         mesh.settings.problem.boundary[axis] == euler::Boundary::periodic;
}

// The place a step away, round periodic sides; nothing outside of the domain.
std::optional<Place> beside(const Blocks& mesh, const Place& place, const std::array<int, 3>& step) {
  Place found = place;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const int extent = mesh.settings.roots[axis] << place.level;
    int at = place.at[axis] + step[axis];
    if (at < 0 || at >= extent) {
      if (!periodic(mesh, axis)) return std::nullopt;
      at = (at + extent) % extent;
    }
    found.at[axis] = at;
  }
  return found;
}

std::int32_t find(const Blocks& mesh, const Place& place) {
  const auto found = mesh.index.find(key_of(place));
  return found == mesh.index.end() ? -1 : found->second;
}

// Whether child `number` of the block a step away touches this one.
bool touches(int number, const std::array<int, 3>& step, int dim) {
  for (int axis = 0; axis < dim; ++axis) {
    const int side = (number >> axis) & 1, towards = step[static_cast<std::size_t>(axis)];
    if ((towards < 0 && side == 0) || (towards > 0 && side == 1)) return false;
  }
  return true;
}

Neighbour neighbour(const Blocks& mesh, const Place& place, const std::array<int, 3>& step) {
  Neighbour found;
  const auto at = beside(mesh, place, step);
  if (!at) return found;
  if (const std::int32_t same = find(mesh, *at); same >= 0) {
    found.kind = Neighbour::Kind::same;
    found.block[0] = same;
    return found;
  }
  if (const std::int32_t above = place.level > 0 ? find(mesh, parent_of(*at)) : -1; above >= 0) {
    found.kind = Neighbour::Kind::coarser;
    found.block[0] = above;
    return found;
  }
  found.kind = Neighbour::Kind::finer;
  for (int child = 0; child < 1 << mesh.shape.dim; ++child) {
    const bool wanted = touches(child, step, mesh.shape.dim);
    found.block[static_cast<std::size_t>(child)] = wanted ? find(mesh, child_of(*at, child, mesh.shape.dim)) : -1;
    if (wanted && found.block[static_cast<std::size_t>(child)] < 0)
      throw std::logic_error("the mesh is not balanced: a neighbour is missing");
  }
  return found;
}

}  // namespace

Blocks make_blocks(MPI_Comm comm, const Settings& settings) {
  check(settings);
  Blocks mesh;
  mesh.comm = comm;
  mesh.settings = settings;
  const int dim = settings.problem.gas.dim, n = settings.block;
  for (std::size_t axis = static_cast<std::size_t>(dim); axis < 3; ++axis) mesh.settings.roots[axis] = 1;
  mesh.shape = {dim, {n, n, dim > 2 ? n : 1}};
  mesh.functions = &forest_functions(dim);
  mesh.forest = {
      mesh.functions->plant(comm, mesh.settings.roots, {periodic(mesh, 0), periodic(mesh, 1), periodic(mesh, 2)}),
      mesh.functions->fell};
  rebuild(mesh);
  return mesh;
}

std::size_t block_doubles(const Blocks& mesh) {
  return static_cast<std::size_t>(num_variables(mesh.settings.problem.gas)) * padded_size(mesh.shape);
}

euler::Box box_of(Blocks& mesh, std::size_t place) {
  const auto& [lo, hi] = std::pair(mesh.settings.problem.lo, mesh.settings.problem.hi);
  const Place& at = mesh.places[place];
  euler::Box box;
  box.shape = mesh.shape;
  box.level = at.level;
  box.index = place;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double edge = (hi[axis] - lo[axis]) / (mesh.settings.roots[axis] << at.level);
    box.lo[axis] = lo[axis] + edge * at.at[axis];
    box.width[axis] = edge / mesh.shape.cells[axis];
  }
  const std::size_t doubles = block_doubles(mesh);
  box.state = std::span(mesh.state).subspan(place * doubles, doubles);
  return box;
}

// The place of the finest level that holds a point; nothing outside of the domain.
static std::optional<Place> finest_place(const Blocks& mesh, const euler::Point3& at) {
  const auto& problem = mesh.settings.problem;
  Place place{mesh.settings.max_level, {}};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(mesh.shape.dim); ++axis) {
    const int extent = mesh.settings.roots[axis] << place.level;
    const double part = (at[axis] - problem.lo[axis]) / (problem.hi[axis] - problem.lo[axis]);
    if (!(part >= 0 && part < 1)) return std::nullopt;
    place.at[axis] = std::min(extent - 1, static_cast<int>(part * extent));
  }
  return place;
}

std::optional<std::size_t> leaf_at(const Blocks& mesh, const euler::Point3& at) {
  auto place = finest_place(mesh, at);
  if (!place) return std::nullopt;
  for (;; place = parent_of(*place)) {
    const std::int32_t found = find(mesh, *place);
    if (found >= 0)
      return static_cast<std::size_t>(found) < mesh.leaves ? std::optional(static_cast<std::size_t>(found))
                                                           : std::nullopt;
    if (place->level == 0) return std::nullopt;
  }
}

void rebuild(Blocks& mesh) {
  mesh.places = mesh.functions->leaves(mesh.forest.get());
  mesh.leaves = mesh.places.size();
  const auto ghosts = mesh.functions->make_ghosts(mesh.forest.get());
  mesh.places.insert(mesh.places.end(), ghosts.begin(), ghosts.end());
  mesh.index.clear();
  mesh.index.reserve(2 * mesh.places.size());
  for (std::size_t i = 0; i < mesh.places.size(); ++i)
    mesh.index.emplace(key_of(mesh.places[i]), static_cast<std::int32_t>(i));
  mesh.neighbours.clear();
  int mixed = 0;
  const int z = mesh.shape.dim > 2 ? 1 : 0;
  for (std::size_t leaf = 0; leaf < mesh.leaves; ++leaf)
    for (int k = -z; k <= z; ++k)
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i) {
          mesh.neighbours.push_back(neighbour(mesh, mesh.places[leaf], {i, j, k}));
          const auto kind = mesh.neighbours.back().kind;
          if (kind == Neighbour::Kind::coarser || kind == Neighbour::Kind::finer) mixed = 1;
        }
  MPI_Allreduce(MPI_IN_PLACE, &mixed, 1, MPI_INT, MPI_MAX, mesh.comm);
  mesh.mixed = mixed != 0;
  mesh.state.resize(mesh.places.size() * block_doubles(mesh));
}

int num_levels(const Blocks& mesh) {
  int levels = 0;
  for (std::size_t leaf = 0; leaf < mesh.leaves; ++leaf) levels = std::max(levels, mesh.places[leaf].level + 1);
  MPI_Allreduce(MPI_IN_PLACE, &levels, 1, MPI_INT, MPI_MAX, mesh.comm);
  return levels;
}

// --- tracers ---------------------------------------------------------------------------------------------------------

namespace {

struct Traveller {
  std::int64_t id;
  euler::Point3 at;
};

std::vector<Traveller> send_travellers(MPI_Comm comm, const std::vector<std::vector<Traveller>>& to) {
  const std::size_t ranks = to.size();
  std::vector<int> sends(ranks), receives(ranks), from(ranks, 0), into(ranks, 0);
  std::vector<Traveller> out;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    from[rank] = static_cast<int>(out.size() * sizeof(Traveller));
    sends[rank] = static_cast<int>(to[rank].size() * sizeof(Traveller));
    out.insert(out.end(), to[rank].begin(), to[rank].end());
  }
  MPI_Alltoall(sends.data(), 1, MPI_INT, receives.data(), 1, MPI_INT, comm);
  int total = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) into[rank] = total, total += receives[rank];
  std::vector<Traveller> in(static_cast<std::size_t>(total) / sizeof(Traveller));
  MPI_Alltoallv(out.data(), sends.data(), from.data(), MPI_BYTE, in.data(), receives.data(), into.data(), MPI_BYTE,
                comm);
  return in;
}

}  // namespace

void send_tracers(Blocks& mesh) {
  int ranks = 1;
  MPI_Comm_size(mesh.comm, &ranks);
  std::vector<std::vector<Traveller>> to(static_cast<std::size_t>(ranks));
  euler::Tracers kept;
  for (std::size_t i = 0; i < mesh.carried.id.size(); ++i) {
    const auto& at = mesh.carried.position[i];
    const auto place = finest_place(mesh, at);
    if (!place) continue;
    if (leaf_at(mesh, at)) {
      kept.id.push_back(mesh.carried.id[i]);
      kept.position.push_back(at);
    } else {
      const int owner = mesh.functions->owner(mesh.forest.get(), *place);
      to[static_cast<std::size_t>(owner)].push_back({mesh.carried.id[i], at});
    }
  }
  for (const Traveller& traveller : send_travellers(mesh.comm, to)) {
    kept.id.push_back(traveller.id);
    kept.position.push_back(traveller.at);
  }
  mesh.carried = std::move(kept);
}

void move_tracers(Blocks& mesh, const euler::Move& move) {
  const auto& problem = mesh.settings.problem;
  for (auto& at : mesh.carried.position) {
    at = move(box_of(mesh, *leaf_at(mesh, at)), at);
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(mesh.shape.dim); ++axis) {
      const double lo = problem.lo[axis], hi = problem.hi[axis];
      if (periodic(mesh, axis))
        at[axis] = at[axis] < lo ? at[axis] + (hi - lo) : at[axis] >= hi ? at[axis] - (hi - lo) : at[axis];
    }
  }
  send_tracers(mesh);
}

void add_tracers(Blocks& mesh, const euler::Tracers& all) {
  for (std::size_t i = 0; i < all.id.size(); ++i)
    if (leaf_at(mesh, all.position[i])) {
      mesh.carried.id.push_back(all.id[i]);
      mesh.carried.position.push_back(all.position[i]);
    }
}

}  // namespace octavo::blocks
