#include "octavo/engine/step/staging.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/engine/timer.hpp"

namespace octavo::engine {
namespace {

// Writing to each page makes the system provide it now, when we can report a refusal, and not in the middle of a copy.
void touch_pages(std::byte* memory, std::size_t size) {
  madvise(memory, size, MADV_HUGEPAGE);  // if this fails, pages are small
#ifdef MADV_POPULATE_WRITE
  if (madvise(memory, size, MADV_POPULATE_WRITE) == 0) return;
  if (errno == ENOMEM || errno == EHWPOISON) throw base::system_error("allocate staging memory", errno);
#endif
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t i = 0; i < size; i += page) static_cast<volatile std::byte*>(memory)[i] = std::byte{0};
}

}  // namespace

Staging::Staging(std::uint64_t limit) : limit_(limit) {
  if (limit == 0) return;
  void* memory = mmap(nullptr, limit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw base::Error(base::Kind::no_space, "out of memory: " + std::to_string(limit) + " bytes for staging")
        .hint("a smaller option staging_bytes, or mode = sync");
  memory_ = static_cast<std::byte*>(memory);
}

Staging::~Staging() {
  if (memory_ != nullptr) munmap(memory_, limit_);
}

// Places a block after the youngest one, or at the front again.
bool Staging::place(std::uint64_t bytes, Range& range) const {
  if (ranges_.empty()) {
    range = {0, bytes, false};
    return bytes <= limit_;
  }
  const std::uint64_t oldest = ranges_.front().begin, end = ranges_.back().end;
  const bool wrapped = ranges_.back().begin < oldest;
  if (!wrapped && end + bytes <= limit_)
    range = {end, end + bytes, false};
  else if (wrapped ? end + bytes <= oldest : bytes <= oldest)
    range = wrapped ? Range{end, end + bytes, false} : Range{0, bytes, false};
  else
    return false;
  return true;
}

// The first steps would wait for pages that no step may ever need, so each page is touched when a block first has it.
void Staging::provide(std::uint64_t end) {
  // Whole huge pages, or the kernel would give small ones.
  constexpr std::uint64_t huge = std::uint64_t{2} << 20;
  if (end <= touched_) return;
  end = std::min(limit_, (end + huge - 1) / huge * huge);
  touch_pages(memory_ + touched_, end - touched_);
  touched_ = end;
}

Staging::Block Staging::take(std::uint64_t bytes) {
  if (bytes == 0) return {};
  const std::uint64_t rounded = std::min(limit_, (bytes + alignment - 1) / alignment * alignment);
  std::unique_lock lock(mutex_);
  Range range;
  Block block;
  if (!place(rounded, range)) {
    const auto begin = std::chrono::steady_clock::now();
    freed_.wait(lock, [&] { return place(rounded, range); });
    block.waited = seconds_since(begin);
  }
  provide(range.end);
  ranges_.push_back(range);
  block.bytes = {memory_ + range.begin, static_cast<std::size_t>(bytes)};
  return block;
}

void Staging::give_back(std::span<std::byte> block) {
  if (block.empty()) return;
  {
    // Blocks may come back in any order, but the ring gives up space only at its old end: a block waits here for those
    // before it.
    const std::lock_guard lock(mutex_);
    const auto begin = static_cast<std::uint64_t>(block.data() - memory_);
    for (Range& range : ranges_)
      if (range.begin == begin) range.free = true;
    while (!ranges_.empty() && ranges_.front().free) ranges_.pop_front();
  }
  freed_.notify_all();
}

std::uint64_t Staging::held() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t bytes = 0;
  for (const Range& range : ranges_)
    if (!range.free) bytes += range.end - range.begin;
  return bytes;
}

}  // namespace octavo::engine
