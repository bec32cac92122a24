#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "octavo/engine/device/driver.hpp"

/// Copies from device memory through pinned buffers. There is one lane for each of the driver's contexts. It is made
/// when it is first needed and stays until the program ends.
namespace octavo::engine::device {

/// Bytes of a pinned buffer, 512 to 2^30; there are `num_buffers` for each context. $OCTAVO_DEVICE_BUFFER changes it,
/// for tests.
std::size_t buffer_bytes();
constexpr std::size_t num_buffers = 4;

/// Throws Error(usage) if memory that is given as device memory is not, or the other way round, and Error(unsupported)
/// for device memory without a driver. Managed memory and pinned memory are both.
void check_place(const void* data, bool is_device);

/// Device memory, and the stream whose work its values wait for (null: the default stream).
struct DeviceArray {
  const void* data = nullptr;
  void* stream = nullptr;
};
/// Later reads from the contexts of these arrays begin after the work that the streams have now. Also replaces lanes
/// that have failed. Call it on the thread of the application, which may mean its own default stream. Throws
/// Error(usage) for a stream of another context than its array.
void follow(std::span<const DeviceArray> sources);

/// Whether the device itself packs an array of this place that lies in `memory`. Opens the context's lane. Throws an
/// error of the device, named by `name`.
bool packs(const MemoryPlace& place, std::span<const std::byte> memory, const std::string* name);

/// Copies what `next` names until it returns false, and calls `take` with the bytes of each, in order. Copies are on
/// their way while `take` works: as many as the buffers hold, of any arrays. Those of another context begin when all
/// before have been taken. Waits for another thread's read from the same context. If the device fails, the lane is
/// closed: later reads throw the same error until follow() is called. An error of a copy is named by its `name`.
/// @pre room_of(lines) <= buffer_bytes(); lines are `packed` only where packs() says that the device packs
void read(const std::function<bool(Lines&)>& next, const std::function<void(std::span<const std::byte>)>& take);

}  // namespace octavo::engine::device
