#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "octavo/analysis/reduce.hpp"
#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/pack.hpp"
#include "octavo/base/rank_tree.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/verbs/workers.hpp"

namespace octavo::verbs {

/// Makes contributions of a type T and adds them. T has a `both` (base/pack.hpp).
template <class Work, class Add>
struct Summation {
  Work work;  ///< T work(i), of this rank's i-th part, on any thread
  Add add;    ///< add(T& to, T&& later)
};
template <class Work, class Add>
Summation(Work, Add) -> Summation<Work, Add>;  // clang 14 does not deduce for aggregates

/// Adds the contributions of `parts` parts. Each rank has a contiguous range of them (base::share), each thread one at
/// a time. The result has the same bits for any number of either (see OrderedSum). Every rank gets it, or the same
/// error. Collective.
template <class Work, class Add>
auto sum_parts(std::size_t parts, const Workers& workers, const Summation<Work, Add>& how) {
  using T = decltype(how.work(0));
  using Sums = analysis::OrderedSum<T, Add>;
  using Pieces = std::vector<typename Sums::Piece>;
  const auto share = base::share(static_cast<std::int64_t>(parts), workers.ranks.rank, workers.ranks.size);
  const auto first = static_cast<std::size_t>(share[0]), count = static_cast<std::size_t>(share[1]) - first;
  Sums mine(how.add);
  base::agree(workers.ranks, [&] {
    base::ordered_for(
        count, base::thread_count(workers.threads), [&](std::size_t i) { return how.work(i); },
        [&](std::size_t i, T contribution) {
          mine.push(first + i, std::move(contribution));
          if (workers.progress && !workers.progress(static_cast<std::int64_t>(i + 1), static_cast<std::int64_t>(count)))
            throw base::Error(base::Kind::interrupted, "stopped on request");
        });
  });
  if (workers.ranks.size == 1) return mine.take();
  const auto pieces_of = [&](std::initializer_list<const std::string*> texts) {
    Sums all(how.add);
    for (const std::string* text : texts)
      for (auto& piece : base::unpacked<Pieces>(*text)) all.push(std::move(piece));
    return all;
  };
  const std::string joined =
      base::join_ranks(workers.ranks, base::packed(mine.pieces()), [&](const auto& left, const auto& right) {
        return base::packed(pieces_of({&left, &right}).pieces());
      });
  return pieces_of({&joined}).take();
}

}  // namespace octavo::verbs
