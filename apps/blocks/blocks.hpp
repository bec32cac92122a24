#pragma once
#include <mpi.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "apps/blocks/forest.hpp"
#include "apps/euler/advance.hpp"
#include "apps/euler/fields.hpp"
#include "apps/euler/problems.hpp"
#include "apps/euler/tracers.hpp"
#include "octavo/engine/restart/restart.hpp"

namespace octavo::blocks {

/// The properties of a mesh of blocks that never change.
struct Settings {
  euler::Problem problem;
  std::array<int, 3> roots{4, 4, 4};  ///< blocks of level 0 along each axis; beyond dim not looked at
  int block = 8;                      ///< cells of a block along each axis: even, at least 4
  int max_level = 3;                  ///< 0: the roots alone
};
/// Throws Error(usage) naming what cannot be.
void check(const Settings& settings);

/// Who is at one of the 3^dim - 1 sides and corners of a leaf.
struct Neighbour {
  enum class Kind : std::uint8_t { outside, same, coarser, finer } kind = Kind::outside;
  std::array<std::int32_t, 8> block{};  ///< finer: by child number, -1 where it does not touch
};

/// A tree of blocks of equal numbers of cells on p4est, each rank having a stretch of the leaves along the curve. What
/// the driver asks of a mesh (apps/euler/README.md) is below.
struct Blocks {
  MPI_Comm comm = MPI_COMM_NULL;
  Settings settings;
  euler::Shape shape;  ///< of each block
  const ForestFunctions* functions = nullptr;
  std::unique_ptr<Forest, void (*)(Forest*)> forest{nullptr, nullptr};

  std::size_t leaves = 0;                                 ///< of this rank
  std::vector<Place> places;                              ///< leaves, then those of other ranks beside them
  std::unordered_map<std::uint64_t, std::int32_t> index;  ///< of `places`, by key
  std::vector<Neighbour> neighbours;                      ///< 3^dim a leaf, x fastest; the middle one is itself
  bool mixed = false;                                     ///< some rank has leaves of two levels side by side
  std::vector<double> state;   ///< a padded box of all variables for each place; then what output needs
  std::vector<double> fluxes;  ///< through the sides of each place, see fluxes.cpp
  euler::Tracers carried;
  std::vector<std::vector<double>> derived;  ///< arrays that a writer has not read yet
  std::vector<std::uint32_t> order;          ///< of the tree: where in `state` a block is, if this rank has it
  std::vector<std::uint32_t> derived_order;  ///< and in `derived`
};

/// Collective. The roots, without values. Throws Error(usage).
Blocks make_blocks(MPI_Comm comm, const Settings& settings);

/// Doubles of one block: all variables with ghosts.
std::size_t block_doubles(const Blocks& mesh);
euler::Box box_of(Blocks& mesh, std::size_t place);
/// The leaf of this rank that holds a point.
std::optional<std::size_t> leaf_at(const Blocks& mesh, const euler::Point3& at);
/// Collective. Places, neighbours and memory for the leaves that the forest now has; values of leaves are kept if
/// there are as many as before.
void rebuild(Blocks& mesh);
/// Collective. Coarsens, refines, balances, deals out; values and tracers follow. Ghosts must be filled in. Whether
/// anything changed.
bool adapt(Blocks& mesh, std::span<const Wish> wishes);
/// The leaves of this rank, before they are dealt out and neighbours are known.
void set_leaves(Blocks& mesh, const std::vector<Place>& leaves);
/// Collective. After leaves and values have been set from outside: deals them out and makes all that follows from them.
/// Throws Error(unsupported) where neighbours differ by more than a level.
void settle(Blocks& mesh);
/// Collective. Each tracer goes to the rank that has its leaf; those outside of the domain vanish.
void send_tracers(Blocks& mesh);

template <class F>
void for_each_box(Blocks& mesh, F&& f) {
  for (std::size_t leaf = 0; leaf < mesh.leaves; ++leaf) {
    euler::Box box = box_of(mesh, leaf);
    f(box);
  }
}
template <class F>
void for_each_leaf_cell(Blocks& mesh, F&& f) {
  for_each_box(mesh, [&](euler::Box& box) {
    euler::for_each_cell(box.shape,
                         [&](int i, int j, int k) { f(box, euler::offset_of(box.shape, i, j, k), i, j, k); });
  });
}
void fill_ghosts(Blocks& mesh);
void keep_fluxes(Blocks& mesh, const euler::Box& box, const euler::Workspace& workspace, double dt);
void correct_fluxes(Blocks& mesh, double dt);
bool regrid(Blocks& mesh, const euler::Indicate& indicate);
void move_tracers(Blocks& mesh, const euler::Move& move);
void add_tracers(Blocks& mesh, const euler::Tracers& all);
inline const euler::Tracers& tracers(const Blocks& mesh) { return mesh.carried; }
int num_levels(const Blocks& mesh);
mesh::Header header_of(const Blocks& mesh);
engine::RestartOptions restart_options(const Blocks& mesh);
void restore(Blocks& mesh, const engine::Restart& restart);

/// Collective. The tree of this rank's leaves and of the cells above them; refined blocks that this rank owns (it has
/// their lower corner) get means. `mesh.order` says where each tree cell's values are in `mesh.state`.
mesh::Octree make_tree(Blocks& mesh);

/// Collective, but for the writer's puts. Arrays stay until the next call.
template <class W>
void put_mesh_and_fields(Blocks& mesh, W& writer, std::span<const euler::OutputField> fields);

}  // namespace octavo::blocks

#include "apps/blocks/output.inc"
