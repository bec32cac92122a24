// octavo_bench_device [MB] [runs]   The rate at which arrays in device memory are packed, and that their bytes are
// right.
//
// For a machine with a GPU (some seconds). Prints a table for docs/performance.md: of each layout, the packed bytes a
// second where the device packs and where the host does, against the bus alone. This is the visible time of end_step()
// in background mode. Exits with 1 if the bytes differ from those of the same array in host memory. With the tests'
// stand-in for a driver (OCTAVO_CUDA_DRIVER) it runs without a GPU; its rates then say nothing.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "octavo/engine/device/cuda.hpp"
#include "octavo/engine/device/lanes.hpp"
#include "octavo/engine/step/step_job.hpp"

namespace {

using namespace octavo::engine;
using device::cuda::functions;
using device::cuda::require;

int runs = 3;

// The least of some runs.
template <class Work>
double seconds_of(Work&& work) {
  double best = 1e30;
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

// Values in host memory, the same in device memory, and a pinned buffer through which they got there.
struct TwoMemories {
  std::vector<double> here;
  std::uint64_t there = 0;
  void *stream = nullptr, *pinned = nullptr;
  std::size_t pinned_bytes = device::buffer_bytes();
};

TwoMemories make_memories(std::size_t values) {
  TwoMemories made;
  made.here.resize(values);
  std::mt19937_64 random(1);
  for (double& value : made.here) value = static_cast<double>(random() >> 11);
  require(functions.device_alloc(&made.there, values * sizeof(double)), "cuMemAlloc");
  require(functions.host_alloc(&made.pinned, made.pinned_bytes, device::cuda::host_alloc_portable), "cuMemHostAlloc");
  require(functions.stream_create(&made.stream, device::cuda::stream_non_blocking), "cuStreamCreate");
  const std::size_t bytes = values * sizeof(double);
  for (std::size_t at = 0; at < bytes; at += made.pinned_bytes) {
    const std::size_t count = std::min(made.pinned_bytes, bytes - at);
    std::memcpy(made.pinned, reinterpret_cast<const std::byte*>(made.here.data()) + at, count);
    require(functions.copy_to_device(made.there + at, made.pinned, count, made.stream), "cuMemcpyHtoDAsync");
    require(functions.stream_synchronize(made.stream), "cuStreamSynchronize");
  }
  return made;
}

// Bytes a second of plain copies to a pinned buffer.
double rate_of_the_bus(const TwoMemories& memories) {
  const std::size_t copies = std::max<std::size_t>(1, memories.here.size() * sizeof(double) / memories.pinned_bytes);
  const std::size_t bytes = std::min(memories.pinned_bytes, memories.here.size() * sizeof(double));
  const double seconds = seconds_of([&] {
    for (std::size_t i = 0; i < copies; ++i)
      require(functions.copy_to_host(memories.pinned, memories.there + i * bytes, bytes, memories.stream),
              "cuMemcpyDtoHAsync");
    require(functions.stream_synchronize(memories.stream), "cuStreamSynchronize");
  });
  return static_cast<double>(copies * bytes) / seconds;
}

// ------------------------------------------------------------------ layouts

struct Layout {
  std::string name;
  StepArray array;
  std::vector<std::uint32_t> order{};
};

ArrayView blocks_of(const std::vector<double>& memory, std::int64_t n, int ghost) {
  ArrayView view;
  view.data = memory.data();
  view.block = {n, n, n};
  view.ghost = ghost;
  const auto wide = static_cast<std::size_t>(n + 2 * ghost);
  view.cells = memory.size() / (wide * wide * wide);
  return view;
}

Layout one_array(const std::string& name, const ArrayView& view) {
  Layout layout{name, {}};
  layout.array.info.name = name;
  layout.array.view = view;
  return layout;
}

Layout shuffled(const std::string& name, ArrayView view) {
  Layout layout = one_array(name, view);
  layout.order.resize(view.cells);
  std::iota(layout.order.begin(), layout.order.end(), 0U);
  std::shuffle(layout.order.begin(), layout.order.end(), std::mt19937_64(2));
  return layout;
}

Layout boxes_of(const std::vector<double>& memory) {
  Layout layout{"boxes of 32^3 with 2 ghosts, each an array", {}};
  layout.array.info.name = "boxes";
  const ArrayView all = blocks_of(memory, 32, 2);
  for (std::size_t i = 0; i < all.cells; ++i) {
    ArrayView box = all;
    box.data = memory.data() + i * 36 * 36 * 36;
    box.cells = 1;
    layout.array.boxes.push_back(box);
  }
  return layout;
}

std::vector<Layout> layouts_of(const std::vector<double>& memory) {
  ArrayView fastest = view_of(std::span(memory).first(memory.size() / 10));
  fastest.stride.cell = 10;
  ArrayView rows;  // [z][y][variable][x]
  rows.data = memory.data();
  rows.block = {8, 8, static_cast<std::int64_t>(memory.size() / 640)};
  rows.cells = 1;
  rows.stride = {.cell = 0, .x = 1, .y = 80, .z = 640, .component = 1};
  std::vector<Layout> layouts;
  layouts.push_back(one_array("packed", view_of(memory)));
  layouts.push_back(one_array("one of ten variables, the fastest axis", fastest));
  layouts.push_back(one_array("one of ten variables, rows of 8", rows));
  layouts.push_back(one_array("blocks of 16^3 with 4 ghosts", blocks_of(memory, 16, 4)));
  layouts.push_back(one_array("blocks of 64^3 with 4 ghosts", blocks_of(memory, 64, 4)));
  layouts.push_back(boxes_of(memory));
  layouts.push_back(shuffled("cells in another order", view_of(memory)));
  layouts.push_back(shuffled("blocks of 8^3 in another order", blocks_of(memory, 8, 0)));
  for (Layout& layout : layouts) layout.array.view.order = layout.order;
  return layouts;
}

// ------------------------------------------------------------------ the table

StepArray on_device(StepArray array, const TwoMemories& memories) {
  const auto move = [&](ArrayView& view) {
    const auto offset =
        static_cast<const std::byte*>(view.data) - reinterpret_cast<const std::byte*>(memories.here.data());
    view.data = reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(memories.there)) + offset;
    view.space = MemorySpace::device;
  };
  for (ArrayView& box : array.boxes) move(box);
  if (array.boxes.empty()) move(array.view);
  return array;
}

// Returns whether the bytes are right. `gb_per_s`: of the packed form.
bool packs_well(const StepArray& array, std::span<const std::byte> expected, bool device, double& gb_per_s) {
  setenv("OCTAVO_DEVICE_KERNEL", device ? "on" : "off", 1);
  if (array.boxes.empty())
    follow({&array.view, 1});
  else
    follow(array.boxes);
  std::vector<std::byte> out(expected.size());
  const double seconds = seconds_of([&] { pack(array, out, true); });
  gb_per_s = static_cast<double>(out.size()) / seconds / 1e9;
  return std::equal(out.begin(), out.end(), expected.begin());
}

int measure(std::size_t megabytes) {
  std::printf("%s; %s\n\n", device::driver().name.c_str(), device::who_packs().c_str());
  void* context = nullptr;
  require(functions.retain_primary(&context, 0), "cuDevicePrimaryCtxRetain");
  require(functions.push(context), "cuCtxPushCurrent");
  const TwoMemories memories = make_memories(megabytes * 1000000 / sizeof(double));
  std::printf("%zu MB of float64, with checksums; copies alone: %.1f GB/s\n\n", megabytes,
              rate_of_the_bus(memories) / 1e9);
  std::printf("| array | packed MB | the device packs, GB/s | the host packs, GB/s | bytes |\n|---|---|---|---|---|\n");
  bool good = true;
  for (const Layout& layout : layouts_of(memories.here)) {
    std::vector<std::byte> expected(packed_bytes(layout.array));
    pack(layout.array, expected, false);
    const StepArray there = on_device(layout.array, memories);
    double by_device = 0, by_host = 0;
    const bool right = packs_well(there, expected, true, by_device) && packs_well(there, expected, false, by_host);
    std::printf("| %s | %.1f | %.2f | %.2f | %s |\n", layout.name.c_str(), static_cast<double>(expected.size()) / 1e6,
                by_device, by_host, right ? "right" : "WRONG");
    good = good && right;
  }
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) runs = std::max(1, std::atoi(argv[2]));
  try {
    return measure(argc > 1 ? static_cast<std::size_t>(std::max(1, std::atoi(argv[1]))) : 512);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "octavo_bench_device: %s\n", error.what());
    return 1;
  }
}
