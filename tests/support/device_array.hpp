#pragma once
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "octavo/engine/step/array_view.hpp"
#include "tests/device/standin_cuda.h"

/// Arrays in the memory of the stand-in device.
namespace octavo::testing {

/// The stand-in's functions. From the first call on it is the driver of this program.
struct Standin {
  decltype(&cuMemAlloc_v2) allocate = nullptr;
  decltype(&cuMemAllocManaged) allocate_managed = nullptr;
  decltype(&cuMemFree_v2) free = nullptr;
  decltype(&cuStreamCreate) create_stream = nullptr;
  decltype(&cuStreamDestroy_v2) destroy_stream = nullptr;
  decltype(&cuStreamSynchronize) synchronize = nullptr;
  decltype(&standin_poke) poke = nullptr;
  decltype(&standin_peek) peek = nullptr;
  decltype(&standin_kernel) kernel = nullptr;
  decltype(&standin_hold) hold = nullptr;
  decltype(&standin_release) release = nullptr;
  decltype(&standin_use_device) use_device = nullptr;
  decltype(&standin_allocate_from_pool) allocate_from_pool = nullptr;
  decltype(&standin_forget) forget = nullptr;
  decltype(&standin_retained) retained = nullptr;
  decltype(&standin_early_frees) early_frees = nullptr;
  decltype(&standin_most_in_flight) most_in_flight = nullptr;
  decltype(&standin_delay) delay = nullptr;
  decltype(&standin_fail) fail = nullptr;
  decltype(&standin_calls) calls = nullptr;
  decltype(&standin_copied) copied = nullptr;
  decltype(&standin_pinned) pinned = nullptr;
  decltype(&standin_sent) sent = nullptr;
  decltype(&standin_taken) taken = nullptr;
  decltype(&standin_refuse) refuse = nullptr;
  decltype(&standin_launches) launches = nullptr;
};

inline const Standin& standin() {
  static const Standin table = [] {
    setenv("OCTAVO_CUDA_DRIVER", OCTAVO_STANDIN, 1);
    void* library = dlopen(OCTAVO_STANDIN, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    Standin found;
    const auto find = [&](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    };
    find("cuMemAlloc_v2", found.allocate);
    find("cuMemAllocManaged", found.allocate_managed);
    find("cuMemFree_v2", found.free);
    find("cuStreamCreate", found.create_stream);
    find("cuStreamDestroy_v2", found.destroy_stream);
    find("cuStreamSynchronize", found.synchronize);
    find("standin_poke", found.poke);
    find("standin_peek", found.peek);
    find("standin_kernel", found.kernel);
    find("standin_hold", found.hold);
    find("standin_release", found.release);
    find("standin_use_device", found.use_device);
    find("standin_allocate_from_pool", found.allocate_from_pool);
    find("standin_forget", found.forget);
    find("standin_retained", found.retained);
    find("standin_early_frees", found.early_frees);
    find("standin_most_in_flight", found.most_in_flight);
    find("standin_delay", found.delay);
    find("standin_fail", found.fail);
    find("standin_calls", found.calls);
    find("standin_copied", found.copied);
    find("standin_pinned", found.pinned);
    find("standin_sent", found.sent);
    find("standin_taken", found.taken);
    find("standin_refuse", found.refuse);
    find("standin_launches", found.launches);
    return found;
  }();
  return table;
}

/// A copy of bytes in device memory.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::span<const std::byte> bytes, bool managed = false) : size_(bytes.size()) {
    const int error = managed ? standin().allocate_managed(&at_, size_, 1) : standin().allocate(&at_, size_);
    EXPECT_EQ(error, 0);
    if (size_ > 0) standin().poke(data(), bytes.data(), size_);
  }
  ~DeviceBytes() {
    if (at_ != 0) standin().free(at_);
  }
  DeviceBytes(DeviceBytes&& other) noexcept : at_(std::exchange(other.at_, 0)), size_(other.size_) {}
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  DeviceBytes& operator=(DeviceBytes&&) = delete;

  void* data() const { return reinterpret_cast<void*>(at_); }
  std::size_t size() const { return size_; }
  /// Overwrites all of it at once, as a kernel that the application starts now may do.
  void spoil() const {
    const std::vector<std::byte> other(size_, std::byte{0x5a});
    standin().poke(data(), other.data(), size_);
  }

 private:
  unsigned long long at_ = 0;
  std::size_t size_ = 0;
};

/// The same array in device memory. `bytes` are all of the host's memory that holds it, from its first byte on.
inline engine::ArrayView on_device(engine::ArrayView view, const DeviceBytes& copy, const void* host_memory) {
  const auto offset = static_cast<const std::byte*>(view.data) - static_cast<const std::byte*>(host_memory);
  view.data = static_cast<const std::byte*>(copy.data()) + offset;
  view.space = engine::MemorySpace::device;
  return view;
}

}  // namespace octavo::testing
