#include "octavo/mesh/tree/split.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/prune.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::mesh {
namespace {

using ::testing::HasSubstr;

FieldInfo field_info(const std::string& name, ScalarType type, int components = 1) {
  FieldInfo info;
  info.name = name;
  info.type = type;
  info.components = components;
  return info;
}

// The whole as one part: its cells' own numbers, and random bits in two more types.
Part whole_part(const Octree& tree, std::uint64_t seed) {
  Field id = make_field(field_info("id", ScalarType::int64), num_cells(tree) * block_size(tree));
  for (std::size_t i = 0; i < id.size(); ++i) id.as<std::int64_t>()[i] = static_cast<std::int64_t>(i);
  Part part{0, tree, {id}, {}};
  part.fields.push_back(testing::random_field(tree, field_info("bits", ScalarType::float64), seed));
  part.fields.push_back(testing::random_field(tree, field_info("vector", ScalarType::float32, 3), seed));
  return part;
}

// The same with other ownership, pruned: one domain as a reader gives it.
Part domain_part(const Part& whole, const Octree& domain, int index) {
  const Extract extract = prune(domain);
  Part part{index, extract.tree, {}, {}};
  for (const Field& field : whole.fields)
    part.fields.push_back({field.info, gather(domain, extract, field.bytes, field.bytes.size() / num_cells(domain))});
  return part;
}

std::vector<Part> domain_parts(const Part& whole, std::size_t count) {
  std::vector<Part> parts;
  for (const Octree& domain : testing::random_domains(octree_of(whole), count))
    parts.push_back(domain_part(whole, domain, static_cast<int>(parts.size())));
  return parts;
}

// The numbers of the cells a part owns, leaves or refined ones.
std::multiset<std::int64_t> owned_ids(const std::vector<Part>& parts, bool refined) {
  std::multiset<std::int64_t> ids;
  for (const Part& part : parts) {
    const Octree& tree = octree_of(part);
    const auto values = part.fields[0].as<std::int64_t>();
    const auto offsets = level_offsets(tree);
    for (std::size_t level = 0; level < tree.refined.size(); ++level)
      tree.owned[level].for_each_set([&](std::size_t i) {
        if (tree.refined[level][i] == refined) ids.insert(values[(offsets[level] + i) * block_size(tree)]);
      });
  }
  return ids;
}

std::size_t owned_leaves(const Part& part) {
  std::size_t n = 0;
  for (int level = 0; level < num_levels(octree_of(part)); ++level) n += num_owned_leaves(octree_of(part), level);
  return n;
}

std::string refusal(const std::function<void()>& what, base::Kind kind) {
  try {
    what();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "accepted";
}

TEST(merge, of_pruned_domains_is_the_whole) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const Part whole = whole_part(testing::random_octree(seed, {.max_cells = 4000}), seed);
    const Part merged = merge(domain_parts(whole, 1 + seed % 7));
    ASSERT_NO_THROW(validate(octree_of(merged)));
    ASSERT_EQ(octree_of(merged), octree_of(whole)) << seed;
    ASSERT_EQ(merged.fields, whole.fields) << seed;
  }
}

TEST(merge, of_one_part_is_that_part) {
  const Part whole = whole_part(testing::random_octree(11), 11);
  const std::vector<Part> one = domain_parts(whole, 3);
  const Part merged = merge(std::span(one).subspan(1, 1));
  EXPECT_EQ(merged.index, 1);
  EXPECT_EQ(octree_of(merged), octree_of(one[1]));
  EXPECT_EQ(merged.fields, one[1].fields);
}

TEST(merge, takes_values_from_the_owner) {
  Octree tree;
  tree.dim = 1;
  tree.roots = {3, 1, 1};
  tree.refined = {base::BitArray(3)};
  std::vector<Part> parts;
  for (int p = 0; p < 3; ++p) {
    tree.owned = {base::BitArray(3)};
    if (p > 0) tree.owned[0].set(static_cast<std::size_t>(p));
    Field field = make_field(field_info("who", ScalarType::int32), 3);
    for (auto& v : field.as<std::int32_t>()) v = p;
    parts.push_back({p, tree, {field}, {}});
  }
  const auto values = merge(parts);
  EXPECT_THAT(values.fields[0].as<std::int32_t>(), ::testing::ElementsAre(0, 1, 2));
  EXPECT_EQ(octree_of(values).owned[0].count(), 2U);
}

TEST(merge, parts_that_differ_are_refused) {
  const Part whole = whole_part(testing::random_octree(5, {.dim = 2, .roots = {2, 2, 1}, .max_levels = 3}), 5);
  const auto with = [&](const std::function<void(Part&)>& change) {
    std::vector<Part> parts{whole, whole};
    parts[1].index = 1;
    change(parts[1]);
    return refusal([&] { merge(parts); }, base::Kind::usage);
  };
  const auto tree = [](Part& p) -> Octree& { return std::get<Octree>(p.mesh); };
  EXPECT_EQ(with([](Part&) {}), "accepted");
  EXPECT_THAT(with([&](Part& p) { tree(p).dim = 3; }), HasSubstr("differ in dimensions, roots or block"));
  EXPECT_THAT(with([&](Part& p) { tree(p).roots[0] = 4; }), HasSubstr("parts 0 and 1"));
  EXPECT_THAT(with([&](Part& p) { tree(p).block[0] = 4; }), HasSubstr("block"));
  EXPECT_THAT(with([](Part& p) { p.fields.pop_back(); }), HasSubstr("differ in their fields: 3 and 2"));
  EXPECT_THAT(with([](Part& p) { p.fields[1].info.name = "other"; }), HasSubstr("part 1, field other"));
  EXPECT_THAT(with([](Part& p) { p.fields[1].info.unit = "K"; }), HasSubstr("part 1, field bits"));
  EXPECT_THAT(with([](Part& p) { p.fields[1].bytes.pop_back(); }), HasSubstr("values of a field: expected"));
}

TEST(merge, a_leaf_that_another_part_refines_is_refused) {
  const Octree fine = testing::random_octree(5, {.dim = 2, .roots = {1, 1, 1}, .max_levels = 3, .refine = 1});
  const std::vector<Part> parts{{0, fine, {}, {}}, {4, truncate(fine, 1).tree, {}, {}}};
  EXPECT_THAT(refusal([&] { merge(parts); }, base::Kind::corrupt), HasSubstr("part 4, level index 1"));
}

TEST(merge, no_parts_and_other_meshes_are_refused) {
  EXPECT_THAT(refusal([] { merge({}); }, base::Kind::usage), HasSubstr("no parts"));
  const std::vector<Part> parts{{0, Patches{}, {}, {}}};
  EXPECT_THAT(refusal([&] { merge(parts); }, base::Kind::unsupported), HasSubstr("only octrees"));
}

TEST(split, each_owned_cell_goes_to_one_part_and_stays_what_it_was) {
  for (std::uint64_t seed = 0; seed < 80; ++seed)
    for (Curve curve : {Curve::hilbert, Curve::morton}) {
      const Part whole = whole_part(testing::random_octree(seed, {.max_cells = 4000}), seed);
      const auto before = domain_parts(whole, 1 + seed % 4);
      const int count = 1 + static_cast<int>(seed % 9);
      const auto after = split(before, plan_split(before, count, curve));
      ASSERT_EQ(after.size(), static_cast<std::size_t>(count));
      ASSERT_EQ(owned_ids(after, false), owned_ids({whole}, false)) << seed;
      ASSERT_EQ(owned_ids(after, true), owned_ids({whole}, true)) << seed;
      for (const Part& part : after) {
        ASSERT_NO_THROW(validate(octree_of(part)));
        ASSERT_EQ(prune(octree_of(part)).tree, octree_of(part));
        ASSERT_EQ(part.index, &part - after.data());
      }
    }
}

// Every owned cell's centre must be in its part's stretch; positions are found anew from the new trees.
void expect_centres_within(const Part& part, const SplitPlan& plan) {
  const Octree& tree = octree_of(part);
  const auto m = static_cast<std::size_t>(part.index);
  auto positions = root_coordinates(tree);
  for (int level = 0; level < num_levels(tree); ++level) {
    if (level > 0) positions = child_coordinates(tree, level - 1, positions);
    const int shift = plan.bits - plan.root_bits - level;
    tree.owned[static_cast<std::size_t>(level)].for_each_set([&](std::size_t i) {
      Coordinate centre{0, 0, 0};
      for (std::size_t a = 0; a < static_cast<std::size_t>(plan.dim); ++a)
        centre[a] = (positions[i][a] << shift) + (shift > 0 ? 1U << (shift - 1) : 0U);
      const CurveKey key = curve_key(plan.curve, plan.dim, plan.bits, centre);
      ASSERT_TRUE(plan.bounds[m] <= key && key < plan.bounds[m + 1]) << "part " << m << ", level " << level;
    });
  }
}

TEST(split, a_cell_is_owned_by_the_part_that_holds_its_centre) {
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    for (Curve curve : {Curve::hilbert, Curve::morton}) {
      const Part whole = whole_part(testing::random_octree(seed, {.max_cells = 4000}), seed);
      const SplitPlan plan = plan_split({&whole, 1}, 2 + static_cast<int>(seed % 5), curve);
      for (const Part& part : split({&whole, 1}, plan)) expect_centres_within(part, plan);
    }
}

TEST(split, keys_at_the_ends_of_the_curve_belong_to_the_first_and_last_part) {
  SplitPlan plan;
  plan.bits = 4;
  plan.bounds = {{0, 0}, {0, 100}, {0, 100}, {0, 4096}};
  EXPECT_EQ(part_of_key(plan, {0, 0}), 0);
  EXPECT_EQ(part_of_key(plan, {0, 99}), 0);
  EXPECT_EQ(part_of_key(plan, {0, 100}), 2);
  EXPECT_EQ(part_of_key(plan, {0, 4095}), 2);
  EXPECT_EQ(part_of_key(plan, curve_end(3, 4)), 2);
}

TEST(split, then_merge_gives_the_same_tree_and_values) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const Part whole = whole_part(testing::random_octree(seed, {.max_cells = 4000}), seed);
    const std::vector<Part> before = domain_parts(whole, 3);
    const Part merged = merge(split(before, plan_split(before, 1 + static_cast<int>(seed % 6))));
    ASSERT_EQ(octree_of(merged), octree_of(whole)) << seed;
    ASSERT_EQ(merged.fields, whole.fields) << seed;
  }
}

TEST(split, of_a_partly_owned_tree_gives_away_what_was_owned_and_no_more) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Part part = whole_part(testing::random_octree(seed, {.max_cells = 2000}), seed);
    testing::own_randomly(std::get<Octree>(part.mesh), 0.3, seed);
    const auto after = split({&part, 1}, plan_split({&part, 1}, 4));
    EXPECT_EQ(owned_ids(after, false), owned_ids({part}, false)) << seed;
    EXPECT_EQ(owned_ids(after, true), owned_ids({part}, true)) << seed;
    const Part small = domain_part(part, octree_of(part), 0);
    const Part merged = merge(after);
    EXPECT_EQ(octree_of(merged), octree_of(small)) << seed;
    EXPECT_EQ(merged.fields, small.fields) << seed;
  }
}

TEST(split, shares_differ_by_one_leaf_at_most) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Part whole = whole_part(testing::random_octree(seed, {.max_cells = 4000}), seed);
    const int count = 1 + static_cast<int>(seed % 11);
    std::size_t least = ~std::size_t{0}, most = 0;
    for (const Part& part : split({&whole, 1}, plan_split({&whole, 1}, count))) {
      least = std::min(least, owned_leaves(part));
      most = std::max(most, owned_leaves(part));
    }
    EXPECT_LE(most, least + 1) << seed;
  }
}

TEST(split, does_not_depend_on_how_the_input_was_split) {
  const Part whole = whole_part(testing::random_octree(21, {.dim = 3, .max_levels = 5, .refine = 0.4}), 21);
  const auto three = domain_parts(whole, 3), five = domain_parts(whole, 5);
  const SplitPlan plan = plan_split(three, 4);
  EXPECT_EQ(plan, plan_split(five, 4));
  const auto a = split(three, plan), b = split(five, plan);
  for (std::size_t m = 0; m < a.size(); ++m) {
    EXPECT_EQ(octree_of(a[m]), octree_of(b[m]));
    EXPECT_EQ(a[m].fields, b[m].fields);
  }
}

TEST(split, keeps_blocks_together) {
  const Octree tree = testing::random_octree(9, {.dim = 2, .block = {4, 2, 1}, .max_levels = 4, .refine = 0.5});
  const Part whole = whole_part(tree, 9);
  EXPECT_EQ(merge(split({&whole, 1}, plan_split({&whole, 1}, 3))).fields, whole.fields);
}

TEST(split, more_parts_than_leaves_leaves_some_empty) {
  const Part whole = whole_part(testing::random_octree(1, {.dim = 1, .roots = {2, 1, 1}, .max_levels = 1}), 1);
  const auto after = split({&whole, 1}, plan_split({&whole, 1}, 5));
  ASSERT_EQ(after.size(), 5U);
  EXPECT_EQ(owned_ids(after, false), owned_ids({whole}, false));
}

TEST(split, wrong_requests_are_refused) {
  const Part whole = whole_part(testing::random_octree(5, {.dim = 2, .max_levels = 4, .refine = 0.9}), 5);
  const std::vector<Part> one{whole};
  EXPECT_THAT(refusal([&] { plan_split(one, 0); }, base::Kind::usage), HasSubstr("at least 1, found 0"));
  EXPECT_THAT(refusal([&] { plan_split({}, 2); }, base::Kind::usage), HasSubstr("no parts"));
  SplitPlan plan = plan_split(one, 2);
  plan.bits -= 1;
  EXPECT_THAT(refusal([&] { split(one, plan); }, base::Kind::usage), HasSubstr("plan was made for another tree"));
}

Particles random_particles(std::size_t count, std::uint64_t seed) {
  testing::Random random(seed);
  Particles particles{"gas", static_cast<std::int64_t>(count), {}};
  for (const char* name : {"position_x", "position_y", "id"}) {
    FieldInfo info = field_info(name, std::string(name) == "id" ? ScalarType::int32 : ScalarType::float64);
    info.centring = Centring::particle;
    particles.attributes.push_back(make_field(info, count));
  }
  for (std::size_t i = 0; i < count; ++i) {
    particles.attributes[0].as<double>()[i] = 10 + 4 * random.uniform();
    particles.attributes[1].as<double>()[i] = 20 + 2 * random.uniform();
    particles.attributes[2].as<std::int32_t>()[i] = static_cast<std::int32_t>(i);
  }
  return particles;
}

TEST(split_particles, gives_each_particle_to_the_part_that_owns_its_leaf) {
  const Octree tree = testing::random_octree(31, {.dim = 2, .roots = {2, 1, 1}, .max_levels = 5, .refine = 0.6});
  const Part whole = whole_part(tree, 31);
  Header header;
  header.dim = 2;
  header.roots = tree.roots;
  header.lo = {10, 20, 0};
  header.hi = {14, 22, 1};
  const SplitPlan plan = plan_split({&whole, 1}, 3);
  const auto parts = split({&whole, 1}, plan);
  const Particles all = random_particles(500, 31);
  const auto shares = split_particles(all, header, plan);
  ASSERT_EQ(shares.size(), 3U);
  std::set<std::int32_t> seen;
  for (std::size_t m = 0; m < shares.size(); ++m) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(shares[m].count); ++i) {
      seen.insert(shares[m].attributes[2].as<std::int32_t>()[i]);
      // The leaf around the particle, found by descent, is owned by this part.
      const Octree& mine = octree_of(parts[m]);
      const double x = (shares[m].attributes[0].as<double>()[i] - 10) / 2,
                   y = (shares[m].attributes[1].as<double>()[i] - 20) / 2;
      std::size_t cell = x < 1 ? 0 : 1;
      std::size_t level = 0;
      for (double scale = 2; mine.refined[level][cell]; scale *= 2, ++level) {
        std::size_t rank = 0;
        for (std::size_t k = 0; k < cell; ++k) rank += mine.refined[level][k] ? 1U : 0U;
        cell = 4 * rank + (static_cast<std::size_t>(x * scale) & 1) + 2 * (static_cast<std::size_t>(y * scale) & 1);
      }
      EXPECT_TRUE(mine.owned[level][cell]);
    }
  }
  EXPECT_EQ(seen.size(), 500U);
}

TEST(split_particles, merge_puts_them_together_again) {
  const Octree tree = testing::random_octree(31, {.dim = 2, .roots = {1, 1, 1}, .max_levels = 5, .refine = 0.6});
  Part whole = whole_part(tree, 31);
  Header header;
  header.dim = 2;
  const SplitPlan plan = plan_split({&whole, 1}, 3);
  auto parts = split({&whole, 1}, plan);
  const auto shares = split_particles(random_particles(200, 1), header, plan);
  for (std::size_t m = 0; m < parts.size(); ++m) parts[m].particles = {shares[m]};
  const Part merged = merge(parts);
  ASSERT_EQ(merged.particles.size(), 1U);
  EXPECT_EQ(merged.particles[0].count, 200);
  const auto ids = merged.particles[0].attributes[2].as<std::int32_t>();
  EXPECT_EQ(std::set<std::int32_t>(ids.begin(), ids.end()).size(), 200U);
}

TEST(split_particles, without_positions_is_refused) {
  const Part whole = whole_part(testing::random_octree(5, {.dim = 2}), 5);
  Particles particles = random_particles(3, 1);
  particles.attributes.erase(particles.attributes.begin());
  Header header;
  header.dim = 2;
  EXPECT_THAT(refusal(
                  [&] {
                    split_particles(particles, header, plan_split({&whole, 1}, 2));
                  },
                  base::Kind::usage),
              HasSubstr("no floating-point attribute position_x"));
}

TEST(deal_particles, gives_equal_numbers_in_order_whatever_parts_they_come_in) {
  for (const std::size_t total : {0u, 2u, 11u, 60u}) {
    const Particles all = random_particles(total, 3);
    EXPECT_TRUE(have_positions(std::vector{all.attributes[0].info, all.attributes[1].info}, 2));
    EXPECT_FALSE(have_positions(std::vector{all.attributes[0].info, all.attributes[2].info}, 2));
    const auto n = static_cast<std::int64_t>(total);
    // The particles as they would be in two old parts.
    const auto old = deal_particles(all, 0, n, 2, 0, 2);
    const auto a = deal_particles(old[0], 0, n, 4, 0, 4), b = deal_particles(old[1], old[0].count, n, 4, 0, 4);
    std::vector<std::int32_t> ids;
    for (std::size_t m = 0; m < 4; ++m) {
      EXPECT_LE(std::abs(4 * (a[m].count + b[m].count) - n), 4);
      for (const Particles& piece : {a[m], b[m]}) {
        const auto mine = piece.attributes[2].as<std::int32_t>();
        ASSERT_EQ(static_cast<std::int64_t>(mine.size()), piece.count);
        ids.insert(ids.end(), mine.begin(), mine.end());
      }
    }
    EXPECT_TRUE(std::ranges::equal(ids, all.attributes[2].as<std::int32_t>()));
  }
}

}  // namespace
}  // namespace octavo::mesh
