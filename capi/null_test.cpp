#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <string>

#include "capi/test_arrays.hpp"
#include "tests/support/mpi_run.hpp"

namespace {

using octavo::testing::everyone;
using ::testing::HasSubstr;

struct Call {
  const char* null;  // what the message names
  std::function<int(octavo_error*)> call;
};

void expect_usage(const std::vector<Call>& calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    octavo_error error{};
    EXPECT_EQ(calls[i].call(&error), OCTAVO_USAGE) << "call " << i << ": " << calls[i].null;
    EXPECT_THAT(std::string(error.message), HasSubstr(calls[i].null)) << "call " << i;
    EXPECT_EQ(calls[i].call(nullptr), OCTAVO_USAGE) << "call " << i << " without an error";
  }
}

std::int64_t cells[1] = {1};
std::int64_t box[6] = {0, 0, 0, 2, 2, 2};
std::uint8_t flags[1] = {0};
double values[8] = {};
constexpr const char* no_texts[1] = {nullptr};

octavo_triangles piece_without_points() {
  octavo_triangles mesh = octavo_triangles_default();
  mesh.points = 1;
  return mesh;
}

octavo_domain domain_of_blocks() {
  octavo_domain domain = octavo_domain_default();
  for (std::int64_t& n : domain.block) n = 2;
  return domain;
}

octavo_target target_of(const char* store) {
  octavo_target target = octavo_target_default(OCTAVO_STORE);
  target.path = store;
  return target;
}

octavo_writer* open_writer(const std::string& store) {
  const octavo_domain domain = domain_of_blocks();
  const octavo_target target = target_of(store.c_str());
  octavo_writer* writer = nullptr;
  octavo_error error{};
  EXPECT_EQ(octavo_writer_open(everyone(), &target, &domain, &writer, &error), 0) << error.message;
  return writer;
}

octavo_array one_cell(const void* at) { return octavo_array_packed(OCTAVO_FLOAT64, at, 1); }

// One root of 2^3 values, which rank 0 owns.
octavo_restart* written_share(const std::string& store, bool boxes) {
  octavo_writer* writer = open_writer(store);
  octavo_error error{};
  const std::uint8_t owned[1] = {octavo::testing::rank() == 0 ? std::uint8_t{1} : std::uint8_t{0}};
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 3, 0, &error);
  octavo::testing::put_tree(writer, 1, cells, flags, owned, &error);
  octavo_writer_put_attribute(writer, "pair", OCTAVO_FLOAT64, values, 2, &error);
  octavo::testing::put_packed(writer, "density", OCTAVO_FLOAT64, values, 1, &error);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
  octavo_restart_options options = octavo_restart_options_default();
  options.boxes = boxes ? 1 : 0;
  octavo_restart* restart = nullptr;
  EXPECT_EQ(octavo_restart_open(everyone(), store.c_str(), &options, &restart, &error), 0) << error.message;
  return restart;
}

TEST(CapiNullMpi, no_handle_is_a_wrong_use) {
  using E = octavo_error*;
  int number = 0;
  std::int64_t count = 0;
  char text[8];
  const octavo_array array = one_cell(values);
  octavo_restart_info info = octavo_restart_info_default();
  octavo_neighbours around = octavo_neighbours_default();
  expect_usage({
      {"writer", [](E e) { return octavo_writer_begin_step(nullptr, OCTAVO_CHECKPOINT, nullptr, 1, 0, e); }},
      {"writer", [&](E e) { return octavo_writer_due(nullptr, OCTAVO_CHECKPOINT, 1, 0, &number, e); }},
      {"writer", [](E e) { return octavo::testing::put_int(nullptr, "n", 1, e); }},
      {"writer", [](E e) { return octavo_writer_put_tree(nullptr, nullptr, e); }},
      {"writer", [](E e) { return octavo_writer_put_boxes(nullptr, nullptr, e); }},
      {"writer", [](E e) { return octavo_writer_put_triangles(nullptr, nullptr, e); }},
      {"writer", [&](E e) { return octavo_writer_put_field(nullptr, "f", "", &array, e); }},
      {"writer", [&](E e) { return octavo_writer_put_particles(nullptr, "s", "a", "", &array, e); }},
      {"writer", [](E e) { return octavo_writer_end_step(nullptr, e); }},
      {"writer", [&](E e) { return octavo_writer_finished(nullptr, &number, e); }},
      {"writer", [](E e) { return octavo_writer_wait(nullptr, e); }},
      {"writer", [&](E e) { return octavo_writer_get_steps(nullptr, &count, e); }},
      {"writer",
       [&](E e) { return octavo_writer_newest_safe(nullptr, OCTAVO_CHECKPOINT, OCTAVO_SAFE_XOR, &number, &count, e); }},
      {"writer", [&](E e) { return octavo_writer_get_statistics(nullptr, text, 8, e); }},
      {"writer", [](E e) { return octavo_writer_close(nullptr, e); }},
      {"info", [](E e) { return octavo_restart_get_info(nullptr, nullptr, e); }},
      {"restart", [](E e) { return octavo_restart_get_field_info(nullptr, 0, nullptr, e); }},
      {"restart", [](E e) { return octavo_restart_get_tree(nullptr, nullptr, e); }},
      {"restart", [](E e) { return octavo_restart_get_boxes(nullptr, nullptr, e); }},
      {"restart", [](E e) { return octavo_restart_get_triangles(nullptr, nullptr, e); }},
      {"restart", [&](E e) { return octavo_restart_get_field(nullptr, "f", &array, e); }},
      {"restart", [&](E e) { return octavo_restart_get_particles(nullptr, "s", "a", &array, e); }},
      {"restart", [&](E e) { return octavo_restart_get_attribute(nullptr, "n", OCTAVO_INT64, &count, 1, e); }},
      {"restart", [&](E e) { return octavo_restart_get_neighbours(everyone(), nullptr, &around, e); }},
      {"restart", [](E e) { return octavo_restart_failed(everyone(), "s", nullptr, e); }},
      {"restart", [](E e) { return octavo_restart_write(everyone(), "s", nullptr, "ramses", "f", e); }},
  });
  octavo_error error{};
  EXPECT_EQ(octavo_restart_get_info(nullptr, &info, &error), 0);
}

TEST(CapiNullMpi, no_place_for_what_is_opened_and_no_name_are_wrong_uses) {
  using E = octavo_error*;
  const octavo_domain domain = octavo_domain_default();
  const octavo_target store = target_of("s"), no_path = octavo_target_default(OCTAVO_STORE);
  octavo_target no_names = octavo_target_default(OCTAVO_FLASH);
  no_names.num_names = 1;
  octavo_target files = octavo_target_default(OCTAVO_FLASH), collect = octavo_target_default(OCTAVO_AMREX_PLOTFILE),
                multifab = collect;
  files.files = 3;
  collect.collect = 1;
  multifab.multifab = "state";
  const octavo_triangles none = octavo_triangles_default(), no_points = piece_without_points();
  octavo_target series = octavo_target_default(OCTAVO_SERAFIN);
  series.path = "s";
  series.mesh = &none;
  octavo_target no_series_path = series, no_variables = series, no_variable = series, no_mesh = series,
                no_values = series;
  no_series_path.path = nullptr;
  no_variables.num_variables = no_variable.num_variables = 1;
  const char* const empty[1][2] = {{nullptr, nullptr}};
  no_variable.variables = empty;
  no_mesh.mesh = nullptr;
  no_values.mesh = &no_points;
  octavo_writer* writer = nullptr;
  std::int64_t count = 0;
  const octavo_box box = octavo_box_default();
  octavo_points points = octavo_points_default();
  const octavo_array field = octavo_array_packed(OCTAVO_FLOAT64, nullptr, 1);
  const char* name = "f";
  octavo_restart* restart = nullptr;
  const auto open = [&](const octavo_target& target, E e) {
    return octavo_writer_open(everyone(), &target, &domain, &writer, e);
  };
  expect_usage({
      {"writer", [&](E e) { return octavo_writer_open(everyone(), &store, &domain, nullptr, e); }},
      {"target", [&](E e) { return octavo_writer_open(everyone(), nullptr, &domain, &writer, e); }},
      {"domain", [&](E e) { return octavo_writer_open(everyone(), &store, nullptr, &writer, e); }},
      {"path", [&](E e) { return open(no_path, e); }},
      {"names", [&](E e) { return open(no_names, e); }},
      {"files: an option of targets amrex_plotfile, amrex_checkpoint only", [&](E e) { return open(files, e); }},
      {"collect: an option of targets flash only", [&](E e) { return open(collect, e); }},
      {"multifab: an option of targets amrex_checkpoint only", [&](E e) { return open(multifab, e); }},
      {"path", [&](E e) { return open(no_series_path, e); }},
      {"variables", [&](E e) { return open(no_variables, e); }},
      {"variables", [&](E e) { return open(no_variable, e); }},
      {"mesh", [&](E e) { return open(no_mesh, e); }},
      {"values", [&](E e) { return open(no_values, e); }},
      {"restart", [&](E e) { return octavo_restart_open(everyone(), "s", nullptr, nullptr, e); }},
      {"path", [&](E e) { return octavo_restart_open(everyone(), nullptr, nullptr, &restart, e); }},
      {"store", [&](E e) { return octavo_restart_failed(everyone(), nullptr, nullptr, e); }},
      {"store", [](E e) { return octavo_restart_write(everyone(), nullptr, nullptr, "ramses", "f", e); }},
      {"format", [](E e) { return octavo_restart_write(everyone(), "s", nullptr, nullptr, "f", e); }},
      {"path", [](E e) { return octavo_restart_write(everyone(), "s", nullptr, "ramses", nullptr, e); }},
      {"store", [](E e) { return octavo_forget_failed_restarts(nullptr, e); }},
      {"box", [&](E e) { return octavo_read_box("/nowhere", nullptr, 1, &name, &field, nullptr, e); }},
      {"array", [&](E e) { return octavo_read_box("/nowhere", &box, 1, &name, nullptr, nullptr, e); }},
      {"path", [&](E e) { return octavo_read_box(nullptr, &box, 1, &name, &field, nullptr, e); }},
      {"points", [&](E e) { return octavo_read_points("/nowhere", "f", nullptr, e); }},
      {"path", [&](E e) { return octavo_read_points(nullptr, "f", &points, e); }},
      {"store", [&](E e) { return octavo_list_steps(nullptr, OCTAVO_CHECKPOINT, 0, nullptr, nullptr, &count, e); }},
      {"count", [](E e) { return octavo_list_steps("/nowhere", OCTAVO_CHECKPOINT, 0, nullptr, nullptr, nullptr, e); }},
  });
}

TEST(CapiNullMpi, puts_of_nothing_are_wrong_uses_here_and_in_end_step) {
  using E = octavo_error*;
  const octavo::testing::SharedDirectory directory;
  octavo_writer* writer = open_writer(directory.path());
  const int ratio[1] = {2};
  const std::int64_t one[2] = {1, 1};
  const octavo_triangles no_points = piece_without_points();
  const octavo_array no_values = one_cell(nullptr), some = one_cell(values);
  octavo_array faces = no_values, no_boxes = no_values;
  faces.centring = OCTAVO_FACE_X;
  void* const nowhere[1] = {nullptr};
  no_boxes.boxes = nowhere;
  octavo_tree no_held{sizeof(octavo_tree), 1, cells, flags, flags, 1, nullptr};
  using octavo::testing::put_boxes, octavo::testing::put_tree;
  const auto attribute = [&](const char* name, octavo_type type, const void* of, E e) {
    return octavo_writer_put_attribute(writer, name, type, of, 1, e);
  };
  const std::vector<Call> puts = {
      {"tree", [&](E e) { return octavo_writer_put_tree(writer, nullptr, e); }},
      {"cells_of_level", [&](E e) { return put_tree(writer, 1, nullptr, flags, flags, e); }},
      {"refined", [&](E e) { return put_tree(writer, 1, cells, nullptr, flags, e); }},
      {"owned", [&](E e) { return put_tree(writer, 1, cells, flags, nullptr, e); }},
      {"held", [&](E e) { return octavo_writer_put_tree(writer, &no_held, e); }},
      {"boxes", [&](E e) { return octavo_writer_put_boxes(writer, nullptr, e); }},
      {"domain", [&](E e) { return put_boxes(writer, 1, nullptr, ratio, one, box, e); }},
      {"ratio", [&](E e) { return put_boxes(writer, 2, box, nullptr, one, box, e); }},
      {"boxes_of_level", [&](E e) { return put_boxes(writer, 1, box, ratio, nullptr, box, e); }},
      {"boxes", [&](E e) { return put_boxes(writer, 1, box, ratio, one, nullptr, e); }},
      {"name", [&](E e) { return attribute(nullptr, OCTAVO_INT64, cells, e); }},
      {"type", [&](E e) { return attribute("t", OCTAVO_INT32, cells, e); }},
      {"values", [&](E e) { return attribute("i", OCTAVO_INT64, nullptr, e); }},
      {"values", [&](E e) { return attribute("d", OCTAVO_FLOAT64, nullptr, e); }},
      {"values", [&](E e) { return attribute("t", OCTAVO_TEXT, nullptr, e); }},
      {"values", [&](E e) { return attribute("t", OCTAVO_TEXT, no_texts, e); }},
      {"values", [&](E e) { return octavo_writer_put_attribute(writer, "t", OCTAVO_TEXT, nullptr, OCTAVO_SCALAR, e); }},
      {"name", [&](E e) { return octavo_writer_put_field(writer, nullptr, "", &some, e); }},
      {"array", [&](E e) { return octavo_writer_put_field(writer, "f", "", nullptr, e); }},
      {"values", [&](E e) { return octavo_writer_put_field(writer, "f", "", &no_values, e); }},
      {"values", [&](E e) { return octavo_writer_put_field(writer, "f", "", &faces, e); }},
      {"no boxes", [&](E e) { return octavo_writer_put_field(writer, "f", "", &no_boxes, e); }},
      {"array", [&](E e) { return octavo_writer_put_particles(writer, "s", "a", "", nullptr, e); }},
      {"values", [&](E e) { return octavo_writer_put_particles(writer, "s", "a", "", &no_values, e); }},
      {"species", [&](E e) { return octavo_writer_put_particles(writer, nullptr, "a", "", &some, e); }},
      {"attribute", [&](E e) { return octavo_writer_put_particles(writer, "s", nullptr, "", &some, e); }},
      {"triangles", [&](E e) { return octavo_writer_put_triangles(writer, nullptr, e); }},
      {"values", [&](E e) { return octavo_writer_put_triangles(writer, &no_points, e); }},
  };
  for (const Call& put : puts) {
    octavo_error error{};
    ASSERT_EQ(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 1, 0, &error), 0) << error.message;
    expect_usage({put});
    EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE);
    EXPECT_THAT(error.message, HasSubstr(put.null));
  }
  octavo_error error{};
  expect_usage({{"text", [&](E e) { return octavo_writer_get_statistics(writer, nullptr, 4096, e); }}});
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
}

TEST(CapiNullMpi, a_box_without_an_array_is_a_wrong_use) {
  const octavo::testing::SharedDirectory directory;
  octavo_writer* writer = open_writer(directory.path());
  const std::int64_t one[1] = {1};
  void* const nowhere[1] = {nullptr};
  octavo_array array = one_cell(nullptr);
  array.boxes = nowhere;
  octavo_error error{};
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 1, 0, &error);
  EXPECT_EQ(octavo::testing::put_boxes(writer, 1, box, nullptr, one, box, &error), 0) << error.message;
  EXPECT_EQ(octavo_writer_put_field(writer, "f", "", &array, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("values is NULL"));
  EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE);
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
}

TEST(CapiNullMpi, no_checkpoint_yet_has_no_step_and_nothing_in_it) {
  const octavo_restart_info info = octavo::testing::info_of(nullptr);
  EXPECT_EQ(info.step, -1);
  EXPECT_EQ(info.time, 0);
  EXPECT_EQ(info.domain, nullptr);
  EXPECT_EQ(info.mesh, OCTAVO_MESH_NONE);
  EXPECT_EQ(info.levels + info.cells + info.boxes + info.values + info.num_fields + info.num_notes, 0);
  EXPECT_EQ(octavo_restart_get_particle_count(nullptr, "stars"), 0);
  EXPECT_EQ(octavo_restart_get_attribute_count(nullptr, "n"), -1);
  octavo_restart_free(nullptr);
}

TEST(CapiNullMpi, nowhere_to_put_what_was_read_is_a_wrong_use) {
  using E = octavo_error*;
  const octavo::testing::SharedDirectory directory;
  octavo_restart* tree = written_share(directory.path() / "tree", false);
  octavo_restart* boxes = written_share(directory.path() / "boxes", true);
  ASSERT_NE(tree, nullptr);
  ASSERT_NE(boxes, nullptr);
  const std::int64_t all = octavo::testing::info_of(tree).cells;
  const octavo_array none = octavo_array_packed(OCTAVO_FLOAT64, nullptr, all), some = one_cell(values);
  const auto attribute = [&](const char* name, void* to, E e) {
    return octavo_restart_get_attribute(tree, name, OCTAVO_FLOAT64, to, 2, e);
  };
  std::vector<Call> calls = {
      {"info", [&](E e) { return octavo_restart_get_info(tree, nullptr, e); }},
      {"info", [&](E e) { return octavo_restart_get_field_info(tree, 0, nullptr, e); }},
      {"tree", [&](E e) { return octavo_restart_get_tree(tree, nullptr, e); }},
      {"boxes", [&](E e) { return octavo_restart_get_boxes(boxes, nullptr, e); }},
      {"a tree", [&](E e) { return octavo_restart_get_triangles(tree, nullptr, e); }},
      {"name", [&](E e) { return octavo_restart_get_field(tree, nullptr, &some, e); }},
      {"array", [&](E e) { return octavo_restart_get_field(tree, "density", nullptr, e); }},
      {"species", [&](E e) { return octavo_restart_get_particles(tree, nullptr, "a", &some, e); }},
      {"name", [&](E e) { return attribute(nullptr, values, e); }},
      {"values", [&](E e) { return attribute("pair", nullptr, e); }},
      {"neighbours", [&](E e) { return octavo_restart_get_neighbours(everyone(), tree, nullptr, e); }},
  };
  if (all > 0) calls.push_back({"values", [&](E e) { return octavo_restart_get_field(tree, "density", &none, e); }});
  expect_usage(calls);
  EXPECT_EQ(octavo_restart_get_particle_count(tree, nullptr), 0);
  EXPECT_EQ(octavo_restart_get_attribute_count(tree, nullptr), -1);
  octavo_restart_free(&tree);
  octavo_restart_free(&boxes);
}

TEST(CapiNullMpi, a_put_outside_of_a_step_is_named_in_the_next) {
  const octavo::testing::SharedDirectory directory;
  octavo_writer* writer = open_writer(directory.path());
  octavo_error error{};
  octavo::testing::put_int(writer, "cycle", 1, &error);
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 4, 0, &error);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("nothing can be put outside of a step"));
  EXPECT_THAT(error.message, HasSubstr("attribute cycle, before the first step"));
  octavo::testing::put_packed(writer, "density", OCTAVO_FLOAT64, values, 1, &error);
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 5, 0, &error);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("field density, after checkpoint step 4"));
  EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("there is no step to end"));
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
}

// Wrong on the last rank alone.
TEST(CapiNullMpi, a_domain_that_cannot_be_is_refused_at_open_on_all_ranks) {
  const octavo::testing::SharedDirectory directory;
  const std::string store = directory.path() / "run";
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  using Change = std::function<void(octavo_domain&)>;
  const std::vector<std::pair<const char*, Change>> wrong = {
      {"dim: expected 1 to 3, found 4", [](auto& domain) { domain.dim = 4; }},
      {"dim: expected 1 to 3, found 0", [](auto& domain) { domain.dim = 0; }},
      {"roots along axis 1: expected 1 or more, found 0", [](auto& domain) { domain.roots[1] = 0; }},
      {"roots along axis 0: expected 1 or more, found -4", [](auto& domain) { domain.roots[0] = -4; }},
      {"roots along axis 2: expected 1 beyond dim, found 2", [](auto& domain) { domain.dim = 2, domain.roots[2] = 2; }},
      {"roots", [](auto& domain) { domain.roots[0] = domain.roots[1] = std::int64_t{1} << 62; }},
      {"block along axis 2: expected 1 or more, found -8", [](auto& domain) { domain.block[2] = -8; }},
      {"domain along axis 0: expected finite lo < hi", [&](auto& domain) { domain.hi[0] = nan; }},
      {"domain along axis 1: expected finite lo < hi", [&](auto& domain) { domain.lo[1] = -infinite; }},
      {"domain along axis 2: expected finite lo < hi", [](auto& domain) { domain.hi[2] = -1; }},
      {"unfolded", [](auto& domain) { domain.unfolded = 33; }},
  };
  for (const auto& [message, change] : wrong) {
    octavo_domain domain = octavo_domain_default();
    const octavo_target target = target_of(store.c_str());
    if (octavo::testing::rank() == octavo::testing::size() - 1) change(domain);
    octavo_writer* writer = nullptr;
    octavo_error error{};
    EXPECT_EQ(octavo_writer_open(everyone(), &target, &domain, &writer, &error), OCTAVO_USAGE);
    EXPECT_THAT(error.message, HasSubstr(message));
    EXPECT_EQ(writer, nullptr);
  }
}

TEST(CapiNullMpi, a_mesh_that_is_not_the_domains_is_a_wrong_use) {
  const octavo::testing::SharedDirectory directory;
  octavo_writer* writer = open_writer(directory.path());
  const std::int64_t two[1] = {2};
  const std::uint8_t many[2] = {0, 0};
  octavo_error error{};
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 4, 0, &error);
  octavo::testing::put_tree(writer, 1, two, many, many, &error);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("number of cells"));
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
}

}  // namespace
