// Damaged, incomplete and mixed outputs: an error that says what and where, never a crash or a wrong tree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "octavo/base/error.hpp"
#include "octavo/formats/ramses/reader.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/ramses_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::formats::ramses {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using octavo::testing::error_of;
using testing::FixtureFile;
using testing::FixtureWriter;
using ::testing::HasSubstr;
using testing::RamsesFixture;

class RamsesDamage : public ::testing::Test {
 protected:
  void write(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

  // Opens the output and reads all parts completely.
  void read_all() {
    const auto dataset = open(dir_);
    mesh::Request request;
    request.particles = true;
    for (int d = 0; d < dataset.num_parts; ++d) dataset.read(d, request);
  }

  // The error of reading everything.
  Error damage() {
    return error_of([&] { read_all(); });
  }
  // The error of reading domain 2 of an output that was opened earlier.
  Error damage(const mesh::Dataset& dataset) {
    mesh::Request request;
    request.particles = true;
    return error_of([&] { dataset.read(1, request); });
  }
  testing::TemporaryFolder folder_;
  fs::path dir_ = folder_ / "output_00007";
};

const RamsesFixture everything{.ndim = 2, .ncpu = 2, .levels = 2, .wall_lo = {1, 0, 0}, .grav = 3, .particles = true};

struct Written {
  std::string kind;
  FixtureFile file;
};

std::vector<Written> files_of_domain_2(const FixtureWriter& writer) {
  return {{"amr", writer.amr()},
          {"hydro", writer.cells(5, true, 0)},
          {"grav", writer.cells(3, false, 100)},
          {"part", writer.part(1)}};
}

TEST_F(RamsesDamage, a_file_cut_after_or_within_any_record_is_corrupt) {
  FixtureWriter writer(everything, dir_);
  writer.write();
  const auto dataset = open(dir_);
  for (const auto& [kind, file] : files_of_domain_2(writer)) {
    const fs::path path = writer.path(kind, 1);
    for (const std::size_t end : file.ends)
      for (const std::size_t less : {0U, 1U, 5U}) {
        if (end - less == file.bytes().size()) continue;
        write(path, file.bytes().substr(0, end - less));
        const Error error = damage(dataset);
        EXPECT_EQ(error.kind(), Kind::corrupt) << kind << " cut at " << end - less;
        EXPECT_THAT(error.what(), HasSubstr(path.filename().string()));
      }
    write(path, file.bytes());
  }
  read_all();
}

TEST_F(RamsesDamage, bytes_behind_the_last_record_are_corrupt) {
  FixtureWriter writer(everything, dir_);
  writer.write();
  for (const auto& [kind, file] : files_of_domain_2(writer)) {
    write(writer.path(kind, 1), file.bytes() + file.bytes().substr(0, 12));
    EXPECT_EQ(damage().kind(), Kind::corrupt) << kind;
    write(writer.path(kind, 1), file.bytes());
  }
}

TEST_F(RamsesDamage, a_flipped_record_marker_is_found_wherever_it_is) {
  FixtureWriter writer(everything, dir_);
  writer.write();
  const auto dataset = open(dir_);
  for (const auto& [kind, file] : files_of_domain_2(writer)) {
    std::size_t begin = 0;
    for (const std::size_t end : file.ends) {
      for (const std::size_t at : {begin, begin + 3, end - 4, end - 1}) {
        std::string bytes = file.bytes();
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << (begin % 7)));
        write(writer.path(kind, 1), bytes);
        EXPECT_EQ(damage(dataset).kind(), Kind::corrupt) << kind << " byte " << at;
      }
      begin = end;
    }
    write(writer.path(kind, 1), file.bytes());
  }
}

TEST_F(RamsesDamage, totals_without_octs_on_the_first_level_are_corrupt) {
  FixtureWriter writer(everything, dir_);
  writer.write();
  const FixtureFile file = writer.amr();
  constexpr std::size_t numbtot = 22;  // number of the record, from 0
  std::string bytes = file.bytes();
  bytes.replace(file.ends[numbtot - 1] + 4, 4, 4, '\0');
  for (const int domain : {0, 1}) write(writer.path("amr", domain), bytes);
  const Error error = damage();
  EXPECT_EQ(error.kind(), Kind::corrupt);
  EXPECT_THAT(error.what(), HasSubstr("numbtot"));
}

TEST_F(RamsesDamage, no_flipped_bit_crashes_or_reads_another_tree) {
  FixtureWriter writer(everything, dir_);
  writer.write();
  const auto dataset = open(dir_);
  const auto expected = dataset.read(1, {});
  const auto amr = writer.amr().bytes();
  int found = 0, harmless = 0;
  for (std::size_t byte = 0; byte < amr.size(); ++byte) {
    std::string bytes = amr;
    bytes[byte] = static_cast<char>(bytes[byte] ^ (1 << (byte % 8)));
    write(writer.path("amr", 1), bytes);
    try {
      const auto part = dataset.read(1, {});
      const auto& tree = std::get<mesh::Octree>(part.mesh);
      mesh::validate(tree);
      ++harmless;
      // Owned cells are unchanged: father, neighbours, positions and flags are not needed to know the tree.
      const auto& right = std::get<mesh::Octree>(expected.mesh);
      ASSERT_EQ(tree.owned, right.owned) << "byte " << byte;
    } catch (const Error& error) {
      ++found;
      ASSERT_EQ(error.kind(), Kind::corrupt) << error.what();
    }
  }
  EXPECT_GT(found, 100);
  EXPECT_GT(harmless, 100);
}

TEST_F(RamsesDamage, a_missing_file_is_named_and_other_domains_can_be_read) {
  FixtureWriter writer(everything, dir_);
  writer.write();
  fs::remove(writer.path("hydro", 1));
  const auto dataset = open(dir_);
  EXPECT_THAT(dataset.notes, ::testing::Contains(HasSubstr("hydro_00007.out00002")));
  dataset.read(0, {});
  const Error error = damage();
  EXPECT_EQ(error.kind(), Kind::unreadable);
  EXPECT_THAT(error.what(), HasSubstr("hydro_00007.out00002"));
}

TEST_F(RamsesDamage, a_file_of_another_output_is_found) {
  RamsesFixture other = everything;
  other.levels = 3;
  const FixtureWriter stranger(other, dir_.parent_path() / "other");
  FixtureWriter writer(everything, dir_);
  for (const auto& [kind, file] : files_of_domain_2(stranger)) {
    if (kind == "part") continue;  // only ncpu and ndim in it belong to the output
    writer.write();
    write(writer.path(kind, 1), file.bytes());
    EXPECT_THAT(damage().what(), HasSubstr("different outputs"));
  }
}

TEST_F(RamsesDamage, another_number_of_variables_in_one_domain_is_found) {
  FixtureWriter writer(everything, dir_);
  writer.write();
  for (const int variables : {1, 4, 6}) {
    write(writer.path("hydro", 1), writer.cells(variables, true, 0).bytes());
    EXPECT_THAT(damage().what(), HasSubstr("variables"));
  }
}

TEST_F(RamsesDamage, an_info_file_that_disagrees_or_lacks_a_line_is_corrupt) {
  FixtureWriter writer(everything, dir_);
  writer.write();
  write(dir_ / "info_00007.txt", "ncpu = 3\nndim = 2\nlevelmin = 1\nlevelmax = 3\n");
  EXPECT_THAT(damage().what(), HasSubstr("ncpu is 3"));
  write(dir_ / "info_00007.txt", "ncpu = 2\nlevelmin = 1\nlevelmax = 3\n");
  EXPECT_THAT(damage().what(), HasSubstr("ndim"));
  write(dir_ / "info_00007.txt", "ncpu = two\n");
  EXPECT_THAT(damage().what(), HasSubstr("'two'"));
  write(dir_ / "info_00007.txt", "");
  EXPECT_EQ(damage().kind(), Kind::corrupt);
}

TEST_F(RamsesDamage, empty_files_and_texts_in_their_place_are_corrupt) {
  FixtureWriter writer(everything, dir_);
  writer.write();
  for (const std::string bytes : {"", "x", "this is a text, not a file of records", "\0\0\0\0"}) {
    for (const auto& [kind, file] : files_of_domain_2(writer)) {
      write(writer.path(kind, 1), bytes);
      EXPECT_EQ(damage().kind(), Kind::corrupt) << kind << " '" << bytes << "'";
      write(writer.path(kind, 1), file.bytes());
    }
  }
}

TEST_F(RamsesDamage, a_directory_in_the_place_of_a_file_is_a_missing_file) {
  FixtureWriter writer(everything, dir_);
  writer.write();
  fs::remove(writer.path("amr", 1));
  fs::create_directory(writer.path("amr", 1));
  EXPECT_EQ(damage().kind(), Kind::unreadable);
}

TEST_F(RamsesDamage, a_file_without_permission_is_unreadable) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  FixtureWriter writer(everything, dir_);
  writer.write();
  ::chmod(writer.path("amr", 1).c_str(), 0);
  EXPECT_EQ(damage().kind(), Kind::unreadable);
}

TEST_F(RamsesDamage, other_paths_are_not_recognised) {
  fs::create_directories(dir_);
  EXPECT_FALSE(recognise(dir_));           // empty
  EXPECT_FALSE(recognise(dir_ / "none"));  // missing
  write(dir_ / "notes.txt", "nothing of RAMSES");
  EXPECT_FALSE(recognise(dir_ / "notes.txt"));
  write(dir_ / "info_rt_00007.txt", "");
  write(dir_ / "info_x.txt", "");
  EXPECT_FALSE(recognise(dir_));
}

}  // namespace
}  // namespace octavo::formats::ramses
