#include "octavo/base/ranks.hpp"

#include <utility>

#include "octavo/base/error_text.hpp"

namespace octavo::base {

std::vector<std::string> all_gather(const Ranks& ranks, const std::string& mine) {
  if (ranks.all_gather) return ranks.all_gather(mine);
  return {mine};
}

std::vector<std::string> all_to_all(const Ranks& ranks, std::vector<std::string> to) {
  if (ranks.all_to_all) return ranks.all_to_all(std::move(to));
  return to;
}

std::string from_rank(const Ranks& ranks, int rank, const std::string& mine) {
  if (ranks.from_rank) return ranks.from_rank(rank, mine);
  return all_gather(ranks, ranks.rank == rank ? mine : std::string())[static_cast<std::size_t>(rank)];
}

std::string deal(const Ranks& ranks, const std::function<std::string(int rank)>& text_of) {
  if (ranks.deal) return ranks.deal(text_of);
  std::string mine;
  for (int rank = 0; rank < ranks.size; ++rank) {
    std::string text;
    agree(ranks, [&] {
      if (ranks.rank == 0) text = text_of(rank);
    });
    text = from_rank(ranks, 0, text);
    if (rank == ranks.rank) mine = std::move(text);
  }
  return mine;
}

void agree(const Ranks& ranks, const std::function<void()>& work) {
  const std::string mine = error_text_of(work);
  int failed = 0;
  if (ranks.lowest_where) {
    failed = ranks.lowest_where(!mine.empty());
  } else {
    const auto all = all_gather(ranks, mine.empty() ? "" : "failed");
    while (static_cast<std::size_t>(failed) < all.size() && all[static_cast<std::size_t>(failed)].empty()) ++failed;
  }
  if (failed == ranks.size) return;
  throw_error_text(from_rank(ranks, failed, mine), ranks.size > 1 ? failed : -1);
}

}  // namespace octavo::base
