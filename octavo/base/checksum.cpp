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

// Small enough to be in the first-level cache twice.
constexpr std::size_t tile_bytes = 8192;

constexpr std::size_t line_bytes = 64;

void copy_past_caches(const std::byte* from, std::byte* to, std::size_t size) noexcept {
  const std::size_t past = reinterpret_cast<std::uintptr_t>(to) % line_bytes;
  const std::size_t before = std::min(size, (line_bytes - past) % line_bytes);
  std::memcpy(to, from, before);
  const std::size_t lines = (size - before) / line_bytes, end = before + lines * line_bytes;
  vectors().copy_lines(from + before, to + before, lines);
  std::memcpy(to + end, from + end, size - end);
}

void finish_stores() noexcept {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace

void copy_out(std::span<const std::byte> from, std::byte* to, RunningChecksum* sum) noexcept {
  for (std::size_t begin = 0; begin < from.size(); begin += tile_bytes) {
    const auto tile = from.subspan(begin, std::min(tile_bytes, from.size() - begin));
    copy_past_caches(tile.data(), to + begin, tile.size());
    if (sum != nullptr) sum->add(tile);
  }
  finish_stores();
}

}  // namespace octavo::base
