#include <algorithm>

#include "apps/blocks/blocks.hpp"
#include "apps/blocks/transfer.hpp"

namespace octavo::blocks {

namespace {

using Step = std::array<int, 3>;

// The ghosts that lie a step away: from `first`, `count` cells along each axis.
struct Region {
  std::array<int, 3> first, count;
};
Region region_of(const euler::Shape& shape, const Step& step) {
  Region region{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const int n = shape.cells[axis];
    region.first[axis] = step[axis] < 0 ? -euler::ghosts : step[axis] > 0 ? n : 0;
    region.count[axis] = step[axis] == 0 ? n : euler::ghosts;
  }
  return region;
}
template <class F>
void for_each_row(const Region& region, F&& f) {
  for (int k = region.first[2]; k < region.first[2] + region.count[2]; ++k)
    for (int j = region.first[1]; j < region.first[1] + region.count[1]; ++j) f(j, k);
}

struct Source {
  const euler::Shape& shape;
  std::size_t size, variables;
};

void copy_same(const Source& how, const Step& step, const double* from, double* to) {
  const Region region = region_of(how.shape, step);
  const auto& n = how.shape.cells;
  for_each_row(region, [&](int j, int k) {
    const std::size_t into = offset_of(how.shape, region.first[0], j, k);
    const std::size_t out =
        offset_of(how.shape, region.first[0] - step[0] * n[0], j - step[1] * n[1], k - step[2] * n[2]);
    for (std::size_t v = 0; v < how.variables; ++v)
      std::copy_n(from + v * how.size + out, region.count[0], to + v * how.size + into);
  });
}

// Ghosts beside finer blocks: means of the cells that cover them.
template <class Data>
void copy_finer(const Source& how, const Step& step, const Neighbour& beside, const Data& data, double* to) {
  const Region region = region_of(how.shape, step);
  const auto& n = how.shape.cells;
  const int dim = how.shape.dim;
  for_each_row(region, [&](int j, int k) {
    for (int i = region.first[0]; i < region.first[0] + region.count[0]; ++i) {
      std::array<int, 3> at{i - step[0] * n[0], j - step[1] * n[1], k - step[2] * n[2]}, fine{0, 0, 0};
      int child = 0;
      for (int axis = 0; axis < dim; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        const int half = 2 * at[a] >= n[a] ? 1 : 0;
        child |= half << axis;
        fine[a] = 2 * at[a] - half * n[a];
      }
      const double* from = data(beside.block[static_cast<std::size_t>(child)]);
      const std::size_t into = offset_of(how.shape, i, j, k);
      const std::size_t first = offset_of(how.shape, fine[0], fine[1], fine[2]);
      for (std::size_t v = 0; v < how.variables; ++v)
        to[v * how.size + into] = mean_of_children(how.shape, from + v * how.size + first);
    }
  });
}

// The cell of a coarser neighbour that covers a ghost, in the neighbour's own numbering.
std::array<int, 3> covering(const euler::Shape& shape, const Place& place, const Step& step,
                            const std::array<int, 3>& ghost) {
  std::array<int, 3> cell{0, 0, 0};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(shape.dim); ++axis) {
    const int n = shape.cells[axis];
    // The ghost's position in the block of this level a step away, then in that one's parent.
    const int in_block = ghost[axis] - step[axis] * n;
    const int upper = (place.at[axis] + step[axis]) & 1;
    cell[axis] = (in_block + upper * n) >> 1;
  }
  return cell;
}

void copy_coarser_cells(const Source& how, const Place& place, const Step& step, const double* from, double* to) {
  const Region region = region_of(how.shape, step);
  for_each_row(region, [&](int j, int k) {
    for (int i = region.first[0]; i < region.first[0] + region.count[0]; ++i) {
      const auto cell = covering(how.shape, place, step, {i, j, k});
      const std::size_t out = offset_of(how.shape, cell[0], cell[1], cell[2]);
      const std::size_t into = offset_of(how.shape, i, j, k);
      for (std::size_t v = 0; v < how.variables; ++v) to[v * how.size + into] = from[v * how.size + out];
    }
  });
}

void interpolate_coarser(const Source& how, const euler::Gas& gas, const Place& place, const Step& step,
                         const double* from, double* to, Family& family) {
  const Region region = region_of(how.shape, step);
  const int y = how.shape.dim > 1 ? 2 : 1, z = how.shape.dim > 2 ? 2 : 1;
  for (int k = region.first[2]; k < region.first[2] + region.count[2]; k += z)
    for (int j = region.first[1]; j < region.first[1] + region.count[1]; j += y)
      for (int i = region.first[0]; i < region.first[0] + region.count[0]; i += 2) {
        const auto cell = covering(how.shape, place, step, {i, j, k});
        make_family(gas, how.shape, from, cell, family);
        put_family(how.shape, family, {i, j, k}, to);
      }
}

// Ghosts outside of the domain, axis after axis over all of the padded box, so that corners are right in the end.
void fill_edges(const Blocks& mesh, const Source& how, std::size_t leaf, double* data) {
  const int dim = how.shape.dim;
  const Place& place = mesh.places[leaf];
  for (int axis = 0; axis < dim; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const auto boundary = mesh.settings.problem.boundary[a];
    if (boundary == euler::Boundary::periodic) continue;
    const int n = how.shape.cells[a];
    for (int side = 0; side < 2; ++side) {
      if (place.at[a] != (side == 0 ? 0 : (mesh.settings.roots[a] << place.level) - 1)) continue;
      Region plane{{0, 0, 0}, {1, 1, 1}};
      for (std::size_t other = 0; other < static_cast<std::size_t>(dim); ++other) {
        plane.first[other] = -euler::ghosts;
        plane.count[other] = how.shape.cells[other] + 2 * euler::ghosts;
      }
      plane.first[a] = side == 0 ? -euler::ghosts : n;
      plane.count[a] = euler::ghosts;
      for_each_row(plane, [&](int j, int k) {
        for (int i = plane.first[0]; i < plane.first[0] + plane.count[0]; ++i) {
          std::array<int, 3> at{i, j, k};
          const int ghost = at[a];
          const bool mirror = boundary == euler::Boundary::reflecting;
          at[a] = side == 0 ? (mirror ? -1 - ghost : 0) : (mirror ? 2 * n - 1 - ghost : n - 1);
          const std::size_t into = offset_of(how.shape, i, j, k), out = offset_of(how.shape, at[0], at[1], at[2]);
          for (std::size_t v = 0; v < how.variables; ++v) {
            const bool turned = mirror && v == static_cast<std::size_t>(euler::momentum_of(axis));
            data[v * how.size + into] = turned ? -data[v * how.size + out] : data[v * how.size + out];
          }
        }
      });
    }
  }
}

template <class F>
void for_each_side(const Blocks& mesh, std::size_t leaf, F&& f) {
  const int z = mesh.shape.dim > 2 ? 1 : 0;
  const std::size_t sides = mesh.shape.dim > 2 ? 27 : 9;
  const Neighbour* beside = &mesh.neighbours[leaf * sides];
  for (int k = -z; k <= z; ++k)
    for (int j = -1; j <= 1; ++j)
      for (int i = -1; i <= 1; ++i, ++beside)
        if (i != 0 || j != 0 || k != 0) f(Step{i, j, k}, *beside);
}

void exchange(Blocks& mesh) {
  const std::size_t doubles = block_doubles(mesh);
  mesh.functions->exchange(mesh.forest.get(), reinterpret_cast<const std::byte*>(mesh.state.data()),
                           reinterpret_cast<std::byte*>(mesh.state.data() + mesh.leaves * doubles),
                           doubles * sizeof(double));
}

}  // namespace

// First everything but slopes of coarser neighbours; then, where there are any, these, for which a coarser block needs
// its own ghosts: of other ranks they are asked for once more. Finest blocks first, so that none has slopes yet when
// finer ones look at it: the result is the same, whichever rank has the block.
void fill_ghosts(Blocks& mesh) {
  const std::size_t doubles = block_doubles(mesh);
  const Source how{mesh.shape, padded_size(mesh.shape),
                   static_cast<std::size_t>(num_variables(mesh.settings.problem.gas))};
  const auto data = [&](std::int32_t place) { return mesh.state.data() + static_cast<std::size_t>(place) * doubles; };
  exchange(mesh);
  for (std::size_t leaf = 0; leaf < mesh.leaves; ++leaf) {
    double* to = mesh.state.data() + leaf * doubles;
    for_each_side(mesh, leaf, [&](const Step& step, const Neighbour& beside) {
      switch (beside.kind) {
        case Neighbour::Kind::same: copy_same(how, step, data(beside.block[0]), to); break;
        case Neighbour::Kind::finer: copy_finer(how, step, beside, data, to); break;
        case Neighbour::Kind::coarser:
          copy_coarser_cells(how, mesh.places[leaf], step, data(beside.block[0]), to);
          break;
        case Neighbour::Kind::outside: break;
      }
    });
    fill_edges(mesh, how, leaf, to);
  }
  if (!mesh.mixed) return;
  exchange(mesh);
  std::vector<std::size_t> finest_first(mesh.leaves);
  for (std::size_t leaf = 0; leaf < mesh.leaves; ++leaf) finest_first[leaf] = leaf;
  std::stable_sort(finest_first.begin(), finest_first.end(),
                   [&](std::size_t a, std::size_t b) { return mesh.places[a].level > mesh.places[b].level; });
  Family family;
  for (const std::size_t leaf : finest_first) {
    double* to = mesh.state.data() + leaf * doubles;
    bool changed = false;
    for_each_side(mesh, leaf, [&](const Step& step, const Neighbour& beside) {
      if (beside.kind != Neighbour::Kind::coarser) return;
      interpolate_coarser(how, mesh.settings.problem.gas, mesh.places[leaf], step, data(beside.block[0]), to, family);
      changed = true;
    });
    if (changed) fill_edges(mesh, how, leaf, to);
  }
}

}  // namespace octavo::blocks
