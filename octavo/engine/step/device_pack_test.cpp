#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <future>
#include <map>
#include <thread>

#include "octavo/base/error.hpp"
#include "octavo/engine/device/driver.hpp"
#include "octavo/engine/device/lanes.hpp"
#include "octavo/engine/step/array_view.hpp"
#include "octavo/engine/step/step_job.hpp"
#include "tests/support/device_array.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/random_octree.hpp"
#include "tests/support/thread_sanitizer.hpp"

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
  ~DevicePack() override {
    standin().refuse(0);
    unsetenv("OCTAVO_DEVICE_BUFFER");
    unsetenv("OCTAVO_DEVICE_KERNEL");
  }
};

// Who packs: the device's kernel, or the host behind plain copies. follow() makes it so.
void let_the_device_pack(bool device) { setenv("OCTAVO_DEVICE_KERNEL", device ? "on" : "off", 1); }

/// An array whose values a kernel writes that does not run before the stand-in lets it.
struct HeldArray {
  DeviceBytes copy;
  void* stream = nullptr;
  ArrayView there;

  HeldArray(const std::vector<double>& values, const ArrayView& view)
      : copy(std::vector<std::byte>(values.size() * sizeof(double))),
        there(testing::on_device(view, copy, values.data())) {
    EXPECT_EQ(standin().create_stream(&stream, 1), 0);
    standin().hold(stream);
    standin().kernel(stream, copy.data(), values.data(), copy.size());
    there.stream = stream;
  }
  HeldArray(const HeldArray&) = delete;
  HeldArray& operator=(const HeldArray&) = delete;
  ~HeldArray() { standin().destroy_stream(stream); }
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
    setenv("OCTAVO_DEVICE_BUFFER", std::array{"512", "1000", "4096", "1000000"}[seed % 4], 1);
    for (const bool device : {false, true}) {
      let_the_device_pack(device);
      follow({&there, 1});
      const std::size_t before = standin().copied();
      EXPECT_EQ(packed_range(there, 0, there.cells), packed_range(made.view, 0, made.view.cells));
      if (device) {
        EXPECT_EQ(standin().copied() - before, packed_bytes(made.view));
      }
      const std::size_t first = made.view.cells / 3, last = made.view.cells - made.view.cells / 4;
      EXPECT_EQ(packed_range(there, first, last), packed_range(made.view, first, last));
    }
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
    setenv("OCTAVO_DEVICE_BUFFER", std::array{"600", "5000", "100000", "1000000"}[seed % 4], 1);
    for (const bool device : {true, false}) {
      let_the_device_pack(device);
      follow({&there, 1});
      const std::size_t before = standin().copied();
      EXPECT_EQ(packed_range(there, 0, there.cells), packed_range(made.view, 0, made.view.cells));
      if (device) {
        EXPECT_EQ(standin().copied() - before, packed_bytes(made.view));
      } else if (standin().copied() - before < made.memory.size() / 2) {
        ++spared;
      }
    }
  }
  EXPECT_GT(spared, 30);
}

TEST_F(DevicePack, scattered_cells_cost_the_bytes_between_them_once) {
  let_the_device_pack(false);
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
  let_the_device_pack(false);
  constexpr std::size_t cells = 1000, room = 100000;
  const std::vector<float> values(3 * room, 1.5F);
  ArrayView view = view_of(std::span(values).first(3 * cells), 3);
  view.stride = {.cell = 1, .x = 1, .y = 1, .z = 1, .component = room};
  const DeviceBytes copy(std::as_bytes(std::span(values)));
  const ArrayView there = testing::on_device(view, copy, values.data());
  follow({&there, 1});
  const std::size_t before = standin().copied();
  EXPECT_EQ(packed_range(there, 0, cells), packed_range(view, 0, cells));
  EXPECT_EQ(standin().copied() - before, 3 * cells * sizeof(float));
}

// Bytes over the bus for an array of doubles that the host packs, and that its packed form is the host's. If the device
// packs, the bus carries the packed form alone.
std::size_t bytes_copied(const ArrayView& view, std::span<const double> memory) {
  const DeviceBytes copy(std::as_bytes(memory));
  const ArrayView there = testing::on_device(view, copy, memory.data());
  const Packed expected = packed_range(view, 0, view.cells);
  const auto copied = [&](bool device) {
    let_the_device_pack(device);
    follow({&there, 1});
    const std::size_t before = standin().copied();
    EXPECT_EQ(packed_range(there, 0, there.cells), expected);
    return standin().copied() - before;
  };
  EXPECT_EQ(copied(true), packed_bytes(view));
  return copied(false);
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
  const std::size_t before = standin().pinned();  // by other tests of the process, perhaps for other devices
  follow({&there, 1});
  packed_range(there, 0, values.size());
  EXPECT_GE(standin().pinned(), device::num_buffers * 65536u);
  EXPECT_LE(standin().pinned(), before + device::num_buffers * 65536u);
}

// A view of values of which only each third belongs to the array.
ArrayView each_third(const std::vector<double>& values) {
  ArrayView view = view_of(std::span(values).first(values.size() / 3));
  view.stride.cell = 3;
  return view;
}

// ------------------------------------------------------------------ the device packs

// All kinds of layouts by name, so that a failure says which.
TEST_F(DevicePack, the_bus_carries_the_packed_form_of_any_layout) {
  const auto memory = numbers(24 * 24 * 24 * 6);
  const auto block_of = [](std::int64_t x, std::int64_t y, std::int64_t z) { return std::array{x, y, z}; };
  std::vector<std::uint32_t> order{4, ArrayView::nowhere, 0, 4, 2, 1, ArrayView::nowhere};
  std::map<std::string, ArrayView> views;
  for (const auto type :
       {mesh::ScalarType::uint8, mesh::ScalarType::float16, mesh::ScalarType::float32, mesh::ScalarType::float64}) {
    const std::string name = std::to_string(mesh::size_of(type)) + " bytes, ";
    for (const auto& [kind, block] : std::map<std::string, std::array<std::int64_t, 3>>{{"1-D", block_of(7, 1, 1)},
                                                                                        {"2-D", block_of(5, 3, 1)},
                                                                                        {"3-D", block_of(3, 5, 7)},
                                                                                        {"a value", {1, 1, 1}}}) {
      ArrayView view;
      view.data = memory.data();
      view.type = type;
      view.block = block;
      view.ghost = 2;
      for (const std::size_t cells : {0U, 1U, 7U}) {
        view.cells = cells;
        views[name + kind + ", ghosts, cells " + std::to_string(cells)] = view;
      }
      view.order = order;
      views[name + kind + ", order"] = view;
      view.order = {};
      view.ghost = 0;
      view.components = 2;
      const auto [nx, ny, nz] = block;
      view.stride = {.cell = 1, .x = 7 * ny * nz, .y = 7 * nz, .z = 7, .component = 7 * nx * ny * nz};
      views[name + kind + ", order of C"] = view;
      view.order = order;
      view.stride = {.cell = 7 * nx * ny * nz, .x = 3, .y = 3 * nx, .z = 3 * nx * ny, .component = 1};
      views[name + kind + ", strided, order"] = view;
    }
  }
  const DeviceBytes copy(std::as_bytes(std::span(memory)));
  for (const auto& [name, view] : views) {
    SCOPED_TRACE(name);
    const ArrayView there = testing::on_device(view, copy, memory.data());
    follow({&there, 1});
    const std::size_t copied = standin().copied();
    EXPECT_EQ(packed_range(there, 0, view.cells), packed_range(view, 0, view.cells));
    EXPECT_EQ(standin().copied() - copied, packed_bytes(view));
  }
}

TEST_F(DevicePack, an_array_in_the_packed_form_needs_no_kernel) {
  const auto memory = numbers(5000);
  const DeviceBytes copy(std::as_bytes(std::span(memory)));
  const ArrayView there = testing::on_device(view_of(memory), copy, memory.data());
  follow({&there, 1});
  const long before = standin().launches();
  EXPECT_EQ(packed_range(there, 0, 5000), packed_range(view_of(memory), 0, 5000));
  EXPECT_EQ(standin().launches(), before);
}

// The device would be lost by a kernel that reads values across their alignment.
TEST_F(DevicePack, values_that_are_not_aligned_are_left_to_the_host) {
  const auto memory = numbers(3000);
  const DeviceBytes copy(std::as_bytes(std::span(memory)));
  ArrayView there = testing::on_device(each_third(memory), copy, memory.data());
  there.data = static_cast<const std::byte*>(there.data) + 3;
  there.cells = 900;
  std::vector<std::byte> expected;
  for (std::size_t i = 0; i < 900; ++i) {
    const auto* from = reinterpret_cast<const std::byte*>(memory.data()) + 24 * i + 3;
    expected.insert(expected.end(), from, from + 8);
  }
  follow({&there, 1});
  const long before = standin().launches();
  EXPECT_EQ(packed_range(there, 0, 900).bytes, expected);
  EXPECT_EQ(standin().launches(), before);
}

// A kernel that reads there would cost the application its device; the copy engine refuses and all goes on.
TEST_F(DevicePack, an_array_that_reaches_beyond_its_memory_is_left_to_the_copy_engine) {
  const auto memory = numbers(3000);
  const DeviceBytes copy(std::as_bytes(std::span(memory)));
  const ArrayView there = testing::on_device(each_third(memory), copy, memory.data());
  std::vector<std::uint32_t> far{0, ArrayView::nowhere, 1000000};
  ArrayView behind = there, before = there, ordered = there;
  behind.cells = 1000000;
  before.stride.cell = -100000;
  ordered.cells = far.size();
  ordered.order = far;
  for (const ArrayView& wrong : {behind, before, ordered}) {
    follow({&there, 1});
    const std::string message = testing::message_of([&] { packed_range(wrong, 0, wrong.cells); });
    EXPECT_THAT(message, HasSubstr("CUDA_ERROR_INVALID_VALUE"));
    follow({&there, 1});
    EXPECT_EQ(packed_range(there, 0, 1000), packed_range(each_third(memory), 0, 1000));
  }
}

TEST_F(DevicePack, a_kernel_and_a_copy_each_way_serve_as_many_boxes_as_a_buffer_holds) {
  constexpr std::size_t boxes = 100, wide = 10 * 10 * 10, bytes = 8 * 8 * 8 * 8;
  const auto memory = numbers(boxes * wide);
  const DeviceBytes copy(std::as_bytes(std::span(memory)));
  StepArray here, there;
  for (std::size_t i = 0; i < boxes; ++i) {
    ArrayView view;
    view.data = memory.data() + i * wide;
    view.cells = 1;
    view.block = {8, 8, 8};
    view.ghost = 1;
    here.boxes.push_back(view);
    there.boxes.push_back(testing::on_device(view, copy, memory.data()));
  }
  constexpr std::size_t per_buffer = 16;
  setenv("OCTAVO_DEVICE_BUFFER", std::to_string(per_buffer * (bytes + 128)).c_str(), 1);
  follow(there.boxes);
  const long before = standin().launches();
  const std::size_t copied = standin().copied(), sent = standin().sent();
  std::vector<std::byte> a(packed_bytes(here)), b(packed_bytes(there));
  EXPECT_EQ(pack(here, a, true), pack(there, b, true));
  EXPECT_EQ(a, b);
  EXPECT_EQ(standin().launches() - before, (boxes + per_buffer - 1) / per_buffer);
  EXPECT_EQ(standin().copied() - copied, boxes * bytes);
  EXPECT_LT(standin().sent() - sent, boxes * 128);
}

TEST_F(DevicePack, an_order_goes_to_the_device_once) {
  constexpr std::size_t cells = 20000;
  const auto memory = numbers(cells);
  std::vector<std::uint32_t> order(cells);
  for (std::size_t i = 0; i < cells; ++i) order[i] = static_cast<std::uint32_t>(i * 7919 % cells);
  ArrayView view = view_of(memory);
  view.order = order;
  const DeviceBytes copy(std::as_bytes(std::span(memory)));
  const ArrayView there = testing::on_device(view, copy, memory.data());
  setenv("OCTAVO_DEVICE_BUFFER", "16384", 1);
  follow({&there, 1});
  const std::size_t copied = standin().copied(), sent = standin().sent();
  EXPECT_EQ(packed_range(there, 0, cells), packed_range(view, 0, cells));
  EXPECT_EQ(standin().copied() - copied, cells * sizeof(double));
  EXPECT_LT(standin().sent() - sent, cells * sizeof(std::uint32_t) * 102 / 100);
}

// Two parts of the device's memory are used in turn: a part is not filled anew before the bus has taken it.
TEST_F(DevicePack, a_slow_bus_and_a_slow_kernel_change_no_value) {
  const auto memory = numbers(60000);
  const DeviceBytes copy(std::as_bytes(std::span(memory)));
  const ArrayView there = testing::on_device(each_third(memory), copy, memory.data());
  setenv("OCTAVO_DEVICE_BUFFER", "4096", 1);
  const Packed expected = packed_range(each_third(memory), 0, 20000);
  for (const int delay : {0, 100, 1000}) {
    standin().delay(delay);
    follow({&there, 1});
    EXPECT_EQ(packed_range(there, 0, 20000), expected);
  }
}

// The work of the array's stream runs until the kernel could have read the array, had it not waited.
TEST_F(DevicePack, the_kernel_waits_for_the_stream_of_its_array) {
  const auto values = numbers(3000);
  standin().delay(0);
  const HeldArray held(values, each_third(values));
  follow({&held.there, 1});
  const long before = standin().launches();
  auto read = std::async(std::launch::async, [&] { return packed_range(held.there, 0, 1000); });
  while (standin().launches() == before) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  standin().release();
  EXPECT_EQ(read.get(), packed_range(each_third(values), 0, 1000));
}

TEST_F(DevicePack, the_host_packs_where_the_driver_refuses_the_kernel) {
  const auto memory = numbers(3000);
  const DeviceBytes copy(std::as_bytes(std::span(memory)));
  const ArrayView there = testing::on_device(each_third(memory), copy, memory.data());
  EXPECT_EQ(device::who_packs(), "the device packs");
  standin().refuse(222);
  setenv("OCTAVO_DEVICE_BUFFER", "8192", 1);
  follow({&there, 1});
  const std::size_t copied = standin().copied();
  EXPECT_EQ(packed_range(there, 0, 1000), packed_range(each_third(memory), 0, 1000));
  EXPECT_GT(standin().copied() - copied, 2 * 1000 * sizeof(double));
  const std::string says = device::who_packs();
  EXPECT_THAT(says, HasSubstr("the host packs, because"));
  EXPECT_THAT(says, HasSubstr("CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)"));
  EXPECT_THAT(says, HasSubstr("cuModuleLoadData"));
  let_the_device_pack(false);
  EXPECT_THAT(device::who_packs(), HasSubstr("OCTAVO_DEVICE_KERNEL is off"));
}

// Whatever the kernel lacks when the lane is opened, the step is taken; and nothing stays behind.
TEST_F(DevicePack, the_host_packs_where_the_device_has_no_memory_for_it) {
  const auto memory = numbers(3000);
  const DeviceBytes copy(std::as_bytes(std::span(memory)));
  const ArrayView there = testing::on_device(each_third(memory), copy, memory.data());
  const Packed expected = packed_range(each_third(memory), 0, 1000);
  setenv("OCTAVO_DEVICE_BUFFER", "4096", 1);
  int by_host = 0;
  for (long n = 1;; ++n) {
    let_the_device_pack(false);
    follow({&there, 1});
    EXPECT_EQ(standin().taken(), 0u);
    setenv("OCTAVO_DEVICE_KERNEL", "on", 1);  // a new lane
    standin().fail(n, 2, 0);
    const std::string message = testing::message_of([&] { follow({&there, 1}); });
    const bool reached = standin().calls() >= n;
    standin().fail(0, 0, 0);
    if (!reached) break;
    if (message != "no error") continue;
    const long before = standin().launches();
    EXPECT_EQ(packed_range(there, 0, 1000), expected);
    if (standin().launches() == before) ++by_host;
  }
  // The module, the stream, two parts with two events each, the function.
  EXPECT_GE(by_host, 9);
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
      for (const ArrayView& view : {each_third(values), view_of(values)}) {
        ArrayView there = testing::on_device(view, copy, values.data());
        there.stream = named ? stream : nullptr;
        follow({&there, 1});
        EXPECT_EQ(packed_range(there, 0, view.cells), packed_range(view, 0, view.cells));
      }
      standin().destroy_stream(stream);
    }
  }
}

// Controls: with either wait taken out, the values are wrong while the kernel still runs. So the tests of this file can
// see a missing wait.
TEST_F(DevicePack, a_read_before_the_event_is_seen_as_wrong_values) {
  if (testing::thread_sanitizer()) GTEST_SKIP() << "without the wait there is a race, and the thread sanitizer says so";
  std::vector<double> values(30000, 3.25);
  for (const auto& [bug, view] : {std::pair{1, view_of(values)}, std::pair{2, view_of(values)},
                                  std::pair{1, each_third(values)}, std::pair{2, each_third(values)}}) {
    for (double& value : values) value += 1;  // not those that lie in buffers since before
    const Packed expected = packed_range(view, 0, view.cells);
    const HeldArray held(values, view);
    standin().forget(bug);
    follow({&held.there, 1});
    EXPECT_NE(packed_range(held.there, 0, view.cells), expected) << bug;
    EXPECT_EQ(standin().release(), 1) << "the kernel ended before the read";
    standin().forget(0);
    EXPECT_EQ(standin().synchronize(held.stream), 0);
    EXPECT_EQ(packed_range(held.there, 0, view.cells), expected);
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
    here.boxes.push_back(device == 1 ? view_of(values) : each_third(values));
    there.boxes.push_back(testing::on_device(here.boxes.back(), copies.back(), values.data()));
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
  setenv("OCTAVO_DEVICE_BUFFER", "8192", 1);
  standin().delay(2000);
  for (const ArrayView& view : {view_of(values), each_third(values)}) {
    const ArrayView there = testing::on_device(view, copy, values.data());
    for (long n = 1; n < 60; ++n) {
      follow({&there, 1});
      standin().fail(n, 700, 0);
      testing::message_of([&] { packed_range(there, 0, view.cells); });
      standin().fail(0, 0, 0);
      EXPECT_EQ(standin().early_frees(), 0) << n;
    }
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
  const auto values = numbers(15000);
  const DeviceBytes copy(std::as_bytes(std::span(values)));
  setenv("OCTAVO_DEVICE_BUFFER", "8192", 1);
  for (const ArrayView& view : {view_of(std::span(values).first(5000)), each_third(values)}) {
    const ArrayView there = testing::on_device(view, copy, values.data());
    const Packed expected = packed_range(view, 0, view.cells);
    follow({&there, 1});
    const std::size_t pinned = standin().pinned(), taken = standin().taken();
    EXPECT_GT(taken, 0u);
    long failures = 0;
    for (long n = 1;; ++n) {
      standin().fail(n, 700, 0);
      const std::string message = testing::message_of([&] {
        follow({&there, 1});
        EXPECT_EQ(packed_range(there, 0, view.cells), expected);
      });
      const bool reached = standin().calls() >= n;
      standin().fail(0, 0, 0);
      if (!reached) break;
      failures += message == "no error" ? 0 : 1;
    }
    EXPECT_GT(failures, 30);
    EXPECT_EQ(standin().pinned(), pinned);
    EXPECT_EQ(standin().taken(), taken);
  }
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
