#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// The driver of an accelerator, loaded while the program runs: neither the build nor a program without device arrays
/// needs one.
namespace octavo::engine::device {

/// Where memory lies, as the driver knows it.
struct MemoryPlace {
  bool host = true;         ///< the CPU can read it; memory that the driver does not know counts as such
  bool device = false;      ///< copies from the device can read it: device memory, managed memory, pinned memory
  void* context = nullptr;  ///< of the driver, for memory with `device`
  int primary = -1;  ///< memory of a pool has no context of its own: the device with whose primary one it is read
};

/// Device memory that is copied together: lines at regular distances, which follow one another in the buffer.
struct Lines {
  struct Axis {
    std::size_t count = 1, pitch = 0;  ///< [bytes] from a line, or a slice of lines, to the next
  };
  const void* array = nullptr;  ///< any place in it
  const void* first = nullptr;
  std::size_t width = 0;              ///< [bytes] of a line
  std::array<Axis, 4> axes{};         ///< the fastest first
  const std::string* name = nullptr;  ///< of the array, in errors
};
inline std::size_t bytes_of(const Lines& lines) {
  std::size_t bytes = lines.width;
  for (const Lines::Axis& axis : lines.axes) bytes *= axis.count;
  return bytes;
}
/// How many of the axes one call of the driver takes: rows at a pitch, and slices of a whole number of rows.
std::size_t axes_of_a_call(const Lines& lines);

/// A stream of our own on a device, and pinned buffers of the host into which it copies.
struct Lane {
  void* context = nullptr;
  int primary = -1;  ///< the device whose primary context this is, retained until the lane is closed
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
  MemoryPlace (*place_of)(const void* data) = nullptr;
  Lane (*open)(const MemoryPlace& place, std::size_t buffers, std::size_t bytes) = nullptr;
  /// Waits for the lane's copies. If the driver cannot say that they have ended, the buffers are not freed.
  void (*close)(Lane& lane) noexcept = nullptr;
  /// Later copies of the lane begin after the work that `stream` has now. Does not wait. Throws Error(usage) if it is
  /// no stream of the lane's context.
  void (*follow)(Lane& lane, void* stream) = nullptr;
  /// Begins to copy device memory to the buffer, from byte `at` of it on.
  void (*copy)(Lane& lane, std::size_t buffer, std::size_t at, const Lines& lines) = nullptr;
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
