#include "octavo/file/directory_lock.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <fstream>
#include <thread>

#include "tests/support/temporary_folder.hpp"

namespace octavo::file {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;

// A folder on a file system whose flock fails with the given error.
class DirectoryLockWithout : public ::testing::TestWithParam<int> {
 protected:
  DirectoryLockWithout() {
    set_observer([](const Event& event) { return Verdict{event.operation == Operation::lock ? GetParam() : 0, 0}; });
  }
  ~DirectoryLockWithout() override { set_observer({}); }
  fs::path lock_file() const { return folder_ / "writer.lock"; }
  void write_lock_of(const std::string& text, long seconds_ago) const {
    std::ofstream(lock_file()) << text;
    timespec times[2] = {{0, UTIME_OMIT}, {time(nullptr) - seconds_ago, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, lock_file().c_str(), times, 0), 0);
  }
  octavo::testing::TemporaryFolder folder_;
};

TEST(DirectoryLock, a_second_one_is_not_open_until_the_first_is_gone) {
  const octavo::testing::TemporaryFolder folder;
  {
    const DirectoryLock first = lock_directory(folder.path());
    EXPECT_TRUE(first.is_open());
    EXPECT_EQ(first.note(), "");
    EXPECT_FALSE(lock_directory(folder.path()).is_open());
  }
  EXPECT_TRUE(lock_directory(folder.path()).is_open());
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST_P(DirectoryLockWithout, flock_a_file_names_the_writer_and_keeps_a_second_one_away) {
  {
    const DirectoryLock first = lock_directory(folder_.path());
    EXPECT_TRUE(first.is_open());
    EXPECT_THAT(first.note(), HasSubstr("refuses locks"));
    const DirectoryLock second = lock_directory(folder_.path());
    EXPECT_FALSE(second.is_open());
    EXPECT_THAT(second.holder(), HasSubstr("process " + std::to_string(::getpid())));
    EXPECT_TRUE(fs::exists(lock_file()));
  }
  EXPECT_FALSE(fs::exists(lock_file()));
  EXPECT_TRUE(lock_directory(folder_.path()).is_open());
}

TEST_P(DirectoryLockWithout, flock_the_file_of_a_killed_process_is_taken_over) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    static const DirectoryLock held = lock_directory(folder_.path());
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(fs::exists(lock_file()));
  const DirectoryLock next = lock_directory(folder_.path());
  EXPECT_TRUE(next.is_open());
  EXPECT_THAT(next.note(), HasSubstr("process " + std::to_string(child)));
  EXPECT_THAT(next.note(), HasSubstr("was taken over"));
  EXPECT_FALSE(lock_directory(folder_.path()).is_open());
}

TEST_P(DirectoryLockWithout, flock_a_killed_process_holds_nothing_before_its_parent_has_waited_for_it) {
  const pid_t child = ::fork();
  if (child == 0) {
    const DirectoryLock held = lock_directory(folder_.path());
    ::raise(SIGKILL);
  }
  ASSERT_GT(child, 0);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(fs::exists(lock_file()));
  EXPECT_TRUE(lock_directory(folder_.path()).is_open());
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST_P(DirectoryLockWithout, flock_another_hosts_file_counts_while_it_is_touched) {
  const std::string other = "host elsewhere space pid:[1] process 1 started 1\n";
  write_lock_of(other, 5);
  EXPECT_FALSE(lock_directory(folder_.path()).is_open());
  EXPECT_THAT(lock_directory(folder_.path()).holder(),
              AnyOf(HasSubstr("process 1 on elsewhere, last seen 5 s ago"), HasSubstr(" 6 s ago")));
  write_lock_of(other, 3600);
  EXPECT_TRUE(lock_directory(folder_.path()).is_open());
  write_lock_of("", 0);  // the other process has not written into it yet
  EXPECT_FALSE(lock_directory(folder_.path()).is_open());
  write_lock_of("nonsense", 3600);
  EXPECT_TRUE(lock_directory(folder_.path()).is_open());
}

TEST_P(DirectoryLockWithout, flock_a_process_that_took_the_number_of_the_dead_one_is_another) {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const std::string space = fs::read_symlink("/proc/self/ns/pid").string();
  write_lock_of(
      std::string("host ") + host + " space " + space + " process " + std::to_string(::getpid()) + " started 1\n", 0);
  EXPECT_TRUE(lock_directory(folder_.path()).is_open());
}

TEST_P(DirectoryLockWithout, flock_only_one_of_many_gets_a_stale_lock) {
  for (int turn = 0; turn < 20; ++turn) {
    write_lock_of("host elsewhere space pid:[1] process 1 started 1\n", 3600);
    std::vector<DirectoryLock> locks(4);
    std::vector<std::thread> threads;
    for (DirectoryLock& lock : locks) threads.emplace_back([&lock, this] { lock = lock_directory(folder_.path()); });
    for (std::thread& thread : threads) thread.join();
    int held = 0;
    for (const DirectoryLock& lock : locks) held += lock.is_open() ? 1 : 0;
    EXPECT_EQ(held, 1) << turn;
  }
}

TEST_P(DirectoryLockWithout, flock_and_without_a_place_for_the_file_there_is_a_note) {
  if (::geteuid() != 0) {
    ::chmod(folder_.path().c_str(), 0500);
  } else {
    fs::create_directory(lock_file());  // root may write anywhere, so we occupy the name
  }
  const DirectoryLock lock = lock_directory(folder_.path());
  EXPECT_TRUE(lock.is_open());
  EXPECT_THAT(lock.note(), HasSubstr("nothing keeps a second writer away"));
  ::chmod(folder_.path().c_str(), 0700);
}

TEST_P(DirectoryLockWithout, flock_a_full_disk_leaves_a_lock_without_a_name) {
  set_observer([](const Event& event) {
    if (event.operation == Operation::lock) return Verdict{GetParam(), 0};
    return Verdict{event.operation == Operation::write ? ENOSPC : 0, 0};
  });
  const DirectoryLock first = lock_directory(folder_.path());
  EXPECT_TRUE(first.is_open());
  EXPECT_FALSE(lock_directory(folder_.path()).is_open());
}

TEST_P(DirectoryLockWithout, flock_a_subfile_can_be_written) {
  EXPECT_TRUE(try_lock(open_write(folder_ / "data.000")));
}

INSTANTIATE_TEST_SUITE_P(Refused, DirectoryLockWithout, ::testing::Values(ENOSYS, ENOTSUP, ENOLCK));

}  // namespace
}  // namespace octavo::file
