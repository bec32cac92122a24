#include "capi/octavo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "octavo/parallel/mpi_run.hpp"

namespace {

using octavo::testing::everyone;
using ::testing::HasSubstr;

int rank() { return octavo::parallel::rank_in(everyone()); }

octavo_writer* open_writer(const std::string& store, octavo_error* error) {
  octavo_domain domain = octavo_domain_default();
  domain.roots[0] = 2;
  octavo_writer* writer = nullptr;
  EXPECT_EQ(octavo_writer_open(everyone(), store.c_str(), &domain, nullptr, nullptr, &writer, error), 0);
  return writer;
}

// Two roots, the first refined; rank 0 owns everything.
struct Tree {
  std::int64_t cells_of_level[2] = {2, 8};
  std::uint8_t refined[10] = {1};
  std::uint8_t owned[10];
  Tree() { std::memset(owned, rank() == 0 ? 1 : 0, sizeof owned); }
};

TEST(CapiMpi, what_is_put_is_read_again) {
  const octavo::testing::SharedDirectory directory;
  octavo_error error;
  octavo_writer* writer = open_writer(directory.path(), &error);
  Tree tree;
  // Every third value, from a larger array.
  std::vector<float> values(30);
  std::iota(values.begin(), values.end(), 0.0F);
  const std::vector<double> position{0.25, 0.5};
  const std::vector<std::int64_t> id{7, 8};
  EXPECT_EQ(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, 12, 3.5, &error), 0);
  octavo_writer_put_int(writer, "cycle", 99, &error);
  octavo_writer_put_double(writer, "dt", 0.125, &error);
  octavo_writer_put_text(writer, "who", "a test", &error);
  octavo_writer_put_mesh(writer, 2, tree.cells_of_level, tree.refined, tree.owned, &error);
  octavo_writer_put_field(writer, "density", "g/cm^3", OCTAVO_FLOAT32, values.data(), 10, 3, OCTAVO_HOST, &error);
  const std::int64_t count = rank() == 0 ? 2 : 0;
  for (const char* name : {"position_x", "position_y", "position_z"})
    octavo_writer_put_particles(writer, "stars", name, OCTAVO_FLOAT64, position.data(), count, 1, OCTAVO_HOST, &error);
  octavo_writer_put_particles(writer, "stars", "id", OCTAVO_INT64, id.data(), count, 1, OCTAVO_HOST, &error);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
  EXPECT_EQ(octavo_writer_wait(writer, &error), 0) << error.message;
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
  EXPECT_EQ(writer, nullptr);

  octavo_restart* restart = nullptr;
  ASSERT_EQ(octavo_restart_open(everyone(), directory.path().c_str(), OCTAVO_CHECKPOINT, -1, &restart, &error), 0)
      << error.message;
  ASSERT_NE(restart, nullptr);
  EXPECT_EQ(octavo_restart_step(restart), 12);
  EXPECT_EQ(octavo_restart_time(restart), 3.5);
  std::int64_t cycle = 0;
  double dt = 0;
  EXPECT_EQ(octavo_restart_get_int(restart, "cycle", &cycle, &error), 0);
  EXPECT_EQ(octavo_restart_get_double(restart, "dt", &dt, &error), 0);
  EXPECT_EQ(cycle, 99);
  EXPECT_EQ(dt, 0.125);
  EXPECT_EQ(octavo_restart_get_int(restart, "dt", &cycle, &error), OCTAVO_USAGE);
  ASSERT_EQ(octavo_restart_levels(restart), 2);
  ASSERT_EQ(octavo_restart_cells(restart), 10);
  Tree read;
  EXPECT_EQ(octavo_restart_mesh(restart, read.cells_of_level, read.refined, read.owned, &error), 0);
  EXPECT_EQ(std::memcmp(read.refined, tree.refined, 10), 0);
  EXPECT_EQ(std::memcmp(read.owned, tree.owned, 10), 0);
  std::vector<float> density(10);
  EXPECT_EQ(octavo_restart_field(restart, "density", OCTAVO_FLOAT32, density.data(), 10, &error), 0);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(density[i], values[3 * i]);
  EXPECT_EQ(octavo_restart_field(restart, "density", OCTAVO_FLOAT64, density.data(), 10, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("expected 10 values of type float32"));
  ASSERT_EQ(octavo_restart_count(restart, "stars"), count);
  EXPECT_EQ(octavo_restart_count(restart, "gas"), 0);
  std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
  EXPECT_EQ(octavo_restart_particles(restart, "stars", "id", OCTAVO_INT64, ids.data(), count, &error), 0);
  if (count > 0) {
    EXPECT_EQ(ids, id);
  }
  octavo_restart_free(&restart);
  EXPECT_EQ(restart, nullptr);
}

TEST(CapiMpi, errors_are_codes_with_a_message_on_all_ranks) {
  const octavo::testing::SharedDirectory directory;
  octavo_error error;
  octavo_writer* writer = open_writer(directory.path(), &error);
  Tree tree;
  const std::vector<double> values(10);
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, 1, 0, &error);
  octavo_writer_put_mesh(writer, 2, tree.cells_of_level, tree.refined, tree.owned, &error);
  // One rank has a value too few.
  const std::int64_t cells = rank() == 0 ? 9 : 10;
  octavo_writer_put_field(writer, "density", nullptr, OCTAVO_FLOAT64, values.data(), cells, 0, OCTAVO_HOST, &error);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE);
  EXPECT_EQ(error.code, OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("expected values for 10 tree cells"));
  EXPECT_THAT(error.message, HasSubstr("field density"));
  EXPECT_EQ(octavo_writer_end_step(writer, nullptr), OCTAVO_USAGE);
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
  EXPECT_EQ(octavo_writer_close(&writer, &error), OCTAVO_USAGE);
}

TEST(CapiMpi, null_and_nonsense_are_refused) {
  const octavo::testing::SharedDirectory directory;
  octavo_error error;
  octavo_writer* writer = nullptr;
  octavo_restart* restart = nullptr;
  const octavo_domain domain = octavo_domain_default();
  EXPECT_EQ(octavo_writer_open(everyone(), nullptr, &domain, nullptr, nullptr, &writer, &error), OCTAVO_USAGE);
  EXPECT_EQ(octavo_writer_open(everyone(), "x", nullptr, nullptr, nullptr, &writer, &error), OCTAVO_USAGE);
  EXPECT_EQ(octavo_writer_begin_step(nullptr, 0, 0, 0, &error), OCTAVO_USAGE);
  EXPECT_EQ(octavo_restart_open(everyone(), directory.path().c_str(), 5, -1, &restart, &error), OCTAVO_USAGE);
  const std::string none = directory.path() / "none";
  EXPECT_EQ(octavo_restart_open(everyone(), none.c_str(), OCTAVO_CHECKPOINT, -1, &restart, &error), 0);
  EXPECT_EQ(restart, nullptr);
  EXPECT_EQ(octavo_restart_open(everyone(), none.c_str(), OCTAVO_CHECKPOINT, 3, &restart, &error), OCTAVO_USAGE);
  writer = open_writer(directory.path(), &error);
  EXPECT_EQ(octavo_writer_begin_step(writer, 2, 0, 0, &error), OCTAVO_USAGE);
  EXPECT_EQ(octavo_writer_put_field(writer, "f", "", 8, nullptr, 0, 0, OCTAVO_HOST, &error), OCTAVO_USAGE);
  EXPECT_EQ(octavo_writer_put_field(writer, "f", "", 0, nullptr, -1, 0, OCTAVO_HOST, &error), OCTAVO_USAGE);
  EXPECT_EQ(octavo_writer_put_field(writer, "f", "", 0, nullptr, 0, 0, 1, &error), OCTAVO_UNSUPPORTED);
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
}

}  // namespace
