#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Equal shares of a sequence, and of sorted keys that no process sees as a whole.
namespace octavo::base {

/// Position among `count` things at which share `i` of `shares` begins. It is rounded down, so shares differ by at most
/// one.
constexpr std::int64_t share_begin(std::int64_t count, std::int64_t shares, std::int64_t i) {
  return count / shares * i + count % shares * i / shares;  // no product overflows
}
/// The range [first, last) of share `i`.
constexpr std::array<std::int64_t, 2> share(std::int64_t count, std::int64_t i, std::int64_t shares) {
  return {share_begin(count, shares, i), share_begin(count, shares, i + 1)};
}
/// The share that holds thing `i`. @pre (i + 1) * shares < 2^63
constexpr std::size_t owner(std::int64_t i, std::int64_t count, std::int64_t shares) {
  return static_cast<std::size_t>(((i + 1) * shares - 1) / count);
}

__extension__ using WideKey = unsigned __int128;

/// Counts one holder's keys in some intervals of 2^left keys each, which 2^taken counters divide evenly.
class KeyCounts {
 public:
  /// `lows` are the intervals' first keys, ascending.
  void begin(std::vector<WideKey> lows, int left, int taken);
  /// Counts keys, which must ascend. `key` gives an item's key; `weight` gives how many keys the item stands for.
  template <class Items, class Key, class Weight>
  void count(const Items& items, Key&& key, Weight&& weight);
  /// Counts one key, which stands for `weight` of them, in any order of keys.
  void count_one(WideKey key, std::int64_t weight);
  /// Whether one of the intervals overlaps [first, last].
  bool asks_for(WideKey first, WideKey last) const;
  /// One interval after another.
  std::vector<std::int64_t>& counts() { return counts_; }

 protected:
  std::vector<WideKey> lows_;
  int left_ = 0, taken_ = 0;  ///< bits of a key not known yet; bits that this round finds
  std::vector<std::int64_t> counts_;
};

/// Finds the keys at given positions in the sorted order of keys that are spread over several holders. It works in
/// rounds: in each round every holder counts its keys, and the caller adds up the counts of all holders. More counters
/// let a round find more bits of the keys. Searches with the same lower limit share their counters.
class KeySearch : public KeyCounts {
 public:
  /// `positions` must ascend. Keys are below 2^bits. For a position past the last key, the search finds 2^bits - 1.
  KeySearch(std::span<const std::int64_t> positions, int bits, std::size_t most_counters);
  /// The positions that cut all keys into equal shares: the first key of each share but share 0. Empty if there are no
  /// keys.
  static std::vector<std::int64_t> cuts(std::int64_t keys, std::int64_t shares);

  bool done() const { return left_ == 0 || searches_.empty(); }
  void begin_round();
  void end_round();
  /// The keys, in the order of the positions. Call it once done() holds.
  std::vector<WideKey> found() const;

 private:
  struct Search {
    std::int64_t position = 0;
    WideKey low = 0;         ///< lower limit of the key
    std::int64_t below = 0;  ///< number of keys before `low`
  };
  std::vector<Search> searches_;
  std::size_t most_counters_;
};

// ------------------------------------------------------------------------------------------------------------ template

template <class Items, class Key, class Weight>
void KeyCounts::count(const Items& items, Key&& key, Weight&& weight) {
  auto item = items.begin();
  for (std::size_t i = 0; i < lows_.size(); ++i) {
    item = std::lower_bound(item, items.end(), lows_[i], [&](const auto& a, WideKey b) { return key(a) < b; });
    for (; item != items.end() && (key(*item) - lows_[i]) >> left_ == 0; ++item)
      counts_[(i << taken_) + static_cast<std::size_t>((key(*item) - lows_[i]) >> (left_ - taken_))] += weight(*item);
  }
}

}  // namespace octavo::base
