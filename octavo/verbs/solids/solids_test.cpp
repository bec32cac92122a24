#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "octavo/base/error.hpp"
#include "octavo/mesh/solids/tetrahedra.hpp"
#include "octavo/verbs/bins.hpp"
#include "octavo/verbs/cuts/line.hpp"
#include "octavo/verbs/cuts/slice.hpp"
#include "octavo/verbs/map.hpp"
#include "octavo/verbs/stats.hpp"
#include "octavo/verbs/structures/contour.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/solid_box.hpp"
#include "tests/support/thread_ranks.hpp"

namespace octavo::verbs {
namespace {

double linear_in_box(double x, double y, double z) { return 3 + 2 * x - y + 0.5 * z; }
constexpr double volume_of_box = 2 * 1.5 * 2.5;

mesh::Field solid_field_of(const std::string& name, mesh::Centring centring, const std::vector<double>& values) {
  mesh::FieldInfo info;
  info.name = name;
  info.centring = centring;
  mesh::Field field = mesh::make_field(info, values.size());
  std::copy(values.begin(), values.end(), field.as<double>().begin());
  return field;
}

/// The cells [first, last) of a mesh, with the points they need.
mesh::Solids some_cells(const mesh::Solids& whole, std::size_t first, std::size_t last) {
  mesh::Solids some;
  const auto begin = mesh::first_corners(whole);
  std::vector<std::int64_t> place(whole.x.size(), -1);
  for (std::size_t cell = first; cell < last; ++cell) {
    some.corners.push_back(whole.corners[cell]);
    for (auto k = static_cast<std::size_t>(begin[cell]); k < static_cast<std::size_t>(begin[cell + 1]); ++k) {
      const auto point = static_cast<std::size_t>(whole.connectivity[k]);
      if (place[point] < 0) {
        place[point] = std::ssize(some.x);
        some.x.push_back(whole.x[point]);
        some.y.push_back(whole.y[point]);
        some.z.push_back(whole.z[point]);
        some.global_point.push_back(static_cast<std::int64_t>(point));
      }
      some.connectivity.push_back(place[point]);
    }
  }
  return some;
}

/// A step of a mesh in some parts: "f" is linear at points, "wild" any, "number" the cell's.
mesh::Dataset step_of_solids(const mesh::Solids& whole, int parts = 1) {
  mesh::Dataset step;
  step.format = "memory";
  step.path = "box";
  step.header.hi = {2, 1.5, 2.5};
  step.header.attributes[mesh::solids_attribute] = mesh::count_solids(whole);
  step.unstructured = true;
  step.num_parts = parts;
  step.levels = {{0, std::ssize(whole.corners), std::ssize(whole.corners)}};
  for (const auto& [name, centring] : {std::pair{"f", mesh::Centring::node}, std::pair{"wild", mesh::Centring::node},
                                       std::pair{"number", mesh::Centring::cell}}) {
    step.header.fields.emplace_back();
    step.header.fields.back().name = name;
    step.header.fields.back().centring = centring;
  }
  step.parts_touching = [parts](const mesh::Region&) {
    std::vector<int> all;
    for (int part = 0; part < parts; ++part) all.push_back(part);
    return all;
  };
  step.part_bytes = [](int) { return std::int64_t{1000}; };
  step.read = [whole, parts, fields = step.header.fields](int part, const mesh::Request& request) {
    const std::size_t cells = whole.corners.size(), count = static_cast<std::size_t>(parts);
    const std::size_t first = cells * static_cast<std::size_t>(part) / count;
    mesh::Part out;
    out.index = part;
    mesh::Solids mesh = some_cells(whole, first, cells * static_cast<std::size_t>(part + 1) / count);
    std::vector<double> wild, number;
    for (const std::int64_t point : mesh.global_point)
      wild.push_back(std::sin(1.7 * static_cast<double>(point * point)));
    for (std::size_t cell = 0; cell < mesh.corners.size(); ++cell) number.push_back(static_cast<double>(first + cell));
    const auto add = [&](const char* name, mesh::Centring centring, const std::vector<double>& values) {
      const auto asked = request.fields.value_or(std::vector<std::string>{"f", "wild", "number"});
      if (std::find(asked.begin(), asked.end(), name) != asked.end())
        out.fields.push_back(solid_field_of(name, centring, values));
    };
    add("f", mesh::Centring::node, testing::values_at_points(mesh, linear_in_box));
    add("wild", mesh::Centring::node, wild);
    add("number", mesh::Centring::cell, number);
    out.mesh = std::move(mesh);
    return out;
  };
  return step;
}

mesh::Dataset mixed_step(int parts = 1) { return step_of_solids(testing::solid_box(4, 0, 0.2), parts); }

bool equal_pictures(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

double total_of_map(const Map& map) {
  double sum = 0;
  for (const double value : map.values) sum += std::isnan(value) ? 0 : value;
  return sum * (map.hi[0] - map.lo[0]) * (map.hi[1] - map.lo[1]) / static_cast<double>(map.nx * map.ny);
}

TEST(SolidVerbs, statistics_are_of_points_and_of_cells) {
  const mesh::Solids mesh = testing::solid_box(4, 0, 0.2);
  for (const int parts : {1, 3}) {
    const Stats found = stats(step_of_solids(mesh, parts), {});
    EXPECT_EQ(found.statistics.leaves, std::ssize(mesh.x));
    EXPECT_NEAR(found.statistics.volume, volume_of_box, 1e-12);
    const auto& f = found.statistics.fields[0].all;
    EXPECT_EQ(f.cells, std::ssize(mesh.x));
    EXPECT_NEAR(f.integral, volume_of_box * linear_in_box(1, 0.75, 1.25), 1e-12);
    EXPECT_NEAR(f.volume_mean, linear_in_box(1, 0.75, 1.25), 1e-12);
    EXPECT_DOUBLE_EQ(f.max.value, linear_in_box(2, 0, 2.5));
    EXPECT_EQ(f.max.centre, (mesh::Point3{2, 0, 2.5}));
    const auto& number = found.statistics.fields[2].all;
    EXPECT_EQ(number.cells, std::ssize(mesh.corners));
    EXPECT_DOUBLE_EQ(number.sum, 0.5 * static_cast<double>(mesh.corners.size() * (mesh.corners.size() - 1)));
  }
}

TEST(SolidVerbs, the_total_of_a_map_is_the_integral) {
  for (const int parts : {1, 3}) {
    const mesh::Dataset step = mixed_step(parts);
    for (const char* field : {"f", "wild", "number"}) {
      const double expected = stats(step, {.fields = {{field}}}).statistics.fields[0].all.integral;
      for (const int axis : {0, 1, 2}) {
        const Map seen = map(step, {.field = field, .axis = axis, .pixels = 50});
        EXPECT_NEAR(total_of_map(seen), expected, 1e-12 * std::max(1.0, std::fabs(expected)));
      }
      const Map seen = map(step, {.field = field, .camera = mesh::Point3{1, 2, 3}, .pixels = 50});
      EXPECT_NEAR(total_of_map(seen), expected, 1e-12 * std::max(1.0, std::fabs(expected)));
    }
  }
}

TEST(SolidVerbs, a_region_takes_cells_by_their_centroid_and_maps_cut_a_box) {
  const mesh::Dataset step = step_of_solids(testing::solid_box(4, 8));
  const mesh::Region sphere = mesh::Sphere{{0.5, 0.375, 0.625}, 0.3};
  const double inside = stats(step, {.fields = {{"f"}}, .region = sphere}).statistics.fields[0].all.integral;
  EXPECT_GT(inside, 0);
  // The picture ends at the sphere's bounds, and so do cells: a larger window holds them whole.
  const mesh::Region wide = mesh::join(mesh::Join::either, sphere, mesh::Sphere{{0.5, 0.375, 0.625}, 0.01});
  EXPECT_LE(total_of_map(map(step, {.field = "f", .region = wide, .pixels = 64})), inside + 1e-12);
  const mesh::Region box = mesh::Box{{0.2, 0.1, 0.3}, {0.7, 0.6, 0.9}};
  const double volume = 1.0 * 1.0 * 1.2;
  EXPECT_NEAR(total_of_map(map(step, {.field = "f", .region = box, .pixels = 64})),
              volume * linear_in_box(0.9, 0.7, 1.2), 1e-12);
  const Stats where = stats(step, {.fields = {{"f"}}, .where = "f > 5"});
  EXPECT_GT(where.statistics.leaves, 0);
  EXPECT_GT(where.statistics.fields[0].all.min.value, 5);
}

TEST(SolidVerbs, have_the_same_bits_for_any_number_of_threads_and_ranks) {
  for (const int parts : {1, 3}) {
    const mesh::Dataset step = mixed_step(parts);
    const MapOptions mapped{.field = "wild", .camera = mesh::Point3{1, 2, 3}, .pixels = 40, .threads = 1};
    const SliceOptions cut{.field = "wild", .normal = mesh::Point3{1, 1, 1}, .pixels = 40, .threads = 1};
    const LineOptions lined{.fields = {"wild", "number"}, .from = "0,0,0", .to = "0.9,0.6,1.2", .threads = 1};
    const ContourOptions surfaced{.field = "wild", .at = 0.1, .threads = 1};
    const Map map_1 = map(step, mapped), slice_1 = slice(step, cut);
    const LineTable line_1 = line(step, lined);
    const Contour contour_1 = contour(step, surfaced);
    EXPECT_GT(contour_1.surface.triangles.size(), 100U);
    const auto with = [](auto options, int threads, const base::Ranks& ranks) {
      options.threads = threads;
      options.ranks = ranks;
      return options;
    };
    EXPECT_TRUE(equal_pictures(map(step, with(mapped, 3, {})).values, map_1.values));
    EXPECT_TRUE(equal_pictures(slice(step, with(cut, 3, {})).values, slice_1.values));
    for (const int size : {2, 5})
      testing::run_ranks(size, [&](const base::Ranks& ranks) {
        const Map other = map(step, with(mapped, 1, ranks)), plane = slice(step, with(cut, 1, ranks));
        const auto rows = rows_of(other, ranks, {0, other.ny}), plane_rows = rows_of(plane, ranks, {0, plane.ny});
        if (ranks.rank == 0) {
          EXPECT_TRUE(equal_pictures(rows, map_1.values));
          EXPECT_TRUE(equal_pictures(plane_rows, slice_1.values));
        }
        EXPECT_TRUE(equal_pictures(line(step, with(lined, 1, ranks)).chords.values, line_1.chords.values));
        EXPECT_EQ(contour(step, with(surfaced, 1, ranks)).surface.points, contour_1.surface.points);
      });
  }
}

TEST(SolidVerbs, parts_make_no_difference_but_rounding) {
  const mesh::Dataset one = mixed_step(1), three = mixed_step(3);
  const LineOptions lined{.fields = {"wild"}, .from = "0,0,0", .to = "1,0.75,1.25"};
  const LineTable a = line(one, lined), b = line(three, lined);
  ASSERT_EQ(a.chords.chords.size(), b.chords.chords.size());
  for (std::size_t c = 0; c < a.chords.chords.size(); ++c) {
    EXPECT_NEAR(a.chords.values[c], b.chords.values[c], 1e-9);
    EXPECT_EQ(b.chords.chords[c].entry, c > 0 ? b.chords.chords[c - 1].exit : b.chords.chords[0].entry);
  }
  const ContourOptions surfaced{.field = "wild", .at = 0.1};
  EXPECT_EQ(contour(one, surfaced).surface.points.size(), contour(three, surfaced).surface.points.size());
  const Map whole = map(one, {.field = "wild", .pixels = 30}), cut = map(three, {.field = "wild", .pixels = 30});
  for (std::size_t p = 0; p < whole.values.size(); ++p) EXPECT_NEAR(whole.values[p], cut.values[p], 1e-12);
}

TEST(SolidVerbs, bins_weigh_points_with_their_share_of_the_volume) {
  BinsOptions options;
  options.axes = {{.field = "f", .bins = 10, .log = false}};
  options.weight = "volume";
  const Bins found = bins(mixed_step(), options);
  double sum = 0;
  for (const double weight : found.weights) sum += weight;
  EXPECT_NEAR(sum, volume_of_box, 1e-12);
}

TEST(SolidVerbs, impossible_requests_are_refused) {
  const mesh::Dataset step = mixed_step();
  const auto kind = [](const auto& act) { return testing::kind_of(act); };
  EXPECT_EQ(kind([&] { map(step, {.field = "g"}); }), base::Kind::usage);
  EXPECT_EQ(kind([&] { map(step, {.field = "f", .mask = "f"}); }), base::Kind::unsupported);
  EXPECT_EQ(kind([&] { map(step, {.field = "f", .blur = 0.5}); }), base::Kind::unsupported);
  EXPECT_EQ(kind([&] { contour(step, {.field = "number", .at = 3}); }), base::Kind::unsupported);
  EXPECT_EQ(kind([&] { slice(step, {.field = "f", .at = "0.5,0.5,2"}); }), base::Kind::usage);
  EXPECT_EQ(kind([&] { line(step, {.fields = {"f"}, .from = "2,2,2", .to = "3,2,2"}); }), base::Kind::usage);
  EXPECT_EQ(
      kind([&] { stats(step, {.fields = {{"f"}}, .region = mesh::Sphere{}, .edge = analysis::RegionEdge::clip}); }),
      base::Kind::unsupported);
}

}  // namespace
}  // namespace octavo::verbs
