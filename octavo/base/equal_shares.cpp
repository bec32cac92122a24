#include "octavo/base/equal_shares.hpp"

#include <bit>
#include <utility>

namespace octavo::base {

void KeyCounts::begin(std::vector<WideKey> lows, int left, int taken) {
  lows_ = std::move(lows);
  left_ = left;
  taken_ = taken;
  counts_.assign(lows_.size() << taken_, 0);
}

KeySearch::KeySearch(std::span<const std::int64_t> positions, int bits, std::size_t most_counters)
    : most_counters_(most_counters) {
  left_ = bits;
  for (const std::int64_t position : positions) searches_.push_back({position, 0, 0});
}

std::vector<std::int64_t> KeySearch::cuts(std::int64_t keys, std::int64_t shares) {
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 1; keys > 0 && i < shares; ++i) positions.push_back(share_begin(keys, shares, i));
  return positions;
}

void KeySearch::begin_round() {
  std::vector<WideKey> lows;
  for (const Search& search : searches_)
    if (lows.empty() || lows.back() != search.low) lows.push_back(search.low);
  const std::size_t each = std::max<std::size_t>(2, most_counters_ / lows.size());
  begin(std::move(lows), left_, std::min(left_, static_cast<int>(std::bit_width(each)) - 1));
}

void KeyCounts::count_one(WideKey key, std::int64_t weight) {
  const auto after = std::upper_bound(lows_.begin(), lows_.end(), key);
  if (after == lows_.begin()) return;
  const auto i = static_cast<std::size_t>(after - lows_.begin()) - 1;
  const WideKey above = key - lows_[i];
  if (above >> left_ == 0) counts_[(i << taken_) + static_cast<std::size_t>(above >> (left_ - taken_))] += weight;
}

bool KeyCounts::asks_for(WideKey first, WideKey last) const {
  const auto after = std::upper_bound(lows_.begin(), lows_.end(), last);
  return after != lows_.begin() && (first <= *(after - 1) || (first - *(after - 1)) >> left_ == 0);
}

void KeySearch::end_round() {
  const std::size_t buckets = std::size_t{1} << taken_;
  for (Search& search : searches_) {
    const auto found = std::lower_bound(lows_.begin(), lows_.end(), search.low) - lows_.begin();
    const std::size_t first = static_cast<std::size_t>(found) << taken_;
    std::size_t bucket = 0;
    while (bucket + 1 < buckets && search.below + counts_[first + bucket] <= search.position)
      search.below += counts_[first + bucket++];
    search.low += WideKey{bucket} << (left_ - taken_);
  }
  left_ -= taken_;
}

std::vector<WideKey> KeySearch::found() const {
  std::vector<WideKey> keys;
  for (const Search& search : searches_) keys.push_back(search.low);
  return keys;
}

}  // namespace octavo::base
