#include "octavo/engine/step/array_view.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"

namespace octavo::engine {
namespace {

template <class T>
std::vector<T> packed(const ArrayView& view, std::uint64_t* sum = nullptr) {
  check(view);
  std::vector<T> out(packed_bytes(view) / sizeof(T));
  const std::uint64_t value = pack(view, std::as_writable_bytes(std::span(out)), true);
  EXPECT_EQ(value, base::checksum(std::as_bytes(std::span<const T>(out))));
  if (sum != nullptr) *sum = value;
  return out;
}

template <class T>
std::vector<T> counting(std::size_t size) {
  std::vector<T> values(size);
  std::iota(values.begin(), values.end(), T{1});
  return values;
}

TEST(ArrayView, packed_arrays_of_any_size_are_copied_and_summed) {
  for (std::size_t size : {0u, 1u, 1000u, 16384u, 16385u, 100000u}) {
    const auto values = counting<double>(size);
    EXPECT_EQ(packed<double>(view_of(values)), values);
  }
}

TEST(ArrayView, ghosts_are_left_out) {
  // Two blocks of 3 x 2 with one ghost on each side: 5 x 4 in memory.
  const auto values = counting<float>(2 * 5 * 4);
  ArrayView view = view_of(values);
  view.cells = 2;
  view.block = {3, 2, 1};
  view.ghost = 1;
  EXPECT_EQ(packed<float>(view), (std::vector<float>{7, 8, 9, 12, 13, 14, 27, 28, 29, 32, 33, 34}));
}

TEST(ArrayView, one_variable_of_many_is_picked_by_strides) {
  // unk(variable, x, y, block) with 3 variables, 2 x 2 cells and no ghosts: variable 1.
  const auto values = counting<std::int32_t>(3 * 2 * 2 * 2);
  ArrayView view = view_of(values);
  view.data = values.data() + 1;
  view.cells = 2;
  view.block = {2, 2, 1};
  view.stride = {.cell = 12, .x = 3, .y = 6, .z = 12, .component = 1};
  EXPECT_EQ(packed<std::int32_t>(view), (std::vector<std::int32_t>{2, 5, 8, 11, 14, 17, 20, 23}));
}

TEST(ArrayView, components_stored_apart_are_interleaved) {
  const auto values = counting<double>(8);
  ArrayView view = view_of(values);
  view.cells = 4;
  view.components = 2;
  view.stride = {.cell = 1, .x = 1, .y = 4, .z = 4, .component = 4};
  EXPECT_EQ(packed<double>(view), (std::vector<double>{1, 5, 2, 6, 3, 7, 4, 8}));
}

TEST(ArrayView, cells_are_taken_in_the_order_given) {
  const auto values = counting<std::int16_t>(100);
  const std::vector<std::uint32_t> order{99, 0, 42, 7};
  ArrayView view = view_of(values);
  view.cells = order.size();
  view.order = order;
  EXPECT_EQ(packed<std::int16_t>(view), (std::vector<std::int16_t>{100, 1, 43, 8}));
}

TEST(ArrayView, large_strided_arrays_have_the_checksum_of_what_is_packed) {
  const auto values = counting<double>(300000);
  ArrayView view = view_of(values);
  view.cells = 100000;
  view.stride = {.cell = 3, .x = 1, .y = 1, .z = 1, .component = 1};
  EXPECT_EQ(packed<double>(view)[99999], 299998.0);
}

TEST(ArrayView, what_cannot_be_is_refused) {
  const auto values = counting<double>(4);
  ArrayView view = view_of(values);
  view.data = nullptr;
  EXPECT_THROW(check(view), base::Error);
  view = view_of(values);
  view.components = 0;
  EXPECT_THROW(check(view), base::Error);
  const std::vector<std::uint32_t> order{1};
  view = view_of(values);
  view.order = order;
  EXPECT_THROW(check(view), base::Error);
}

}  // namespace
}  // namespace octavo::engine
