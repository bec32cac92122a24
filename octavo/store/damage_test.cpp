#include <gtest/gtest.h>

#include <cerrno>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/store/scan.hpp"
#include "tests/support/store_fixture.hpp"

namespace octavo::store {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using testing::plan_of;
using testing::random_step;
using testing::read_all;
using testing::same_parts;
using testing::Step;
using testing::StepOptions;
using testing::TemporaryDirectory;
using testing::write_step;

StepOptions small_options() {
  StepOptions options;
  options.cells = 60;
  options.levels = 3;
  return options;
}

// Two steps of two segments: every kind of byte that a store has.
struct TwoSteps {
  TemporaryDirectory dir;
  Step first = random_step(1, small_options()), second = random_step(2, small_options());
  fs::path store = dir / "s";
  TwoSteps() {
    write_step(first, store, plan_of(1, 1, 2));
    write_step(second, store, plan_of(2, 2, 2));
  }
  std::vector<fs::path> files() const {
    return {store / "octavo.json", store / "analysis" / "data.000", store / "analysis" / "data.001"};
  }
};

// Whether verify finds anything, or cannot open the store at all.
bool finds_damage(const fs::path& store) {
  try {
    return !verify(store, 1).findings.empty();
  } catch (const Error&) {
    return true;
  }
}

bool quick_finds_damage(const fs::path& store) {
  try {
    return !verify_quick(store).findings.empty();
  } catch (const Error&) {
    return true;
  }
}

// Reading never gives other values than were written, whatever else happens.
void expect_no_wrong_values(const TwoSteps& two, const std::string& what) {
  for (std::int64_t step : {1, 2}) {
    try {
      const auto parts = read_all(open_step(two.store, Flow::analysis, step));
      EXPECT_TRUE(same_parts(parts, step == 1 ? two.first.parts : two.second.parts)) << what;
    } catch (const Error&) {
    }
  }
}

TEST(Damage, verify_finds_nothing_in_a_sound_store) {
  const TwoSteps two;
  for (const Finding& finding : verify(two.store, 2).findings) ADD_FAILURE() << finding.where << ": " << finding.what;
}

TEST(Damage, verify_quick_reads_footers_and_tables_only) {
  const TwoSteps two;
  const Report all = verify(two.store, 1), quick = verify_quick(two.store);
  EXPECT_TRUE(quick.findings.empty());
  EXPECT_EQ(quick.steps, all.steps);
  EXPECT_EQ(quick.streams, all.streams);
  EXPECT_LT(quick.bytes, all.bytes);
  // A flipped bit in a stream it does not see; one in any byte of a table it does.
  const StreamInfo stream = list_streams(two.store, Flow::analysis, 2).back();
  auto sound = testing::file_bytes(stream.file), damaged = sound;
  damaged[stream.offset] ^= 1;
  testing::write_file(stream.file, damaged);
  EXPECT_FALSE(quick_finds_damage(two.store));
  EXPECT_TRUE(finds_damage(two.store));
  const std::size_t table = (stream.offset + stream.stored_bytes + 7) / 8 * 8;
  for (std::size_t i = table; i < table + 300; i += 7) {
    damaged = sound;
    damaged[i] ^= 1;
    testing::write_file(stream.file, damaged);
    EXPECT_TRUE(quick_finds_damage(two.store)) << i;
  }
}

TEST(Damage, verify_finds_a_flipped_bit_in_every_byte) {
  const TwoSteps two;
  for (const fs::path& path : two.files()) {
    const auto sound = testing::file_bytes(path);
    const file::File file = file::open_write(path);
    for (std::size_t i = 0; i < sound.size(); ++i) {
      const auto flipped = static_cast<std::byte>(sound[i] ^ (1 << (i % 8)));
      file::pwrite_all(file, i, {&flipped, 1});
      const std::string what = path.filename().string() + " byte " + std::to_string(i);
      EXPECT_TRUE(finds_damage(two.store)) << what;
      if (i % 16 == 0) expect_no_wrong_values(two, what);
      const auto original = static_cast<std::byte>(sound[i]);
      file::pwrite_all(file, i, {&original, 1});
    }
  }
  EXPECT_FALSE(finds_damage(two.store));
}

TEST(Damage, findings_name_the_file_the_bytes_the_part_and_the_field) {
  const TwoSteps two;
  for (const StreamInfo& stream : list_streams(two.store, Flow::analysis, 1)) {
    if (stream.field != "density" || stream.part != 1) continue;
    const file::File file = file::open_write(stream.file);
    std::byte byte{};
    file::pread_all(file, stream.offset, {&byte, 1});
    byte ^= std::byte{4};
    file::pwrite_all(file, stream.offset, {&byte, 1});
    const Report report = verify(two.store, 1);
    ASSERT_EQ(report.findings.size(), 1u);
    const std::string& where = report.findings[0].where;
    for (const std::string& part : {std::string("data.001"), std::string("part 1"), std::string("field density"),
                                    "bytes " + std::to_string(stream.offset)})
      EXPECT_NE(where.find(part), std::string::npos) << where;
    return;
  }
  FAIL();
}

TEST(Damage, every_truncation_is_found_and_older_steps_survive_where_they_are_whole) {
  const TwoSteps two;
  const auto last_byte_of_first = [&] {
    std::uint64_t last = 0;
    for (const StreamInfo& stream : list_streams(two.store, Flow::analysis, 1))
      last = std::max(last, stream.offset + stream.stored_bytes);
    return last;
  }();
  for (const fs::path& path : two.files()) {
    const auto sound = testing::file_bytes(path);
    for (std::size_t size = 0; size < sound.size(); size += 64) {
      fs::resize_file(path, size);
      const std::string what = path.filename().string() + " of " + std::to_string(size);
      EXPECT_TRUE(finds_damage(two.store)) << what;
      EXPECT_TRUE(quick_finds_damage(two.store)) << what;
      expect_no_wrong_values(two, what);
      if (size > last_byte_of_first + 4096) {
        EXPECT_TRUE(same_parts(read_all(open_step(two.store, Flow::analysis, 1)), two.first.parts)) << what;
      }
      testing::write_file(path, sound);
    }
  }
}

TEST(Damage, a_damaged_footer_cuts_off_no_older_step) {
  TemporaryDirectory dir;
  for (int number = 1; number <= 12; ++number)
    write_step(random_step(static_cast<std::uint64_t>(number), small_options()), dir / "s", plan_of(number, 1));
  const auto path = dir / "s" / "analysis" / "data.000";
  const auto sound = testing::file_bytes(path);
  // Each footer begins with the text of its first key.
  const std::string key = "dfile";
  int footers = 0;
  for (auto at = sound.begin();; ++footers) {
    at = std::search(at, sound.end(), key.begin(), key.end());
    if (at == sound.end()) break;
    auto damaged = sound;
    damaged[static_cast<std::size_t>(at - sound.begin())] ^= 1;
    testing::write_file(path, damaged);
    std::vector<std::string> notes;
    EXPECT_EQ(list_steps(dir / "s", &notes).size(), 11u);
    EXPECT_GE(notes.size(), 1u);
    EXPECT_EQ(read_all(open_step(dir / "s")).size(), 2u);
    ++at;
  }
  EXPECT_EQ(footers, 12);
}

TEST(Damage, a_newer_step_with_a_damaged_table_gives_way_to_the_older_one_and_says_so) {
  const TwoSteps two;
  const auto path = two.store / "analysis" / "data.000";
  auto bytes = testing::file_bytes(path);
  const std::string key = "fheader";  // the table's first key
  const auto at = std::find_end(bytes.begin(), bytes.end(), key.begin(), key.end());
  ASSERT_NE(at, bytes.end());
  *at = static_cast<char>(*at ^ 1);
  testing::write_file(path, bytes);
  const mesh::Dataset dataset = open_step(two.store);
  EXPECT_TRUE(same_parts(read_all(dataset), two.first.parts));
  ASSERT_FALSE(dataset.notes.empty());
  EXPECT_NE(dataset.notes.back().find("step 2"), std::string::npos) << dataset.notes.back();
  EXPECT_THROW(open_step(two.store, Flow::analysis, 2), Error);
}

TEST(Damage, a_damaged_head_costs_no_step) {
  const TwoSteps two;
  const auto path = two.files()[1];
  const auto sound = testing::file_bytes(path);
  for (std::size_t first = 0; first < 512; first += 3) {
    auto damaged = sound;
    damaged[first] = static_cast<char>(damaged[first] ^ 4);
    if (first == 510) std::fill(damaged.begin(), damaged.begin() + 512, '\0');
    testing::write_file(path, damaged);
    const Report report = verify_quick(two.store);
    ASSERT_EQ(report.findings.size(), 1u) << first;
    EXPECT_NE(report.findings[0].where.find("data.000, bytes 0 to 512"), std::string::npos) << report.findings[0].where;
    EXPECT_EQ(report.steps, 2);
    const mesh::Dataset newest = open_step(two.store);
    EXPECT_EQ(newest.notes.size(), 1u);
    if (first % 60 == 0 || first == 510) {
      EXPECT_TRUE(same_parts(read_all(newest), two.second.parts)) << first;
      EXPECT_TRUE(same_parts(read_all(open_step(two.store, Flow::analysis, 1)), two.first.parts)) << first;
    }
  }
}

TEST(Damage, a_damaged_head_and_a_damaged_newest_footer_leave_the_older_step) {
  const TwoSteps two;
  const auto path = two.files()[1];
  auto damaged = testing::file_bytes(path);
  damaged[20] = static_cast<char>(damaged[20] ^ 1);
  const std::string key = "dfile";  // a footer's first key
  *std::find_end(damaged.begin(), damaged.end(), key.begin(), key.end()) = 'x';
  testing::write_file(path, damaged);
  EXPECT_EQ(verify(two.store, 1).steps, 1);
  EXPECT_TRUE(same_parts(read_all(open_step(two.store)), two.first.parts));
}

TEST(Damage, a_head_of_another_major_version_is_not_taken_for_a_damaged_one) {
  const TwoSteps two;
  const auto path = two.files()[1];
  auto bytes = testing::file_bytes(path);
  Head head = parse_head(std::as_bytes(std::span(bytes)).first(sector_size));
  head.major = 2;
  const Sector sector = to_sector(head);
  std::copy_n(reinterpret_cast<const char*>(sector.data()), sector_size, bytes.begin());
  testing::write_file(path, bytes);
  EXPECT_TRUE(list_steps(two.store).empty());
}

// Four checkpoints of two files each, as a run writes them that keeps all.
struct FourCheckpoints {
  TemporaryDirectory dir;
  fs::path store = dir / "s";
  FourCheckpoints() {
    for (int number = 1; number <= 4; ++number) write(number, {});
  }
  void write(int number, std::optional<StepId> continues) {
    SegmentPlan plan = plan_of(number, static_cast<unsigned>(number), 2);
    plan.flow = Flow::checkpoint;
    plan.continues = continues;
    write_step(random_step(static_cast<std::uint64_t>(number), small_options()), store, plan);
  }
  fs::path file(int number, int subfile) const {
    return directory_of(store, Flow::checkpoint, number) / subfile_name(subfile);
  }
};

TEST(Damage, a_lost_file_of_a_step_that_the_run_went_on_from_is_damage) {
  for (int subfile : {0, 1})
    for (std::int64_t size : {-1, 0, 4000}) {
      const FourCheckpoints four;
      if (size < 0)
        fs::remove(four.file(2, subfile));
      else
        fs::resize_file(four.file(2, subfile), static_cast<std::uint64_t>(size));
      const Report report = verify(four.store, 1);
      ASSERT_EQ(report.findings.size(), 1u) << subfile << " " << size;
      EXPECT_NE(report.findings[0].what.find("checkpoint step 2"), std::string::npos) << report.findings[0].what;
      EXPECT_EQ(verify_quick(four.store).findings.size(), 1u);
      EXPECT_EQ(report.steps, 3);
    }
}

TEST(Damage, what_an_interrupted_writer_may_have_left_is_a_note) {
  // The newest step; one of which nothing is left; the oldest, which may be on its way out.
  for (int number : {4, 2, 1}) {
    const FourCheckpoints four;
    if (number == 2) fs::resize_file(four.file(2, 1), 0);
    fs::resize_file(four.file(number, 0), 0);
    if (number == 1) fs::remove(four.file(number, 0));
    const Report report = verify(four.store, 1);
    EXPECT_TRUE(report.findings.empty()) << number;
    EXPECT_FALSE(report.notes.empty()) << number;
  }
}

TEST(Damage, a_step_that_a_resumed_run_took_up_before_is_a_note) {
  FourCheckpoints four;
  fs::remove(four.file(4, 1));
  four.write(6, StepId{3, testing::attempt_of(3)});
  four.write(8, {});
  const Report report = verify(four.store, 1);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.notes.size(), 1u);
}

TEST(Damage, nothing_is_appended_to_a_damaged_subfile) {
  const TwoSteps two;
  const auto path = two.store / "analysis" / "data.000";
  for (std::size_t byte : {std::size_t{9}, static_cast<std::size_t>(fs::file_size(path)) - 20}) {
    const auto sound = testing::file_bytes(path);
    auto damaged = sound;
    damaged[byte] = static_cast<char>(damaged[byte] ^ 1);
    testing::write_file(path, damaged);
    EXPECT_THROW(write_step(random_step(3, small_options()), two.store, plan_of(3, 3, 2)), Error);
    EXPECT_EQ(testing::file_bytes(path), damaged);
    testing::write_file(path, sound);
  }
}

// A damaged commit record may have been the newest: what it named must not be overwritten.
TEST(Damage, appending_after_a_damaged_record_keeps_all_bytes_before) {
  const TwoSteps two;
  const auto path = two.store / "analysis" / "data.000";
  auto damaged = testing::file_bytes(path);
  damaged[1024 + 20] = static_cast<char>(damaged[1024 + 20] ^ 1);
  testing::write_file(path, damaged);
  EXPECT_EQ(list_steps(two.store).size(), 1u);
  write_step(random_step(3, small_options()), two.store, plan_of(3, 3, 2));
  const auto after = testing::file_bytes(path);
  EXPECT_TRUE(std::equal(damaged.begin() + 4096, damaged.end(), after.begin() + 4096));
  EXPECT_TRUE(same_parts(read_all(open_step(two.store)), random_step(3, small_options()).parts));
}

TEST(Damage, a_full_disk_at_any_operation_keeps_what_was_committed) {
  const Step first = random_step(1, small_options()), second = random_step(2, small_options());
  for (int nth = 0;; ++nth) {
    TemporaryDirectory dir;
    write_step(first, dir / "s", plan_of(1, 1, 2));
    int count = 0;
    bool failed = false;
    file::set_observer([&](const file::Event& event) {
      const bool changes = event.operation == file::Operation::write || event.operation == file::Operation::sync ||
                           event.operation == file::Operation::create;
      if (!changes || count++ != nth) return file::Verdict{};
      failed = true;
      return file::Verdict{ENOSPC, event.size / 2};
    });
    Kind kind = Kind::usage;
    try {
      write_step(second, dir / "s", plan_of(2, 2, 2));
    } catch (const Error& error) {
      kind = error.kind();
    }
    file::set_observer({});
    if (!failed) {
      EXPECT_GT(nth, 10);
      break;
    }
    EXPECT_EQ(kind, Kind::no_space) << nth;
    EXPECT_TRUE(same_parts(read_all(open_step(dir / "s", Flow::analysis, 1)), first.parts)) << nth;
    const auto steps = list_steps(dir / "s");
    // The very last sync comes after a record that is whole: such a step may be seen, and is then right.
    if (steps.size() == 2) {
      EXPECT_TRUE(same_parts(read_all(open_step(dir / "s")), second.parts)) << nth;
    }
    // The next attempt goes through, and the store is sound.
    write_step(second, dir / "s", plan_of(2, 3, 2));
    EXPECT_TRUE(same_parts(read_all(open_step(dir / "s")), second.parts)) << nth;
    EXPECT_TRUE(verify(dir / "s", 1).findings.empty()) << nth;
  }
}

TEST(Damage, strange_files_and_empty_ones_are_errors) {
  TemporaryDirectory dir;
  testing::write_file(dir / "empty" / "analysis" / "data.000", {});
  EXPECT_THROW(open_step(dir / "empty"), Error);
  EXPECT_THROW(verify(dir / "empty", 1), Error);
  testing::write_file(dir / "text" / "analysis" / "data.000", std::vector<char>(9000, 'x'));
  EXPECT_THROW(open_step(dir / "text"), Error);
  fs::create_directories(dir.path() / "folder" / "analysis" / "data.000");
  EXPECT_THROW(open_step(dir / "folder"), Error);
  testing::write_file(dir / "file", {'a'});
  EXPECT_FALSE(recognise(dir / "file"));
  EXPECT_THROW(open_step(dir / "file"), Error);
}

}  // namespace
}  // namespace octavo::store
