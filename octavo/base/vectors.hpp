#pragma once
#include <cstddef>
#include <cstdint>

/// Functions that are compiled for several instruction sets. The program picks the widest set that its machine has.
namespace octavo::base {

struct Vectors {
  /// XXH3, 64 bits, seed 0. All sets give the same checksums, and one set can continue with the state of another.
  std::uint64_t (*hash)(const void* bytes, std::size_t size);
  void (*update)(void* state, const void* bytes, std::size_t size);  ///< `state`: an XXH3_state_t

  /// Copies lines of 64 bytes past the caches. `to` must be aligned to a line. The caller must issue a store fence
  /// afterwards.
  void (*copy_lines)(const std::byte* from, std::byte* to, std::size_t lines);
};

extern const Vectors vectors_plain;  ///< runs on every machine of this architecture
extern const Vectors vectors_avx2;   ///< null functions if the compiler lacks the set
extern const Vectors vectors_avx512;

}  // namespace octavo::base
