#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "octavo/analysis/pack.hpp"
#include "octavo/analysis/reduce.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/base/threads.hpp"

namespace octavo::verbs {

/// Who works.
struct Workers {
  int threads = 0;  ///< 0: all cores
  base::Ranks ranks;
  base::Progress progress;  ///< in parts of this rank
};

/// How contributions of a kind T are made and put together.
template <class Work, class Add, class Pack, class Unpack>
struct Summation {
  Work work;      ///< T work(part), on any thread
  Add add;        ///< add(T& to, T&& later)
  Pack pack;      ///< std::string pack(const T&)
  Unpack unpack;  ///< T unpack(std::string_view)
};
template <class Work, class Add, class Pack, class Unpack>
Summation(Work, Add, Pack, Unpack) -> Summation<Work, Add, Pack, Unpack>;  // clang 14 does not deduce for aggregates

/// Adds the contributions of the parts, shared between ranks in contiguous ranges and between threads one by one. The
/// same bits for any number of either (see OrderedSum); every rank gets the result, or the same error. Collective.
template <class Work, class Add, class Pack, class Unpack>
auto sum_parts(const std::vector<int>& parts, const Workers& workers, const Summation<Work, Add, Pack, Unpack>& how) {
  using T = decltype(how.work(0));
  using Sums = analysis::OrderedSum<T, Add>;
  const auto share = [&](int rank) {
    return parts.size() * static_cast<std::size_t>(rank) / static_cast<std::size_t>(workers.ranks.size);
  };
  const std::size_t first = share(workers.ranks.rank), count = share(workers.ranks.rank + 1) - first;
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
  analysis::Packer packer;
  for (const auto& piece : mine.pieces()) {
    packer.value(piece.first);
    packer.value(piece.count);
    const std::string bytes = how.pack(piece.value);
    packer.array(std::vector<char>(bytes.begin(), bytes.end()));
  }
  mine.pieces().clear();
  Sums all(how.add);
  for (const std::string& bytes : base::all_gather(workers.ranks, packer.take())) {
    analysis::Unpacker from(bytes);
    while (!from.empty()) {
      const auto begin = from.template value<std::uint64_t>();
      const auto size = from.template value<std::uint64_t>();
      const auto piece = from.template array<char>();
      all.push(typename Sums::Piece{begin, size, how.unpack(std::string_view(piece.data(), piece.size()))});
    }
  }
  return all.take();
}

}  // namespace octavo::verbs
