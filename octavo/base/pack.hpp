#pragma once
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "octavo/base/error.hpp"

/// Values as bytes between the processes of one run, in the machine's own order. `both` names the order of a struct's
/// members once: both(put, value) appends the value, both(get, value) reads it back. A struct that holds more than
/// plain bytes has its own `both`, in its own namespace.
namespace octavo::base {

/// Appends values. Only reads them, whatever the signature of `both` says.
struct Put {
  std::vector<std::byte> bytes;
  void raw(const void* from, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(from);
    bytes.insert(bytes.end(), begin, begin + size);
  }
  std::size_t count(std::size_t n, std::size_t) {
    raw(&n, sizeof n);
    return n;
  }
};

/// The mirror of Put. Throws Error(corrupt) where the bytes end early.
struct Get {
  std::span<const std::byte> bytes;
  void raw(void* to, std::size_t size) {
    if (size > bytes.size()) throw ended_early();
    if (size > 0) std::memcpy(to, bytes.data(), size);
    bytes = bytes.subspan(size);
  }
  /// Elements take at least `least` bytes each: a count that cannot be is not allocated.
  std::size_t count(std::size_t, std::size_t least) {
    std::size_t n = 0;
    raw(&n, sizeof n);
    if (n > bytes.size() / least) throw ended_early();
    return n;
  }
  static Error ended_early() { return Error(Kind::corrupt, "a message between ranks ends early"); }
};

template <class Way, class T>
requires std::is_trivially_copyable_v<T>
void both(Way& way, T& value) { way.raw(&value, sizeof value); }

template <class Way>
void both(Way& way, std::string& text) {
  text.resize(way.count(text.size(), 1));
  way.raw(text.data(), text.size());
}

template <class Way, class T>
void both(Way& way, std::vector<T>& values) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    values.resize(way.count(values.size(), sizeof(T)));
    way.raw(values.data(), values.size() * sizeof(T));
  } else {
    values.resize(way.count(values.size(), 1));
    for (T& value : values) both(way, value);
  }
}

/// A value as a string, as Ranks exchange it.
template <class T>
std::string packed(const T& value) {
  Put put;
  both(put, const_cast<T&>(value));
  return {reinterpret_cast<const char*>(put.bytes.data()), put.bytes.size()};
}

/// The inverse. Throws Error(corrupt) where the bytes end early or too late.
template <class T>
T unpacked(std::string_view text) {
  Get get{std::as_bytes(std::span(text))};
  T value{};
  both(get, value);
  if (!get.bytes.empty()) throw Error(Kind::corrupt, "a message between ranks is too long");
  return value;
}

}  // namespace octavo::base
