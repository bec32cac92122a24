#include <algorithm>
#include <stdexcept>
#include <unordered_map>

#include "apps/blocks/blocks.hpp"
#include "apps/blocks/transfer.hpp"
#include "apps/euler/indicator.hpp"
#include "octavo/base/error.hpp"

namespace octavo::blocks {

namespace {

// The leaves before the mesh changed.
struct Before {
  std::vector<Place> places;
  std::vector<double> state;
  std::unordered_map<std::uint64_t, std::int32_t> index;
  const double* of(const Place& place, std::size_t doubles) const {
    const auto found = index.find(key_of(place));
    return found == index.end() ? nullptr : state.data() + static_cast<std::size_t>(found->second) * doubles;
  }
};

// The values of a new leaf: its own, those of its parent or of its children; all of them were on this rank.
void inherit(const Blocks& mesh, const Before& before, const Place& place, double* out) {
  const std::size_t doubles = block_doubles(mesh);
  const int dim = mesh.shape.dim;
  if (const double* same = before.of(place, doubles)) {
    std::copy_n(same, doubles, out);
  } else if (const double* parent = place.level > 0 ? before.of(parent_of(place), doubles) : nullptr) {
    refine_block(mesh.settings.problem.gas, mesh.shape, parent, number_of(place, dim), out);
  } else {
    for (int child = 0; child < 1 << dim; ++child) {
      const double* values = before.of(child_of(place, child, dim), doubles);
      if (values == nullptr) throw std::logic_error("a block has nobody to take values from");
      coarsen_block(mesh.shape, static_cast<std::size_t>(num_variables(mesh.settings.problem.gas)), values, child, out);
    }
  }
}

std::vector<int> weights_of(Blocks& mesh) {
  const int cells = mesh.shape.cells[0] * mesh.shape.cells[1] * mesh.shape.cells[2];
  std::vector<int> weights(mesh.leaves, cells);
  for (const auto& at : mesh.carried.position)
    if (const auto leaf = leaf_at(mesh, at)) weights[*leaf] += 4;  // a tracer costs about as much as four cells
  return weights;
}

// Leaves go where p4est deals them out to, with their values.
void deal(Blocks& mesh) {
  const std::size_t doubles = block_doubles(mesh);
  const auto before = mesh.functions->deal(mesh.forest.get(), weights_of(mesh));
  std::vector<double> old = std::move(mesh.state);
  mesh.state = std::vector<double>(mesh.functions->leaves(mesh.forest.get()).size() * doubles);
  mesh.functions->transfer(mesh.forest.get(), before, old.data(), mesh.state.data(), doubles * sizeof(double));
}

}  // namespace

bool adapt(Blocks& mesh, std::span<const Wish> wishes) {
  const std::size_t doubles = block_doubles(mesh);
  mesh.functions->adapt(mesh.forest.get(), wishes);
  const auto leaves = mesh.functions->leaves(mesh.forest.get());
  int changed = std::equal(leaves.begin(), leaves.end(), mesh.places.begin(),
                           mesh.places.begin() + static_cast<std::ptrdiff_t>(mesh.leaves))
                    ? 0
                    : 1;
  MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT, MPI_MAX, mesh.comm);
  if (changed == 0) return false;
  Before before{
      {mesh.places.begin(), mesh.places.begin() + static_cast<std::ptrdiff_t>(mesh.leaves)}, std::move(mesh.state), {}};
  for (std::size_t i = 0; i < before.places.size(); ++i)
    before.index.emplace(key_of(before.places[i]), static_cast<std::int32_t>(i));
  mesh.state = std::vector<double>(leaves.size() * doubles);
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf)
    inherit(mesh, before, leaves[leaf], mesh.state.data() + leaf * doubles);
  set_leaves(mesh, leaves);
  deal(mesh);
  rebuild(mesh);
  send_tracers(mesh);
  return true;
}

void set_leaves(Blocks& mesh, const std::vector<Place>& leaves) {
  mesh.places = leaves;
  mesh.leaves = leaves.size();
  mesh.index.clear();
  for (std::size_t i = 0; i < leaves.size(); ++i) mesh.index.emplace(key_of(leaves[i]), static_cast<std::int32_t>(i));
}

void settle(Blocks& mesh) {
  deal(mesh);
  const auto leaves = mesh.functions->leaves(mesh.forest.get());
  mesh.functions->adapt(mesh.forest.get(), std::vector<Wish>(leaves.size(), Wish::stay));
  int unbalanced = mesh.functions->leaves(mesh.forest.get()) == leaves ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &unbalanced, 1, MPI_INT, MPI_MAX, mesh.comm);
  if (unbalanced != 0)
    throw base::Error(base::Kind::unsupported, "blocks beside each other in the checkpoint differ by more than a level")
        .hint("octavo convert CHECKPOINT NEW --to flash --fill makes one that is balanced");
  rebuild(mesh);
  send_tracers(mesh);
}

bool regrid(Blocks& mesh, const euler::Indicate& indicate) {
  std::vector<Wish> wishes(mesh.leaves, Wish::stay);
  std::vector<double> value(padded_size(mesh.shape));
  for_each_box(mesh, [&](euler::Box& box) {
    indicate(box, value);
    const double most = *std::max_element(value.begin(), value.end());
    if (most > euler::refine_above && box.level < mesh.settings.max_level) wishes[box.index] = Wish::refine;
    if (most < euler::coarsen_below && box.level > 0) wishes[box.index] = Wish::coarsen;
    if (box.level > mesh.settings.max_level) wishes[box.index] = Wish::coarsen;  // restarted on fewer levels
  });
  return adapt(mesh, wishes);
}

}  // namespace octavo::blocks
