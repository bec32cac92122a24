#include "octavo/formats/gmsh/gmsh.hpp"

#include <gmock/gmock.h>

#include <map>

#include "octavo/base/error.hpp"
#include "octavo/mesh/triangles/cells.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/gmsh_fixture.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::formats::gmsh {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::gmsh_bytes;
using ::testing::HasSubstr;

struct Gmsh : ::testing::Test {
  testing::TemporaryFolder folder;
  fs::path put(const std::string& bytes) const {
    testing::put_file(folder / "a.msh", bytes);
    return folder / "a.msh";
  }
};

TEST_F(Gmsh, both_versions_as_text_and_binary_have_the_same_mesh) {
  for (const bool newer : {false, true})
    for (const bool binary : {false, true}) {
      const fs::path path = put(gmsh_bytes(newer, binary));
      EXPECT_TRUE(recognise(path));
      const mesh::Dataset dataset = open(path, {});
      const mesh::Part part = dataset.read(0, {});
      const auto& mesh = std::get<mesh::Unstructured>(part.mesh);
      EXPECT_THAT(mesh.x, ElementsAre(0, 1, 1, 0, 2)) << newer << binary;
      EXPECT_THAT(mesh.y, ElementsAre(0, 0, 1, 1, 0.5));
      EXPECT_THAT(mesh.connectivity, ElementsAre(0, 1, 2, 0, 2, 3, 1, 4, 2));
      EXPECT_THAT(mesh::cells_by_corners(dataset.header), ElementsAre(1, 1));
      ASSERT_EQ(part.fields.size(), 1u);
      EXPECT_THAT(part.fields[0].as<double>(), ElementsAre(-1, -2, -3, -4, -5));
      EXPECT_THAT(dataset.notes, ElementsAre(HasSubstr("NodeData"), HasSubstr("1 points that no cell has")));
    }
}

TEST_F(Gmsh, each_prefix_of_a_file_is_refused_or_whole) {
  for (const bool newer : {false, true})
    for (const bool binary : {false, true}) {
      const std::string whole = gmsh_bytes(newer, binary);
      const std::size_t cells = whole.find("$EndElements");
      for (std::size_t length = 11; length < cells; length += 5) {
        const fs::path path = put(whole.substr(0, length));
        const auto error = testing::error_of([&] { open(path, {}); });
        EXPECT_TRUE(error.kind() == base::Kind::corrupt || error.kind() == base::Kind::unsupported) << length;
        EXPECT_THAT(error.what(), HasSubstr("a.msh"));
      }
    }
}

/// Two triangles; the first is in the groups "all" and 7, the second in "all". A line in "in let" and 2, a point in
/// "gauge".
constexpr const char* grouped_2 = R"($MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
3
0 5 "gauge"
1 1 "in let"
2 1 "all"
$EndPhysicalNames
$Nodes
4
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
$EndNodes
$Elements
8
1 15 2 5 1 2
2 1 2 1 1 1 2
3 1 2 -2 1 1 2
4 1 2 0 2 2 3
5 2 2 1 1 1 2 3
6 2 2 7 1 1 2 3
7 2 2 1 2 1 3 4
8 1 2 1 1 1 2
$EndElements
)";

constexpr const char* grouped_4 = R"($MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
3
0 5 "gauge"
1 1 "in let"
2 1 "all"
$EndPhysicalNames
$Entities
1 2 2 0
1 1 0 0 1 5
1 0 0 0 1 0 0 2 1 -2 2 1 -2
2 1 0 0 1 1 0 0 0
1 0 0 0 1 1 0 2 1 7 1 1
2 0 0 0 1 1 0 1 1 0
$EndEntities
$Nodes
1 4 1 4
2 1 0 4
1
2
3
4
0 0 0
1 0 0
1 1 0
0 1 0
$EndNodes
$Elements
5 5 1 5
0 1 15 1
1 2
1 1 1 1
2 1 2
1 2 1 1
3 2 3
2 1 2 1
4 1 2 3
2 2 2 1
5 1 3 4
$EndElements
)";

TEST_F(Gmsh, both_versions_have_the_same_groups_and_each_element_once) {
  for (const char* text : {grouped_2, grouped_4}) {
    const fs::path path = put(text);
    EXPECT_THAT(std::get<mesh::Unstructured>(open(path, {}).read(0, {}).mesh).connectivity,
                ElementsAre(0, 1, 2, 2, 3, 0));
    const MeshGroups groups = read_groups(path);
    std::map<std::int32_t, std::vector<std::string>> names;
    for (const GroupFamily& family : groups.families) names[family.number] = family.groups;
    EXPECT_THAT(groups.edges, ElementsAre(0, 1));
    ASSERT_THAT(groups.of_edge, ::testing::SizeIs(1));
    EXPECT_THAT(names[groups.of_edge[0]], ElementsAre("in let", "G_1D_2"));
    ASSERT_THAT(groups.of_triangle, ::testing::SizeIs(2));
    EXPECT_THAT(names[groups.of_triangle[0]], ElementsAre("all", "G_2D_7"));
    EXPECT_THAT(names[groups.of_triangle[1]], ElementsAre("all"));
    ASSERT_THAT(groups.of_point, ::testing::SizeIs(4));
    EXPECT_THAT(names[groups.of_point[1]], ElementsAre("gauge"));
    EXPECT_EQ(groups.of_point[0], 0);
    EXPECT_GT(groups.of_point[1], 0);
    EXPECT_LT(groups.of_edge[0], 0);
  }
}

TEST_F(Gmsh, each_prefix_of_a_file_with_groups_is_refused_or_whole) {
  for (const std::string whole : {grouped_2, grouped_4})
    for (std::size_t length = 11; length < whole.find("$EndElements"); length += 4) {
      const auto error = testing::error_of([&] { open(put(whole.substr(0, length)), {}); });
      EXPECT_TRUE(error.kind() == base::Kind::corrupt || error.kind() == base::Kind::unsupported) << length;
    }
}

/// A prism, a pyramid on one of its sides, a side in the group "wet" and one in none; the prism is in the groups "rock"
/// and 4.
constexpr const char* solids_2 = R"($MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
2
2 1 "wet"
3 1 "rock"
$EndPhysicalNames
$Nodes
8
1 0 0 0
2 1 0 0
3 0 1 0
4 0 0 1
5 1 0 1
6 0 1 1
7 0.5 -1 0.5
88 9 9 9
$EndNodes
$Elements
5
1 2 2 1 1 1 2 3
5 2 2 0 9 4 5 6
2 6 2 1 1 1 2 3 4 5 6
3 6 2 4 1 1 2 3 4 5 6
4 7 2 0 2 1 2 5 4 7
$EndElements
)";

TEST_F(Gmsh, solids_keep_their_corners_and_groups_and_sides_are_left_out) {
  const mesh::Dataset dataset = open(put(solids_2), {});
  EXPECT_EQ(mesh::count_solids(dataset.header), (std::vector<std::int64_t>{0, 1, 1, 0}));
  EXPECT_EQ(dataset.header.dim, 3);
  EXPECT_THAT(dataset.header.lo, ElementsAre(0, -1, 0));
  const auto mesh = std::get<mesh::Solids>(dataset.read(0, {}).mesh);
  EXPECT_THAT(mesh.corners, ElementsAre(6, 5));
  EXPECT_THAT(mesh.connectivity, ElementsAre(0, 1, 2, 3, 4, 5, 0, 1, 4, 3, 6));
  EXPECT_THAT(mesh.z, ElementsAre(0, 0, 0, 1, 1, 1, 0.5));
  EXPECT_THAT(dataset.notes, ElementsAre(HasSubstr("in no group are left out: 1"), HasSubstr("1 points that no cell")));
  const MeshGroups groups = read_groups(folder / "a.msh");
  ASSERT_THAT(groups.of_triangle, ::testing::SizeIs(2));
  EXPECT_EQ(groups.of_triangle[1], 0);
  std::map<std::int32_t, std::vector<std::string>> names;
  for (const GroupFamily& family : groups.families) names[family.number] = family.groups;
  EXPECT_THAT(names[groups.of_triangle[0]], ElementsAre("rock", "G_3D_4"));
  EXPECT_THAT(groups.sides, ElementsAre(0, 1, 2, -1));
  ASSERT_THAT(groups.of_side, ::testing::SizeIs(1));
  EXPECT_THAT(names[groups.of_side[0]], ElementsAre("wet"));
  for (std::size_t length = 11; length < std::string(solids_2).find("$EndElements"); length += 3) {
    const auto error = testing::error_of([&] { open(put(std::string(solids_2).substr(0, length)), {}).read(0, {}); });
    EXPECT_TRUE(error.kind() == base::Kind::corrupt || error.kind() == base::Kind::unsupported) << length;
  }
}

TEST_F(Gmsh, damage_is_named) {
  const auto message_with = [&](const std::string& from, const std::string& to) {
    std::string bytes = gmsh_bytes(false, false);
    bytes.replace(bytes.find(from), from.size(), to);
    return testing::message_of([&] { open(put(bytes), {}); });
  };
  EXPECT_THAT(message_with("7 2 2 1 1 2 9 3", "7 11 2 1 1 2 9 3 4 1 2 3 4 9 1"), HasSubstr("type 11"));
  EXPECT_THAT(message_with("7 2 2 1 1 2 9 3", "7 4 2 1 1 2 9 3 8"), HasSubstr("no point has the number 8"));
  EXPECT_THAT(message_with("7 2 2 1 1 2 9 3", "7 9 2 1 1 2 9 3 4 5 6"), HasSubstr("type 9"));
  EXPECT_THAT(message_with("7 2 2 1 1 2 9 3", "7 2 2 1 1 2 8 3"), HasSubstr("no point has the number 8"));
  EXPECT_THAT(message_with("7 2 2 1 1 2 9 3", "7 2 2 1 1 2 2 3"), HasSubstr("twice"));
  EXPECT_THAT(message_with("2 1 0 -2", "1 1 0 -2"), HasSubstr("two points have the number 1"));
  EXPECT_THAT(message_with("2 1 0 -2", "2 x 0 -2"), HasSubstr("expected a number, found \"x\""));
  EXPECT_THAT(message_with("2 1 0 -2", "2 inf 0 -2"), HasSubstr("without a place"));
  EXPECT_THAT(message_with("2.2 0 8", "3.0 0 8"), HasSubstr("version 3.0"));
  EXPECT_THAT(message_with("$Nodes\n6", "$Nodes\n600000"), HasSubstr("do not fit the file"));
  EXPECT_EQ(testing::kind_of([&] { open(put(gmsh_bytes(true, false)), 1); }), base::Kind::usage);
}

}  // namespace
}  // namespace octavo::formats::gmsh
