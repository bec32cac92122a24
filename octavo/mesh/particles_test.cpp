#include "octavo/mesh/particles.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

constexpr std::int64_t most = (std::int64_t{1} << 39) - 1;

TEST(identity, survives_packing) {
  for (std::int64_t id : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{123456789012}, most, -most})
    for (std::int32_t rank : {0, 1, 65535, (1 << 24) - 1}) {
      const Identity identity = unpack_identity(pack_identity(id, rank));
      EXPECT_EQ(identity.id, id);
      EXPECT_EQ(identity.rank, rank);
    }
}

TEST(identity, is_packed_as_amrex_does) {
  EXPECT_EQ(pack_identity(1, 0), 0x8000000001000000U);
  EXPECT_EQ(pack_identity(-1, 5), 0x0000000001000005U);
  EXPECT_EQ(pack_identity(most, 0xFFFFFF), ~std::uint64_t{0});
}

TEST(identity, what_does_not_fit_is_refused) {
  const auto refused = [](std::int64_t id, std::int32_t rank) {
    try {
      pack_identity(id, rank);
      return false;
    } catch (const base::Error& error) {
      return error.kind() == base::Kind::unsupported;
    }
  };
  EXPECT_TRUE(refused(most + 1, 0));
  EXPECT_TRUE(refused(-most - 1, 0));
  EXPECT_TRUE(refused(std::numeric_limits<std::int64_t>::min(), 0));
  EXPECT_TRUE(refused(1, -1));
  EXPECT_TRUE(refused(1, 1 << 24));
}

}  // namespace
}  // namespace octavo::mesh
