// A library with the functions of CUDA's driver that the engine calls, for machines without a device. Device memory is
// memory that the CPU cannot touch; copies and kernels run on threads, late, in the order of their streams; a buffer
// holds poison until a copy to it has ended; calls fail when a test says so.
#include "tests/device/standin_cuda.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
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
#include <thread>
#include <vector>

namespace {

using Pointer = unsigned long long;
constexpr int invalid_value = 1, out_of_memory = 2, invalid_context = 201, invalid_handle = 400;
constexpr int poison = 0xff;

// ------------------------------------------------------------------ failures

std::atomic<long> calls{0}, failing_call{0};
std::atomic<int> failure{0};
std::atomic<bool> lasts{false};

int counted() {
  const long call = ++calls, wrong = failing_call;
  return wrong != 0 && (call == wrong || (call > wrong && lasts)) ? failure.load() : 0;
}

// ------------------------------------------------------------------ memory

struct Region {
  std::byte* shadow = nullptr;  // where the stand-in itself reads and writes
  std::size_t bytes = 0;
  enum { device, managed, pinned } kind = device;
};

std::mutex memory_mutex;
auto& regions = *new std::map<std::uintptr_t, Region>;  // by the address that a program sees
std::atomic<std::size_t> copied{0}, pinned_bytes{0};

// The region that holds all these bytes, and where it begins.
const std::pair<const std::uintptr_t, Region>* region_at(const void* data, std::size_t bytes) {
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
  regions[reinterpret_cast<std::uintptr_t>(seen)] = {static_cast<std::byte*>(shadow), size, kind};
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
      if (work.empty()) return;
      const auto one = std::move(work.front());
      work.pop_front();
      lock.unlock();
      one();
      lock.lock();
    }
  }
  void end() {
    {
      const std::lock_guard lock(mutex);
      ending = true;
    }
    changed.notify_all();
    thread.join();
  }
};

struct Event {
  std::shared_ptr<Ticket> ticket;
};

std::mutex streams_mutex;
auto& streams = *new std::set<Stream*>;

// 0, 1 and 2 mean default streams.
Stream* stream_of(void* handle) {
  static Stream* usual = new Stream;
  return reinterpret_cast<std::uintptr_t>(handle) <= 2 ? usual : static_cast<Stream*>(handle);
}

// The default stream's turn comes after the work of all streams that are not created as non-blocking.
std::shared_ptr<Ticket> ticket_on(void* handle) {
  Stream* stream = stream_of(handle);
  if (stream != stream_of(nullptr)) return stream->ticket();
  const std::lock_guard lock(streams_mutex);
  for (Stream* other : streams)
    if (other->blocking) stream->add([before = other->ticket()] { before->wait(); });
  return stream->ticket();
}

void pause_a_little() {
  if (delay > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay.load()));
}

// ------------------------------------------------------------------ contexts

char the_context = 0;
thread_local int contexts = 0;

// The result of a call that needs a current context.
int in_context() {
  if (const int error = counted(); error != 0) return error;
  return contexts > 0 ? 0 : invalid_context;
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
  if (context != &the_context) return invalid_context;
  ++contexts;
  return 0;
}
int cuCtxPopCurrent_v2(void** context) {
  *context = &the_context;
  return contexts-- > 0 ? 0 : invalid_context;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &the_context;
  return counted();
}

int cuPointerGetAttribute(void* value, int attribute, Pointer pointer) {
  if (const int error = counted(); error != 0) return error;
  const std::lock_guard lock(memory_mutex);
  const auto* region = region_at(reinterpret_cast<void*>(pointer), 1);
  if (region == nullptr) return invalid_value;
  const unsigned type = region->second.kind == Region::pinned ? 1 : 2;
  const unsigned managed = region->second.kind == Region::managed ? 1 : 0;
  if (attribute == 1) *static_cast<void**>(value) = &the_context;
  if (attribute == 2) *static_cast<unsigned*>(value) = type;
  if (attribute == 8) *static_cast<unsigned*>(value) = managed;
  if (attribute == 9) *static_cast<int*>(value) = 0;
  return 0;
}

int cuMemAlloc_v2(Pointer* pointer, size_t bytes) { return allocate(pointer, bytes, PROT_NONE, Region::device); }
int cuMemAllocManaged(Pointer* pointer, size_t bytes, unsigned) {
  return allocate(pointer, bytes, PROT_READ | PROT_WRITE, Region::managed);
}
int cuMemFree_v2(Pointer pointer) {
  const std::lock_guard lock(memory_mutex);
  const auto found = regions.find(static_cast<std::uintptr_t>(pointer));
  if (found == regions.end()) return invalid_value;
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
  }
  return cuMemFree_v2(reinterpret_cast<std::uintptr_t>(pointer));
}

int cuStreamCreate(void** stream, unsigned flags) {
  if (const int error = counted(); error != 0) return error;
  auto* made = new Stream;
  made->blocking = flags == 0;
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
  delete gone;
  return 0;
}
int cuStreamSynchronize(void* stream) {
  ticket_on(stream)->wait();
  return counted();
}
int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  if (const int error = in_context(); error != 0) return error;
  if (const auto ticket = static_cast<Event*>(event)->ticket) stream_of(stream)->add([ticket] { ticket->wait(); });
  return 0;
}

int cuEventCreate(void** event, unsigned) {
  if (const int error = in_context(); error != 0) return error;
  *event = new Event;
  return 0;
}
int cuEventDestroy_v2(void* event) {
  delete static_cast<Event*>(event);
  return 0;
}
int cuEventRecord(void* event, void* stream) {
  if (const int error = in_context(); error != 0) return error;
  static_cast<Event*>(event)->ticket = ticket_on(stream);
  return 0;
}
int cuEventSynchronize(void* event) {
  if (const auto ticket = static_cast<Event*>(event)->ticket) ticket->wait();
  return in_context();
}

int cuMemcpyDtoHAsync_v2(void* to, Pointer from, size_t bytes, void* stream) {
  if (const int error = in_context(); error != 0) return error;
  const std::byte* shadow = shadow_of(reinterpret_cast<const void*>(from), bytes);
  std::byte* buffer = shadow_of(to, bytes);  // only memory that the driver knows can be copied to late
  if (shadow == nullptr || buffer == nullptr) return invalid_value;
  std::memset(buffer, poison, bytes);
  stream_of(stream)->add([=] {
    pause_a_little();
    std::memcpy(buffer, shadow, bytes);
    copied += bytes;
  });
  return 0;
}

int standin_poke(void* device, const void* from, size_t bytes) {
  std::byte* shadow = shadow_of(device, bytes);
  if (shadow == nullptr) return invalid_value;
  std::memcpy(shadow, from, bytes);
  return 0;
}
int standin_peek(void* to, const void* device, size_t bytes) {
  const std::byte* shadow = shadow_of(device, bytes);
  if (shadow == nullptr) return invalid_value;
  std::memcpy(to, shadow, bytes);
  return 0;
}
int standin_kernel(void* stream, void* device, const void* from, size_t bytes) {
  std::byte* shadow = shadow_of(device, bytes);
  if (shadow == nullptr) return invalid_value;
  const auto* first = static_cast<const std::byte*>(from);
  std::vector<std::byte> values(first, first + bytes);
  stream_of(stream)->add([shadow, values = std::move(values)] {
    pause_a_little();
    std::memcpy(shadow, values.data(), values.size());
  });
  return 0;
}
void standin_delay(int microseconds) { delay = microseconds; }
void standin_fail(long n, int error, int lasting) {
  calls = 0;
  failure = error;
  lasts = lasting != 0;
  failing_call = n;
}
long standin_calls(void) { return calls; }
size_t standin_copied(void) { return copied; }
size_t standin_pinned(void) { return pinned_bytes; }
}
