#include "octavo/verbs/map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <stdexcept>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/step/shared.hpp"
#include "octavo/verbs/convert.hpp"
#include "octavo/verbs/sample/sample.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_ranks.hpp"

namespace octavo::verbs {
namespace {

using testing::kind_of;

const mesh::Dataset& many_parts() {
  static const mesh::Dataset dataset = sample({.domains = 13, .level_min = 4, .level_max = 6, .seed = 3});
  return dataset;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// The image that ranks make together.
std::vector<double> image_of_ranks(int size, const mesh::Dataset& step, const MapOptions& options) {
  std::vector<double> image;
  testing::run_ranks(size, [&](const base::Ranks& ranks) {
    MapOptions mine = options;
    mine.ranks = ranks;
    const Map found = map(step, mine);
    EXPECT_EQ(found.values.size(), found.rows.count() * found.nx);
    const auto rows = rows_of(found, ranks, {0, found.ny});
    if (ranks.rank == 0)
      image = rows;
    else
      EXPECT_TRUE(rows.empty());
  });
  return image;
}

TEST(Map, has_the_same_bits_for_any_number_of_threads_and_ranks) {
  MapOptions options{.field = "velocity_x", .weight = "density", .kind = analysis::Projection::mean, .pixels = 45};
  for (const auto& region :
       {std::optional<mesh::Region>{}, std::optional<mesh::Region>{mesh::Box{{0.3, 0.7, 0}, {0.8, 1.2, 0.4}}}})
    for (auto kind : {analysis::Projection::mean, analysis::Projection::integral, analysis::Projection::minimum}) {
      options.region = region;
      options.kind = kind;
      options.threads = 1;
      const Map expected = map(many_parts(), options);
      options.threads = 3;
      EXPECT_TRUE(same_bits(map(many_parts(), options).values, expected.values));
      for (int threads : {1, 2})
        for (int size : {2, 3, 4, 8, 20}) {
          options.threads = threads;
          EXPECT_TRUE(same_bits(image_of_ranks(size, many_parts(), options), expected.values)) << size << " ranks";
        }
    }
}

TEST(Map, parts_with_large_footprints_are_drawn_in_bands_with_the_same_bits) {
  const mesh::Dataset step = sample({.domains = 3, .level_min = 3, .level_max = 4, .seed = 5});
  for (auto kind : {analysis::Projection::mean, analysis::Projection::maximum}) {
    MapOptions options{.field = "density", .kind = kind, .threads = 1};
    options.shape = {{1600, 1500}};  // 18 or 37 MiB: more than a small tile
    mesh::Header header = step.header;
    const analysis::Frame frame = [&] {
      analysis::Frame made = analysis::make_frame(header, 2, kind, {}, 1);
      made.pixels = *options.shape;
      return made;
    }();
    // Each part at once, as if memory had no end.
    analysis::ImageRows whole = analysis::blank_rows(frame, {1500});
    for (int part = 0; part < 3; ++part)
      analysis::add(kind, whole, analysis::project(step.read(part, {}), header, frame, "density", "", 99));
    const auto expected = analysis::finish(kind, std::move(whole));
    EXPECT_TRUE(same_bits(map(step, options).values, expected));
    for (int size : {2, 4}) EXPECT_TRUE(same_bits(image_of_ranks(size, step, options), expected)) << size << " ranks";
  }
}

TEST(Map, ranks_open_each_file_of_a_store_at_most_twice_and_once_a_part) {
  const testing::TemporaryFolder dir;
  ConvertOptions into;
  into.per_file = 4;
  into.threads = 1;
  convert(many_parts(), 1, dir / "run.octavo", into);
  const int files = 4, parts = 13;
  int opens_of_one = 0;
  std::vector<double> expected;
  for (int size : {1, 2, 3, 8}) {
    std::mutex mutex;
    std::map<std::string, int> opens;
    file::set_observer([&](const file::Event& event) {
      const std::lock_guard lock(mutex);
      if (event.operation == file::Operation::open) ++opens[event.path.filename().string().substr(0, 5)];
      return file::Verdict{};
    });
    std::vector<double> image;
    testing::run_ranks(size, [&](const base::Ranks& ranks) {
      MapOptions options{.field = "density", .pixels = 33, .threads = 1, .ranks = ranks};
      const step::SharedStep step = step::open_shared(dir / "run.octavo", {}, ranks);
      EXPECT_EQ(step.header.fields.size(), many_parts().header.fields.size());
      const Map found = map(step, options);
      EXPECT_EQ(found.parts.size(), ranks.rank == 0 ? 13U : 0U);
      const auto rows = rows_of(found, ranks, {0, found.ny});
      if (ranks.rank == 0) image = rows;
    });
    file::set_observer({});
    EXPECT_LE(opens["data."], 2 * files + parts) << size << " ranks";
    if (size == 1) {
      expected = image;
      opens_of_one = opens["data."];
    }
    EXPECT_EQ(opens["data."], opens_of_one) << size << " ranks";
    EXPECT_TRUE(same_bits(image, expected)) << size << " ranks";
  }
}

TEST(Map, ranks_write_their_rows_into_one_file) {
  const testing::TemporaryFolder dir;
  const auto bytes_of = [](const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  MapOptions options{.field = "density", .threads = 1};
  options.shape = {{50, 37}};
  const Map whole = map(many_parts(), options);
  write_npy(whole, {}, dir / "one.npy");
  const std::string expected = bytes_of(dir / "one.npy");
  ASSERT_EQ(expected.size(), 128U + 50U * 37U * 8U);
  EXPECT_EQ(expected.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(expected.substr(10, 62), "{'descr': '<f8', 'fortran_order': False, 'shape': (37, 50), } ");
  EXPECT_EQ(expected[127], '\n');
  EXPECT_EQ(std::memcmp(expected.data() + 128, whole.values.data(), 50 * 37 * 8), 0);
  testing::run_ranks(3, [&](const base::Ranks& ranks) {
    MapOptions mine = options;
    mine.ranks = ranks;
    write_npy(map(many_parts(), mine), ranks, dir / "three.npy");
  });
  EXPECT_EQ(bytes_of(dir / "three.npy"), expected);
  EXPECT_THROW(write_npy(whole, {}, dir / "one.npy"), base::Error);
}

TEST(Map, reads_only_the_parts_fields_and_levels_it_needs) {
  mesh::Dataset dataset = many_parts();
  std::vector<int> parts;
  std::mutex mutex;
  dataset.read = [&](int part, const mesh::Request& request) {
    const std::lock_guard lock(mutex);
    parts.push_back(part);
    EXPECT_EQ(request.fields, (std::vector<std::string>{"pressure", "density"}));
    EXPECT_EQ(request.max_level, 5);
    EXPECT_FALSE(request.particles);
    return many_parts().read(part, request);
  };
  const mesh::Region corner = mesh::Box{{0, 0, 0}, {0.1, 0.1, 0.1}};
  const Map found = map(dataset, {.field = "pressure",
                                  .weight = "density",
                                  .kind = analysis::Projection::mean,
                                  .region = corner,
                                  .max_level = 5,
                                  .threads = 1});
  EXPECT_EQ(parts, dataset.parts_touching(corner));
  EXPECT_EQ(parts, found.parts);
  EXPECT_LT(parts.size(), 6U);
  std::int64_t bytes = 0;
  for (int part : parts) bytes += dataset.part_bytes(part);
  EXPECT_EQ(found.bytes_read, bytes);
  EXPECT_EQ(found.selection, "box:0,0,0:0.1,0.1,0.1, level <= 5");
}

TEST(Map, a_condition_that_holds_nowhere_draws_nothing) {
  for (const auto kind : {analysis::Projection::integral, analysis::Projection::mean, analysis::Projection::maximum}) {
    const auto refusal = [&](const std::string& where) {
      try {
        map(many_parts(), {.field = "density", .kind = kind, .where = where, .pixels = 8});
      } catch (const base::Error& error) {
        EXPECT_EQ(error.kind(), base::Kind::usage);
        return std::string(error.what());
      }
      return std::string("drawn");
    };
    EXPECT_THAT(refusal("density > 1e30"), ::testing::HasSubstr("the selection holds no cell: where density > 1e30"));
    EXPECT_EQ(refusal("density > 0"), "drawn");
  }
  // A field that is 0 is a picture all the same.
  const Map zero = map(many_parts(), {.field = "density*0", .where = "density > 0", .pixels = 8});
  EXPECT_EQ(zero.values[9], 0);
}

TEST(Map, a_region_without_a_cell_draws_nothing_on_any_number_of_ranks) {
  MapOptions options{.field = "density", .region = mesh::Sphere{{0.5, 0.5, 0.5}, 1e-4}, .pixels = 8};
  for (const bool camera : {false, true}) {
    if (camera) options.camera = mesh::Point3{1, 1, 1};
    for (const int size : {1, 3}) {
      std::atomic<int> refused = 0;
      testing::run_ranks(size, [&](const base::Ranks& ranks) {
        MapOptions mine = options;
        mine.ranks = ranks;
        try {
          map(many_parts(), mine);
        } catch (const base::Error& error) {
          EXPECT_EQ(error.kind(), base::Kind::usage);
          EXPECT_THAT(error.what(), ::testing::HasSubstr("the selection holds no cell: sphere:"));
          ++refused;
        }
      });
      EXPECT_EQ(refused, size);
    }
    MapOptions alone = options;
    alone.blank_too = true;
    const Map blank = map(many_parts(), alone);
    EXPECT_TRUE(std::all_of(blank.values.begin(), blank.values.end(), [](double value) { return std::isnan(value); }));
  }
}

TEST(Map, no_level_is_above_the_coarsest_and_all_are_below_the_finest) {
  MapOptions options{.field = "density", .max_level = -5, .pixels = 8};
  EXPECT_EQ(kind_of([&] { map(many_parts(), options); }), base::Kind::usage);
  options.max_level = 60;
  EXPECT_TRUE(
      same_bits(map(many_parts(), options).values, map(many_parts(), {.field = "density", .pixels = 8}).values));
}

TEST(Map, a_region_has_the_pixels_of_the_whole_where_it_fits_them) {
  // The same cells through fewer parts, levels all: a quarter of the window, a half of the depth, at the same scale.
  const Map near = map(many_parts(), {.field = "density", .region = mesh::Box{{0, 0, 0}, {1, 1, 0.5}}, .pixels = 32});
  const Map far = map(many_parts(), {.field = "density", .region = mesh::Box{{0, 0, 0.5}, {1, 1, 1}}, .pixels = 32});
  const Map whole = map(many_parts(), {.field = "density", .pixels = 32});
  const Map quarter =
      map(many_parts(), {.field = "density", .region = mesh::Box{{0.5, 0, 0}, {1, 0.5, 1}}, .pixels = 16});
  for (std::size_t y = 0; y < 32; ++y)
    for (std::size_t x = 0; x < 32; ++x) {
      const std::size_t p = y * 32 + x;
      EXPECT_NEAR(near.values[p] + far.values[p], whole.values[p], 1e-13 * whole.values[p]);
      if (y < 16 && x >= 16) {
        EXPECT_NEAR(quarter.values[y * 16 + x - 16], whole.values[p], 1e-13 * whole.values[p]);
      }
    }
}

TEST(Map, along_an_axis_that_the_data_lack_shows_the_values_themselves) {
  SampleOptions two;
  two.dim = 2;
  two.level_min = 3;
  two.level_max = 3;
  const mesh::Dataset step = sample(two);
  const Map along_z = map(step, {.field = "density", .axis = 2, .pixels = 8});
  EXPECT_TRUE(along_z.flat);
  EXPECT_EQ(along_z.unit, "code_mass/code_length**3");
  const Map highest = map(step, {.field = "density", .axis = 2, .kind = analysis::Projection::maximum, .pixels = 8});
  ASSERT_EQ(along_z.values.size(), 64U);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_NEAR(along_z.values[i], highest.values[i], 1e-12 * highest.values[i]);
  EXPECT_FALSE(map(step, {.field = "density", .axis = 1, .pixels = 8}).flat);
}

TEST(Map, says_what_it_shows) {
  const Map found =
      map(many_parts(),
          {.field = "density", .axis = 1, .region = mesh::Sphere{{0.5, 0.5, 0.5}, 0.25}, .shape = {{20, 10}}});
  EXPECT_EQ(found.nx, 20U);
  EXPECT_EQ(found.ny, 10U);
  EXPECT_EQ(found.values.size(), 200U);
  EXPECT_EQ(found.axis, "y");
  EXPECT_EQ(found.axes, (std::array<std::string, 2>{"x", "z"}));
  EXPECT_EQ(found.kind, "integral");
  EXPECT_EQ(found.unit, "code_mass/code_length**3*code_length");
  EXPECT_EQ(found.lo, (std::array<double, 2>{0.25, 0.25}));
  EXPECT_EQ(found.hi, (std::array<double, 2>{0.75, 0.75}));
  EXPECT_EQ(found.time, many_parts().header.time);
  EXPECT_TRUE(std::isnan(found.values[0]));  // the corner of the window is not in the sphere
  EXPECT_FALSE(std::isnan(found.values[5 * 20 + 10]));
}

TEST(Map, impossible_requests_are_refused_before_anything_is_read) {
  mesh::Dataset dataset = many_parts();
  dataset.read = [](int, const mesh::Request&) -> mesh::Part { throw std::logic_error("read"); };
  const auto refused = [&](const MapOptions& options) { return kind_of([&] { map(dataset, options); }); };
  EXPECT_EQ(refused({.field = "densty"}), base::Kind::usage);
  EXPECT_EQ(refused({.field = "density", .weight = "weigth", .kind = analysis::Projection::mean}), base::Kind::usage);
  EXPECT_EQ(refused({.field = "density", .axis = 4}), base::Kind::usage);
  EXPECT_EQ(refused({.field = "density", .shape = {{0, 7}}}), base::Kind::usage);
  dataset.parts_touching = [](const mesh::Region&) { return std::vector<int>{}; };
  EXPECT_EQ(refused({.field = "density", .region = mesh::Box{}}), base::Kind::usage);
}

TEST(Map, every_rank_gets_the_error_of_one) {
  mesh::Dataset dataset = many_parts();
  dataset.read = [](int part, const mesh::Request& request) {
    if (part == 11) throw base::Error(base::Kind::corrupt, "torn");
    return many_parts().read(part, request);
  };
  std::atomic<int> corrupt = 0;
  testing::run_ranks(4, [&](const base::Ranks& ranks) {
    corrupt += kind_of([&] { map(dataset, {.field = "density", .threads = 2, .ranks = ranks}); }) == base::Kind::corrupt
                   ? 1
                   : 0;
  });
  EXPECT_EQ(corrupt, 4);
}

TEST(Map, stops_when_progress_says_so) {
  std::vector<std::int64_t> seen;
  const base::Progress progress = [&](std::int64_t done, std::int64_t total) {
    EXPECT_EQ(total, 13);
    seen.push_back(done);
    return done < 3;
  };
  MapOptions options;
  options.field = "density";
  options.threads = 2;
  options.progress = progress;
  EXPECT_EQ(kind_of([&] { map(many_parts(), options); }), base::Kind::interrupted);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 2, 3}));
}

}  // namespace
}  // namespace octavo::verbs
