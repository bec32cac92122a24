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

TEST(Index, is_made_from_the_subfiles) {
  const Indexed s;
  s.write(40, 1);
  s.write(-7, 2);
  rebuild_indexes(s.store);
  const std::vector<IndexedStep> expected{{40, 1, 2, "checkpoint/000/000/000000040"},
                                          {-7, 2, 2, "checkpoint/000/000/-00000007"}};
  EXPECT_EQ(read_index(s.store, Flow::checkpoint), expected);
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
  expect_harmless("old", 1);
  rebuild_indexes(s.store);
  expect_harmless("new", 0);
  const std::vector<char> sound = file_bytes(s.index);
  for (std::size_t size = 0; size < sound.size(); size += 13) {
    write_file(s.index, {sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(size)});
    EXPECT_FALSE(read_index(s.store, Flow::checkpoint)) << size;
  }
  expect_harmless("truncated", 1);
  for (std::size_t i = 0; i < sound.size(); ++i) {
    std::vector<char> damaged = sound;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    write_file(s.index, damaged);
    EXPECT_FALSE(read_index(s.store, Flow::checkpoint)) << i;
  }
  expect_harmless("damaged", 1);
  std::filesystem::remove(s.index);
  expect_harmless("deleted", 0);
  std::filesystem::create_directory(s.index);
  expect_harmless("a directory", 1);
}

}  // namespace
}  // namespace octavo::store
