#include <gmock/gmock.h>

#include "octavo/base/error.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/verbs/convert.hpp"
#include "octavo/verbs/verify.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::verbs {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A file of three planes of which one byte can be changed.
struct Prisms {
  testing::TemporaryFolder folder;
  testing::SerafinFixture fixture;
  fs::path path = folder / "prisms.slf";
  std::string bytes;
  formats::serafin::SerafinSeries series;

  Prisms() {
    fixture.mesh = testing::random_triangles(3, 4, 3);
    fixture.planes = 3;
    bytes = testing::serafin_bytes(fixture);
    testing::put_file(path, bytes);
    series = formats::serafin::open_series(path);
  }
  void change(std::uint64_t at, const std::string& to) {
    std::string changed = bytes;
    changed.replace(at, to.size(), to);
    testing::put_file(path, changed);
  }
  /// Corner `corner` of prism `element` of the upper layer, from 0.
  std::uint64_t corner_above(std::size_t element, std::size_t corner) const {
    const std::size_t elements = fixture.mesh.connectivity.size() / 3;
    return series.offsets.connectivity + 4 + 4 * (6 * (elements + element) + corner);
  }
  void expect_named(const std::string& where, const std::string& what) {
    const store::Report report = verify(path, 1);
    ASSERT_THAT(report.findings, SizeIs(1));
    EXPECT_THAT(report.findings[0].where, HasSubstr(where));
    EXPECT_THAT(report.findings[0].what, HasSubstr(what));
    EXPECT_EQ(report.streams, 3U * 3U);  // values are read all the same
    const base::Error error = testing::error_of([&] { convert({path}, folder / "out.octavo", {}); });
    EXPECT_EQ(error.kind(), base::Kind::corrupt);
    EXPECT_THAT(error.what(), HasSubstr(what));
  }
};

TEST(VerifyTriangles, all_layers_of_prisms_are_looked_at) {
  Prisms prisms;
  EXPECT_THAT(verify(prisms.path, 1).findings, IsEmpty());
  prisms.change(prisms.corner_above(4, 5), std::string("\x7F\x00\x00\x01", 4));
  prisms.expect_named("element", "expected points 1 to");
}

TEST(VerifyTriangles, an_upper_prism_that_is_not_the_lower_one_is_named) {
  Prisms prisms;
  prisms.change(prisms.corner_above(2, 3), std::string("\0\0\0\x01", 4));
  prisms.expect_named("plane 3", "corner 4 of element 27 is not as on plane 1");
}

TEST(VerifyTriangles, planes_that_stand_elsewhere_are_named) {
  Prisms prisms;
  const std::uint64_t point = prisms.fixture.mesh.x.size() + 1;
  prisms.change(prisms.series.offsets.y + 4 + 4 * point, "\x42\xC8");
  prisms.expect_named("plane 2", "y of point " + std::to_string(point + 1) + " is not as on plane 1: expected ");
}

std::vector<std::string> notes_of(const testing::SerafinFixture& fixture) {
  const testing::TemporaryFolder folder;
  testing::put_file(folder / "odd.slf", testing::serafin_bytes(fixture));
  const store::Report report = verify(folder / "odd.slf", 1);
  EXPECT_THAT(report.findings, IsEmpty());
  return report.notes;
}

TEST(VerifyTriangles, what_is_odd_is_noted) {
  testing::SerafinFixture fixture;
  fixture.mesh = testing::random_triangles(5, 4, 4, true);
  fixture.numbers = testing::ranks_of(fixture.mesh);
  const testing::SerafinFixture sound = fixture;
  EXPECT_THAT(notes_of(sound), IsEmpty());

  fixture.mesh.x.push_back(9);
  fixture.mesh.y.push_back(9);
  EXPECT_THAT(notes_of(fixture), Contains(HasSubstr("1 points belong to no element; the first: 26 (from 1)")));

  fixture = sound;
  auto& elements = fixture.mesh.connectivity;
  elements.insert(elements.end(), {elements[1], elements[2], elements[0]});
  EXPECT_THAT(notes_of(fixture), Contains(HasSubstr("1 elements have the points of another; the first: 1 and 31")));

  fixture = sound;
  std::swap(fixture.mesh.connectivity[3], fixture.mesh.connectivity[4]);
  EXPECT_THAT(notes_of(fixture), Contains(HasSubstr("1 elements run clockwise; the first: 2 (from 1)")));

  fixture = sound;
  std::fill(fixture.mesh.y.begin(), fixture.mesh.y.end(), 0);
  EXPECT_THAT(notes_of(fixture), Contains(HasSubstr("30 elements have no area; the first: 1 (from 1)")));
}

TEST(VerifyTriangles, wrong_numbers_of_the_boundary_are_noted) {
  testing::SerafinFixture fixture;
  fixture.mesh = testing::random_triangles(6, 5, 4);
  const std::vector<std::int32_t> sound = testing::ranks_of(fixture.mesh),
                                  boundary = testing::boundary_of(fixture.mesh);
  const auto on = [&](std::size_t rank) -> std::int32_t& {
    return fixture.numbers[static_cast<std::size_t>(boundary[rank])];
  };
  fixture.numbers = sound;
  on(3) = 1;
  EXPECT_THAT(notes_of(fixture), Contains(HasSubstr("given twice or out of range")));
  on(3) = -4;
  EXPECT_THAT(notes_of(fixture), Contains(AllOf(HasSubstr("out of range"), HasSubstr(" has -4"))));
  on(3) = 0;
  EXPECT_THAT(notes_of(fixture), Contains(HasSubstr("1 points of the mesh's outline have no number")));
  fixture.numbers = sound;
  *std::find(fixture.numbers.begin(), fixture.numbers.end(), 0) = 7;
  EXPECT_THAT(notes_of(fixture), Contains(HasSubstr("1 points inside have a number of the boundary")));
  fixture.numbers.assign(sound.size(), 0);
  EXPECT_THAT(notes_of(fixture), IsEmpty());
}

}  // namespace
}  // namespace octavo::verbs
