#include "octavo/base/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include "octavo/base/error.hpp"

namespace octavo::base {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
std::atomic<std::uint64_t> chosen_limit{0};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using TextFile = std::unique_ptr<std::FILE, CloseFile>;

/// Returns the number behind `key` in a file of lines "key number"; with an empty key, the number that the file begins
/// with. Returns `unlimited` if the file has no such number ("max") or cannot be read.
std::uint64_t number_in(const char* path, const char* key = "") noexcept {
  const TextFile file(std::fopen(path, "re"));
  char line[256];
  while (file && std::fgets(line, sizeof line, file.get()) != nullptr) {
    if (std::strncmp(line, key, std::strlen(key)) != 0) continue;
    unsigned long long number = 0;
    if (std::sscanf(line + std::strlen(key), "%llu", &number) == 1) return number;
    break;
  }
  return unlimited;
}

std::uint64_t kibibytes(std::uint64_t number) { return number == unlimited ? unlimited : number << 10; }
std::uint64_t less(std::uint64_t limit, std::uint64_t used) {
  if (limit == unlimited || used == unlimited) return limit;
  return limit > used ? limit - used : 0;
}

/// The paths are those that a container sees: control groups version 2, then version 1.
std::uint64_t free_in_group() noexcept {
  const std::uint64_t second = less(number_in("/sys/fs/cgroup/memory.max"), number_in("/sys/fs/cgroup/memory.current"));
  const std::uint64_t first = less(number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
                                   number_in("/sys/fs/cgroup/memory/memory.usage_in_bytes"));
  return std::min(first, second);
}

std::uint64_t free_addresses() noexcept {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
  return less(limit.rlim_cur, kibibytes(number_in("/proc/self/status", "VmSize:")));
}

}  // namespace

std::uint64_t free_memory() noexcept {
  std::uint64_t available = kibibytes(number_in("/proc/meminfo", "MemAvailable:"));
  if (available == unlimited)
    available =
        static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return std::min({available, free_in_group(), free_addresses()});
}

void set_memory_limit(std::uint64_t bytes) noexcept { chosen_limit = bytes; }

std::uint64_t memory_limit() noexcept {
  const std::uint64_t chosen = chosen_limit;
  return chosen != 0 ? chosen : free_memory() / 5 * 4;
}

void need_memory(std::uint64_t bytes, std::string_view what) {
  // Reading the free memory costs more than a small request is worth.
  if (bytes < (std::uint64_t{1} << 20) && chosen_limit == 0) return;
  const std::uint64_t limit = memory_limit();
  if (bytes <= limit) return;
  throw Error(Kind::no_space, std::string(what) + " takes " + std::to_string(bytes) +
                                  " bytes of memory, the limit is " + std::to_string(limit))
      .hint("ask for fewer fields, levels or pixels, or raise --memory (default: 80 % of what is free)");
}

int threads_within_memory(int threads, std::uint64_t bytes) noexcept {
  if (threads <= 1 || bytes == 0) return std::max(threads, 1);
  return static_cast<int>(std::clamp<std::uint64_t>(memory_limit() / bytes, 1, static_cast<std::uint64_t>(threads)));
}

}  // namespace octavo::base
