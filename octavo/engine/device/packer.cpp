#include "octavo/engine/device/packer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/engine/device/cuda.hpp"
#include "octavo/engine/device/pack_kernel.h"

/// A buffer holds the values first and then the table: one job for each array, and the places of their slices. The
/// table goes to the device, the kernel packs the values there, and they come back: one copy each way, whatever number
/// of arrays.
namespace octavo::engine::device {
namespace {

using cuda::functions;
using cuda::require;

constexpr unsigned threads_of_block = 256, most_blocks = 4096;
constexpr std::size_t table_alignment = 16;

std::size_t table_at(std::size_t values) { return (values + table_alignment - 1) / table_alignment * table_alignment; }

std::size_t table_bytes(const Lines& lines) { return sizeof(octavo_pack_job) + lines.places.size_bytes(); }

void load(Packer& packer, std::size_t bytes) {
  require(functions.module_load(&packer.module, cuda::pack_kernel_ptx), "cuModuleLoadData");
  require(functions.stream_create(&packer.stream, cuda::stream_non_blocking), "cuStreamCreate");
  for (Packer::Part& part : packer.parts) {
    require(functions.device_alloc(&part.memory, bytes), "cuMemAlloc");
    part.packed = cuda::new_event();
    part.copied = cuda::new_event();
  }
  require(functions.module_function(&packer.function, packer.module, "octavo_pack"), "cuModuleGetFunction");
}

template <class T>
T* device_pointer(std::uint64_t address) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

octavo_pack_job job_of(const PlacedLines& placed, std::uint64_t memory, std::uint64_t places) {
  const Lines& lines = placed.lines;
  octavo_pack_job job{};
  job.from = static_cast<const unsigned char*>(lines.first);
  job.to = device_pointer<unsigned char>(memory + placed.at);
  job.places = lines.places.empty() ? nullptr : device_pointer<const unsigned>(places);
  for (std::size_t axis = 0; axis < lines.axes.size(); ++axis) {
    job.pitch[axis] = lines.axes[axis].pitch;
    job.count[axis] = static_cast<unsigned>(lines.axes[axis].count);
  }
  job.size = static_cast<unsigned>(lines.width);
  return job;
}

// Writes the jobs and the places to `to`; they will lie at `table` in the device's memory. Returns the bytes.
std::size_t write_table(std::span<const PlacedLines> lines, std::uint64_t memory, std::uint64_t table, std::byte* to) {
  std::size_t end = lines.size() * sizeof(octavo_pack_job);
  for (const PlacedLines& placed : lines) {
    const octavo_pack_job job = job_of(placed, memory, table + end);
    std::memcpy(to, &job, sizeof job);
    to += sizeof job;
    end += placed.lines.places.size_bytes();
  }
  for (const PlacedLines& placed : lines)
    to = std::copy_n(reinterpret_cast<const std::byte*>(placed.lines.places.data()), placed.lines.places.size_bytes(),
                     to);
  return end;
}

void launch(const Packer& packer, std::span<const PlacedLines> lines, std::uint64_t table) {
  std::size_t most_values = 1;
  for (const PlacedLines& placed : lines)
    most_values = std::max(most_values, bytes_of(placed.lines) / placed.lines.width);
  auto num_jobs = static_cast<unsigned>(lines.size());
  const unsigned rows = std::min(num_jobs, most_blocks);
  const auto wanted = static_cast<unsigned>((most_values + threads_of_block - 1) / threads_of_block);
  const unsigned blocks = std::clamp(wanted, 1U, std::max(1U, most_blocks / rows));
  std::array<void*, 2> parameters{&table, &num_jobs};
  require(functions.launch(packer.function, blocks, rows, 1, threads_of_block, 1, 1, 0, packer.stream,
                           parameters.data(), nullptr),
          "cuLaunchKernel");
}

}  // namespace

std::size_t room_of(const Lines& lines) {
  return bytes_of(lines) + (lines.packed ? table_bytes(lines) + table_alignment : 0);
}

Packer open_packer(std::size_t bytes) {
  Packer packer;
  try {
    load(packer, bytes);
  } catch (const base::Error& error) {
    close_packer(packer, true);
    packer.why_not = error.what();
  }
  return packer;
}

void close_packer(Packer& packer, bool ended) noexcept {
  for (Packer::Part& part : packer.parts) {
    if (ended && part.memory != 0) functions.device_free(part.memory);
    for (void* event : {part.packed, part.copied})
      if (event != nullptr) functions.event_destroy(event);
  }
  if (packer.stream != nullptr) functions.stream_destroy(packer.stream);
  if (ended && packer.module != nullptr) functions.module_unload(packer.module);
  packer = {};
}

void pack_on_device(Lane& lane, std::size_t buffer, std::span<const PlacedLines> lines) {
  Packer& packer = lane.packer;
  Packer::Part& part = packer.parts[packer.used++ % packer.parts.size()];
  const std::size_t values = lines.back().at + bytes_of(lines.back().lines), at = table_at(values);
  std::byte* table = lane.buffers[buffer] + at;
  const std::size_t bytes = write_table(lines, part.memory, part.memory + at, table);
  // The kernel overwrites what the bus took from this part before.
  require(functions.stream_wait_event(packer.stream, part.copied, 0), "cuStreamWaitEvent");
  require(functions.copy_to_device(part.memory + at, table, bytes, packer.stream), "cuMemcpyHtoDAsync");
  launch(packer, lines, part.memory + at);
  require(functions.event_record(part.packed, packer.stream), "cuEventRecord");
  require(functions.stream_wait_event(lane.stream, part.packed, 0), "cuStreamWaitEvent");
  require(functions.copy_to_host(lane.buffers[buffer], part.memory, values, lane.stream), "cuMemcpyDtoHAsync");
  require(functions.event_record(part.copied, lane.stream), "cuEventRecord");
}

}  // namespace octavo::engine::device
