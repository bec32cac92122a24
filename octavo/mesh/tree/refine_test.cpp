#include "octavo/mesh/tree/refine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "octavo/base/error.hpp"
#include "octavo/mesh/boxes.hpp"
#include "tests/support/cell_map.hpp"
#include "tests/support/is_long.hpp"
#include "tests/support/random_octree.hpp"
#include "tests/support/restrict_to_parents.hpp"

namespace octavo::mesh {
namespace {

using octavo::testing::AllCells;
using octavo::testing::CellAt;
using octavo::testing::cells_of_step;
using octavo::testing::Random;

constexpr std::array<double, 3> edge{1, 0.5, 2};

AllCells cells(const Part& part, const std::string& name) {
  return cells_of_step(octavo::testing::step_of({}, {part}), name);
}

std::string half(std::size_t axis, bool high) { return std::string("b") + "xyz"[axis] + (high ? "_right" : "_left"); }

/// Blocks that are refined here and there, with a random cell field.
Part cells_part(std::uint64_t seed, int dim, std::int64_t side, int levels = 3) {
  Part part;
  part.mesh = octavo::testing::random_octree(seed, {.dim = dim,
                                                    .roots = {2, 2, 2},
                                                    .block = {side, dim > 1 ? side : 1, dim > 2 ? side : 1},
                                                    .max_levels = levels,
                                                    .refine = 0.4,
                                                    .max_cells = 40});
  const Octree& tree = octree_of(part);
  Field field = make_field({"u", "", ScalarType::float64, Centring::cell, 1, 0}, num_cells(tree) * block_size(tree));
  Random random(seed);
  for (double& value : field.as<double>()) value = random.uniform() - 0.25;
  part.fields.push_back(std::move(field));
  return part;
}

/// A field without divergence: the discrete curl of a smooth potential, each face's value from its edges' on its level
/// (2-D: a potential on corners), and means on coarser levels.
double potential(std::size_t axis, double x, double y, double z) {
  return std::sin(5 * x + static_cast<double>(axis)) * std::cos(3 * y) + std::sin(4 * z + 2 * x) + 0.3 * y * z;
}

double face_value(int dim, std::size_t axis, const std::array<double, 3>& low, const std::array<double, 3>& h) {
  const std::size_t t = (axis + 1) % 3, u = (axis + 2) % 3;
  const auto at = [&](std::size_t of, double ft, double fu) {
    std::array<double, 3> x = low;
    x[t] += ft * h[t];
    x[u] += fu * h[u];
    // The mean of the potential along an edge. The difference of a primitive would be exact. We take the value in the
    // middle: all faces at the edge share it, so it cancels. Finer edges have other values; parents get means.
    if (dim == 3) x[of] += h[of] / 2;
    return potential(of, x[0], x[1], dim > 2 ? x[2] : 0);
  };
  if (dim == 2) {  // potential along z only
    if (axis == 0) return (at(2, 1, 0) - at(2, 0, 0)) / h[1];
    return -(at(2, 0, 1) - at(2, 0, 0)) / h[0];
  }
  return (at(u, 1, 0) - at(u, 0, 0)) / h[t] - (at(t, 0, 1) - at(t, 0, 0)) / h[u];
}

std::array<double, 3> edges_at(const CellAt& at, const Octree& tree) {
  std::array<double, 3> h = edge;
  for (double& e : h) e *= static_cast<double>(tree.roots[0] * tree.block[0]) / static_cast<double>(at[0]) / 16;
  return h;
}

/// Whole on its levels; the root level alone, so that it is without divergence everywhere.
Part faces_part(std::uint64_t seed, int dim, std::int64_t side) {
  Part part = cells_part(seed, dim, side, 1);
  const Octree& tree = octree_of(part);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    for (const bool high : {false, true}) {
      const auto centring = static_cast<Centring>(axis + 1);
      Field field = make_field({half(axis, high), "", ScalarType::float64, centring, 1, 0}, part.fields[0].size());
      std::size_t k = 0;
      for (const Coordinate& block : root_coordinates(tree))
        for_each_row(cells_of(tree, block), [&](const Index3& row, std::int64_t n) {
          for (std::int64_t x = 0; x < n; ++x, ++k) {
            const std::array<double, 3> h = edges_at({tree.roots[0] * tree.block[0], 0, 0, 0}, tree);
            Index3 face{row[0] + x, row[1], row[2]};
            if (high) ++face[axis];
            std::array<double, 3> low{};
            for (std::size_t a = 0; a < 3; ++a) low[a] = static_cast<double>(face[a]) * h[a];
            field.as<double>()[k] = face_value(dim, axis, low, h);
          }
        });
      part.fields.push_back(std::move(field));
    }
  return part;
}

struct Divergence {
  double worst = 0, scale = 0;
};
Divergence divergence(const Part& part) {
  const Octree& tree = octree_of(part);
  std::vector<std::array<AllCells, 2>> halves;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis)
    halves.push_back({cells(part, half(axis, false)), cells(part, half(axis, true))});
  Divergence out;
  for (const auto& entry : halves[0][0].all) {
    const CellAt& at = entry.first;
    const std::array<double, 3> h = edges_at(at, tree);
    double sum = 0;
    for (std::size_t axis = 0; axis < halves.size(); ++axis) {
      sum += (halves[axis][1].all.at(at) - halves[axis][0].all.at(at)) / h[axis];
      out.scale = std::max(out.scale, std::abs(halves[axis][1].all.at(at)) / h[axis]);
    }
    out.worst = std::max(out.worst, std::abs(sum));
  }
  return out;
}

/// Both sides of each face between cells of one level have the same value, to the bit where nothing else is said.
void expect_shared_faces_agree(const Part& part, double tolerance = 0) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(octree_of(part).dim); ++axis) {
    const AllCells left = cells(part, half(axis, false)), right = cells(part, half(axis, true));
    std::size_t shared = 0;
    for (const auto& [at, value] : right.all) {
      CellAt beyond = at;
      ++beyond[axis + 1];
      const auto found = left.all.find(beyond);
      if (found == left.all.end()) continue;
      ASSERT_LE(std::abs(found->second - value), tolerance) << "axis " << axis;
      ++shared;
    }
    EXPECT_GT(shared, 10u);
  }
}

std::function<bool(int, const Coordinate&)> one_in_two(std::uint64_t seed) {
  return [seed](int level, const Coordinate& at) {
    return Random(seed + 7 * at[0] + 31 * at[1] + 101 * at[2] + static_cast<std::uint64_t>(level)).below(2) == 0;
  };
}

TEST(RefineLeaves, keeps_every_value_and_the_mean_of_children_is_their_cells) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const int dim = 1 + static_cast<int>(seed % 3);
    const Part before = cells_part(seed, dim, seed % 2 == 0 ? 4 : 1);
    const Part after = refine_leaves(before);
    validate(octree_of(after));
    const AllCells old = cells(before, "u"), now = cells(after, "u");
    EXPECT_EQ(now.leaves.size(), old.leaves.size() << dim);
    for (const auto& [at, value] : old.all) ASSERT_EQ(now.all.at(at), value);
    std::map<CellAt, double> sum;
    for (const auto& [at, value] : now.leaves) sum[{at[0] / 2, at[1] / 2, at[2] / 2, at[3] / 2}] += value;
    for (const auto& [at, value] : sum)
      ASSERT_NEAR(value / std::pow(2.0, dim), old.leaves.at(at), 1e-15) << "of values below 1";
  }
}

TEST(RefineLeaves, no_child_is_outside_of_its_cell_and_its_face_neighbours) {
  std::size_t sloped = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const int dim = 1 + static_cast<int>(seed % 3);
    const Part before = cells_part(seed + 50, dim, 4);
    const AllCells old = cells(before, "u"), now = cells(refine_leaves(before), "u");
    for (const auto& [at, value] : now.leaves) {
      const CellAt up{at[0] / 2, at[1] / 2, at[2] / 2, at[3] / 2};
      double low = old.all.at(up), high = low;
      sloped += value != low;
      for (std::size_t axis = 1; axis <= static_cast<std::size_t>(dim); ++axis)
        for (const std::int64_t step : {-1, 1}) {
          CellAt beside = up;
          beside[axis] += step;
          const auto found = now.all.find(beside);  // which may itself be a computed one
          if (found == now.all.end()) continue;
          low = std::min(low, found->second);
          high = std::max(high, found->second);
        }
      ASSERT_GE(value, low);
      ASSERT_LE(value, high);
    }
  }
  EXPECT_GT(sloped, 100u);
}

TEST(RefineLeaves, linear_data_stay_linear_inside) {
  Part part = cells_part(3, 2, 8, 1);
  const Octree tree = octree_of(part);
  std::size_t k = 0;
  for (const Coordinate& block : root_coordinates(tree))
    for_each_row(cells_of(tree, block), [&](const Index3& row, std::int64_t n) {
      for (std::int64_t x = 0; x < n; ++x, ++k)
        part.fields[0].as<double>()[k] = 4.0 * static_cast<double>(row[0] + x) - 8.0 * static_cast<double>(row[1]);
    });
  for (const auto& [at, value] : cells(refine_leaves(part), "u").leaves) {
    if (std::min(at[1], at[2]) < 2 || std::max(at[1], at[2]) >= at[0] - 2) continue;
    EXPECT_EQ(value, 2.0 * (static_cast<double>(at[1]) - 0.5) - 4.0 * (static_cast<double>(at[2]) - 0.5));
  }
}

TEST(RefineLeaves, faces_stay_without_divergence_through_two_refinements_and_back) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const int dim = 2 + static_cast<int>(seed % 2);
    if (seed == 1 && !octavo::testing::is_long()) continue;  // 3-D, the larger one
    const Part coarse = faces_part(seed, dim, seed < 2 ? 4 : 2);
    const Divergence start = divergence(coarse);
    ASSERT_LT(start.worst, 1e-13 * start.scale);
    FillOptions options;
    options.edge = edge;
    // First cells here and there, then cells next to fine ones, then all cells.
    const Part once = refine_leaves(coarse, options, one_in_two(seed));
    const Part twice = refine_leaves(once, options, one_in_two(seed + 9));
    Part all = refine_leaves(twice, options);
    ASSERT_GE(num_levels(octree_of(all)), 4);
    for (const Part* part : {&once, &twice, static_cast<const Part*>(&all)}) {
      const Divergence found = divergence(*part);
      EXPECT_LT(found.worst, 1e-13 * found.scale);
      expect_shared_faces_agree(*part);
    }
    // The flux of a coarse face is the sum of the fluxes of the fine faces on it.
    restrict_to_parents(all);
    const Divergence back = divergence(all);
    EXPECT_LT(back.worst, 1e-13 * back.scale);
    expect_shared_faces_agree(all, 1e-15 * start.scale);  // a mean beside a leaf's own value
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
      const AllCells before = cells(coarse, half(axis, true)), after = cells(all, half(axis, true));
      for (const auto& [at, value] : before.all) ASSERT_NEAR(after.all.at(at), value, 1e-14 * start.scale);
    }
  }
}

TEST(RefineLeaves, half_a_vector_on_faces_is_refused) {
  Part part = faces_part(1, 2, 4);
  part.fields.pop_back();
  EXPECT_THROW(refine_leaves(part), base::Error);
  part.fields.resize(3);  // one axis only
  EXPECT_THROW(refine_leaves(part), base::Error);
  part.fields.resize(1);
  EXPECT_NO_THROW(refine_leaves(part));
}

}  // namespace
}  // namespace octavo::mesh
