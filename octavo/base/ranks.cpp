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

void agree(const Ranks& ranks, const std::function<void()>& work) {
  const auto all = all_gather(ranks, error_text_of(work));
  for (std::size_t r = 0; r < all.size(); ++r)
    if (!all[r].empty()) throw_error_text(all[r], ranks.size > 1 ? static_cast<int>(r) : -1);
}

}  // namespace octavo::base
