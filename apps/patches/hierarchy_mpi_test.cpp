#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "apps/patches/regrid.hpp"
#include "tests/support/mpi_run.hpp"

namespace octavo::patches {
namespace {

using testing::everyone;
using testing::Random;

Shape random_shape(Random& random) {
  Shape shape;
  shape.dim = static_cast<int>(1 + random.below(3));
  shape.block = 4;
  shape.max_box = shape.dim == 3 ? 8 : 16;
  shape.max_level = 2;
  shape.variables = 2;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool used = axis < static_cast<std::size_t>(shape.dim);
    shape.cells[axis] = used ? 8 + 4 * static_cast<std::int64_t>(random.below(2)) : 1;
    shape.hi[axis] = 1 + random.uniform();
    shape.boundary[axis] = random.chance(0.5) ? Boundary::periodic : Boundary::outflow;
  }
  return shape;
}

std::vector<std::vector<IndexBox>> random_levels(const Shape& shape, Random& random) {
  std::vector<Blocks> flagged(static_cast<std::size_t>(shape.max_level));
  for (std::size_t l = 0; l < flagged.size(); ++l)
    for (std::uint64_t n = random.below(4); n > 0; --n) {
      Index3 at{0, 0, 0};
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(shape.dim); ++axis)
        at[axis] = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(shape.cells[axis] / 4) << l));
      flagged[l].push_back(at);
    }
  return plan_levels(shape, flagged);
}

// The value of a cell that depends on its level and place alone, the same over periodic borders.
double noise(const Shape& shape, int level, int variable, Index3 at) {
  const IndexBox domain = domain_of(shape, level);
  std::uint64_t seed = static_cast<std::uint64_t>(level * 7 + variable);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    at[axis] = ((at[axis] % domain.hi[axis]) + domain.hi[axis]) % domain.hi[axis];
    seed = Random(seed * 31 + static_cast<std::uint64_t>(at[axis])).bits();
  }
  return Random(seed).uniform() - 0.5;
}

void set_noise(Hierarchy& mesh) {
  for_each_patch(mesh, [&](int level, Values& values, const IndexBox& box) {
    for (int v = 0; v < values.variables; ++v)
      for_each_cell(box, [&](const Index3& at) { values.at(v, at) = noise(mesh.shape, level, v, at); });
  });
}

// Linear, but constant along periodic axes.
double linear(const Shape& shape, int level, int variable, const Index3& at) {
  const mesh::Point3 width = cell_size(shape, level);
  double value = 1 + variable;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(shape.dim); ++axis)
    if (shape.boundary[axis] != Boundary::periodic)
      value += static_cast<double>(axis + 1) * (static_cast<double>(at[axis]) + 0.5) * width[axis];
  return value;
}

// Sums over leaves of all ranks, times the volume of a cell.
std::vector<double> totals(const Hierarchy& mesh, const Plans& plans) {
  std::vector<double> sums(static_cast<std::size_t>(mesh.shape.variables), 0);
  for (std::size_t l = 0; l < mesh.levels.size(); ++l) {
    const mesh::Point3 width = cell_size(mesh.shape, static_cast<int>(l));
    const double volume = width[0] * width[1] * width[2];
    for (std::size_t i = 0; i < mesh.levels[l].mine.size(); ++i)
      for (const IndexBox& leaves : without(mesh.levels[l].mine[i], plans.covered[l][i], mesh.shape.dim))
        for (int v = 0; v < mesh.shape.variables; ++v)
          for_each_cell(leaves, [&](const Index3& at) {
            sums[static_cast<std::size_t>(v)] += volume * mesh.levels[l].values[i].at(v, at);
          });
  }
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, mesh.comm);
  return sums;
}

template <class F>
void on_random_hierarchies(F&& f) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Shape shape = random_shape(random);
    f(with_boxes(make_hierarchy(everyone(), shape), random_levels(shape, random), {}), random);
  }
}

TEST(HierarchyMpi, ghosts_are_exact_on_linear_fields) {
  on_random_hierarchies([](Hierarchy mesh, Random&) {
    for_each_patch(mesh, [&](int level, Values& values, const IndexBox& box) {
      std::fill(values.data.begin(), values.data.end(), NAN);
      for (int v = 0; v < values.variables; ++v)
        for_each_cell(box, [&](const Index3& at) { values.at(v, at) = linear(mesh.shape, level, v, at); });
    });
    fill_ghosts(mesh, make_plans(mesh));
    for_each_patch(mesh, [&](int level, const Values& values, const IndexBox&) {
      // A coarse slope at the border of the domain is 0: the two fine cells beside it are not linear.
      IndexBox inner = values.box;
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(mesh.shape.dim); ++axis)
        if (mesh.shape.boundary[axis] != Boundary::periodic) {
          inner.lo[axis] = std::max<std::int64_t>(inner.lo[axis], 2);
          inner.hi[axis] = std::min(inner.hi[axis], domain_of(mesh.shape, level).hi[axis] - 2);
        }
      for (int v = 0; v < values.variables; ++v)
        for_each_cell(
            inner, [&](const Index3& at) { ASSERT_NEAR(values.at(v, at), linear(mesh.shape, level, v, at), 1e-12); });
      for (double value : values.data) ASSERT_FALSE(std::isnan(value));
    });
  });
}

TEST(HierarchyMpi, ghosts_beyond_the_domain_are_the_nearest_cell_or_its_mirror_image) {
  Shape shape;
  shape.cells = {16, 16, 1};
  shape.variables = 3;
  shape.mirrored = {1, 2, -1};
  shape.boundary = {Boundary::reflecting, Boundary::outflow, Boundary::outflow};
  Hierarchy mesh = with_boxes(make_hierarchy(everyone(), shape), {{{{0, 0, 0}, {16, 16, 1}}}}, {});
  set_noise(mesh);
  fill_ghosts(mesh, make_plans(mesh));
  for_each_patch(mesh, [&](int, const Values& values, const IndexBox& box) {
    if (box.lo[0] != 0 || box.lo[1] != 0) return;
    for (int v = 0; v < 3; ++v)
      for (std::int64_t i : {-2, -1}) {
        EXPECT_EQ(values.at(v, {i, 3, 0}), (v == 1 ? -1 : 1) * values.at(v, {-1 - i, 3, 0}));
        EXPECT_EQ(values.at(v, {3, i, 0}), values.at(v, {3, 0, 0}));
        EXPECT_EQ(values.at(v, {i, -1, 0}), (v == 1 ? -1 : 1) * values.at(v, {-1 - i, 0, 0}));
      }
  });
}

TEST(HierarchyMpi, regridding_keeps_totals_and_the_bits_of_cells_that_stay) {
  on_random_hierarchies([](Hierarchy mesh, Random& random) {
    set_noise(mesh);
    average_down(mesh, make_plans(mesh));
    const auto before = totals(mesh, make_plans(mesh));
    const Hierarchy next = with_boxes(mesh, random_levels(mesh.shape, random), {});
    const auto after = totals(next, make_plans(next));
    for (std::size_t v = 0; v < before.size(); ++v) EXPECT_NEAR(after[v], before[v], 1e-13);
    for_each_patch(next, [&](int level, const Values& values, const IndexBox& box) {
      if (level + 1 < static_cast<int>(mesh.levels.size()) || level + 1 < static_cast<int>(next.levels.size())) return;
      if (level >= static_cast<int>(mesh.levels.size())) return;
      for_each_touching(
          mesh.levels[static_cast<std::size_t>(level)].index, box, [&](std::size_t, const IndexBox& common) {
            for_each_cell(common,
                          [&](const Index3& at) { ASSERT_EQ(values.at(1, at), noise(mesh.shape, level, 1, at)); });
          });
    });
  });
}

// Fluxes that are noise on each face of each level: whatever they are, what one cell loses another one gains.
TEST(HierarchyMpi, corrected_fluxes_conserve_what_periodic_borders_keep_in) {
  on_random_hierarchies([](Hierarchy mesh, Random& random) {
    mesh.shape.boundary = {Boundary::periodic, Boundary::periodic, Boundary::periodic};
    mesh = with_boxes(make_hierarchy(everyone(), mesh.shape), random_levels(mesh.shape, random), {});
    Plans plans = make_plans(mesh);
    set_noise(mesh);
    average_down(mesh, plans);
    const auto before = totals(mesh, plans);
    const double dt = 0.01;
    for (std::size_t l = 0; l < mesh.levels.size(); ++l)
      for (std::size_t i = 0; i < mesh.levels[l].mine.size(); ++i) {
        Values& values = mesh.levels[l].values[i];
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(mesh.shape.dim); ++axis) {
          Values flux = make_values(values.box, values.variables);
          for (int v = 0; v < values.variables; ++v)
            for_each_cell(flux.box, [&](const Index3& at) {
              flux.at(v, at) = noise(mesh.shape, static_cast<int>(l), 10 + v + 2 * static_cast<int>(axis), at);
            });
          const double factor = dt / cell_size(mesh.shape, static_cast<int>(l))[axis];
          for (int v = 0; v < values.variables; ++v)
            for_each_cell(mesh.levels[l].mine[i], [&](const Index3& at) {
              Index3 upper = at;
              ++upper[axis];
              values.at(v, at) -= factor * (flux.at(v, upper) - flux.at(v, at));
            });
          if (l > 0) plans.registers[l].take_fine(i, axis, mesh.shape.dim, values, flux.data.data());
          if (l + 1 < mesh.levels.size()) plans.registers[l + 1].take_coarse(i, axis, values, flux.data.data());
        }
      }
    for (std::size_t l = mesh.levels.size(); l-- > 1;)
      correct(mesh, static_cast<int>(l), dt, plans.registers[l], mesh.levels[l - 1].values);
    average_down(mesh, plans);
    const auto after = totals(mesh, plans);
    for (std::size_t v = 0; v < before.size(); ++v) EXPECT_NEAR(after[v], before[v], 1e-13);
  });
}

TEST(HierarchyMpi, many_ranks_have_the_bits_that_one_has) {
  on_random_hierarchies([](Hierarchy mesh, Random&) {
    std::vector<std::vector<IndexBox>> finer;
    for (std::size_t l = 1; l < mesh.levels.size(); ++l) finer.push_back(mesh.levels[l].boxes);
    Hierarchy alone = with_boxes(make_hierarchy(MPI_COMM_SELF, mesh.shape), finer, {});
    std::map<std::pair<int, Index3>, double> oracle;
    for (Hierarchy* each : {&alone, &mesh}) {
      const Plans plans = make_plans(*each);
      set_noise(*each);
      average_down(*each, plans);
      fill_ghosts(*each, plans);
      for_each_patch(*each, [&](int level, const Values& values, const IndexBox&) {
        for_each_cell(values.box, [&](const Index3& at) {
          if (each == &alone) oracle[{level, at}] = values.at(1, at);
          ASSERT_EQ(values.at(1, at), (oracle[{level, at}]));
        });
      });
    }
  });
}

}  // namespace
}  // namespace octavo::patches
