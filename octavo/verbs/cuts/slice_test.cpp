#include "octavo/verbs/cuts/slice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>

#include "octavo/base/error.hpp"
#include "octavo/verbs/cuts/line.hpp"
#include "octavo/verbs/place.hpp"
#include "octavo/verbs/sample/sample.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/thread_ranks.hpp"

namespace octavo::verbs {
namespace {

const mesh::Dataset& thirteen_parts() {
  static const mesh::Dataset dataset = sample({.domains = 13, .level_min = 4, .level_max = 6, .seed = 3});
  return dataset;
}

bool equal_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

TEST(SliceVerb, has_the_same_bits_for_any_number_of_threads_and_ranks) {
  for (const auto& normal :
       {std::variant<int, mesh::Point3>(1), std::variant<int, mesh::Point3>(mesh::Point3{1, 2, -1})}) {
    SliceOptions options{.field = "density", .normal = normal, .pixels = 57, .threads = 1};
    options.at = "max:density";
    const Map expected = slice(thirteen_parts(), options);
    options.threads = 3;
    EXPECT_TRUE(equal_bits(slice(thirteen_parts(), options).values, expected.values));
    for (int size : {2, 5, 20}) {
      std::vector<double> image;
      testing::run_ranks(size, [&](const base::Ranks& ranks) {
        SliceOptions mine = options;
        mine.ranks = ranks;
        const Map found = slice(thirteen_parts(), mine);
        const auto rows = rows_of(found, ranks, {0, found.ny});
        if (ranks.rank == 0) image = rows;
      });
      EXPECT_TRUE(equal_bits(image, expected.values)) << size << " ranks";
    }
  }
}

TEST(SliceVerb, reads_only_the_parts_near_the_plane_and_the_field) {
  mesh::Dataset dataset = thirteen_parts();
  std::mutex mutex;
  std::set<int> parts;
  dataset.read = [&](int part, const mesh::Request& request) {
    const std::lock_guard lock(mutex);
    parts.insert(part);
    EXPECT_EQ(request.fields, (std::vector<std::string>{"pressure"}));
    EXPECT_EQ(request.max_level, 5);
    EXPECT_FALSE(request.particles);
    return thirteen_parts().read(part, request);
  };
  const Map corner = slice(
      dataset,
      {.field = "pressure", .normal = mesh::Point3{1, 1, 1}, .at = "0.02,0.02,0.02", .max_level = 5, .pixels = 32});
  EXPECT_LT(parts.size(), 7U);
  EXPECT_EQ(parts, std::set<int>(corner.parts.begin(), corner.parts.end()));
  EXPECT_EQ(corner.selection, "level <= 5");
}

TEST(SliceVerb, along_an_axis_is_the_map_of_a_thin_layer) {
  const double thickness = 1.0 / 64;  // of the finest cells
  const Map layer = map(thirteen_parts(), {.field = "density",
                                           .axis = 2,
                                           .kind = analysis::Projection::maximum,
                                           .region = mesh::Box{{0, 0, 0.5}, {1, 1, 0.5 + thickness}},
                                           .pixels = 64});
  const Map cut = slice(thirteen_parts(), {.field = "density", .normal = 2, .pixels = 64});
  EXPECT_TRUE(equal_bits(layer.values, cut.values));
  EXPECT_EQ(cut.axes, layer.axes);
  EXPECT_EQ(cut.lo, layer.lo);
  EXPECT_EQ(cut.hi, layer.hi);
  EXPECT_EQ(cut.kind, "slice");
  EXPECT_EQ(cut.depth_lo, 0.5);
}

TEST(SliceVerb, impossible_requests_are_refused_before_anything_is_read) {
  mesh::Dataset dataset = thirteen_parts();
  dataset.read = [](int, const mesh::Request&) -> mesh::Part { throw std::logic_error("read"); };
  const auto refused = [&](const SliceOptions& options) { return testing::kind_of([&] { slice(dataset, options); }); };
  EXPECT_EQ(refused({.field = "densty"}), base::Kind::usage);
  EXPECT_EQ(refused({.field = "density", .normal = 3}), base::Kind::usage);
  EXPECT_EQ(refused({.field = "density", .normal = mesh::Point3{0, 0, 0}}), base::Kind::usage);
  EXPECT_EQ(refused({.field = "density", .normal = 2, .up = mesh::Point3{0, 0, 1}}), base::Kind::usage);
  EXPECT_EQ(refused({.field = "density", .at = "0.5,0.5,1.5"}), base::Kind::usage);
  EXPECT_EQ(refused({.field = "density", .at = "0.5,0.5"}), base::Kind::usage);
  EXPECT_EQ(refused({.field = "density", .at = "top"}), base::Kind::usage);
  EXPECT_EQ(refused({.field = "density", .pixels = 0}), base::Kind::usage);
  SampleOptions two;
  two.dim = 2;
  two.level_min = two.level_max = 3;
  const mesh::Dataset flat = sample(two);
  EXPECT_EQ(testing::kind_of([&] { slice(flat, {.field = "density", .normal = 0}); }), base::Kind::unsupported);
  EXPECT_EQ(slice(flat, {.field = "density", .pixels = 8}).values.size(), 64U);
}

TEST(Place, words_name_points) {
  const auto place = [&](const std::string& words, const std::optional<mesh::Region>& region = {}) {
    return find_place(thirteen_parts(), words, {.region = region});
  };
  EXPECT_EQ(place("center"), (mesh::Point3{0.5, 0.5, 0.5}));
  EXPECT_EQ(place("0.25,0.5,0.75"), (mesh::Point3{0.25, 0.5, 0.75}));
  EXPECT_EQ(place("center", mesh::Box{{0, 0, 0}, {0.5, 1, 1}}), (mesh::Point3{0.25, 0.5, 0.5}));
  const Stats found = stats(thirteen_parts(), {.fields = {{"density"}}});
  EXPECT_EQ(place("max:density"), found.statistics.fields[0].all.max.centre);
  EXPECT_EQ(place("min:density"), found.statistics.fields[0].all.min.centre);
  EXPECT_EQ(testing::kind_of([&] { place("max:densty"); }), base::Kind::usage);
}

TEST(LineVerb, has_the_same_bits_for_any_number_of_threads_and_ranks) {
  LineOptions options{.fields = {"density", "pressure"}, .from = "0,0.1,0.2", .to = "1.5,0.8,0.7", .threads = 1};
  const LineTable expected = line(thirteen_parts(), options);
  EXPECT_GT(expected.chords.chords.size(), 20U);
  EXPECT_EQ(expected.chords.values.size(), 2 * expected.chords.chords.size());
  const auto check = [&](const LineTable& found) {
    EXPECT_TRUE(equal_bits(found.chords.values, expected.chords.values));
    ASSERT_EQ(found.chords.chords.size(), expected.chords.chords.size());
    for (std::size_t c = 0; c < found.chords.chords.size(); ++c)
      EXPECT_EQ(found.chords.chords[c].entry, expected.chords.chords[c].entry);
  };
  options.threads = 3;
  check(line(thirteen_parts(), options));
  for (int size : {2, 5, 20})
    testing::run_ranks(size, [&](const base::Ranks& ranks) {
      LineOptions mine = options;
      mine.ranks = ranks;
      check(line(thirteen_parts(), mine));
    });
}

TEST(LineVerb, reads_only_the_parts_near_the_line) {
  const LineTable axis = line(thirteen_parts(), {.fields = {"density"}, .from = "0,0.1,0.1", .to = "1,0.1,0.1"});
  EXPECT_LT(axis.parts.size(), 7U);
  const auto refused = [&](const LineOptions& options) {
    return testing::kind_of([&] { line(thirteen_parts(), options); });
  };
  EXPECT_EQ(refused({.fields = {"densty"}, .from = "0,0,0", .to = "1,1,1"}), base::Kind::usage);
  EXPECT_EQ(refused({.fields = {"density"}, .from = "center", .to = "center"}), base::Kind::usage);
  EXPECT_EQ(
      refused({.fields = {"density"}, .from = "0,0,0", .to = "0.1,0,0", .region = mesh::Box{{0.5, 0, 0}, {1, 1, 1}}}),
      base::Kind::usage);
}

}  // namespace
}  // namespace octavo::verbs
