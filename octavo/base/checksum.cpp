#include "octavo/base/checksum.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "octavo/base/vectors_here.hpp"

namespace octavo::base {

const Vectors vectors_plain = vectors_here;

namespace {

const Vectors& best() noexcept {
#if defined(__x86_64__)
  if (vectors_avx512.hash != nullptr && __builtin_cpu_supports("avx512f")) return vectors_avx512;
  if (vectors_avx2.hash != nullptr && __builtin_cpu_supports("avx2")) return vectors_avx2;
#endif
  return vectors_plain;
}

const Vectors& vectors() noexcept {
  static const Vectors& chosen = best();
  return chosen;
}

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept { return vectors().hash(bytes.data(), bytes.size()); }

struct RunningChecksum::State {
  State() : xxh(XXH3_createState()) {
    if (xxh == nullptr) throw std::bad_alloc();
    XXH3_64bits_reset(xxh);
  }
  ~State() { XXH3_freeState(xxh); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  XXH3_state_t* xxh;
};

RunningChecksum::RunningChecksum() : state_(new State) {}
RunningChecksum::~RunningChecksum() = default;
RunningChecksum::RunningChecksum(RunningChecksum&&) noexcept = default;
RunningChecksum& RunningChecksum::operator=(RunningChecksum&&) noexcept = default;
void RunningChecksum::add(std::span<const std::byte> bytes) noexcept {
  vectors().update(state_->xxh, bytes.data(), bytes.size());
}
std::uint64_t RunningChecksum::value() const noexcept { return XXH3_64bits_digest(state_->xxh); }

namespace {

// The tile is one block of XXH3. It is so small that the processor starts to copy the next tile while it still sums
// this one.
constexpr std::size_t tile_bytes = 1024;

constexpr std::size_t line_bytes = 64;

void finish_stores() noexcept {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace

void copy_out(std::span<const std::byte> from, std::byte* to, RunningChecksum* sum) noexcept {
  // We copy bytes up to the first whole line of `to`, then tiles of lines, then the rest. Sums go by tiles from the
  // beginning of `from`, so they lag behind the copy by less than a line.
  const std::size_t past = reinterpret_cast<std::uintptr_t>(to) % line_bytes;
  std::size_t copied = std::min(from.size(), (line_bytes - past) % line_bytes), summed = 0;
  std::memcpy(to, from.data(), copied);
  for (; from.size() - copied >= tile_bytes; copied += tile_bytes) {
    vectors().copy_lines(from.data() + copied, to + copied, tile_bytes / line_bytes);
    if (sum == nullptr) continue;
    sum->add(from.subspan(summed, tile_bytes));
    summed += tile_bytes;
  }
  std::memcpy(to + copied, from.data() + copied, from.size() - copied);
  if (sum != nullptr) sum->add(from.subspan(summed));
  finish_stores();
}

}  // namespace octavo::base
