#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Equal shares of things in order, and of keys that stand in an order nobody sees as a whole.
namespace octavo::base {

/// Where share `i` of `shares` begins among `count` things: rounded down, so that shares differ by one at most.
constexpr std::int64_t share_begin(std::int64_t count, std::int64_t shares, std::int64_t i) {
  return count / shares * i + count % shares * i / shares;  // no product overflows
}
/// [first, last) of share `i`.
constexpr std::array<std::int64_t, 2> share(std::int64_t count, std::int64_t i, std::int64_t shares) {
  return {share_begin(count, shares, i), share_begin(count, shares, i + 1)};
}
/// The share that the i-th thing is in. @pre i * shares < 2^63
constexpr std::size_t owner(std::int64_t i, std::int64_t count, std::int64_t shares) {
  return static_cast<std::size_t>(((i + 1) * shares - 1) / count);
}

__extension__ using WideKey = unsigned __int128;

/// Finds the keys at given positions in the order of all keys that several holders have: a round at a time, in each of
/// which every holder counts its keys, and the counts of all are added up. A round takes as many bits as there are
/// counters for.
class KeySearch {
 public:
  /// `positions` ascend. Keys are below 2^bits. Positions past the last key find the largest number of so many bits.
  KeySearch(std::span<const std::int64_t> positions, int bits, std::size_t most_counters);
  /// The positions that cut all keys into equal shares, without the first share's: none of no keys.
  static std::vector<std::int64_t> cuts(std::int64_t keys, std::int64_t shares);

  bool done() const { return left_ == 0 || searches_.empty(); }
  void begin_round();
  /// Counts a holder's keys, which ascend. `key` and `weight` give an item's key, and how many keys it stands for.
  template <class Items, class Key, class Weight>
  void count(const Items& items, Key&& key, Weight&& weight);
  /// Counts one key, which stands for `weight` of them, in any order of keys.
  void count_one(WideKey key, std::int64_t weight);
  /// Whether a round needs to know how many keys are in [first, last].
  bool asks_for(WideKey first, WideKey last) const;
  std::vector<std::int64_t>& counts() { return counts_; }
  void end_round();
  /// By position, when it is done.
  std::vector<WideKey> found() const;

 private:
  struct Search {
    std::int64_t position = 0;
    WideKey low = 0;         ///< the key is not below this ...
    std::int64_t below = 0;  ///< ... before which so many keys stand
  };
  std::vector<Search> searches_;
  int left_ = 0, taken_ = 0;  ///< bits of a key not known yet, and those of this round
  std::size_t most_counters_;
  std::vector<WideKey> lows_;  ///< searches with one `low` share their counters
  std::vector<std::int64_t> counts_;
};

// ------------------------------------------------------------------------------------------------------------ template

template <class Items, class Key, class Weight>
void KeySearch::count(const Items& items, Key&& key, Weight&& weight) {
  auto item = items.begin();
  for (std::size_t i = 0; i < lows_.size(); ++i) {
    item = std::lower_bound(item, items.end(), lows_[i], [&](const auto& a, WideKey b) { return key(a) < b; });
    for (; item != items.end() && (key(*item) - lows_[i]) >> left_ == 0; ++item)
      counts_[(i << taken_) + static_cast<std::size_t>((key(*item) - lows_[i]) >> (left_ - taken_))] += weight(*item);
  }
}

}  // namespace octavo::base
