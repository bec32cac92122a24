#include <gtest/gtest.h>

#include "octavo/base/error.hpp"
#include "octavo/engine/step/group.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::engine {
namespace {

store::EncodedPart encoded(std::uint64_t seed) {
  mesh::Part part;
  part.index = 17;
  const mesh::Octree tree = testing::random_octree(seed);
  part.fields.push_back(testing::smooth_field(tree, "density", seed));
  mesh::Header header;
  header.dim = tree.dim;
  header.roots = tree.roots;
  mesh::FieldInfo id;
  id.name = "id";
  id.type = mesh::ScalarType::int64;
  id.centring = mesh::Centring::particle;
  part.particles.push_back({"stars", 3, {mesh::make_field(id, 3)}});
  part.opaque["random numbers"] = {std::byte{1}, std::byte{2}};
  part.mesh = tree;
  return store::encode(part, header, {});
}

TEST(Message, a_part_comes_out_as_it_went_in) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const store::EncodedPart in = encoded(seed);
    const auto bytes = to_message(in);
    const store::EncodedPart out = part_of_message(bytes);
    EXPECT_EQ(to_message(out), bytes);
    EXPECT_EQ(out.index, 17);
    EXPECT_EQ(out.cells, in.cells);
    EXPECT_EQ(out.keys, in.keys);
    EXPECT_EQ(out.fields, in.fields);
    EXPECT_EQ(out.species, in.species);
    EXPECT_EQ(out.opaque, in.opaque);
    ASSERT_EQ(out.streams.size(), in.streams.size());
    EXPECT_EQ(out.streams.back().stored_bytes, in.streams.back().stored_bytes);
    EXPECT_EQ(out.streams.back().raw_checksum, in.streams.back().raw_checksum);
    EXPECT_EQ(out.streams.back().codec, in.streams.back().codec);
  }
}

TEST(Message, a_share_of_triangles_comes_out_as_it_went_in) {
  mesh::Part part;
  part.mesh = mesh::Unstructured{{0, 1, 0}, {0, 0, 1}, {0, 1, 2}, 1, {}};
  mesh::Header header;
  header.dim = 2;
  for (const bool elsewhere : {false, true}) {
    if (elsewhere) header.attributes = {{"mesh_step", std::int64_t{3}}, {"mesh_checksum", std::int64_t{-4}}};
    const store::EncodedPart in = store::encode(part, header, {}), out = part_of_message(to_message(in));
    EXPECT_EQ(out.triangles, in.triangles);
    EXPECT_EQ(out.triangles->origin.has_value(), elsewhere);
    EXPECT_EQ(out.share, in.share);
    EXPECT_EQ(out.mesh, in.mesh);
    EXPECT_EQ(out.streams.size(), in.streams.size());
  }
}

TEST(Message, a_part_of_a_message_is_never_accepted) {
  const auto bytes = to_message(encoded(3));
  for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 50)
    EXPECT_THROW(part_of_message(std::span(bytes).first(size)), base::Error) << size;
}

}  // namespace
}  // namespace octavo::engine
