#include "capi/octavo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <numeric>

#include "octavo/engine/options.hpp"
#include "tests/support/mpi_run.hpp"

namespace {

using octavo::testing::everyone;
using ::testing::HasSubstr;

int rank() { return octavo::ranks::rank_in(everyone()); }

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
  const std::int64_t sizes[] = {3, -4};
  const double reals[] = {0.5, 1e300, -0.0};
  const char* names[] = {"one", "", "three"};
  octavo_writer_put_ints(writer, "sizes", sizes, 2, &error);
  octavo_writer_put_doubles(writer, "reals", reals, 3, &error);
  octavo_writer_put_texts(writer, "names", names, 3, &error);
  octavo_writer_put_doubles(writer, "empty", nullptr, 0, &error);
  octavo_writer_put_mesh(writer, 2, tree.cells_of_level, tree.refined, tree.owned, &error);
  octavo_writer_put_field(writer, "density", "g/cm^3", OCTAVO_FLOAT32, values.data(), 10, 3, OCTAVO_HOST, &error);
  const std::int64_t count = rank() == 0 ? 2 : 0;
  for (const char* name : {"position_x", "position_y", "position_z"})
    octavo_writer_put_particles(writer, "stars", name, OCTAVO_FLOAT64, position.data(), count, 1, OCTAVO_HOST, &error);
  octavo_writer_put_particles(writer, "stars", "id", OCTAVO_INT64, id.data(), count, 1, OCTAVO_HOST, &error);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
  EXPECT_EQ(octavo_writer_wait(writer, &error), 0) << error.message;
  int due = 0;
  EXPECT_EQ(octavo_writer_due(writer, OCTAVO_CHECKPOINT, 13, 4, &due, &error), 0);
  EXPECT_EQ(due, 1);
  char text[2048];
  EXPECT_EQ(octavo_writer_statistics(writer, text, sizeof text, &error), 0) << error.message;
  EXPECT_THAT(text, HasSubstr("{\"rank\": {\"steps\": 1, "));
  EXPECT_THAT(text, HasSubstr("\"total\": {\"steps\": "));
  EXPECT_EQ(octavo_writer_statistics(writer, text, 20, &error), OCTAVO_USAGE);
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
  EXPECT_EQ(writer, nullptr);
  std::int64_t steps[4] = {}, number = 0;
  double times[4] = {};
  EXPECT_EQ(octavo_list_steps(directory.path().c_str(), OCTAVO_CHECKPOINT, 4, steps, times, &number, &error), 0);
  EXPECT_EQ(number, 1);
  EXPECT_EQ(steps[0], 12);
  EXPECT_EQ(times[0], 3.5);
  EXPECT_EQ(octavo_list_steps(directory.path().c_str(), OCTAVO_ANALYSIS, 0, nullptr, nullptr, &number, &error), 0);
  EXPECT_EQ(number, 0);

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
  std::int64_t read_sizes[2];
  double read_reals[3];
  EXPECT_EQ(octavo_restart_attribute_count(restart, "sizes"), 2);
  EXPECT_EQ(octavo_restart_get_ints(restart, "sizes", read_sizes, 2, &error), 0);
  EXPECT_EQ(read_sizes[1], -4);
  EXPECT_EQ(octavo_restart_get_ints(restart, "cycle", read_sizes, 1, &error), 0);
  EXPECT_EQ(read_sizes[0], 99);
  EXPECT_EQ(octavo_restart_get_doubles(restart, "reals", read_reals, 3, &error), 0);
  EXPECT_EQ(std::memcmp(read_reals, reals, sizeof reals), 0);
  EXPECT_EQ(octavo_restart_get_doubles(restart, "reals", read_reals, 2, &error), OCTAVO_USAGE);
  EXPECT_EQ(octavo_restart_attribute_count(restart, "names"), 3);
  EXPECT_EQ(octavo_restart_get_text(restart, "names", 2, text, sizeof text, &error), 0);
  EXPECT_STREQ(text, "three");
  EXPECT_EQ(octavo_restart_get_text(restart, "who", 0, text, sizeof text, &error), 0);
  EXPECT_STREQ(text, "a test");
  EXPECT_EQ(octavo_restart_get_text(restart, "names", 3, text, sizeof text, &error), OCTAVO_USAGE);
  EXPECT_EQ(octavo_restart_attribute_count(restart, "empty"), 0);
  EXPECT_EQ(octavo_restart_attribute_count(restart, "nothing"), -1);
  ASSERT_EQ(octavo_restart_num_fields(restart), 5);
  octavo_field_info info;
  EXPECT_EQ(octavo_restart_field_info(restart, 0, &info, &error), 0);
  EXPECT_STREQ(info.name, "density");
  EXPECT_STREQ(info.unit, "g/cm^3");
  EXPECT_STREQ(info.species, "");
  EXPECT_EQ(info.type, OCTAVO_FLOAT32);
  EXPECT_EQ(octavo_restart_field_info(restart, 4, &info, &error), 0);
  EXPECT_STREQ(info.name, "id");
  EXPECT_STREQ(info.species, "stars");
  EXPECT_EQ(octavo_restart_field_info(restart, 5, &info, &error), OCTAVO_USAGE);
  ASSERT_EQ(octavo_restart_levels(restart), 2);
  ASSERT_EQ(octavo_restart_cells(restart), 10);
  Tree read;
  EXPECT_EQ(octavo_restart_mesh(restart, read.cells_of_level, read.refined, read.owned, &error), 0);
  EXPECT_EQ(std::memcmp(read.refined, tree.refined, 10), 0);
  EXPECT_EQ(std::memcmp(read.owned, tree.owned, 10), 0);
  std::vector<float> density(10);
  EXPECT_EQ(octavo_restart_field(restart, "density", OCTAVO_FLOAT32, density.data(), 10, &error), 0);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(density[i], values[3 * i]);
  std::vector<double> wider(10);
  EXPECT_EQ(octavo_restart_field(restart, "density", OCTAVO_FLOAT64, wider.data(), 10, &error), 0) << error.message;
  EXPECT_TRUE(std::equal(wider.begin(), wider.end(), density.begin()));
  EXPECT_EQ(octavo_restart_field(restart, "density", OCTAVO_INT32, density.data(), 10, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("expected 10 values of type float32"));
  EXPECT_EQ(octavo_restart_field(restart, "density", OCTAVO_FLOAT64, wider.data(), 9, &error), OCTAVO_USAGE);
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

TEST(CapiMpi, a_failed_restart_is_remembered_and_forgotten) {
  if (!octavo::engine::reads_toml()) GTEST_SKIP() << "built without toml++";
  const octavo::testing::SharedDirectory directory;
  const std::string options = directory.path() / "octavo.toml";
  if (rank() == 0) std::ofstream(options) << "remember_failed_restarts = true\n";
  MPI_Barrier(everyone());
  octavo_error error;
  octavo_writer* writer = open_writer(directory.path() / "run", &error);
  Tree tree;
  for (std::int64_t step : {1, 2}) {
    octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, step, 0, &error);
    octavo_writer_put_mesh(writer, 2, tree.cells_of_level, tree.refined, tree.owned, &error);
    EXPECT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
  }
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
  const std::string store = directory.path() / "run";
  const auto newest = [&] {
    octavo_restart* from = nullptr;
    EXPECT_EQ(octavo_restart_open_with(everyone(), store.c_str(), options.c_str(), 0, -1, &from, &error), 0)
        << error.message;
    const std::int64_t step = octavo_restart_step(from);
    if (step == 1) {
      EXPECT_THAT(octavo_restart_note(from, 0), HasSubstr("left out: a run has started from checkpoint step 2"));
    }
    EXPECT_EQ(octavo_restart_note(from, 9), nullptr);
    EXPECT_EQ(octavo_restart_failed(everyone(), store.c_str(), from, &error), 0) << error.message;
    octavo_restart_free(&from);
    return step;
  };
  EXPECT_EQ(newest(), 2);
  EXPECT_EQ(newest(), 1);
  MPI_Barrier(everyone());
  if (rank() == 0) {
    EXPECT_EQ(octavo_forget_failed_restarts(store.c_str(), &error), 0);
  }
  MPI_Barrier(everyone());
  EXPECT_EQ(newest(), 2);
  EXPECT_EQ(octavo_restart_failed(everyone(), store.c_str(), nullptr, &error), OCTAVO_USAGE);
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
  EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE);  // the first of them
  EXPECT_THAT(error.message, HasSubstr("flow: expected 0 or 1, found 2"));
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
}

TEST(CapiMpi, a_good_begin_step_makes_up_for_a_failed_one) {
  const octavo::testing::SharedDirectory directory;
  octavo_error error;
  octavo_writer* writer = open_writer(directory.path(), &error);
  Tree tree;
  const std::vector<double> values(10);
  if (rank() == 0) {
    EXPECT_EQ(octavo_writer_begin_step(writer, 2, 1, 0, &error), OCTAVO_USAGE);
  }
  EXPECT_EQ(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, 1, 0, &error), 0) << error.message;
  octavo_writer_put_mesh(writer, 2, tree.cells_of_level, tree.refined, tree.owned, &error);
  octavo_writer_put_field(writer, "density", "", OCTAVO_FLOAT64, values.data(), 10, 1, OCTAVO_HOST, &error);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
  // Where none follows, the others are told in end_step and in close.
  if (rank() == 0) {
    EXPECT_EQ(octavo_writer_begin_step(writer, 3, 2, 0, &error), OCTAVO_USAGE);
  }
  EXPECT_EQ(octavo_writer_close(&writer, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("flow: expected 0 or 1, found 3"));
  std::int64_t steps = 0;
  EXPECT_EQ(octavo_list_steps(directory.path().c_str(), OCTAVO_CHECKPOINT, 0, nullptr, nullptr, &steps, &error), 0);
  EXPECT_EQ(steps, 1);
}

// Rank 0 puts a value of its number on each of the 10 cells.
void write_tree(const std::string& store) {
  octavo_error error;
  octavo_writer* writer = open_writer(store, &error);
  Tree tree;
  std::vector<double> values(10);
  std::iota(values.begin(), values.end(), 0.0);
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, 1, 0, &error);
  octavo_writer_put_mesh(writer, 2, tree.cells_of_level, tree.refined, tree.owned, &error);
  octavo_writer_put_field(writer, "density", "", OCTAVO_FLOAT64, values.data(), 10, 1, OCTAVO_HOST, &error);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
}

octavo_restart* share_of(const std::string& store, const octavo_restart_options& options, int code = 0) {
  octavo_error error;
  octavo_restart* restart = nullptr;
  EXPECT_EQ(octavo_restart_open_as(everyone(), store.c_str(), &options, &restart, &error), code) << error.message;
  return restart;
}

double sum_of_all(double mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, everyone());
  return mine;
}

std::vector<double> density_of(const octavo_restart* restart) {
  octavo_error error;
  std::vector<double> density(static_cast<std::size_t>(octavo_restart_values(restart)));
  EXPECT_EQ(octavo_restart_field(restart, "density", OCTAVO_FLOAT64, density.data(), std::ssize(density), &error), 0)
      << error.message;
  return density;
}

TEST(CapiMpi, a_share_can_be_of_a_finer_mesh) {
  const octavo::testing::SharedDirectory directory;
  write_tree(directory.path());
  octavo_restart_options options = octavo_restart_options_default();
  options.refine = 1;
  options.constant = 1;
  octavo_restart* restart = share_of(directory.path(), options);
  octavo_error error;
  const auto levels = static_cast<std::size_t>(octavo_restart_levels(restart));
  const auto cells = static_cast<std::size_t>(octavo_restart_cells(restart));
  std::vector<std::int64_t> of_level(levels);
  std::vector<std::uint8_t> refined(cells), owned(cells);
  EXPECT_EQ(octavo_restart_mesh(restart, of_level.data(), refined.data(), owned.data(), &error), 0);
  const std::vector<double> density = density_of(restart);
  double sum = 0;
  for (std::size_t i = 0; i < cells; ++i)
    if (owned[i] != 0 && refined[i] == 0) sum += density[i];
  // The second root, 1, and 8 times the cells 2 ... 9.
  EXPECT_EQ(sum_of_all(sum), 1 + 8 * 44);
  EXPECT_EQ(octavo_restart_boxes(restart, nullptr, nullptr, nullptr, nullptr, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("octavo_restart_mesh"));
  EXPECT_EQ(octavo_restart_num_boxes(restart), 0);
  octavo_restart_free(&restart);
}

TEST(CapiMpi, a_share_can_be_of_other_blocks) {
  const octavo::testing::SharedDirectory directory;
  write_tree(directory.path());
  octavo_restart_options options = octavo_restart_options_default();
  for (std::int64_t& cells : options.block) cells = 2;
  EXPECT_EQ(share_of(directory.path(), options, OCTAVO_UNSUPPORTED), nullptr);
  options.fill = 1;
  octavo_restart* restart = share_of(directory.path(), options);
  octavo_domain domain;
  std::int64_t block[3] = {};
  octavo_error error;
  EXPECT_EQ(octavo_restart_domain(restart, &domain, block, &error), 0);
  EXPECT_EQ(domain.dim, 3);
  EXPECT_EQ(domain.roots[0], 2);
  EXPECT_EQ(block[2], 2);
  EXPECT_EQ(octavo_restart_values(restart), 8 * octavo_restart_cells(restart));
  octavo_restart_free(&restart);
}

TEST(CapiMpi, a_share_can_be_boxes) {
  const octavo::testing::SharedDirectory directory;
  write_tree(directory.path());
  octavo_restart_options options = octavo_restart_options_default();
  options.boxes = 1;
  options.particles = 0;
  const char* fields[] = {"density"};
  options.fields = fields;
  options.num_fields = 1;
  octavo_restart* restart = share_of(directory.path(), options);
  const auto levels = static_cast<std::size_t>(octavo_restart_levels(restart));
  EXPECT_EQ(levels, 2u);
  std::vector<std::int64_t> domain(6 * levels), of_level(levels),
      boxes(6 * static_cast<std::size_t>(octavo_restart_num_boxes(restart)));
  std::vector<int> ratio(levels - 1);
  octavo_error error;
  EXPECT_EQ(octavo_restart_boxes(restart, domain.data(), ratio.data(), of_level.data(), boxes.data(), &error), 0);
  EXPECT_EQ(ratio[0], 2);
  EXPECT_EQ(domain[9], 4);  // the upper corner of level 1 along x
  std::int64_t cells = 0;
  for (std::size_t b = 0; b < boxes.size(); b += 6)
    cells += (boxes[b + 3] - boxes[b]) * (boxes[b + 4] - boxes[b + 1]) * (boxes[b + 5] - boxes[b + 2]);
  EXPECT_EQ(cells, octavo_restart_values(restart));
  const std::vector<double> density = density_of(restart);
  EXPECT_EQ(sum_of_all(std::accumulate(density.begin(), density.end(), 0.0)), 45);
  EXPECT_EQ(octavo_restart_mesh(restart, of_level.data(), nullptr, nullptr, &error), OCTAVO_USAGE);
  octavo_restart_free(&restart);
}

}  // namespace
