#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// The driver of an accelerator, loaded while the program runs: neither the build nor a program without device arrays
/// needs one.
namespace octavo::engine::device {

/// Where memory lies, as the driver knows it.
struct Place {
  bool host = true;         ///< the CPU can read it; memory that the driver does not know counts as such
  bool device = false;      ///< copies from the device can read it: device memory, managed memory, pinned memory
  void* context = nullptr;  ///< of the driver, for memory with `device`
};

/// A stream of our own on a device, and pinned buffers of the host into which it copies.
struct Lane {
  void* context = nullptr;
  void* stream = nullptr;
  std::size_t bytes = 0;            ///< of a buffer
  std::vector<std::byte*> buffers;  ///< one event for each, which its last copy has reached
  std::vector<void*> events;
  void* followed = nullptr;  ///< the event that follow() records
};

/// The six functions that we need of a driver. They throw Error(no_space) if the device or the host lacks memory,
/// Error(unreadable) for any other failure; both name the driver's function and its error. Any thread may call them.
struct Driver {
  std::string name;  ///< "CUDA 12.4 (libcuda.so.1)"
  Place (*place_of)(const void* data) = nullptr;
  Lane (*open)(void* context, std::size_t buffers, std::size_t bytes) = nullptr;
  void (*close)(Lane& lane) noexcept = nullptr;
  /// Later copies of the lane begin after the work that `stream` has now. Does not wait.
  void (*follow)(Lane& lane, void* stream) = nullptr;
  /// Begins to copy device memory to the buffer, from byte `at` of it on.
  void (*copy)(Lane& lane, std::size_t buffer, std::size_t at, const void* from, std::size_t bytes) = nullptr;
  /// Waits for the copies to a buffer, and for nothing else on the device.
  void (*wait)(Lane& lane, std::size_t buffer) = nullptr;
};

/// The driver, if the program has loaded its library; else null. Loads nothing.
const Driver* driver_in_use();
/// Loads and starts the driver. Throws Error(unsupported) that says which library is missing, or that it finds no
/// device.
const Driver& driver();
/// The name of the library that driver() loads: libcuda.so.1, or $OCTAVO_CUDA_DRIVER, which is for tests.
std::string library_name();

}  // namespace octavo::engine::device
