
#include <gmock/gmock.h>

#include "octavo/base/error.hpp"
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/verbs/convert.hpp"
#include "octavo/verbs/diff/diff.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/write_triangles.hpp"

namespace octavo::verbs {
namespace {

namespace fs = std::filesystem;
namespace hdf5 = file::hdf5;

struct ToVtkhdf : ::testing::Test {
  testing::TemporaryFolder folder;
  fs::path slf = folder / "a.slf", out = folder / "b.vtkhdf", back = folder / "c.slf";
  testing::SerafinFixture f;

  void SetUp() override {
    if (!hdf5::available()) GTEST_SKIP() << "no HDF5 in this build";
  }
  void put(std::uint32_t seed, int planes, int steps = 3) {
    f.mesh = testing::random_triangles(seed, 5, 4, seed % 2 == 0);
    f.numbers = testing::ranks_of(f.mesh);
    f.big_endian = seed % 3 != 0;
    f.doubles = seed % 2 == 1;
    f.date = seed % 4 < 2;
    f.planes = planes;
    f.steps = steps;
    f.variables = steps > 0 ? 2 : 0;
    f.tag = f.doubles ? "SERAFIND" : "        ";
    testing::put_file(slf, testing::serafin_bytes(f));
  }
  hdf5::Info set(const hdf5::File& file, const std::string& group, const std::string& name) const {
    for (const hdf5::Info& info : hdf5::list(file, group))
      if (info.name == group + "/" + name) return info;
    throw base::Error(base::Kind::usage, "no data set " + name);
  }
  std::vector<std::int64_t> integers(const hdf5::File& file, const std::string& group, const std::string& name) const {
    return hdf5::read_all<std::int64_t>(file, set(file, group, name));
  }
};

TEST_F(ToVtkhdf, a_serafin_file_comes_back_byte_for_byte_whatever_its_kind) {
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    put(seed, seed % 4 == 0 ? 3 : 1, seed == 7 ? 0 : 3);
    EXPECT_EQ(testing::to_vtkhdf(slf, out, {.overwrite = true}).steps, f.steps);
    testing::to_serafin(out, back, {.overwrite = true});
    EXPECT_TRUE(testing::bytes_of_file(back) == testing::bytes_of_file(slf)) << "seed " << seed;
    for (std::int64_t step = 0; step < f.steps; ++step)
      EXPECT_TRUE(verbs::diff(step::open(slf, {{}, step}), step::open(out, {{}, step})).equal) << "seed " << seed;
  }
}

TEST_F(ToVtkhdf, triangles_are_laid_out_as_vtk_says_with_the_mesh_once) {
  put(2, 1);
  testing::to_vtkhdf(slf, out, {});
  const hdf5::File file = hdf5::open(out);
  const auto points = static_cast<std::int64_t>(f.mesh.x.size());
  const auto cells = static_cast<std::int64_t>(f.mesh.connectivity.size() / 3);
  EXPECT_EQ(hdf5::read_words(file, "VTKHDF", "Type"), "UnstructuredGrid");
  EXPECT_EQ(hdf5::read_numbers(file, "VTKHDF", "Version"), (std::vector<std::int64_t>{2, 0}));
  EXPECT_EQ(hdf5::read_numbers(file, "VTKHDF/Steps", "NSteps"), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(integers(file, "VTKHDF", "NumberOfPoints"), (std::vector<std::int64_t>{points}));
  EXPECT_EQ(integers(file, "VTKHDF", "NumberOfCells"), (std::vector<std::int64_t>{cells}));
  EXPECT_EQ(integers(file, "VTKHDF", "NumberOfConnectivityIds"), (std::vector<std::int64_t>{3 * cells}));
  const std::vector<std::int64_t> connectivity(f.mesh.connectivity.begin(), f.mesh.connectivity.end());
  EXPECT_EQ(integers(file, "VTKHDF", "Connectivity"), connectivity);
  const auto offsets = integers(file, "VTKHDF", "Offsets");
  ASSERT_EQ(offsets.size(), static_cast<std::size_t>(cells) + 1);
  EXPECT_EQ(offsets.back(), 3 * cells);
  EXPECT_THAT(hdf5::read_all<std::int32_t>(file, set(file, "VTKHDF", "Types")), ::testing::Each(5));
  EXPECT_THAT(set(file, "VTKHDF", "Points").shape, ::testing::ElementsAre(points, 3));
  EXPECT_THAT(hdf5::read_all<double>(file, set(file, "VTKHDF/Steps", "Values")), ::testing::ElementsAre(0, 1.5, 3));
  for (const char* name : {"PartOffsets", "PointOffsets", "CellOffsets", "ConnectivityIdOffsets"})
    EXPECT_THAT(integers(file, "VTKHDF/Steps", name), ::testing::ElementsAre(0, 0, 0)) << name;
  EXPECT_THAT(integers(file, "VTKHDF/Steps", "NumberOfParts"), ::testing::ElementsAre(1, 1, 1));
  EXPECT_THAT(integers(file, "VTKHDF/Steps/PointDataOffsets", "VARIABLE 1"),
              ::testing::ElementsAre(0, points, 2 * points));
  const auto values = hdf5::read_all<double>(file, set(file, "VTKHDF/PointData", "VARIABLE 1"));
  ASSERT_EQ(values.size(), 3 * f.mesh.x.size());
  EXPECT_EQ(values[2 * f.mesh.x.size() + 4], testing::serafin_value(2, 1, 4));
}

TEST_F(ToVtkhdf, wedges_stand_between_planes_at_the_heights_of_each_step) {
  put(4, 3);
  testing::to_vtkhdf(slf, out, {});
  const hdf5::File file = hdf5::open(out);
  const std::size_t plane = f.mesh.x.size();
  const auto points = static_cast<std::int64_t>(3 * plane);
  EXPECT_THAT(hdf5::read_all<std::int32_t>(file, set(file, "VTKHDF", "Types")), ::testing::Each(13));
  EXPECT_THAT(integers(file, "VTKHDF/Steps", "PointOffsets"), ::testing::ElementsAre(0, points, 2 * points));
  const auto places = hdf5::read_all<double>(file, set(file, "VTKHDF", "Points"));
  EXPECT_EQ(places[3 * (3 * plane + plane + 7) + 2], testing::serafin_value(1, 0, plane + 7));
  EXPECT_EQ(places[3 * (plane + 7)], f.mesh.x[7]);
  // The lower face is the first.
  const auto cells = integers(file, "VTKHDF", "Connectivity");
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(cells[k] + static_cast<std::int64_t>(plane), cells[k + 3]);
}

TEST_F(ToVtkhdf, a_store_between_them_loses_nothing) {
  put(2, 1);
  testing::to_vtkhdf(slf, out, {});
  verbs::convert({out}, folder / "s.octavo", {});
  testing::to_vtkhdf(folder / "s.octavo", folder / "again.vtkhdf", {});
  testing::to_serafin(folder / "again.vtkhdf", back, {});
  EXPECT_TRUE(testing::bytes_of_file(back) == testing::bytes_of_file(slf));
}

TEST_F(ToVtkhdf, a_file_that_is_there_is_kept_and_a_failure_leaves_nothing) {
  put(2, 1);
  testing::put_file(out, "mine");
  EXPECT_EQ(testing::error_of([&] { testing::to_vtkhdf(slf, out, {}); }).kind(), base::Kind::usage);
  EXPECT_EQ(testing::bytes_of_file(out), "mine");
  const auto stop = [](std::int64_t, std::int64_t) { return false; };
  EXPECT_EQ(testing::error_of([&] { testing::to_vtkhdf(slf, folder / "d.vtkhdf", {.progress = stop}); }).kind(),
            base::Kind::interrupted);
  EXPECT_FALSE(fs::exists(folder / "d.vtkhdf.partial"));
  EXPECT_FALSE(fs::exists(folder / "d.vtkhdf"));
}

TEST_F(ToVtkhdf, offsets_beyond_the_values_and_other_cells_are_named) {
  put(2, 1);
  testing::to_vtkhdf(slf, out, {});
  {
    const hdf5::File file = hdf5::open_write(out);
    hdf5::write_rows<std::int64_t>(file, "VTKHDF/Steps/PointDataOffsets/VARIABLE 0", 2, 1,
                                   std::array<std::int64_t, 1>{1 << 20});
  }
  EXPECT_THAT(testing::message_of([&] { step::open(out); }), ::testing::HasSubstr("VARIABLE 0: expected rows"));
  testing::to_vtkhdf(slf, out, {.overwrite = true});
  {
    const hdf5::File file = hdf5::open_write(out);
    hdf5::write_rows<std::uint8_t>(file, "VTKHDF/Types", 0, 1, std::array<std::uint8_t, 1>{8});
  }
  EXPECT_EQ(testing::error_of([&] { step::open(out); }).kind(), base::Kind::unsupported);
  {
    const hdf5::File file = hdf5::open_write(out);
    hdf5::write_rows<std::uint8_t>(file, "VTKHDF/Types", 0, 1, std::array<std::uint8_t, 1>{9});
  }
  EXPECT_THAT(testing::message_of([&] { step::open(out); }), ::testing::HasSubstr("type 9: found 3 points"));
}

}  // namespace
}  // namespace octavo::verbs
