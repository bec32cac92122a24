#include "octavo/formats/gmsh/gmsh.hpp"

#include <gmock/gmock.h>

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

TEST_F(Gmsh, damage_and_solids_are_named) {
  const auto message_with = [&](const std::string& from, const std::string& to) {
    std::string bytes = gmsh_bytes(false, false);
    bytes.replace(bytes.find(from), from.size(), to);
    return testing::message_of([&] { open(put(bytes), {}); });
  };
  EXPECT_THAT(message_with("7 2 2 1 1 2 9 3", "7 4 2 1 1 2 9 3 4"), HasSubstr("which are solids"));
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
