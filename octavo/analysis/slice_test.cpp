#include "octavo/analysis/slice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "octavo/analysis/descend.hpp"
#include "octavo/analysis/select.hpp"
#include "octavo/base/error.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::analysis {
namespace {

constexpr int every_level = std::numeric_limits<int>::max();

mesh::Header sliced_header(const mesh::Octree& tree, bool periodic) {
  mesh::Header header;
  header.dim = tree.dim;
  header.roots = tree.roots;
  header.block = tree.block;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
    header.lo[axis] = -0.4;
    header.hi[axis] = -0.4 + 1.3 * static_cast<double>(tree.roots[axis]);
    header.periodic[axis] = periodic;
  }
  return header;
}

/// A part whose field "n" numbers the values, so that a pixel tells its cell.
mesh::Part numbered_part(const mesh::Octree& tree) {
  mesh::Part part;
  part.mesh = tree;
  mesh::FieldInfo info;
  info.name = "n";
  part.fields = {mesh::make_field(info, mesh::num_cells(tree) * mesh::block_size(tree))};
  auto values = part.fields[0].as<double>();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  return part;
}

std::vector<double> picture_of(const SlicePlane& plane, const std::vector<mesh::Part>& parts,
                               const mesh::Header& header, int max_level = every_level) {
  Frame frame;
  frame.kind = Projection::maximum;
  frame.pixels = plane.view.pixels;
  ImageRows image = blank_rows(frame, {frame.pixels[1]});
  for (const mesh::Part& part : parts) {
    const PlaneCut cut = cut_part(part, header, plane, "n", max_level);
    const std::size_t middle = frame.pixels[1] / 2;  // in two bands
    add(frame.kind, image, draw_cut(plane, cut, {0, middle}));
    add(frame.kind, image, draw_cut(plane, cut, {middle, frame.pixels[1]}));
  }
  return finish(frame.kind, std::move(image));
}

/// A cell of the list of all, which is made through another walk.
struct ListedCell {
  std::array<long double, 3> lo, hi;
  double value;
};

std::vector<ListedCell> all_cells(const mesh::Part& part, const mesh::Header& header, int max_level) {
  std::vector<ListedCell> list;
  const auto values = cell_field(part, "n").as<double>();
  for_each_selected(std::get<mesh::Octree>(part.mesh), header, {std::nullopt, max_level}, [&](const Cells& cells) {
    const mesh::Point3 size = mesh::cell_size(header, cells.level);
    for (std::size_t k = 0; k < cells.positions.size(); ++k) {
      ListedCell cell{{}, {}, values[cells.values[k]]};
      for (std::size_t a = 0; a < 3; ++a) {
        cell.lo[a] = header.lo[a] + static_cast<long double>(cells.positions[k][a]) * size[a];
        cell.hi[a] = cell.lo[a] + size[a];
      }
      list.push_back(cell);
    }
  });
  return list;
}

/// Compares the picture with the cell around each pixel's centre. Counts the pixels that were compared; centres within
/// 1e-9 of a cell's side or of the region's are not.
std::size_t compare_with_list(const std::vector<double>& picture, const AnyView& view, const mesh::Header& header,
                              const std::vector<ListedCell>& cells) {
  std::size_t compared = 0;
  for (std::size_t y = 0; y < view.pixels[1]; ++y)
    for (std::size_t x = 0; x < view.pixels[0]; ++x) {
      const long double u = view.lo[0] + (x + 0.5L) * (view.hi[0] - view.lo[0]) / view.pixels[0];
      const long double v = view.lo[1] + (y + 0.5L) * (view.hi[1] - view.lo[1]) / view.pixels[1];
      std::array<long double, 3> at{};
      long double to_clip = 1;
      mesh::Point3 place{};
      for (std::size_t a = 0; a < 3; ++a) {
        at[a] = view.axes.right[a] * u + view.axes.up[a] * v + view.axes.towards[a] * view.depth_lo;
        if (a >= static_cast<std::size_t>(header.dim)) continue;
        to_clip = std::min({to_clip, at[a] - view.clip_lo[a], view.clip_hi[a] - at[a]});
        place[a] = static_cast<double>(at[a]);
        const long double period = header.hi[a] - header.lo[a];
        if (header.periodic[a]) at[a] -= std::floor((at[a] - header.lo[a]) / period) * period;
      }
      // Near the region's surface there are points on both sides.
      bool within = true, near_surface = false;
      if (view.within) {
        within = (*view.within)(place);
        for (unsigned corner = 0; corner < 8; ++corner) {
          mesh::Point3 beside = place;
          for (std::size_t a = 0; a < 3; ++a) beside[a] += (corner >> a & 1) != 0 ? 1e-9 : -1e-9;
          near_surface = near_surface || (*view.within)(beside) != within;
        }
      }
      if (std::abs(to_clip) < 1e-9 || near_surface) continue;
      double expected = NAN;
      bool on_side = false;
      for (const ListedCell& cell : cells) {
        long double inside = 1;
        for (std::size_t a = 0; a < static_cast<std::size_t>(header.dim); ++a)
          inside = std::min({inside, at[a] - cell.lo[a], cell.hi[a] - at[a]});
        on_side = on_side || std::abs(inside) < 1e-9;
        if (inside > 0) expected = cell.value;
      }
      if (on_side) continue;
      ++compared;
      const double found = picture[y * view.pixels[0] + x];
      const bool hidden = to_clip < 0 || !within;
      if (hidden || std::isnan(expected))
        EXPECT_TRUE(std::isnan(found)) << x << ", " << y << " shows " << found;
      else
        EXPECT_EQ(found, expected) << x << ", " << y;
    }
  return compared;
}

TEST(Slice, each_pixel_shows_the_leaf_around_its_centre) {
  testing::Random random(5);
  const mesh::Index3 one{1, 1, 1}, blocks{2, 3, 2};
  std::size_t compared = 0, drawn = 0;
  for (std::uint64_t seed = 0; seed < 18; ++seed) {
    testing::TreeOptions options{.dim = 3, .block = seed % 3 == 0 ? blocks : one};
    options.max_levels = 4;
    options.max_cells = 300;
    const mesh::Octree tree = testing::random_octree(seed, options);
    const mesh::Header header = sliced_header(tree, seed % 2 == 1);
    mesh::Point3 normal{}, at{};
    for (std::size_t a = 0; a < 3; ++a) {
      normal[a] = random.uniform() - 0.5;
      at[a] = header.lo[a] + (0.2 + 0.6 * random.uniform()) * (header.hi[a] - header.lo[a]);
    }
    const Orientation axes = seed % 4 == 0 ? along_axis(static_cast<int>(seed / 4 % 3)) : make_orientation(normal);
    std::optional<mesh::Region> region;
    if (seed % 3 == 1) region = mesh::Box{{-0.2, 0.1, -0.3}, {0.8, 1.3, 0.9}};
    if (seed % 3 == 2) region = mesh::Sphere{{0.5, 0.5, 0.4}, 0.45};
    if (seed % 6 == 5) region = mesh::parse_region("sphere:0.9,0.5,0.4:0.45 - cylinder:0.9,0.5,0.4:1,1,0:0.1:1", 3);
    const int max_level = seed % 5 == 4 ? 1 : every_level;
    AnyView view;
    try {
      view = view_of_plane(header, axes, at, region, 31);
    } catch (const base::Error&) {
      continue;  // the plane misses the region
    }
    const SlicePlane plane = make_slice(header, view);
    const mesh::Part part = numbered_part(tree);
    mesh::Part odd = part, even = part;  // two parts that share the cells
    for (std::size_t l = 0; l < tree.owned.size(); ++l)
      for (std::size_t i = 0; i < tree.owned[l].size(); ++i)
        std::get<mesh::Octree>((i % 2 == 0 ? odd : even).mesh).owned[l].set(i, false);
    const auto picture = picture_of(plane, {odd, even}, header, max_level);
    compared += compare_with_list(picture, view, header, all_cells(part, header, max_level));
    for (double value : picture) drawn += std::isnan(value) ? 0U : 1U;
  }
  EXPECT_GT(compared, 5000U);
  EXPECT_GT(drawn, 3000U);
}

TEST(Slice, of_2d_data_shows_the_data) {
  const mesh::Octree tree = testing::random_octree(3, {.dim = 2, .max_levels = 5, .max_cells = 600});
  const mesh::Header header = sliced_header(tree, false);
  const AnyView view = view_of_plane(header, along_axis(2), {0, 0, 0.5}, {}, 64);
  const mesh::Part part = numbered_part(tree);
  const auto picture = picture_of(make_slice(header, view), {part}, header);
  EXPECT_GT(compare_with_list(picture, view, header, all_cells(part, header, every_level)), 1000U);
  for (double value : picture) EXPECT_FALSE(std::isnan(value));
}

/// Four cells along each axis.
mesh::Octree regular_tree() {
  mesh::Octree tree;
  tree.roots = {4, 4, 4};
  tree.refined = {base::BitArray(64)};
  tree.owned = {base::BitArray(64, true)};
  return tree;
}

TEST(Slice, on_a_side_between_cells_shows_the_cells_above) {
  const mesh::Octree tree = regular_tree();
  mesh::Header header;
  header.roots = tree.roots;
  const mesh::Part part = numbered_part(tree);
  for (const bool periodic : {false, true}) {
    header.periodic = {periodic, periodic, periodic};
    for (int axis = 0; axis < 3; ++axis)
      for (int side = 0; side <= 4; ++side) {
        const mesh::Point3 at{side / 4.0, side / 4.0, side / 4.0};
        const AnyView view = view_of_plane(header, along_axis(axis), at, {}, 4);
        const auto picture = picture_of(make_slice(header, view), {part}, header);
        const int layer = side < 4 ? side : periodic ? 0 : 3;
        for (int v = 0; v < 4; ++v)
          for (int u = 0; u < 4; ++u) {
            const int cell = axis == 0   ? (v * 4 + u) * 4 + layer
                             : axis == 1 ? (v * 4 + layer) * 4 + u
                                         : (layer * 4 + v) * 4 + u;
            EXPECT_EQ(picture[static_cast<std::size_t>(v * 4 + u)], cell) << axis << " at " << side;
          }
      }
  }
}

TEST(Slice, reads_of_a_plane_on_a_side_hold_the_cells_above_only) {
  mesh::Header header;
  header.roots = {4, 4, 4};
  const mesh::Domain domain = mesh::domain_of(header);
  const auto touched = [&](double at) {
    const AnyView view = view_of_plane(header, along_axis(2), {0.5, 0.5, at}, {}, 4);
    std::vector<int> layers;
    for (const mesh::Box& box : boxes_of_plane(header, view, 3))
      for (int layer = 0; layer < 4; ++layer)
        if (mesh::touches(box, domain, {0, 0, layer / 4.0}, {1, 1, (layer + 1) / 4.0})) layers.push_back(layer);
    return layers;
  };
  EXPECT_EQ(touched(0.5), (std::vector<int>{2}));
  EXPECT_EQ(touched(0.6), (std::vector<int>{2}));
  EXPECT_EQ(touched(1.0), (std::vector<int>{3}));
  EXPECT_EQ(touched(0.0), (std::vector<int>{0}));
}

TEST(Slice, boxes_hold_every_point_of_the_plane) {
  mesh::Header header;
  header.roots = {2, 3, 4};
  header.hi = {2, 3, 4};
  testing::Random random(7);
  for (int round = 0; round < 20; ++round) {
    const Orientation axes = make_orientation({random.uniform() - 0.5, random.uniform() - 0.5, random.uniform() - 0.5});
    const AnyView view = view_of_plane(header, axes, {1, 1.5, 2}, {}, 16);
    const auto boxes = boxes_of_plane(header, view, 3);
    EXPECT_LT(boxes.size(), 400U);
    for (int k = 0; k < 300; ++k) {
      const double u = view.lo[0] + random.uniform() * (view.hi[0] - view.lo[0]);
      const double v = view.lo[1] + random.uniform() * (view.hi[1] - view.lo[1]);
      mesh::Point3 at{};
      bool inside = true, held = false;
      for (std::size_t a = 0; a < 3; ++a) {
        const double x = axes.right[a] * u + axes.up[a] * v + axes.towards[a] * view.depth_lo;
        at[a] = x / 2;  // the box length is the extent along x
        inside = inside && x > 0 && x < header.hi[a];
      }
      for (const mesh::Box& box : boxes) held = held || mesh::contains(box, mesh::domain_of(header), at);
      EXPECT_TRUE(held || !inside);
    }
  }
}

TEST(Descend, looks_at_no_cell_below_one_that_is_not_near) {
  const mesh::Octree tree = testing::random_octree(11, {.dim = 3, .max_levels = 7, .refine = 0.4, .max_cells = 20000});
  const mesh::Header header = sliced_header(tree, false);
  std::size_t asked = 0;
  descend(
      tree, header, every_level, [&](int level, const mesh::Coordinate&) { return ++asked, level < 1; },
      [](int level, const mesh::Coordinate&, std::size_t) { EXPECT_EQ(level, 0); });
  EXPECT_LE(asked, mesh::num_cells(tree, 0) * 9);
}

TEST(Orientation, axes_are_exact_and_errors_name_the_direction) {
  EXPECT_EQ(along_axis(0), (Orientation{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}));
  EXPECT_EQ(along_axis(1), (Orientation{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}));
  EXPECT_EQ(along_axis(2), (Orientation{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}));
  EXPECT_EQ(make_orientation({0, 0, 1e-200}), along_axis(2));
  EXPECT_EQ(make_orientation({0, 0, 1e200}, mesh::Point3{0, 7, 3}), along_axis(2));
  const Orientation axes = make_orientation({1, 1, 1});
  for (const auto* axis : {&axes.right, &axes.up, &axes.towards}) EXPECT_NEAR(dot(*axis, *axis), 1, 1e-15);
  EXPECT_NEAR(dot(axes.right, axes.up), 0, 1e-16);
  EXPECT_GT(axes.up[2], 0);
  EXPECT_EQ(name_of(axes.right), "(-0.707, 0.707, 0)");
  EXPECT_EQ(name_of(mesh::Point3{0, -1, 0}), "-y");
  const auto text = [](auto&& f) -> std::string {
    try {
      f();
    } catch (const base::Error& error) {
      return error.message();
    }
    return "";
  };
  EXPECT_EQ(text([] { make_orientation({0, 0, 0}); }), "the direction 0,0,0 has no length");
  EXPECT_EQ(text([] { make_orientation({0, NAN, 0}); }), "the direction: a component is not finite");
  EXPECT_EQ(text([] {
              make_orientation({1, 2, 0}, mesh::Point3{-2, -4, 0});
            }),
            "the direction up -0.4472,-0.8944,0 is along the line of sight 1,2,0");
  mesh::Header header;
  EXPECT_EQ(text([&] {
              view_of_plane(header, along_axis(2), {0.5, 0.5, 1.5}, {}, 8);
            }),
            "the plane across z through 0.5,0.5,1.5 [code length] does not meet the domain");
}

}  // namespace
}  // namespace octavo::analysis
