#include <gmock/gmock.h>

#include <cstddef>
#include <cstring>
#include <new>

#include "capi/test_arrays.hpp"
#include "tests/support/mpi_run.hpp"

/// Structs of programs that were compiled with an older or a newer header.
namespace {

using octavo::testing::everyone;
using ::testing::HasSubstr;

/// A struct as an older program has it: its first `size` bytes, and memory behind them that is not its own.
template <class T>
struct Older {
  alignas(T) std::byte bytes[sizeof(T) + 64];
  Older(const T& whole, std::size_t size) {
    std::memset(bytes, 0xa5, sizeof bytes);
    std::memcpy(bytes, &whole, size);
    std::memcpy(bytes, &size, sizeof size);
  }
  T* get() { return std::launder(reinterpret_cast<T*>(bytes)); }
  bool is_untouched_from(std::size_t size) const {
    return std::all_of(bytes + size, bytes + sizeof bytes, [](std::byte byte) { return byte == std::byte{0xa5}; });
  }
};

/// A struct as a newer program has it, with 64 bytes more.
template <class T>
struct Newer {
  alignas(T) std::byte bytes[sizeof(T) + 64] = {};
  explicit Newer(const T& whole) {
    const std::size_t size = sizeof bytes;
    std::memcpy(bytes, &whole, sizeof whole);
    std::memcpy(bytes, &size, sizeof size);
  }
  T* get() { return std::launder(reinterpret_cast<T*>(bytes)); }
};

int write_step(const octavo_target* target, const octavo_domain* domain, octavo_error* error) {
  octavo_writer* writer = nullptr;
  if (octavo_writer_open(everyone(), target, domain, &writer, error) != 0) return error->code;
  const std::int64_t cells[1] = {1};
  const std::uint8_t refined[1] = {0}, owned[1] = {octavo::testing::rank() == 0 ? std::uint8_t{1} : std::uint8_t{0}};
  const octavo_tree tree{sizeof(octavo_tree), 1, cells, refined, owned, 0, nullptr};
  Older<octavo_tree> old_tree(tree, offsetof(octavo_tree, num_intervals));
  const double value[1] = {2.5};
  Older<octavo_array> array(octavo_array_packed(OCTAVO_FLOAT64, value, 1), offsetof(octavo_array, stride_cell));
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 8, 0.5, error);
  EXPECT_EQ(octavo_writer_put_tree(writer, old_tree.get(), error), 0) << error->message;
  EXPECT_EQ(octavo_writer_put_field(writer, "density", "", array.get(), error), 0) << error->message;
  EXPECT_EQ(octavo_writer_end_step(writer, error), 0) << error->message;
  return octavo_writer_close(&writer, error);
}

TEST(CapiSizesMpi, an_older_programs_structs_are_read_and_filled_as_far_as_they_go) {
  const octavo::testing::SharedDirectory directory;
  const std::string path = directory.path() / "run";
  octavo_target target = octavo_target_default(OCTAVO_STORE);
  target.path = path.c_str();
  Older<octavo_target> old_target(target, offsetof(octavo_target, options));
  Older<octavo_domain> old_domain(octavo_domain_default(), offsetof(octavo_domain, unit_length));
  octavo_error error{};
  ASSERT_EQ(write_step(old_target.get(), old_domain.get(), &error), 0) << error.message;

  octavo_restart_options options = octavo_restart_options_default();
  options.step = 8;
  Older<octavo_restart_options> old_options(options, offsetof(octavo_restart_options, options));
  octavo_restart* restart = nullptr;
  ASSERT_EQ(octavo_restart_open(everyone(), path.c_str(), old_options.get(), &restart, &error), 0) << error.message;
  Older<octavo_restart_info> info(octavo_restart_info_default(), offsetof(octavo_restart_info, cells));
  EXPECT_EQ(octavo_restart_get_info(restart, info.get(), &error), 0) << error.message;
  EXPECT_EQ(info.get()->step, 8);
  EXPECT_EQ(info.get()->levels, 1);
  EXPECT_EQ(info.get()->size, offsetof(octavo_restart_info, cells));
  EXPECT_TRUE(info.is_untouched_from(offsetof(octavo_restart_info, cells)));
  EXPECT_EQ(octavo::testing::info_of(restart).domain->unit_length, 1);
  Older<octavo_field_info> field(octavo_field_info_default(), offsetof(octavo_field_info, unit));
  EXPECT_EQ(octavo_restart_get_field_info(restart, 0, field.get(), &error), 0) << error.message;
  EXPECT_STREQ(field.get()->name, "density");
  EXPECT_TRUE(field.is_untouched_from(offsetof(octavo_field_info, unit)));
  Older<octavo_tree> tree(octavo_tree_default(), offsetof(octavo_tree, refined));
  EXPECT_EQ(octavo_restart_get_tree(restart, tree.get(), &error), 0) << error.message;
  EXPECT_EQ(tree.get()->levels, 1);
  EXPECT_TRUE(tree.is_untouched_from(offsetof(octavo_tree, refined)));
  EXPECT_EQ(octavo::testing::field_of(restart, "density").at(0), 2.5);
  octavo_restart_free(&restart);
}

TEST(CapiSizesMpi, a_newer_programs_struct_is_refused_only_for_a_member_that_says_something) {
  const octavo::testing::SharedDirectory directory;
  const std::string path = directory.path() / "run";
  octavo_target target = octavo_target_default(OCTAVO_STORE);
  target.path = path.c_str();
  Newer<octavo_target> newer(target);
  const octavo_domain domain = octavo_domain_default();
  octavo_error error{};
  EXPECT_EQ(write_step(newer.get(), &domain, &error), 0) << error.message;
  if (octavo::testing::rank() == 0) newer.bytes[sizeof(octavo_target) + 9] = std::byte{1};
  EXPECT_EQ(write_step(newer.get(), &domain, &error), OCTAVO_UNSUPPORTED);
  EXPECT_THAT(error.message, HasSubstr("target: expected 0 behind byte"));
  EXPECT_THAT(error.message, HasSubstr("found a value at byte " + std::to_string(sizeof(octavo_target) + 9)));
}

TEST(CapiSizesMpi, a_struct_without_its_size_is_a_wrong_use) {
  octavo_target target{};
  const octavo_domain domain = octavo_domain_default();
  octavo_error error{};
  octavo_writer* writer = nullptr;
  EXPECT_EQ(octavo_writer_open(everyone(), &target, &domain, &writer, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("target: expected its size as first member, found 0"));
  octavo_restart_info info{};
  EXPECT_EQ(octavo_restart_get_info(nullptr, &info, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("info: expected its size"));
}

TEST(CapiSizesMpi, header_and_library_are_of_one_version) {
  EXPECT_STREQ(octavo_version(), OCTAVO_VERSION);
  EXPECT_EQ(std::string(OCTAVO_VERSION), std::to_string(OCTAVO_VERSION_MAJOR) + "." +
                                             std::to_string(OCTAVO_VERSION_MINOR) + "." +
                                             std::to_string(OCTAVO_VERSION_PATCH));
}

}  // namespace
