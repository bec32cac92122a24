#include "octavo/analysis/camera.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "octavo/analysis/line.hpp"
#include "octavo/analysis/select.hpp"
#include "octavo/base/error.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::analysis {
namespace {

constexpr int any_level = std::numeric_limits<int>::max();

mesh::Header seen_header(const mesh::Octree& tree, bool periodic) {
  mesh::Header header;
  header.dim = tree.dim;
  header.roots = tree.roots;
  header.block = tree.block;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    header.lo[axis] = -0.2;
    header.hi[axis] = -0.2 + 1.5 * static_cast<double>(tree.roots[axis]);
    header.periodic[axis] = periodic;
  }
  return header;
}

mesh::Part seen_part(const mesh::Octree& tree) {
  mesh::Part part;
  part.mesh = tree;
  part.fields = {testing::smooth_field(tree, "rho", 3), testing::smooth_field(tree, "w", 4)};
  return part;
}

std::vector<double> seen(const mesh::Part& part, const mesh::Header& header, const AnyView& view, Projection kind,
                         const std::string& weight = "", int max_level = any_level) {
  const Rays rays = make_rays(header, view);
  Frame frame;
  frame.kind = kind;
  frame.pixels = view.pixels;
  ImageRows image = blank_rows(frame, {frame.pixels[1]});
  const std::size_t middle = frame.pixels[1] / 3;
  add(kind, image, cast(part, header, rays, kind, "rho", weight, max_level, {0, middle}));
  add(kind, image, cast(part, header, rays, kind, "rho", weight, max_level, {middle, frame.pixels[1]}));
  return finish(kind, std::move(image));
}

/// A pixel's ray as a line through the region, cell by cell: another walk, other sums.
struct RayOfPixel {
  double integral = 0, weighted = 0, weight = 0, least = NAN, most = NAN, length = 0;
};
RayOfPixel ray_of_pixel(const mesh::Part& part, const mesh::Header& header, const AnyView& view, std::size_t x,
                        std::size_t y, const std::optional<mesh::Region>& region, int max_level) {
  const double u =
      view.lo[0] + (static_cast<double>(x) + 0.5) * (view.hi[0] - view.lo[0]) / static_cast<double>(view.pixels[0]);
  const double v =
      view.lo[1] + (static_cast<double>(y) + 0.5) * (view.hi[1] - view.lo[1]) / static_cast<double>(view.pixels[1]);
  mesh::Point3 from{}, to{};
  for (std::size_t a = 0; a < 3; ++a) {
    from[a] = view.axes.right[a] * u + view.axes.up[a] * v + view.axes.towards[a] * view.depth_lo;
    to[a] = view.axes.right[a] * u + view.axes.up[a] * v + view.axes.towards[a] * view.depth_hi;
  }
  const Chords chords = chords_of(part, header, make_line(header, from, to, region), {"rho", "w"}, max_level);
  RayOfPixel ray;
  for (std::size_t c = 0; c < chords.chords.size(); ++c) {
    const double length = chords.chords[c].exit - chords.chords[c].entry;
    const double value = chords.values[2 * c], w = chords.values[2 * c + 1];
    ray.length += length;
    ray.integral += value * length;
    ray.weighted += value * w * length;
    ray.weight += w * length;
    if (length < 1e-9) continue;
    ray.least = std::fmin(ray.least, value);
    ray.most = std::fmax(ray.most, value);
  }
  return ray;
}

TEST(Camera, a_pixel_is_the_line_through_its_centre) {
  testing::Random random(9);
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    testing::TreeOptions options{.dim = 3};
    options.max_levels = 4;
    options.max_cells = 800;
    if (seed % 3 == 0) options.block = {2, 2, 3};
    const mesh::Octree tree = testing::random_octree(seed + 30, options);
    const mesh::Header header = seen_header(tree, false);
    const mesh::Part part = seen_part(tree);
    mesh::Point3 towards{random.uniform() - 0.5, random.uniform() - 0.5, random.uniform() - 0.5};
    if (seed % 4 == 2) towards[seed % 3] = 0;  // rays run along sides
    std::optional<mesh::Region> region;
    if (seed % 2 == 1) region = mesh::Box{{0.15, 0.1, -0.2}, {0.75, 1.4, 0.6}};
    const int max_level = seed % 5 == 4 ? 1 : any_level;
    const AnyView view = view_of_region(header, make_orientation(towards), region, 17);
    const auto integral = seen(part, header, view, Projection::integral, "", max_level);
    const auto mean = seen(part, header, view, Projection::mean, "w", max_level);
    const auto most = seen(part, header, view, Projection::maximum, "", max_level);
    const auto least = seen(part, header, view, Projection::minimum, "", max_level);
    for (std::size_t y = 0; y < view.pixels[1]; ++y)
      for (std::size_t x = 0; x < view.pixels[0]; ++x) {
        const RayOfPixel ray = ray_of_pixel(part, header, view, x, y, region, max_level);
        const std::size_t p = y * view.pixels[0] + x;
        if (ray.length < 1e-9) {
          EXPECT_TRUE(std::isnan(integral[p]) || std::abs(integral[p]) < 1e-7);
          continue;
        }
        ++compared;
        EXPECT_NEAR(integral[p], ray.integral, 1e-11 * std::abs(ray.integral) + 1e-12)
            << seed << ": " << x << ", " << y;
        EXPECT_NEAR(mean[p], ray.weighted / ray.weight, 1e-10 * std::abs(mean[p]) + 1e-11);
        EXPECT_EQ(most[p], ray.most);
        EXPECT_EQ(least[p], ray.least);
      }
  }
  EXPECT_GT(compared, 1000U);
}

TEST(Camera, along_an_axis_equals_the_map_where_pixels_are_in_cells) {
  const mesh::Octree tree =
      testing::random_octree(21, {.dim = 3, .roots = {1, 1, 1}, .max_levels = 5, .max_cells = 4000});
  const mesh::Header header = seen_header(tree, false);
  const mesh::Part part = seen_part(tree);
  for (int axis = 0; axis < 3; ++axis)
    for (const auto kind : {Projection::integral, Projection::mean, Projection::maximum, Projection::minimum}) {
      Frame frame = make_frame(header, axis, kind, {}, 32);
      ImageRows image = blank_rows(frame, {32});
      add(kind, image, project(part, header, frame, "rho", kind == Projection::mean ? "w" : "", any_level));
      const auto map = finish(kind, std::move(image));
      const AnyView view = view_of_region(header, along_axis(axis), {}, 32);
      EXPECT_EQ(view.lo, frame.lo);
      EXPECT_EQ(view.hi, frame.hi);
      const auto rays = seen(part, header, view, kind, kind == Projection::mean ? "w" : "");
      for (std::size_t p = 0; p < map.size(); ++p) EXPECT_NEAR(rays[p], map[p], 1e-12 * std::abs(map[p])) << axis;
    }
}

TEST(Camera, a_uniform_domain_shows_its_own_thickness) {
  mesh::Octree tree = testing::random_octree(2, {.dim = 3, .roots = {1, 1, 1}, .max_levels = 6, .max_cells = 9000});
  for (const bool periodic : {false, true}) {
    mesh::Header header = seen_header(tree, periodic);
    mesh::Part part = seen_part(tree);
    for (double& value : part.fields[0].as<double>()) value = 1;
    const AnyView view = view_of_region(header, make_orientation({1, 1, 1}), {}, 43);
    const auto picture = seen(part, header, view, Projection::integral);
    // The ray through the middle runs from corner to corner; all of it is the volume, as closely as rays sample it.
    EXPECT_NEAR(picture[picture.size() / 2], 1.5 * std::sqrt(3.0), 1e-12);
    double sum = 0;
    for (double value : picture) sum += std::isnan(value) ? 0 : value;
    ASSERT_EQ(view.pixels, (std::array<std::size_t, 2>{37, 43}));
    const double pixel = (view.hi[0] - view.lo[0]) / 37 * (view.hi[1] - view.lo[1]) / 43;
    EXPECT_NEAR(sum * pixel, 1.5 * 1.5 * 1.5, 0.01);
    EXPECT_TRUE(std::isnan(picture[0]));  // outside of the domain's shadow
  }
}

TEST(Camera, a_sphere_takes_the_cells_with_their_centre_inside) {
  const mesh::Octree tree =
      testing::random_octree(4, {.dim = 3, .roots = {2, 2, 2}, .max_levels = 4, .max_cells = 3000});
  const mesh::Header header = seen_header(tree, false);
  const mesh::Part part = seen_part(tree);
  const mesh::Region region = mesh::Sphere{{0.5, 0.5, 0.5}, 0.3};
  const AnyView view = view_of_region(header, make_orientation({0.3, -0.2, 0.6}), region, 200);
  const auto picture = seen(part, header, view, Projection::integral);
  double sum = 0, expected = 0;
  for (double value : picture) sum += std::isnan(value) ? 0 : value;
  const auto rho = part.fields[0].as<double>();
  for_each_selected(tree, header, {region}, [&](const Cells& cells) {
    const mesh::Point3 size = mesh::cell_size(header, cells.level);
    for (const std::size_t i : cells.values) expected += rho[i] * size[0] * size[1] * size[2];
  });
  const double pixel =
      (view.hi[0] - view.lo[0]) / 200 * (view.hi[1] - view.lo[1]) / static_cast<double>(view.pixels[1]);
  // Cells are clipped to the cube around the sphere, as on maps along an axis.
  EXPECT_NEAR(sum * pixel, expected, 0.1 * std::abs(expected));
}

TEST(Camera, footprints_hold_all_that_is_drawn) {
  const mesh::Octree tree = testing::random_octree(6, {.dim = 3, .max_levels = 4, .max_cells = 800});
  const mesh::Header header = seen_header(tree, false);
  const AnyView view = view_of_region(header, make_orientation({1, 2, 3}), {}, 64);
  const Rays rays = make_rays(header, view);
  const mesh::Part part = seen_part(tree);
  const Footprint pixels = footprint_of_rays(part, header, rays, any_level);
  const Tile tile = cast(part, header, rays, Projection::integral, "rho", "", any_level, {0, view.pixels[1]});
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(pixels.first[i], tile.first[i]);
    EXPECT_EQ(pixels.last[i], tile.first[i] + tile.size[i]);
  }
}

}  // namespace
}  // namespace octavo::analysis
