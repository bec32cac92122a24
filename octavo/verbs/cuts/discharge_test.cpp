#include "octavo/verbs/cuts/discharge.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "octavo/formats/serafin/series.hpp"
#include "octavo/step/over_time.hpp"
#include "octavo/verbs/convert.hpp"
#include "octavo/verbs/verify.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::verbs {
namespace {

using ::testing::HasSubstr;

/// Depth and velocity are linear in x and y, and grow with the step; with an island in the middle where asked.
struct Stream {
  testing::TemporaryFolder folder;
  testing::SerafinFixture fixture;
  std::filesystem::path path = folder / "stream.slf";

  explicit Stream(std::uint32_t seed, bool hole = false) {
    fixture.mesh = testing::random_triangles(seed, 6, 5, hole);
    fixture.doubles = true;
    fixture.variables = 3;
    fixture.steps = 0;
    std::string bytes = testing::serafin_bytes(fixture);
    for (const auto& [from, to] : {std::pair{"VARIABLE 0 ", "WATER DEPTH"}, std::pair{"VARIABLE 1", "VELOCITY U"},
                                   std::pair{"VARIABLE 2", "VELOCITY V"}})
      bytes.replace(bytes.find(from), std::string(to).size(), to);
    testing::SerafinBytes out{fixture.big_endian, {}};
    for (int step = 0; step < 3; ++step) {
      out.record(std::vector<double>{10.0 * step});
      for (int v = 0; v < 3; ++v) {
        std::vector<double> values;
        for (std::size_t i = 0; i < fixture.mesh.x.size(); ++i)
          values.push_back(value(v, step, fixture.mesh.x[i], fixture.mesh.y[i]));
        out.record(values);
      }
    }
    testing::put_file(path, bytes + out.bytes);
  }
  static double value(int variable, int step, double x, double y) {
    if (variable == 0) return step * (2 + 0.5 * x + 0.25 * y);
    return variable == 1 ? 1 + 0.125 * y - 0.5 * x : 0.5 + 0.25 * x;
  }
};

/// Gauss's rule with 3 points, exact for polynomials of degree 5, on the whole line at once.
double flow_by_hand(int step, const analysis::Polyline& line) {
  double sum = 0;
  for (std::size_t l = 0; l + 1 < line.size(); ++l) {
    const double dx = line[l + 1][0] - line[l][0], dy = line[l + 1][1] - line[l][1];
    for (const auto& [at, weight] : {std::pair{0.5 - std::sqrt(0.15), 5 / 18.0}, std::pair{0.5, 8 / 18.0},
                                     std::pair{0.5 + std::sqrt(0.15), 5 / 18.0}}) {
      const double x = line[l][0] + at * dx, y = line[l][1] + at * dy;
      sum += weight * Stream::value(0, step, x, y) *
             (Stream::value(1, step, x, y) * dy - Stream::value(2, step, x, y) * dx);
    }
  }
  return sum;
}

TEST(Discharge, a_product_of_linear_functions_is_integrated_exactly_and_its_sign_is_left_to_right) {
  const Stream stream(3);
  const std::vector<analysis::Polyline> lines{{{3, 0.5}, {3, 4.5}},
                                              {{3, 4.5}, {3, 0.5}},
                                              {{0.3, 0.2}, {2.7, 4.1}, {5.5, 3.3}},
                                              {{1, 1}, {4, 1}, {2, 4}, {1, 1}}};
  const StepSeries found = discharge(stream.path, lines, "water_depth", {});
  ASSERT_EQ(found.times, (std::vector<double>{0, 10, 20}));
  for (std::size_t l = 0; l < lines.size(); ++l)
    for (std::size_t step = 0; step < 3; ++step)
      EXPECT_NEAR(found.values[3 * l + step], flow_by_hand(static_cast<int>(step), lines[l]), 1e-12);
  EXPECT_DOUBLE_EQ(found.values[1], -found.values[3 + 1]);
  EXPECT_GT(flow_by_hand(1, {{0.5, 0.5}, {0.5, 4.5}}), 0);  // northwards on the left bank: to the east is to the right
  EXPECT_DOUBLE_EQ(found.sizes[0], 4);
}

TEST(Discharge, what_leaves_a_closed_line_is_the_integral_of_the_divergence) {
  const Stream stream(5);
  // The depth is constant, by the formula "1", and div(u, v) is -0.5.
  const analysis::Polyline around{{1, 1}, {1.5, 4}, {5, 4.5}, {4, 1.25}, {1, 1}};  // clockwise: its right is inside
  double twice = 0;
  for (std::size_t i = 0; i + 1 < around.size(); ++i)
    twice += around[i][0] * around[i + 1][1] - around[i + 1][0] * around[i][1];
  EXPECT_NEAR(discharge(stream.path, {around}, "1", {}).values[2], -0.5 * twice / 2, 1e-12);
}

/// The integral over a convex polygon of the depth: of a linear function, area times the value at the middle.
double volume_by_hand(int step, const mesh::Ring& ring) {
  double sum = 0;
  for (std::size_t i = 1; i + 1 < ring.size(); ++i) {
    const double area = ((ring[i][0] - ring[0][0]) * (ring[i + 1][1] - ring[0][1]) -
                         (ring[i][1] - ring[0][1]) * (ring[i + 1][0] - ring[0][0])) /
                        2;
    sum += area * Stream::value(0, step, (ring[0][0] + ring[i][0] + ring[i + 1][0]) / 3,
                                (ring[0][1] + ring[i][1] + ring[i + 1][1]) / 3);
  }
  return std::abs(sum);
}

TEST(Volume, triangles_are_cut_exactly_at_polygons_of_any_form) {
  const Stream stream(3);
  const mesh::Ring convex{{0.5, 0.25}, {5.1, 0.7}, {4.2, 4.4}, {1.3, 3.9}};
  const mesh::Ring hole{{2, 1.5}, {3, 2.5}, {3.5, 1.75}};
  const mesh::Ring star{{3, 0.3}, {3.4, 2.2}, {5.6, 2.5}, {3.4, 2.8}, {3, 4.7}, {2.6, 2.8}, {0.4, 2.5}, {2.6, 2.2}};
  mesh::Ring turned = convex;
  std::reverse(turned.begin(), turned.end());
  const mesh::Ring beyond{{-9, -9}, {9, -9}, {9, 9}, {-9, 9}};
  const StepSeries found =
      volume(stream.path, {{convex}, {turned}, {convex, hole}, {star}, {beyond}, {beyond, convex}}, "water_depth", {});
  const auto at = [&](std::size_t polygon) { return found.values[3 * polygon + 1]; };
  EXPECT_NEAR(at(0), volume_by_hand(1, convex), 1e-12);
  EXPECT_NEAR(at(1), at(0), 1e-13);
  EXPECT_NEAR(at(2), volume_by_hand(1, convex) - volume_by_hand(1, hole), 1e-12);
  EXPECT_NEAR(at(3), volume_by_hand(1, star), 1e-12);
  EXPECT_NEAR(at(4), 30 * Stream::value(0, 1, 3, 2.5), 1e-11);
  EXPECT_NEAR(at(5), at(4) - at(0), 1e-11);
  EXPECT_NEAR(found.sizes[4], 30, 1e-12);
  EXPECT_NEAR(volume(stream.path, {}, "water_depth", {}).values[1], at(4), 1e-11);
}

TEST(Volume, an_island_holds_nothing) {
  const Stream stream(4, true);
  const StepSeries found = volume(stream.path, {{{{0, 0}, {6, 0}, {6, 5}, {0, 5}}}}, "1", {});
  double area = 0;
  const auto& mesh = stream.fixture.mesh;
  for (std::size_t t = 0; t < mesh.connectivity.size(); t += 3) {
    const auto a = static_cast<std::size_t>(mesh.connectivity[t]),
               b = static_cast<std::size_t>(mesh.connectivity[t + 1]),
               c = static_cast<std::size_t>(mesh.connectivity[t + 2]);
    area += ((mesh.x[b] - mesh.x[a]) * (mesh.y[c] - mesh.y[a]) - (mesh.y[b] - mesh.y[a]) * (mesh.x[c] - mesh.x[a])) / 2;
  }
  EXPECT_NEAR(found.values[0], area, 1e-12);
  EXPECT_LT(area, 29.9);
}

TEST(Volume, polygons_and_lines_that_are_none_are_refused) {
  const Stream stream(3);
  const auto message = [&](const mesh::Polygon& polygon) {
    return testing::message_of([&] { volume(stream.path, {polygon}, "water_depth", {}); });
  };
  EXPECT_THAT(message({{{0, 0}, {1, 1}, {1, 0}, {0, 1}}}), HasSubstr("crosses itself"));
  EXPECT_THAT(message({{{0, 0}, {1, 1}}}), HasSubstr("2 corners: expected three"));
  EXPECT_THAT(message({{{10, 10}, {11, 10}, {11, 11}}}), HasSubstr("polygon 1 holds nothing of the mesh"));
  EXPECT_THAT(testing::message_of([&] { volume(stream.path, {}, "water_dept", {}); }), HasSubstr("water_dept"));
  EXPECT_THAT(testing::message_of([&] {
                discharge(stream.path, {{{9, 9}, {10, 10}}}, "water_depth", {});
              }),
              HasSubstr("line 1 meets no triangle"));
}

TEST(OverTime, arrival_is_the_time_of_the_first_step_above_a_threshold) {
  const Stream stream(3);
  const mesh::Part part = step::over_time(stream.path, step::over_time_named("arrival:3")).read(0, {});
  const auto values = part.fields.at(0).as<double>();
  std::size_t early = 0, late = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double depth = Stream::value(0, 1, stream.fixture.mesh.x[i], stream.fixture.mesh.y[i]);
    EXPECT_EQ(values[i], depth > 3 ? 10 : 20) << depth;
    (depth > 3 ? early : late) += 1;
  }
  EXPECT_GT(early, 5U);
  EXPECT_GT(late, 5U);
  EXPECT_EQ(part.fields.at(0).info.unit, "S");
  const mesh::Part never = step::over_time(stream.path, step::over_time_named("arrival:1e9")).read(0, {});
  EXPECT_TRUE(std::isnan(never.fields.at(0).as<double>()[0]));
  for (const char* name : {"arrival:", "arrival:x", "arrival:1x", "arrival:inf", "first"})
    EXPECT_THAT(testing::message_of([&] { step::over_time_named(name); }),
                HasSubstr("expected max, min, mean or arrival"));
}

TEST(SubMesh, a_polygon_keeps_triangles_by_their_middle_with_their_values_and_a_boundary_of_their_own) {
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    const Stream stream(seed, seed % 2 == 0);
    ConvertOptions options;
    options.to = "serafin";
    options.polygon = mesh::Polygon{{{0.7, 0.4}, {5.2, 1.1}, {4.9, 4.6}, {2.2, 2.3}, {0.9, 4.7}}};
    const auto out = stream.folder / "cut.slf";
    convert({stream.path}, out, options);
    const store::Report report = verify(out, 1);
    EXPECT_TRUE(report.findings.empty()) << seed << " " << report.findings.at(0).what;
    for (const std::string& note : report.notes) ADD_FAILURE() << note;
    const auto series = formats::serafin::open_series(out);
    EXPECT_EQ(series.steps, 3);
    const mesh::Unstructured cut = read_mesh(series);
    for (std::size_t t = 0; t < cut.connectivity.size(); t += 3) {
      std::array<double, 2> middle{};
      for (std::size_t k = 0; k < 3; ++k) {
        middle[0] += cut.x[static_cast<std::size_t>(cut.connectivity[t + k])] / 3;
        middle[1] += cut.y[static_cast<std::size_t>(cut.connectivity[t + k])] / 3;
      }
      EXPECT_TRUE(mesh::contains(*options.polygon, middle));
    }
    std::vector<double> depth(cut.x.size());
    read_values(series, 2, 0, 0, depth);
    for (std::size_t i = 0; i < depth.size(); ++i) EXPECT_EQ(depth[i], Stream::value(0, 2, cut.x[i], cut.y[i]));
  }
}

TEST(SubMesh, over_time_becomes_a_file_of_one_step) {
  const Stream stream(3);
  ConvertOptions options;
  options.to = "serafin";
  options.over_time = step::over_time_named("max");
  convert({stream.path}, stream.folder / "max.slf", options);
  const auto series = formats::serafin::open_series(stream.folder / "max.slf");
  EXPECT_EQ(series.steps, 1);
  std::vector<double> depth(stream.fixture.mesh.x.size());
  read_values(series, 0, 0, 0, depth);
  for (std::size_t i = 0; i < depth.size(); ++i)
    EXPECT_EQ(depth[i], Stream::value(0, 2, stream.fixture.mesh.x[i], stream.fixture.mesh.y[i]));
  options.to.clear();
  EXPECT_THAT(testing::message_of([&] { convert({stream.path}, stream.folder / "max.octavo", options); }),
              HasSubstr("values over time are for outputs that are files of triangles"));
}

}  // namespace
}  // namespace octavo::verbs
