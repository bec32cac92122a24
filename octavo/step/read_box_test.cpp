#include "octavo/step/read_box.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/mesh/tree/tree_index.hpp"
#include "octavo/store/store.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/store_fixture.hpp"

namespace octavo::step {
namespace {

using base::Kind;
using mesh::Index3;
using mesh::IndexBox;
using testing::error_of;

/// The whole mesh in memory, which tells the value at any place.
struct Oracle {
  mesh::Part whole;
  mesh::Octree tree;
  std::vector<std::size_t> offsets;

  explicit Oracle(const mesh::Dataset& dataset)
      : whole(mesh::merge(testing::read_all(dataset))), tree(mesh::octree_of(whole)), offsets(level_offsets(tree)) {}

  // Returns the index of a cell's value in an array of one component, for a cell of a tree level; nothing if the step
  // has none there.
  std::optional<std::size_t> find(int level, const Index3& at) const {
    const mesh::TreeIndex index(tree);
    for (int l = level; l >= 0; --l) {
      Index3 cell{}, inside{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::int64_t place = axis < static_cast<std::size_t>(tree.dim) ? at[axis] >> (level - l) : 0;
        cell[axis] = place / tree.block[axis];
        inside[axis] = place % tree.block[axis];
      }
      const auto found = index.find(l, cell);
      if (!found) continue;
      if (!tree.owned[static_cast<std::size_t>(l)][*found]) return {};
      return (offsets[static_cast<std::size_t>(l)] + *found) * block_size(tree) +
             static_cast<std::size_t>((inside[2] * tree.block[1] + inside[1]) * tree.block[0] + inside[0]);
    }
    return {};
  }
};

// Reads the box into memory with gaps, and compares it value by value. Returns how many cells had one.
template <class T>
std::int64_t expect_box(const mesh::Dataset& dataset, const Oracle& oracle, std::size_t field, int level,
                        const IndexBox& box) {
  const mesh::FieldInfo& info = dataset.header.fields[field];
  const int components = info.components;
  const Index3 extent{box.hi[0] - box.lo[0], box.hi[1] - box.lo[1], box.hi[2] - box.lo[2]};
  BoxMemory array;
  array.type = mesh::scalar_type_of<T>();
  array.stride = {1, extent[0] + 3, (extent[0] + 3) * (extent[1] + 1)};
  array.stride_component = array.stride[2] * extent[2];
  constexpr T untouched = 77;
  std::vector<T> memory(static_cast<std::size_t>(array.stride_component * components), untouched);
  array.values = memory.data();
  const std::int64_t missing = read_box(dataset, info.name, level, box, array);
  std::size_t wrong = 0;
  std::int64_t there = 0;
  const int index = level_index(dataset.header, level);
  const std::vector<double> all = to_doubles(oracle.whole.fields[field]);
  std::vector<T> expected(memory.size(), untouched);
  for_each_row(box, [&](const Index3& at, std::int64_t length) {
    for (std::int64_t x = 0; x < length; ++x) {
      const auto found = oracle.find(index, {at[0] + x, at[1], at[2]});
      if (!found) continue;
      ++there;
      for (int c = 0; c < components; ++c)
        expected[static_cast<std::size_t>(x + (at[1] - box.lo[1]) * array.stride[1] +
                                          (at[2] - box.lo[2]) * array.stride[2] + c * array.stride_component)] =
            static_cast<T>(all[*found * static_cast<std::size_t>(components) + static_cast<std::size_t>(c)]);
    }
  });
  for (std::size_t i = 0; i < memory.size(); ++i)
    wrong += !(memory[i] == expected[i] || (std::isnan(double(memory[i])) && std::isnan(double(expected[i]))));
  EXPECT_EQ(wrong, 0U) << info.name << ", level " << level << ", box " << describe(box, 3);
  EXPECT_EQ(missing, num_cells(box, 3) - there);
  return there;
}

IndexBox random_box(testing::Random& random, const Index3& all) {
  IndexBox box{{0, 0, 0}, {1, 1, 1}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto a = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(all[axis])));
    const auto b = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(all[axis])));
    box.lo[axis] = std::min(a, b);
    box.hi[axis] = std::max(a, b) + 1;
  }
  return box;
}

struct Case {
  int dim;
  Index3 roots, block;
  store::EncodeOptions encoding;
};

void expect_boxes(std::uint64_t seed, const Case& scene) {
  const testing::Step step = testing::random_step(seed, {scene.dim, scene.roots, scene.block, 4, 200, 3});
  testing::TemporaryDirectory directory;
  auto plan = testing::plan_of(1, 1, 2);
  plan.whole_domain = false;
  write_step(step, directory.path() / "s", plan, scene.encoding);
  const mesh::Dataset dataset = store::open_step(directory.path() / "s");
  const Oracle oracle(dataset);
  testing::Random random(seed);
  std::int64_t there = 0;
  for (int level = 1; level <= 5; ++level)
    for (int i = 0; i < 6; ++i) {
      const IndexBox box = random_box(random, cells_of_level(dataset.header, level));
      there += expect_box<double>(dataset, oracle, 0, level, box);
      expect_box<float>(dataset, oracle, 1, level, box);
      expect_box<double>(dataset, oracle, 1, level, box);
      expect_box<std::int16_t>(dataset, oracle, 2, level, box);
    }
  EXPECT_GT(there, 0);
}

store::EncodeOptions raw() {
  store::EncodeOptions options;
  options.codec.method = codec::Method::raw;
  return options;
}

TEST(ReadBox, gives_the_values_of_the_whole_mesh_coarse_leaves_spread_out) {
  for (const auto& encoding : {store::EncodeOptions{}, raw()}) {
    expect_boxes(1, {3, {2, 3, 1}, {1, 1, 1}, encoding});
    expect_boxes(2, {3, {2, 1, 2}, {2, 4, 3}, encoding});
    expect_boxes(3, {2, {3, 2, 1}, {1, 1, 1}, encoding});
    expect_boxes(4, {2, {2, 2, 1}, {4, 6, 1}, encoding});
    expect_boxes(5, {1, {5, 1, 1}, {1, 1, 1}, encoding});
  }
}

TEST(ReadBox, refuses_what_cannot_be_and_leaves_the_memory_alone) {
  const testing::Step step = testing::random_step(7, {3, {2, 2, 2}, {1, 1, 1}, 3, 100, 2});
  testing::TemporaryDirectory directory;
  write_step(step, directory.path() / "s", testing::plan_of(1, 1));
  const mesh::Dataset dataset = store::open_step(directory.path() / "s");
  std::vector<double> memory(8, 1.5);
  const auto refused = [&](const std::string& field, int level, const IndexBox& box, const BoxMemory& array) {
    const base::Error error = error_of([&] { read_box(dataset, field, level, box, array); });
    EXPECT_EQ(error.kind(), Kind::usage);
    return std::string(error.what());
  };
  const BoxMemory doubles{memory.data(), mesh::ScalarType::float64, {}};
  EXPECT_THAT(refused("density", 1, {{0, 0, 0}, {3, 2, 2}}, doubles),
              ::testing::HasSubstr("box [0,0,0 to 3,2,2): expected cells of [0,0,0 to 2,2,2), which level 1 has"));
  refused("density", 1, {{1, 0, 0}, {1, 2, 2}}, doubles);
  refused("density", 1, {{-1, 0, 0}, {1, 2, 2}}, doubles);
  EXPECT_THAT(refused("densty", 1, {{0, 0, 0}, {2, 2, 2}}, doubles), ::testing::HasSubstr("density"));
  EXPECT_THAT(refused("mask", 1, {{0, 0, 0}, {2, 2, 2}}, doubles),
              ::testing::HasSubstr("expected values of int16, found float64"));
  EXPECT_THAT(refused("density", 0, {{0, 0, 0}, {1, 1, 1}}, doubles), ::testing::HasSubstr("level: expected 1 to"));
  refused("density", 1, {{0, 0, 0}, {2, 2, 2}}, {nullptr, mesh::ScalarType::float64, {}});
  EXPECT_EQ(memory, std::vector<double>(8, 1.5));
}

TEST(ReadBox, of_a_damaged_stream_is_an_error) {
  const testing::Step step = testing::random_step(9, {3, {2, 2, 2}, {1, 1, 1}, 3, 100, 1});
  testing::TemporaryDirectory directory;
  write_step(step, directory.path() / "s", testing::plan_of(1, 1), raw());
  const mesh::Dataset sound = store::open_step(directory.path() / "s");
  const auto streams = store::list_streams(directory.path() / "s", store::Flow::analysis, 1);
  for (const store::StreamInfo& stream : streams) {
    if (stream.field != "density") continue;
    auto bytes = testing::file_bytes(stream.file);
    bytes[static_cast<std::size_t>(stream.offset + stream.stored_bytes - 1)] ^= 1;
    testing::write_file(stream.file, bytes);
  }
  std::vector<double> memory(16 * 16 * 16);
  const BoxMemory array{memory.data(), mesh::ScalarType::float64, {}};
  const int deepest = sound.levels.back().level;
  const base::Error error = error_of([&] { read_box(sound, "density", deepest, {{0, 0, 0}, {1, 1, 1}}, array); });
  EXPECT_EQ(error.kind(), Kind::corrupt);
  EXPECT_THAT(error.what(), ::testing::HasSubstr("field density"));
}

// Two triangles a square, the second plane ten times the first.
TEST(ReadPoints, are_those_of_the_box_with_their_triangles_and_values) {
  mesh::Unstructured mesh;
  mesh.planes = 2;
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 5; ++x) {
      mesh.x.push_back(x);
      mesh.y.push_back(y);
    }
  for (std::int64_t y = 0; y < 3; ++y)
    for (std::int64_t x = 0; x < 4; ++x) {
      const std::int64_t p = 5 * y + x;
      for (const std::int64_t corner : {p, p + 1, p + 6, p, p + 6, p + 5}) mesh.connectivity.push_back(corner);
    }
  mesh::Field field = mesh::make_field({"depth", "m", mesh::ScalarType::float64, mesh::Centring::node, 1, 0}, 40);
  for (std::size_t i = 0; i < 40; ++i) field.as<double>()[i] = static_cast<double>(i < 20 ? i : 10 * i);
  mesh::Header header;
  header.dim = 2;
  header.fields = {field.info};
  mesh::Dataset dataset = mesh::of_one_part("test", "test", header, 0, 24, 20);
  dataset.read = [&](int, const mesh::Request& request) {
    mesh::Part part;
    part.mesh = mesh;
    if (!request.fields || !request.fields->empty()) part.fields = {field};
    return part;
  };
  const PointsInBox found = read_points(dataset, {0.5, 1}, {3, 2.5}, {"depth"});
  EXPECT_EQ(found.point, (std::vector<std::int64_t>{6, 7, 11, 12}));
  EXPECT_EQ(found.x, (std::vector<double>{1, 2, 1, 2}));
  EXPECT_EQ(found.triangle, (std::vector<std::int64_t>{10, 11}));
  EXPECT_EQ(found.connectivity, (std::vector<std::int64_t>{0, 1, 3, 0, 3, 2}));
  EXPECT_EQ(to_doubles(found.fields.at(0)), (std::vector<double>{6, 7, 11, 12, 260, 270, 310, 320}));
  EXPECT_TRUE(read_points(dataset, {10, 10}, {11, 11}, {"depth"}).point.empty());
  EXPECT_EQ(error_of([&] { read_points(dataset, {1, 1}, {1, 2}, {}); }).kind(), Kind::usage);
  EXPECT_EQ(error_of([&] { read_points(dataset, {0, 0}, {1, 2}, {"depht"}); }).kind(), Kind::usage);
  EXPECT_EQ(error_of([&] { read_box(dataset, "depth", 1, {{0, 0, 0}, {1, 1, 1}}, {}); }).kind(), Kind::unsupported);
}

}  // namespace
}  // namespace octavo::step
