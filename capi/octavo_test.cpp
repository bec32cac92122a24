#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <numeric>

#include "capi/objects.hpp"
#include "capi/test_arrays.hpp"
#include "octavo/engine/options.hpp"
#include "tests/support/mpi_run.hpp"

namespace {

using octavo::testing::everyone;
using octavo::testing::get_packed;
using octavo::testing::info_of;
using octavo::testing::put_int;
using octavo::testing::put_packed;
using octavo::testing::put_particles;
using octavo::testing::put_tree;
using octavo::testing::rank;
using ::testing::HasSubstr;

octavo_writer* open_writer(const std::string& store, octavo_error* error) {
  octavo_domain domain = octavo_domain_default();
  domain.roots[0] = 2;
  octavo_target target = octavo_target_default(OCTAVO_STORE);
  target.path = store.c_str();
  octavo_writer* writer = nullptr;
  EXPECT_EQ(octavo_writer_open(everyone(), &target, &domain, &writer, error), 0);
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
  EXPECT_EQ(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 12, 3.5, &error), 0);
  put_int(writer, "cycle", 99, &error);
  const double time_step = 0.125;
  const char* who = "a test";
  octavo_writer_put_attribute(writer, "dt", OCTAVO_FLOAT64, &time_step, OCTAVO_SCALAR, &error);
  octavo_writer_put_attribute(writer, "who", OCTAVO_TEXT, &who, OCTAVO_SCALAR, &error);
  const std::int64_t sizes[] = {3, -4};
  const double reals[] = {0.5, 1e300, -0.0};
  const char* names[] = {"one", "", "three"};
  octavo_writer_put_attribute(writer, "sizes", OCTAVO_INT64, sizes, 2, &error);
  octavo_writer_put_attribute(writer, "reals", OCTAVO_FLOAT64, reals, 3, &error);
  octavo_writer_put_attribute(writer, "names", OCTAVO_TEXT, names, 3, &error);
  octavo_writer_put_attribute(writer, "empty", OCTAVO_FLOAT64, nullptr, 0, &error);
  put_tree(writer, 2, tree.cells_of_level, tree.refined, tree.owned, &error);
  const octavo_array third = octavo::testing::every(3, OCTAVO_FLOAT32, values.data(), 10);
  octavo_writer_put_field(writer, "density", "g/cm^3", &third, &error);
  const std::int64_t count = rank() == 0 ? 2 : 0;
  for (const char* name : {"position_x", "position_y", "position_z"})
    put_particles(writer, name, OCTAVO_FLOAT64, position.data(), count, &error);
  put_particles(writer, "id", OCTAVO_INT64, id.data(), count, &error);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
  EXPECT_EQ(octavo_writer_wait(writer, &error), 0) << error.message;
  int due = 0;
  EXPECT_EQ(octavo_writer_due(writer, OCTAVO_CHECKPOINT, 13, 4, &due, &error), 0);
  EXPECT_EQ(due, 1);
  char text[2048];
  EXPECT_EQ(octavo_writer_get_statistics(writer, text, sizeof text, &error), 0) << error.message;
  EXPECT_THAT(text, HasSubstr("{\"rank\": {\"steps\": 1, "));
  EXPECT_THAT(text, HasSubstr("\"total\": {\"steps\": "));
  EXPECT_EQ(octavo_writer_get_statistics(writer, text, 20, &error), OCTAVO_USAGE);
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

  octavo_box box = octavo_box_default();
  box.level = 1;
  std::fill_n(box.upper, 3, 2);
  const char *known = "density", *misspelt = "densty";
  std::vector<double> cells(27, -1);  // a ghost at each lower side: strides of 3
  octavo_array memory = octavo_array_packed(OCTAVO_FLOAT64, &cells[13], 1);
  memory.stride[0] = 1;
  memory.stride[1] = 3;
  memory.stride[2] = 9;
  std::int64_t missing = -1;
  EXPECT_EQ(octavo_read_box(directory.path().c_str(), &box, 1, &known, &memory, &missing, &error), 0) << error.message;
  EXPECT_EQ(missing, 0);
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_EQ(cells[13 + i % 2 + 3 * (i / 2 % 2) + 9 * (i / 4)], double(values[3 * (2 + i)])) << i;
  EXPECT_EQ(std::count(cells.begin(), cells.end(), -1.0), 27 - 8);
  box.lower[0] = 2;
  box.upper[0] = 4;  // a coarser leaf
  EXPECT_EQ(octavo_read_box(directory.path().c_str(), &box, 1, &known, &memory, &missing, &error), 0) << error.message;
  EXPECT_EQ(std::count(cells.begin(), cells.end(), double(values[3])), 8);
  memory.type = OCTAVO_INT32;
  EXPECT_EQ(octavo_read_box(directory.path().c_str(), &box, 1, &known, &memory, nullptr, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("expected values of float32, found int32"));
  memory.type = OCTAVO_FLOAT64;
  box.upper[1] = 3;
  EXPECT_EQ(octavo_read_box(directory.path().c_str(), &box, 1, &known, &memory, nullptr, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("which level 1 has"));
  box.upper[1] = 2;
  EXPECT_EQ(octavo_read_box(directory.path().c_str(), &box, 1, &misspelt, &memory, nullptr, &error), OCTAVO_USAGE);

  octavo_restart* restart = nullptr;
  ASSERT_EQ(octavo_restart_open(everyone(), directory.path().c_str(), nullptr, &restart, &error), 0) << error.message;
  ASSERT_NE(restart, nullptr);
  EXPECT_EQ(info_of(restart).step, 12);
  EXPECT_EQ(info_of(restart).time, 3.5);
  std::int64_t cycle = 0;
  double dt = 0;
  const auto get = [&](const char* name, octavo_type type, void* to, std::int64_t count) {
    return octavo_restart_get_attribute(restart, name, type, to, count, &error);
  };
  EXPECT_EQ(get("cycle", OCTAVO_INT64, &cycle, 1), 0);
  EXPECT_EQ(get("dt", OCTAVO_FLOAT64, &dt, 1), 0);
  EXPECT_EQ(cycle, 99);
  EXPECT_EQ(dt, 0.125);
  EXPECT_EQ(get("dt", OCTAVO_INT64, &cycle, 1), OCTAVO_USAGE);
  EXPECT_EQ(get("dt", OCTAVO_FLOAT32, &dt, 1), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("attribute dt"));
  std::int64_t read_sizes[2];
  double read_reals[3];
  EXPECT_EQ(octavo_restart_get_attribute_count(restart, "sizes"), 2);
  EXPECT_EQ(get("sizes", OCTAVO_INT64, read_sizes, 2), 0);
  EXPECT_EQ(read_sizes[1], -4);
  EXPECT_EQ(get("reals", OCTAVO_FLOAT64, read_reals, 3), 0);
  EXPECT_EQ(std::memcmp(read_reals, reals, sizeof reals), 0);
  EXPECT_EQ(get("reals", OCTAVO_FLOAT64, read_reals, 2), OCTAVO_USAGE);
  const char* texts[3];
  EXPECT_EQ(octavo_restart_get_attribute_count(restart, "names"), 3);
  EXPECT_EQ(get("names", OCTAVO_TEXT, texts, 3), 0);
  EXPECT_STREQ(texts[2], "three");
  EXPECT_EQ(get("who", OCTAVO_TEXT, texts, 1), 0);
  EXPECT_STREQ(texts[0], "a test");
  EXPECT_EQ(get("names", OCTAVO_TEXT, texts, 4), OCTAVO_USAGE);
  EXPECT_EQ(octavo_restart_get_attribute_count(restart, "empty"), 0);
  EXPECT_EQ(octavo_restart_get_attribute_count(restart, "nothing"), -1);
  ASSERT_EQ(info_of(restart).num_fields, 5);
  octavo_field_info info = octavo_field_info_default();
  EXPECT_EQ(octavo_restart_get_field_info(restart, 0, &info, &error), 0);
  EXPECT_STREQ(info.name, "density");
  EXPECT_STREQ(info.unit, "g/cm^3");
  EXPECT_STREQ(info.species, "");
  EXPECT_EQ(info.type, OCTAVO_FLOAT32);
  EXPECT_EQ(octavo_restart_get_field_info(restart, 4, &info, &error), 0);
  EXPECT_STREQ(info.name, "id");
  EXPECT_STREQ(info.species, "stars");
  EXPECT_EQ(info.count, count);
  EXPECT_EQ(octavo_restart_get_field_info(restart, 5, &info, &error), OCTAVO_USAGE);
  ASSERT_EQ(info_of(restart).mesh, OCTAVO_MESH_TREE);
  ASSERT_EQ(info_of(restart).levels, 2);
  ASSERT_EQ(info_of(restart).cells, 10);
  octavo_tree read = octavo_tree_default();
  EXPECT_EQ(octavo_restart_get_tree(restart, &read, &error), 0);
  EXPECT_EQ(read.levels, 2);
  EXPECT_EQ(read.cells_of_level[1], 8);
  EXPECT_EQ(read.num_intervals, 0);
  EXPECT_EQ(std::memcmp(read.refined, tree.refined, 10), 0);
  EXPECT_EQ(std::memcmp(read.owned, tree.owned, 10), 0);
  std::vector<float> density(10);
  EXPECT_EQ(get_packed(restart, "density", OCTAVO_FLOAT32, density.data(), 10, &error), 0);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(density[i], values[3 * i]);
  std::vector<double> wider(10);
  EXPECT_EQ(get_packed(restart, "density", OCTAVO_FLOAT64, wider.data(), 10, &error), 0) << error.message;
  EXPECT_TRUE(std::equal(wider.begin(), wider.end(), density.begin()));
  EXPECT_EQ(get_packed(restart, "density", OCTAVO_INT32, density.data(), 10, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("expected 10 values of type float32"));
  EXPECT_EQ(get_packed(restart, "density", OCTAVO_FLOAT64, wider.data(), 9, &error), OCTAVO_USAGE);
  ASSERT_EQ(octavo_restart_get_particle_count(restart, "stars"), count);
  EXPECT_EQ(octavo_restart_get_particle_count(restart, "gas"), 0);
  std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
  const octavo_array to = octavo_array_packed(OCTAVO_INT64, ids.data(), count);
  EXPECT_EQ(octavo_restart_get_particles(restart, "stars", "id", &to, &error), 0);
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
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 1, 0, &error);
  put_tree(writer, 2, tree.cells_of_level, tree.refined, tree.owned, &error);
  // One rank lacks a value.
  const std::int64_t cells = rank() == 0 ? 9 : 10;
  put_packed(writer, "density", OCTAVO_FLOAT64, values.data(), cells, &error);
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
  int any = -1;
  std::int64_t durable = 7;
  EXPECT_EQ(octavo_writer_newest_safe(writer, OCTAVO_CHECKPOINT, OCTAVO_SAFE_LOCAL, &any, &durable, &error), 0)
      << error.message;
  EXPECT_TRUE(any == 0 && durable == 7);
  for (std::int64_t step : {1, 2}) {
    octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, step, 0, &error);
    put_tree(writer, 2, tree.cells_of_level, tree.refined, tree.owned, &error);
    EXPECT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
  }
  EXPECT_EQ(octavo_writer_wait(writer, &error), 0) << error.message;
  EXPECT_EQ(octavo_writer_newest_safe(writer, OCTAVO_CHECKPOINT, OCTAVO_SAFE_LOCAL, &any, &durable, &error), 0)
      << error.message;
  EXPECT_TRUE(any == 1 && durable == 2);
  for (const octavo_safety safety :
       {OCTAVO_SAFE_LOCAL, OCTAVO_SAFE_PARTNER, OCTAVO_SAFE_XOR, OCTAVO_SAFE_RS, OCTAVO_SAFE_STORE}) {
    any = 0;
    EXPECT_EQ(octavo_writer_newest_safe(writer, OCTAVO_CHECKPOINT, safety, &any, &durable, &error), 0) << error.message;
    EXPECT_TRUE(any == 1 && durable == 2);
  }
  EXPECT_EQ(octavo_writer_newest_safe(writer, OCTAVO_CHECKPOINT, static_cast<octavo_safety>(5), &any, &durable, &error),
            2);
  EXPECT_STREQ(error.message, "safety: expected 0 to 4, found 5");
  EXPECT_EQ(octavo_writer_newest_safe(writer, OCTAVO_ANALYSIS, OCTAVO_SAFE_LOCAL, &any, &durable, &error), 0)
      << error.message;
  EXPECT_EQ(any, 0);
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
  const std::string store = directory.path() / "run";
  const auto newest = [&] {
    octavo_restart* from = nullptr;
    octavo_restart_options wanted = octavo_restart_options_default();
    wanted.options = options.c_str();
    EXPECT_EQ(octavo_restart_open(everyone(), store.c_str(), &wanted, &from, &error), 0) << error.message;
    const octavo_restart_info info = info_of(from);
    const std::int64_t step = info.step;
    EXPECT_EQ(info.num_notes > 0, step == 1);
    if (step == 1) {
      EXPECT_THAT(info.notes[0], HasSubstr("left out: a run has started from checkpoint step 2"));
    }
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
  octavo_target target = octavo_target_default(OCTAVO_STORE);
  EXPECT_EQ(octavo_writer_open(everyone(), &target, &domain, &writer, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("path is NULL"));
  target.path = "x";
  EXPECT_EQ(octavo_writer_open(everyone(), &target, nullptr, &writer, &error), OCTAVO_USAGE);
  target.kind = static_cast<octavo_kind>(9);
  EXPECT_EQ(octavo_writer_open(everyone(), &target, &domain, &writer, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("kind: expected 0 to 5, found 9"));
  EXPECT_EQ(octavo_writer_begin_step(nullptr, OCTAVO_CHECKPOINT, nullptr, 0, 0, &error), OCTAVO_USAGE);
  octavo_restart_options wanted = octavo_restart_options_default();
  wanted.flow = static_cast<octavo_flow>(5);
  EXPECT_EQ(octavo_restart_open(everyone(), directory.path().c_str(), &wanted, &restart, &error), OCTAVO_USAGE);
  const std::string none = directory.path() / "none";
  EXPECT_EQ(octavo_restart_open(everyone(), none.c_str(), nullptr, &restart, &error), 0);
  EXPECT_EQ(restart, nullptr);
  wanted = octavo_restart_options_default();
  wanted.step = 3;
  EXPECT_EQ(octavo_restart_open(everyone(), none.c_str(), &wanted, &restart, &error), OCTAVO_USAGE);
  writer = open_writer(directory.path(), &error);
  EXPECT_EQ(octavo_writer_begin_step(writer, static_cast<octavo_flow>(2), nullptr, 0, 0, &error), OCTAVO_USAGE);
  EXPECT_EQ(put_packed(writer, "f", static_cast<octavo_type>(12), nullptr, 0, &error), OCTAVO_USAGE);
  EXPECT_EQ(put_packed(writer, "f", OCTAVO_FLOAT64, nullptr, -1, &error), OCTAVO_USAGE);
  octavo_array elsewhere = octavo_array_packed(OCTAVO_FLOAT64, nullptr, 0);
  elsewhere.space = static_cast<octavo_space>(2);
  EXPECT_EQ(octavo_writer_put_field(writer, "f", "", &elsewhere, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("space: expected 0 or 1, found 2"));
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
    EXPECT_EQ(octavo_writer_begin_step(writer, static_cast<octavo_flow>(2), nullptr, 1, 0, &error), OCTAVO_USAGE);
  }
  EXPECT_EQ(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 1, 0, &error), 0) << error.message;
  put_tree(writer, 2, tree.cells_of_level, tree.refined, tree.owned, &error);
  put_packed(writer, "density", OCTAVO_FLOAT64, values.data(), 10, &error);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
  // If no begin_step follows, end_step and close tell the other ranks.
  if (rank() == 0) {
    EXPECT_EQ(octavo_writer_begin_step(writer, static_cast<octavo_flow>(3), nullptr, 2, 0, &error), OCTAVO_USAGE);
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
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 1, 0, &error);
  put_tree(writer, 2, tree.cells_of_level, tree.refined, tree.owned, &error);
  put_packed(writer, "density", OCTAVO_FLOAT64, values.data(), 10, &error);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
}

octavo_restart* share_of(const std::string& store, const octavo_restart_options& options, int code = 0) {
  octavo_error error;
  octavo_restart* restart = nullptr;
  EXPECT_EQ(octavo_restart_open(everyone(), store.c_str(), &options, &restart, &error), code) << error.message;
  return restart;
}

double sum_of_all(double mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, everyone());
  return mine;
}

TEST(CapiMpi, a_share_can_be_of_a_finer_mesh) {
  const octavo::testing::SharedDirectory directory;
  write_tree(directory.path());
  octavo_restart_options options = octavo_restart_options_default();
  options.refine = 1;
  options.constant = 1;
  octavo_restart* restart = share_of(directory.path(), options);
  octavo_error error;
  octavo_tree tree = octavo_tree_default();
  EXPECT_EQ(octavo_restart_get_tree(restart, &tree, &error), 0);
  const std::vector<double> density = octavo::testing::field_of(restart, "density");
  double sum = 0;
  for (std::size_t i = 0; i < density.size(); ++i)
    if (tree.owned[i] != 0 && tree.refined[i] == 0) sum += density[i];
  // The second root, 1, and 8 times the cells 2 ... 9.
  EXPECT_EQ(sum_of_all(sum), 1 + 8 * 44);
  octavo_boxes boxes = octavo_boxes_default();
  EXPECT_EQ(octavo_restart_get_boxes(restart, &boxes, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("octavo_restart_get_tree"));
  EXPECT_EQ(info_of(restart).boxes, 0);
  octavo_restart_free(&restart);
}

TEST(CapiMpi, a_field_that_is_given_once_leaves_the_restart) {
  const octavo::testing::SharedDirectory directory;
  write_tree(directory.path());
  octavo_restart_options options = octavo_restart_options_default();
  octavo_restart* restart = share_of(directory.path(), options);
  const std::vector<double> kept = octavo::testing::field_of(restart, "density");
  EXPECT_EQ(octavo::testing::field_of(restart, "density"), kept);
  octavo_restart_free(&restart);
  options.once = 1;
  restart = share_of(directory.path(), options);
  EXPECT_EQ(octavo::testing::field_of(restart, "density"), kept);
  for (const octavo::mesh::Field& field : restart->value.part.fields)
    EXPECT_EQ(field.bytes.capacity() == 0, field.info.name == "density") << field.info.name;
  std::vector<double> again(kept.size() + 1);
  octavo_error error;
  const octavo_array array = octavo_array_packed(OCTAVO_FLOAT64, again.data(), static_cast<int64_t>(kept.size()));
  EXPECT_EQ(octavo_restart_get_field(restart, "density", &array, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("density was given already"));
  octavo_field_info info = octavo_field_info_default();
  EXPECT_EQ(octavo_restart_get_field_info(restart, 0, &info, &error), 0);
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
  const octavo_restart_info info = info_of(restart);
  EXPECT_EQ(info.domain->dim, 3);
  EXPECT_EQ(info.domain->roots[0], 2);
  EXPECT_EQ(info.domain->block[2], 2);
  EXPECT_EQ(info.values, 8 * info.cells);
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
  octavo_boxes all = octavo_boxes_default();
  octavo_error error;
  EXPECT_EQ(octavo_restart_get_boxes(restart, &all, &error), 0);
  ASSERT_EQ(all.levels, 2);
  EXPECT_EQ(all.ratio[0], 2);
  EXPECT_EQ(all.domain[9], 4);  // the upper corner of level 1 along x
  const octavo_restart_info info = info_of(restart);
  EXPECT_EQ(info.mesh, OCTAVO_MESH_BOXES);
  std::int64_t cells = 0;
  for (const std::int64_t* box = all.boxes; box != all.boxes + 6 * info.boxes; box += 6)
    cells += (box[3] - box[0]) * (box[4] - box[1]) * (box[5] - box[2]);
  EXPECT_EQ(cells, info.values);
  const std::vector<double> density = octavo::testing::field_of(restart, "density");
  EXPECT_EQ(sum_of_all(std::accumulate(density.begin(), density.end(), 0.0)), 45);
  octavo_tree tree = octavo_tree_default();
  EXPECT_EQ(octavo_restart_get_tree(restart, &tree, &error), OCTAVO_USAGE);
  octavo_restart_free(&restart);
}

}  // namespace
