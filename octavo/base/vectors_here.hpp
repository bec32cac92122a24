#pragma once
// Defines `vectors_here`: the functions of vectors.hpp for the instruction set that the including file is compiled for.
// Everything has internal linkage; otherwise the linker would keep one of several versions for all files.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

#include "octavo/base/vectors.hpp"
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace octavo::base {
namespace {

// Ordinary stores would read each line of `to` before they write it.
#if defined(__AVX512F__)
void copy_line(const std::byte* from, std::byte* to) {
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
}
#elif defined(__AVX2__)
void copy_line(const std::byte* from, std::byte* to) {
  const auto* in = reinterpret_cast<const __m256i*>(from);
  const __m256i a = _mm256_loadu_si256(in), b = _mm256_loadu_si256(in + 1);
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), a);
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to) + 1, b);
}
#elif defined(__SSE2__)
void copy_line(const std::byte* from, std::byte* to) {
  const auto* in = reinterpret_cast<const __m128i*>(from);
  auto* out = reinterpret_cast<__m128i*>(to);
  const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
  const __m128i c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
  _mm_stream_si128(out, a);
  _mm_stream_si128(out + 1, b);
  _mm_stream_si128(out + 2, c);
  _mm_stream_si128(out + 3, d);
}
#else
void copy_line(const std::byte* from, std::byte* to) { std::memcpy(to, from, 64); }
#endif

// The processor prefetches no further than the current page. We prefetch two pages ahead, so arrays that are not in the
// caches are copied a fifth faster. A prefetch of a line that does not exist does nothing.
constexpr std::size_t bytes_ahead = 8192;
void prefetch(const std::byte* at) {
#if defined(__SSE2__)
  _mm_prefetch(reinterpret_cast<const char*>(at), _MM_HINT_T1);
#else
  (void)at;
#endif
}

constexpr Vectors vectors_here{
    [](const void* bytes, std::size_t size) -> std::uint64_t { return XXH3_64bits(bytes, size); },
    [](void* state, const void* bytes, std::size_t size) {
      XXH3_64bits_update(static_cast<XXH3_state_t*>(state), bytes, size);
    },
    [](const std::byte* from, std::byte* to, std::size_t lines) {
      for (std::size_t i = 0; i < lines; ++i) {
        prefetch(from + 64 * i + bytes_ahead);
        copy_line(from + 64 * i, to + 64 * i);
      }
    }};

}  // namespace
}  // namespace octavo::base
