#include "octavo/file/hdf5/hdf5_growing.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <random>

#include "octavo/file/posix.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

#ifdef OCTAVO_HAVE_HDF5
#include <hdf5.h>

namespace octavo::file::hdf5 {
namespace {

namespace fs = std::filesystem;
using octavo::testing::message_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> names{"depth", "speed"};

/// The version of the library that made a file: 1.6 (superblock 0), 1.8 (2), 1.10 (3).
enum class Age { old, modern, newest };

/// Makes a file with FIELDS/depth and FIELDS/speed, which have no steps, and something else beside them.
void make_file(const fs::path& path, Age age, hsize_t user_block = 0) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), group = H5Pcreate(H5P_GROUP_CREATE);
  const hid_t whole_file = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_userblock(whole_file, user_block);
  if (age == Age::modern) H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
  if (age == Age::newest) H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_link_creation_order(group, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_EXCL, whole_file, access);
  H5Gclose(H5Gcreate2(file, "MESH", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Gclose(H5Gcreate2(file, "FIELDS", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  for (const std::string& name : names)
    H5Gclose(H5Gcreate2(file, ("FIELDS/" + name).c_str(), H5P_DEFAULT, group, H5P_DEFAULT));
  H5Fclose(file);
  for (const hid_t list : {group, access, whole_file}) H5Pclose(list);
  const File whole = open_write(path);
  const std::vector<double> points{1, 2, 3};
  make(whole, "MESH/points", float64_type, std::vector<std::uint64_t>{3});
  write_rows<double>(whole, "MESH/points", 0, 3, points);
  write_numbers(whole, "MESH", "count", std::vector<std::int64_t>{3});
}

std::string step_name(int step) { return "step " + std::to_string(1000 + step); }

/// The values of a field at a step.
std::vector<double> values_of(std::size_t field, int step) {
  std::vector<double> values(static_cast<std::size_t>(50 + 40 * (step % 3)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 100.0 * step + static_cast<double>(i) + 0.5 * static_cast<double>(field);
  return values;
}

void add_step(Growing& file, const fs::path& path, int step, const std::vector<std::vector<double>>& values) {
  const file::File bytes = file::open_write(path);
  for (std::size_t f = 0; f < names.size(); ++f) {
    const std::vector<NewGroup> groups{{step_name(step), {{"time", 0.5 * step}, {"number", step}}},
                                       {"points", {{"profile", std::string("none")}, {"kinds", Flags{8}}}}};
    const std::uint64_t at =
        file.add(names[f], {{"last", std::int32_t{step}}}, groups, "values", float64_type, values[f].size());
    EXPECT_TRUE(at % 64 == 0 || values[f].size() < 32);
    file::pwrite_all(bytes, at, std::as_bytes(std::span(values[f])));
  }
  file::sync(bytes);
}

void add_step(Growing& file, const fs::path& path, int step) {
  add_step(file, path, step, {values_of(0, step), values_of(1, step)});
}

/// The steps that the file shows. We read everything in the file on the way.
std::vector<int> shown(const fs::path& path, int most = 32) {
  const File file = open(path);
  EXPECT_THAT(read_all<double>(file, list(file, "MESH").at(0)), ElementsAre(1, 2, 3));
  EXPECT_EQ(read_numbers(file, "MESH", "count"), std::vector<std::int64_t>{3});
  std::vector<int> steps;
  for (int step = 0; step < most; ++step)
    for (std::size_t f = 0; f < names.size(); ++f) {
      const std::string name = "FIELDS/" + names[f] + "/" + step_name(step);
      const auto all = list(file, name + "/points");
      EXPECT_EQ(all.empty(), !read_numbers(file, name, "number")) << "a step that is not whole";
      if (all.empty()) continue;
      EXPECT_EQ(read_all<double>(file, all.at(0)), values_of(f, step));
      EXPECT_EQ(read_numbers(file, name, "number"), std::vector<std::int64_t>{step});
      EXPECT_EQ(read_words(file, name + "/points", "profile"), "none");
      if (f == 0) steps.push_back(step);
      EXPECT_EQ(steps.back(), step) << "a step of one field alone";
    }
  return steps;
}

/// Adds three steps behind step 0.
void expect_three_more(Growing& file, const fs::path& path) {
  for (int step = 1; step < 4; ++step) {
    add_step(file, path, step);
    file.commit(true);
  }
  EXPECT_THAT(shown(path), ElementsAre(0, 1, 2, 3));
}

class Growth : public ::testing::TestWithParam<Age> {
 protected:
  Growth() { make_file(path_, GetParam()); }
  ~Growth() override { file::set_observer({}); }
  octavo::testing::TemporaryFolder folder_;
  fs::path path_ = folder_ / "a.h5";
};

TEST_P(Growth, a_step_shows_when_it_is_committed_and_no_earlier) {
  Growing file(path_, "FIELDS", 64);
  EXPECT_THAT(file.members(), ElementsAre("depth", "speed"));
  file.commit(true);
  EXPECT_THAT(shown(path_), ElementsAre());
  add_step(file, path_, 0);
  EXPECT_THAT(shown(path_), ElementsAre());
  file.commit(true);
  EXPECT_THAT(shown(path_), ElementsAre(0));
  add_step(file, path_, 1);
  file.abandon();
  file.commit(true);
  EXPECT_THAT(shown(path_), ElementsAre(0));
  for (int step = 1; step < 30; ++step) {  // enough to turn groups into B-trees
    add_step(file, path_, step);
    file.commit(false);
  }
  EXPECT_EQ(shown(path_).size(), 30U);
  EXPECT_EQ(read_numbers(open(path_), "FIELDS/speed", "last"), std::vector<std::int64_t>{29});
}

TEST_P(Growth, another_process_goes_on_or_goes_back) {
  for (int step = 0; step < 12; ++step) {
    Growing file(path_, "FIELDS", 64);
    EXPECT_EQ(file.steps("depth").size(), static_cast<std::size_t>(step));
    add_step(file, path_, step);
    file.commit(true);
  }
  Growing file(path_, "FIELDS", 64);
  for (const std::string& name : names)
    for (int step = 3; step < 12; ++step) file.drop(name, step_name(step), {{"last", 2}});
  file.commit(true);
  EXPECT_THAT(shown(path_), ElementsAre(0, 1, 2));
  add_step(file, path_, 3);
  file.commit(true);
  add_step(file, path_, 4);
  file.commit(true);
  EXPECT_THAT(shown(path_), ElementsAre(0, 1, 2, 3, 4));
}

TEST_P(Growth, a_full_disk_loses_the_step_alone) {
  Growing file(path_, "FIELDS", 64);
  add_step(file, path_, 0);
  file.commit(true);
  for (std::uint64_t allowed = 0; allowed < 12; ++allowed) {
    add_step(file, path_, 1);
    std::uint64_t writes = 0;
    file::set_observer([&](const file::Event& event) {
      return event.operation == file::Operation::write && writes++ >= allowed ? file::Verdict{ENOSPC, 7}
                                                                              : file::Verdict{};
    });
    EXPECT_THAT(message_of([&] { file.commit(true); }), HasSubstr("No space left"));
    file::set_observer({});
    EXPECT_THAT(shown(path_), ElementsAre(0));
  }
  expect_three_more(file, path_);
}

/// Random values of a field, of random length: 1 to 8000 bytes.
std::vector<double> any_values(std::mt19937& random) {
  std::vector<double> values(1 + random() % 1000);
  for (double& value : values) value = 1 + static_cast<double>(random());
  return values;
}

TEST_P(Growth, what_failed_leaves_nothing_in_the_values_of_a_later_step) {
  std::mt19937 random(3);
  for (int run = 0; run < 8; ++run) {
    const fs::path path = folder_ / (std::to_string(run) + ".h5");
    make_file(path, GetParam());
    Growing file(path, "FIELDS", 64);
    std::vector<std::vector<double>> expected;
    for (int step = 0; step < 6; ++step) {
      for (int failures = static_cast<int>(random() % 3); failures > 0; --failures) {
        add_step(file, path, step, {any_values(random), any_values(random)});
        file::set_observer([left = random() % 20](const file::Event& event) mutable {
          const bool superblock = event.operation == file::Operation::write && event.offset == 0;
          const bool full = event.operation == file::Operation::write && (superblock || left-- == 0);
          return full ? file::Verdict{ENOSPC, 0} : file::Verdict{};
        });
        EXPECT_THAT(message_of([&] { file.commit(false); }), HasSubstr("No space left"));
        file::set_observer({});
      }
      const std::vector<std::vector<double>> values{any_values(random), any_values(random)};
      add_step(file, path, step, values);
      file.commit(false);
      expected.insert(expected.end(), values.begin(), values.end());
    }
    const File whole = open(path);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::string name = "FIELDS/" + names[i % 2] + "/" + step_name(static_cast<int>(i / 2)) + "/points";
      ASSERT_EQ(read_all<double>(whole, list(whole, name).at(0)), expected[i]) << name << ", run " << run;
    }
  }
}

/// Lets the second sync of a commit fail, behind the superblock; with `superblock` the next write of the superblock
/// fails, too.
std::function<file::Verdict(const file::Event&)> failing_last_sync(bool superblock) {
  return [superblock, syncs = 0](const file::Event& event) mutable {
    if (event.operation == Operation::sync) return ++syncs == 2 ? file::Verdict{EIO, 0} : file::Verdict{};
    const bool back = event.operation == Operation::write && event.offset == 0 && syncs >= 2;
    return back && superblock ? file::Verdict{EIO, 0} : file::Verdict{};
  };
}

TEST_P(Growth, a_step_that_may_not_be_on_disk_is_not_shown_and_its_space_is_the_next_ones) {
  Growing file(path_, "FIELDS", 64);
  add_step(file, path_, 0);
  file.commit(true);
  for (int failures = 0; failures < 3; ++failures) {
    add_step(file, path_, 1);
    file::set_observer(failing_last_sync(false));
    EXPECT_THAT(message_of([&] { file.commit(true); }), HasSubstr("Input/output error"));
    file::set_observer({});
    EXPECT_THAT(shown(path_), ElementsAre(0));
  }
  expect_three_more(file, path_);
}

TEST_P(Growth, nothing_is_added_where_nobody_knows_which_steps_the_disk_shows) {
  {
    Growing file(path_, "FIELDS", 64);
    add_step(file, path_, 0);
    file.commit(true);
    add_step(file, path_, 1);
    file::set_observer(failing_last_sync(true));
    EXPECT_THAT(message_of([&] { file.commit(true); }), HasSubstr("Input/output error"));
    file::set_observer({});
    for (int again = 0; again < 2; ++again) {
      EXPECT_THAT(message_of([&] { add_step(file, path_, 2); }), HasSubstr("nothing can be added"));
      EXPECT_THAT(message_of([&] { file.commit(true); }), HasSubstr("nothing can be added"));
      file.abandon();
      EXPECT_THAT(shown(path_), ElementsAre(0, 1));
    }
  }
  Growing file(path_, "FIELDS", 64);
  add_step(file, path_, 2);
  file.commit(true);
  EXPECT_THAT(shown(path_), ElementsAre(0, 1, 2));
}

/// A request to the file system.
struct Done {
  Operation operation{};
  std::uint64_t offset = 0, size = 0;
  std::string bytes;
};

void apply(const Done& done, std::size_t bytes, std::string& content) {
  if (done.operation == Operation::resize) return content.resize(done.size, '\0');
  if (content.size() < done.offset + bytes) content.resize(done.offset + bytes, '\0');
  content.replace(done.offset, bytes, done.bytes, 0, bytes);
}

/// The disk after a crash. Each write since the last sync may have reached it in full, in part, or not at all. The
/// superblock lies in one sector, so it is never written in part.
std::string after_crash(std::string content, const std::vector<Done>& pending, std::mt19937& random, unsigned percent) {
  for (const Done& done : pending) {
    if (random() % 100 >= percent) continue;
    const bool torn = done.offset > 0 && random() % 5 == 0;
    apply(done, torn ? random() % (done.bytes.size() + 1) : done.bytes.size(), content);
  }
  return content;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_P(Growth, whatever_of_the_writes_a_crash_leaves_the_file_shows_whole_steps) {
  std::string durable = bytes_of(path_);
  std::vector<Done> log;
  std::vector<std::size_t> commits;  // number of requests before each commit returned
  {
    auto file = std::make_unique<Growing>(path_, "FIELDS", 64);
    file::set_observer([&](const file::Event& event) {
      const bool changes = event.operation == Operation::write || event.operation == Operation::resize ||
                           event.operation == Operation::sync;
      if (changes)
        log.push_back({event.operation,
                       event.offset,
                       event.size,
                       {reinterpret_cast<const char*>(event.bytes.data()), event.bytes.size()}});
      return file::Verdict{};
    });
    for (int step = 0; step < 12; ++step) {
      if (step == 6) file = std::make_unique<Growing>(path_, "FIELDS", 64);  // as after a restart
      add_step(*file, path_, step);
      file->commit(true);
      commits.push_back(log.size());
    }
    file::set_observer({});
  }
  std::vector<Done> pending;
  std::mt19937 random(7);
  std::size_t whole = 0;
  for (std::size_t now = 0; now < log.size(); ++now) {
    const Done& done = log[now];
    if (done.operation == Operation::sync) {
      for (const Done& one : pending) apply(one, one.bytes.size(), durable);
      pending.clear();
    } else {
      pending.push_back(done);
    }
    if (whole < commits.size() && now + 1 == commits[whole]) ++whole;
    const fs::path left = folder_ / "left.h5";
    std::ofstream(left, std::ios::binary) << after_crash(durable, pending, random, now % 3 == 0 ? 80 : 50);
    const std::size_t found = shown(left, 13).size();
    ASSERT_TRUE(found == whole || found == whole + 1) << found << " steps after " << whole << " commits";
  }
  EXPECT_EQ(whole, 12U);
}

INSTANTIATE_TEST_SUITE_P(Hdf5, Growth, ::testing::Values(Age::old, Age::modern, Age::newest), [](const auto& which) {
  return which.param == Age::old ? "old" : which.param == Age::modern ? "modern" : "newest";
});

TEST(Hdf5Growing, a_file_without_the_group_is_refused_with_its_name) {
  const octavo::testing::TemporaryFolder folder;
  make_file(folder / "a.h5", Age::old);
  EXPECT_THAT(message_of([&] { Growing(folder / "a.h5", "CHA", 64); }), HasSubstr("a.h5"));
  std::ofstream(folder / "b.h5") << "no HDF5";
  EXPECT_THAT(message_of([&] { Growing(folder / "b.h5", "CHA", 64); }), HasSubstr("b.h5"));
}

TEST(Hdf5Growing, a_file_that_does_not_begin_at_its_first_byte_is_refused_at_once) {
  const octavo::testing::TemporaryFolder folder;
  for (const Age age : {Age::old, Age::modern}) {
    const fs::path path = folder / (age == Age::old ? "a.h5" : "b.h5");
    make_file(path, age, 512);
    const base::Error error = octavo::testing::error_of([&] { Growing(path, "FIELDS", 64); });
    EXPECT_EQ(error.kind(), base::Kind::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("first byte"));
    EXPECT_THAT(error.what(), HasSubstr(path.filename().string()));
  }
}

}  // namespace
}  // namespace octavo::file::hdf5
#endif
