#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <string>

#include "capi/octavo.h"
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

octavo_series_mesh piece_without_points() {
  octavo_series_mesh mesh{};
  mesh.points = mesh.planes = 1;
  return mesh;
}

octavo_writer* open_writer(const std::string& store) {
  const octavo_domain domain = octavo_domain_default();
  octavo_writer_options options = octavo_writer_options_default();
  for (std::int64_t& n : options.block) n = 2;
  octavo_writer* writer = nullptr;
  octavo_error error{};
  EXPECT_EQ(octavo_writer_open_as(everyone(), store.c_str(), &domain, &options, &writer, &error), 0) << error.message;
  return writer;
}

// One root of 2^3 values, which rank 0 owns.
octavo_restart* written_share(const std::string& store, bool boxes) {
  octavo_writer* writer = open_writer(store);
  octavo_error error{};
  const std::uint8_t owned[1] = {octavo::testing::rank() == 0 ? std::uint8_t{1} : std::uint8_t{0}};
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, 3, 0, &error);
  octavo_writer_put_mesh(writer, 1, cells, flags, owned, &error);
  octavo_writer_put_doubles(writer, "pair", values, 2, &error);
  octavo_writer_put_text(writer, "text", "a text", &error);
  octavo_writer_put_blocks(writer, "density", "", OCTAVO_FLOAT64, values, 1, 0, 1, OCTAVO_HOST, &error);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
  octavo_restart_options options = octavo_restart_options_default();
  options.boxes = boxes ? 1 : 0;
  octavo_restart* restart = nullptr;
  EXPECT_EQ(octavo_restart_open_as(everyone(), store.c_str(), &options, &restart, &error), 0) << error.message;
  return restart;
}

TEST(CapiNullMpi, no_handle_is_a_wrong_use) {
  using E = octavo_error*;
  int number = 0;
  std::int64_t count = 0;
  char text[8];
  expect_usage({
      {"writer", [](E e) { return octavo_writer_begin_step(nullptr, 0, 1, 0, e); }},
      {"writer", [&](E e) { return octavo_writer_due(nullptr, 0, 1, 0, &number, e); }},
      {"writer", [](E e) { return octavo_writer_put_int(nullptr, "n", 1, e); }},
      {"writer", [](E e) { return octavo_writer_put_mesh(nullptr, 1, cells, flags, flags, e); }},
      {"writer", [](E e) { return octavo_writer_put_field(nullptr, "f", "", 0, values, 1, 1, 0, e); }},
      {"writer", [](E e) { return octavo_writer_put_triangles(nullptr, nullptr, e); }},
      {"writer", [](E e) { return octavo_writer_end_step(nullptr, e); }},
      {"writer", [](E e) { return octavo_writer_wait(nullptr, e); }},
      {"writer", [&](E e) { return octavo_writer_statistics(nullptr, text, 8, e); }},
      {"writer", [](E e) { return octavo_writer_close(nullptr, e); }},
      {"writer", [](E e) { return octavo_native_begin_step(nullptr, "p", 1, 0, e); }},
      {"writer", [](E e) { return octavo_native_put_mesh(nullptr, 1, cells, flags, flags, e); }},
      {"writer", [](E e) { return octavo_native_end_step(nullptr, e); }},
      {"writer", [&](E e) { return octavo_native_finished(nullptr, &number, e); }},
      {"writer", [](E e) { return octavo_native_wait(nullptr, e); }},
      {"writer", [](E e) { return octavo_native_close(nullptr, e); }},
      {"is NULL", [](E e) { return octavo_series_begin_step(nullptr, 0, e); }},
      {"is NULL", [](E e) { return octavo_series_put(nullptr, "v", 0, values, 1, 1, 0, e); }},
      {"series", [](E e) { return octavo_series_end_step(nullptr, e); }},
      {"series", [&](E e) { return octavo_series_finished(nullptr, &number, e); }},
      {"series", [](E e) { return octavo_series_wait(nullptr, e); }},
      {"series", [&](E e) { return octavo_series_steps(nullptr, &count, e); }},
      {"series", [](E e) { return octavo_series_close(nullptr, e); }},
      {"restart", [](E e) { return octavo_restart_field_info(nullptr, 0, nullptr, e); }},
      {"restart", [](E e) { return octavo_restart_domain(nullptr, nullptr, nullptr, e); }},
      {"restart", [](E e) { return octavo_restart_mesh(nullptr, cells, flags, flags, e); }},
      {"restart", [&](E e) { return octavo_restart_boxes(nullptr, box, &number, cells, box, e); }},
      {"restart", [](E e) { return octavo_restart_field(nullptr, "f", 0, values, 1, e); }},
      {"restart", [](E e) { return octavo_restart_particles(nullptr, "s", "a", 0, values, 1, e); }},
      {"restart", [&](E e) { return octavo_restart_get_int(nullptr, "n", &count, e); }},
      {"restart", [](E e) { return octavo_restart_get_double(nullptr, "n", values, e); }},
      {"restart", [&](E e) { return octavo_restart_get_ints(nullptr, "n", &count, 1, e); }},
      {"restart", [](E e) { return octavo_restart_get_doubles(nullptr, "n", values, 1, e); }},
      {"restart", [&](E e) { return octavo_restart_get_text(nullptr, "n", 0, text, 8, e); }},
      {"restart", [&](E e) { return octavo_restart_triangle_counts(nullptr, &count, &count, &number, e); }},
      {"restart", [](E e) { return octavo_restart_triangles(nullptr, values, values, box, box, box, e); }},
      {"restart", [](E e) { return octavo_restart_neighbours(everyone(), nullptr, nullptr, e); }},
      {"restart", [](E e) { return octavo_restart_failed(everyone(), "s", nullptr, e); }},
  });
}

TEST(CapiNullMpi, no_place_for_what_is_opened_and_no_name_are_wrong_uses) {
  using E = octavo_error*;
  const octavo_domain domain = octavo_domain_default();
  const octavo_native_options native = octavo_native_options_default(0);
  octavo_native_options no_names = native;
  no_names.num_names = 1;
  const octavo_series_options series = octavo_series_options_default();
  const octavo_restart_options wanted = octavo_restart_options_default();
  const octavo_series_mesh no_points = piece_without_points();
  octavo_writer* writer = nullptr;
  octavo_native_writer* native_writer = nullptr;
  octavo_series* to = nullptr;
  std::int64_t count = 0;
  octavo_restart* restart = nullptr;
  expect_usage({
      {"writer", [&](E e) { return octavo_writer_open(everyone(), "s", &domain, nullptr, nullptr, nullptr, e); }},
      {"store", [&](E e) { return octavo_writer_open(everyone(), nullptr, &domain, nullptr, nullptr, &writer, e); }},
      {"domain", [&](E e) { return octavo_writer_open(everyone(), "s", nullptr, nullptr, nullptr, &writer, e); }},
      {"options", [&](E e) { return octavo_writer_open_as(everyone(), "s", &domain, nullptr, &writer, e); }},
      {"writer", [&](E e) { return octavo_native_open(everyone(), &domain, &native, nullptr, e); }},
      {"domain", [&](E e) { return octavo_native_open(everyone(), nullptr, &native, &native_writer, e); }},
      {"names", [&](E e) { return octavo_native_open(everyone(), &domain, &no_names, &native_writer, e); }},
      {"options", [&](E e) { return octavo_native_open(everyone(), &domain, nullptr, &native_writer, e); }},
      {"series",
       [&](E e) {
         return octavo_series_open(everyone(), "s", 0, no_texts, no_texts, &no_points, &series, nullptr, e);
       }},
      {"path",
       [&](E e) {
         return octavo_series_open(everyone(), nullptr, 0, no_texts, no_texts, &no_points, &series, &to, e);
       }},
      {"values",
       [&](E e) { return octavo_series_open(everyone(), "s", 1, nullptr, no_texts, &no_points, &series, &to, e); }},
      {"values",
       [&](E e) { return octavo_series_open(everyone(), "s", 1, no_texts, no_texts, &no_points, &series, &to, e); }},
      {"options",
       [&](E e) { return octavo_series_open(everyone(), "s", 0, no_texts, no_texts, &no_points, nullptr, &to, e); }},
      {"mesh",
       [&](E e) { return octavo_series_open(everyone(), "s", 0, no_texts, no_texts, nullptr, &series, &to, e); }},
      {"values",
       [&](E e) { return octavo_series_open(everyone(), "s", 0, no_texts, no_texts, &no_points, &series, &to, e); }},
      {"restart", [&](E e) { return octavo_restart_open_as(everyone(), "s", &wanted, nullptr, e); }},
      {"path", [&](E e) { return octavo_restart_open(everyone(), nullptr, 0, -1, &restart, e); }},
      {"options", [&](E e) { return octavo_restart_open_as(everyone(), "s", nullptr, &restart, e); }},
      {"store", [&](E e) { return octavo_restart_failed(everyone(), nullptr, nullptr, e); }},
      {"store", [](E e) { return octavo_forget_failed_restarts(nullptr, e); }},
      {"store", [&](E e) { return octavo_list_steps(nullptr, 0, 0, nullptr, nullptr, &count, e); }},
      {"count", [](E e) { return octavo_list_steps("/nowhere", 0, 0, nullptr, nullptr, nullptr, e); }},
  });
}

TEST(CapiNullMpi, puts_of_nothing_are_wrong_uses_here_and_in_end_step) {
  using E = octavo_error*;
  const octavo::testing::SharedDirectory directory;
  octavo_writer* writer = open_writer(directory.path());
  const int ratio[1] = {2};
  const std::int64_t one[2] = {1, 1};
  const octavo_series_mesh no_points = piece_without_points();
  octavo_array array = octavo_array_default();
  array.cells = 1;
  const std::vector<Call> puts = {
      {"cells_of_level", [&](E e) { return octavo_writer_put_mesh(writer, 1, nullptr, flags, flags, e); }},
      {"refined", [&](E e) { return octavo_writer_put_mesh(writer, 1, cells, nullptr, flags, e); }},
      {"owned", [&](E e) { return octavo_writer_put_mesh(writer, 1, cells, flags, nullptr, e); }},
      {"domain", [&](E e) { return octavo_writer_put_boxes(writer, 1, nullptr, ratio, one, box, e); }},
      {"ratio", [&](E e) { return octavo_writer_put_boxes(writer, 2, box, nullptr, one, box, e); }},
      {"boxes_of_level", [&](E e) { return octavo_writer_put_boxes(writer, 1, box, ratio, nullptr, box, e); }},
      {"boxes", [&](E e) { return octavo_writer_put_boxes(writer, 1, box, ratio, one, nullptr, e); }},
      {"name", [&](E e) { return octavo_writer_put_int(writer, nullptr, 1, e); }},
      {"name", [&](E e) { return octavo_writer_put_double(writer, nullptr, 1, e); }},
      {"value", [&](E e) { return octavo_writer_put_text(writer, "t", nullptr, e); }},
      {"values", [&](E e) { return octavo_writer_put_ints(writer, "i", nullptr, 1, e); }},
      {"values", [&](E e) { return octavo_writer_put_doubles(writer, "d", nullptr, 1, e); }},
      {"values", [&](E e) { return octavo_writer_put_texts(writer, "t", nullptr, 1, e); }},
      {"values", [&](E e) { return octavo_writer_put_texts(writer, "t", no_texts, 1, e); }},
      {"name", [&](E e) { return octavo_writer_put_field(writer, nullptr, "", 0, values, 1, 1, 0, e); }},
      {"values", [&](E e) { return octavo_writer_put_field(writer, "f", "", 0, nullptr, 1, 1, 0, e); }},
      {"name", [&](E e) { return octavo_writer_put_blocks(writer, nullptr, "", 0, values, 1, 0, 1, 0, e); }},
      {"values", [&](E e) { return octavo_writer_put_blocks(writer, "f", "", 0, nullptr, 1, 1, 1, 0, e); }},
      {"no boxes", [&](E e) { return octavo_writer_put_arrays(writer, "f", "", 0, nullptr, 1, 0, 1, 0, e); }},
      {"name", [&](E e) { return octavo_writer_put_faces(writer, nullptr, "", 0, 0, values, 1, 0, 1, 0, e); }},
      {"values", [&](E e) { return octavo_writer_put_faces(writer, "f", "", 0, 0, nullptr, 1, 0, 1, 0, e); }},
      {"array", [&](E e) { return octavo_writer_put_array(writer, "f", "", nullptr, e); }},
      {"values", [&](E e) { return octavo_writer_put_array(writer, "f", "", &array, e); }},
      {"array", [&](E e) { return octavo_writer_put_particle_array(writer, "s", "a", "", nullptr, e); }},
      {"values", [&](E e) { return octavo_writer_put_particle_array(writer, "s", "a", "", &array, e); }},
      {"species", [&](E e) { return octavo_writer_put_particles(writer, nullptr, "a", 0, values, 1, 1, 0, e); }},
      {"attribute", [&](E e) { return octavo_writer_put_particles(writer, "s", nullptr, 0, values, 1, 1, 0, e); }},
      {"mesh", [&](E e) { return octavo_writer_put_triangles(writer, nullptr, e); }},
      {"values", [&](E e) { return octavo_writer_put_triangles(writer, &no_points, e); }},
  };
  for (const Call& put : puts) {
    octavo_error error{};
    ASSERT_EQ(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, 1, 0, &error), 0) << error.message;
    expect_usage({put});
    EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE);
    EXPECT_THAT(error.message, HasSubstr(put.null));
  }
  octavo_error error{};
  expect_usage({{"text", [&](E e) { return octavo_writer_statistics(writer, nullptr, 4096, e); }}});
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
}

TEST(CapiNullMpi, no_checkpoint_yet_has_no_step_and_nothing_in_it) {
  EXPECT_EQ(octavo_restart_step(nullptr), -1);
  EXPECT_EQ(octavo_restart_time(nullptr), 0);
  EXPECT_EQ(octavo_restart_note(nullptr, 0), nullptr);
  EXPECT_EQ(octavo_restart_levels(nullptr), 0);
  EXPECT_EQ(octavo_restart_cells(nullptr), 0);
  EXPECT_EQ(octavo_restart_num_boxes(nullptr), 0);
  EXPECT_EQ(octavo_restart_values(nullptr), 0);
  EXPECT_EQ(octavo_restart_num_fields(nullptr), 0);
  EXPECT_EQ(octavo_restart_count(nullptr, "stars"), 0);
  EXPECT_EQ(octavo_restart_attribute_count(nullptr, "n"), -1);
  octavo_restart_free(nullptr);
  octavo_neighbours_free(nullptr);
}

TEST(CapiNullMpi, nowhere_to_put_what_was_read_is_a_wrong_use) {
  using E = octavo_error*;
  const octavo::testing::SharedDirectory directory;
  octavo_restart* tree = written_share(directory.path() / "tree", false);
  octavo_restart* boxes = written_share(directory.path() / "boxes", true);
  ASSERT_NE(tree, nullptr);
  ASSERT_NE(boxes, nullptr);
  const std::int64_t all = octavo_restart_values(tree);
  std::vector<Call> calls = {
      {"info", [&](E e) { return octavo_restart_field_info(tree, 0, nullptr, e); }},
      {"domain", [&](E e) { return octavo_restart_domain(tree, nullptr, nullptr, e); }},
      {"cells_of_level", [&](E e) { return octavo_restart_mesh(tree, nullptr, flags, flags, e); }},
      {"refined", [&](E e) { return octavo_restart_mesh(tree, cells, nullptr, flags, e); }},
      {"owned", [&](E e) { return octavo_restart_mesh(tree, cells, flags, nullptr, e); }},
      {"name", [&](E e) { return octavo_restart_field(tree, nullptr, 0, values, all, e); }},
      {"species", [&](E e) { return octavo_restart_particles(tree, nullptr, "a", 0, values, 1, e); }},
      {"name", [&](E e) { return octavo_restart_get_int(tree, nullptr, cells, e); }},
      {"values", [&](E e) { return octavo_restart_get_doubles(tree, "pair", nullptr, 2, e); }},
      {"name", [&](E e) { return octavo_restart_get_doubles(tree, nullptr, values, 2, e); }},
      {"name", [&](E e) { return octavo_restart_get_text(tree, nullptr, 0, nullptr, 8, e); }},
      {"text", [&](E e) { return octavo_restart_get_text(tree, "text", 0, nullptr, 8, e); }},
      {"domain", [&](E e) { return octavo_restart_boxes(boxes, nullptr, nullptr, cells, box, e); }},
      {"boxes_of_level", [&](E e) { return octavo_restart_boxes(boxes, box, nullptr, nullptr, box, e); }},
  };
  if (all > 0)
    calls.push_back({"values", [&](E e) { return octavo_restart_field(tree, "density", 0, nullptr, all, e); }});
  if (octavo_restart_num_boxes(boxes) > 0)
    calls.push_back({"boxes", [&](E e) { return octavo_restart_boxes(boxes, box, nullptr, cells, nullptr, e); }});
  expect_usage(calls);
  EXPECT_EQ(octavo_restart_count(tree, nullptr), 0);
  EXPECT_EQ(octavo_restart_attribute_count(tree, nullptr), -1);
  octavo_restart_free(&tree);
  octavo_restart_free(&boxes);
}

TEST(CapiNullMpi, a_put_outside_of_a_step_is_named_in_the_next) {
  const octavo::testing::SharedDirectory directory;
  octavo_writer* writer = open_writer(directory.path());
  octavo_error error{};
  octavo_writer_put_int(writer, "cycle", 1, &error);
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, 4, 0, &error);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("nothing can be put outside of a step"));
  EXPECT_THAT(error.message, HasSubstr("attribute cycle, before the first step"));
  octavo_writer_put_field(writer, "density", "", 0, values, 1, 1, 0, &error);
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, 5, 0, &error);
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
  using Change = std::function<void(octavo_domain&, octavo_writer_options&)>;
  const std::vector<std::pair<const char*, Change>> wrong = {
      {"dim: expected 1 to 3, found 4", [](auto& domain, auto&) { domain.dim = 4; }},
      {"dim: expected 1 to 3, found 0", [](auto& domain, auto&) { domain.dim = 0; }},
      {"roots along axis 1: expected 1 or more, found 0", [](auto& domain, auto&) { domain.roots[1] = 0; }},
      {"roots along axis 0: expected 1 or more, found -4", [](auto& domain, auto&) { domain.roots[0] = -4; }},
      {"roots along axis 2: expected 1 beyond dim, found 2",
       [](auto& domain, auto&) { domain.dim = 2, domain.roots[2] = 2; }},
      {"roots", [](auto& domain, auto&) { domain.roots[0] = domain.roots[1] = std::int64_t{1} << 62; }},
      {"block along axis 2: expected 1 or more, found -8", [](auto&, auto& options) { options.block[2] = -8; }},
      {"domain along axis 0: expected finite lo < hi", [&](auto& domain, auto&) { domain.hi[0] = nan; }},
      {"domain along axis 1: expected finite lo < hi", [&](auto& domain, auto&) { domain.lo[1] = -infinite; }},
      {"domain along axis 2: expected finite lo < hi", [](auto& domain, auto&) { domain.hi[2] = -1; }},
      {"unfolded", [](auto&, auto& options) { options.unfolded = 33; }},
  };
  for (const auto& [message, change] : wrong) {
    octavo_domain domain = octavo_domain_default();
    octavo_writer_options options = octavo_writer_options_default();
    if (octavo::testing::rank() == octavo::testing::size() - 1) change(domain, options);
    octavo_writer* writer = nullptr;
    octavo_error error{};
    EXPECT_EQ(octavo_writer_open_as(everyone(), store.c_str(), &domain, &options, &writer, &error), OCTAVO_USAGE);
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
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, 4, 0, &error);
  octavo_writer_put_mesh(writer, 1, two, many, many, &error);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("number of cells"));
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
}

}  // namespace
