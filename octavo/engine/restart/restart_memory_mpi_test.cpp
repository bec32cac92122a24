#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/step/counted_memory.hpp"
#include "octavo/mesh/boxes.hpp"
#include "tests/support/is_long.hpp"
#include "tests/support/mpi_run.hpp"

/// A rank that restarts takes little more memory than its share. OCTAVO_TEST_EDGE=256 measures a grid of 134 MB.
namespace octavo::engine {
namespace {

using mesh::Index3;
using testing::everyone;
using testing::rank;

// Cells of the grid along each axis.
std::int64_t edge = 128;

void set_edge(std::int64_t cells) {
  const char* text = std::getenv("OCTAVO_TEST_EDGE");
  edge = text == nullptr ? cells : std::atoll(text);
}

/// How the cells of the grid are stored.
struct Layout {
  const char* name;
  std::int64_t block;  // cells a block
  int refined;         // levels below the roots
};
constexpr Layout cells{"cells", 1, 0}, blocks{"blocks", 16, 0}, tree{"refined cells", 1, 1};

mesh::Header header_of(const Layout& layout) {
  mesh::Header header;
  header.code = "test";
  const std::int64_t roots = edge / layout.block >> layout.refined;
  header.roots = {roots, roots, roots};
  header.block = {layout.block, layout.block, layout.block};
  header.fields = {{"density", "", mesh::ScalarType::float64, mesh::Centring::cell, 1, 0}};
  return header;
}

double value_at(int level, const Index3& at) {
  const double x = static_cast<double>(at[0]), y = static_cast<double>(at[1]), z = static_cast<double>(at[2]);
  return level + std::sin(0.1 * x + 0.07 * y) + 1e-6 * z + 1e-3 * y;
}

// Calls f(level, position of a value's cell, value) in the tree's order.
template <class F>
void for_each_value(mesh::Part& part, F&& f) {
  const auto& octree = std::get<mesh::Octree>(part.mesh);
  auto values = part.fields.at(0).as<double>();
  auto corners = root_coordinates(octree);
  std::size_t next = 0;
  for (int level = 0; level < num_levels(octree); ++level) {
    if (level > 0) corners = child_coordinates(octree, level - 1, corners);
    for (const mesh::Coordinate& corner : corners)
      mesh::for_each_row({{0, 0, 0}, octree.block}, [&](const Index3& row, std::int64_t length) {
        for (std::int64_t x = 0; x < length; ++x)
          f(level,
            Index3{corner[0] * octree.block[0] + x, corner[1] * octree.block[1] + row[1],
                   corner[2] * octree.block[2] + row[2]},
            values[next++]);
      });
  }
}

// Slabs across z.
mesh::Part part_of(const mesh::Header& header, const Layout& layout, int index, int parts) {
  mesh::Octree octree;
  octree.roots = header.roots;
  octree.block = header.block;
  const std::int64_t slab = header.roots[2] / parts, layer = header.roots[0] * header.roots[1];
  if (parts > 1) hold(octree, {{layer * slab * index, layer * slab * (index + 1)}});
  std::size_t count = static_cast<std::size_t>(layer * slab), all = 0;
  for (int level = 0; level <= layout.refined; ++level, count *= 8) {
    octree.refined.emplace_back(count, level < layout.refined);
    octree.owned.emplace_back(count, true);
    all += count;
  }
  mesh::Part part{index, {}, {mesh::make_field(header.fields[0], all * block_size(octree))}, {}};
  part.mesh = std::move(octree);
  for_each_value(part, [](int level, const Index3& at, double& value) { value = value_at(level, at); });
  return part;
}

void write(const std::filesystem::path& store, const Layout& layout, int parts, codec::Method method) {
  if (rank() == 0) {
    const mesh::Header header = header_of(layout);
    store::SegmentPlan plan;
    plan.store = store;
    plan.flow = store::Flow::checkpoint;
    plan.step = 1;
    plan.attempt = store::random_attempt();
    store::EncodeOptions options;
    options.codec.method = method;
    store::SegmentWriter writer(plan, header);
    for (int p = 0; p < parts; ++p) writer.add(store::encode(part_of(header, layout, p, parts), header, options));
    writer.commit();
  }
  testing::barrier();
}

struct Scene {
  Layout layout;
  int parts;
  codec::Method method;
  double most;  // times the share's bytes
};

std::size_t check_values(mesh::Part& part) {
  std::size_t wrong = 0, count = 0;
  for_each_value(part, [&](int level, const Index3& at, double value) {
    wrong += value != value_at(level, at);
    ++count;
  });
  EXPECT_EQ(wrong, 0U);
  return count;
}

void restart_within(const Scene& scene) {
  testing::SharedDirectory directory;
  const auto store = directory.path() / "run.octavo";
  write(store, scene.layout, scene.parts, scene.method);
  RestartOptions options;
  options.keep_parts = false;
  const std::int64_t before = testing::allocated;
  testing::most_allocated = before;
  auto found = restart(everyone(), store, options);
  const std::int64_t most = testing::most_allocated - before;
  ASSERT_TRUE(found);
  const auto share = static_cast<double>(found->part.fields.at(0).bytes.size());
  const double ratio = static_cast<double>(most) / share;
  auto all = static_cast<std::int64_t>(check_values(found->part));
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_SUM, everyone());
  EXPECT_GE(all, edge * edge * edge);
  EXPECT_LT(ratio, scene.most) << scene.layout.name;
  std::printf("    %-14s %2d parts, %-6s rank %d: share %7.2f MB, most memory %7.2f MB: %.2f times\n",
              scene.layout.name, scene.parts, scene.method == codec::Method::raw ? "raw" : "coded", rank(), share / 1e6,
              static_cast<double>(most) / 1e6, ratio);
  std::fflush(stdout);
}

TEST(RestartMpi, a_rank_needs_one_and_a_half_times_its_share_of_values_stored_as_they_are) {
  if ((size() == 2 || size() == 3) && !testing::is_long()) GTEST_SKIP() << "long";
  set_edge(128);
  for (const Layout& layout : {cells, blocks, tree})
    for (const int parts : {1, 4}) restart_within({layout, parts, codec::Method::raw, 1.5});
}

// Encoded values are decoded one part at a time, so parts are small beside a share.
TEST(RestartMpi, a_rank_needs_little_more_than_its_share_of_encoded_values_in_small_parts) {
  if ((size() == 2 || size() == 3) && !testing::is_long()) GTEST_SKIP() << "long";
  set_edge(128);
  for (const Layout& layout : {cells, tree}) restart_within({layout, 64, codec::Method::zstd, 1.5});
}

// A part's values of one field are decoded whole: stored bytes, what they decompress to, and the values are there at
// once. The scene has one field, so they weigh as much as they can: with ten fields they are a tenth of this.
TEST(RestartMpi, a_rank_needs_its_share_and_one_field_of_one_part_three_times) {
  if ((size() == 2 || size() == 3) && !testing::is_long()) GTEST_SKIP() << "long";
  set_edge(128);
  constexpr int parts = 4;
  int ranks = 1;
  MPI_Comm_size(everyone(), &ranks);
  for (const Layout& layout : {cells, tree})
    restart_within({layout, parts, codec::Method::zstd, 1.5 + 3.0 * ranks / parts});
}

// A part a rank and a file, of a run that had so many domains. Returns the most memory that this rank took.
std::int64_t memory_beside_bounds(std::size_t domains) {
  testing::SharedDirectory directory;
  const auto store = directory.path() / "run.octavo";
  mesh::Header header = header_of(cells);
  header.code = "RAMSES";
  header.attributes["bound_key"] = std::vector<double>(domains + 1);
  header.attributes["own list"] = std::vector<double>(100);
  store::SegmentPlan plan;
  plan.store = store;
  plan.flow = store::Flow::checkpoint;
  plan.segments = testing::size();
  for (plan.segment = 0; rank() == 0 && plan.segment < plan.segments; plan.subfile = ++plan.segment) {
    store::SegmentWriter writer(plan, header);
    writer.add(store::encode(part_of(header, cells, plan.segment, plan.segments), header, {}));
    writer.commit();
  }
  header = {};
  testing::barrier();
  const std::int64_t before = testing::allocated;
  testing::most_allocated = before;
  const auto found = restart(everyone(), store, {});
  const std::int64_t most = testing::most_allocated - before;
  EXPECT_TRUE(found && found->header.attributes.contains("own list"));
  EXPECT_FALSE(found->header.attributes.contains("bound_key"));
  return most;
}

TEST(RestartMpi, a_rank_holds_no_bounds_of_the_domains_of_others) {
  edge = 12;
  const std::int64_t few = memory_beside_bounds(100), many = memory_beside_bounds(200000);
  // Rank 0 reads the table of segment 0, where they are.
  if (rank() > 0) {
    EXPECT_LT(many, few + 10000);
  }
}

}  // namespace
}  // namespace octavo::engine
