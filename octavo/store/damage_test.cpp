#include <gtest/gtest.h>

#include <cerrno>
#include <functional>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/store/read/scan.hpp"
#include "tests/support/is_long.hpp"
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
    testing::write_durable_step(first, store, plan_of(1, 1, 2));
    testing::write_durable_step(second, store, plan_of(2, 2, 2));
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
  // It does not see a flipped bit in a stream. It does see one in any byte of a table.
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

TEST(Damage, verify_finds_a_flipped_bit_wherever_it_is) {
  const TwoSteps two;
  for (const fs::path& path : two.files()) {
    const auto sound = testing::file_bytes(path);
    const file::File file = file::open_write(path);
    // A stride that is prime to 8 takes all bits in turn.
    for (std::size_t i = 0; i < sound.size(); i += testing::is_long() ? 1U : 5U) {
      const auto flipped = static_cast<std::byte>(sound[i] ^ (1 << (i % 8)));
      file::pwrite_all(file, i, {&flipped, 1});
      const std::string what = path.filename().string() + " byte " + std::to_string(i);
      EXPECT_TRUE(finds_damage(two.store)) << what;
      if (i % 15 == 0) expect_no_wrong_values(two, what);
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
      if (size > last_byte_of_first + head_size) {
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

// We do not know what another major version means. It is no damage, and a reader must not take an older step instead.
TEST(Damage, a_subfile_of_another_major_version_is_unsupported) {
  for (const std::uint16_t major : std::initializer_list<std::uint16_t>{1, 3}) {
    const TwoSteps two;
    const auto path = two.files()[1];
    auto bytes = testing::file_bytes(path);
    Head head = parse_head(std::as_bytes(std::span(bytes)).first(sector_size));
    head.major = major;
    const Sector sector = to_sector(head);
    std::copy_n(reinterpret_cast<const char*>(sector.data()), sector_size, bytes.begin());
    testing::write_file(path, bytes);
    const std::vector<std::function<void()>> uses{
        [&] { list_steps(two.store); }, [&] { open_step(two.store); }, [&] { verify(two.store, 1); },
        [&] { write_step(random_step(3, small_options()), two.store, plan_of(3, 3, 2)); }};
    for (const auto& use : uses) {
      try {
        use();
        ADD_FAILURE();
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Kind::unsupported) << error.what();
        EXPECT_NE(std::string(error.what()).find("format version " + std::to_string(major)), std::string::npos);
        EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
      }
    }
    EXPECT_EQ(testing::file_bytes(path), bytes);
  }
}

// A sector that cannot be read takes up to 4 KiB with it. Head and records have a block each, so that nothing that was
// committed is lost with one; the next commit writes the record anew.
TEST(Damage, one_unreadable_sector_of_the_head_loses_no_committed_step) {
  for (std::uint64_t block = 0; block < 3; ++block)
    for (int file : {1, 2}) {
      const TwoSteps two;
      const fs::path path = two.files()[static_cast<std::size_t>(file)];
      file::set_observer([&](const file::Event& event) {
        const bool hit = event.operation == file::Operation::read && event.path == path &&
                         event.offset < (block + 1) * sector_block && event.offset + event.size > block * sector_block;
        return file::Verdict{hit ? EIO : 0, 0};
      });
      EXPECT_EQ(list_steps(two.store).size(), 2u) << block;
      for (std::int64_t step : {1, 2})
        EXPECT_TRUE(same_parts(read_all(open_step(two.store, Flow::analysis, step)),
                               step == 1 ? two.first.parts : two.second.parts))
            << block;
      const Report report = verify_quick(two.store);
      EXPECT_EQ(report.steps, 2);
      ASSERT_FALSE(report.findings.empty());
      EXPECT_EQ(report.findings[0].kind, FindingKind::damaged);
      if (block > 0) {
        testing::write_durable_step(random_step(3, small_options()), two.store, plan_of(3, 3, 2));
        EXPECT_EQ(list_steps(two.store).size(), 3u) << block;
      }
      file::set_observer({});
      EXPECT_EQ(list_steps(two.store).size(), block > 0 ? 3u : 2u) << block;
    }
}

// Four checkpoints of two files each, as a run writes them that keeps all.
struct FourCheckpoints {
  TemporaryDirectory dir;
  fs::path store = dir / "s";
  bool reported = true;  // as durable, except number 4
  FourCheckpoints() {
    for (int number = 1; number <= 4; ++number) {
      reported = number < 4;
      write(number, {});
    }
    reported = true;
  }
  void write(int number, std::optional<StepId> continues) {
    SegmentPlan plan = plan_of(number, static_cast<unsigned>(number), 2);
    plan.flow = Flow::checkpoint;
    plan.continues = continues;
    const Step step = random_step(static_cast<std::uint64_t>(number), small_options());
    reported ? testing::write_durable_step(step, store, plan) : write_step(step, store, plan);
  }
  fs::path file(int number, int subfile) const {
    return directory_of(store, Flow::checkpoint, number) / subfile_name(subfile);
  }
};

void expect_lost(const fs::path& store, const std::string& what, const std::string& when) {
  const Report report = verify(store, 1);
  ASSERT_EQ(report.findings.size(), 1u) << when;
  EXPECT_EQ(report.findings[0].kind, FindingKind::lost) << when;
  EXPECT_NE(report.findings[0].what.find(what), std::string::npos) << when << ": " << report.findings[0].what;
  EXPECT_EQ(verify_quick(store).findings.size(), 1u) << when;
}

// By whatever way a file went: removed, emptied, cut off.
TEST(Damage, a_step_that_was_durable_and_lacks_a_file_is_lost) {
  for (int number : {1, 2, 3})
    for (int subfile : {0, 1})
      for (std::int64_t size : {-1, 0, 4000}) {
        const FourCheckpoints four;
        if (number == 3) fs::remove_all(four.file(4, 0).parent_path());
        if (size < 0)
          fs::remove(four.file(number, subfile));
        else
          fs::resize_file(four.file(number, subfile), static_cast<std::uint64_t>(size));
        expect_lost(four.store, "checkpoint step " + std::to_string(number),
                    std::to_string(number) + " " + std::to_string(subfile) + " " + std::to_string(size));
      }
}

TEST(Damage, a_durable_step_of_which_nothing_is_there_is_lost_and_a_newer_one_is_named) {
  const FourCheckpoints four;
  fs::remove_all(four.file(2, 0).parent_path());
  expect_lost(four.store, "checkpoint step of order 2 is lost", "in the middle");
  const FourCheckpoints oldest;
  fs::remove_all(oldest.file(1, 0).parent_path());
  expect_lost(oldest.store, "checkpoint step of order 1 is lost", "the oldest");
  fs::remove_all(oldest.file(2, 0).parent_path());
  EXPECT_EQ(verify(oldest.store, 1).findings.size(), 2u) << "the two oldest";
  const FourCheckpoints newest;
  fs::remove_all(newest.file(4, 0).parent_path());  // was never reported
  fs::remove_all(newest.file(3, 0).parent_path());
  expect_lost(newest.store, "checkpoint step 3 is lost", "the newest");
  for (int number : {1, 2}) fs::remove_all(newest.file(number, 0).parent_path());
  EXPECT_EQ(verify(newest.store, 1).findings.size(), 3u);
}

// The mark was lost, or not copied with the store. A failed step leaves something behind.
TEST(Damage, without_a_mark_a_gap_in_the_order_of_steps_is_a_lost_one) {
  for (bool empty : {false, true}) {
    const FourCheckpoints four;
    if (empty)
      fs::resize_file(durable_mark(four.store, Flow::checkpoint), 0);
    else
      fs::remove(durable_mark(four.store, Flow::checkpoint));
    EXPECT_TRUE(verify(four.store, 1).findings.empty());
    fs::remove(four.file(2, 1));
    EXPECT_TRUE(verify(four.store, 1).findings.empty());
    fs::remove_all(four.file(2, 0).parent_path());
    expect_lost(four.store, "checkpoint step of order 2", "without a mark");
  }
}

// A mark that was not written any more: the gap says it.
TEST(Damage, a_gap_above_the_orders_of_a_mark_is_a_lost_step) {
  const FourCheckpoints four;
  DurableMark stale;
  add(stale, 1, 1);
  write_mark(four.store, Flow::checkpoint, stale, true);
  EXPECT_TRUE(verify(four.store, 1).findings.empty());
  fs::remove_all(four.file(2, 0).parent_path());
  expect_lost(four.store, "checkpoint step of order 2 is lost", "above the mark");
  // A step that failed and was removed by the writer.
  note_failed(stale, 2);
  write_mark(four.store, Flow::checkpoint, stale, true);
  EXPECT_TRUE(verify(four.store, 1).findings.empty());
}

TEST(Damage, what_a_writer_removed_on_purpose_is_not_lost) {
  for (int number : {1, 2}) {
    const FourCheckpoints four;
    DurableMark mark = read_mark(four.store, Flow::checkpoint);
    drop(mark, static_cast<std::uint64_t>(number));
    write_mark(four.store, Flow::checkpoint, mark, true);
    for (int subfile : {0, 1}) {
      fs::remove(four.file(number, subfile));
      EXPECT_TRUE(verify(four.store, 1).findings.empty()) << number << subfile;
    }
  }
}

TEST(Damage, what_an_interrupted_or_failed_writer_may_have_left_is_a_note) {
  // The newest step, which was not reported.
  for (int subfile : {0, 1})
    for (std::int64_t size : {-1, 0, 4000}) {
      const FourCheckpoints four;
      if (size < 0)
        fs::remove(four.file(4, subfile));
      else
        fs::resize_file(four.file(4, subfile), static_cast<std::uint64_t>(size));
      const Report report = verify(four.store, 1);
      EXPECT_TRUE(report.findings.empty()) << subfile << size;
      EXPECT_FALSE(report.notes.empty()) << subfile << size;
    }
}

// The run went on behind a step that failed, whatever of its files there is.
TEST(Damage, a_step_that_failed_before_it_was_durable_is_a_note) {
  for (int subfile : {0, 1})
    for (std::int64_t size : {-1, 0, 4000}) {
      FourCheckpoints four;
      if (size < 0)
        fs::remove(four.file(4, subfile));
      else
        fs::resize_file(four.file(4, subfile), static_cast<std::uint64_t>(size));
      four.write(5, {});
      four.write(6, {});
      const Report report = verify(four.store, 1);
      EXPECT_TRUE(report.findings.empty()) << subfile << size;
      EXPECT_EQ(report.steps, 5);
      EXPECT_FALSE(report.notes.empty()) << subfile << size;
    }
}

// The first step of a flow was being written: nothing is lost, whatever there is of it.
TEST(Damage, a_kill_in_the_first_step_is_a_note) {
  for (std::int64_t size : {-1, 0, 100, 4000})
    for (bool other_flow : {false, true}) {
      TemporaryDirectory dir;
      SegmentPlan plan = plan_of(1, 1, 2);
      if (other_flow) testing::write_durable_step(random_step(1, small_options()), dir / "s", plan);
      plan.flow = Flow::checkpoint;
      write_step(random_step(1, small_options()), dir / "s", plan);
      const fs::path directory = directory_of(dir / "s", Flow::checkpoint, 1);
      if (size < 0)
        fs::remove(directory / "data.001");
      else
        fs::resize_file(directory / "data.001", static_cast<std::uint64_t>(size));
      for (const Report& report : {verify(dir / "s", 1), verify_quick(dir / "s")}) {
        EXPECT_TRUE(report.findings.empty()) << size;
        EXPECT_EQ(report.steps, other_flow ? 1 : 0);
        EXPECT_FALSE(report.notes.empty()) << size;
      }
      fs::resize_file(directory / "data.000", 0);
      EXPECT_TRUE(verify(dir / "s", 1).findings.empty()) << size;
    }
}

TEST(Damage, what_is_left_of_a_branch_that_was_abandoned_is_a_note) {
  for (bool nothing : {false, true}) {
    FourCheckpoints four;
    fs::remove(four.file(3, 1));
    if (nothing) fs::remove_all(four.file(3, 0).parent_path());
    four.write(6, StepId{2, testing::attempt_of(2)});
    four.write(8, {});
    const Report report = verify(four.store, 1);
    EXPECT_TRUE(report.findings.empty());
    EXPECT_EQ(report.notes.size(), nothing ? 1u : 2u);
  }
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
  for (std::size_t place : {0u, 1u}) {
    const TwoSteps two;
    const auto path = two.store / "analysis" / "data.000";
    auto damaged = testing::file_bytes(path);
    const auto byte = static_cast<std::size_t>(record_place(place)) + 20;
    damaged[byte] = static_cast<char>(damaged[byte] ^ 1);
    testing::write_file(path, damaged);
    EXPECT_EQ(list_steps(two.store).size(), 2u);
    EXPECT_EQ(verify(two.store, 1).findings.size(), 1u);
    write_step(random_step(3, small_options()), two.store, plan_of(3, 3, 2));
    const auto after = testing::file_bytes(path);
    EXPECT_TRUE(std::equal(damaged.begin() + head_size, damaged.end(), after.begin() + head_size));
    EXPECT_TRUE(same_parts(read_all(open_step(two.store)), random_step(3, small_options()).parts));
    EXPECT_TRUE(verify(two.store, 1).findings.empty());
  }
}

TEST(Damage, a_full_disk_at_any_operation_keeps_what_was_committed) {
  const Step first = random_step(1, small_options()), second = random_step(2, small_options());
  int untold = 0;
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
      EXPECT_EQ(untold, 2);
      break;
    }
    EXPECT_TRUE(same_parts(read_all(open_step(dir / "s", Flow::analysis, 1)), first.parts)) << nth;
    // A step that was reported failed is not in the store, even if its record was whole and only the sync failed. If
    // only the record's second copy fails, the step counts.
    const bool told = kind == Kind::no_space;
    EXPECT_EQ(list_steps(dir / "s").size(), told ? 1u : 2u) << nth;
    untold += told ? 0 : 1;
    // The next attempt succeeds, and the store is sound.
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
