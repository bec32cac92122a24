#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "octavo/formats/ramses/writer.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/store_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::formats::ramses {
namespace {

namespace fs = std::filesystem;
using base::Kind;
using testing::error_of;

class DomainFilesOfARun : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = fs::current_path();
    fs::current_path(folder_.path());
  }
  void TearDown() override { fs::current_path(before_); }
  /// Files as write_shares() leaves them, of two domains in one folder.
  void make_files() {
    fs::create_directories("node/output_00007");
    for (const char* file : {"amr_00007.out00001", "hydro_00007.out00001", "amr_00007.out00002", "namelist.txt"})
      testing::write_file(fs::path("node/output_00007") / file, {'x'});
  }
  testing::TemporaryFolder folder_;
  fs::path before_;
};

TEST_F(DomainFilesOfARun, a_step_of_another_code_is_refused_and_leaves_nothing) {
  mesh::Dataset step;
  step.path = "run.octavo";
  const auto error = error_of([&] { write_shares(step, "node", {}); });
  EXPECT_EQ(error.kind(), Kind::unsupported);
  EXPECT_THAT(error.what(), ::testing::HasSubstr("output_number"));
  EXPECT_FALSE(fs::exists("node"));
}

TEST_F(DomainFilesOfARun, a_link_of_a_killed_run_is_replaced_and_anything_else_is_kept) {
  make_files();
  fs::create_directory_symlink("gone", "output_00007");
  link_output({"node", 7, 0});
  EXPECT_TRUE(fs::exists("output_00007/namelist.txt"));
  fs::remove("output_00007");
  fs::create_directory("output_00007");
  EXPECT_EQ(error_of([] { link_output({"node", 7, 0}); }).kind(), Kind::usage);
  EXPECT_TRUE(fs::is_directory("output_00007"));
}

TEST_F(DomainFilesOfARun, each_domain_removes_its_own_files_and_the_last_the_folders) {
  make_files();
  link_output({"node", 7, 0});
  remove({"node", 7, 0});
  EXPECT_FALSE(fs::is_symlink("output_00007"));
  EXPECT_FALSE(fs::exists("node/output_00007/amr_00007.out00001"));
  EXPECT_TRUE(fs::exists("node/output_00007/amr_00007.out00002"));
  remove({"node", 7, 1});
  EXPECT_FALSE(fs::exists("node"));
}

}  // namespace
}  // namespace octavo::formats::ramses
