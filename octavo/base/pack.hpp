#pragma once
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "octavo/base/error.hpp"

/// Packs values into bytes for other processes of the same run, in the machine's own byte order. `both` lists the
/// members of a struct once: both(put, value) appends the value, both(get, value) reads it back. A struct that holds
/// more than plain bytes defines its own `both` in its own namespace.
namespace octavo::base {

/// Appends values. It never changes a value, although `both` takes it by non-const reference.
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

/// Reads values in the order in which Put appended them. Throws Error(corrupt) if the bytes end early.
struct Get {
  std::span<const std::byte> bytes;
  void raw(void* to, std::size_t size) {
    if (size > bytes.size()) throw ended_early();
    if (size > 0) std::memcpy(to, bytes.data(), size);
    bytes = bytes.subspan(size);
  }
  /// Each element takes at least `least` bytes, so we reject a count that the bytes left cannot hold before we
  /// allocate.
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

template <class Way>
void both(Way& way, std::filesystem::path& path) {
  std::string text = path.string();
  both(way, text);
  path = text;
}

template <class Way, class Key, class T, class Less>
void both(Way& way, std::map<Key, T, Less>& values) {
  const std::size_t count = way.count(values.size(), 1);
  if constexpr (std::is_same_v<Way, Put>) {
    for (auto& [key, value] : values) {
      both(way, const_cast<Key&>(key));
      both(way, value);
    }
  } else {
    values.clear();
    for (std::size_t i = 0; i < count; ++i) {
      Key key{};
      both(way, key);
      both(way, values[std::move(key)]);
    }
  }
}

/// One of several types; `which` counts them.
template <std::size_t first, class Way, class... Ts>
void both_as(Way& way, std::variant<Ts...>& value, std::size_t which) {
  if constexpr (first < sizeof...(Ts)) {
    if (which != first) return both_as<first + 1>(way, value, which);
    if (value.index() != first) value.template emplace<first>();
    both(way, std::get<first>(value));
  } else {
    throw Error(Kind::corrupt, "a message between ranks has a value of an unknown type");
  }
}
template <class Way, class... Ts>
void both(Way& way, std::variant<Ts...>& value) {
  std::size_t which = value.index();
  both(way, which);
  both_as<0>(way, value, which);
}

/// An error that is kept, if there is one.
template <class Way>
void both(Way& way, std::optional<Error>& error) {
  bool is_there = error.has_value();
  both(way, is_there);
  if (!is_there) return error.reset();
  Kind kind = error ? error->kind() : Kind::corrupt;
  std::string message = error ? error->message() : std::string(), advice = error ? error->advice() : std::string();
  std::vector<std::string> places = error ? error->places() : std::vector<std::string>();
  both(way, kind, message, places, advice);
  error.emplace(kind, message);
  for (const std::string& place : places) error->at(place);
  if (!advice.empty()) error->hint(advice);
}

/// Several values, one after the other.
template <class Way, class First, class Second, class... Rest>
void both(Way& way, First& first, Second& second, Rest&... rest) {
  both(way, first);
  both(way, second);
  (both(way, rest), ...);
}

/// Packs a value into a string, which is what Ranks exchange.
template <class T>
std::string packed(const T& value) {
  Put put;
  both(put, const_cast<T&>(value));
  return {reinterpret_cast<const char*>(put.bytes.data()), put.bytes.size()};
}

/// The inverse of packed(). Throws Error(corrupt) if the text is too short or too long.
template <class T>
T unpacked(std::string_view text) {
  Get get{std::as_bytes(std::span(text))};
  T value{};
  both(get, value);
  if (!get.bytes.empty()) throw Error(Kind::corrupt, "a message between ranks is too long");
  return value;
}

}  // namespace octavo::base
