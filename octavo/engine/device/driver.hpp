#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
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
    std::size_t count = 1;
    std::int64_t pitch = 0;  ///< [bytes] from a line, or a slice of lines, to the next; negative only if `packed`
  };
  MemoryPlace place;  ///< of the array
  const void* first = nullptr;
  std::size_t width = 0;       ///< [bytes] of a line; if `packed`, of a value: 1, 2, 4 or 8
  std::array<Axis, 5> axes{};  ///< the fastest first
  /// The device packs these: each line is a value. Else the copy engine takes each line as it is.
  bool packed = false;
  /// If `packed`: of the slices along the last axis, in pitches; 0xffffffff: zeros. Empty: 0, 1, 2 ...
  std::span<const std::uint32_t> places{};
  const std::string* name = nullptr;  ///< of the array, in errors
};
inline std::size_t bytes_of(const Lines& lines) {
  std::size_t bytes = lines.width;
  for (const Lines::Axis& axis : lines.axes) bytes *= axis.count;
  return bytes;
}
/// Bytes of a buffer that lines take: their own and, if `packed`, those that tell the device where they lie.
std::size_t room_of(const Lines& lines);
/// How many of the axes one call of the driver takes: rows at a pitch, and slices of a whole number of rows.
std::size_t axes_of_a_call(const Lines& lines);

/// Lines, and where they go in a buffer.
struct PlacedLines {
  Lines lines;
  std::size_t at = 0;  ///< [bytes]
};

/// The kernel that packs, and the memory in which it does so. Two parts of it are used in turn, on a stream of its own:
/// one is filled while the other crosses the bus.
struct Packer {
  void* module = nullptr;
  void* function = nullptr;  ///< null: the device does not pack
  void* stream = nullptr;
  struct Part {
    std::uint64_t memory = 0;                   ///< as large as a buffer
    void *packed = nullptr, *copied = nullptr;  ///< events: the kernel has filled it, the bus has taken it
  };
  std::array<Part, 2> parts{};
  std::size_t used = 0;  ///< how often a part was
  std::string why_not;   ///< the device does not pack
};

/// A stream of our own on a device, and pinned buffers of the host into which it copies.
struct Lane {
  void* context = nullptr;
  int primary = -1;  ///< the device whose primary context this is, retained until the lane is closed
  void* stream = nullptr;
  std::size_t bytes = 0;            ///< of a buffer
  std::vector<std::byte*> buffers;  ///< one event for each, which its last copy has reached
  std::vector<void*> events;
  void* followed = nullptr;  ///< the event that follow() records
  bool may_pack = false;
  Packer packer;
};

/// The functions that we need of a driver. They throw Error(no_space) if the device or the host lacks memory,
/// Error(unreadable) for any other failure; both name the driver's function and its error. Any thread may call them.
struct Driver {
  std::string name;  ///< "CUDA 12.4 (libcuda.so.1)"
  MemoryPlace (*place_of)(const void* data) = nullptr;
  /// `may_pack`: with a packer, if the device takes one.
  Lane (*open)(const MemoryPlace& place, std::size_t buffers, std::size_t bytes, bool may_pack) = nullptr;
  /// Waits for the lane's copies. If the driver cannot say that they have ended, the buffers are not freed.
  void (*close)(Lane& lane) noexcept = nullptr;
  /// Later copies of the lane begin after the work that `stream` has now. Does not wait. Throws Error(usage) if it is
  /// no stream of the lane's context.
  void (*follow)(Lane& lane, void* stream) = nullptr;
  /// Begins to copy device memory to the buffer, from byte `at` of it on.
  void (*copy)(Lane& lane, std::size_t buffer, std::size_t at, const Lines& lines) = nullptr;
  /// Whether all this memory is known to be the device's: a kernel that read other memory would cost the application
  /// its context. False if the driver does not say.
  bool (*holds)(const Lane& lane, std::span<const std::byte> memory) noexcept = nullptr;
  /// As copy(), for lines that are `packed`, of which the first is at 0: the kernel packs all of them, and one copy
  /// brings them. @pre lane.packer.function, and a buffer has room for them
  void (*pack)(Lane& lane, std::size_t buffer, std::span<const PlacedLines> lines) = nullptr;
  /// Waits for the copies to a buffer, and for nothing else on the device.
  void (*wait)(Lane& lane, std::size_t buffer) = nullptr;
};

/// The driver, if the program has loaded its library; else null. Loads nothing.
const Driver* driver_in_use();
/// Loads and starts the driver. Throws Error(unsupported) that says which library is missing, or that it finds no
/// device.
const Driver& driver();
/// False if $OCTAVO_DEVICE_KERNEL is "off": the host packs.
bool may_pack();
/// Says who packs arrays of the first device, and why not the device. Starts the driver; throws what driver() throws.
std::string who_packs();
/// The name of the library that driver() loads: libcuda.so.1, or $OCTAVO_CUDA_DRIVER, which is for tests.
std::string library_name();

}  // namespace octavo::engine::device
