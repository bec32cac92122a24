#include "octavo/formats/med/med.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "octavo/base/error.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/formats/med/groups.hpp"
#include "octavo/formats/serafin/dataset.hpp"
#include "octavo/mesh/triangles/cells.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::formats::med {
namespace {

namespace fs = std::filesystem;

fs::path data() {
  const char* given = std::getenv("OCTAVO_DATA");
  return (given != nullptr ? fs::path(given) : fs::path(__FILE__).parent_path() / "../../../../shared/data") /
         "serafin";
}

class Med : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!available()) GTEST_SKIP() << "no MED in this build, or no libmedC here";
    if (!fs::exists(path)) GTEST_SKIP() << "no real data at " << path << ": set OCTAVO_DATA";
  }
  fs::path path = data() / "geo_gouttedo.med";
};

TEST_F(Med, a_real_file_is_the_mesh_and_field_that_its_serafin_twin_has) {
  const mesh::Dataset dataset = formats::open(path), twin = serafin::open(data() / "geo_gouttedo.slf");
  EXPECT_EQ(dataset.format, "med");
  const mesh::Part part = dataset.read(0, {}), other = twin.read(0, {});
  const auto& mesh = std::get<mesh::Unstructured>(part.mesh);
  const auto& expected = std::get<mesh::Unstructured>(other.mesh);
  EXPECT_EQ(mesh.connectivity, expected.connectivity);
  EXPECT_EQ(mesh.planes, 1);
  ASSERT_EQ(mesh.x.size(), expected.x.size());
  for (std::size_t i = 0; i < mesh.x.size(); ++i) {
    EXPECT_FLOAT_EQ(static_cast<float>(mesh.x[i]), static_cast<float>(expected.x[i]));
    EXPECT_FLOAT_EQ(static_cast<float>(mesh.y[i]), static_cast<float>(expected.y[i]));
  }
  ASSERT_EQ(dataset.header.fields.size(), 2U);
  EXPECT_EQ(dataset.header.fields[0].name, "MAILLAGE");
  EXPECT_EQ(part.fields[1].bytes, other.fields[1].bytes);  // GLB holds IPOBO
  EXPECT_EQ(list_steps(path).times, (std::vector<double>{0}));
  EXPECT_THROW(open(path, 1), base::Error);
}

/// Files that medcoupling 9.15 wrote, the library of SALOME: two triangles and a quadrangle with a height that is not
/// 0, a line in the group "outlet", IN CELLS at steps 0 and 1, AT POINTS at step 0, WHOLE of integers.
fs::path of_salome(const char* name) { return fs::path(__FILE__).parent_path() / "../../../tests/golden/med" / name; }

TEST(MedOfSalome, fields_in_cells_are_read_at_the_steps_that_they_have_and_what_is_left_out_is_named) {
  if (!available()) GTEST_SKIP() << "no MED in this build, or no libmedC here";
  const fs::path path = of_salome("cells.med");
  const mesh::Dataset last = open(path, {}), first = open(path, 0);
  EXPECT_THAT(last.notes, ::testing::ElementsAre("field WHOLE is left out: its values are no reals",
                                                 "the points' heights (z) are left out",
                                                 "field AT POINTS has no values at step 1"));
  EXPECT_THAT(mesh::cells_by_corners(last.header), ::testing::ElementsAre(2, 1));
  ASSERT_EQ(last.header.fields.size(), 1u);
  EXPECT_TRUE(mesh::in_cells(last.header, last.header.fields[0]));
  EXPECT_THAT(last.read(0, {}).fields.at(0).as<double>(), ::testing::ElementsAre(17, 18, 19));
  EXPECT_EQ(last.header.time, 0.5);
  ASSERT_EQ(first.header.fields.size(), 2u);
  EXPECT_EQ(first.header.fields[0].name, "AT POINTS");
  EXPECT_THAT(first.read(0, {}).fields.at(0).as<double>(), ::testing::ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(first.read(0, {}).fields.at(1).as<double>(), ::testing::ElementsAre(7, 8, 9));
  const MeshGroups groups = read_groups(path);
  ASSERT_EQ(groups.edges.size(), 4u);
  ASSERT_EQ(groups.families.size(), 1u);
  EXPECT_THAT(groups.families[0].groups, ::testing::ElementsAre("outlet"));
}

TEST(MedOfSalome, a_file_of_a_later_version_says_so) {
  if (!available()) GTEST_SKIP() << "no MED in this build, or no libmedC here";
  try {
    open(of_salome("newer.med"), {});  // MED 4.2
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::Kind::unsupported);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("a file of MED 4.2: this libmedC reads up to"));
  }
}

TEST_F(Med, a_file_cut_short_or_with_changed_bytes_is_an_error_or_read_and_never_a_crash) {
  const testing::TemporaryFolder folder;
  std::ifstream in(path, std::ios::binary);
  const std::string sound{std::istreambuf_iterator<char>(in), {}};
  for (int trial = 0; trial < 24; ++trial) {
    std::string bytes = sound;
    if (trial % 3 == 0)
      bytes.resize(bytes.size() * static_cast<std::size_t>(trial + 1) / 32);
    else
      for (std::size_t k = 0; k < 40; ++k) bytes[(k * 7919 + static_cast<std::size_t>(trial) * 104729) % 20000] ^= 0x41;
    const fs::path damaged = folder / "damaged.med";
    std::ofstream(damaged, std::ios::binary | std::ios::trunc) << bytes;
    try {
      formats::open(damaged).read(0, {});
    } catch (const base::Error&) {
    }
  }
}

TEST(MedNames, what_is_no_med_file_is_not_recognised) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "text") << "INFOS_GENERALES";
  EXPECT_FALSE(recognise(folder / "text"));
  EXPECT_FALSE(recognise(folder / "missing"));
  EXPECT_FALSE(recognise(folder.path()));
}

}  // namespace
}  // namespace octavo::formats::med
