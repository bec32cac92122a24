#include "octavo/base/ranks.hpp"

#include <utility>

#include "octavo/base/current_error.hpp"

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
  // The string that carries an error holds the digit of its kind, the message, the advice and then the places,
  // separated by NUL.
  std::string mine;
  try {
    work();
  } catch (...) {
    const Error error = current_error();
    mine = std::to_string(static_cast<int>(error.kind())) + error.message();
    mine += '\0' + error.advice();
    for (const std::string& place : error.places()) mine += '\0' + place;
  }
  const auto all = all_gather(ranks, mine);
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (all[r].empty()) continue;
    std::vector<std::string> words(1);
    for (std::size_t i = 1; i < all[r].size(); ++i) {
      if (all[r][i] == '\0')
        words.emplace_back();
      else
        words.back() += all[r][i];
    }
    Error error(static_cast<Kind>(all[r][0] - '0'), words[0]);
    for (std::size_t i = 2; i < words.size(); ++i) error.at(words[i]);
    if (ranks.size > 1) error.at("rank " + std::to_string(r));
    if (words.size() > 1 && !words[1].empty()) error.hint(words[1]);
    throw error;
  }
}

}  // namespace octavo::base
