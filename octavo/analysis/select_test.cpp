#include "octavo/analysis/select.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "octavo/analysis/analysis.hpp"
#include "octavo/base/error.hpp"
#include "tests/support/random_octree.hpp"
#include "tests/support/random_region.hpp"

namespace octavo::analysis {
namespace {

using Cell = std::tuple<int, mesh::Coordinate, std::size_t>;

mesh::Header shifted_header(const mesh::Octree& tree, bool periodic) {
  mesh::Header header;
  header.dim = tree.dim;
  header.roots = tree.roots;
  header.block = tree.block;
  header.level_origin = 1;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
    header.lo[axis] = -0.5;
    header.hi[axis] = -0.5 + 0.7 * static_cast<double>(tree.roots[axis] * tree.block[axis]);
    header.periodic[axis] = periodic;
  }
  return header;
}

std::vector<Cell> selected(const mesh::Octree& tree, const mesh::Header& header, const Selection& selection) {
  std::vector<Cell> cells;
  for_each_selected(tree, header, selection, [&](const Cells& batch) {
    EXPECT_FALSE(batch.positions.empty());
    EXPECT_EQ(batch.positions.size(), batch.values.size());
    for (std::size_t k = 0; k < batch.positions.size(); ++k)
      cells.emplace_back(batch.level, batch.positions[k], batch.values[k]);
  });
  return cells;
}

/// Cell by cell, from the definition.
std::vector<Cell> expected(const mesh::Octree& tree, const mesh::Header& header, const Selection& selection) {
  std::vector<Cell> cells;
  auto at = mesh::root_coordinates(tree);
  std::size_t value = 0;
  for (int l = 0; l < mesh::num_levels(tree); ++l) {
    const auto level = static_cast<std::size_t>(l);
    for (std::size_t i = 0; i < at.size(); ++i)
      for (std::int64_t z = 0; z < tree.block[2]; ++z)
        for (std::int64_t y = 0; y < tree.block[1]; ++y)
          for (std::int64_t x = 0; x < tree.block[0]; ++x, ++value) {
            const bool leaf = !tree.refined[level][i] || l + 1 == selection.max_level;
            if (!tree.owned[level][i] || !leaf || l + 1 > selection.max_level) continue;
            const mesh::Coordinate cell{static_cast<std::uint32_t>(at[i][0] * tree.block[0] + x),
                                        static_cast<std::uint32_t>(at[i][1] * tree.block[1] + y),
                                        static_cast<std::uint32_t>(at[i][2] * tree.block[2] + z)};
            mesh::Point3 centre{};
            const mesh::Point3 size = mesh::cell_size(header, l);
            for (std::size_t a = 0; a < 3; ++a) centre[a] = (cell[a] + 0.5) * (size[a] / (header.hi[0] - header.lo[0]));
            if (!selection.region || mesh::contains(*selection.region, mesh::domain_of(header), centre))
              cells.emplace_back(l, cell, value);
          }
    if (l + 1 < mesh::num_levels(tree)) at = mesh::child_coordinates(tree, l, at);
  }
  return cells;
}

TEST(Select, cells_are_those_of_the_definition_in_tree_order) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    testing::TreeOptions options;
    options.max_cells = 3000;
    options.dim = static_cast<int>(seed % 3 + 1);
    if (seed % 4 == 0)
      for (std::size_t a = 0; a < static_cast<std::size_t>(options.dim); ++a)
        options.block[a] = 2 + static_cast<std::int64_t>(a);
    mesh::Octree tree = testing::random_octree(seed, options);
    testing::own_randomly(tree, 0.6, seed);
    const mesh::Header header = shifted_header(tree, seed % 2 == 0);
    testing::Random random(seed);
    const std::optional<mesh::Region> regions[] = {testing::random_region(random, options.dim, 2),
                                                   testing::random_region(random, options.dim, 0),
                                                   std::nullopt,
                                                   mesh::Box{{0.2, 0.1, 0.3}, {0.7, 0.6, 0.9}},
                                                   mesh::Box{{-0.3, 0.8, -0.1}, {0.2, 1.2, 0.4}},
                                                   mesh::Sphere{{0.4, 0.3, 0.6}, 0.3}};
    for (const auto& region : regions)
      for (int level : {1, 2, 3, 99}) {
        const Selection selection{region, level};
        ASSERT_EQ(selected(tree, header, selection), expected(tree, header, selection))
            << "seed " << seed << ", level " << level;
      }
  }
}

// Most groups of cells are inside or outside as a whole.
TEST(Select, groups_of_cells_are_taken_as_their_cells_are) {
  const mesh::Octree tree =
      testing::random_octree(5, {.dim = 3, .roots = {40, 24, 32}, .max_levels = 3, .max_cells = 60000});
  testing::Random random(31);
  for (int trial = 0; trial < 20; ++trial) {
    const mesh::Header header = shifted_header(tree, trial % 2 == 0);
    const Selection selection{testing::random_region(random, 3, trial % 3)};
    ASSERT_EQ(selected(tree, header, selection), expected(tree, header, selection))
        << mesh::to_string(*selection.region, 3);
  }
}

TEST(Select, a_level_limit_still_covers_every_place_once) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const mesh::Octree whole = testing::random_octree(seed);
    const mesh::Header header = shifted_header(whole, false);
    for (int limit = 1; limit <= mesh::num_levels(whole); ++limit) {
      double volume = 0;
      for (const mesh::Octree& domain : testing::random_domains(whole, 5))
        for (const auto& [level, position, value] : selected(domain, header, {std::nullopt, limit})) {
          EXPECT_LT(level, limit);
          volume += std::ldexp(1.0, -level * whole.dim);
        }
      EXPECT_DOUBLE_EQ(volume, static_cast<double>(whole.roots[0] * whole.roots[1] * whole.roots[2]));
    }
  }
}

TEST(Select, large_levels_come_in_several_batches_without_loss) {
  mesh::Octree tree;
  tree.roots = {64, 64, 32};
  tree.refined.emplace_back(64 * 64 * 32);
  tree.owned.emplace_back(64 * 64 * 32, true);
  std::size_t batches = 0, cells = 0;
  for_each_selected(tree, shifted_header(tree, false), {}, [&](const Cells& batch) {
    for (std::size_t value : batch.values) EXPECT_EQ(value, cells++);
    ++batches;
  });
  EXPECT_EQ(cells, 64U * 64 * 32);
  EXPECT_GT(batches, 1U);
}

TEST(Select, a_field_must_have_one_value_a_cell) {
  mesh::Part part;
  part.mesh = testing::random_octree(3);
  const auto kind_of = [&](const mesh::Field& field) {
    part.fields = {field};
    try {
      cell_field(part, "f");
    } catch (const base::Error& error) {
      return error.kind();
    }
    ADD_FAILURE() << "no error";
    return base::Kind::interrupted;
  };
  const std::size_t cells = mesh::num_cells(std::get<mesh::Octree>(part.mesh));
  mesh::FieldInfo info;
  info.name = "f";
  part.fields = {mesh::make_field(info, cells)};
  EXPECT_EQ(cell_field(part, "f").size(), cells);
  EXPECT_EQ(kind_of(mesh::make_field(info, cells + 1)), base::Kind::corrupt);
  info.components = 2;
  EXPECT_EQ(kind_of(mesh::make_field(info, 2 * cells)), base::Kind::unsupported);
  info.components = 1;
  info.centring = mesh::Centring::node;
  EXPECT_EQ(kind_of(mesh::make_field(info, cells)), base::Kind::unsupported);
  info.name = "g";
  EXPECT_EQ(kind_of(mesh::make_field(info, cells)), base::Kind::usage);
}

}  // namespace
}  // namespace octavo::analysis
