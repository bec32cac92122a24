// A library with the functions of CUDA's driver that the engine calls, for machines without a device. Device memory is
// memory that the CPU cannot touch; copies and kernels run on threads, late, in the order of their streams; a buffer
// holds poison until a copy to it has ended; calls fail when a test says so. The one kernel that it can load is
// Octavo's own, whose text it runs as C++ (standin_kernel.cpp).
#include "tests/device/standin_cuda.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/device/standin_kernel.hpp"

namespace {

using Pointer = unsigned long long;
constexpr int invalid_value = 1, out_of_memory = 2, invalid_context = 201, invalid_ptx = 218, invalid_handle = 400;
constexpr int not_found = 500, illegal_address = 700, misaligned_address = 716;
constexpr int poison = 0xff, max_devices = 4;

// ------------------------------------------------------------------ failures

std::atomic<long> calls{0}, failing_call{0};
std::atomic<int> failure{0};
std::atomic<bool> lasts{false};

int counted() {
  const long call = ++calls, wrong = failing_call;
  return wrong != 0 && (call == wrong || (call > wrong && lasts)) ? failure.load() : 0;
}

// As after a kernel's error: each call fails from now on.
void lose_the_device(int error) {
  failure = error;
  lasts = true;
  failing_call = calls + 1;
}

// ------------------------------------------------------------------ memory

struct Region {
  std::byte* shadow = nullptr;  // where the stand-in itself reads and writes
  std::size_t bytes = 0;
  enum { device, managed, pinned, pool } kind = device;
  int of = 0;         // the device
  int in_flight = 0;  // copies that are to reach it
};

std::mutex memory_mutex;
auto& regions = *new std::map<std::uintptr_t, Region>;                          // by the address that a program sees
std::atomic<std::size_t> copied{0}, sent{0}, pinned_bytes{0}, device_bytes{0};  // device_bytes: of the engine
std::atomic<int> chosen_device{0};  // of later allocations, streams and kernels
std::atomic<long> early_frees{0}, copies_in_flight{0}, most_in_flight{0}, retained{0};

// The region that holds all these bytes, and where it begins.
std::pair<const std::uintptr_t, Region>* region_at(const void* data, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  auto next = regions.upper_bound(address);
  if (next == regions.begin()) return nullptr;
  --next;
  return address + bytes <= next->first + next->second.bytes ? &*next : nullptr;
}

std::byte* shadow_of(const void* data, std::size_t bytes) {
  const std::lock_guard lock(memory_mutex);
  const auto* region = region_at(data, bytes);
  if (region == nullptr) return nullptr;
  return region->second.shadow + (reinterpret_cast<std::uintptr_t>(data) - region->first);
}

int current_device();

int allocate(Pointer* pointer, std::size_t bytes, int protection, decltype(Region::device) kind) {
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  const int file = memfd_create("octavo-standin", 0);
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) return out_of_memory;
  void* shadow = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  void* seen = mmap(nullptr, size, protection, MAP_SHARED, file, 0);
  ::close(file);
  if (shadow == MAP_FAILED || seen == MAP_FAILED) return out_of_memory;
  std::memset(shadow, poison, size);
  const std::lock_guard lock(memory_mutex);
  regions[reinterpret_cast<std::uintptr_t>(seen)] = {static_cast<std::byte*>(shadow), size, kind, current_device(), 0};
  *pointer = reinterpret_cast<std::uintptr_t>(seen);
  return 0;
}

// ------------------------------------------------------------------ streams

std::atomic<int> delay{100};

// Done when a stream's work has come to a point.
struct Ticket {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  void finish() {
    {
      const std::lock_guard lock(mutex);
      done = true;
    }
    changed.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return done; });
  }
};

struct Stream {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> work;
  bool blocking = true, ending = false;
  int of = 0;  // the device
  std::thread thread;

  Stream() : thread([this] { run(); }) {}
  void add(std::function<void()> one) {
    {
      const std::lock_guard lock(mutex);
      work.push_back(std::move(one));
    }
    changed.notify_all();
  }
  std::shared_ptr<Ticket> ticket() {
    auto made = std::make_shared<Ticket>();
    add([made] { made->finish(); });
    return made;
  }
  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return ending || !work.empty(); });
      if (work.empty()) break;
      const auto one = std::move(work.front());
      work.pop_front();
      lock.unlock();
      one();
      lock.lock();
    }
    lock.unlock();
    delete this;
  }
  // Returns at once, as the driver does: work that is queued still runs.
  void end() {
    thread.detach();
    const std::lock_guard lock(mutex);
    ending = true;
    changed.notify_all();
  }
};

struct Event {
  std::shared_ptr<Ticket> ticket;
  int of = 0;  // the device
};

// A kernel that runs until a test ends it.
struct Hold {
  std::mutex mutex;
  std::condition_variable changed;
  bool released = true;
} hold;

std::atomic<int> forgotten{0};  // which waits do nothing
constexpr int forget_stream_waits = 1, forget_host_waits = 2;

std::mutex streams_mutex;
auto& streams = *new std::set<Stream*>;

thread_local std::vector<int> contexts;  // the current one is the last
int current_device() { return contexts.empty() ? chosen_device.load() : contexts.back(); }

// 0, 1 and 2 mean default streams. Null: no stream.
Stream* stream_of(void* handle) {
  static std::map<int, Stream*> usual;
  const std::lock_guard lock(streams_mutex);
  if (reinterpret_cast<std::uintptr_t>(handle) > 2)
    return streams.contains(static_cast<Stream*>(handle)) ? static_cast<Stream*>(handle) : nullptr;
  Stream*& stream = usual[current_device()];
  if (stream == nullptr) {
    stream = new Stream;
    stream->of = current_device();
  }
  return stream;
}

// The default stream's turn comes after the work of all streams that are not created as non-blocking.
std::shared_ptr<Ticket> ticket_on(Stream* stream) {
  const bool usual = [&] {
    const std::lock_guard lock(streams_mutex);
    return !streams.contains(stream);
  }();
  if (!usual) return stream->ticket();
  const std::lock_guard lock(streams_mutex);
  for (Stream* other : streams)
    if (other->blocking && other->of == stream->of) stream->add([before = other->ticket()] { before->wait(); });
  return stream->ticket();
}

void pause_a_little() {
  if (delay > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay.load()));
}

// ------------------------------------------------------------------ contexts

std::array<char, max_devices> devices{};
void* context_of(int device) { return &devices.at(static_cast<std::size_t>(device)); }

// The result of a call that needs a current context.
int in_context() {
  if (const int error = counted(); error != 0) return error;
  return contexts.empty() ? invalid_context : 0;
}

// ------------------------------------------------------------------ copies

void count_use(const void* buffer, int by) {
  const std::lock_guard lock(memory_mutex);
  if (auto* region = region_at(buffer, 1)) region->second.in_flight += by;
}

void count_copy(void* buffer, int by) {
  count_use(buffer, by);
  const long now = copies_in_flight += by;
  most_in_flight = std::max(most_in_flight.load(), now);
}

constexpr std::size_t max_pitch = 0x7fffffff;

// CUDA_MEMCPY3D of the driver's API.
struct Copy3D {
  struct Side {
    size_t x, y, z, level;
    unsigned memory;
    void* host;
    Pointer device;
    void *array, *reserved;
    size_t pitch, height;
  } from, to;
  size_t width, height, depth;
};

// One line of a copy: both addresses as the stand-in sees them.
struct Line {
  std::byte* to;
  const std::byte* from;
};

// `first`: of the buffer, as the program sees it. A copy of several lines is one.
int begin_copy(std::vector<Line> lines, std::size_t width, void* first, void* handle) {
  Stream* stream = stream_of(handle);
  if (stream == nullptr || stream->of != current_device()) return invalid_handle;
  for (const Line& line : lines) {
    if (line.from == nullptr || line.to == nullptr) return invalid_value;
    std::memset(line.to, poison, width);
  }
  count_copy(first, 1);
  stream->add([=, lines = std::move(lines)] {
    pause_a_little();
    for (const Line& line : lines) std::memcpy(line.to, line.from, width);
    copied += width * lines.size();
    count_copy(first, -1);
  });
  return 0;
}

// ------------------------------------------------------------------ the kernel

std::atomic<int> refusal{0};  // of modules
std::atomic<long> launches{0};
char the_module = 0, the_function = 0;

// Where the stand-in finds memory that a kernel on this device may use; null: an illegal address.
std::byte* shadow_for_kernel(const void* data, std::size_t bytes, int device) {
  const std::lock_guard lock(memory_mutex);
  const auto* region = region_at(data, bytes);
  if (region == nullptr) return nullptr;
  const bool anywhere = region->second.kind == Region::pinned || region->second.kind == Region::managed;
  if (!anywhere && region->second.of != device) return nullptr;
  return region->second.shadow + (reinterpret_cast<std::uintptr_t>(data) - region->first);
}

// How far a job reads from its first value on, in bytes: from `lowest` to before `end`. Nothing if all places are
// nowhere.
struct Reach {
  long long lowest = 0, end = 0;
};
Reach reach_of(const octavo_pack_job& job, const unsigned* places) {
  Reach reach{0, job.size};
  const auto stretch = [&](long long low, long long high) {
    reach.lowest += low;
    reach.end += high;
  };
  for (std::size_t axis = 0; axis < 4; ++axis) {
    const long long last = job.pitch[axis] * (job.count[axis] - 1LL);
    stretch(std::min(last, 0LL), std::max(last, 0LL));
  }
  std::vector<long long> slices;
  for (unsigned i = 0; i < job.count[4]; ++i)
    if (places == nullptr || places[i] != 0xffffffff) slices.push_back(job.pitch[4] * (places ? places[i] : i));
  if (slices.empty()) return {};
  const auto [low, high] = std::minmax_element(slices.begin(), slices.end());
  stretch(*low, *high);
  return reach;
}

// The same job with addresses as the stand-in sees them. The result is what the device would say to it.
int translate(octavo_pack_job& job, int device) {
  const auto misaligned = [&](auto at) { return (at % job.size + job.size) % job.size != 0; };
  std::size_t values = 1;
  for (const unsigned count : job.count) values *= count;
  if (values == 0 || (job.size != 1 && job.size != 2 && job.size != 4 && job.size != 8)) return illegal_address;
  for (const long long pitch : job.pitch)
    if (misaligned(pitch)) return misaligned_address;
  if (misaligned(reinterpret_cast<std::uintptr_t>(job.from)) || misaligned(reinterpret_cast<std::uintptr_t>(job.to)))
    return misaligned_address;
  if (reinterpret_cast<std::uintptr_t>(job.places) % alignof(unsigned) != 0) return misaligned_address;
  if (job.places != nullptr) {
    job.places =
        reinterpret_cast<const unsigned*>(shadow_for_kernel(job.places, sizeof(unsigned) * job.count[4], device));
    if (job.places == nullptr) return illegal_address;
  }
  std::byte* to = shadow_for_kernel(job.to, values * job.size, device);
  if (to == nullptr) return illegal_address;
  std::memset(to, poison, values * job.size);
  job.to = reinterpret_cast<unsigned char*>(to);
  const Reach reach = reach_of(job, job.places);
  if (reach.end == reach.lowest) return 0;
  const std::byte* from =
      shadow_for_kernel(job.from + reach.lowest, static_cast<std::size_t>(reach.end - reach.lowest), device);
  if (from == nullptr) return illegal_address;
  job.from = reinterpret_cast<const unsigned char*>(from) - reach.lowest;
  return 0;
}

// In the stream's turn: jobs are read from the device's memory only now.
void run_kernel(Pointer jobs, unsigned num_jobs, const Grid& grid, int device) {
  const std::byte* shadow =
      shadow_for_kernel(reinterpret_cast<const void*>(jobs), num_jobs * sizeof(octavo_pack_job), device);
  if (shadow == nullptr || jobs % alignof(octavo_pack_job) != 0) return lose_the_device(illegal_address);
  std::vector<octavo_pack_job> translated(num_jobs);
  std::memcpy(translated.data(), shadow, num_jobs * sizeof(octavo_pack_job));
  for (octavo_pack_job& job : translated)
    if (const int error = translate(job, device); error != 0) return lose_the_device(error);
  run_pack_kernel(translated.data(), num_jobs, grid);
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return counted(); }
int cuDriverGetVersion(int* version) {
  *version = 12040;
  return counted();
}
int cuDeviceGetCount(int* count) {
  const char* chosen = std::getenv("OCTAVO_STANDIN_DEVICES");
  *count = chosen == nullptr ? 1 : std::atoi(chosen);
  return counted();
}
int cuGetErrorName(int error, const char** name) {
  static const std::map<int, const char*> names{{1, "CUDA_ERROR_INVALID_VALUE"},
                                                {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
                                                {201, "CUDA_ERROR_INVALID_CONTEXT"},
                                                {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
                                                {400, "CUDA_ERROR_INVALID_HANDLE"},
                                                {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}};
  const auto found = names.find(error);
  if (found == names.end()) return invalid_value;
  *name = found->second;
  return 0;
}
int cuGetErrorString(int, const char** text) {
  *text = "of the stand-in";
  return 0;
}

int cuCtxPushCurrent_v2(void* context) {
  if (const int error = counted(); error != 0) return error;
  const auto device = static_cast<char*>(context) - devices.data();
  if (device < 0 || device >= max_devices) return invalid_context;
  contexts.push_back(static_cast<int>(device));
  return 0;
}
int cuCtxPopCurrent_v2(void** context) {
  if (contexts.empty()) return invalid_context;
  *context = context_of(contexts.back());
  contexts.pop_back();
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  if (const int error = counted(); error != 0) return error;
  *context = context_of(device);
  ++retained;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  --retained;
  return 0;
}

int cuPointerGetAttribute(void* value, int attribute, Pointer pointer) {
  if (const int error = counted(); error != 0) return error;
  const std::lock_guard lock(memory_mutex);
  const auto* region = region_at(reinterpret_cast<void*>(pointer), 1);
  if (region == nullptr) return invalid_value;
  const unsigned type = region->second.kind == Region::pinned ? 1 : 2;
  const unsigned managed = region->second.kind == Region::managed ? 1 : 0;
  const bool has_context = region->second.kind != Region::pool;
  if (attribute == 1) *static_cast<void**>(value) = has_context ? context_of(region->second.of) : nullptr;
  if (attribute == 2) *static_cast<unsigned*>(value) = type;
  if (attribute == 8) *static_cast<unsigned*>(value) = managed;
  if (attribute == 9) *static_cast<int*>(value) = region->second.of;
  return 0;
}

int cuMemGetAddressRange_v2(Pointer* first, size_t* bytes, Pointer pointer) {
  if (const int error = in_context(); error != 0) return error;
  const std::lock_guard lock(memory_mutex);
  const auto* region = region_at(reinterpret_cast<void*>(pointer), 1);
  if (region == nullptr || region->second.kind == Region::pinned) return not_found;
  *first = region->first;
  *bytes = region->second.bytes;
  return 0;
}
int cuMemAlloc_v2(Pointer* pointer, size_t bytes) {
  if (contexts.empty()) return allocate(pointer, bytes, PROT_NONE, Region::device);  // a test's array
  if (const int error = counted(); error != 0) return error;
  device_bytes += bytes;
  return allocate(pointer, bytes, PROT_NONE, Region::device);
}
int cuMemAllocManaged(Pointer* pointer, size_t bytes, unsigned) {
  return allocate(pointer, bytes, PROT_READ | PROT_WRITE, Region::managed);
}
int standin_allocate_from_pool(Pointer* pointer, size_t bytes) {
  return allocate(pointer, bytes, PROT_NONE, Region::pool);
}
int cuMemFree_v2(Pointer pointer) {
  const std::lock_guard lock(memory_mutex);
  const auto found = regions.find(static_cast<std::uintptr_t>(pointer));
  if (found == regions.end()) return invalid_value;
  if (!contexts.empty() && found->second.kind == Region::device) device_bytes -= found->second.bytes;
  munmap(found->second.shadow, found->second.bytes);
  munmap(reinterpret_cast<void*>(found->first), found->second.bytes);
  regions.erase(found);
  return 0;
}
int cuMemHostAlloc(void** pointer, size_t bytes, unsigned) {
  if (const int error = in_context(); error != 0) return error;
  Pointer made = 0;
  if (const int error = allocate(&made, bytes, PROT_READ | PROT_WRITE, Region::pinned); error != 0) return error;
  *pointer = reinterpret_cast<void*>(made);
  pinned_bytes += bytes;
  return 0;
}
int cuMemFreeHost(void* pointer) {
  {
    const std::lock_guard lock(memory_mutex);
    const auto found = regions.find(reinterpret_cast<std::uintptr_t>(pointer));
    if (found == regions.end()) return invalid_value;
    pinned_bytes -= found->second.bytes;
    if (found->second.in_flight > 0) {  // the copy would write to memory that is another's by then
      ++early_frees;
      return 0;
    }
  }
  return cuMemFree_v2(reinterpret_cast<std::uintptr_t>(pointer));
}

int cuStreamCreate(void** stream, unsigned flags) {
  if (const int error = counted(); error != 0) return error;
  auto* made = new Stream;
  made->blocking = flags == 0;
  made->of = current_device();
  const std::lock_guard lock(streams_mutex);
  streams.insert(made);
  *stream = made;
  return 0;
}
int cuStreamDestroy_v2(void* stream) {
  auto* gone = static_cast<Stream*>(stream);
  {
    const std::lock_guard lock(streams_mutex);
    if (streams.erase(gone) == 0) return invalid_handle;
  }
  gone->end();
  return 0;
}
int cuStreamSynchronize(void* handle) {
  if (const int error = counted(); error != 0) return error;
  Stream* stream = stream_of(handle);
  if (stream == nullptr) return invalid_handle;
  ticket_on(stream)->wait();
  return 0;
}
int cuStreamWaitEvent(void* handle, void* event, unsigned) {
  if (const int error = in_context(); error != 0) return error;
  Stream* stream = stream_of(handle);
  if (stream == nullptr || stream->of != current_device()) return invalid_handle;
  const auto ticket = static_cast<Event*>(event)->ticket;
  if (ticket && (forgotten & forget_stream_waits) == 0) stream->add([ticket] { ticket->wait(); });
  return 0;
}
int cuStreamGetCtx(void* handle, void** context) {
  if (const int error = in_context(); error != 0) return error;
  const Stream* stream = stream_of(handle);
  if (stream == nullptr) return invalid_handle;
  *context = context_of(stream->of);
  return 0;
}

int cuEventCreate(void** event, unsigned) {
  if (const int error = in_context(); error != 0) return error;
  *event = new Event{nullptr, current_device()};
  return 0;
}
int cuEventDestroy_v2(void* event) {
  delete static_cast<Event*>(event);
  return 0;
}
int cuEventRecord(void* event, void* handle) {
  if (const int error = in_context(); error != 0) return error;
  Stream* stream = stream_of(handle);
  if (stream == nullptr || stream->of != static_cast<Event*>(event)->of) return invalid_handle;
  static_cast<Event*>(event)->ticket = ticket_on(stream);
  return 0;
}
int cuEventSynchronize(void* event) {
  if (const int error = in_context(); error != 0) return error;
  const auto ticket = static_cast<Event*>(event)->ticket;
  if (ticket && (forgotten & forget_host_waits) == 0) ticket->wait();
  return 0;
}

int cuMemcpyDtoHAsync_v2(void* to, Pointer from, size_t bytes, void* stream) {
  if (const int error = in_context(); error != 0) return error;
  // Only memory that the driver knows can be copied to late.
  return begin_copy({{shadow_of(to, bytes), shadow_of(reinterpret_cast<const void*>(from), bytes)}}, bytes, to, stream);
}
int cuMemcpy3DAsync_v2(const Copy3D* copy, void* stream) {
  if (const int error = in_context(); error != 0) return error;
  const bool one_slice = copy->depth == 1;
  if (copy->from.pitch < copy->width || copy->to.pitch < copy->width) return invalid_value;
  if (copy->from.pitch > max_pitch || copy->to.pitch > max_pitch) return invalid_value;
  if (!one_slice && (copy->from.height < copy->height || copy->to.height < copy->height)) return invalid_value;
  std::vector<Line> lines;
  for (size_t z = 0; z < copy->depth; ++z)
    for (size_t y = 0; y < copy->height; ++y) {
      const auto at = [&](const auto& side) { return (z * side.height + y) * side.pitch; };
      const auto* from = reinterpret_cast<const std::byte*>(copy->from.device) + at(copy->from);
      auto* to = static_cast<std::byte*>(copy->to.host) + at(copy->to);
      lines.push_back({shadow_of(to, copy->width), shadow_of(from, copy->width)});
    }
  return begin_copy(std::move(lines), copy->width, copy->to.host, stream);
}

// Reads the host's memory in the stream's turn, as the device does: it must not change until then.
int cuMemcpyHtoDAsync_v2(Pointer to, const void* from, size_t bytes, void* handle) {
  if (const int error = in_context(); error != 0) return error;
  Stream* stream = stream_of(handle);
  if (stream == nullptr || stream->of != current_device()) return invalid_handle;
  std::byte* there = shadow_of(reinterpret_cast<void*>(to), bytes);
  const std::byte* here = shadow_of(from, bytes);
  if (there == nullptr || here == nullptr) return invalid_value;
  count_use(from, 1);
  stream->add([=] {
    pause_a_little();
    std::memcpy(there, here, bytes);
    sent += bytes;
    count_use(from, -1);
  });
  return 0;
}

int cuModuleLoadData(void** module, const void* text) {
  if (const int error = in_context(); error != 0) return error;
  if (refusal != 0) return refusal;
  const std::string_view ptx(static_cast<const char*>(text));
  if (!ptx.starts_with(".version ") || ptx.find(".entry octavo_pack(") == ptx.npos) return invalid_ptx;
  *module = &the_module;
  return 0;
}
int cuModuleUnload(void* module) { return module == &the_module ? 0 : invalid_handle; }
int cuModuleGetFunction(void** function, void* module, const char* name) {
  if (const int error = in_context(); error != 0) return error;
  if (module != &the_module) return invalid_handle;
  if (std::string_view(name) != "octavo_pack") return not_found;
  *function = &the_function;
  return 0;
}
int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned, void* handle, void** parameters, void** extra) {
  if (const int error = in_context(); error != 0) return error;
  if (function != &the_function || extra != nullptr) return invalid_handle;
  const Grid grid{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}};
  if (!is_possible(grid)) return invalid_value;
  Stream* stream = stream_of(handle);
  if (stream == nullptr || stream->of != current_device()) return invalid_handle;
  // The driver takes the parameters' values at once.
  const Pointer jobs = *static_cast<const Pointer*>(parameters[0]);
  const unsigned num_jobs = *static_cast<const unsigned*>(parameters[1]);
  ++launches;
  stream->add([=, device = stream->of] {
    pause_a_little();
    run_kernel(jobs, num_jobs, grid, device);
  });
  return 0;
}

int standin_poke(void* device, const void* from, size_t bytes) {
  std::byte* shadow = shadow_of(device, bytes);
  if (shadow == nullptr) return invalid_value;
  std::copy_n(static_cast<const std::byte*>(from), bytes, shadow);  // an empty array may be null
  return 0;
}
int standin_peek(void* to, const void* device, size_t bytes) {
  const std::byte* shadow = shadow_of(device, bytes);
  if (shadow == nullptr) return invalid_value;
  std::copy_n(shadow, bytes, static_cast<std::byte*>(to));
  return 0;
}
int standin_kernel(void* handle, void* device, const void* from, size_t bytes) {
  std::byte* shadow = shadow_of(device, bytes);
  Stream* stream = stream_of(handle);
  if (shadow == nullptr || stream == nullptr) return invalid_value;
  const auto* first = static_cast<const std::byte*>(from);
  std::vector<std::byte> values(first, first + bytes);
  stream->add([shadow, values = std::move(values)] {
    pause_a_little();
    std::memcpy(shadow, values.data(), values.size());
  });
  return 0;
}
void standin_hold(void* handle) {
  {
    const std::lock_guard lock(hold.mutex);
    hold.released = false;
  }
  stream_of(handle)->add([] {
    std::unique_lock lock(hold.mutex);
    hold.changed.wait_for(lock, std::chrono::seconds(20), [] { return hold.released; });
    hold.released = true;
  });
}
int standin_release(void) {
  const std::lock_guard lock(hold.mutex);
  const bool was_held = !hold.released;
  hold.released = true;
  hold.changed.notify_all();
  return was_held ? 1 : 0;
}
void standin_use_device(int device) { chosen_device = device; }
void standin_forget(int which) { forgotten = which; }
void standin_delay(int microseconds) { delay = microseconds; }
void standin_fail(long n, int error, int lasting) {
  calls = 0;
  failure = error;
  lasts = lasting != 0;
  failing_call = n;
}
long standin_calls(void) { return calls; }
size_t standin_copied(void) { return copied; }
size_t standin_sent(void) { return sent; }
size_t standin_taken(void) { return device_bytes; }
void standin_refuse(int error) { refusal = error; }
long standin_launches(void) { return launches; }
size_t standin_pinned(void) { return pinned_bytes; }
long standin_retained(void) { return retained; }
long standin_early_frees(void) { return early_frees; }
long standin_most_in_flight(void) { return most_in_flight.exchange(0); }
}
