#include "octavo/telemac/cut/side_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "octavo/telemac/cut/partition.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::telemac {
namespace {

namespace fs = std::filesystem;
using octavo::testing::bytes_of_file;
using octavo::testing::message_of;
using octavo::testing::put_file;
using octavo::testing::SerafinFixture;
using octavo::testing::TemporaryFolder;
using ::testing::HasSubstr;

/// Five points by three, a unit apart, in two halves: the right one is part 0.
class Sides : public ::testing::Test {
 protected:
  void SetUp() override {
    SerafinFixture f;
    options_.parts = 2;
    options_.part_of = partition::PartVector{};
    for (std::int32_t j = 0; j < 3; ++j)
      for (std::int32_t i = 0; i < 5; ++i) {
        f.mesh.x.push_back(i);
        f.mesh.y.push_back(j);
        if (i == 4 || j == 2) continue;
        const std::int32_t a = 5 * j + i;
        for (const std::int32_t corner : {a, a + 1, a + 6, a, a + 6, a + 5}) f.mesh.connectivity.push_back(corner);
        options_.part_of->insert(options_.part_of->end(), 2, i < 2 ? 1 : 0);
      }
    put_file(folder_ / "geo.slf", serafin_bytes(f));
    put_file(folder_ / "sections", "a comment\n1 -1\nacross\n1 15\n");
    put_file(folder_ / "weirs", weirs);
    options_.layout = PieceLayout::files;
    options_.sections = folder_ / "sections";
    options_.weirs = folder_ / "weirs";
  }
  std::string message() {
    return message_of([&] { partition_mesh(folder_ / "geo.slf", folder_ / "T2D", options_); });
  }
  /// A file of TELEMAC V8: groups of weirs, with the conditions that break them.
  static constexpr const char* weirs =
      "weirs of two groups\n2 1 0.25\nleft\n2\nx y z\nand\nnumbers\n"
      "1 0.5 0.5 1.5 1 2 6 7 0.5 1.5 1.25 11 12 6 7 0 0 0. 0.\n"
      "2 1.5 0.5 1.5 2 3 7 8 1.5 1.5 1.25 12 13 7 8 1 2 10.5 -3.\n"
      "right\n1\nx y z\nand\nnumbers\n"
      "3 3.5 0.5 1.5 4 5 9 10 3.5 1.5 1.25 14 15 9 10 0 0 0. 0.\n";
  TemporaryFolder folder_;
  PartitionOptions options_;
};

/// The files that V8P4's partel made of those.
constexpr const char* of_partel =
    "  NB DE SINGULARITES OPTION UTAN\n"
    " 1             1  0.25000000000000000     \n"
    " #Comment line\n"
    "           2\n"
    " #Comment line\n"
    " #Comment line\n"
    " #Comment line\n"
    "2           1.500000000000000           0.500000000000000           1.500000000000000 1 2 5 6           "
    "1.500000000000000           1.500000000000000           1.250000000000000 9 10 5 6 1 2          "
    "10.500000000000000          -3.000000000000000 1 2\n"
    "3           3.500000000000000           0.500000000000000           1.500000000000000 3 4 7 8           "
    "3.500000000000000           1.500000000000000           1.250000000000000 11 12 7 8 0 0           "
    "0.000000000000000           0.000000000000000 3 3\n"
    " /1/ : FOR EACH ELEMENT, NUMBER AND LIST OF SD WHICH WILL ALSO COMPUTE DISCHARGE ON IT\n"
    "           2           1\n"
    "           1\n"
    "           3           0\n"
    " /2/ : FOR EACH SD, NUMBER AND LIST OF ELEMENT WHICH WILL BE COMPUTED\n"
    "           1\n"
    "1 1\n"
    "2\n"
    " /3/ : FOR EACH NODE REQUIRED BY THE SD TO COMPUTE THE DISCHARGE, NUMBER, LIST AND LOCAL NUMBERING OF NODES FROM "
    "ALL INVOLVED SD\n"
    "          12\n"
    "2 1\n"
    "1 2\n"
    "3 2\n"
    "0 1 1 5\n"
    "4 1\n"
    "0 2\n"
    "5 1\n"
    "0 5\n"
    "7 1\n"
    "1 3\n"
    "8 2\n"
    "0 4 1 6\n"
    "9 1\n"
    "0 3\n"
    "10 1\n"
    "0 6\n"
    "12 1\n"
    "1 7\n"
    "13 2\n"
    "0 8 1 9\n"
    "14 1\n"
    "0 7\n"
    "15 1\n"
    "0 9\n"
    " /4/ : FOR EACH OTHER SD WHICH SEND VALUES, NUMBER AND LIST OF NODE (WITH LOCAL NUMBER)\n"
    "2\n"
    "0 9\n"
    "2 3 4 6 7 8 10 11 12\n"
    "3 4 5 8 9 10 13 14 15\n"
    "1 2 5 4 3 6 8 7 9\n"
    "1 6\n"
    "1 2 5 6 9 10\n"
    "2 3 7 8 12 13\n"
    "2 5 3 6 7 9\n"
    " /5/ : FOR EACH NODE INSIDE THE SD, NUMBER AND LIST OF OTHERS SD WHICH ALSO NEED THE VALUE\n"
    "9\n"
    "3 2\n"
    "0 1\n"
    "4 1\n"
    "0\n"
    "5 1\n"
    "0\n"
    "8 2\n"
    "0 1\n"
    "9 1\n"
    "0\n"
    "10 1\n"
    "0\n"
    "13 2\n"
    "0 1\n"
    "14 1\n"
    "0\n"
    "15 1\n"
    "0\n"
    " /6/ : FOR EACH OTHER SD WHICH NEEDS NODE VALUES, NUMBER AND LIST OF NODES\n"
    "           2\n"
    "0 9\n"
    "2 3 4 6 7 8 10 11 12\n"
    "3 4 5 8 9 10 13 14 15\n"
    "1 2 5 4 3 6 8 7 9\n"
    "1 3\n"
    "2 6 10\n"
    "3 8 13\n"
    "1 4 8\n"
    "";

TEST_F(Sides, weirs_of_v8_are_cut_as_its_partel_cuts_them) {
  EXPECT_EQ(message(), "no error");
  EXPECT_EQ(bytes_of_file(folder_ / "T2DSEU00001-00000"), of_partel);
}

TEST_F(Sides, numbers_are_listed_as_fortran_reads_them) {
  std::string text = weirs;
  for (std::size_t at = 0; (at = text.find("0 0 0. 0.\n", at)) != std::string::npos;)
    text.replace(at, 9, "2*0, 2*0.D0  nothing breaks it");
  put_file(folder_ / "weirs", text.replace(text.find("0.25"), 4, "2.5-1 relaxation"));
  put_file(folder_ / "sections", "a comment\n1 -1 by number\nacross\n1 ,\n 15 /\n");
  std::string zones = "2*1\n";
  for (int point = 2; point <= 15; ++point) zones += std::to_string(point) + "\n7 0\n";
  put_file(folder_ / "zones", zones);
  options_.zones = folder_ / "zones";
  EXPECT_EQ(message(), "no error");
  EXPECT_EQ(bytes_of_file(folder_ / "T2DSEU00001-00000"), of_partel);
  EXPECT_THAT(bytes_of_file(folder_ / "T2DZFI00001-00001"),
              HasSubstr("           1           1\n           2           7\n"));
  text = weirs;
  put_file(folder_ / "weirs", text.replace(text.find("0.25"), 4, "/ 0.25"));
  EXPECT_THAT(message(), HasSubstr("weirs, line 3"));
  put_file(folder_ / "zones", "1 1\n2,,3\n");
  EXPECT_THAT(message(), HasSubstr("expected 2 numbers, found , after 1"));
}

TEST_F(Sides, with_concatenated_pieces_telemac_opens_numbered_ones) {
  EXPECT_EQ(message(), "no error");
  const std::string first = bytes_of_file(folder_ / "T2DSEC00001-00000");
  const std::string second = bytes_of_file(folder_ / "T2DSEC00001-00001");
  fs::remove(folder_ / "T2DSEC00001-00001");
  options_.layout = PieceLayout::concat;
  EXPECT_EQ(message(), "no error");
  EXPECT_EQ(bytes_of_file(folder_ / "T2DSEC00001-00001"), second);
  EXPECT_FALSE(fs::exists(folder_ / "T2DSEC-CONCAT"));
  EXPECT_TRUE(fs::exists(folder_ / "T2DGEO-CONCAT"));
  options_.concat_sides = true;
  EXPECT_EQ(message(), "no error");
  EXPECT_EQ(bytes_of_file(folder_ / "T2DSEC-CONCAT"), first + second);
  EXPECT_EQ(fs::file_size(folder_ / "T2DSEC-INDEX"), 16U);
}

TEST_F(Sides, a_value_of_never_is_a_real_of_any_size) {
  const std::string text = weirs;
  put_file(folder_ / "weirs", std::string(text).replace(text.find("10.5"), 4, "1.E10"));
  EXPECT_EQ(message(), "no error");
  EXPECT_THAT(bytes_of_file(folder_ / "T2DSEU00001-00000"), HasSubstr(" 10000000000.000000000000000 "));
}

TEST_F(Sides, what_is_an_integer_is_not_cut_from_another_number) {
  std::string zones;
  for (int point = 15; point > 0; --point) zones += std::to_string(point) + (point == 2 ? " 1.7\n" : " -3\n");
  put_file(folder_ / "zones", zones);
  options_.zones = folder_ / "zones";
  EXPECT_THAT(message(), HasSubstr("expected an integer of 32 bits, found 1.7"));
  EXPECT_THAT(message(), HasSubstr("zones, line 14"));
  put_file(folder_ / "zones", zones.replace(zones.find("1.7"), 3, "1e10"));
  EXPECT_THAT(message(), HasSubstr("expected an integer of 32 bits, found 1e+10"));
  put_file(folder_ / "zones", zones.replace(zones.find("1e10"), 4, "2147483647"));
  EXPECT_EQ(message(), "no error");
  EXPECT_THAT(bytes_of_file(folder_ / "T2DZFI00001-00001"), HasSubstr(" 2147483647\n"));
}

TEST_F(Sides, damage_leaves_the_pieces_that_are_there) {
  EXPECT_EQ(message(), "no error");
  options_.zones = folder_ / "zones";
  const auto stays = [&] {
    for (const char* piece : {"T2DGEO00001-00000", "T2DGEO00001-00001", "T2DSEC00001-00000", "T2DSEU00001-00000"})
      put_file(folder_ / piece, "good");
    message();
    for (const char* piece : {"T2DGEO00001-00000", "T2DGEO00001-00001", "T2DSEC00001-00000", "T2DSEU00001-00000"})
      EXPECT_EQ(bytes_of_file(folder_ / piece), "good") << piece;
  };
  put_file(folder_ / "zones", "1 1\n");
  stays();
  options_.zones.reset();
  put_file(folder_ / "weirs", "weirs\n");
  stays();
  options_.weirs.reset();
  put_file(folder_ / "sections", "a comment\n1 -1\nacross\n1 16\n");
  stays();
}

TEST_F(Sides, damage_is_named_with_its_line) {
  const std::string text = weirs;
  put_file(folder_ / "weirs", text.substr(0, text.size() - 40));
  EXPECT_THAT(message(), HasSubstr("weirs, line 16"));
  put_file(folder_ / "weirs", std::string(text).replace(text.find("15 9 10"), 2, "16"));
  EXPECT_THAT(message(), HasSubstr("expected a point from 1 to 15, found 16"));
  put_file(folder_ / "sections", "a comment\n1 -1\nacross\n1 x\n");
  EXPECT_THAT(message(), HasSubstr("sections, line 4"));
}

}  // namespace
}  // namespace octavo::telemac
