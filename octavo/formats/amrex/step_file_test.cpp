#include "octavo/formats/amrex/step_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "octavo/base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::formats::amrex {
namespace {

namespace fs = std::filesystem;
using base::Kind;
using TemporaryDirectory = testing::TemporaryFolder;
using ::testing::HasSubstr;

void put(const fs::path& folder, const std::string& text) {
  std::ofstream(folder / step_file_name, std::ios::binary) << text;
}

mesh::Header of_dim(int dim) {
  mesh::Header header;
  header.dim = dim;
  return header;
}

TEST(step_file, gives_back_what_a_header_of_amrex_has_no_place_for) {
  const TemporaryDirectory dir;
  mesh::Header header = of_dim(2);
  header.lo = {-0.1, 1e-300, 0};
  header.hi = {2, 5e-324 + 1, 1};
  header.periodic = {true, false, false};
  header.unit_length = 3.085677581282e21;
  header.attributes["coordinate_system"] = std::int64_t{1};
  header.attributes["source/code"] = std::string("FLASH");
  header.attributes["source/empty"] = std::string();
  header.attributes["source/real scalars/dt"] = 0x1.999999999999ap-4;
  header.attributes["source/subnormal"] = 5e-324;
  header.attributes["source/infinite"] = -std::numeric_limits<double>::infinity();
  header.attributes["source/least"] = std::numeric_limits<std::int64_t>::min();
  header.attributes["source/bytes"] = std::string("%41 =\n\xff\0 (1,2)", 14);
  header.attributes["source/a list"] = std::vector<std::string>{"", "a b", "%"};
  header.attributes["source/none"] = std::vector<double>{};
  header.attributes["source/numbers"] = std::vector<std::int64_t>{-1, 2};
  mesh::Patches patches;
  patches.ratio = {2, 4};
  put(dir.path(), step_text(header, patches));
  mesh::Header back = of_dim(2);
  EXPECT_EQ(read_step_file(dir.path(), back), (std::vector<int>{2, 4}));
  EXPECT_EQ(back, header);
}

TEST(step_file, that_is_not_there_says_nothing) {
  const TemporaryDirectory dir;
  mesh::Header header = of_dim(3);
  EXPECT_FALSE(read_step_file(dir.path(), header).has_value());
  EXPECT_EQ(header, of_dim(3));
}

TEST(step_file, entries_of_later_versions_are_passed_over) {
  const TemporaryDirectory dir;
  put(dir.path(), "octavo_step 1\nlo 0 0\nhi 2 1\nsomething 1 2 =a\nratio 2\n");
  mesh::Header header = of_dim(2);
  EXPECT_EQ(read_step_file(dir.path(), header), std::vector<int>{2});
  EXPECT_EQ(header.hi[0], 2);
}

TEST(step_file, every_kind_of_damage_is_refused) {
  const TemporaryDirectory dir;
  const std::string good = "octavo_step 1\nlo 0 0\nhi 2 1\n";
  const std::vector<std::string> bad{"hi 0 1\n",
                                     "lo 0\n",
                                     "hi nan 1\n",
                                     "hi inf 1\n",
                                     "lo 0 x\n",
                                     "periodic 1\n",
                                     "ratio 2 x\n",
                                     "units 1 1\n",
                                     "real source/a\n",
                                     "real source/a 1x\n",
                                     "text source/a b\n",
                                     "text other =b\n",
                                     "text source/a =%4\n",
                                     "text source/a =%4g\n",
                                     "integers source/a 2 1\n",
                                     "integers source/a -1\n",
                                     "integers source/a 99999999999999999999\n",
                                     "reals source/a 1 \n"};
  for (const std::string& line : bad) {
    put(dir.path(), good + line);
    mesh::Header header = of_dim(2);
    try {
      read_step_file(dir.path(), header);
      ADD_FAILURE() << "accepted: " << line;
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), Kind::corrupt) << line;
      EXPECT_THAT(error.what(), HasSubstr(step_file_name));
    }
  }
  for (const char* first : {"", "octavo_step 2\n", "something else\n"}) {
    put(dir.path(), first);
    mesh::Header header = of_dim(2);
    EXPECT_THROW(read_step_file(dir.path(), header), base::Error) << first;
  }
}

}  // namespace
}  // namespace octavo::formats::amrex
