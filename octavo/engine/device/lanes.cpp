#include "octavo/engine/device/lanes.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "octavo/base/current_error.hpp"
#include "octavo/engine/device/driver.hpp"

namespace octavo::engine::device {
namespace {

using base::Error;
using base::Kind;

struct OpenLane {
  std::mutex mutex;
  std::optional<Lane> lane;
  std::optional<Error> failure;

  void prepare(void* context) {
    if (!lane) lane = driver().open(context, num_buffers, buffer_bytes());
  }
  void close() {
    if (lane) driver().close(*lane);
    lane.reset();
  }
  void fail(const Error& error) {
    failure = error;
    close();
  }
};

// Never destroyed: when the program ends, the driver may end first.
OpenLane& lane_in(void* context) {
  static std::mutex mutex;
  static auto& lanes = *new std::map<void*, std::unique_ptr<OpenLane>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<OpenLane>& lane = lanes[context];
  if (!lane) lane = std::make_unique<OpenLane>();
  return *lane;
}

// Copies to buffers, one after another, each of which is taken before it is used again.
void flow(Lane& lane, const std::function<bool(Lines&)>& next,
          const std::function<void(std::span<const std::byte>)>& take) {
  const Driver& with = driver();
  std::size_t begun = 0, taken = 0;
  std::vector<std::size_t> filled(num_buffers);
  const auto take_next = [&] {
    const std::size_t buffer = taken++ % num_buffers;
    with.wait(lane, buffer);
    take({lane.buffers[buffer], filled[buffer]});
  };
  for (Lines lines; next(lines); ++begun) {
    if (begun - taken == num_buffers) take_next();
    const std::size_t buffer = begun % num_buffers;
    const auto* line = static_cast<const std::byte*>(lines.first);
    for (std::size_t i = 0; i < lines.count; ++i, line += lines.pitch)
      with.copy(lane, buffer, i * lines.width, line, lines.width);
    filled[buffer] = bytes_of(lines);
  }
  while (taken < begun) take_next();
}

}  // namespace

std::size_t buffer_bytes() {
  constexpr std::size_t usual = std::size_t{4} << 20;
  const char* chosen = std::getenv("OCTAVO_DEVICE_BUFFER");
  if (chosen == nullptr) return usual;
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(chosen, chosen + std::strlen(chosen), bytes);
  return error == std::errc{} && *end == '\0' && bytes >= 64 ? bytes : usual;
}

namespace {

// A device that has failed cannot say; arrays of the host are still written then.
bool readable_by_host(const void* data) {
  const Driver* known = driver_in_use();
  if (known == nullptr) return true;
  try {
    return known->place_of(data).host;
  } catch (const Error&) {
    return true;
  }
}

}  // namespace

void check_place(const void* data, bool is_device) {
  if (data == nullptr) return;
  if (is_device) {
    if (!driver().place_of(data).device)
      throw Error(Kind::usage, "the array is given as device memory, but it lies in host memory");
    return;
  }
  if (!readable_by_host(data))
    throw Error(Kind::usage, "the array is given as host memory, but it lies in device memory")
        .hint("space = device in the array's description");
}

namespace {

void follow(void* context, void* stream) {
  OpenLane& open = lane_in(context);
  const std::lock_guard lock(open.mutex);
  open.failure.reset();
  if (open.lane && open.lane->bytes != buffer_bytes()) open.close();
  try {
    open.prepare(context);
    driver().follow(*open.lane, stream);
  } catch (...) {
    open.fail(base::current_error());
    throw;
  }
}

}  // namespace

void follow(std::span<const Source> sources) {
  std::set<std::pair<void*, void*>> followed;
  for (const Source& source : sources) {
    void* context = driver().place_of(source.data).context;
    if (followed.insert({context, source.stream}).second) follow(context, source.stream);
  }
}

void read(const void* data, const std::function<bool(Lines&)>& next,
          const std::function<void(std::span<const std::byte>)>& take) {
  void* context = driver().place_of(data).context;
  OpenLane& open = lane_in(context);
  const std::lock_guard lock(open.mutex);
  if (open.failure) throw *open.failure;
  try {
    open.prepare(context);
    flow(*open.lane, next, take);
  } catch (...) {
    open.fail(base::current_error());
    throw;
  }
}

}  // namespace octavo::engine::device
