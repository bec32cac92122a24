#include "octavo/step/new_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <fstream>

#include "octavo/step/step.hpp"
#include "octavo/step/target.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::step {
namespace {

namespace fs = std::filesystem;
using base::Kind;
using octavo::testing::error_of;
using octavo::testing::TemporaryFolder;
using ::testing::HasSubstr;

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }
std::string read(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Claim, OneJobAtATimeWritesAnOutput) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "run.octavo";
  {
    const Claim first(out);
    const auto error = error_of([&] { const Claim second(out); });
    EXPECT_EQ(error.kind(), Kind::usage);
    EXPECT_THAT(error.message(), HasSubstr("another process is writing this output"));
    const Claim other(folder.path() / "other.octavo");
  }
  EXPECT_EQ(entries(folder.path()), 0u);
  const Claim again(out);
}

TEST(Claim, AFileThatAKilledJobLeftLocksNothing) {
  const TemporaryFolder folder;
  write(folder.path() / ".run.octavo.lock", "");
  const Claim claim(folder.path() / "run.octavo");
}

TEST(Claim, WhereLocksAreRefusedAFileKeepsTheSecondJobAway) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "run.octavo";
  file::set_observer([](const file::Event& event) {
    return file::Verdict{event.operation == file::Operation::lock ? ENOLCK : 0, 0};
  });
  {
    const Claim first(out);
    const auto error = error_of([&] { const Claim second(out); });
    EXPECT_EQ(error.kind(), Kind::usage);
    EXPECT_THAT(error.message(), HasSubstr("another process is writing this output"));
    const Claim other(folder.path() / "other.octavo");
  }
  EXPECT_EQ(entries(folder.path()), 0u);
  // This comes from a job that was killed on another host.
  write(folder.path() / ".run.octavo.writer", "host elsewhere space pid:[1] process 1 started 1\n");
  fs::last_write_time(folder.path() / ".run.octavo.writer", fs::file_time_type::clock::now() - std::chrono::hours(1));
  const Claim again(out);
  file::set_observer({});
}

TEST(NewFile, ReplacesWhatAKilledJobLeftAndNoFileThatWasMadeMeanwhile) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "a.slf";
  write(out.string() + ".partial", "the beginning of something longer");
  {
    NewFile file(out, false);
    file.put(0, std::as_bytes(std::span("abc", 3)));
    file.finish();
  }
  EXPECT_EQ(read(out), "abc");
  EXPECT_EQ(entries(folder.path()), 1u);
  fs::remove(out);
  NewFile file(out, false);
  write(out, "somebody else's");
  EXPECT_EQ(error_of([&] { file.finish(); }).kind(), Kind::usage);
  EXPECT_EQ(read(out), "somebody else's");
}

// After a power cut a name stands for a whole file: bytes come first, then names, then the folder.
TEST(NewFiles, TheBytesOfAllAreSyncedBeforeAnyGetsItsName) {
  const TemporaryFolder folder;
  std::vector<std::string> seen;
  {
    NewFiles files;
    for (const char* name : {"run.par", "run00001-00000", "run00001-00001"})
      file::pwrite_all(files.make(folder.path() / name, name == std::string("run.par")), 0,
                       std::as_bytes(std::span("abc", 3)));
    file::set_observer([&](const file::Event& event) {
      const std::string name = event.path.filename().string();
      if (event.operation == file::Operation::sync) seen.push_back("sync " + name.substr(0, name.find('.', 4)));
      if (event.operation == file::Operation::rename) seen.push_back("name " + event.target.filename().string());
      if (event.operation == file::Operation::sync_directory) seen.push_back("folder");
      return file::Verdict{};
    });
    files.publish({});
    file::set_observer({});
  }
  EXPECT_THAT(seen, ::testing::ElementsAre("sync run00001-00000", "sync run00001-00001", "sync run.par",
                                           "name run00001-00000", "name run00001-00001", "name run.par", "folder"));
  EXPECT_EQ(entries(folder.path()), 3u);
}

TEST(Target, IsASiblingUntilItIsWhole) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "run.octavo";
  fs::create_directories(folder.path() / "run.octavo.partial" / "left");
  fs::create_directories(folder.path() / "run.octavo.partial.partial");
  const auto prepare = [&] { return prepare_target(out, {}, false, false); };
  write_beside({}, prepare, [&](const fs::path& path) {
    EXPECT_EQ(entries(folder.path()), 1u);  // the lock
    EXPECT_EQ(error_of([&] { prepare_target(out, {}, true, false); }).kind(), Kind::usage);
    fs::create_directory(path);
    write(path / "data", "all of it");
    EXPECT_FALSE(fs::exists(out));
  });
  EXPECT_EQ(read(out / "data"), "all of it");
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(Target, NeverReplacesWhatAppearedMeanwhile) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "run.octavo";
  fs::path written;
  const auto make_both = [&](const fs::path& path) {
    written = path;
    fs::create_directory(path);
    fs::create_directories(out / "somebody's");
  };
  const auto prepare = [&] { return prepare_target(out, {}, false, false); };
  EXPECT_EQ(error_of([&] { write_beside({}, prepare, make_both); }).kind(), Kind::usage);
  EXPECT_TRUE(fs::exists(out / "somebody's"));
  EXPECT_FALSE(fs::exists(written));
}

}  // namespace
}  // namespace octavo::step
