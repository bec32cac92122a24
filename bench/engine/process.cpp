#include "process.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

#include "octavo/file/posix.hpp"

namespace octavo::bench {
namespace {

std::atomic<bool> sync_on{true};
double rate = 0;
std::mutex one_at_a_time;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

Usage usage() {
  rusage resources{};
  getrusage(RUSAGE_SELF, &resources);
  Usage now;
  now.cpu = seconds(resources.ru_utime) + seconds(resources.ru_stime);
  // One read, which the counts show from the next call on: it is taken off again.
  static std::uint64_t own_reads = 0, own_bytes = 0;
  std::array<char, 512> text{};
  const int file = ::open("/proc/self/io", O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? 0 : ::read(file, text.data(), text.size());
  if (file >= 0) ::close(file);
  if (size <= 0) return now;  // a system that does not count
  std::istringstream counts(std::string(text.data(), static_cast<std::size_t>(size)));
  std::string name;
  for (std::uint64_t value = 0; counts >> name >> value;) {
    if (name == "rchar:") now.read = value - own_bytes;
    if (name == "wchar:") now.written = value;
    if (name == "syscr:") now.reads = value - own_reads;
    if (name == "syscw:") now.writes = value;
  }
  ++own_reads;
  own_bytes += static_cast<std::uint64_t>(size);
  return now;
}

Usage operator-(const Usage& after, const Usage& before) {
  return {after.cpu - before.cpu, after.writes - before.writes, after.written - before.written,
          after.reads - before.reads, after.read - before.read};
}

void throttle(std::uint64_t bytes) {
  if (rate <= 0) return;
  using Clock = std::chrono::steady_clock;
  // The owed time is slept off some milliseconds at a time, as the kernel does with processes that dirty too many
  // pages. Waking up costs CPU time, and many small writes would otherwise meet a slower store than few large ones. The
  // excess of a sleep that ends late counts for the next, up to a bound.
  constexpr std::chrono::milliseconds least_sleep{10}, most_credit{5};
  static std::chrono::duration<double> owed{};
  const std::lock_guard turn(one_at_a_time);
  owed += std::chrono::duration<double>(static_cast<double>(bytes) / rate);
  if (owed < least_sleep) return;
  const auto begin = Clock::now();
  std::this_thread::sleep_for(owed);
  owed = std::max<std::chrono::duration<double>>(owed - (Clock::now() - begin), -most_credit);
}

void set_throttle(double bytes_per_second) {
  rate = bytes_per_second;
  if (rate <= 0) return file::set_observer({});
  file::set_observer([](const file::Event& event) {
    if (event.operation == file::Operation::write) throttle(event.size);
    return file::Verdict{};
  });
}

void set_sync(bool on) { sync_on = on; }

void touch_free_memory(std::uint64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory != MAP_FAILED) ::munmap(memory, size);
}

void sort_free_pieces() {
  ::malloc_trim(64 << 20);
  // Each request for a large piece sorts ten thousand small ones.
  std::array<std::unique_ptr<std::byte[]>, 64> pieces;
  for (auto& piece : pieces) piece = std::make_unique<std::byte[]>(1 << 15);
}

}  // namespace octavo::bench

// The linker sends this module's calls of fsync and fdatasync here (--wrap).
extern "C" {
int __real_fsync(int descriptor);
int __real_fdatasync(int descriptor);
int __wrap_fsync(int descriptor);
int __wrap_fdatasync(int descriptor);
int __wrap_fsync(int descriptor) { return octavo::bench::sync_on ? __real_fsync(descriptor) : 0; }
int __wrap_fdatasync(int descriptor) { return octavo::bench::sync_on ? __real_fdatasync(descriptor) : 0; }
}
