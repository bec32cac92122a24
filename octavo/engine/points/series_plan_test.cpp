#include "octavo/engine/points/series_plan.hpp"

#include <gtest/gtest.h>

#include <map>

#include "octavo/base/error.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::engine {
namespace {

namespace serafin = formats::serafin;

SeriesPlan random_plan(testing::Random& random) {
  serafin::SerafinHeader header;
  header.real_bytes = random.chance(0.5) ? 4 : 8;
  header.points = static_cast<std::int32_t>(100 + random.below(3000));
  header.elements = 7;
  header.variables.resize(1 + random.below(4));
  std::vector<int> ranks(1 + random.below(7));
  for (std::size_t w = 0; w < ranks.size(); ++w) ranks[w] = static_cast<int>(3 * w);
  return plan_series(header, ranks, std::uint64_t{1} << random.below(9));
}

TEST(SeriesPlan, every_byte_of_a_step_has_one_writer_and_every_unit_of_the_file_too) {
  testing::Random random(1);
  for (int trial = 0; trial < 60; ++trial) {
    const SeriesPlan plan = random_plan(random);
    std::map<std::uint64_t, int> writer_of_unit;
    std::vector<int> times(3 * plan.offsets.step_bytes, 0);
    for (std::int64_t step = 0; step < 3; ++step)
      for (int w = 0; w < plan.writers; ++w)
        for (std::size_t v = 0; v < plan.header.variables.size(); ++v)
          for (const SeriesWrite& piece : pieces_of(plan, w, step, v)) {
            ASSERT_LT(piece.begin, piece.end);
            for (std::uint64_t at = piece.begin; at < piece.end; ++at) {
              ++times.at(at - plan.offsets.steps);
              EXPECT_EQ(writer_of_unit.emplace(at / plan.alignment, w).first->second, w);
            }
          }
    EXPECT_EQ(times, std::vector<int>(times.size(), 1)) << to_text(plan);
  }
}

TEST(SeriesPlan, the_mesh_is_shared_evenly_and_no_unit_of_the_file_has_two_writers) {
  testing::Random random(4);
  for (int trial = 0; trial < 60; ++trial) {
    const SeriesPlan plan = random_plan(random);
    for (const std::uint64_t bytes : {plan.offsets.steps, std::uint64_t{1}, plan.alignment}) {
      std::uint64_t begin = 0;
      for (int w = 0; w < plan.writers; ++w) {
        const SeriesWrite piece = mesh_piece(plan, w, bytes);
        EXPECT_EQ(piece.begin, begin);
        EXPECT_EQ(piece.end == bytes ? 0U : piece.end % plan.alignment, 0U);
        const auto writers = static_cast<std::uint64_t>(plan.writers);
        EXPECT_LE(piece.end - piece.begin, bytes / writers + plan.alignment + writers);
        begin = piece.end;
      }
      EXPECT_EQ(begin, bytes);
    }
  }
}

TEST(SeriesPlan, a_writer_needs_the_points_that_stand_in_its_pieces) {
  testing::Random random(2);
  for (int trial = 0; trial < 60; ++trial) {
    const SeriesPlan plan = random_plan(random);
    const auto points = static_cast<std::uint64_t>(plan.header.points);
    for (int w = 0; w < plan.writers; ++w) {
      const PointRange needed = needed_points(plan, w);
      for (const SeriesWrite& piece : pieces_of(plan, w, 5, 0)) {
        const std::uint64_t values = serafin::values_at(plan.header, plan.offsets, 5, 0);
        for (std::uint64_t at = std::max(piece.begin, values); at < piece.end; ++at) {
          const std::uint64_t point = (at - values) / plan.header.real_bytes;
          if (point >= points) break;
          const auto offset = (point + points - static_cast<std::uint64_t>(needed.first)) % points;
          EXPECT_LT(offset, static_cast<std::uint64_t>(needed.count)) << to_text(plan);
        }
      }
    }
  }
}

TEST(SeriesPlan, one_rank_of_each_host_writes_or_so_many_as_are_asked_for) {
  const std::vector<int> hosts{0, 0, 2, 2, 2, 5};
  EXPECT_EQ(writer_ranks(hosts, 0), (std::vector<int>{0, 2, 5}));
  EXPECT_EQ(writer_ranks(hosts, 2), (std::vector<int>{0, 3}));
  EXPECT_EQ(writer_ranks(hosts, 99), (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

TEST(SeriesPlan, a_small_mesh_has_one_writer) {
  serafin::SerafinHeader header;
  header.points = 100;
  header.variables.resize(1);
  EXPECT_EQ(plan_series(header, {0, 1, 2}, 4096).writers, 1);
  EXPECT_THROW(plan_series(header, {0}, 0), base::Error);
  EXPECT_EQ(plan_series(header, {0, 1}, std::uint64_t{1} << 40).writers, 1);
  for (const int bits : {41, 62, 63}) EXPECT_THROW(plan_series(header, {0}, std::uint64_t{1} << bits), base::Error);
}

}  // namespace
}  // namespace octavo::engine
