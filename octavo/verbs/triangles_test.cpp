#include "octavo/verbs/triangles.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <tuple>

#include "octavo/base/error.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/step/open.hpp"
#include "octavo/step/over_time.hpp"
#include "octavo/store/read/triangles.hpp"
#include "octavo/verbs/convert.hpp"
#include "octavo/verbs/diff/diff.hpp"
#include "octavo/verbs/probe.hpp"
#include "octavo/verbs/verify.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/store_fixture.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_ranks.hpp"
#include "tests/support/write_triangles.hpp"

namespace octavo::verbs {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// Steps of a file whose first variable is linear in x and y. More columns: of a mesh on a lattice, where triangles
/// complete parallelograms.
struct Linear {
  testing::TemporaryFolder folder;
  testing::SerafinFixture fixture;
  fs::path path = folder / "linear.slf";

  explicit Linear(std::uint32_t seed, int planes = 1, int steps = 3, std::int32_t columns = 6) {
    fixture.mesh = testing::random_triangles(seed, columns, columns - 1, seed % 2 == 0);
    for (auto* places : {&fixture.mesh.x, &fixture.mesh.y})
      for (double& place : *places) place = columns > 6 ? std::floor(place) : place;
    fixture.doubles = true;
    fixture.variables = 1;
    fixture.planes = planes;
    fixture.steps = 0;
    std::string bytes = testing::serafin_bytes(fixture);
    testing::SerafinBytes out{fixture.big_endian, {}};
    for (int step = 0; step < steps; ++step) {
      out.record(std::vector<double>{2.0 * step});
      std::vector<double> values;
      for (int plane = 0; plane < planes; ++plane)
        for (std::size_t i = 0; i < fixture.mesh.x.size(); ++i)
          values.push_back(value(step, fixture.mesh.x[i], fixture.mesh.y[i]) + 2 * plane);
      out.record(values);
    }
    testing::put_file(path, bytes + out.bytes);
  }
  static double value(int step, double x, double y) { return (1 + (step == 1 ? 2 : step)) * (x + 3 * y + 1); }
};

TEST(Triangles, a_map_shows_linear_functions_exactly_and_nothing_outside_of_the_mesh) {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    const Linear linear(seed);
    MapOptions options;
    options.field = "VARIABLE 0";
    options.pixels = 60;
    const Map map = verbs::map(step::open(linear.path, {{}, 0}), options);
    ASSERT_EQ(map.nx, 60U);
    ASSERT_EQ(map.ny, 50U);
    std::size_t empty = 0;
    for (std::size_t j = 0; j < map.ny; ++j)
      for (std::size_t i = 0; i < map.nx; ++i) {
        const double x = (static_cast<double>(i) + 0.5) / 10, y = (static_cast<double>(j) + 0.5) / 10;
        const double found = map.values[j * map.nx + i];
        if (std::isnan(found))
          ++empty;
        else
          EXPECT_NEAR(found, Linear::value(0, x, y), 1e-11);
      }
    // A mesh of 6 x 5 squares, whose corners are moved by up to a quarter. With an island, one square is missing.
    if (seed % 2 == 1)
      EXPECT_EQ(empty, 0U);
    else
      EXPECT_THAT(empty, ::testing::AllOf(::testing::Gt(50U), ::testing::Lt(180U)));
  }
}

TEST(Triangles, a_mask_leaves_pixels_empty_and_zero_is_a_value) {
  const Linear linear(1);
  MapOptions options;
  options.field = options.mask = "VARIABLE 0";
  options.above = 10;
  options.pixels = 30;
  const Map map = verbs::map(step::open(linear.path, {{}, 0}), options);
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    const double x = (static_cast<double>(i % map.nx) + 0.5) / 5, y = (static_cast<double>(i / map.nx) + 0.5) / 5;
    EXPECT_EQ(std::isnan(map.values[i]), !(Linear::value(0, x, y) > 10)) << x << " " << y;
  }
}

TEST(Triangles, integrals_are_those_of_the_linear_function) {
  const Linear linear(3);
  const auto statistics = verbs::stats(step::open(linear.path, {{}, 0}), {.fields = {{"VARIABLE 0"}}}).statistics;
  EXPECT_NEAR(statistics.volume, 30, 1e-12);
  const analysis::Summary& all = statistics.fields.at(0).all;
  EXPECT_NEAR(all.integral, 30 * Linear::value(0, 3, 2.5), 1e-10);
  EXPECT_EQ(all.min.value, 1);
  EXPECT_EQ(all.max.value, Linear::value(0, 6, 5));
  EXPECT_EQ(all.max.centre[0], 6);
}

TEST(Triangles, one_rank_reads_them_and_all_have_the_results) {
  const Linear linear(3);
  std::atomic<int> reads = 0;
  mesh::Dataset step = step::open(linear.path, {{}, 0});
  step.read = [&reads, read = step.read](int part, const mesh::Request& request) {
    ++reads;
    return read(part, request);
  };
  MapOptions options;
  options.field = "VARIABLE 0";
  options.pixels = 40;
  const Map whole = verbs::map(step, options);
  const double integral = verbs::stats(step, {.fields = {{"VARIABLE 0"}}}).statistics.fields.at(0).all.integral;
  reads = 0;
  testing::run_ranks(3, [&](const base::Ranks& ranks) {
    MapOptions mine = options;
    mine.ranks = ranks;
    const Map part = verbs::map(step, mine);
    const auto rows = rows_of(part, ranks, {0, part.ny});
    EXPECT_TRUE(ranks.rank > 0 ||
                std::memcmp(rows.data(), whole.values.data(), whole.values.size() * sizeof(double)) == 0);
    StatsOptions fields;
    fields.fields = {{"VARIABLE 0"}};
    fields.ranks = ranks;
    EXPECT_EQ(verbs::stats(step, fields).statistics.fields.at(0).all.integral, integral);
  });
  EXPECT_EQ(reads, 2);
}

TEST(Triangles, planes_are_seen_from_above_by_their_heights) {
  const Linear linear(5, 4);
  MapOptions options;
  options.field = "VARIABLE 0";  // it is the elevation: planes stand 2 apart
  options.pixels = 24;
  const auto value_of = [&](analysis::Projection kind) {
    options.kind = kind;
    const Map map = verbs::map(step::open(linear.path, {{}, 0}), options);
    return map.values[5 * map.nx + 7] - Linear::value(0, 7.5 / 4, 5.5 / 4);
  };
  const double bottom = Linear::value(0, 7.5 / 4, 5.5 / 4);
  EXPECT_NEAR(value_of(analysis::Projection::minimum), 0, 1e-11);
  EXPECT_NEAR(value_of(analysis::Projection::maximum), 6, 1e-11);
  EXPECT_NEAR(value_of(analysis::Projection::mean), 3, 1e-11);
  EXPECT_NEAR(value_of(analysis::Projection::integral) + bottom, 6 * (bottom + 3), 1e-10);
  options.axis = 0;
  EXPECT_THROW(verbs::map(step::open(linear.path), options), base::Error);
}

TEST(Triangles, over_time_each_point_has_its_extreme_or_mean) {
  const Linear linear(1);
  const auto at_corner = [&](step::OverTime kind) {
    return verbs::stats(step::over_time(linear.path, kind), {.fields = {{"VARIABLE 0"}}})
        .statistics.fields[0]
        .all.max.value;
  };
  EXPECT_EQ(at_corner(step::OverTime{step::OverTime::Kind::maximum}), 3 * 22);
  EXPECT_EQ(at_corner(step::OverTime{step::OverTime::Kind::minimum}), 22);
  EXPECT_DOUBLE_EQ(at_corner(step::OverTime{step::OverTime::Kind::mean}), 22 * 7 / 3.0);
}

TEST(Triangles, time_series_are_linear_within_the_triangle_and_nan_outside) {
  const Linear linear(1);
  const verbs::ProbeSeries series = verbs::probe(linear.path, {{{1.25, 3.5}, {-1, 0}, {6, 5}}});
  EXPECT_EQ(series.times, (std::vector<double>{0, 2, 4}));
  EXPECT_EQ(series.inside, (std::vector<char>{1, 0, 1}));
  for (std::size_t step = 0; step < 3; ++step) {
    EXPECT_NEAR(series.values[step], Linear::value(static_cast<int>(step), 1.25, 3.5), 1e-11);
    EXPECT_TRUE(std::isnan(series.values[3 + step]));
    EXPECT_NEAR(series.values[6 + step], Linear::value(static_cast<int>(step), 6, 5), 1e-11);
  }
  EXPECT_THROW(verbs::probe(linear.path, {.places = {{0, 0}}, .plane = 1}), base::Error);
}

TEST(Triangles, of_a_store_with_both_flows_all_steps_are_those_of_one) {
  const Linear whole(1), first(1, 1, 1);
  const fs::path both = whole.folder / "both.octavo";
  ConvertOptions checkpoints, more;
  checkpoints.flow = store::Flow::checkpoint;
  convert({whole.path}, both, checkpoints);
  more.append = true;
  convert({first.path}, both, more);
  const double x = whole.fixture.mesh.x[0], y = whole.fixture.mesh.y[0];
  for (const auto& [flow, steps, most] : {std::tuple(std::optional<store::Flow>{}, 1U, 0),
                                          {store::Flow::analysis, 1U, 0},
                                          {store::Flow::checkpoint, 3U, 1}}) {
    verbs::ProbeOptions options{{{x, y}}};
    options.flow = flow;
    EXPECT_EQ(verbs::probe(both, options).times.size(), steps);
    const mesh::Part part = step::over_time(both, step::OverTime{step::OverTime::Kind::maximum}, flow).read(0, {});
    EXPECT_EQ(part.fields.at(0).as<double>()[0], Linear::value(most, x, y));
    testing::WriteTriangles to;
    to.flow = flow;
    to.overwrite = true;
    const fs::path again = whole.folder / "again.slf";
    EXPECT_EQ(testing::to_serafin(both, again, to).steps, steps);
    EXPECT_EQ(testing::file_bytes(again), testing::file_bytes(steps == 1 ? first.path : whole.path));
  }
  EXPECT_THAT(testing::error_of([&] {
                step::over_time(whole.path, step::OverTime{step::OverTime::Kind::mean}, store::Flow::analysis);
              }).what(),
              HasSubstr("a flow can be chosen of a store"));
  convert({first.path}, whole.folder / "one.octavo", {});
  EXPECT_THAT(testing::error_of([&] {
                step::over_time(whole.folder / "one.octavo", step::OverTime{step::OverTime::Kind::mean},
                                store::Flow::checkpoint);
              }).what(),
              HasSubstr("no complete step of the flow checkpoint"));
}

TEST(Triangles, names_of_any_bytes_come_back_from_a_store_and_from_vtkhdf) {
  std::mt19937 random(7);
  for (int kind = 0; kind < 8; ++kind) {
    const testing::TemporaryFolder folder;
    testing::SerafinFixture fixture;
    fixture.mesh = testing::random_triangles(1, 3, 3);
    fixture.steps = kind % 2;
    std::string bytes = testing::serafin_bytes(fixture);
    const auto put = [&](std::size_t at, std::string_view text) { bytes.replace(at, text.size(), text); };
    const std::size_t title = 4, first = 108, second = 148;
    if (kind < 2) {
      put(title, std::string_view("A TITLE\0\0 ", 10));
      put(title + 76, std::string_view("\0\0\0\0", 4));
      put(first, std::string_view("DEPTH\0\0\0\0\0\0\0\0\0\0\0M\0 \0", 20));
      put(second, "DEPTH           M   ");
    } else if (kind < 4) {
      put(first, "VAR#1\tA\n\\n     ");
      put(second, std::string(32, ' '));
    } else {
      for (const auto& [at, count] : {std::pair(title, 80U), {first, 32U}, {second, 32U}})
        for (std::size_t i = 0; i < count; ++i) bytes[at + i] = "\0 #A\xE9\t\x80~"[random() % 8];
    }
    testing::put_file(folder / "a.slf", bytes);
    convert({folder / "a.slf"}, folder / "a.octavo", {});
    testing::to_serafin(folder / "a.octavo", folder / "b.slf", {});
    EXPECT_TRUE(testing::bytes_of_file(folder / "b.slf") == bytes) << "kind " << kind;
    testing::to_vtkhdf(folder / "a.slf", folder / "a.vtkhdf", {});
    testing::to_serafin(folder / "a.vtkhdf", folder / "c.slf", {});
    EXPECT_TRUE(testing::bytes_of_file(folder / "c.slf") == bytes) << "kind " << kind;
  }
}

TEST(Triangles, differences_are_found_point_by_point) {
  const Linear linear(1);
  const mesh::Dataset first = step::open(linear.path, {{}, 0}), second = step::open(linear.path, {{}, 2});
  EXPECT_TRUE(diff(first, first).equal);
  const DiffReport report = diff(first, second, {.ignore = {"time"}});
  EXPECT_FALSE(report.equal);
  ASSERT_EQ(report.variables.size(), 2U);
  EXPECT_EQ(report.variables[0].figures.absolute, 2 * 22);
  EXPECT_TRUE(report.variables[1].within);
  const Linear other(2);
  EXPECT_EQ(diff(first, step::open(other.path, {{}, 0})).variables.size(), 2U);  // the same number of points
  const Linear planes(1, 2);
  EXPECT_THAT(diff(first, step::open(planes.path, {{}, 0}), {.ignore = {"domain"}}).reasons.at(0),
              HasSubstr("meshes differ"));
}

TEST(Triangles, verify_finds_times_that_go_back_and_what_is_no_number) {
  testing::TemporaryFolder folder;
  testing::SerafinFixture fixture;
  fixture.mesh = testing::random_triangles(1, 3, 3);
  const std::string sound = testing::serafin_bytes(fixture);
  const fs::path path = folder / "some.slf";
  testing::put_file(path, sound);
  EXPECT_TRUE(verify(path, 1).findings.empty());
  EXPECT_EQ(verify(path, 1).steps, 3);
  const auto series = formats::serafin::open_series(path);
  std::string damaged = sound;
  damaged[formats::serafin::time_at(series.offsets, 1)] = '\xBF';  // negative
  const std::string nan = "\x7F\xC0";
  damaged.replace(formats::serafin::values_at(series.header, series.offsets, 2, 1), nan.size(), nan);
  damaged[series.offsets.numbers - 1] ^= 1;
  testing::put_file(path, damaged);
  EXPECT_THROW(verify(path, 1), base::Error);  // a header that is not one
  damaged[series.offsets.numbers - 1] ^= 1;
  testing::put_file(path, damaged);
  const store::Report report = verify(path, 1);
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_THAT(report.findings[0].what, HasSubstr("does not come after"));
  EXPECT_THAT(report.findings[1].what, HasSubstr("1 values are no numbers"));
}

// ------------------------------------------------------------------ in a store

bool same_part(const mesh::Part& a, const mesh::Part& b) {
  if (!(std::get<mesh::Unstructured>(a.mesh) == std::get<mesh::Unstructured>(b.mesh))) return false;
  if (a.fields.size() != b.fields.size()) return false;
  for (std::size_t f = 0; f < a.fields.size(); ++f)
    if (!(a.fields[f].info == b.fields[f].info) || a.fields[f].bytes != b.fields[f].bytes) return false;
  return true;
}

struct Stored {
  testing::TemporaryFolder folder;
  testing::SerafinFixture fixture;
  fs::path path = folder / "some.slf", store = folder / "some.octavo";
  explicit Stored(std::uint32_t seed) {
    fixture.mesh = testing::random_triangles(seed, 7, 9, seed % 2 == 0);
    fixture.doubles = seed % 3 == 0;
    fixture.planes = seed % 4 == 0 ? 3 : 1;
    fixture.date = seed % 2 == 1;
    fixture.numbers.assign(fixture.mesh.x.size(), 0);
    const auto line = testing::boundary_of(fixture.mesh);
    if (fixture.planes == 1)
      for (std::size_t k = 0; k < line.size(); ++k)
        fixture.numbers[static_cast<std::size_t>(line[k])] = static_cast<std::int32_t>(k + 1);
    testing::put_file(path, testing::serafin_bytes(fixture));
  }
};

TEST(Triangles, verify_tells_of_points_at_one_place) {
  const testing::TemporaryFolder folder;
  testing::SerafinFixture fixture;
  fixture.mesh = testing::random_triangles(3, 6, 5);
  testing::put_file(folder / "mesh.slf", testing::serafin_bytes(fixture));
  EXPECT_THAT(verify(folder / "mesh.slf", 1).notes, ::testing::IsEmpty());
  fixture.mesh.x[7] = fixture.mesh.x[2], fixture.mesh.y[7] = fixture.mesh.y[2];
  testing::put_file(folder / "mesh.slf", testing::serafin_bytes(fixture));
  const store::Report report = verify(folder / "mesh.slf", 1);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_THAT(report.notes, ::testing::Contains(HasSubstr("1 points stand where another does; the first: 3 and 8")));
}

TEST(Triangles, a_store_gives_every_step_back_bit_for_bit_and_has_the_mesh_once) {
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    const Stored stored(seed);
    const ConvertReport report = convert({stored.path}, stored.store, {});
    EXPECT_EQ(report.steps, 3);
    std::uint64_t mesh_streams = 0;
    for (const store::StepInfo& info : step::steps(stored.store)) {
      const mesh::Dataset before = step::open(stored.path, {{}, info.step}),
                          after = step::open(stored.store, {{}, info.step});
      EXPECT_TRUE(same_part(before.read(0, {}), after.read(0, {}))) << "seed " << seed;
      EXPECT_EQ(before.header.fields, after.header.fields);
      EXPECT_EQ(before.levels, after.levels);
      EXPECT_TRUE(diff(before, after).equal);
      for (const auto& stream : store::list_streams(stored.store, info.flow, info.step))
        if (stream.field.starts_with("triangles/")) ++mesh_streams;
    }
    EXPECT_EQ(mesh_streams, 1U);
    EXPECT_TRUE(verify(stored.store, 1).findings.empty());
  }
}

TEST(Triangles, a_store_becomes_the_same_serafin_file_again) {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    const Stored stored(seed);
    convert({stored.path}, stored.store, {});
    const fs::path again = stored.folder / "again.slf";
    const formats::WriteReport report = testing::to_serafin(stored.store, again, {});
    EXPECT_EQ(report.steps, 3);
    std::ifstream in(again, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    EXPECT_TRUE(bytes == testing::serafin_bytes(stored.fixture)) << "seed " << seed;
    EXPECT_THROW(testing::to_serafin(stored.store, again, {}), base::Error);
  }
}

TEST(Triangles, a_tag_of_rubbish_comes_back_too) {
  const Stored stored(1);
  std::string bytes = testing::serafin_bytes(stored.fixture);
  bytes.replace(76, 8, std::string("aE\x80\0\xf8\0\0\0", 8));
  testing::put_file(stored.path, bytes);
  convert({stored.path}, stored.store, {});
  const fs::path again = stored.folder / "again.slf";
  testing::to_serafin(stored.store, again, {});
  std::ifstream in(again, std::ios::binary);
  EXPECT_TRUE((std::string{std::istreambuf_iterator<char>(in), {}}) == bytes);
}

TEST(Triangles, a_mesh_that_changes_between_the_steps_of_a_store_is_no_series) {
  const Stored one(1), other(7);  // the same number of points at other places
  const mesh::Dataset first = step::open(one.path, {{}, 0}), second = step::open(other.path, {{}, 1});
  ConvertOptions append;
  append.append = true;
  convert(first, 0, one.store, {});
  convert(first, 1, one.store, append);
  EXPECT_EQ(verbs::probe(one.store, {{{1.3, 2.2}}}).times.size(), 2U);
  convert(second, 2, one.store, append);
  const auto message = [&](const std::function<void()>& job) { return std::string(testing::error_of(job).what()); };
  EXPECT_THAT(message([&] {
                verbs::probe(one.store, {{{1.3, 2.2}}});
              }),
              HasSubstr("the mesh changes from step to step"));
  EXPECT_THAT(message([&] { testing::to_serafin(one.store, one.folder / "b.slf", {}); }),
              HasSubstr("the mesh changes"));
  EXPECT_FALSE(fs::exists(one.folder / "b.slf"));
  EXPECT_THAT(message([&] { step::over_time(one.store, step::OverTime{step::OverTime::Kind::maximum}).read(0, {}); }),
              HasSubstr("the mesh changes"));
}

TEST(Triangles, a_bound_holds_for_every_value_in_a_store) {
  const Stored stored(3);
  ConvertOptions options;
  options.accuracy = {Accuracy::Kind::absolute, 0.125};
  convert({stored.path}, stored.store, options);
  const auto before = step::open(stored.path).read(0, {}), after = step::open(stored.store).read(0, {});
  for (std::size_t f = 0; f + 1 < before.fields.size(); ++f)
    for (std::size_t i = 0; i < before.fields[f].size(); ++i)
      EXPECT_LE(std::fabs(before.fields[f].as<double>()[i] - after.fields[f].as<double>()[i]), 0.125);
}

/// Streams of a step whose values were predicted from the mesh.
int num_predicted(const fs::path& store, const store::StepInfo& info) {
  int found = 0;
  for (const store::StreamInfo& stream : store::list_streams(store, info.flow, info.step)) {
    std::ifstream in(stream.file, std::ios::binary);
    std::vector<std::byte> bytes(stream.stored_bytes);
    in.seekg(static_cast<std::streamoff>(stream.offset));
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    found += stream.field.rfind("VARIABLE", 0) == 0 && codec::needs_neighbours(bytes) ? 1 : 0;
  }
  return found;
}

TEST(Triangles, values_that_follow_from_the_mesh_come_back_in_every_step) {
  for (const int planes : {1, 3})
    for (const char* bound : {"lossless", "absolute", "relative"}) {
      const Linear linear(4, planes, 3, 25);
      const fs::path store = linear.folder / "a.octavo";
      ConvertOptions options;
      options.method = codec::Method::tree;
      if (*bound == 'a') options.accuracy = {Accuracy::Kind::absolute, 1e-6};
      if (*bound == 'r') options.accuracy = {Accuracy::Kind::pointwise_relative, 1e-6};
      convert({linear.path}, store, options);
      EXPECT_TRUE(verify(store, 2).findings.empty()) << bound;
      for (const store::StepInfo& info : step::steps(store)) {
        EXPECT_EQ(num_predicted(store, info), 1) << bound << ", step " << info.step;
        mesh::Request only;
        only.fields = {{"VARIABLE 0"}};
        const auto before = step::open(linear.path, {{}, info.step}).read(0, only);
        const auto after = step::open(store, {{}, info.step}).read(0, only);
        for (std::size_t i = 0; i < before.fields.at(0).size(); ++i) {
          const double x = before.fields[0].as<double>()[i], y = after.fields[0].as<double>()[i];
          ASSERT_LE(std::fabs(x - y), *bound == 'l' ? 0 : *bound == 'a' ? 1e-6 : 1e-6 * std::fabs(x)) << bound;
        }
      }
    }
}

TEST(Triangles, another_mesh_in_the_place_of_that_which_values_follow_from_is_found) {
  const Linear one(1, 1, 3, 12), other(7, 1, 3, 13);
  const fs::path store = one.folder / "a.octavo";
  ConvertOptions tree;
  tree.method = codec::Method::tree;
  convert({one.path}, store, tree);
  const mesh::Dataset first = step::open(other.path, {{}, 0});
  store::SegmentPlan again;
  again.store = store;
  again.attempt = store::random_attempt();
  store::SegmentWriter writer(again, first.header);
  writer.add(store::encode(first.read(0, {}), first.header, {}));
  writer.commit();
  const store::Report report = verify(store, 2);
  ASSERT_EQ(report.findings.size(), 2U);  // steps 1 and 2
  for (const store::Finding& finding : report.findings)
    EXPECT_THAT(finding.what, HasSubstr("is not the one that this step was written with"));
  EXPECT_THAT(testing::error_of([&] { step::open(store, {{}, 2}).read(0, {}); }).what(), HasSubstr("written with"));
}

TEST(Triangles, one_field_is_read_without_the_others) {
  const Stored stored(2);
  convert({stored.path}, stored.store, {});
  mesh::Request request;
  request.fields = {{"IPOBO", "VARIABLE 1"}};
  const auto before = step::open(stored.path).read(0, request), after = step::open(stored.store).read(0, request);
  ASSERT_EQ(after.fields.size(), 2U);
  EXPECT_TRUE(same_part(before, after));
  request.fields = {{"DEPTH"}};
  EXPECT_THROW(step::open(stored.store).read(0, request), base::Error);
}

TEST(Triangles, what_is_for_cells_says_so) {
  const Stored stored(1);
  ConvertOptions options;
  options.region = mesh::Box{};
  EXPECT_THROW(convert({stored.path}, stored.store, options), base::Error);
  EXPECT_FALSE(fs::exists(stored.store));
}

}  // namespace
}  // namespace octavo::verbs
