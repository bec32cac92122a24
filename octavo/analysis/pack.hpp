#pragma once
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "octavo/base/error.hpp"

namespace octavo::analysis {

/// Partial results as bytes between processes of one machine type: values and arrays one after another, arrays with
/// their length before them.
class Packer {
 public:
  template <class T>
  void value(const T& x) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&x), sizeof x);
  }
  template <class T>
  void array(const std::vector<T>& xs) {
    static_assert(std::is_trivially_copyable_v<T>);
    value(xs.size());
    if (!xs.empty()) bytes_.append(reinterpret_cast<const char*>(xs.data()), xs.size() * sizeof(T));
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// The inverse; throws Error(corrupt) where the bytes end early.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}
  template <class T>
  T value() {
    T x;
    copy(&x, 1, sizeof x);
    return x;
  }
  template <class T>
  std::vector<T> array() {
    const auto size = value<std::size_t>();
    if (size > rest_.size() / sizeof(T)) ends_early();
    std::vector<T> xs(size);
    copy(xs.data(), size, sizeof(T));
    return xs;
  }
  bool empty() const { return rest_.empty(); }

 private:
  [[noreturn]] static void ends_early() {
    throw base::Error(base::Kind::corrupt, "a partial result from another process ends early");
  }
  void copy(void* to, std::size_t count, std::size_t size) {
    if (count > rest_.size() / size) ends_early();
    if (count != 0) std::memcpy(to, rest_.data(), count * size);
    rest_.remove_prefix(count * size);
  }
  std::string_view rest_;
};

}  // namespace octavo::analysis
