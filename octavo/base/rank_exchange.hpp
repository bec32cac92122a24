#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "octavo/base/ranks.hpp"

/// Vectors of plain values between ranks. All of it is collective.
namespace octavo::base {

template <class T>
std::string to_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
template <class T>
void append(std::vector<T>& values, const std::string& bytes) {
  const std::size_t before = values.size();
  values.resize(before + bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data() + before, bytes.data(), bytes.size());
}

/// Everybody's values, by rank.
template <class T>
std::vector<T> gather(const base::Ranks& ranks, const std::vector<T>& mine) {
  if (ranks.size == 1) return mine;
  std::vector<T> all;
  for (const std::string& bytes : base::all_gather(ranks, to_bytes(mine))) append(all, bytes);
  return all;
}

/// Sends each rank its values; gives what came, by sender.
template <class T>
std::vector<T> exchange(const base::Ranks& ranks, std::vector<std::vector<T>> to) {
  if (ranks.size == 1) return std::move(to[0]);
  std::vector<std::string> bytes;
  for (auto& values : to) {
    bytes.push_back(to_bytes(values));
    values = {};
  }
  std::vector<T> all;
  for (std::string& some : base::all_to_all(ranks, std::move(bytes))) append(all, some);
  return all;
}

/// [first, last) of `count` things that are a rank's.
inline std::array<std::int64_t, 2> share(std::int64_t count, std::int64_t rank, std::int64_t size) {
  return {count * rank / size, count * (rank + 1) / size};
}
/// Whose the i-th is.
inline std::size_t owner(std::int64_t i, std::int64_t count, std::int64_t size) {
  return static_cast<std::size_t>(((i + 1) * size - 1) / count);
}

}  // namespace octavo::base
