#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <random>
#include <set>

#include "octavo/analysis/contour.hpp"
#include "octavo/analysis/solids/solid_line.hpp"
#include "octavo/analysis/solids/solid_map.hpp"
#include "octavo/analysis/solids/solid_slice.hpp"
#include "octavo/mesh/solids/tetrahedra.hpp"
#include "tests/support/solid_box.hpp"

namespace octavo::analysis {
namespace {

using mesh::Point3;
using testing::solid_box;
using testing::solid_boxes;
using testing::values_at_points;

mesh::Header header_of_box() {
  mesh::Header header;
  header.hi = {2, 1.5, 2.5};
  return header;
}

double linear(double x, double y, double z) { return 3 + 2 * x - y + 0.5 * z; }

std::vector<double> random_values(std::size_t count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<double> values(count);
  for (double& value : values) value = static_cast<double>(engine()) / 4294967296.0;
  return values;
}

constexpr double volume_of_box = 2 * 1.5 * 2.5;

TEST(Solids, weights_of_points_integrate_linear_functions_exactly) {
  for (const mesh::Solids& mesh : solid_boxes()) {
    const std::vector<double> volumes = point_volumes(mesh, {}), values = values_at_points(mesh, linear);
    EXPECT_NEAR(std::accumulate(volumes.begin(), volumes.end(), 0.0), volume_of_box, 1e-13);
    EXPECT_NEAR(std::inner_product(values.begin(), values.end(), volumes.begin(), 0.0),
                volume_of_box * linear(1, 0.75, 1.25), 1e-12);
  }
}

TEST(Solids, a_region_takes_cells_by_their_centroid) {
  const mesh::Solids mesh = solid_box(4, 8);
  mesh::Domain domain{3, {1, 0.75, 1.25}, {}};
  const std::vector<char> chosen = cells_within(mesh, {mesh::Box{{0, 0, 0}, {0.5, 0.75, 0.5}}, domain, {0, 0, 0}, 2});
  EXPECT_EQ(std::count(chosen.begin(), chosen.end(), 1), 2 * 4 * 2);
  const std::vector<double> volumes = point_volumes(mesh, chosen);
  EXPECT_NEAR(std::accumulate(volumes.begin(), volumes.end(), 0.0), volume_of_box / 4, 1e-13);
}

TEST(Solids, places_are_located_and_linear_functions_exact_there) {
  const std::vector<Point3> places{{0.3, 0.4, 0.5}, {1, 0.75, 1.25}, {2, 1.5, 2.5}, {0.5, 0.1, 0.625}, {2.1, 1, 1}};
  for (const mesh::Solids& mesh : solid_boxes()) {
    const std::vector<double> values = values_at_points(mesh, linear);
    const auto found = locate(mesh, places);
    for (std::size_t i = 0; i < 4; ++i) {
      ASSERT_TRUE(found[i]);
      double sum = 0;
      for (std::size_t k = 0; k < 4; ++k)
        sum += found[i]->shares[k] * values[static_cast<std::size_t>(found[i]->points[k])];
      EXPECT_NEAR(sum, linear(places[i][0], places[i][1], places[i][2]), 1e-12);
    }
    EXPECT_FALSE(found[4]);
  }
}

// ------------------------------------------------------------------------------------------------ slices

const std::array<Orientation, 5> directions{along_axis(0), along_axis(1), along_axis(2), make_orientation({1, 1, 1}),
                                            make_orientation({-0.3, 1, 0.2})};

TEST(SolidSlice, shows_linear_functions_exactly_and_leaves_no_hole) {
  const mesh::Header header = header_of_box();
  for (const mesh::Solids& mesh : solid_boxes()) {
    const std::vector<double> values = values_at_points(mesh, linear);
    for (const Orientation& axes : directions) {
      const AnyView view = view_of_plane(header, axes, {1, 0.75, 1.25}, {}, 61);
      const auto cuts = solid_sections(mesh, {values}, view);
      const Tile tile = draw_cuts(cuts, view, {0, view.pixels[1]});
      std::size_t shown = 0;
      for (std::size_t j = 0; j < view.pixels[1]; ++j)
        for (std::size_t i = 0; i < view.pixels[0]; ++i) {
          Point3 at{};
          const double u = view.lo[0] + (static_cast<double>(i) + 0.5) * (view.hi[0] - view.lo[0]) /
                                            static_cast<double>(view.pixels[0]);
          const double v = view.lo[1] + (static_cast<double>(j) + 0.5) * (view.hi[1] - view.lo[1]) /
                                            static_cast<double>(view.pixels[1]);
          bool inside = true, outside = false;
          for (std::size_t a = 0; a < 3; ++a) {
            at[a] = axes.right[a] * u + axes.up[a] * v + axes.towards[a] * view.depth_lo;
            inside = inside && at[a] > 1e-9 && at[a] < header.hi[a] - 1e-9;
            outside = outside || at[a] < -1e-9 || at[a] > header.hi[a] + 1e-9;
          }
          const double found = tile.sum[j * view.pixels[0] + i];
          EXPECT_TRUE(!outside || std::isnan(found));
          if (!inside) continue;
          ++shown;
          ASSERT_NEAR(found, linear(at[0], at[1], at[2]), 1e-11);
        }
      EXPECT_GT(shown, 500U);
    }
  }
}

TEST(SolidSlice, a_plane_in_the_outermost_side_shows_it) {
  const mesh::Solids mesh = solid_box(4, 8);
  const std::vector<double> values = values_at_points(mesh, linear);
  for (const double z : {0.0, 2.5}) {
    const AnyView view = view_of_plane(header_of_box(), along_axis(2), {1, 1, z}, {}, 16);
    const auto cuts = solid_sections(mesh, {values}, view);
    const Tile tile = draw_cuts(cuts, view, {0, view.pixels[1]});
    EXPECT_EQ(std::count_if(tile.sum.begin(), tile.sum.end(), [](double value) { return std::isnan(value); }), 0);
    EXPECT_NEAR(tile.sum[0], linear(1.0 / 16, 1.0 / 16, z), 1e-12);
  }
}

TEST(SolidSlice, values_in_cells_are_constant_there_and_a_region_hides_pixels) {
  const mesh::Solids mesh = solid_box(4, 8);
  std::vector<double> numbers(mesh.corners.size());
  std::iota(numbers.begin(), numbers.end(), 0.0);
  const auto drawn = [&](const std::optional<mesh::Region>& region) {
    const AnyView view = view_of_plane(header_of_box(), along_axis(2), {1, 0.75, 0.3}, region, 32);
    const auto cuts = solid_sections(mesh, {numbers, true}, view);
    return draw_cuts(cuts, view, {0, view.pixels[1]});
  };
  const Tile whole = drawn({});
  for (std::size_t j = 0; j < 24; ++j)
    for (std::size_t i = 0; i < 32; ++i)
      EXPECT_EQ(whole.sum[j * 32 + i], static_cast<double>((i / 8 * 4 + j / 6) * 4)) << i << " " << j;
  const Tile round = drawn(mesh::Sphere{{0.5, 0.375, 0.15}, 0.2});
  const auto seen = std::count_if(round.sum.begin(), round.sum.end(), [](double value) { return !std::isnan(value); });
  EXPECT_NEAR(static_cast<double>(seen) / 1024, std::numbers::pi / 4, 0.01);
}

// ------------------------------------------------------------------------------------------------ lines

void check_line(const mesh::Solids& mesh, const Point3& from, const Point3& to, double length_inside) {
  const std::vector<double> values = values_at_points(mesh, linear), cells(mesh.corners.size(), 2.0);
  const std::array<SolidValues, 2> fields{SolidValues{values, false}, SolidValues{cells, true}};
  const Line line = make_line(header_of_box(), from, to, {});
  const Chords found = chords_of(mesh, fields, line);
  ASSERT_FALSE(found.chords.empty());
  double length = 0, integral = 0;
  for (std::size_t c = 0; c < found.chords.size(); ++c) {
    const Chord& chord = found.chords[c];
    EXPECT_EQ(chord.entry, c > 0 ? found.chords[c - 1].exit : chord.entry);
    EXPECT_LT(chord.entry, chord.exit);
    EXPECT_NEAR(found.values[2 * c + 1], 2, 1e-14);
    const double share = 0.5 * (chord.entry + chord.exit) / line.length;
    Point3 middle{};
    for (std::size_t a = 0; a < 3; ++a) middle[a] = from[a] + share * (to[a] - from[a]);
    EXPECT_NEAR(found.values[2 * c], linear(middle[0], middle[1], middle[2]), 1e-10);
    length += chord.exit - chord.entry;
    integral += found.values[2 * c] * (chord.exit - chord.entry);
  }
  EXPECT_NEAR(length, length_inside, 1e-11);
  const double share = 0.5 * (found.chords.front().entry + found.chords.back().exit) / line.length;
  Point3 middle{};
  for (std::size_t a = 0; a < 3; ++a) middle[a] = from[a] + share * (to[a] - from[a]);
  EXPECT_NEAR(integral, length * linear(middle[0], middle[1], middle[2]), 1e-10);
}

TEST(SolidLine, chords_join_and_carry_the_integral) {
  std::mt19937 engine(5);
  const auto number = [&] { return static_cast<double>(engine()) / 4294967296.0; };
  for (const mesh::Solids& mesh : solid_boxes())
    for (int k = 0; k < 20; ++k) {
      const Point3 from{2 * number(), 1.5 * number(), 2.5 * number()}, to{2 * number(), 1.5 * number(), 2.5 * number()};
      check_line(mesh, from, to, std::hypot(from[0] - to[0], from[1] - to[1], from[2] - to[2]));
    }
}

TEST(SolidLine, along_sides_edges_and_diagonals_and_beyond_the_mesh) {
  for (const int corners : {8, 6, 5, 4, 0}) {
    const mesh::Solids mesh = solid_box(4, corners);
    check_line(mesh, {-1, 0.375, 0.625}, {3, 0.375, 0.625}, 2);  // edges
    check_line(mesh, {0.5, 0.375, -1}, {0.5, 0.375, 4}, 2.5);
    check_line(mesh, {0.2, 0.375, 0}, {1.9, 0.375, 2.5}, std::hypot(1.7, 2.5));  // in sides
    check_line(mesh, {0, 0, 0}, {2, 1.5, 2.5}, std::hypot(2, 1.5, 2.5));         // corner to corner
    check_line(mesh, {0, 0.3, 0.1}, {2, 0.3, 0.1}, 2);
    check_line(mesh, {0, 0, 0.7}, {2, 0, 0.7}, 2);  // in the outermost side
    check_line(mesh, {0, 0, 0}, {0, 0, 2.5}, 2.5);  // along the outermost edge
    check_line(mesh, {-0.5, -0.5, 1.1}, {1.5, 1.5, 1.1}, std::sqrt(2) * 1.5);
  }
}

TEST(SolidLine, a_cell_has_one_chord_and_a_region_clips_it) {
  const mesh::Solids mesh = solid_box(4, 8);
  const std::vector<double> values = values_at_points(mesh, linear);
  const std::array<SolidValues, 1> fields{SolidValues{values, false}};
  const Line whole = make_line(header_of_box(), {0, 0.3, 0.2}, {2, 0.3, 0.2}, {});
  EXPECT_EQ(chords_of(mesh, fields, whole).chords.size(), 4U);
  const Line some = make_line(header_of_box(), {0, 0.3, 0.2}, {2, 0.3, 0.2}, mesh::Box{{0.3, 0, 0}, {0.6, 1, 1}});
  const Chords clipped = chords_of(mesh, fields, some);
  ASSERT_EQ(clipped.chords.size(), 2U);
  EXPECT_NEAR(clipped.chords[0].entry, 0.6, 1e-14);
  EXPECT_NEAR(clipped.chords[1].exit, 1.2, 1e-14);
  EXPECT_NEAR(clipped.values[0], linear(0.8, 0.3, 0.2), 1e-12);
}

// ------------------------------------------------------------------------------------------------ maps

/// The picture of all cells, drawn in two pieces of cells and of rows.
std::vector<double> map_of(const mesh::Solids& mesh, const AnyView& view, Projection kind, const SolidValues& field,
                           const SolidValues& weight = {}) {
  const SeenSolids seen = see_solids(mesh, view, field, weight, {});
  Frame frame;
  frame.kind = kind;
  frame.pixels = view.pixels;
  ImageRows image = blank_rows(frame, {frame.pixels[1]});
  const std::size_t cells = mesh.corners.size(), some = frame.pixels[1] / 3;
  for (const auto [first, last] : {std::array{std::size_t{0}, cells / 2}, std::array{cells / 2, cells}})
    for (const RowRange rows : {RowRange{0, some}, RowRange{some, frame.pixels[1]}})
      add(kind, image, project(seen, kind, first, last, rows, frame.pixels[0]));
  return finish(kind, std::move(image));
}

double pixel_area(const AnyView& view) {
  return (view.hi[0] - view.lo[0]) * (view.hi[1] - view.lo[1]) / static_cast<double>(view.pixels[0] * view.pixels[1]);
}

double total_of(const std::vector<double>& image, const AnyView& view) {
  double sum = 0;
  for (const double value : image) sum += std::isnan(value) ? 0 : value;
  return sum * pixel_area(view);
}

TEST(SolidMap, the_sum_over_the_picture_is_the_integral_from_any_side) {
  for (const mesh::Solids& mesh : solid_boxes()) {
    const std::vector<double> values = random_values(mesh.x.size(), 3), volumes = point_volumes(mesh, {});
    const double expected = std::inner_product(values.begin(), values.end(), volumes.begin(), 0.0);
    for (const Orientation& axes : directions)
      for (const std::size_t pixels : {std::size_t{3}, std::size_t{40}}) {
        const AnyView view = view_of_region(header_of_box(), axes, {}, pixels);
        EXPECT_NEAR(total_of(map_of(mesh, view, Projection::integral, {values}), view), expected, 1e-12);
      }
  }
}

TEST(SolidMap, values_in_cells_count_with_their_volume) {
  for (const mesh::Solids& mesh : solid_boxes()) {
    const std::vector<double> values = random_values(mesh.corners.size(), 4), volumes = mesh::volumes_of(mesh);
    const double expected = std::inner_product(values.begin(), values.end(), volumes.begin(), 0.0);
    const AnyView view = view_of_region(header_of_box(), directions[3], {}, 33);
    EXPECT_NEAR(total_of(map_of(mesh, view, Projection::integral, {values, true}), view), expected, 1e-12);
  }
}

TEST(SolidMap, means_and_extremes_of_linear_functions) {
  for (const mesh::Solids& mesh : solid_boxes()) {
    const std::vector<double> values = values_at_points(mesh, linear);
    const std::vector<double> heights = values_at_points(mesh, [](double, double, double z) { return z; });
    const AnyView view = view_of_region(header_of_box(), along_axis(2), {}, 20);
    const auto integral = map_of(mesh, view, Projection::integral, {values});
    const auto mean = map_of(mesh, view, Projection::mean, {values});
    const auto weighted = map_of(mesh, view, Projection::mean, {values}, {heights});
    const auto most = map_of(mesh, view, Projection::maximum, {values});
    const auto least = map_of(mesh, view, Projection::minimum, {values});
    for (std::size_t j = 0; j < 15; ++j)
      for (std::size_t i = 0; i < 20; ++i) {
        const double x = (static_cast<double>(i) + 0.5) / 10, y = (static_cast<double>(j) + 0.5) / 10;
        const std::size_t p = j * 20 + i;
        ASSERT_NEAR(integral[p], 2.5 * linear(x, y, 1.25), 1e-11);
        ASSERT_NEAR(mean[p], linear(x, y, 1.25), 1e-11);
        // The mean of z weighted with z, from 0 to 2.5, is 2/3 of 2.5.
        ASSERT_NEAR(weighted[p], linear(x, y, 2.5 * 2 / 3), 1e-11);
        ASSERT_NEAR(most[p], linear(x + 0.05, y - 0.05, 2.5), 1e-11);
        ASSERT_NEAR(least[p], linear(x - 0.05, y + 0.05, 0), 1e-11);
      }
  }
}

TEST(SolidMap, a_weighted_mean_is_the_same_in_pixels_large_and_small) {
  for (const mesh::Solids& mesh : solid_boxes()) {
    const std::vector<double> values = random_values(mesh.x.size(), 5), weights = random_values(mesh.x.size(), 6);
    const AnyView small = view_of_region(header_of_box(), directions[3], {}, 30);
    AnyView large = small;
    large.pixels = {1, 1};
    const auto means = map_of(mesh, small, Projection::mean, {values}, {weights});
    const auto whole = map_of(mesh, small, Projection::integral, {weights});
    double sum = 0, weight = 0;
    for (std::size_t p = 0; p < means.size(); ++p) {
      if (std::isnan(means[p])) continue;
      sum += means[p] * whole[p];
      weight += whole[p];
    }
    EXPECT_NEAR(map_of(mesh, large, Projection::mean, {values}, {weights})[0], sum / weight, 1e-12);
  }
}

TEST(SolidMap, a_box_cuts_cells_exactly_from_any_side) {
  const mesh::Box box{{0.21, 0.13, 0.3}, {0.77, 0.7, 1.1}};
  const Point3 lo{0.42, 0.26, 0.6}, hi{1.54, 1.4, 2.2};
  const double volume = (hi[0] - lo[0]) * (hi[1] - lo[1]) * (hi[2] - lo[2]);
  const double middle = linear((lo[0] + hi[0]) / 2, (lo[1] + hi[1]) / 2, (lo[2] + hi[2]) / 2);
  for (const mesh::Solids& mesh : solid_boxes()) {
    const std::vector<double> values = values_at_points(mesh, linear);
    for (const Orientation& axes : directions) {
      const AnyView view = view_of_region(header_of_box(), axes, box, 17);
      EXPECT_NEAR(total_of(map_of(mesh, view, Projection::integral, {values}), view), volume * middle, 1e-11);
    }
  }
}

TEST(SolidMap, one_cube_looks_the_same_however_it_is_cut) {
  std::vector<double> first;
  for (const int corners : {8, 6, 5, 4}) {
    const mesh::Solids mesh = solid_box(1, corners);
    const std::vector<double> values = values_at_points(mesh, linear);
    const AnyView view = view_of_region(header_of_box(), directions[4], {}, 25);
    const std::vector<double> picture = map_of(mesh, view, Projection::integral, {values});
    if (first.empty()) first = picture;
    for (std::size_t p = 0; p < picture.size(); ++p)
      EXPECT_TRUE((std::isnan(first[p]) && std::isnan(picture[p])) || std::fabs(first[p] - picture[p]) < 1e-11) << p;
  }
}

// ------------------------------------------------------------------------------------------------ surfaces

/// Whether each side of a triangle is one of another triangle, which passes it the other way.
bool is_closed(const Surface& surface) {
  std::map<std::array<std::uint32_t, 2>, int> sides;
  for (const auto& triangle : surface.triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = triangle[k], b = triangle[(k + 1) % 3];
      sides[{std::min(a, b), std::max(a, b)}] += a < b ? 1 : -1;
    }
  return std::all_of(sides.begin(), sides.end(), [](const auto& side) { return side.second == 0; });
}

double enclosed(const Surface& surface) {
  double six = 0;
  for (const auto& t : surface.triangles) {
    const Point3 &a = surface.points[t[0]], &b = surface.points[t[1]], &c = surface.points[t[2]];
    six += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
  }
  return six / 6;
}

TEST(SolidSurface, is_closed_and_has_the_volume_of_higher_values) {
  for (const int corners : {8, 6, 5, 4, 0})
    for (const double moved : {0.0, 0.2}) {
      const mesh::Solids mesh = solid_box(20, corners, moved);
      const auto values = values_at_points(
          mesh, [](double x, double y, double z) { return 0.6 - std::hypot(x - 1, y - 0.75, z - 1.25); });
      Surface surface = solid_surface(mesh, values, 0, {});
      EXPECT_TRUE(is_closed(surface));
      EXPECT_NEAR(enclosed(surface), 4.0 / 3 * std::numbers::pi * 0.216, 0.02);
    }
}

TEST(SolidSurface, of_a_linear_function_is_its_plane_and_parts_join) {
  const mesh::Solids mesh = solid_box(4, 8, 0.2);
  const std::vector<double> values = values_at_points(mesh, linear);
  const double at = linear(1, 0.75, 1.25);
  const Surface whole = solid_surface(mesh, values, at, {});
  ASSERT_GT(whole.triangles.size(), 20U);
  for (const Point3& point : whole.points) EXPECT_NEAR(linear(point[0], point[1], point[2]), at, 1e-12);
  // The cells of each half by themselves, joined.
  std::vector<char> half(mesh.corners.size(), 0), other(half.size(), 1);
  for (std::size_t cell = 0; cell < half.size() / 2; ++cell) std::swap(half[cell], other[cell]);
  Surface joined = solid_surface(mesh, values, at, half);
  add(joined, solid_surface(mesh, values, at, other));
  EXPECT_GT(joined.points.size(), whole.points.size());
  join_points(joined);
  EXPECT_EQ(joined.points.size(), whole.points.size());
  EXPECT_EQ(joined.triangles.size(), whole.triangles.size());
}

}  // namespace
}  // namespace octavo::analysis
