#include "octavo/file/lustre.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <span>
#include <vector>

#include "octavo/base/error.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::file {
namespace {

using ::testing::HasSubstr;

std::vector<unsigned> numbers(std::span<const std::byte> bytes) {
  std::vector<unsigned> out;
  for (const std::byte byte : bytes) out.push_back(std::to_integer<unsigned>(byte));
  return out;
}

TEST(Lustre, the_request_has_the_bytes_of_lov_user_md_v1) {
  if (std::endian::native != std::endian::little) GTEST_SKIP() << "the bytes below are little-endian";
  const std::vector<unsigned> expected{0xD0, 0x0B, 0xD1, 0x0B,  // lmm_magic, LOV_USER_MAGIC_V1
                                       0,    0,    0,    0,     // lmm_pattern
                                       0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  // lmm_oi
                                       0,    0,    0x40, 0,  // lmm_stripe_size, 4 MiB
                                       8,    0,              // lmm_stripe_count
                                       3,    0};             // lmm_stripe_offset
  EXPECT_EQ(numbers(lov_user_md({8, 4 << 20, 3})), expected);
  const auto all = numbers(lov_user_md({-1, 0, -1}));
  EXPECT_EQ(std::vector<unsigned>(all.begin() + 24, all.end()),
            (std::vector<unsigned>{0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}));
}

struct LustreCallsTest : ::testing::Test {
  void TearDown() override { set_lustre_calls({}); }
  testing::TemporaryFolder folder;
};

TEST_F(LustreCallsTest, elsewhere_nothing_is_asked_for) {
  bool called = false;
  set_lustre_calls({{}, [&](int, unsigned long, const void*) {
                      called = true;
                      return 0;
                    }});
  EXPECT_FALSE(set_striping(folder.path(), {4, 0, -1}));
  EXPECT_FALSE(called);
}

TEST_F(LustreCallsTest, on_lustre_the_directory_gets_the_striping) {
  std::vector<std::byte> asked(32);
  unsigned long request = 0;
  set_lustre_calls({[](int) { return 0x0BD00BD0; },
                    [&](int, unsigned long which, const void* argument) {
                      request = which;
                      std::copy_n(static_cast<const std::byte*>(argument), asked.size(), asked.begin());
                      return 0;
                    }});
  EXPECT_TRUE(set_striping(folder.path(), {4, 1 << 20, -1}));
  EXPECT_EQ(request, 0x4008669AU);  // _IOW('f', 154, long)
  EXPECT_EQ(numbers(asked), numbers(lov_user_md({4, 1 << 20, -1})));
}

TEST_F(LustreCallsTest, a_refusal_is_an_error_that_names_the_directory) {
  set_lustre_calls({[](int) { return 0x0BD00BD0; },
                    [](int, unsigned long, const void*) {
                      errno = ENOSPC;
                      return -1;
                    }});
  EXPECT_THAT(testing::message_of([&] { set_striping(folder.path(), {4, 0, -1}); }), HasSubstr(folder.path().string()));
}

}  // namespace
}  // namespace octavo::file
