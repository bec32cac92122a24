#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "octavo/analysis/reduce.hpp"
#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/pack.hpp"
#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/base/threads.hpp"

namespace octavo::verbs {

/// The threads and ranks that share the work.
struct Workers {
  int threads = 0;  ///< 0: all cores
  base::Ranks ranks;
  base::Progress progress;  ///< in parts of this rank
};

/// Makes contributions of a type T and adds them. T has a `both` (base/pack.hpp).
template <class Work, class Add>
struct Summation {
  Work work;  ///< T work(part), on any thread
  Add add;    ///< add(T& to, T&& later)
};
template <class Work, class Add>
Summation(Work, Add) -> Summation<Work, Add>;  // clang 14 does not deduce for aggregates

/// Adds the contributions of the parts. Each rank takes a contiguous range of parts, each thread one part at a time.
/// The result has the same bits for any number of either (see OrderedSum). Every rank gets it, or the same error.
/// Collective.
template <class Work, class Add>
auto sum_parts(const std::vector<int>& parts, const Workers& workers, const Summation<Work, Add>& how) {
  using T = decltype(how.work(0));
  using Sums = analysis::OrderedSum<T, Add>;
  const auto share = base::share(std::ssize(parts), workers.ranks.rank, workers.ranks.size);
  const auto first = static_cast<std::size_t>(share[0]), count = static_cast<std::size_t>(share[1]) - first;
  Sums mine(how.add);
  base::agree(workers.ranks, [&] {
    base::ordered_for(
        count, base::thread_count(workers.threads), [&](std::size_t i) { return how.work(parts[first + i]); },
        [&](std::size_t i, T contribution) {
          mine.push(first + i, std::move(contribution));
          if (workers.progress && !workers.progress(static_cast<std::int64_t>(i + 1), static_cast<std::int64_t>(count)))
            throw base::Error(base::Kind::interrupted, "stopped on request");
        });
  });
  if (workers.ranks.size == 1) return mine.take();
  const std::vector<std::string> pieces = base::all_gather(workers.ranks, base::packed(mine.pieces()));
  mine.pieces().clear();
  Sums all(how.add);
  for (const std::string& some : pieces)
    for (auto& piece : base::unpacked<std::vector<typename Sums::Piece>>(some)) all.push(std::move(piece));
  return all.take();
}

}  // namespace octavo::verbs
