#pragma once
#include <cstddef>
#include <cstdint>

/// Functions compiled for several instruction sets. A program takes the widest that its machine has.
namespace octavo::base {

struct Vectors {
  /// XXH3, 64 bits, seed 0. All sets give the same sums, and one may go on with a state of another.
  std::uint64_t (*hash)(const void* bytes, std::size_t size);
  void (*update)(void* state, const void* bytes, std::size_t size);  ///< `state`: an XXH3_state_t

  /// Copies lines of 64 bytes past the caches; `to` begins a line. A store fence has to follow.
  void (*copy_lines)(const std::byte* from, std::byte* to, std::size_t lines);
};

extern const Vectors vectors_plain;  ///< every machine of this kind has it
extern const Vectors vectors_avx2;   ///< null functions where the compiler made none
extern const Vectors vectors_avx512;

}  // namespace octavo::base
