#include "octavo/verbs/cuts/transect.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include "octavo/step/open.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_ranks.hpp"

namespace octavo::verbs {
namespace {

using ::testing::HasSubstr;
using Place = std::array<double, 2>;

/// Squares of side 1 as triangles whose first variable is linear in x, y and the plane.
struct Ramp {
  testing::TemporaryFolder folder;
  testing::SerafinFixture fixture;
  mesh::Dataset step;

  explicit Ramp(std::uint32_t seed, int planes = 1, bool hole = false) {
    fixture.mesh = testing::random_triangles(seed, 6, 5, hole);
    fixture.doubles = true;
    fixture.variables = 1;
    fixture.planes = planes;
    fixture.steps = 0;
    std::string bytes = testing::serafin_bytes(fixture);
    testing::SerafinBytes out{fixture.big_endian, {}};
    out.record(std::vector<double>{3.0});
    std::vector<double> values;
    for (int plane = 0; plane < planes; ++plane)
      for (std::size_t i = 0; i < fixture.mesh.x.size(); ++i)
        values.push_back(height(plane, fixture.mesh.x[i], fixture.mesh.y[i]));
    out.record(values);
    testing::put_file(folder / "ramp.slf", bytes + out.bytes);
    step = octavo::step::open(folder / "ramp.slf", {{}, 0});
  }
  static double height(int plane, double x, double y) { return 0.1 * x - 0.2 * y + plane * (1 + 0.05 * x); }
};

/// Whether a place lies in a triangle, by the signs of three areas.
bool on_mesh(const testing::Triangles& mesh, const Place& at) {
  for (std::size_t t = 0; t < mesh.connectivity.size(); t += 3) {
    int left = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto a = static_cast<std::size_t>(mesh.connectivity[t + k]);
      const auto b = static_cast<std::size_t>(mesh.connectivity[t + (k + 1) % 3]);
      left += (mesh.x[b] - mesh.x[a]) * (at[1] - mesh.y[a]) >= (mesh.y[b] - mesh.y[a]) * (at[0] - mesh.x[a]) ? 1 : 0;
    }
    if (left == 3) return true;
  }
  return false;
}

/// How often the open stretch between two places crosses an edge, each edge once; places are in no special position.
int edges_between(const testing::Triangles& mesh, const Place& from, const Place& to) {
  std::set<std::pair<std::int32_t, std::int32_t>> crossed;
  const auto side = [](const Place& a, const Place& b, const Place& c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0;
  };
  for (std::size_t t = 0; t < mesh.connectivity.size(); t += 3)
    for (std::size_t k = 0; k < 3; ++k) {
      const auto i = mesh.connectivity[t + k], j = mesh.connectivity[t + (k + 1) % 3];
      const Place a{mesh.x[static_cast<std::size_t>(i)], mesh.y[static_cast<std::size_t>(i)]};
      const Place b{mesh.x[static_cast<std::size_t>(j)], mesh.y[static_cast<std::size_t>(j)]};
      if (side(from, to, a) != side(from, to, b) && side(a, b, from) != side(a, b, to))
        crossed.insert({std::min(i, j), std::max(i, j)});
    }
  return static_cast<int>(crossed.size());
}

TEST(Transect, a_linear_field_is_exact_and_each_crossed_edge_is_a_row) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> x(-1, 7), y(-1, 6);
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const Ramp ramp(seed, 1, seed % 2 == 0);
    TransectOptions options;
    options.fields = {"VARIABLE 0"};
    options.through = {{0.51, 0.53}, {x(random), y(random)}, {x(random), y(random)}};
    const TransectTable table = transect(ramp.step, options);
    std::size_t inner = 0;  // rows at the line's own points
    for (std::size_t r = 0; r < table.distance.size(); ++r) {
      if (std::isnan(table.values[r])) continue;
      EXPECT_NEAR(table.values[r], Ramp::height(0, table.x[r], table.y[r]), 1e-12);
      for (const Place& point : options.through) inner += table.x[r] == point[0] && table.y[r] == point[1] ? 1U : 0U;
      if (r > 0) {
        EXPECT_GE(table.distance[r], table.distance[r - 1]);
      }
      // Between rows the mesh is there, and it is not where a row of NaN stands between.
      if (r + 1 == table.distance.size()) continue;
      const std::size_t next = std::isnan(table.values[r + 1]) ? r + 2 : r + 1;
      if (next >= table.distance.size()) continue;
      const Place middle{(table.x[r] + table.x[next]) / 2, (table.y[r] + table.y[next]) / 2};
      const bool straight = std::abs(std::hypot(table.x[next] - table.x[r], table.y[next] - table.y[r]) -
                                     (table.distance[next] - table.distance[r])) < 1e-9;
      if (straight) {
        EXPECT_EQ(on_mesh(ramp.fixture.mesh, middle), next == r + 1) << seed;
      }
    }
    const int edges = edges_between(ramp.fixture.mesh, options.through[0], options.through[1]) +
                      edges_between(ramp.fixture.mesh, options.through[1], options.through[2]);
    const auto breaks = static_cast<std::size_t>(
        std::count_if(table.values.begin(), table.values.end(), [](double value) { return std::isnan(value); }));
    EXPECT_EQ(table.distance.size() - breaks - inner, static_cast<std::size_t>(edges)) << seed;
    EXPECT_DOUBLE_EQ(table.length, std::hypot(options.through[1][0] - 0.51, options.through[1][1] - 0.53) +
                                       std::hypot(options.through[2][0] - options.through[1][0],
                                                  options.through[2][1] - options.through[1][1]));
  }
}

TEST(Transect, a_line_along_edges_and_through_points_has_no_gap) {
  const Ramp ramp(3);
  TransectOptions options;
  options.fields = {"VARIABLE 0"};
  options.through = {{0, 0}, {6, 0}, {6, 5}, {0, 5}, {0, 0}};  // the mesh's border
  const TransectTable table = transect(ramp.step, options);
  EXPECT_DOUBLE_EQ(table.length, 22);
  EXPECT_EQ(table.distance.size(), 23U);  // the points of the border
  EXPECT_EQ(table.distance.back(), 22);
  for (const double value : table.values) EXPECT_FALSE(std::isnan(value));
}

TEST(Transect, ends_are_named_by_places_too_and_ranks_have_the_same_bits) {
  const Ramp ramp(3);
  TransectOptions options;
  options.fields = {"VARIABLE 0", "x"};
  options.from = "center";
  options.to = "max:VARIABLE 0";
  const TransectTable whole = transect(ramp.step, options);
  EXPECT_EQ(whole.x.front(), 3);
  EXPECT_EQ(whole.x.back(), 6);
  EXPECT_EQ(whole.y.back(), 0);
  testing::run_ranks(3, [&](const base::Ranks& ranks) {
    TransectOptions mine = options;
    mine.ranks = ranks;
    const TransectTable table = transect(ramp.step, mine);
    EXPECT_EQ(table.values, whole.values);
    EXPECT_EQ(table.distance, whole.distance);
    EXPECT_EQ(table.length, whole.length);
    TransectOptions outside = mine;
    outside.through = {{10, 10}, {11, 10}};
    EXPECT_THAT(testing::message_of([&] { transect(ramp.step, outside); }), HasSubstr("meets no triangle"));
  });
}

TEST(Transect, lines_that_are_none_are_refused) {
  const Ramp ramp(3);
  TransectOptions options;
  options.fields = {"VARIABLE 0"};
  const auto message = [&](const analysis::Polyline& line) {
    options.through = line;
    return testing::message_of([&] { transect(ramp.step, options); });
  };
  EXPECT_THAT(message({{1, 1}, {2, 2}, {2, 2}}), HasSubstr("points 2 and 3 of the line are the same"));
  EXPECT_THAT(message({{1, 1}, {NAN, 2}}), HasSubstr("point 2 of the line is not finite"));
  EXPECT_THAT(message({{-1, 1}}), HasSubstr("outside of the mesh"));
  options.fields = {"VARIABLE 9"};
  EXPECT_THAT(message({{1, 1}, {2, 2}}), HasSubstr("VARIABLE 9"));
}

TEST(Transect, a_column_of_planes_has_their_heights) {
  const Ramp ramp(3, 4);
  TransectOptions options;
  options.fields = {"VARIABLE 0"};
  options.through = {{2.25, 1.5}};
  const TransectTable table = transect(ramp.step, options);
  ASSERT_EQ(table.z.size(), 4U);
  for (int plane = 0; plane < 4; ++plane)
    EXPECT_NEAR(table.z[static_cast<std::size_t>(plane)], Ramp::height(plane, 2.25, 1.5), 1e-12);
}

/// The field that is compared: linear in all directions.
constexpr const char* space = "2*x - 3*y + 5*\"VARIABLE 0\"";
double space_at(double x, double y, double z) { return 2 * x - 3 * y + 5 * z; }

TEST(Surface, a_vertical_cut_shows_linear_functions_exactly_between_the_planes_and_nothing_else) {
  const Ramp ramp(3, 4);
  SurfaceOptions options;
  options.field = space;
  options.through = {{-0.5, 0.25}, {3.1, 2.2}, {5.5, 4.5}};
  options.pixels = 64;
  const Map cut = surface(ramp.step, options);
  ASSERT_EQ(cut.ny, 32U);
  const double first = std::hypot(3.6, 1.95), second = std::hypot(2.4, 2.3);
  EXPECT_NEAR(cut.hi[0], first + second, 1e-12);
  std::size_t shown = 0;
  for (std::size_t j = 0; j < cut.ny; ++j)
    for (std::size_t i = 0; i < cut.nx; ++i) {
      const double s = (static_cast<double>(i) + 0.5) * cut.hi[0] / 64;
      const double z = cut.lo[1] + (static_cast<double>(j) + 0.5) * (cut.hi[1] - cut.lo[1]) / 32;
      const double x = s < first ? -0.5 + s / first * 3.6 : 3.1 + (s - first) / second * 2.4;
      const double y = s < first ? 0.25 + s / first * 1.95 : 2.2 + (s - first) / second * 2.3;
      const double found = cut.values[j * cut.nx + i];
      const bool inside = x > 0 && z >= Ramp::height(0, x, y) && z <= Ramp::height(3, x, y);
      ASSERT_EQ(!std::isnan(found), inside) << x << " " << y << " " << z;
      if (inside) {
        EXPECT_NEAR(found, space_at(x, y, z), 1e-11);
      }
      shown += inside ? 1 : 0;
    }
  EXPECT_GT(shown, 500U);
}

TEST(Surface, heights_depths_and_planes_show_linear_functions_exactly) {
  const Ramp ramp(7, 4);
  SurfaceOptions options;
  options.field = space;
  options.pixels = 48;
  using Kind = analysis::Level::Kind;
  for (const analysis::Level& level : {analysis::Level{Kind::height, 1.3}, {Kind::depth, 0.7}, {Kind::plane, 2}}) {
    options.level = level;
    const Map map = surface(ramp.step, options);
    for (std::size_t i = 0; i < map.values.size(); ++i) {
      const double x = (static_cast<double>(i % map.nx) + 0.5) / 8, y = (static_cast<double>(i / map.nx) + 0.5) / 8;
      const double z = level.kind == Kind::height  ? level.at
                       : level.kind == Kind::depth ? Ramp::height(3, x, y) - level.at
                                                   : Ramp::height(2, x, y);
      const bool inside = z >= Ramp::height(0, x, y) && z <= Ramp::height(3, x, y);
      ASSERT_EQ(!std::isnan(map.values[i]), inside) << x << " " << y;
      if (inside) {
        EXPECT_NEAR(map.values[i], space_at(x, y, z), 1e-11);
      }
    }
  }
}

TEST(Surface, ranks_and_threads_give_the_same_bits) {
  const Ramp ramp(7, 4);
  SurfaceOptions options;
  options.field = space;
  options.pixels = 48;
  for (const bool curtain : {false, true}) {
    if (curtain)
      options.through = {{0.5, 0.25}, {5.5, 4.5}};
    else
      options.level = analysis::Level{analysis::Level::Kind::height, 1.3};
    if (curtain) options.level.reset();
    const Map whole = surface(ramp.step, options);
    testing::run_ranks(3, [&](const base::Ranks& ranks) {
      SurfaceOptions mine = options;
      mine.ranks = ranks;
      mine.threads = 2;
      const Map part = surface(ramp.step, mine);
      const auto rows = rows_of(part, ranks, {0, part.ny});
      EXPECT_TRUE(ranks.rank > 0 ||
                  std::memcmp(rows.data(), whole.values.data(), whole.values.size() * sizeof(double)) == 0);
    });
  }
}

TEST(Surface, what_cannot_be_cut_is_refused) {
  const Ramp flat(3), planes(3, 4);
  SurfaceOptions options;
  options.field = "VARIABLE 0";
  const auto message = [&](const Ramp& ramp) { return testing::message_of([&] { surface(ramp.step, options); }); };
  EXPECT_THAT(message(flat), HasSubstr("without planes has no slice"));
  EXPECT_THAT(message(planes), HasSubstr("expected a line, or one height"));
  options.level = analysis::Level{analysis::Level::Kind::plane, 4};
  EXPECT_THAT(message(planes), HasSubstr("plane: expected 0 to 3, found 4"));
  options.level = analysis::Level{analysis::Level::Kind::height, 99};
  EXPECT_THAT(message(planes), HasSubstr("no value there: at height 99"));
}

}  // namespace
}  // namespace octavo::verbs
