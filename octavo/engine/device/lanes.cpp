#include "octavo/engine/device/lanes.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "octavo/base/current_error.hpp"

namespace octavo::engine::device {
namespace {

using base::Error;
using base::Kind;

// One context's lane. `mutex` lets one reader use it at a time. After a failure every read throws it again, until the
// next end_step() calls follow(): a step is never half of one try and half of another.
struct OpenLane {
  std::mutex mutex;
  std::optional<Lane> lane;
  std::optional<Error> failure;

  void prepare(const MemoryPlace& place) {
    if (!lane) lane = driver().open(place, num_buffers, buffer_bytes(), may_pack());
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

// Names the array in an error.
template <class Work>
auto named(const std::string* name, Work&& work) {
  try {
    return work();
  } catch (Error& error) {
    if (name != nullptr) error.at(*name);
    throw;
  }
}

// Where lines begin in a buffer of which so many bytes are used.
std::size_t begin_of(const Lines& lines, std::size_t used) {
  const std::size_t alignment = lines.packed ? lines.width : sizeof(std::uint64_t);  // the largest value
  return (used + alignment - 1) / alignment * alignment;
}

// The source of lines. It gives the next lines until the arrays end.
class Reading {
 public:
  explicit Reading(const std::function<bool(Lines&)>& next) : next_(next) { pass(); }
  bool ended() const { return !more_; }
  const Lines& lines() const { return lines_; }
  void pass() { more_ = next_(lines_); }

 private:
  const std::function<bool(Lines&)>& next_;
  bool more_ = false;
  Lines lines_;
};

// Fills the buffers in turn. Each is taken before it is used again.
class BufferedCopy {
 public:
  BufferedCopy(Lane& lane, const std::function<void(std::span<const std::byte>)>& take) : lane_(lane), take_(take) {}

  void add(const Lines& lines) {
    const std::size_t bytes = bytes_of(lines), table = room_of(lines) - bytes;
    // Small arrays share a buffer: each copy has a fixed price, and so has each wait.
    const bool full = begin_of(lines, used_) + bytes + table_ + table > lane_.bytes;
    if (!batch_.empty() && (full || batch_.front().lines.packed != lines.packed)) begin();
    batch_.push_back({lines, begin_of(lines, used_)});
    used_ = batch_.back().at + bytes;
    table_ += table;
  }
  void finish() {
    begin();
    while (taken_ < begun_) take_oldest();
  }

 private:
  void begin() {
    if (batch_.empty()) return;
    if (begun_ - taken_ == num_buffers) take_oldest();
    const std::size_t buffer = begun_++ % num_buffers;
    const PlacedLines& first = batch_.front();
    if (first.lines.packed)
      named(first.lines.name, [&] { pack(buffer); });
    else
      for (const PlacedLines& one : batch_)
        named(one.lines.name, [&] { driver().copy(lane_, buffer, one.at, one.lines); });
    in_[buffer] = std::exchange(batch_, {});
    used_ = table_ = 0;
  }
  void pack(std::size_t buffer) {
    // packs() said so, then the device failed in another thread, and its new lane got no kernel.
    if (lane_.packer.function == nullptr)
      throw Error(Kind::unreadable, "the device failed meanwhile, and does not pack any more: " + lane_.packer.why_not);
    driver().pack(lane_, buffer, batch_);
  }
  void take_oldest() {
    const std::size_t buffer = taken_++ % num_buffers;
    named(in_[buffer].front().lines.name, [&] { driver().wait(lane_, buffer); });
    for (const auto& [lines, at] : in_[buffer]) take_({lane_.buffers[buffer] + at, bytes_of(lines)});
  }

  Lane& lane_;
  const std::function<void(std::span<const std::byte>)>& take_;
  std::array<std::vector<PlacedLines>, num_buffers> in_;
  std::vector<PlacedLines> batch_;    // for the next buffer: all are packed by the device, or none
  std::size_t used_ = 0, table_ = 0;  // bytes of the next buffer: of values, and of what the kernel needs besides
  std::size_t begun_ = 0, taken_ = 0;
};

}  // namespace

std::size_t buffer_bytes() {
  constexpr std::size_t usual = std::size_t{4} << 20, most = std::size_t{1} << 30;
  const char* chosen = std::getenv("OCTAVO_DEVICE_BUFFER");
  if (chosen == nullptr) return usual;
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(chosen, chosen + std::strlen(chosen), bytes);
  return error == std::errc{} && *end == '\0' && bytes >= 512 && bytes <= most ? bytes : usual;
}

namespace {

// A device that has failed cannot say where memory lies. Arrays of the host are still written then.
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

void follow(const MemoryPlace& place, void* stream) {
  OpenLane& open = lane_in(place.context);
  const std::lock_guard lock(open.mutex);
  open.failure.reset();
  if (open.lane && (open.lane->bytes != buffer_bytes() || open.lane->may_pack != may_pack())) open.close();
  try {
    open.prepare(place);
    driver().follow(*open.lane, stream);
  } catch (const Error& error) {
    if (error.kind() != Kind::usage) open.fail(error);  // a wrong stream is no failure of the device
    throw;
  }
}

}  // namespace

void follow(std::span<const DeviceArray> sources) {
  std::set<std::pair<void*, void*>> followed;
  for (const DeviceArray& source : sources) {
    const MemoryPlace place = driver().place_of(source.data);
    if (followed.insert({place.context, source.stream}).second) follow(place, source.stream);
  }
}

namespace {

// Reads arrays up to the first of another context.
void read_in_context(Reading& reading, const std::function<void(std::span<const std::byte>)>& take) {
  const MemoryPlace place = reading.lines().place;
  OpenLane& open = lane_in(place.context);
  const std::lock_guard lock(open.mutex);
  if (open.failure) throw *open.failure;
  try {
    named(reading.lines().name, [&] { open.prepare(place); });
    BufferedCopy flow(*open.lane, take);
    for (; !reading.ended() && reading.lines().place.context == place.context; reading.pass())
      flow.add(reading.lines());
    flow.finish();
  } catch (...) {
    open.fail(base::current_error());
    throw;
  }
}

}  // namespace

bool packs(const MemoryPlace& place, std::span<const std::byte> memory, const std::string* name) {
  OpenLane& open = lane_in(place.context);
  const std::lock_guard lock(open.mutex);
  if (open.failure) throw *open.failure;
  try {
    named(name, [&] { open.prepare(place); });
  } catch (const Error& error) {
    open.fail(error);
    throw;
  }
  return open.lane->packer.function != nullptr && driver().holds(*open.lane, memory);
}

void read(const std::function<bool(Lines&)>& next, const std::function<void(std::span<const std::byte>)>& take) {
  for (Reading reading(next); !reading.ended();) read_in_context(reading, take);
}

}  // namespace octavo::engine::device
