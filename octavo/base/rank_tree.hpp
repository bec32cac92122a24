#pragma once
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "octavo/base/ranks.hpp"

namespace octavo::base {

/// Collective. Joins the strings of neighbouring ranks pairwise up a binary tree, and gives every rank the result.
/// join(left, right) joins those of two stretches of ranks, of which `right` follows `left`. No rank holds more than
/// two strings at once.
template <class Join>
std::string join_ranks(const Ranks& ranks, std::string mine, Join&& join) {
  std::exception_ptr failure;  // the other ranks wait for our string all the same
  for (int step = 1; step < ranks.size; step *= 2) {
    std::vector<std::string> to(static_cast<std::size_t>(ranks.size));
    if (ranks.rank % (2 * step) == step) to[static_cast<std::size_t>(ranks.rank - step)] = std::exchange(mine, {});
    const std::vector<std::string> from = all_to_all(ranks, std::move(to));
    if (ranks.rank % (2 * step) != 0 || ranks.rank + step >= ranks.size || failure) continue;
    try {
      mine = join(std::as_const(mine), from[static_cast<std::size_t>(ranks.rank + step)]);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  agree(ranks, [&] {
    if (failure) std::rethrow_exception(failure);
  });
  return all_gather(ranks, mine)[0];  // of rank 0; the others have none left
}

}  // namespace octavo::base
