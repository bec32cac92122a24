#include <gmock/gmock.h>

#include <cmath>

#include "octavo/base/error.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/rewrite_segment.hpp"
#include "tests/support/store_fixture.hpp"

// Other writers may put more in a store: later versions, names that we do not know, other alignments. It is read, or
// skipped, or said to be unsupported; it is never taken for damage, nor is an older step taken in its place.
namespace octavo::store {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kind_of;
using testing::plan_of;
using testing::random_step;
using testing::read_all;
using testing::same_parts;
using testing::write_durable_step;

/// Steps 1 and 2 of the analysis flow, each in a directory of its own.
struct TwoFolders {
  testing::TemporaryDirectory dir;
  fs::path store = dir / "s";
  testing::Step first = random_step(1), second = random_step(2);
  TwoFolders() {
    for (const int step : {1, 2}) {
      SegmentPlan plan = plan_of(step, static_cast<unsigned>(step));
      plan.directory = fs::path("analysis") / std::to_string(step);
      write_durable_step(step == 1 ? first : second, store, plan);
    }
  }
  fs::path file(int step) const { return store / "analysis" / std::to_string(step) / "data.000"; }
};

void expect_second_step_unsupported(const TwoFolders& two, const std::string& name) {
  EXPECT_EQ(list_steps(two.store).size(), 2u);
  EXPECT_EQ(kind_of([&] { open_step(two.store); }), Kind::unsupported);
  EXPECT_EQ(kind_of([&] { open_step(two.store, Flow::analysis, 2); }), Kind::unsupported);
  EXPECT_TRUE(same_parts(read_all(open_step(two.store, Flow::analysis, 1)), two.first.parts));
  for (const Report& report : {verify(two.store, 1), verify_quick(two.store)}) {
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].kind, FindingKind::unsupported);
    EXPECT_THAT(report.findings[0].what, HasSubstr(name));
  }
}

TEST(Features, a_step_with_an_unknown_feature_is_unsupported_and_no_older_one_is_taken) {
  const TwoFolders two;
  testing::rewrite_segment(two.file(2), [](testing::SegmentBytes& segment) {
    segment.footer.must_understand = {"knots"};
    segment.footer.writer = {"Octavo", "9.1"};
    segment.table.assign(10, std::byte{0xFF});  // not even a map
  });
  const auto steps = list_steps(two.store);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_THAT(steps[1].unknown, ElementsAre("knots"));
  EXPECT_EQ(steps[1].writer, "Octavo 9.1");
  EXPECT_TRUE(steps[0].unknown.empty());
  expect_second_step_unsupported(two, "knots");
  try {
    open_step(two.store);
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("written by Octavo 9.1"));
  }
}

TEST(Features, a_kind_of_mesh_that_is_not_known_is_unsupported) {
  const TwoFolders two;
  testing::rewrite_segment(two.file(2), [](testing::SegmentBytes& segment) { segment.footer.mesh = "hexagons"; });
  EXPECT_THAT(list_steps(two.store)[1].unknown, ElementsAre("mesh of hexagons"));
  expect_second_step_unsupported(two, "mesh of hexagons");
}

TEST(Features, names_of_types_and_centrings_are_open) {
  for (const auto& [from, to] : {std::pair("int16", "int17"), std::pair("cell", "edge")}) {
    const TwoFolders two;
    testing::replace_in_table(two.file(2), from, to);
    expect_second_step_unsupported(two, to);
  }
}

TEST(Features, streams_of_unknown_kinds_are_skipped) {
  const TwoFolders two;
  testing::rewrite_table(two.file(2), [](Table& table, testing::SegmentBytes& segment) {
    segment.stream.assign(100, std::byte{7});
    StreamRow row;
    row.kind = static_cast<StreamKind>(9);
    row.index = 77;
    row.first_level = 3;
    row.last_level = 1;
    row.offset = segment.end;
    row.stored_bytes = segment.stream.size();
    row.stored_checksum = base::checksum(segment.stream);
    row.raw_bytes = 1000;
    table.streams.push_back(row);
    ++table.parts.back().last_stream;
  });
  EXPECT_TRUE(same_parts(read_all(open_step(two.store)), two.second.parts));
  const auto streams = list_streams(two.store, Flow::analysis, 2);
  EXPECT_EQ(streams.back().field, "kind 9");
  EXPECT_TRUE(verify(two.store, 1).findings.empty());
  auto bytes = testing::file_bytes(two.file(2));
  bytes[streams.back().offset] ^= 1;
  testing::write_file(two.file(2), bytes);
  ASSERT_EQ(verify(two.store, 1).findings.size(), 1u);
  EXPECT_EQ(verify(two.store, 1).findings[0].kind, FindingKind::damaged);
  EXPECT_TRUE(same_parts(read_all(open_step(two.store)), two.second.parts));
}

TEST(Features, streams_may_stand_anywhere_if_they_ascend) {
  const auto move_last = [](const TwoFolders& two, std::int64_t by) {
    testing::rewrite_table(two.file(2), [&](Table& table, testing::SegmentBytes& segment) {
      StreamRow& last = table.streams.back();
      const file::File file = file::open_read(two.file(2));
      segment.stream.resize(static_cast<std::size_t>(by) + last.stored_bytes);
      file::pread_all(file, last.offset, std::span(segment.stream).subspan(static_cast<std::size_t>(by)));
      last.offset = segment.end + static_cast<std::uint64_t>(by);
    });
  };
  for (const int by : {0, 1, 5001}) {
    const TwoFolders two;
    move_last(two, by);
    EXPECT_TRUE(same_parts(read_all(open_step(two.store)), two.second.parts)) << by;
    for (const Finding& finding : verify(two.store, 1).findings) ADD_FAILURE() << finding.where << finding.what;
  }
  // Descending, overlapping, before the segment, into the table.
  using Edit = std::function<void(Table&, testing::SegmentBytes&)>;
  const std::vector<Edit> edits{
      [](Table& t, auto&) { std::swap(t.streams[2].offset, t.streams[3].offset); },
      [](Table& t, auto&) { t.streams[3].offset = t.streams[2].offset + t.streams[2].stored_bytes - 1; },
      [](Table& t, auto& segment) { t.streams[0].offset = segment.footer.begin - 1; },
      [](Table& t, auto& segment) { t.streams.back().offset = segment.end + 1; }};
  for (const Edit& edit : edits) {
    const TwoFolders two;
    testing::rewrite_table(two.file(2), edit);
    EXPECT_EQ(kind_of([&] { open_step(two.store, Flow::analysis, 2); }), Kind::corrupt);
  }
}

TEST(Features, a_newer_minor_version_is_read_and_another_major_version_is_unsupported) {
  const TwoFolders two;
  const auto set_version = [&](std::uint16_t major, std::uint16_t minor) {
    const Subfile subfile = read_subfile(two.file(2));
    Head head = *subfile.head;
    head.major = major;
    head.minor = minor;
    file::pwrite_all(file::open_write(two.file(2)), 0, to_sector(head));
  };
  set_version(version_major, version_minor + 7);
  EXPECT_TRUE(same_parts(read_all(open_step(two.store)), two.second.parts));
  EXPECT_TRUE(verify(two.store, 1).findings.empty());
  set_version(version_major + 1, 0);
  EXPECT_EQ(kind_of([&] { list_steps(two.store); }), Kind::unsupported);
  EXPECT_EQ(kind_of([&] { open_step(two.store); }), Kind::unsupported);
  EXPECT_EQ(kind_of([&] { open_step(two.store, Flow::analysis, 1); }), Kind::unsupported);
  EXPECT_EQ(kind_of([&] { verify(two.store, 1); }), Kind::unsupported);
}

TEST(Features, keys_that_are_not_known_are_ignored) {
  const TwoFolders two;
  testing::rewrite_segment(two.file(2), [](testing::SegmentBytes& segment) {
    ASSERT_EQ(segment.table[0], std::byte{0xA6});  // a map of 6
    segment.table[0] = std::byte{0xA7};
    for (const char byte : std::string("\x63new\x01")) segment.table.push_back(static_cast<std::byte>(byte));
  });
  EXPECT_TRUE(same_parts(read_all(open_step(two.store)), two.second.parts));
}

TEST(Features, opaque_bytes_come_back_by_part) {
  const testing::TemporaryDirectory dir;
  testing::Step step = random_step(3);
  std::vector<std::byte> state(5000);
  for (std::size_t i = 0; i < state.size(); ++i) state[i] = static_cast<std::byte>(i * i % 251);
  step.parts[0].opaque = {{"random numbers", state}, {"nothing", {}}};
  step.parts[1].opaque = {{"clock", {std::byte{1}}}, {"random numbers", {std::byte{2}, std::byte{3}}}};
  write_durable_step(step, dir / "s", plan_of(1, 1, 2));
  const auto found = read_opaque(dir / "s", Flow::analysis, 1);
  ASSERT_EQ(found.size(), 2u);
  for (const int p : {0, 1}) EXPECT_EQ(found.at(p), step.parts[static_cast<std::size_t>(p)].opaque);
  EXPECT_TRUE(same_parts(read_all(open_step(dir / "s")), step.parts));
  mesh::Request request;
  request.opaque = true;
  EXPECT_EQ(open_step(dir / "s").read(1, request).opaque, step.parts[1].opaque);
  EXPECT_TRUE(verify(dir / "s", 1).findings.empty());
  // Both parts are in one segment, and the table has each name once.
  write_durable_step(step, dir / "one", plan_of(1, 1));
  EXPECT_EQ(read_opaque(dir / "one", Flow::analysis, 1), found);
}

mesh::Field typed_field(mesh::ScalarType type, std::size_t cells) {
  mesh::Field field = mesh::make_field({std::string(mesh::name_of(type)), "", type, mesh::Centring::cell, 1, 0}, cells);
  for (std::size_t i = 0; i < field.bytes.size(); ++i)
    field.bytes[i] = static_cast<std::byte>(type == mesh::ScalarType::boolean ? i % 3 == 0 : i * 37 % 256);
  return field;
}

TEST(Features, all_types_are_stored_bit_for_bit) {
  using mesh::ScalarType;
  for (const codec::Method method : {codec::Method::automatic, codec::Method::raw}) {
    const testing::TemporaryDirectory dir;
    testing::Step step = random_step(4);
    step.header.fields.clear();
    for (mesh::Part& part : step.parts) {
      part.fields.clear();
      const std::size_t cells = num_cells(std::get<mesh::Octree>(part.mesh));
      for (const ScalarType type : {ScalarType::uint32, ScalarType::boolean, ScalarType::float16, ScalarType::bfloat16})
        part.fields.push_back(typed_field(type, cells));
      part.particles[0].attributes.push_back(
          typed_field(ScalarType::float16, static_cast<std::size_t>(part.particles[0].count)));
      part.particles[0].attributes.back().info.centring = mesh::Centring::particle;
    }
    for (const mesh::Field& field : step.parts[0].fields) step.header.fields.push_back(field.info);
    EncodeOptions options;
    options.codec.method = method;
    options.codec.bound = {codec::BoundKind::absolute, 1.0};  // of float32 and float64 alone
    if (method == codec::Method::raw) options.codec.bound = {};
    write_durable_step(step, dir / "s", plan_of(1, 1), options);
    EXPECT_TRUE(same_parts(read_all(open_step(dir / "s")), step.parts));
    for (const Finding& finding : verify(dir / "s", 1).findings) ADD_FAILURE() << finding.where << finding.what;
  }
}

TEST(Features, footers_name_their_writer) {
  const TwoFolders two;
  EXPECT_THAT(list_steps(two.store)[0].writer, ::testing::MatchesRegex("Octavo [0-9]+[.][0-9]+[.][0-9]+"));
}

}  // namespace
}  // namespace octavo::store
