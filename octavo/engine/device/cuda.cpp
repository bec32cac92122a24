#include "octavo/engine/device/cuda.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <mutex>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/engine/device/driver.hpp"
#include "octavo/engine/device/packer.hpp"

/// CUDA's driver API, loaded with dlopen(): the names, constants and layouts are those of cuda.h (cuda.hpp), so that
/// the build needs no CUDA. The library is never unloaded, because lanes stay until the program ends.
namespace octavo::engine::device {

// Once set it stays: other threads read it without the lock.
cuda::Functions cuda::functions;

namespace {

using base::Error;
using base::Kind;
using cuda::functions;
using cuda::require;

std::string text_of(cuda::Result result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (functions.error_name(result, &name) != 0 || name == nullptr) return "error " + std::to_string(result);
  std::string out = std::string(name) + " (" + std::to_string(result) + ")";
  if (functions.error_string(result, &text) == 0 && text != nullptr) out += std::string(", ") + text;
  return out;
}

}  // namespace

void cuda::require(Result result, const char* function) {
  if (result == 0) return;
  const Kind kind = result == out_of_memory ? Kind::no_space : Kind::unreadable;
  throw Error(kind, "the device failed: " + text_of(result)).at(function);
}

void* cuda::new_event() {
  void* event = nullptr;
  require(functions.event_create(&event, event_disable_timing), "cuEventCreate");
  return event;
}

namespace {

// While it lives, the calling thread works in this context.
class Inside {
 public:
  explicit Inside(void* context) { require(functions.push(context), "cuCtxPushCurrent"); }
  ~Inside() {
    void* old = nullptr;
    functions.pop(&old);
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

cuda::Pointer address_of(const void* data) {
  return static_cast<cuda::Pointer>(reinterpret_cast<std::uintptr_t>(data));
}

// None: the driver does not know this memory.
template <class Value>
std::optional<Value> attribute(const void* data, int which) {
  Value value{};
  const cuda::Result result = functions.pointer_attribute(&value, which, address_of(data));
  if (result == cuda::invalid_value) return {};
  require(result, "cuPointerGetAttribute");
  return value;
}

void* retained(int device) {
  void* context = nullptr;
  require(functions.retain_primary(&context, device), "cuDevicePrimaryCtxRetain");
  return context;
}

MemoryPlace place_of(const void* data) {
  const auto type = attribute<unsigned>(data, cuda::attribute_memory_type);
  if (!type) return {};
  const bool managed = attribute<unsigned>(data, cuda::attribute_is_managed).value_or(0) != 0;
  MemoryPlace place{managed || *type == cuda::memory_on_host, true,
                    attribute<void*>(data, cuda::attribute_context).value_or(nullptr)};
  if (place.context != nullptr) return place;
  place.primary = attribute<int>(data, cuda::attribute_ordinal).value_or(0);
  place.context = retained(place.primary);
  functions.release_primary(place.primary);  // the lane retains it as long as it is used
  return place;
}

// Returns whether no copy can reach a buffer any more. An event would not do: it may be older than a copy.
bool copies_have_ended(const Lane& lane) noexcept {
  const auto ended = [](void* stream) { return stream == nullptr || functions.stream_synchronize(stream) == 0; };
  return ended(lane.packer.stream) && ended(lane.stream);
}

void close(Lane& lane) noexcept {
  void* old = nullptr;
  // A context that is gone took everything with it.
  if (functions.push(lane.context) == 0) {
    const bool ended = copies_have_ended(lane);
    if (ended)
      for (std::byte* buffer : lane.buffers) functions.host_free(buffer);
    close_packer(lane.packer, ended);
    if (lane.stream != nullptr) functions.stream_destroy(std::exchange(lane.stream, nullptr));
    for (void* event : lane.events) functions.event_destroy(event);
    if (lane.followed != nullptr) functions.event_destroy(std::exchange(lane.followed, nullptr));
    functions.pop(&old);
  }
  lane.events.clear();
  lane.buffers.clear();
  if (lane.primary >= 0) functions.release_primary(std::exchange(lane.primary, -1));
}

Lane open(const MemoryPlace& place, std::size_t buffers, std::size_t bytes, bool may_pack) {
  Lane lane;
  lane.context = place.primary < 0 ? place.context : retained(place.primary);
  lane.primary = place.primary;
  lane.bytes = bytes;
  lane.may_pack = may_pack;
  lane.buffers.reserve(buffers);
  lane.events.reserve(buffers);
  try {
    const Inside inside(lane.context);
    require(functions.stream_create(&lane.stream, cuda::stream_non_blocking), "cuStreamCreate");
    lane.followed = cuda::new_event();
    for (std::size_t i = 0; i < buffers; ++i) {
      void* buffer = nullptr;
      require(functions.host_alloc(&buffer, bytes, cuda::host_alloc_portable), "cuMemHostAlloc");
      lane.buffers.push_back(static_cast<std::byte*>(buffer));
      lane.events.push_back(cuda::new_event());
    }
    if (may_pack) lane.packer = open_packer(bytes);
  } catch (...) {
    close(lane);
    throw;
  }
  return lane;
}

// A context's default streams have the handles 0, 1 and 2.
void check_stream(const Lane& lane, void* stream) {
  if (reinterpret_cast<std::uintptr_t>(stream) <= 2) return;
  void* context = nullptr;
  const cuda::Result result = functions.stream_context(stream, &context);
  const bool unknown =
      result == cuda::invalid_handle || result == cuda::invalid_context || result == cuda::invalid_value;
  if (!unknown) require(result, "cuStreamGetCtx on the array's stream");
  if (unknown || context != lane.context)
    throw Error(Kind::usage, unknown ? "the driver does not know the array's stream: " + text_of(result)
                                     : "the array's stream belongs to another device or context than the array")
        .hint("a stream of the array's context, which is not destroyed before end_step(); null: the default stream");
}

void follow(Lane& lane, void* stream) {
  const Inside inside(lane.context);
  check_stream(lane, stream);
  require(functions.event_record(lane.followed, stream), "cuEventRecord on the array's stream");
  for (void* ours : {lane.stream, lane.packer.stream})
    if (ours != nullptr) require(functions.stream_wait_event(ours, lane.followed, 0), "cuStreamWaitEvent");
}

// Lines along the first `axes` axes. Returns where the next ones go.
std::byte* copy_lines(const Lane& lane, const Lines& lines, std::size_t axes, const std::byte* from, std::byte* to) {
  if (axes > axes_of_a_call(lines)) {
    const Lines::Axis& axis = lines.axes[axes - 1];
    for (std::size_t i = 0; i < axis.count; ++i)
      to = copy_lines(lane, lines, axes - 1, from + static_cast<std::int64_t>(i) * axis.pitch, to);
    return to;
  }
  const Lines::Axis rows = axes > 0 ? lines.axes[0] : Lines::Axis{}, slices = axes > 1 ? lines.axes[1] : Lines::Axis{};
  if (rows.count * slices.count == 1) {
    require(functions.copy_to_host(to, address_of(from), lines.width, lane.stream), "cuMemcpyDtoHAsync");
    return to + lines.width;
  }
  cuda::Copy3D copy;
  copy.from.memory = cuda::by_address;
  copy.from.device = address_of(from);
  copy.from.pitch = static_cast<std::size_t>(rows.pitch);
  // CUDA gives the distance of slices in rows. axes_of_a_call() has made sure that it is a whole number of them.
  copy.from.height = slices.count > 1 ? static_cast<std::size_t>(slices.pitch / rows.pitch) : rows.count;
  copy.to.memory = cuda::on_host;
  copy.to.host = to;
  copy.to.pitch = copy.width = lines.width;
  copy.to.height = copy.height = rows.count;
  copy.depth = slices.count;
  require(functions.copy_3d(&copy, lane.stream), "cuMemcpy3DAsync");
  return to + lines.width * rows.count * slices.count;
}

void copy(Lane& lane, std::size_t buffer, std::size_t at, const Lines& lines) {
  const Inside inside(lane.context);
  copy_lines(lane, lines, lines.axes.size(), static_cast<const std::byte*>(lines.first), lane.buffers[buffer] + at);
  require(functions.event_record(lane.events[buffer], lane.stream), "cuEventRecord");
}

bool holds(const Lane& lane, std::span<const std::byte> memory) noexcept {
  void* old = nullptr;
  if (functions.push(lane.context) != 0) return false;
  cuda::Pointer first = 0;
  std::size_t bytes = 0;
  const bool known = functions.address_range(&first, &bytes, address_of(memory.data())) == 0;
  functions.pop(&old);
  const std::uint64_t before = address_of(memory.data()) - first;
  return known && before <= bytes && memory.size() <= bytes - before;
}

void pack(Lane& lane, std::size_t buffer, std::span<const PlacedLines> lines) {
  const Inside inside(lane.context);
  pack_on_device(lane, buffer, lines);
  require(functions.event_record(lane.events[buffer], lane.stream), "cuEventRecord");
}

void wait(Lane& lane, std::size_t buffer) {
  const Inside inside(lane.context);
  require(functions.event_synchronize(lane.events[buffer]), "cuEventSynchronize");
}

std::mutex loading;
Driver row;           // guarded by `loading` until it has a name
bool loaded = false;  // the table of functions is complete
bool started = false;

Error no_driver(const std::string& why) {
  return Error(Kind::unsupported, "arrays in device memory need CUDA's driver: " + why)
      .hint("a machine with an NVIDIA GPU and its driver, or arrays in host memory");
}

void find_functions(void* library) {
  cuda::Functions found;
  cuda::for_each_function(found, [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr) throw no_driver(library_name() + " has no function " + name);
  });
  functions = found;
  loaded = true;
}

void start() {
  if (const cuda::Result result = functions.init(0); result != 0)
    throw no_driver("cuInit of " + library_name() + " failed: " + text_of(result));
  int devices = 0, version = 0;
  require(functions.device_count(&devices), "cuDeviceGetCount");
  if (devices == 0) throw no_driver(library_name() + " finds no device");
  functions.driver_version(&version);
  row = {"CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) + " (" + library_name() +
             ")",
         place_of,
         open,
         close,
         follow,
         copy,
         holds,
         pack,
         wait};
  started = true;
}

// How many libraries this process has loaded so far.
unsigned long long num_loaded() {
  unsigned long long loaded = 0;
  const auto take = [](dl_phdr_info* info, std::size_t, void* out) {
    *static_cast<unsigned long long*>(out) = info->dlpi_adds;
    return 1;  // any library knows the count
  };
  dl_iterate_phdr(take, &loaded);
  return loaded;
}

// The latest search that found no started driver.
struct Look {
  std::string library;
  unsigned long long loaded = 0;
  bool operator==(const Look&) const = default;
};
Look last_look;  // with the lock `loading`

}  // namespace

std::size_t axes_of_a_call(const Lines& lines) {
  const auto& [rows, slices, third, fourth, fifth] = lines.axes;
  if (rows.pitch > cuda::max_pitch) return 0;
  return slices.count == 1 || (rows.pitch > 0 && slices.pitch % rows.pitch == 0) ? 2 : 1;
}

std::string library_name() {
  const char* chosen = std::getenv("OCTAVO_CUDA_DRIVER");
  return chosen != nullptr && *chosen != '\0' ? chosen : "libcuda.so.1";
}

bool may_pack() {
  const char* chosen = std::getenv("OCTAVO_DEVICE_KERNEL");
  return chosen == nullptr || std::string_view(chosen) != "off";
}

const Driver& driver() {
  const std::lock_guard lock(loading);
  if (!loaded) {
    void* library = dlopen(library_name().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* why = dlerror();
      throw no_driver(why == nullptr ? library_name() + " cannot be loaded" : why);
    }
    find_functions(library);
  }
  if (!started) start();
  return row;
}

std::string who_packs() {
  const Driver& known = driver();
  if (!may_pack()) return "the host packs, because OCTAVO_DEVICE_KERNEL is off";
  MemoryPlace first;
  first.primary = 0;
  Lane lane = known.open(first, 0, 4096, true);
  const std::string why_not = lane.packer.why_not;
  known.close(lane);
  return why_not.empty() ? "the device packs" : "the host packs, because " + why_not;
}

const Driver* driver_in_use() {
  {
    const std::lock_guard lock(loading);
    if (started) return &row;
    // An application that has no CUDA loaded has no device memory, and must not pay for a driver.
    // A search for a library that is not there opens files, and each array of each box is asked for its place.
    if (const Look now{library_name(), num_loaded()}; std::exchange(last_look, now) == now) return nullptr;
    void* library = dlopen(library_name().c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (library == nullptr) return nullptr;
    dlclose(library);
  }
  try {
    return &driver();
  } catch (const Error&) {
    return nullptr;  // without a device there is no device memory
  }
}

}  // namespace octavo::engine::device
