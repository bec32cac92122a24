#include "octavo/partition/cut.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/partition/contour.hpp"
#include "octavo/partition/graph.hpp"
#include "octavo/partition/partition.hpp"
#include "tests/support/serafin_fixture.hpp"

namespace octavo::partition {
namespace {

using base::Error;
using octavo::testing::random_triangles;
using octavo::testing::Triangles;

std::int32_t points_of(const Triangles& mesh) { return static_cast<std::int32_t>(mesh.x.size()); }

PartVector cut(CutMethod method, const Triangles& mesh, std::int32_t parts) {
  if (method == CutMethod::metis) return cut_metis(mesh.connectivity, points_of(mesh), parts);
  if (method == CutMethod::scotch) return cut_scotch(mesh.connectivity, points_of(mesh), parts);
  if (method == CutMethod::inertial) {
    std::vector<float> x, y;
    for (std::size_t e = 0; 3 * e < mesh.connectivity.size(); ++e) {
      const auto mean = [&](const std::vector<double>& values) {
        double sum = 0;
        for (std::size_t k = 0; k < 3; ++k) sum += values[static_cast<std::size_t>(mesh.connectivity[3 * e + k])];
        return static_cast<float>(sum / 3);
      };
      x.push_back(mean(mesh.x));
      y.push_back(mean(mesh.y));
    }
    return InertialCuts(x, y, parts).parts();
  }
  return cut_hilbert(mesh.connectivity, mesh.x, mesh.y, parts);
}

std::vector<CutMethod> methods() {
  std::vector<CutMethod> here;
  for (const CutMethod method : {CutMethod::metis, CutMethod::scotch, CutMethod::hilbert, CutMethod::inertial})
    if (has(method)) here.push_back(method);
  return here;
}

std::int64_t cut_edges(const Triangles& mesh, const PartVector& part_of) {
  std::int64_t sides = 0;
  const auto behind = find_behind(mesh.connectivity, points_of(mesh));
  for (std::size_t i = 0; i < behind.size(); ++i)
    sides += behind[i] >= 0 && part_of[static_cast<std::size_t>(behind[i])] != part_of[i / 3];
  return sides / 2;
}

void smooth_cuts(const Triangles& mesh, std::int32_t parts, PartVector& part_of) {
  const auto behind = find_behind(mesh.connectivity, points_of(mesh));
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(parts), 0);
  for (const std::int32_t part : part_of) ++sizes[static_cast<std::size_t>(part)];
  const auto part_at = [&](auto e) { return part_of[static_cast<std::size_t>(e)]; };
  smooth_in_turns(
      sizes, [&] { return find_cut(behind, 0, part_at, part_at); },
      [&](const std::vector<CutElement>& cut) {
        for (const CutElement& element : cut) part_of[static_cast<std::size_t>(element.element)] = element.part;
      });
}

TEST(PartitionSmooth, fewer_edges_are_cut_and_parts_stay_as_large_to_three_hundredths) {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    const Triangles mesh = random_triangles(seed, 60, 40, seed % 2 == 0);
    const auto parts = static_cast<std::int32_t>(3 + seed);
    PartVector part_of = cut(CutMethod::hilbert, mesh, parts);
    const std::int64_t before = cut_edges(mesh, part_of);
    smooth_cuts(mesh, parts, part_of);
    EXPECT_LT(cut_edges(mesh, part_of), before);
    const PartLists lists = list_parts(part_of, parts);
    const auto even = static_cast<double>(part_of.size()) / parts;
    for (std::int32_t p = 0; p < parts; ++p)
      EXPECT_NEAR(static_cast<double>(elements_of(lists, p).size()), even, 0.03 * even + 2);
  }
}

TEST(PartitionSmooth, what_cannot_get_better_stays) {
  const Triangles mesh = random_triangles(1, 4, 4);
  PartVector one(mesh.connectivity.size() / 3, 0);
  smooth_cuts(mesh, 1, one);
  EXPECT_THAT(one, ::testing::Each(0));
  PartVector each(one.size());  // one element per part: no part may lose it
  for (std::size_t e = 0; e < each.size(); ++e) each[e] = static_cast<std::int32_t>(e);
  const PartVector before = each;
  smooth_cuts(mesh, static_cast<std::int32_t>(each.size()), each);
  EXPECT_EQ(each, before);
}

TEST(PartitionGraph, elements_behind_sides_are_those_found_by_hand) {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    const Triangles mesh = random_triangles(seed, 7, 5, seed % 2 == 0);
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> owner;
    const auto corner = [&](std::size_t i, std::size_t k) { return mesh.connectivity[i - i % 3 + (i + k) % 3]; };
    for (std::size_t i = 0; i < mesh.connectivity.size(); ++i)
      owner[{corner(i, 0), corner(i, 1)}] = static_cast<std::int32_t>(i / 3);
    const auto behind = find_behind(mesh.connectivity, points_of(mesh));
    for (std::size_t i = 0; i < behind.size(); ++i) {
      const auto found = owner.find({corner(i, 1), corner(i, 0)});
      EXPECT_EQ(behind[i], found == owner.end() ? -1 : found->second);
    }
  }
}

TEST(Cut, every_method_fills_all_parts_and_repeats_itself) {
  for (const CutMethod method : methods())
    for (std::uint32_t seed = 0; seed < 4; ++seed) {
      const Triangles mesh = random_triangles(seed, 9, 7, seed % 2 == 0);
      for (const std::int32_t parts : {1, 2, 3, 7}) {
        const PartVector part_of = cut(method, mesh, parts);
        EXPECT_EQ(part_of, cut(method, mesh, parts)) << name_of(method);
        std::set<std::int32_t> seen(part_of.begin(), part_of.end());
        EXPECT_EQ(seen.size(), static_cast<std::size_t>(parts)) << name_of(method) << ' ' << parts;
        EXPECT_EQ(*seen.begin(), 0);
        EXPECT_EQ(*seen.rbegin(), parts - 1);
      }
    }
}

TEST(Cut, large_meshes_are_cut_alike_each_time) {
  if (!has(CutMethod::scotch)) GTEST_SKIP() << "no Scotch in this build";
  const Triangles mesh = random_triangles(1, 120, 80);  // large enough for Scotch to use threads
  const PartVector first = cut(CutMethod::scotch, mesh, 21);
  for (int again = 0; again < 2; ++again) EXPECT_EQ(cut(CutMethod::scotch, mesh, 21), first);
}

TEST(Cut, sizes_by_the_curve_and_by_inertia_differ_by_one_element) {
  const Triangles mesh = random_triangles(3, 13, 11);
  for (int i = 0; i < 10; ++i) {
    const std::int32_t parts = std::array{1, 2, 5, 100, 286}[static_cast<std::size_t>(i / 2)];
    const PartLists lists = list_parts(cut(i % 2 == 0 ? CutMethod::hilbert : CutMethod::inertial, mesh, parts), parts);
    for (std::int32_t p = 0; p < parts; ++p) {
      EXPECT_GE(elements_of(lists, p).size(), 286U / static_cast<unsigned>(parts));
      EXPECT_LE(elements_of(lists, p).size(), 286U / static_cast<unsigned>(parts) + 1);
      EXPECT_TRUE(std::is_sorted(elements_of(lists, p).begin(), elements_of(lists, p).end()));
    }
  }
}

TEST(Cut, places_fall_on_the_side_of_a_cut_where_its_elements_do) {
  std::mt19937 random(1);
  std::vector<float> x(20000), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(random() % 100000);
    y[i] = static_cast<float>(random() % 1000);
  }
  const InertialCuts cuts(x, y, 37);
  std::size_t elsewhere = 0;  // several places can be equal to a cut's limit
  for (std::size_t i = 0; i < x.size(); ++i) elsewhere += cuts.part_at(x[i], y[i]) != cuts.parts()[i];
  EXPECT_LE(elsewhere, 40U);
  EXPECT_EQ(InertialCuts::stride(1000, 3), 1);
  EXPECT_EQ(InertialCuts::stride(std::int64_t{1} << 23, 3), 4);
}

TEST(Cut, more_parts_than_elements_or_none_are_refused) {
  const Triangles mesh = random_triangles(3, 2, 1);
  for (const CutMethod method : methods())
    for (const std::int32_t parts : {-1, 0, 5}) EXPECT_THROW(cut(method, mesh, parts), Error) << name_of(method);
}

TEST(Outline, runs_around_the_mesh_and_its_hole) {
  for (std::uint32_t seed = 0; seed < 8; ++seed) {
    const Triangles mesh = random_triangles(seed, 5, 5, seed % 2 == 0);
    auto boundary = octavo::testing::boundary_of(mesh);
    EXPECT_EQ(boundary.size(), seed % 2 == 0 ? 24U : 20U);
    std::shuffle(boundary.begin(), boundary.end(), std::mt19937(seed));
    const Outline contour = trace_contour(mesh.connectivity, points_of(mesh), boundary);
    for (std::size_t k = 0; k < boundary.size(); ++k) {
      EXPECT_EQ(contour.previous[static_cast<std::size_t>(contour.next[k])], static_cast<std::int32_t>(k));
      const auto* e = &mesh.connectivity[3 * static_cast<std::size_t>(contour.element[k])];
      const std::int32_t to = boundary[static_cast<std::size_t>(contour.next[k])];
      const auto* found = std::find(e, e + 3, boundary[k]);
      ASSERT_NE(found, e + 3);
      EXPECT_EQ(e[(found - e + 1) % 3], to);
    }
    const auto lost = find_boundary(mesh.connectivity, mesh.x, mesh.y);
    EXPECT_EQ(std::set(lost.begin(), lost.end()), std::set(boundary.begin(), boundary.end()));
    EXPECT_EQ(mesh.x[static_cast<std::size_t>(lost[0])] + mesh.y[static_cast<std::size_t>(lost[0])], 0);
  }
}

TEST(Outline, a_list_that_is_not_the_boundary_names_a_point) {
  const Triangles mesh = random_triangles(1, 4, 4);
  auto boundary = octavo::testing::boundary_of(mesh);
  const std::int32_t missing = boundary.back();
  boundary.pop_back();
  EXPECT_THROW(trace_contour(mesh.connectivity, points_of(mesh), boundary), Error);
  boundary.push_back(missing);
  for (std::int32_t point = 0; point < points_of(mesh); ++point)
    if (std::find(boundary.begin(), boundary.end(), point) == boundary.end()) {
      boundary.push_back(point);  // an interior point
      break;
    }
  EXPECT_THROW(trace_contour(mesh.connectivity, points_of(mesh), boundary), Error);
}

std::size_t fill_empty_parts(const Triangles& mesh, std::int32_t parts, PartVector& part_of,
                             const std::vector<bool>& stays = {}) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(parts), 0);
  std::vector<PlacedElement> elements;
  for (std::size_t e = 0; e < part_of.size(); ++e) {
    if (!stays.empty() && stays[e]) continue;
    ++sizes[static_cast<std::size_t>(part_of[e])];
    const auto corner = static_cast<std::size_t>(mesh.connectivity[3 * e]);
    elements.push_back({static_cast<std::int32_t>(e), part_of[e], static_cast<float>(mesh.x[corner]),
                        static_cast<float>(mesh.y[corner])});
  }
  sizes[0] += !stays.empty();
  const auto halvings = plan_halvings(sizes);
  halve_parts(halvings, elements);
  for (const PlacedElement& element : elements) part_of[static_cast<std::size_t>(element.element)] = element.part;
  return halvings.size();
}

TEST(Fill, parts_without_an_element_get_half_of_the_largest) {
  const auto mesh = octavo::testing::random_triangles(3, 6, 4);
  const auto elements = static_cast<std::int32_t>(mesh.connectivity.size() / 3);
  for (const std::int32_t parts : {2, 5, elements / 2, elements}) {
    PartVector part_of(static_cast<std::size_t>(elements), 0);
    for (std::size_t e = 0; e < part_of.size(); e += 3) part_of[e] = parts - 1;
    const PartVector before = part_of;
    EXPECT_EQ(fill_empty_parts(mesh, parts, part_of), static_cast<std::size_t>(parts - 2));
    const PartLists lists = list_parts(part_of, parts);
    for (std::int32_t part = 0; part < parts; ++part) EXPECT_FALSE(elements_of(lists, part).empty());
    for (std::size_t e = 0; e < part_of.size(); ++e)  // no element goes to a part that was not empty
      EXPECT_TRUE(part_of[e] == before[e] || (part_of[e] > 0 && part_of[e] < parts - 1));
    EXPECT_EQ(fill_empty_parts(mesh, parts, part_of), static_cast<std::size_t>(0));
  }
}

TEST(Fill, elements_that_must_stay_in_the_first_part_stay) {
  const auto mesh = octavo::testing::random_triangles(3, 6, 4);
  const auto elements = static_cast<std::int32_t>(mesh.connectivity.size() / 3);
  std::vector<bool> stays(static_cast<std::size_t>(elements), false);
  for (std::size_t e = 0; e < stays.size(); e += 3) stays[e] = true;
  const auto others = static_cast<std::int32_t>(std::count(stays.begin(), stays.end(), false));
  for (const std::int32_t parts : {2, others / 2, others + 1}) {
    PartVector part_of(static_cast<std::size_t>(elements), 0);
    EXPECT_EQ(fill_empty_parts(mesh, parts, part_of, stays), static_cast<std::size_t>(parts - 1));
    const PartLists lists = list_parts(part_of, parts);
    for (std::int32_t part = 0; part < parts; ++part) EXPECT_FALSE(elements_of(lists, part).empty());
    for (std::size_t e = 0; e < stays.size(); e += 3) EXPECT_EQ(part_of[e], 0);
    const PartVector before = part_of;
    EXPECT_EQ(fill_empty_parts(mesh, parts, part_of, stays), static_cast<std::size_t>(0));
    EXPECT_EQ(part_of, before);
  }
}

TEST(Fill, a_part_is_halved_across_its_longest_extent) {
  std::vector<PlacedElement> row;
  for (std::int32_t e = 0; e < 9; ++e) row.push_back({e, 1, static_cast<float>(e % 2), static_cast<float>(3 * e)});
  const auto plan = plan_halvings(std::vector<std::int64_t>{0, 9, 2});
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0].from, 1);
  EXPECT_EQ(plan[0].to, 0);
  EXPECT_EQ(plan[0].elements, 4);
  halve_parts(plan, row);
  for (const PlacedElement& element : row) EXPECT_EQ(element.part, element.element < 5 ? 1 : 0);
}

}  // namespace
}  // namespace octavo::partition
