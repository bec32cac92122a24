#include "octavo/store/read/index.hpp"

#include "tests/support/store_fixture.hpp"

namespace octavo::store {
namespace {

using testing::file_bytes;
using testing::plan_of;
using testing::random_step;
using testing::write_file;
using testing::write_step;

struct Indexed {
  testing::TemporaryDirectory dir;
  std::filesystem::path store = dir / "s", index = store / "checkpoint.index";
  void write(std::int64_t step, unsigned attempt) const {
    SegmentPlan plan = plan_of(step, attempt, 2);
    plan.flow = Flow::checkpoint;
    write_step(random_step(1), store, plan);
  }
};

// The steps' numbers and files, by line.
std::vector<std::pair<std::int64_t, std::string>> lines_of(const std::filesystem::path& store) {
  std::vector<std::pair<std::int64_t, std::string>> lines;
  for (const IndexedStep& step : read_index(store, Flow::checkpoint).steps)
    lines.emplace_back(parse_footer(step.footer, step.at).step, step.file);
  return lines;
}

TEST(Index, is_made_from_the_subfiles) {
  const Indexed s;
  s.write(40, 1);
  s.write(-7, 2);
  rebuild_indexes(s.store);
  const std::vector<std::pair<std::int64_t, std::string>> expected{{40, "checkpoint/000/000/000000040/data.000"},
                                                                   {-7, "checkpoint/000/000/-00000007/data.000"}};
  EXPECT_EQ(lines_of(s.store), expected);
  EXPECT_FALSE(std::filesystem::exists(s.store / "analysis.index"));
  EXPECT_TRUE(verify(s.store, 1).notes.empty());
}

TEST(Index, deleted_truncated_damaged_or_old_it_harms_nothing) {
  const Indexed s;
  s.write(1, 1);
  rebuild_indexes(s.store);
  const std::vector<char> old = file_bytes(s.index);
  s.write(2, 2);
  const auto expect_harmless = [&](const std::string& what, std::size_t notes) {
    EXPECT_EQ(list_steps(s.store).size(), 2u) << what;
    EXPECT_EQ(testing::read_all(open_step(s.store)).size(), 2u) << what;
    const Report report = verify(s.store, 1);
    EXPECT_TRUE(report.findings.empty()) << what;
    EXPECT_EQ(report.notes.size(), notes) << what;
  };
  expect_harmless("old", 0);
  rebuild_indexes(s.store);
  expect_harmless("new", 0);
  const std::vector<char> sound = file_bytes(s.index);
  for (std::size_t size = 0; size < sound.size(); size += 13) {
    write_file(s.index, {sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(size)});
    EXPECT_LE(read_index(s.store, Flow::checkpoint).steps.size(), 1u) << size;
  }
  expect_harmless("truncated", 1);
  for (std::size_t i = 0; i < sound.size(); ++i) {
    std::vector<char> damaged = sound;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    write_file(s.index, damaged);
    EXPECT_FALSE(read_index(s.store, Flow::checkpoint).is_whole) << i;
  }
  expect_harmless("damaged", 1);
  std::filesystem::remove(s.index);
  expect_harmless("deleted", 0);
  std::filesystem::create_directory(s.index);
  expect_harmless("a directory", 1);
}

// Steps that are durable and indexed, in files of their own or one after another in the same.
struct Many {
  testing::TemporaryDirectory dir;
  std::filesystem::path store = dir / "s";
  Flow flow;
  Many(Flow of, int steps, int files) : flow(of) {
    const auto step = random_step(1);
    DurableMark mark;
    for (int i = 1; i <= steps; ++i) {
      SegmentPlan plan = plan_of(i, static_cast<unsigned>(i), files);
      plan.flow = flow;
      plan.sync = false;
      plan.order_before = static_cast<std::uint64_t>(i - 1);
      write_step(step, store, plan);
      add(mark, static_cast<std::uint64_t>(i), i);
    }
    write_mark(store, flow, mark, false);
    rebuild_indexes(store);
  }
  std::filesystem::path subfile(std::int64_t step, int number) const {
    return directory_of(store, flow, step) / subfile_name(number);
  }
  std::size_t listed() const { return list_steps(store).size(); }
};

// How often files are read while the steps are listed.
int reads_of_list(const std::filesystem::path& store) {
  int reads = 0;
  file::set_observer([&](const file::Event& event) {
    reads += event.operation == file::Operation::read ? 1 : 0;
    return file::Verdict{};
  });
  list_steps(store);
  file::set_observer({});
  return reads;
}

void expect_same_lists(const std::filesystem::path& store) {
  const auto by_index = list_steps(store);
  std::filesystem::rename(store / "checkpoint.index", store / "aside");
  const auto by_files = list_steps(store);
  std::filesystem::rename(store / "aside", store / "checkpoint.index");
  ASSERT_EQ(by_index.size(), by_files.size());
  for (std::size_t i = 0; i < by_index.size(); ++i) {
    EXPECT_EQ(by_index[i].step, by_files[i].step);
    EXPECT_EQ(by_index[i].time, by_files[i].time);
    EXPECT_EQ(by_index[i].attempt, by_files[i].attempt);
    EXPECT_EQ(by_index[i].bytes, by_files[i].bytes);
    EXPECT_EQ(by_index[i].parts, by_files[i].parts);
    EXPECT_EQ(by_index[i].writer, by_files[i].writer);
  }
}

TEST(Index, two_hundred_steps_of_a_hundred_files_are_listed_in_under_300_reads) {
  const Many fresh(Flow::checkpoint, 200, 100);
  EXPECT_EQ(fresh.listed(), 200u);
  EXPECT_LT(reads_of_list(fresh.store), 300);
  const Many appended(Flow::analysis, 200, 100);
  EXPECT_EQ(appended.listed(), 200u);
  EXPECT_LT(reads_of_list(appended.store), 10);
}

TEST(Index, lists_what_the_files_list) { expect_same_lists(Many(Flow::checkpoint, 5, 3).store); }

TEST(Index, a_step_that_lost_a_file_is_not_listed) {
  const Many s(Flow::checkpoint, 5, 3);
  std::filesystem::remove(s.subfile(3, 2));
  EXPECT_EQ(s.listed(), 4u);
  std::filesystem::remove(s.subfile(4, 0));
  EXPECT_EQ(s.listed(), 3u);
}

TEST(Index, a_step_that_is_not_marked_is_read_from_its_files) {
  const Many s(Flow::checkpoint, 5, 3);
  const int reads = reads_of_list(s.store);
  std::filesystem::remove(durable_mark(s.store, s.flow));
  std::vector<char> bytes = file_bytes(s.subfile(5, 1));
  std::fill(bytes.begin(), bytes.end(), 'x');
  write_file(s.subfile(5, 1), bytes);
  EXPECT_EQ(s.listed(), 4u);
  EXPECT_GT(reads_of_list(s.store), reads + 10);
}

TEST(Index, a_scan_that_trusts_the_mark_needs_no_index_and_looks_into_one_file_a_step) {
  const Many many(Flow::checkpoint, 3, 4);
  std::filesystem::remove(index_path(many.store, Flow::checkpoint));
  const auto found = [&](Trust trust) {
    std::vector<std::size_t> segments;
    for (const StepFound& step : scan_store(many.store, trust).steps) segments.push_back(step.segments.size());
    return segments;
  };
  EXPECT_EQ(found(Trust::mark), (std::vector<std::size_t>{1, 1, 1}));
  EXPECT_EQ(found(Trust::index), (std::vector<std::size_t>{4, 4, 4}));
  // A step that the mark does not list, and one of which a file is gone.
  DurableMark mark = read_mark(many.store, Flow::checkpoint);
  drop(mark, 2);
  write_mark(many.store, Flow::checkpoint, mark, false);
  std::filesystem::remove(many.subfile(3, 2));
  EXPECT_EQ(found(Trust::mark), (std::vector<std::size_t>{1, 4, 3}));
  for (const StepFound& step : scan_store(many.store, Trust::mark).steps) EXPECT_EQ(step.complete, step.step < 3);
}

TEST(Index, of_a_file_that_was_written_again_counts_for_nothing) {
  const Many s(Flow::checkpoint, 3, 2);
  const std::vector<char> index = file_bytes(s.store / "checkpoint.index");
  for (int segment = 0; segment < 2; ++segment) std::filesystem::remove(s.subfile(2, segment));
  SegmentPlan plan = plan_of(2, 77, 2);
  plan.flow = s.flow;
  write_step(random_step(2), s.store, plan);
  ASSERT_EQ(file_bytes(s.store / "checkpoint.index"), index);
  expect_same_lists(s.store);
}

TEST(Index, a_line_is_added_behind_a_torn_one_and_a_file_of_another_form_is_made_anew) {
  const Many s(Flow::checkpoint, 3, 2);
  const auto steps = read_index(s.store, s.flow).steps;
  ASSERT_EQ(steps.size(), 3u);
  const auto path = index_path(s.store, s.flow);
  std::vector<char> torn = file_bytes(path);
  torn.resize(torn.size() - 20);
  write_file(path, torn);
  file::File open;
  append_index(open, s.store, s.flow, steps[2]);
  append_index(open, s.store, s.flow, steps[0]);
  const Index added = read_index(s.store, s.flow);
  EXPECT_FALSE(added.is_whole);
  EXPECT_EQ(added.steps, (std::vector<IndexedStep>{steps[0], steps[1], steps[2], steps[0]}));
  write_file(path, {'o', 'l', 'd', '\n'});
  open = {};
  append_index(open, s.store, s.flow, steps[1]);
  EXPECT_TRUE(read_index(s.store, s.flow).is_whole);
  EXPECT_EQ(read_index(s.store, s.flow).steps, std::vector<IndexedStep>{steps[1]});
}

}  // namespace
}  // namespace octavo::store
