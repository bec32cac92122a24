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

PartVector cut(Method method, const Triangles& mesh, std::int32_t parts) {
  if (method == Method::metis) return cut_metis(mesh.connectivity, points_of(mesh), parts);
  if (method == Method::scotch) return cut_scotch(mesh.connectivity, points_of(mesh), parts);
  if (method == Method::inertial) return cut_inertial(mesh.connectivity, mesh.x, mesh.y, parts);
  return cut_hilbert(mesh.connectivity, mesh.x, mesh.y, parts);
}

std::vector<Method> methods() {
  std::vector<Method> here;
  for (const Method method : {Method::metis, Method::scotch, Method::hilbert, Method::inertial})
    if (has(method)) here.push_back(method);
  return here;
}

std::int64_t cut_edges(const Triangles& mesh, const PartVector& part_of) {
  const SharedPoints shared = find_shared(mesh.connectivity, points_of(mesh), part_of);
  std::int64_t sides = 0;
  for (const HaloElement& element : find_halo(mesh.connectivity, part_of, shared))
    for (const std::int32_t other : element.behind)
      sides +=
          other >= 0 && part_of[static_cast<std::size_t>(other)] != part_of[static_cast<std::size_t>(element.element)];
  return sides / 2;
}

TEST(PartitionSmooth, fewer_edges_are_cut_and_parts_stay_as_large_to_three_hundredths) {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    const Triangles mesh = random_triangles(seed, 60, 40, seed % 2 == 0);
    const auto parts = static_cast<std::int32_t>(3 + seed);
    PartVector part_of = cut(Method::hilbert, mesh, parts);
    const std::int64_t before = cut_edges(mesh, part_of);
    smooth_cuts(find_behind(mesh.connectivity, points_of(mesh)), parts, part_of);
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
  smooth_cuts(find_behind(mesh.connectivity, points_of(mesh)), 1, one);
  EXPECT_THAT(one, ::testing::Each(0));
  PartVector each(one.size());  // a part an element: none may lose its own
  for (std::size_t e = 0; e < each.size(); ++e) each[e] = static_cast<std::int32_t>(e);
  const PartVector before = each;
  smooth_cuts(find_behind(mesh.connectivity, points_of(mesh)), static_cast<std::int32_t>(each.size()), each);
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

TEST(PartitionGraph, joined_stretches_cut_fewer_edges_than_stretches_as_long_as_parts) {
  // A valley that turns back twice, narrower than a part is long: the curve's stretches fall apart there.
  Triangles mesh = random_triangles(3, 240, 8);
  for (std::size_t i = 0; i < mesh.x.size(); ++i) {
    const double turn = std::floor(mesh.x[i] / 80), along = mesh.x[i] - 80 * turn;
    const bool back = static_cast<int>(turn) % 2 != 0;
    mesh.x[i] = back ? 80 - along : along;
    mesh.y[i] = (back ? 8 - mesh.y[i] : mesh.y[i]) + 9 * turn;
  }
  constexpr std::int32_t parts = 12;
  PartVector plain = cut_hilbert(mesh.connectivity, mesh.x, mesh.y, parts);
  smooth_cuts(find_behind(mesh.connectivity, points_of(mesh)), parts, plain);
  const PartVector joined = cut_joined(mesh.connectivity, mesh.x, mesh.y, parts);
  EXPECT_LT(10 * cut_edges(mesh, joined), 7 * cut_edges(mesh, plain));
  const PartLists lists = list_parts(joined, parts);
  for (std::int32_t p = 0; p < parts; ++p) {
    EXPECT_GE(elements_of(lists, p).size(), 309U);
    EXPECT_LE(elements_of(lists, p).size(), 331U);
  }
}

TEST(PartitionGraph, any_number_of_parts_is_filled) {
  const Triangles mesh = random_triangles(5, 12, 9, true);
  const auto elements = static_cast<std::int32_t>(mesh.connectivity.size() / 3);
  for (const std::int32_t parts : {1, 2, 3, 5, 8, 13, 20, 26, 27, 60, 213, elements}) {
    const PartVector part_of = cut_joined(mesh.connectivity, mesh.x, mesh.y, parts);
    EXPECT_EQ(std::set<std::int32_t>(part_of.begin(), part_of.end()).size(), static_cast<std::size_t>(parts));
  }
}

/// By brute force: points of several parts with those.
std::map<std::int32_t, std::set<std::int32_t>> shared_by_hand(const Triangles& mesh, const PartVector& part_of) {
  std::map<std::int32_t, std::set<std::int32_t>> parts;
  for (std::size_t i = 0; i < mesh.connectivity.size(); ++i) parts[mesh.connectivity[i]].insert(part_of[i / 3]);
  std::erase_if(parts, [](const auto& entry) { return entry.second.size() < 2; });
  return parts;
}

/// By brute force: what lies behind the edges of elements with a cut edge.
std::map<std::int32_t, std::array<std::int32_t, 3>> halo_by_hand(const Triangles& mesh, const PartVector& part_of) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> owner;
  const auto corner = [&](std::size_t e, std::size_t k) { return mesh.connectivity[3 * e + k % 3]; };
  for (std::size_t e = 0; e < part_of.size(); ++e)
    for (std::size_t k = 0; k < 3; ++k) owner[{corner(e, k), corner(e, k + 1)}] = static_cast<std::int32_t>(e);
  std::map<std::int32_t, std::array<std::int32_t, 3>> halo;
  for (std::size_t e = 0; e < part_of.size(); ++e) {
    std::array<std::int32_t, 3> behind{-1, -1, -1};
    bool is_cut = false;
    for (std::size_t k = 0; k < 3; ++k)
      if (const auto found = owner.find({corner(e, k + 1), corner(e, k)}); found != owner.end()) {
        behind[k] = found->second;
        is_cut = is_cut || part_of[static_cast<std::size_t>(behind[k])] != part_of[e];
      }
    if (is_cut) halo[static_cast<std::int32_t>(e)] = behind;
  }
  return halo;
}

TEST(Cut, every_method_fills_all_parts_and_repeats_itself) {
  for (const Method method : methods())
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
  if (!has(Method::scotch)) GTEST_SKIP() << "no Scotch in this build";
  const Triangles mesh = random_triangles(1, 120, 80);  // Scotch has threads for such
  const PartVector first = cut(Method::scotch, mesh, 21);
  for (int again = 0; again < 2; ++again) EXPECT_EQ(cut(Method::scotch, mesh, 21), first);
}

TEST(Cut, sizes_by_the_curve_and_by_inertia_differ_by_one_element) {
  const Triangles mesh = random_triangles(3, 13, 11);
  for (int i = 0; i < 10; ++i) {
    const std::int32_t parts = std::array{1, 2, 5, 100, 286}[static_cast<std::size_t>(i / 2)];
    const PartLists lists = list_parts(cut(i % 2 == 0 ? Method::hilbert : Method::inertial, mesh, parts), parts);
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
  std::size_t elsewhere = 0;  // ties at a limit: places that are equal
  for (std::size_t i = 0; i < x.size(); ++i) elsewhere += cuts.part_at(x[i], y[i]) != cuts.parts()[i];
  EXPECT_LE(elsewhere, 40U);
  EXPECT_EQ(InertialCuts::stride(1000, 3), 1);
  EXPECT_EQ(InertialCuts::stride(std::int64_t{1} << 23, 3), 4);
}

TEST(Cut, more_parts_than_elements_or_none_are_refused) {
  const Triangles mesh = random_triangles(3, 2, 1);
  for (const Method method : methods())
    for (const std::int32_t parts : {-1, 0, 5}) EXPECT_THROW(cut(method, mesh, parts), Error) << name_of(method);
}

TEST(Cut, shared_points_and_halo_are_those_found_by_hand) {
  std::mt19937 random(5);
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    const Triangles mesh = random_triangles(seed, 6, 5, seed % 2 == 0);
    PartVector part_of(mesh.connectivity.size() / 3);
    for (auto& part : part_of) part = static_cast<std::int32_t>(random() % (1 + seed));  // as ragged as can be
    const SharedPoints shared = find_shared(mesh.connectivity, points_of(mesh), part_of);
    const auto expected = shared_by_hand(mesh, part_of);
    ASSERT_EQ(shared.points.size(), expected.size());
    std::size_t i = 0;
    for (const auto& [point, parts] : expected) {
      EXPECT_EQ(shared.points[i], point);
      const std::vector<std::int32_t> found(shared.parts.begin() + shared.first[i],
                                            shared.parts.begin() + shared.first[i + 1]);
      EXPECT_EQ(found, std::vector<std::int32_t>(parts.begin(), parts.end()));
      ++i;
    }
    const auto by_hand = halo_by_hand(mesh, part_of);
    const auto halo = find_halo(mesh.connectivity, part_of, shared);
    ASSERT_EQ(halo.size(), by_hand.size());
    std::size_t k = 0;
    std::int64_t cut_edges = 0;
    for (const auto& [element, behind] : by_hand) {
      EXPECT_EQ(halo[k].element, element);
      EXPECT_EQ(halo[k++].behind, behind);
      for (const std::int32_t b : behind)
        cut_edges += b >= 0 && part_of[static_cast<std::size_t>(b)] != part_of[static_cast<std::size_t>(element)];
    }
    const Quality quality = quality_of(list_parts(part_of, static_cast<std::int32_t>(1 + seed)), part_of, shared, halo);
    EXPECT_EQ(2 * quality.cut_edges, cut_edges);
    EXPECT_EQ(quality.shared_points, static_cast<std::int64_t>(expected.size()));
    std::map<std::int32_t, std::set<std::int32_t>> neighbours;
    for (const auto& [point, parts] : expected)
      for (const std::int32_t a : parts) neighbours[a].insert(parts.begin(), parts.end());
    std::size_t most = 0;
    for (const auto& [part, others] : neighbours) most = std::max(most, others.size() - 1);
    EXPECT_EQ(quality.most_neighbours, static_cast<std::int32_t>(most));
  }
}

TEST(Cut, an_edge_of_three_elements_is_refused) {
  const std::vector<std::int32_t> fan{0, 1, 2, 1, 0, 3, 0, 1, 4};
  const PartVector part_of{0, 1, 2};
  EXPECT_THROW(find_halo(fan, part_of, find_shared(fan, 5, part_of)), Error);
}

TEST(Contour, runs_around_the_mesh_and_its_hole) {
  for (std::uint32_t seed = 0; seed < 8; ++seed) {
    const Triangles mesh = random_triangles(seed, 5, 5, seed % 2 == 0);
    auto boundary = octavo::testing::boundary_of(mesh);
    EXPECT_EQ(boundary.size(), seed % 2 == 0 ? 24U : 20U);
    std::shuffle(boundary.begin(), boundary.end(), std::mt19937(seed));
    const Contour contour = trace_contour(mesh.connectivity, points_of(mesh), boundary);
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

TEST(Contour, a_list_that_is_not_the_boundary_names_a_point) {
  const Triangles mesh = random_triangles(1, 4, 4);
  auto boundary = octavo::testing::boundary_of(mesh);
  const std::int32_t missing = boundary.back();
  boundary.pop_back();
  EXPECT_THROW(trace_contour(mesh.connectivity, points_of(mesh), boundary), Error);
  boundary.push_back(missing);
  for (std::int32_t point = 0; point < points_of(mesh); ++point)
    if (std::find(boundary.begin(), boundary.end(), point) == boundary.end()) {
      boundary.push_back(point);  // an interior one
      break;
    }
  EXPECT_THROW(trace_contour(mesh.connectivity, points_of(mesh), boundary), Error);
}

TEST(Fill, parts_without_an_element_get_half_of_the_largest) {
  const auto mesh = octavo::testing::random_triangles(3, 6, 4);
  const auto elements = static_cast<std::int32_t>(mesh.connectivity.size() / 3);
  for (const std::int32_t parts : {2, 5, elements / 2, elements}) {
    PartVector part_of(static_cast<std::size_t>(elements), 0);
    for (std::size_t e = 0; e < part_of.size(); e += 3) part_of[e] = parts - 1;
    const PartVector before = part_of;
    EXPECT_EQ(fill_empty_parts(mesh.connectivity, mesh.x, mesh.y, parts, part_of), parts - 2);
    const PartLists lists = list_parts(part_of, parts);
    for (std::int32_t part = 0; part < parts; ++part) EXPECT_FALSE(elements_of(lists, part).empty());
    for (std::size_t e = 0; e < part_of.size(); ++e)  // none goes to a part that had some
      EXPECT_TRUE(part_of[e] == before[e] || (part_of[e] > 0 && part_of[e] < parts - 1));
    EXPECT_EQ(fill_empty_parts(mesh.connectivity, mesh.x, mesh.y, parts, part_of), 0);
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
    EXPECT_EQ(fill_empty_parts(mesh.connectivity, mesh.x, mesh.y, parts, part_of, stays), parts - 1);
    const PartLists lists = list_parts(part_of, parts);
    for (std::int32_t part = 0; part < parts; ++part) EXPECT_FALSE(elements_of(lists, part).empty());
    for (std::size_t e = 0; e < stays.size(); e += 3) EXPECT_EQ(part_of[e], 0);
    const PartVector before = part_of;
    EXPECT_EQ(fill_empty_parts(mesh.connectivity, mesh.x, mesh.y, parts, part_of, stays), 0);
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
