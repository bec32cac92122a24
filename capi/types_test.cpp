#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "capi/layout.hpp"
#include "capi/test_arrays.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/mesh/field.hpp"
#include "tests/support/mpi_run.hpp"

/// Values of every type that a store has, put and got through the C API.
namespace octavo::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t cells = 8;

// 0.5, -2, the largest finite value, infinite, a NaN with a payload, -0, the smallest value, 1.
constexpr std::array<std::uint16_t, cells> halves{0x3800, 0xC000, 0x7BFF, 0x7C00, 0x7E01, 0x8000, 0x0001, 0x3C00};
constexpr std::array<std::uint16_t, cells> bfloats{0x3F00, 0xC000, 0x7F7F, 0x7F80, 0x7FC1, 0x8000, 0x0001, 0x3F80};
constexpr std::array<std::uint32_t, cells> counts{0, 1, 4000000000U, 4294967295U, 7, 8, 9, 10};
constexpr std::array<std::uint8_t, cells> flags{0, 1, 1, 0, 1, 0, 0, 1};

struct Typed {
  const char* name;
  octavo_type type;
  const void* values;
  std::size_t width;
};
const std::vector<Typed> all{{"count", OCTAVO_UINT32, counts.data(), 4},
                             {"flag", OCTAVO_BOOL, flags.data(), 1},
                             {"half", OCTAVO_FLOAT16, halves.data(), 2},
                             {"brain", OCTAVO_BFLOAT16, bfloats.data(), 2}};

// Eight roots, which rank 0 owns.
void write_types(const std::string& path, octavo_error* error) {
  octavo_target target = octavo_target_default(OCTAVO_STORE);
  target.path = path.c_str();
  octavo_domain domain = octavo_domain_default();
  std::fill_n(domain.roots, 3, 2);
  octavo_writer* writer = nullptr;
  ASSERT_EQ(octavo_writer_open(everyone(), &target, &domain, &writer, error), 0) << error->message;
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 1, 0.5, error);
  const std::int64_t of_level[1] = {cells};
  const std::vector<std::uint8_t> refined(cells, 0), owned(cells, rank() == 0 ? 1 : 0);
  EXPECT_EQ(put_tree(writer, 1, of_level, refined.data(), owned.data(), error), 0) << error->message;
  for (const Typed& of : all)
    EXPECT_EQ(put_packed(writer, of.name, of.type, of.values, cells, error), 0) << error->message;
  // Two particles on rank 0.
  const std::int64_t particles = rank() == 0 ? 2 : 0;
  const double position[2] = {0.25, 0.75};
  for (const char* axis : {"position_x", "position_y", "position_z"})
    put_particles(writer, axis, OCTAVO_FLOAT64, position, particles, error);
  for (const Typed& of : all)
    EXPECT_EQ(put_particles(writer, of.name, of.type, of.values, particles, error), 0) << error->message;
  EXPECT_EQ(octavo_writer_end_step(writer, error), 0) << error->message;
  EXPECT_EQ(octavo_writer_close(&writer, error), 0) << error->message;
}

octavo_restart* open_share(const std::string& path, octavo_error* error) {
  octavo_restart* restart = nullptr;
  EXPECT_EQ(octavo_restart_open(everyone(), path.c_str(), nullptr, &restart, error), 0) << error->message;
  return restart;
}

// The places, among the eight, of the cells that this rank has.
std::vector<std::size_t> owned_cells(octavo_restart* restart) {
  octavo_tree tree = octavo_tree_default();
  EXPECT_EQ(octavo_restart_get_tree(restart, &tree, nullptr), 0);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < cells; ++i)
    if (tree.owned[i] != 0) places.push_back(i);
  return places;
}

// A store with a field and an attribute of every type, and the box of all its cells.
class CapiTypesMpi : public ::testing::Test {
 protected:
  CapiTypesMpi() {
    write_types(path, &error);
    std::fill_n(box.upper, 3, 2);
  }

  const SharedDirectory directory;
  const std::string path = directory.path() / "run";
  octavo_error error{};
  octavo_box box = octavo_box_default();
};

TEST_F(CapiTypesMpi, an_order_that_was_put_before_is_known_again) {
  const std::vector<std::int64_t> order{3, -1, 0};
  const std::vector<std::uint32_t> places = octavo::capi::order_from(order.data(), 3);
  EXPECT_TRUE(octavo::capi::is_order(places, order.data(), 3));
  EXPECT_FALSE(octavo::capi::is_order(places, order.data(), 2));
  for (const std::vector<std::int64_t>& other : {std::vector<std::int64_t>{3, -1, 1}, {3, 0, 0}, {3, 4294967295, 0}})
    EXPECT_FALSE(octavo::capi::is_order(places, other.data(), 3));
}

TEST_F(CapiTypesMpi, values_of_every_type_come_back_bit_for_bit) {
  octavo_restart* restart = open_share(path, &error);
  const auto mine = owned_cells(restart);
  for (const Typed& of : all) {
    std::vector<std::byte> bytes(cells * of.width + 8, std::byte{0x5a});
    EXPECT_EQ(get_packed(restart, of.name, of.type, bytes.data(), cells, &error), 0) << error.message;
    for (const std::size_t i : mine)
      EXPECT_EQ(
          std::memcmp(bytes.data() + i * of.width, static_cast<const std::byte*>(of.values) + i * of.width, of.width),
          0)
          << of.name << " of cell " << i;
    EXPECT_TRUE(std::all_of(bytes.end() - 8, bytes.end(), [](std::byte b) { return b == std::byte{0x5a}; })) << of.name;
    octavo_field_info info = octavo_field_info_default();
    EXPECT_EQ(octavo_restart_get_field_info(restart, &of - all.data(), &info, &error), 0) << error.message;
    EXPECT_STREQ(info.name, of.name);
    EXPECT_EQ(info.type, of.type);
  }
  const std::int64_t particles = octavo_restart_get_particle_count(restart, "stars");
  for (const Typed& of : all) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(particles) * of.width);
    const octavo_array array = octavo_array_packed(of.type, bytes.data(), particles);
    EXPECT_EQ(octavo_restart_get_particles(restart, "stars", of.name, &array, &error), 0) << error.message;
  }
  octavo_restart_free(&restart);
}

template <class T>
std::vector<T> get_as(octavo_restart* restart, const char* name, octavo_type type) {
  octavo_error error{};
  std::vector<T> values(cells);
  EXPECT_EQ(get_packed(restart, name, type, values.data(), cells, &error), 0) << error.message;
  return values;
}

TEST_F(CapiTypesMpi, narrow_values_are_read_wider_exactly_and_never_narrower) {
  octavo_restart* restart = open_share(path, &error);
  const auto half = get_as<float>(restart, "half", OCTAVO_FLOAT32);
  const auto brain = get_as<double>(restart, "brain", OCTAVO_FLOAT64);
  const auto flag = get_as<std::uint8_t>(restart, "flag", OCTAVO_UINT8);
  const float half_is[cells] = {0.5F, -2, 65504, INFINITY, NAN, -0.0F, 0x1p-24F, 1};
  for (const std::size_t i : owned_cells(restart)) {
    EXPECT_EQ(flag[i], flags[i]);
    const auto wide = std::bit_cast<float>(std::uint32_t{bfloats[i]} << 16);
    if (i == 4) {
      EXPECT_TRUE(std::isnan(half[i]) && std::isnan(brain[i]));
      continue;
    }
    EXPECT_EQ(half[i], half_is[i]);
    EXPECT_EQ(std::signbit(half[i]), std::signbit(half_is[i]));
    EXPECT_EQ(brain[i], double{wide});
  }
  std::vector<double> room(cells);
  EXPECT_EQ(get_packed(restart, "count", OCTAVO_INT32, room.data(), cells, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("values of type uint32"));
  EXPECT_EQ(get_packed(restart, "half", OCTAVO_BFLOAT16, room.data(), cells, &error), OCTAVO_USAGE);
  EXPECT_EQ(get_packed(restart, "flag", OCTAVO_INT8, room.data(), cells, &error), OCTAVO_USAGE);
  EXPECT_EQ(get_packed(restart, "half", static_cast<octavo_type>(12), room.data(), cells, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("type: expected 0 to 11, found 12"));
  octavo_restart_free(&restart);
}

TEST_F(CapiTypesMpi, a_box_of_cells_takes_the_same_types) {
  const auto read = [&](const char* field, octavo_type type, void* values) {
    const octavo_array array = octavo_array_packed(type, values, 1);
    return octavo_read_box(path.c_str(), &box, 1, &field, &array, nullptr, &error);
  };
  std::array<std::uint16_t, cells> bits{};
  EXPECT_EQ(read("half", OCTAVO_FLOAT16, bits.data()), 0) << error.message;
  EXPECT_EQ(bits, halves);
  std::array<double, cells> wide{};
  EXPECT_EQ(read("half", OCTAVO_FLOAT64, wide.data()), 0) << error.message;
  EXPECT_EQ(wide[2], 65504);
  std::array<float, cells> single{};
  EXPECT_EQ(read("brain", OCTAVO_FLOAT32, single.data()), 0) << error.message;
  EXPECT_EQ(single[1], -2);
  std::array<std::uint8_t, cells> bytes{};
  EXPECT_EQ(read("flag", OCTAVO_UINT8, bytes.data()), 0) << error.message;
  EXPECT_EQ(bytes, flags);
  std::array<std::uint32_t, cells> numbers{};
  EXPECT_EQ(read("count", OCTAVO_UINT32, numbers.data()), 0) << error.message;
  EXPECT_EQ(numbers, counts);
  EXPECT_EQ(read("count", OCTAVO_FLOAT64, wide.data()), OCTAVO_USAGE);
}

TEST_F(CapiTypesMpi, all_fields_of_a_box_open_the_files_of_a_step_as_often_as_one) {
  std::array<std::array<double, cells>, 2> wide{};
  const char* const fields[] = {"half", "brain"};
  const octavo_array arrays[] = {octavo_array_packed(OCTAVO_FLOAT64, wide[0].data(), 1),
                                 octavo_array_packed(OCTAVO_FLOAT64, wide[1].data(), 1)};
  const auto opens = [&](std::int64_t count) {
    int opened = 0;
    std::array<std::int64_t, 2> missing{-1, -1};
    octavo::file::set_observer([&](const octavo::file::Event& event) {
      opened += event.operation == octavo::file::Operation::open;
      return octavo::file::Verdict{};
    });
    EXPECT_EQ(octavo_read_box(path.c_str(), &box, count, fields, arrays, missing.data(), &error), 0) << error.message;
    octavo::file::set_observer({});
    EXPECT_EQ(missing[0], 0);
    EXPECT_EQ(missing[1], count == 2 ? 0 : -1);
    return opened;
  };
  const int one = opens(1);
  EXPECT_GT(one, 0);
  EXPECT_EQ(opens(2), one);
  EXPECT_EQ(wide[0][2], 65504);
  EXPECT_EQ(wide[1][1], -2);
}

}  // namespace
}  // namespace octavo::testing
