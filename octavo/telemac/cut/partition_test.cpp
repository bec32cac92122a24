#include "octavo/telemac/cut/partition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "octavo/base/error.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/step/open.hpp"
#include "octavo/store/read/triangles.hpp"
#include "octavo/telemac/telemac.hpp"
#include "octavo/verbs/convert.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::telemac {
namespace {

namespace fs = std::filesystem;
namespace serafin = formats::serafin;

fs::path data() {
  const char* given = std::getenv("OCTAVO_DATA");
  return (given != nullptr ? fs::path(given) : fs::path(__FILE__).parent_path() / "../../../shared/data") / "serafin";
}

using octavo::testing::bytes_of_file;

/// Part of each element, read off pieces that partel made.
partition::PartVector vector_of(const fs::path& mesh, const std::vector<fs::path>& pieces) {
  const auto series = serafin::open_series(mesh);
  std::vector<std::int32_t> connectivity(static_cast<std::size_t>(series.header.elements) * 3);
  serafin::read_connectivity(series, 0, connectivity);
  std::map<std::array<std::int32_t, 3>, std::size_t> element_of;
  for (std::size_t e = 0; 3 * e < connectivity.size(); ++e)
    element_of[{connectivity[3 * e], connectivity[3 * e + 1], connectivity[3 * e + 2]}] = e;
  partition::PartVector part_of(connectivity.size() / 3, -1);
  for (std::size_t part = 0; part < pieces.size(); ++part) {
    const auto piece = serafin::open_series(pieces[part]);
    std::vector<std::int32_t> local(static_cast<std::size_t>(piece.header.elements) * 3);
    std::vector<std::int32_t> global(static_cast<std::size_t>(piece.header.points));
    serafin::read_connectivity(piece, 0, local);
    serafin::read_numbers(piece, 0, global);
    const auto number = [&](std::size_t i) { return global[static_cast<std::size_t>(local[i] - 1)]; };
    for (std::size_t e = 0; e < local.size(); e += 3)
      part_of[element_of.at({number(e), number(e + 1), number(e + 2)})] = static_cast<std::int32_t>(part);
  }
  return part_of;
}

class PartitionReal : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(data())) GTEST_SKIP() << "no real data at " << data();
  }
  octavo::testing::TemporaryFolder folder_;
};

const char* example = "partel_example_gouttedo_p2";

/// partel's cut of the example, and its boundary.
PartitionOptions cut_of_example() {
  PartitionOptions options;
  options.boundary = data() / "geo_gouttedo.cli";
  options.part_of = vector_of(data() / "geo_gouttedo.slf",
                              {data() / example / "T2DGEO00001-00000", data() / example / "T2DGEO00001-00001"});
  return options;
}

/// Both layouts' files of a mesh are the example's.
void expect_example(const fs::path& mesh, PartitionOptions options, const fs::path& folder) {
  for (const PieceLayout layout : {PieceLayout::files, PieceLayout::concat}) {
    options.layout = layout;
    EXPECT_EQ(partition_mesh(mesh, folder / "T2D", options).parts, 2);
  }
  std::size_t compared = 0;
  for (const auto& entry : fs::directory_iterator(data() / example)) {
    EXPECT_TRUE(bytes_of_file(entry.path()) == bytes_of_file(folder / entry.path().filename()))
        << entry.path().filename();
    ++compared;
  }
  EXPECT_EQ(compared, 12U);
}

TEST_F(PartitionReal, pieces_are_partel_s_byte_for_byte) {
  expect_example(data() / "geo_gouttedo.slf", cut_of_example(), folder_.path());
}

TEST_F(PartitionReal, pieces_of_a_store_s_cut_and_boundary_are_partel_s_byte_for_byte) {
  PartitionOptions options = cut_of_example();
  options.layout = PieceLayout::octavo;
  partition_mesh(data() / "geo_gouttedo.slf", folder_.path() / "CUT", options);
  PartitionOptions kept;
  kept.parts = 0;
  expect_example(folder_.path() / "CUTGEO.octavo", kept, folder_.path());
}

TEST_F(PartitionReal, metis_cuts_as_partel_s_metis_did) {
  if (!partition::has(partition::CutMethod::metis)) GTEST_SKIP() << "no METIS in this build";
  PartitionOptions options;
  options.boundary = data() / "geo_gouttedo.cli";
  options.layout = PieceLayout::files;
  partition_mesh(data() / "geo_gouttedo.slf", folder_.path() / "T2D", options);
  EXPECT_TRUE(bytes_of_file(folder_.path() / "T2DGEO00001-00001") ==
              bytes_of_file(data() / "partel_example_gouttedo_p2" / "T2DGEO00001-00001"));
}

TEST(Partition, a_geometry_without_steps_becomes_a_store_with_its_cut) {
  const octavo::testing::TemporaryFolder folder;
  octavo::testing::SerafinFixture f;
  f.mesh = octavo::testing::random_triangles(1, 6, 5);
  f.steps = 0;
  octavo::testing::put_file(folder / "geo.slf", octavo::testing::serafin_bytes(f));
  PartitionOptions options;
  options.parts = 3;
  options.method = partition::CutMethod::hilbert;
  options.layout = PieceLayout::octavo;
  partition_mesh(folder / "geo.slf", folder / "T2D", options);
  const mesh::Dataset cut = step::open(folder / "T2DGEO.octavo");
  EXPECT_EQ(std::get<std::int64_t>(cut.header.attributes.at(store::cut_attribute)), 3);
  EXPECT_TRUE(std::get<mesh::Unstructured>(cut.read(0, {}).mesh) ==
              std::get<mesh::Unstructured>(step::open(folder / "geo.slf").read(0, {}).mesh));
  EXPECT_THAT(verbs::convert({folder / "T2DGEO.octavo"}, folder / "plain.octavo", {}).notes,
              ::testing::ElementsAre(::testing::HasSubstr("the cut is not kept")));
  EXPECT_EQ(step::open(folder / "plain.octavo").header.attributes.count(store::cut_attribute), 0U);
}

/// The message of the partition. Checks that all files of the folder stay as they were.
std::string refusal(const fs::path& folder, const fs::path& mesh, const PartitionOptions& options) {
  std::map<fs::path, std::string> before;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) before[entry] = bytes_of_file(entry);
  const std::string message = octavo::testing::message_of([&] { partition_mesh(mesh, folder / "T2D", options); });
  for (const auto& [path, bytes] : before) EXPECT_TRUE(bytes_of_file(path) == bytes) << path;
  return message;
}

TEST(Partition, no_input_is_replaced_by_an_output) {
  const octavo::testing::TemporaryFolder folder;
  octavo::testing::SerafinFixture f;
  f.mesh = octavo::testing::random_triangles(1, 6, 5);
  const std::string mesh = octavo::testing::serafin_bytes(f);
  const std::string lines = octavo::testing::boundary_text(octavo::testing::boundary_of(f.mesh));
  for (const char* name : {"T2DGEO", "T2DPRE", "geo.slf"}) octavo::testing::put_file(folder / name, mesh);
  for (const char* name : {"T2DCLI", "geo.cli"}) octavo::testing::put_file(folder / name, lines);
  octavo::testing::put_file(folder / "T2DSEC", "sections\n0 -1\n");
  fs::create_symlink("geo.slf", folder / "T2DREF");
  PartitionOptions options;
  options.parts = 1;
  options.method = partition::CutMethod::hilbert;
  const auto expect_refused = [&](const char* from, const PartitionOptions& given, const std::string& both) {
    const std::string message = refusal(folder.path(), folder / from, given);
    EXPECT_THAT(message, ::testing::HasSubstr("would replace the input")) << both;
    EXPECT_THAT(message, ::testing::HasSubstr(both));
  };
  expect_refused("T2DGEO", options, "T2DGEO");
  options.boundary = folder / "T2DCLI";
  expect_refused("geo.slf", options, "T2DCLI");
  options.boundary = folder / "geo.cli";
  options.also = {{"PRE", folder / "T2DPRE"}};
  fs::rename(folder / "T2DGEO", folder / "T2DGEO00003-00002");
  expect_refused("geo.slf", options, "T2DPRE");
  options.also = {{"REF", folder / "geo.slf"}};
  expect_refused("T2DPRE", options, "T2DREF");
  options.also.clear();
  options.sections = folder / "T2DSEC";
  expect_refused("geo.slf", options, "T2DSEC");
  options.sections.reset();
  options.parts = 4;
  options.layout = PieceLayout::files;
  expect_refused("T2DGEO00003-00002", options, "T2DGEO00003-00002");
  options.layout = PieceLayout::concat;
  EXPECT_EQ(refusal(folder.path(), folder / "T2DGEO00003-00002", options), "no error");
  verbs::convert({folder / "geo.slf"}, folder / "T2DGEO.octavo", {});
  options.layout = PieceLayout::octavo;
  expect_refused("T2DGEO.octavo", options, "T2DGEO.octavo");
}

TEST(Partition, without_parts_the_mesh_is_a_store_that_was_cut) {
  const octavo::testing::TemporaryFolder folder;
  octavo::testing::SerafinFixture f;
  f.mesh = octavo::testing::random_triangles(1, 6, 5);
  octavo::testing::put_file(folder / "geo.slf", octavo::testing::serafin_bytes(f));
  verbs::convert({folder / "geo.slf"}, folder / "plain.octavo", {});
  PartitionOptions kept;
  kept.parts = 0;
  for (const auto& [mesh, text] : {std::pair("geo.slf", "it is no store"), {"plain.octavo", "its mesh has no cut"}})
    EXPECT_THAT(
        octavo::testing::error_of([&, mesh = mesh] { partition_mesh(folder / mesh, folder / "T2D", kept); }).what(),
        ::testing::HasSubstr(text));
}

}  // namespace
}  // namespace octavo::telemac
