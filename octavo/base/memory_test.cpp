#include "octavo/base/memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/support/error_of.hpp"

namespace octavo::base {
namespace {

using octavo::testing::error_of;

struct Limit : ::testing::Test {
  ~Limit() override { set_memory_limit(0); }
};

TEST_F(Limit, IsFourFifthsOfWhatIsFreeUnlessItIsSet) {
  const double free = static_cast<double>(free_memory());
  EXPECT_GT(free, 0);
  EXPECT_NEAR(static_cast<double>(memory_limit()), 0.8 * free, 0.2 * free);  // other processes use memory, too
  set_memory_limit(1000);
  EXPECT_EQ(memory_limit(), 1000u);
}

TEST_F(Limit, MoreThanItIsAnErrorThatSaysHowMuch) {
  set_memory_limit(1000);
  need_memory(1000, "reading a part");
  const Error error = error_of([] { need_memory(1001, "reading a part"); });
  EXPECT_EQ(error.kind(), Kind::no_space);
  EXPECT_EQ(error.message(), "reading a part takes 1001 bytes of memory, the limit is 1000");
}

TEST_F(Limit, OfAddressSpaceCountsToo) {
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  struct rlimit little = before;
  little.rlim_cur = rlim_t{1} << 40;
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &little), 0);
  EXPECT_LE(free_memory(), std::uint64_t{1} << 40);
  little.rlim_cur = 1;
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &little), 0);
  const std::uint64_t none = free_memory();
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(none, 0u);
}

TEST_F(Limit, ThreadsAreAsManyAsFindTheirMemory) {
  set_memory_limit(1000);
  EXPECT_EQ(threads_within_memory(8, 0), 8);
  EXPECT_EQ(threads_within_memory(8, 100), 8);
  EXPECT_EQ(threads_within_memory(8, 300), 3);
  EXPECT_EQ(threads_within_memory(8, 2000), 1);
  EXPECT_EQ(threads_within_memory(1, 2000), 1);
}

}  // namespace
}  // namespace octavo::base
