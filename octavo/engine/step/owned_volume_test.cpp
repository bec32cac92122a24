#include "octavo/engine/step/owned_volume.hpp"

#include <gtest/gtest.h>

#include "tests/support/random_octree.hpp"

namespace octavo::engine {
namespace {

Volume sum(const std::vector<Volume>& volumes) {
  Volume all{};
  for (const Volume& volume : volumes)
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += volume[i];
  return normalised(all);
}

TEST(OwnedVolume, domains_of_any_tree_add_up_to_the_whole_and_to_nothing_else) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    testing::TreeOptions options;
    options.max_levels = 3 + static_cast<int>(seed % 4);
    options.max_cells = 500;
    const mesh::Octree whole = testing::random_octree(seed, options);
    std::vector<mesh::Octree> domains = testing::random_domains(whole, 4);
    std::vector<Volume> volumes;
    for (const mesh::Octree& domain : domains) volumes.push_back(owned_volume(domain));
    const Volume expected = domain_volume(whole.dim, whole.roots);
    EXPECT_EQ(sum(volumes), expected) << seed;
    // A leaf of the deepest level is owned by nobody; then by two.
    mesh::Octree one = whole;
    one.owned.back().set(0, false);
    EXPECT_TRUE(is_larger(expected, sum({owned_volume(one)}))) << seed;
    mesh::Octree other = whole;
    for (base::BitArray& owned : other.owned) owned = base::BitArray(owned.size());
    other.owned.back().set(0);
    EXPECT_EQ(sum({owned_volume(one), owned_volume(other)}), expected) << seed;
    EXPECT_TRUE(is_larger(sum({owned_volume(whole), owned_volume(other)}), expected)) << seed;
  }
}

TEST(OwnedVolume, the_largest_domain_and_many_ranks_that_own_all_of_it_fit) {
  const mesh::Index3 roots{1 << 16, 1 << 16, 1};
  const Volume all = domain_volume(3, roots);
  Volume many = all;
  for (std::int64_t& digit : many) digit *= 1 << 20;
  EXPECT_EQ(to_double(normalised(many)), 1048576 * to_double(all));
  EXPECT_EQ(normalised(all), all);
}

TEST(OwnedVolume, boxes_of_level_0_count_once_whatever_lies_on_them) {
  mesh::Patches patches;
  patches.dim = 2;
  patches.domain = {{{0, 0, 0}, {16, 8, 1}}, {{0, 0, 0}, {32, 16, 1}}};
  patches.ratio = {2};
  patches.boxes = {{{{0, 0, 0}, {8, 8, 1}}, {{8, 0, 0}, {16, 8, 1}}}, {{{0, 0, 0}, {16, 16, 1}}}};
  EXPECT_EQ(owned_volume(patches, 1, {4, 4, 1}), domain_volume(2, {2, 1, 1}));
  patches.boxes[0].pop_back();
  EXPECT_EQ(2 * to_double(owned_volume(patches, 1, {4, 4, 1})), to_double(domain_volume(2, {2, 1, 1})));
}

}  // namespace
}  // namespace octavo::engine
