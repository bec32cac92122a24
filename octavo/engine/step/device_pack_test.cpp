#include <gmock/gmock.h>

#include <cmath>

#include "octavo/base/error.hpp"
#include "octavo/engine/device/driver.hpp"
#include "octavo/engine/device/lanes.hpp"
#include "octavo/engine/step/array_view.hpp"
#include "octavo/engine/step/step_job.hpp"
#include "tests/support/device_array.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::engine::on_device {
namespace {

using testing::DeviceBytes;
using ::testing::HasSubstr;

using testing::Random;
using testing::standin;

// An array in a memory that it need not fill.
struct Case {
  std::vector<std::byte> memory;
  std::vector<std::uint32_t> order;
  ArrayView view;
};

std::size_t below(Random& random, std::size_t bound) { return static_cast<std::size_t>(random.below(bound)); }

// Any layout: axes nest in any order, with room between them, forwards or backwards. `gap`: room of up to so many
// values after one of the axes, of few cells.
Case any_case(std::uint64_t seed, std::size_t gap = 0) {
  Random random(seed);
  Case made;
  ArrayView& view = made.view;
  constexpr std::array types{mesh::ScalarType::float64, mesh::ScalarType::float32, mesh::ScalarType::float16,
                             mesh::ScalarType::uint8};
  view.type = types[below(random, types.size())];
  view.cells = below(random, gap > 0 ? 6 : 40);
  for (auto& extent : view.block) extent = 1 + static_cast<std::int64_t>(below(random, 5));
  view.components = 1 + static_cast<int>(below(random, 3));
  view.ghost = static_cast<int>(below(random, 3));
  const bool ordered = below(random, 2) == 0;
  const std::size_t places = view.cells + (ordered ? below(random, 30) : 0);
  if (ordered) {
    for (std::size_t i = 0; i < view.cells; ++i)
      made.order.push_back(below(random, 6) == 0 ? ArrayView::nowhere
                                                 : static_cast<std::uint32_t>(below(random, places)));
    if (below(random, 2) == 0) std::sort(made.order.begin(), made.order.end());
  }
  std::array<std::int64_t, 5> extents{static_cast<std::int64_t>(places), 0, 0, 0, view.components};
  for (std::size_t axis = 0; axis < 3; ++axis)
    extents[axis + 1] = view.block[axis] + (view.block[axis] > 1 ? 2 * view.ghost : 0);
  std::array<std::size_t, 5> nested{4, 1, 2, 3, 0};
  const bool packed = below(random, 4) == 0;
  if (!packed)
    for (std::size_t i = 4; i > 0; --i) std::swap(nested[i], nested[below(random, i + 1)]);
  std::array<std::int64_t, 5> strides{};
  std::int64_t next = 1, first = 0;
  const std::size_t wide = below(random, 5);
  for (const std::size_t axis : nested) {
    const bool backwards = !packed && below(random, 4) == 0;
    strides[axis] = backwards ? -next : next;
    if (backwards) first += (extents[axis] - 1) * next;
    next *= std::max<std::int64_t>(1, extents[axis]);
    if (!packed) next += static_cast<std::int64_t>(below(random, 3));
    if (!packed && axis == wide) next += static_cast<std::int64_t>(below(random, gap + 1));
  }
  if (!packed) view.stride = {strides[0], strides[1], strides[2], strides[3], strides[4]};
  const std::size_t width = mesh::size_of(view.type);
  made.memory.resize(static_cast<std::size_t>(std::max<std::int64_t>(next, 1)) * width);
  for (std::byte& byte : made.memory) byte = static_cast<std::byte>(below(random, 256));
  view.data = made.memory.data() + static_cast<std::size_t>(std::max<std::int64_t>(0, first)) * width;
  return made;
}

struct Packed {
  std::vector<std::byte> bytes;
  std::uint64_t sum = 0;
  bool operator==(const Packed&) const = default;
};

Packed packed_range(const ArrayView& view, std::size_t first, std::size_t last) {
  Packed out{std::vector<std::byte>((last - first) * cell_bytes(view)), 0};
  out.sum = pack(view, first, last, out.bytes, true);
  return out;
}

class DevicePack : public ::testing::Test {
 protected:
  DevicePack() {
    standin().fail(0, 0, 0);
    standin().delay(20);
  }
  ~DevicePack() override { unsetenv("OCTAVO_DEVICE_BUFFER"); }
};

TEST_F(DevicePack, any_layout_gives_the_bytes_and_the_checksum_of_the_host) {
  standin().delay(0);
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    Case made = any_case(seed);
    made.view.order = made.order;
    const DeviceBytes copy(made.memory);
    const ArrayView there = testing::on_device(made.view, copy, made.memory.data());
    // A buffer of a few values cuts cells into slabs.
    setenv("OCTAVO_DEVICE_BUFFER", std::array{"200", "1000", "4096", "1000000"}[seed % 4], 1);
    follow({&there, 1});
    EXPECT_EQ(packed_range(there, 0, there.cells), packed_range(made.view, 0, made.view.cells));
    const std::size_t first = made.view.cells / 3, last = made.view.cells - made.view.cells / 4;
    EXPECT_EQ(packed_range(there, first, last), packed_range(made.view, first, last));
  }
}

TEST_F(DevicePack, any_layout_with_wide_gaps_gives_them_too_for_fewer_bytes) {
  standin().delay(0);
  int spared = 0;
  for (std::uint64_t seed = 1000; seed < 1100; ++seed) {
    SCOPED_TRACE(seed);
    Case made = any_case(seed, 500);
    made.view.order = made.order;
    const DeviceBytes copy(made.memory);
    const ArrayView there = testing::on_device(made.view, copy, made.memory.data());
    setenv("OCTAVO_DEVICE_BUFFER", std::array{"300", "5000", "100000", "4000000"}[seed % 4], 1);
    follow({&there, 1});
    const std::size_t before = standin().copied();
    EXPECT_EQ(packed_range(there, 0, there.cells), packed_range(made.view, 0, made.view.cells));
    if (standin().copied() - before < made.memory.size() / 2) ++spared;
  }
  EXPECT_GT(spared, 30);
}

TEST_F(DevicePack, scattered_cells_cost_the_bytes_between_them_once) {
  constexpr std::size_t cells = 20000;
  std::vector<double> values(cells);
  for (std::size_t i = 0; i < cells; ++i) values[i] = std::sqrt(static_cast<double>(i));
  std::vector<std::uint32_t> order(cells);
  for (std::size_t i = 0; i < cells; ++i) order[i] = static_cast<std::uint32_t>(i * 7919 % cells);
  ArrayView view = view_of(values);
  view.order = order;
  const DeviceBytes copy(std::as_bytes(std::span(values)));
  const ArrayView there = testing::on_device(view, copy, values.data());
  setenv("OCTAVO_DEVICE_BUFFER", "16384", 1);
  follow({&there, 1});
  const std::size_t before = standin().copied();
  EXPECT_EQ(packed_range(there, 0, cells), packed_range(view, 0, cells));
  EXPECT_EQ(standin().copied() - before, cells * sizeof(double));
}

TEST_F(DevicePack, components_that_lie_apart_cost_their_own_bytes) {
  constexpr std::size_t cells = 1000, room = 100000;
  const std::vector<float> values(3 * room, 1.5F);
  ArrayView view = view_of(std::span(values).first(3 * cells), 3);
  view.stride = {.cell = 1, .x = 1, .y = 1, .z = 1, .component = room};
  const DeviceBytes copy(std::as_bytes(std::span(values)));
  const ArrayView there = testing::on_device(view, copy, values.data());
  const std::size_t before = standin().copied();
  EXPECT_EQ(packed_range(there, 0, cells), packed_range(view, 0, cells));
  EXPECT_EQ(standin().copied() - before, 3 * cells * sizeof(float));
}

// Bytes over the bus for an array of doubles, and that its packed form is the host's.
std::size_t bytes_copied(const ArrayView& view, std::span<const double> memory) {
  const DeviceBytes copy(std::as_bytes(memory));
  const ArrayView there = testing::on_device(view, copy, memory.data());
  follow({&there, 1});
  const std::size_t before = standin().copied();
  EXPECT_EQ(packed_range(there, 0, there.cells), packed_range(view, 0, view.cells));
  return standin().copied() - before;
}

std::vector<double> numbers(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 0.25 * static_cast<double>(i);
  return values;
}

// One variable of ten: blocks of 16 x 16 x 16 of each variable follow one another, or rows of each variable.
TEST_F(DevicePack, one_of_ten_variables_in_blocks_costs_its_own_bytes) {
  constexpr std::int64_t n = 16, variables = 10, cells = 12, block = n * n * n;
  const auto memory = numbers(cells * variables * block);
  ArrayView view;
  view.data = memory.data() + 3 * block;
  view.cells = cells;
  view.block = {n, n, n};
  view.stride = {.cell = variables * block, .x = 1, .y = n, .z = n * n, .component = 1};
  EXPECT_EQ(bytes_copied(view, memory), packed_bytes(view));
  setenv("OCTAVO_DEVICE_BUFFER", "10000", 1);  // smaller than a block
  EXPECT_EQ(bytes_copied(view, memory), packed_bytes(view));
}

TEST_F(DevicePack, one_of_ten_variables_in_long_rows_costs_its_own_bytes) {
  constexpr std::int64_t nx = 256, ny = 20, nz = 6, variables = 10;
  const auto memory = numbers(nx * ny * nz * variables);
  ArrayView view;
  view.data = memory.data() + 9 * nx;
  view.cells = 1;
  view.block = {nx, ny, nz};
  view.stride = {.cell = 0, .x = 1, .y = variables * nx, .z = variables * nx * ny, .component = 1};
  EXPECT_EQ(bytes_copied(view, memory), packed_bytes(view));
  // Nothing is gained by rows of a value each.
  view.data = memory.data() + 9;
  view.stride = {.cell = 0, .x = variables, .y = variables * nx, .z = variables * nx * ny, .component = 1};
  EXPECT_GT(bytes_copied(view, memory), 9 * packed_bytes(view));
}

TEST_F(DevicePack, ghosts_around_large_boxes_stay_on_the_device) {
  constexpr std::int64_t n = 64, wide = n + 8;
  const auto memory = numbers(wide * wide * wide);
  ArrayView view;
  view.data = memory.data();
  view.cells = 1;
  view.block = {n, n, n};
  view.ghost = 4;
  const std::size_t copied = bytes_copied(view, memory);
  EXPECT_LT(static_cast<double>(copied), 1.15 * static_cast<double>(packed_bytes(view)));
  EXPECT_GT(8 * memory.size(), packed_bytes(view) * 14 / 10);
}

// The bus is busy while the host packs, and the error of a box names its field.
TEST_F(DevicePack, copies_of_many_boxes_are_on_their_way_together) {
  constexpr std::size_t boxes = 40, cells = 8 * 8 * 8;
  const auto memory = numbers(boxes * cells);
  const DeviceBytes copy(std::as_bytes(std::span(memory)));
  StepArray here, there;
  here.info.name = there.info.name = "density";
  for (std::size_t i = 0; i < boxes; ++i) {
    ArrayView view;
    view.data = memory.data() + i * cells;
    view.cells = 1;
    view.block = {8, 8, 8};
    here.boxes.push_back(view);
    there.boxes.push_back(testing::on_device(view, copy, memory.data()));
  }
  setenv("OCTAVO_DEVICE_BUFFER", "16384", 1);
  follow(there.boxes);
  standin().delay(300);
  standin().most_in_flight();
  std::vector<std::byte> a(packed_bytes(here)), b(packed_bytes(there));
  EXPECT_EQ(pack(here, a, true), pack(there, b, true));
  EXPECT_EQ(a, b);
  EXPECT_GE(standin().most_in_flight(), 8);
  standin().fail(40, 700, 0);
  EXPECT_THAT(testing::message_of([&] { pack(there, b, true); }), HasSubstr("field density"));
  standin().fail(0, 0, 0);
}

TEST_F(DevicePack, pinned_memory_is_a_few_buffers) {
  const std::vector<double> values(200000, 2.5);
  const DeviceBytes copy(std::as_bytes(std::span(values)));
  const ArrayView there = testing::on_device(view_of(values), copy, values.data());
  setenv("OCTAVO_DEVICE_BUFFER", "65536", 1);
  follow({&there, 1});
  packed_range(there, 0, values.size());
  EXPECT_EQ(standin().pinned(), device::num_buffers * 65536u);
}

// A kernel that is still to run when the array is described.
TEST_F(DevicePack, values_are_read_after_the_work_of_their_stream) {
  for (const unsigned flags : {0U, 1U}) {
    for (const bool named : {true, false}) {
      if (!named && flags == 1) continue;  // the default stream does not wait for such a stream
      SCOPED_TRACE(std::to_string(flags) + (named ? " named" : ""));
      const std::vector<double> values(30000, 3.25);
      const DeviceBytes copy(std::vector<std::byte>(values.size() * sizeof(double)));
      void* stream = nullptr;
      ASSERT_EQ(standin().create_stream(&stream, flags), 0);
      standin().delay(20000);
      standin().kernel(stream, copy.data(), values.data(), copy.size());
      ArrayView there = testing::on_device(view_of(values), copy, values.data());
      there.stream = named ? stream : nullptr;
      follow({&there, 1});
      EXPECT_EQ(packed_range(there, 0, values.size()), packed_range(view_of(values), 0, values.size()));
      standin().destroy_stream(stream);
    }
  }
}

// Controls: with either wait taken out, the values are wrong while the kernel still runs. So the tests of this file can
// see a missing wait.
TEST_F(DevicePack, a_read_before_the_event_is_seen_as_wrong_values) {
  const std::vector<double> values(30000, 3.25);
  const Packed expected = packed_range(view_of(values), 0, values.size());
  for (const int bug : {1, 2}) {
    const DeviceBytes copy(std::vector<std::byte>(values.size() * sizeof(double)));
    void* stream = nullptr;
    ASSERT_EQ(standin().create_stream(&stream, 1), 0);
    standin().hold(stream);
    standin().kernel(stream, copy.data(), values.data(), copy.size());
    ArrayView there = testing::on_device(view_of(values), copy, values.data());
    there.stream = stream;
    standin().forget(bug);
    follow({&there, 1});
    EXPECT_NE(packed_range(there, 0, values.size()), expected) << bug;
    EXPECT_EQ(standin().release(), 1) << "the kernel ended before the read";
    standin().forget(0);
    EXPECT_EQ(standin().synchronize(stream), 0);
    EXPECT_EQ(packed_range(there, 0, values.size()), expected);
    standin().destroy_stream(stream);
  }
}

TEST_F(DevicePack, arrays_of_several_devices_go_through_buffers_of_each) {
  const std::vector<double> values = numbers(30000);
  std::vector<DeviceBytes> copies;
  StepArray here, there;
  for (const int device : {0, 1, 0, 2, 1}) {
    standin().use_device(device);
    void* stream = nullptr;
    ASSERT_EQ(standin().create_stream(&stream, 1), 0);
    copies.emplace_back(std::vector<std::byte>(values.size() * sizeof(double)));
    standin().delay(5000);
    standin().kernel(stream, copies.back().data(), values.data(), copies.back().size());
    here.boxes.push_back(view_of(values));
    there.boxes.push_back(testing::on_device(view_of(values), copies.back(), values.data()));
    there.boxes.back().stream = stream;
  }
  standin().use_device(0);
  setenv("OCTAVO_DEVICE_BUFFER", "65536", 1);
  const std::size_t before = standin().pinned();
  follow(there.boxes);
  EXPECT_GE(standin().pinned(), 3 * device::num_buffers * 65536u);
  EXPECT_GE(3 * device::num_buffers * 65536u, standin().pinned() - std::min(before, standin().pinned()));
  std::vector<std::byte> a(packed_bytes(here)), b(packed_bytes(there));
  EXPECT_EQ(pack(here, a, true), pack(there, b, true));
  EXPECT_EQ(a, b);
  for (const ArrayView& box : there.boxes) standin().destroy_stream(box.stream);
}

TEST_F(DevicePack, a_stream_of_another_device_or_none_is_wrong_use) {
  const std::vector<double> values(10, 1.75);
  const DeviceBytes copy(std::as_bytes(std::span(values)));
  void *foreign = nullptr, *gone = nullptr;
  standin().use_device(1);
  ASSERT_EQ(standin().create_stream(&foreign, 0), 0);
  standin().use_device(0);
  ASSERT_EQ(standin().create_stream(&gone, 0), 0);
  ArrayView there = testing::on_device(view_of(values), copy, values.data());
  follow({&there, 1});  // it opens a stream, which must not get the place of the one that goes
  standin().destroy_stream(gone);
  for (void* stream : {foreign, gone}) {
    ArrayView wrong = there;
    wrong.stream = stream;
    const base::Error error = testing::error_of([&] { follow({&wrong, 1}); });
    EXPECT_EQ(error.kind(), base::Kind::usage);
    EXPECT_THAT(error.what(), HasSubstr("stream"));
    // The reads of others go on.
    EXPECT_EQ(packed_range(there, 0, 10), packed_range(view_of(values), 0, 10));
  }
  standin().destroy_stream(foreign);
}

// Memory of a pool is read in the primary context of its device.
TEST_F(DevicePack, primary_contexts_are_released) {
  unsigned long long memory = 0;
  const std::vector<double> values(1000, 2.5);
  standin().use_device(3);
  ASSERT_EQ(standin().allocate_from_pool(&memory, values.size() * sizeof(double)), 0);
  standin().use_device(0);
  standin().poke(reinterpret_cast<void*>(memory), values.data(), values.size() * sizeof(double));
  ArrayView there = view_of(values);
  there.data = reinterpret_cast<void*>(memory);
  there.space = MemorySpace::device;
  EXPECT_EQ(standin().retained(), 0);
  for (int i = 0; i < 10; ++i) check(there);
  EXPECT_EQ(standin().retained(), 0);
  follow({&there, 1});
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(packed_range(there, 0, values.size()), packed_range(view_of(values), 0, values.size()));
  EXPECT_EQ(standin().retained(), 1);  // the buffers' stream lives in it
  for (int n = 1; n < 30; ++n) {
    standin().fail(n, 700, 0);
    testing::message_of([&] { packed_range(there, 0, values.size()); });
    standin().fail(0, 0, 0);
    EXPECT_EQ(testing::message_of([&] { follow({&there, 1}); }), "no error");
    EXPECT_EQ(standin().retained(), 1) << n;
  }
  standin().free(memory);
}

TEST_F(DevicePack, no_buffer_is_freed_while_a_copy_is_on_its_way) {
  const std::vector<double> values(20000, 4.5);
  const DeviceBytes copy(std::as_bytes(std::span(values)));
  const ArrayView there = testing::on_device(view_of(values), copy, values.data());
  setenv("OCTAVO_DEVICE_BUFFER", "8192", 1);
  standin().delay(2000);
  for (long n = 1; n < 60; ++n) {
    follow({&there, 1});
    standin().fail(n, 700, 0);
    testing::message_of([&] { packed_range(there, 0, values.size()); });
    standin().fail(0, 0, 0);
    EXPECT_EQ(standin().early_frees(), 0) << n;
  }
}

TEST_F(DevicePack, memory_that_lies_elsewhere_is_refused) {
  const std::vector<double> values(10, 1.0);
  const DeviceBytes copy(std::as_bytes(std::span(values)));
  ArrayView there = testing::on_device(view_of(values), copy, values.data());
  check(there);
  there.space = MemorySpace::host;
  EXPECT_THAT(testing::message_of([&] { check(there); }), HasSubstr("given as host memory, but it lies in device"));
  ArrayView here = view_of(values);
  check(here);
  here.space = MemorySpace::device;
  EXPECT_THAT(testing::message_of([&] { check(here); }), HasSubstr("given as device memory, but it lies in host"));
  here.cells = 0;
  check(here);
}

TEST_F(DevicePack, managed_memory_is_taken_as_either) {
  const std::vector<double> values(10, 1.75);
  const DeviceBytes copy(std::as_bytes(std::span(values)), true);
  ArrayView there = testing::on_device(view_of(values), copy, values.data());
  for (const MemorySpace space : {MemorySpace::host, MemorySpace::device}) {
    there.space = space;
    check(there);
    follow({&there, 1});
    EXPECT_EQ(packed_range(there, 0, 10), packed_range(view_of(values), 0, 10));
  }
}

// The lane is made anew, so the next read succeeds.
TEST_F(DevicePack, any_call_may_fail_and_the_next_read_succeeds) {
  const std::vector<double> values(5000, 4.5);
  const DeviceBytes copy(std::as_bytes(std::span(values)));
  const ArrayView there = testing::on_device(view_of(values), copy, values.data());
  setenv("OCTAVO_DEVICE_BUFFER", "8192", 1);
  const Packed expected = packed_range(view_of(values), 0, values.size());
  follow({&there, 1});
  const std::size_t pinned = standin().pinned();
  long failures = 0;
  for (long n = 1;; ++n) {
    standin().fail(n, 700, 0);
    const std::string message = testing::message_of([&] {
      follow({&there, 1});
      EXPECT_EQ(packed_range(there, 0, values.size()), expected);
    });
    const bool reached = standin().calls() >= n;
    standin().fail(0, 0, 0);
    if (!reached) break;
    failures += message == "no error" ? 0 : 1;
  }
  EXPECT_GT(failures, 30);
  EXPECT_EQ(standin().pinned(), pinned);
}

TEST_F(DevicePack, an_error_names_the_call_and_a_lack_of_memory_its_kind) {
  const std::vector<double> values(10, 1.0);
  const DeviceBytes copy(std::as_bytes(std::span(values)));
  const ArrayView there = testing::on_device(view_of(values), copy, values.data());
  follow({&there, 1});
  const auto message = [&](int error) {
    standin().fail(1, error, 1);
    const base::Error found = testing::error_of([&] { packed_range(there, 0, 10); });
    standin().fail(0, 0, 0);
    follow({&there, 1});
    EXPECT_EQ(found.kind(), error == 2 ? base::Kind::no_space : base::Kind::unreadable);
    return std::string(found.what());
  };
  EXPECT_THAT(message(2), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY (2), of the stand-in"));
  EXPECT_THAT(message(700), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
  EXPECT_THAT(message(999), HasSubstr("error 999"));
}

// In a program of its own (as CTest starts it) the driver is not loaded yet.
TEST(DeviceDriver, device_memory_without_a_driver_is_an_error_that_says_so) {
  if (const char* chosen = std::getenv("OCTAVO_CUDA_DRIVER"); chosen != nullptr) GTEST_SKIP() << "a driver is loaded";
  setenv("OCTAVO_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
  const std::vector<double> values(10, 1.0);
  ArrayView view = view_of(values);
  check(view);
  view.space = MemorySpace::device;
  const base::Error error = testing::error_of([&] { check(view); });
  unsetenv("OCTAVO_CUDA_DRIVER");
  EXPECT_EQ(error.kind(), base::Kind::unsupported);
  EXPECT_THAT(error.what(), HasSubstr("need CUDA's driver"));
  EXPECT_THAT(error.what(), HasSubstr("/nowhere/libcuda.so.1"));
}

TEST(DeviceDriver, it_is_known_by_name) {
  standin();
  EXPECT_THAT(device::driver().name, HasSubstr("CUDA 12.4"));
  ASSERT_NE(device::driver_in_use(), nullptr);
}

}  // namespace
}  // namespace octavo::engine::on_device
