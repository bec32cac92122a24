#include "octavo/base/checksum.hpp"

// Compiled here, with this program's optimisation: the update of a few kilobytes is called millions of times.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "octavo/base/xxh3.hpp"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace octavo::base {

const Xxh3 xxh3_plain{[](const void* bytes, std::size_t size) -> std::uint64_t { return XXH3_64bits(bytes, size); },
                      [](void* state, const void* bytes, std::size_t size) {
                        XXH3_64bits_update(static_cast<XXH3_state_t*>(state), bytes, size);
                      }};

namespace {

const Xxh3& best() noexcept {
#if defined(__x86_64__)
  if (xxh3_avx512.hash != nullptr && __builtin_cpu_supports("avx512f")) return xxh3_avx512;
  if (xxh3_avx2.hash != nullptr && __builtin_cpu_supports("avx2")) return xxh3_avx2;
#endif
  return xxh3_plain;
}

const Xxh3& xxh3() noexcept {
  static const Xxh3& chosen = best();
  return chosen;
}

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept { return xxh3().hash(bytes.data(), bytes.size()); }

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
  xxh3().update(state_->xxh, bytes.data(), bytes.size());
}
std::uint64_t RunningChecksum::value() const noexcept { return XXH3_64bits_digest(state_->xxh); }

namespace {

// Small enough to be in the first-level cache twice.
constexpr std::size_t tile_bytes = 8192;

#if defined(__SSE2__)
// Ordinary stores would read each line of `to` before they write it.
void copy_past_caches(const std::byte* from, std::byte* to, std::size_t size) noexcept {
  constexpr std::size_t line = 64;
  const std::size_t before = std::min(size, (line - reinterpret_cast<std::uintptr_t>(to) % line) % line);
  std::memcpy(to, from, before);
  std::size_t i = before;
  for (; i + line <= size; i += line) {
    const auto* in = reinterpret_cast<const __m128i*>(from + i);
    auto* out = reinterpret_cast<__m128i*>(to + i);
    const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
    const __m128i c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
  }
  std::memcpy(to + i, from + i, size - i);
}
void finish_stores() noexcept { _mm_sfence(); }
#else
void copy_past_caches(const std::byte* from, std::byte* to, std::size_t size) noexcept { std::memcpy(to, from, size); }
void finish_stores() noexcept {}
#endif

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
