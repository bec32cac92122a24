#pragma once
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/mesh/patches.hpp"

/// Values as bytes between ranks of one run. `both` says the order for the two ways at once.
namespace octavo::engine {

/// Puts values one after another in native order. Only reads them, whatever the signature of `both` says.
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
  static base::Error ended_early() { return base::Error(base::Kind::corrupt, "a message between ranks ends early"); }
};

template <class Way, class T>
requires std::is_arithmetic_v<T> || std::is_enum_v<T>
void both(Way& way, T& value) { way.raw(&value, sizeof value); }

template <class Way, class T, std::size_t n>
void both(Way& way, std::array<T, n>& values) {
  for (T& value : values) both(way, value);
}

template <class Way>
void both(Way& way, std::string& text) {
  text.resize(way.count(text.size(), 1));
  way.raw(text.data(), text.size());
}

template <class Way>
void both(Way& way, std::vector<std::byte>& bytes) {
  bytes.resize(way.count(bytes.size(), 1));
  way.raw(bytes.data(), bytes.size());
}

template <class Way>
void both(Way& way, mesh::IndexBox& box) {
  both(way, box.lo);
  both(way, box.hi);
}

template <class Way, class T>
void both(Way& way, std::vector<T>& values) {
  values.resize(way.count(values.size(), 1));
  for (T& value : values) both(way, value);
}

template <class Way>
void both(Way& way, mesh::Patches& patches) {
  both(way, patches.dim);
  both(way, patches.domain);
  both(way, patches.ratio);
  both(way, patches.boxes);
}

}  // namespace octavo::engine
