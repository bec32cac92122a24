#include "octavo/formats/ugrid/ugrid.hpp"

#include <gmock/gmock.h>

#include "octavo/base/error.hpp"
#include "octavo/formats/ugrid/netcdf.hpp"
#include "octavo/mesh/triangles/cells.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/ugrid_fixture.hpp"

namespace octavo::formats::ugrid {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::two_cells;

struct Ugrid : ::testing::Test {
  testing::TemporaryFolder folder;
  fs::path put(const std::string& bytes) const {
    testing::put_file(folder / "a.nc", bytes);
    return folder / "a.nc";
  }
};

TEST_F(Ugrid, a_classic_file_is_read_to_the_last_value) {
  for (const std::int32_t start : {0, 1}) {
    const mesh::Dataset dataset = open(put(two_cells(start)), {});
    EXPECT_EQ(dataset.header.time, 7200);
    EXPECT_EQ(mesh::cells_by_corners(dataset.header), (std::vector<std::int64_t>{1, 1}));
    EXPECT_EQ(std::get<std::string>(dataset.header.attributes.at("time_origin")), "2001-02-03");
    EXPECT_EQ(dataset.header.hi[0], 2);
    const mesh::Part part = dataset.read(0, {});
    const auto& mesh = std::get<mesh::Unstructured>(part.mesh);
    EXPECT_THAT(mesh.x, ElementsAre(0, 1, 1, 0, 2));
    EXPECT_THAT(mesh.connectivity, ElementsAre(0, 1, 2, 0, 2, 3, 1, 4, 2));
    ASSERT_EQ(part.fields.size(), 3u);
    EXPECT_THAT(part.fields[0].as<float>(), ElementsAre(0, -1, -2, -3, -4));
    EXPECT_THAT(part.fields[1].as<float>(), ElementsAre(10, 11, 12, 13, 14));
    EXPECT_THAT(part.fields[2].as<double>(), ElementsAre(101, 201));
    EXPECT_TRUE(mesh::in_cells(dataset.header, part.fields[2].info));
    EXPECT_FALSE(mesh::in_cells(dataset.header, part.fields[1].info));
    EXPECT_EQ(part.fields[1].info.unit, "m");
    EXPECT_THAT(open(folder / "a.nc", 0).read(0, {}).fields[2].as<double>(), ElementsAre(100, 200));
    EXPECT_THAT(list_steps(folder / "a.nc").times, ElementsAre(3600, 7200));
  }
}

TEST_F(Ugrid, a_stream_of_records_is_counted_by_the_files_length) {
  EXPECT_EQ(list_steps(put(two_cells(0, 3, -1))).times.size(), 2u);
}

TEST_F(Ugrid, each_prefix_of_a_file_is_refused_or_has_no_such_values) {
  const std::string whole = two_cells();
  for (std::size_t length = 4; length < whole.size(); length += 3) {
    const fs::path path = put(whole.substr(0, length));
    const auto error = testing::error_of([&] { open(path, {}).read(0, {}); });
    EXPECT_TRUE(error.kind() == base::Kind::corrupt || error.kind() == base::Kind::unsupported) << length;
    EXPECT_THAT(error.what(), HasSubstr("a.nc")) << length;
  }
}

TEST_F(Ugrid, damage_is_named) {
  EXPECT_THAT(testing::message_of([&] { open(put(two_cells(0, 9)), {}).read(0, {}); }),
              ::testing::AllOf(HasSubstr("expected 0 to 4, found 9"), HasSubstr("cell 0"), HasSubstr("a.nc")));
  EXPECT_THAT(testing::message_of([&] { open(put(two_cells(0, 2)), {}).read(0, {}); }), HasSubstr("point 2 twice"));
  EXPECT_THAT(testing::message_of([&] { open(put(two_cells(0, 3, 400)), {}).read(0, {}); }), HasSubstr("a.nc"));
  EXPECT_EQ(testing::kind_of([&] { open(put(two_cells()), 2); }), base::Kind::usage);
  std::string other = two_cells();
  other.replace(other.find("mesh_topology"), 4, "MESH");
  EXPECT_FALSE(recognise(put(other)));
  EXPECT_TRUE(recognise(put(two_cells())));
}

}  // namespace
}  // namespace octavo::formats::ugrid
