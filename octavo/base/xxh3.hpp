#pragma once
#include <cstddef>
#include <cstdint>

/// XXH3 compiled for several instruction sets; all give the same sums, and one may go on with a state of another.
namespace octavo::base {

struct Xxh3 {
  std::uint64_t (*hash)(const void* bytes, std::size_t size);
  void (*update)(void* state, const void* bytes, std::size_t size);  ///< `state`: an XXH3_state_t
};

extern const Xxh3 xxh3_plain;  ///< what every machine of this kind has
extern const Xxh3 xxh3_avx2;   ///< null functions where the compiler made none
extern const Xxh3 xxh3_avx512;

}  // namespace octavo::base
