#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "apps/blocks/blocks.hpp"
#include "apps/blocks/transfer.hpp"

namespace octavo::blocks {

namespace {

// Refined blocks that this rank answers for, and where their values are in the state: behind all places.
struct Parents {
  std::vector<Place> places;  // finest first
  std::unordered_map<std::uint64_t, std::size_t> slot;
};

constexpr std::uint32_t nowhere = engine::ArrayView::nowhere;

int rank_of(const Blocks& mesh, const Place& place) { return mesh.functions->owner(mesh.forest.get(), place); }

std::unordered_set<std::uint64_t> ancestors_of(const Blocks& mesh, std::vector<Place>& list) {
  std::unordered_set<std::uint64_t> keys;
  for (std::size_t leaf = 0; leaf < mesh.leaves; ++leaf)
    for (Place place = mesh.places[leaf]; place.level > 0;) {
      place = parent_of(place);
      if (!keys.insert(key_of(place)).second) break;
      list.push_back(place);
    }
  std::stable_sort(list.begin(), list.end(), [](const Place& a, const Place& b) { return a.level > b.level; });
  return keys;
}

// A child's share of its parent, as it travels.
struct Share {
  Place child;
  std::vector<double> values;  // of the child's cells, coarsened; all variables
};

std::vector<double> coarsened(const Blocks& mesh, const double* child, std::vector<double>& scratch, int number) {
  const auto variables = static_cast<std::size_t>(num_variables(mesh.settings.problem.gas));
  const std::size_t size = padded_size(mesh.shape);
  scratch.resize(variables * size);
  coarsen_block(mesh.shape, variables, child, number, scratch.data());
  std::vector<double> values;
  std::array<int, 3> from{0, 0, 0}, half{1, 1, 1};
  for (int axis = 0; axis < mesh.shape.dim; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    half[a] = mesh.shape.cells[a] / 2;
    from[a] = ((number >> axis) & 1) * half[a];
  }
  for (std::size_t v = 0; v < variables; ++v)
    for (int k = 0; k < half[2]; ++k)
      for (int j = 0; j < half[1]; ++j) {
        const double* row = scratch.data() + v * size + offset_of(mesh.shape, from[0], from[1] + j, from[2] + k);
        values.insert(values.end(), row, row + half[0]);
      }
  return values;
}

void place_share(const Blocks& mesh, const Share& share, double* parent) {
  const auto variables = static_cast<std::size_t>(num_variables(mesh.settings.problem.gas));
  const std::size_t size = padded_size(mesh.shape);
  const int number = number_of(share.child, mesh.shape.dim);
  std::array<int, 3> into{0, 0, 0}, half{1, 1, 1};
  for (int axis = 0; axis < mesh.shape.dim; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    half[a] = mesh.shape.cells[a] / 2;
    into[a] = ((number >> axis) & 1) * half[a];
  }
  const double* next = share.values.data();
  for (std::size_t v = 0; v < variables; ++v)
    for (int k = 0; k < half[2]; ++k)
      for (int j = 0; j < half[1]; ++j, next += half[0])
        std::copy_n(next, half[0], parent + v * size + offset_of(mesh.shape, into[0], into[1] + j, into[2] + k));
}

// Collective. Each share goes to the rank that answers for the parent.
std::vector<Share> send_shares(const Blocks& mesh, const std::vector<std::vector<Share>>& to) {
  const std::size_t ranks = to.size();
  std::vector<std::vector<std::byte>> out(ranks);
  std::vector<int> sends(ranks), receives(ranks), from(ranks, 0), into(ranks, 0);
  std::vector<std::byte> all;
  std::size_t doubles = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    from[rank] = static_cast<int>(all.size());
    for (const Share& share : to[rank]) {
      const auto* head = reinterpret_cast<const std::byte*>(&share.child);
      const auto* body = reinterpret_cast<const std::byte*>(share.values.data());
      all.insert(all.end(), head, head + sizeof(Place));
      all.insert(all.end(), body, body + share.values.size() * sizeof(double));
    }
    sends[rank] = static_cast<int>(all.size()) - from[rank];
  }
  MPI_Alltoall(sends.data(), 1, MPI_INT, receives.data(), 1, MPI_INT, mesh.comm);
  int total = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    into[rank] = total;
    total += receives[rank];
  }
  std::vector<std::byte> in(static_cast<std::size_t>(total));
  MPI_Alltoallv(all.data(), sends.data(), from.data(), MPI_BYTE, in.data(), receives.data(), into.data(), MPI_BYTE,
                mesh.comm);
  doubles = static_cast<std::size_t>(num_variables(mesh.settings.problem.gas));
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(mesh.shape.dim); ++axis)
    doubles *= static_cast<std::size_t>(mesh.shape.cells[axis] / 2);
  const std::size_t bytes = sizeof(Place) + doubles * sizeof(double);
  std::vector<Share> shares(in.size() / bytes);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    std::memcpy(&shares[i].child, in.data() + i * bytes, sizeof(Place));
    shares[i].values.resize(doubles);
    std::memcpy(shares[i].values.data(), in.data() + i * bytes + sizeof(Place), doubles * sizeof(double));
  }
  return shares;
}

// Collective. Means of children, level by level from the finest; the values of a refined block do not depend on who
// has its children.
void fill_parents(Blocks& mesh, const Parents& parents) {
  int ranks = 1, self = 0;
  MPI_Comm_size(mesh.comm, &ranks);
  MPI_Comm_rank(mesh.comm, &self);
  const std::size_t doubles = block_doubles(mesh);
  std::vector<double> scratch;
  for (int level = num_levels(mesh) - 1; level > 0; --level) {
    std::vector<std::vector<Share>> to(static_cast<std::size_t>(ranks));
    const auto give = [&](const Place& child, std::size_t slot) {
      if (child.level != level) return;
      const int number = number_of(child, mesh.shape.dim);
      Share share{child, coarsened(mesh, mesh.state.data() + slot * doubles, scratch, number)};
      const int rank = rank_of(mesh, parent_of(child));
      if (rank == self)
        place_share(mesh, share, mesh.state.data() + parents.slot.at(key_of(parent_of(child))) * doubles);
      else
        to[static_cast<std::size_t>(rank)].push_back(std::move(share));
    };
    for (std::size_t leaf = 0; leaf < mesh.leaves; ++leaf) give(mesh.places[leaf], leaf);
    for (const Place& parent : parents.places) give(parent, parents.slot.at(key_of(parent)));
    for (const Share& share : send_shares(mesh, to))
      place_share(mesh, share, mesh.state.data() + parents.slot.at(key_of(parent_of(share.child))) * doubles);
  }
}

// Roots in the tree's order: x fastest.
std::vector<Place> roots_of(const Blocks& mesh) {
  std::vector<Place> roots;
  const auto& n = mesh.settings.roots;
  for (int k = 0; k < n[2]; ++k)
    for (int j = 0; j < n[1]; ++j)
      for (int i = 0; i < n[0]; ++i) roots.push_back({0, {i, j, k}});
  return roots;
}

}  // namespace

mesh::Octree make_tree(Blocks& mesh) {
  int self = 0;
  MPI_Comm_rank(mesh.comm, &self);
  std::vector<Place> above;
  const auto ancestors = ancestors_of(mesh, above);
  Parents parents;
  for (const Place& place : above)
    if (rank_of(mesh, place) == self) {
      parents.slot.emplace(key_of(place), mesh.places.size() + parents.places.size());
      parents.places.push_back(place);
    }
  mesh.state.resize((mesh.places.size() + parents.places.size()) * block_doubles(mesh));
  fill_parents(mesh, parents);

  mesh::Octree tree;
  tree.dim = mesh.shape.dim;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    tree.roots[axis] = mesh.settings.roots[axis];
    tree.block[axis] = mesh.shape.cells[axis];
  }
  mesh.order.clear();
  mesh.derived.clear();
  for (std::vector<Place> level = roots_of(mesh), next; !level.empty(); level = std::move(next), next.clear()) {
    base::BitArray refined(level.size()), owned(level.size());
    for (std::size_t i = 0; i < level.size(); ++i) {
      const std::uint64_t key = key_of(level[i]);
      std::size_t slot = nowhere;  // others have it
      if (ancestors.contains(key)) {
        refined.set(i);
        if (const auto own = parents.slot.find(key); own != parents.slot.end()) slot = own->second;
        for (int child = 0; child < 1 << tree.dim; ++child) next.push_back(child_of(level[i], child, tree.dim));
      } else if (const auto leaf = mesh.index.find(key);
                 leaf != mesh.index.end() && static_cast<std::size_t>(leaf->second) < mesh.leaves) {
        slot = static_cast<std::size_t>(leaf->second);
      }
      if (slot != nowhere) owned.set(i);
      mesh.order.push_back(static_cast<std::uint32_t>(slot));
    }
    tree.refined.push_back(std::move(refined));
    tree.owned.push_back(std::move(owned));
  }
  return tree;
}

mesh::Header header_of(const Blocks& mesh) {
  const auto& problem = mesh.settings.problem;
  mesh::Header header;
  header.code = "octavo-" + problem.name;
  header.dim = mesh.shape.dim;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    header.roots[axis] = mesh.settings.roots[axis];
    header.block[axis] = mesh.shape.cells[axis];
    header.lo[axis] = problem.lo[axis];
    header.hi[axis] = problem.hi[axis];
    header.periodic[axis] =
        axis < static_cast<std::size_t>(header.dim) && problem.boundary[axis] == euler::Boundary::periodic;
  }
  return header;
}

engine::ArrayView view_in_place(const Blocks& mesh, int variable) {
  engine::ArrayView view;
  view.data = mesh.state.data() + static_cast<std::size_t>(variable) * padded_size(mesh.shape);
  view.cells = mesh.order.size();
  view.ghost = euler::ghosts;
  for (std::size_t axis = 0; axis < 3; ++axis) view.block[axis] = mesh.shape.cells[axis];
  view.stride = {static_cast<std::int64_t>(block_doubles(mesh)), 1, static_cast<std::int64_t>(stride_of(mesh.shape, 1)),
                 static_cast<std::int64_t>(stride_of(mesh.shape, 2)), 1};
  view.order = mesh.order;
  return view;
}

engine::ArrayView view_computed(Blocks& mesh, const euler::OutputField& field) {
  const std::size_t size = padded_size(mesh.shape), doubles = block_doubles(mesh);
  const std::size_t cells = static_cast<std::size_t>(mesh.shape.cells[0]) *
                            static_cast<std::size_t>(mesh.shape.cells[1]) *
                            static_cast<std::size_t>(mesh.shape.cells[2]);
  const auto others = static_cast<std::size_t>(std::count(mesh.order.begin(), mesh.order.end(), nowhere));
  std::vector<double>& out = mesh.derived.emplace_back((mesh.order.size() - others) * cells);
  double* next = out.data();
  mesh.derived_order.clear();
  for (const std::uint32_t slot : mesh.order) {
    mesh.derived_order.push_back(
        slot == nowhere ? nowhere : static_cast<std::uint32_t>(next - out.data()) / static_cast<std::uint32_t>(cells));
    if (slot == nowhere) continue;
    const double* state = mesh.state.data() + slot * doubles;
    euler::for_each_cell(mesh.shape, [&](int i, int j, int k) {
      *next++ = field.compute(state + offset_of(mesh.shape, i, j, k), size);
    });
  }
  engine::ArrayView view;
  view.data = out.data();
  view.cells = mesh.order.size();
  view.order = mesh.derived_order;
  for (std::size_t axis = 0; axis < 3; ++axis) view.block[axis] = mesh.shape.cells[axis];
  return view;
}

engine::ArrayView view_of_tracers(Blocks& mesh, std::size_t axis) {
  std::vector<double>& out = mesh.derived.emplace_back();
  for (const auto& at : mesh.carried.position) out.push_back(at[axis]);
  return engine::view_of(std::span<const double>(out));
}

}  // namespace octavo::blocks
