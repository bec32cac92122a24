#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace octavo::base {

static_assert(std::endian::native == std::endian::little || std::endian::native == std::endian::big);

/// Reverses the bytes of each `width`-byte element in place. `bytes.size()` must be a multiple of `width`.
void swap_bytes(std::span<std::byte> bytes, std::size_t width);

/// Reads a T from (possibly unaligned) memory of the given byte order.
template <class T>
T load(const std::byte* from, std::endian order = std::endian::little) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::byte raw[sizeof(T)];
  std::memcpy(raw, from, sizeof(T));
  if (order != std::endian::native) swap_bytes(raw, sizeof(T));
  T value;
  std::memcpy(&value, raw, sizeof(T));
  return value;
}

/// Writes a T to (possibly unaligned) memory in the given byte order.
template <class T>
void store(std::byte* to, T value, std::endian order = std::endian::little) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(to, &value, sizeof(T));
  if (order != std::endian::native) swap_bytes({to, sizeof(T)}, sizeof(T));
}

}  // namespace octavo::base
