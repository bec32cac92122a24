#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include "octavo/base/equal_shares.hpp"
#include "octavo/base/pack.hpp"
#include "octavo/base/ranks.hpp"

/// Exchange of vectors between ranks. All functions that take Ranks are collective.
namespace octavo::base {

template <class T>
std::string to_bytes(const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
template <class T>
void append(std::vector<T>& values, const std::string& bytes) {
  const std::size_t before = values.size();
  values.resize(before + bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data() + before, bytes.data(), bytes.size());
}

/// The values of all ranks, one rank after another.
template <class T>
std::vector<T> gather(const Ranks& ranks, const std::vector<T>& mine) {
  if (ranks.size == 1) return mine;
  std::vector<T> all;
  if constexpr (std::is_trivially_copyable_v<T>) {
    for (const std::string& bytes : all_gather(ranks, to_bytes(mine))) append(all, bytes);
  } else {
    for (const std::string& bytes : all_gather(ranks, packed(mine))) {
      auto some = unpacked<std::vector<T>>(bytes);
      std::move(some.begin(), some.end(), std::back_inserter(all));
    }
  }
  return all;
}

/// Rank 0's value, on all ranks.
template <class T>
T from_first(const Ranks& ranks, const T& mine) {
  return unpacked<T>(from_rank(ranks, 0, ranks.rank == 0 ? packed(mine) : std::string()));
}

/// Sends to[r] to rank r. Returns the values that this rank received, one sender after another.
template <class T>
std::vector<T> exchange(const Ranks& ranks, std::vector<std::vector<T>> to) {
  if (ranks.size == 1) return std::move(to[0]);
  std::vector<std::string> bytes;
  for (auto& values : to) {
    bytes.push_back(to_bytes(values));
    std::vector<T>().swap(values);  // frees the memory, which `values = {}` keeps
  }
  std::vector<T> all;
  for (std::string& some : all_to_all(ranks, std::move(bytes))) append(all, some);
  return all;
}

/// Reduces value by value: result i is add(add(rank 0's value i, rank 1's), rank 2's) ..., on all ranks. `mine` must
/// have the same size on each rank. If all_to_all is available, each rank adds up only a share of the values.
template <class T, class Add>
std::vector<T> reduce(const Ranks& ranks, std::vector<T> mine, Add&& add) {
  if (ranks.size == 1) return mine;
  const std::size_t values = mine.size();
  const auto add_up = [&](const std::vector<T>& came, std::size_t count) {
    std::vector<T> all(came.begin(), came.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t i = count; i < came.size(); ++i) all[i % count] = add(all[i % count], came[i]);
    return all;
  };
  if (!ranks.all_to_all) return add_up(gather(ranks, mine), values);
  std::vector<std::vector<T>> to;
  std::size_t own = 0;
  for (int rank = 0; rank < ranks.size; ++rank) {
    const auto [first, last] = share(static_cast<std::int64_t>(values), rank, ranks.size);
    to.emplace_back(mine.begin() + first, mine.begin() + last);
    if (rank == ranks.rank) own = to.back().size();
  }
  return gather(ranks, add_up(exchange(ranks, std::move(to)), own));
}
template <class T>
std::vector<T> sum(const Ranks& ranks, std::vector<T> mine) {
  return reduce(ranks, std::move(mine), std::plus<T>());
}

}  // namespace octavo::base
