#include "octavo/telemac/cut/med_pieces.hpp"

#include <gmock/gmock.h>

#include <set>

#include "octavo/base/error.hpp"
#include "octavo/formats/med/med.hpp"
#include "octavo/step/open.hpp"
#include "octavo/telemac/cut/partition.hpp"
#include "octavo/telemac/merge/merge_pieces.hpp"
#include "octavo/verbs/diff/diff.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::telemac {
namespace {

namespace med = formats::med;
using ::testing::HasSubstr;

struct MedPiecesOfAMesh : ::testing::Test {
  testing::TemporaryFolder folder;
  std::filesystem::path slf = folder / "a.slf", pieces = folder / "T2DGEO.med", merged = folder / "b.slf";

  void SetUp() override {
    if (!med::available()) GTEST_SKIP() << "no MED in this build, or no libmedC here";
  }
  void cut(std::uint32_t seed, std::int32_t parts, int planes = 1) {
    testing::SerafinFixture f;
    f.mesh = testing::random_triangles(seed, 7, 6, seed % 2 == 0);
    f.numbers = testing::ranks_of(f.mesh);
    f.planes = planes;
    f.doubles = seed % 2 == 1;
    f.date = seed % 3 == 0;
    f.big_endian = seed % 4 != 0;
    f.tag = f.doubles ? "SERAFIND" : "SERAFIN ";
    testing::put_file(slf, testing::serafin_bytes(f));
    std::string lines = testing::boundary_text(testing::boundary_of(f.mesh));
    for (std::size_t line = 0, at = 0; line < 4; ++line, at = lines.find('\n', at) + 1)
      lines.replace(at, 8, "5 4 4 1.");
    testing::put_file(folder / "a.cli", lines);
    PartitionOptions options;
    options.parts = parts;
    options.layout = PieceLayout::med;
    options.method = partition::CutMethod::hilbert;
    options.boundary = folder / "a.cli";
    report = partition_mesh(slf, folder / "T2D", options);
  }
  PartitionReport report;
};

TEST_F(MedPiecesOfAMesh, cut_and_merged_it_is_the_same_file_byte_for_byte) {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    cut(seed, 5);
    EXPECT_EQ(med::mesh_names(pieces).size(), 5U);
    MergeOptions options;
    options.mesh = slf;
    options.overwrite = true;
    EXPECT_EQ(merge_pieces({pieces}, merged, options).parts, 5);
    EXPECT_TRUE(testing::bytes_of_file(merged) == testing::bytes_of_file(slf)) << "seed " << seed;
  }
}

TEST_F(MedPiecesOfAMesh, planes_come_back_with_all_values) {
  cut(2, 3, 3);
  merge_pieces({pieces}, merged, {});
  for (std::int64_t step = 0; step < 3; ++step)
    EXPECT_TRUE(verbs::diff(step::open(slf, {{}, step}), step::open(merged, {{}, step}), {.ignore = {"IPOBO"}}).equal);
}

TEST_F(MedPiecesOfAMesh, a_piece_knows_its_points_numbers_and_texts_are_beside_it) {
  cut(1, 4);
  const mesh::Dataset second = step::open(pieces.string() + "#MESH2");
  const mesh::Part part = second.read(0, {}), whole = step::open(slf).read(0, {});
  const auto& mesh = std::get<mesh::Unstructured>(part.mesh);
  const auto& all = std::get<mesh::Unstructured>(whole.mesh);
  ASSERT_EQ(mesh.global_point.size(), mesh.x.size());
  for (std::size_t i = 0; i < mesh.x.size(); ++i) {
    const auto global = static_cast<std::size_t>(mesh.global_point[i]);
    EXPECT_EQ(mesh.x[i], all.x[global]);
    EXPECT_EQ(part.fields.at(1).as<double>()[i], whole.fields.at(1).as<double>()[global]);
  }
  EXPECT_EQ(second.header.fields.at(0).name, "VARIABLE 0");
  EXPECT_TRUE(second.header.attributes.contains("NPTIR2"));
  EXPECT_TRUE(std::filesystem::exists(folder / "T2DPAR-CONCAT"));
  EXPECT_TRUE(std::filesystem::exists(folder / "T2DCLI-INDEX"));
}

TEST_F(MedPiecesOfAMesh, boundary_points_are_in_the_groups_that_telemac_asks_for) {
  cut(1, 3);
  const std::string texts = testing::bytes_of_file(folder / "T2DCLI-CONCAT");
  EXPECT_THAT(texts, HasSubstr("           2\n           2           2           2           2 CONLIM_2222\n"
                               "           5           4           4           2 CONLIM_5442\n"));
  std::string lines;
  for (int piece = 1; piece <= 3; ++piece) {
    const formats::MeshGroups groups = med::read_groups(pieces.string() + "#MESH" + std::to_string(piece));
    std::set<std::string> names;
    for (const formats::GroupFamily& family : groups.families) {
      EXPECT_GT(family.number, 0);
      names.insert(family.groups.begin(), family.groups.end());
    }
    lines += "           " + std::to_string(names.size()) + '\n';
    for (const std::string& name : names)
      lines += (name == "CONLIM_2222" ? "           2           2           2           2 "
                                      : "           5           4           4           2 ") +
               name + '\n';
  }
  EXPECT_EQ(texts, lines);
  EXPECT_THAT(report.notes, ::testing::Contains(HasSubstr("have no place in groups")));
}

TEST_F(MedPiecesOfAMesh, a_whole_mesh_is_no_piece_and_other_geometry_is_named) {
  cut(1, 2);
  testing::SerafinFixture other;
  other.mesh = testing::random_triangles(1, 3, 3);
  testing::put_file(folder / "other.slf", testing::serafin_bytes(other));
  MergeOptions options;
  options.mesh = folder / "other.slf";
  EXPECT_THAT(testing::message_of([&] { merge_pieces({pieces}, merged, options); }),
              HasSubstr("pieces of another mesh"));
  EXPECT_THAT(testing::message_of([&] { step::open(pieces.string() + "#MESH9"); }), HasSubstr("no mesh MESH9"));
  EXPECT_FALSE(std::filesystem::exists(merged));
}

}  // namespace
}  // namespace octavo::telemac
