#include "octavo/engine/restart/stretches.hpp"

#include <algorithm>
#include <utility>

/// Few intervals of the curve that cover all keys of a part. Between them are the part's widest gaps, so a rank whose
/// share lies in such a gap does not read the part. Too wide a cover costs reading, never correctness.
namespace octavo::engine {
namespace {

using mesh::CurveKey;

CurveKey difference(const CurveKey& a, const CurveKey& b) {
  return {a.high - b.high - (a.low < b.low ? 1 : 0), a.low - b.low};
}

// Joins stretches that touch.
std::vector<KeyRange> joined(std::vector<KeyRange> keys) {
  std::sort(keys.begin(), keys.end(), [](const KeyRange& a, const KeyRange& b) { return a.first < b.first; });
  std::size_t count = 0;
  for (const KeyRange& key : keys)
    if (count > 0 && key.first <= keys[count - 1].last)
      keys[count - 1].last = std::max(keys[count - 1].last, key.last);
    else
      keys[count++] = key;
  keys.resize(count);
  return keys;
}

// More keys than this are made fewer stretches.
constexpr std::size_t most_held = 128 * most_stretches;

}  // namespace

void Stretches::add(const CurveKey& key) {
  if (!keys_.empty() && keys_.back().last == key) return;
  if (keys_.size() == most_held) {
    keys_ = stretches_of(std::move(keys_), most_held / 4);
    std::erase_if(keys_, [](const KeyRange& range) { return range.last < range.first; });
  }
  keys_.push_back({key, key});
}

std::vector<KeyRange> stretches_of(std::vector<KeyRange> keys, std::size_t most) {
  std::vector<KeyRange> out(most);
  if (keys.empty()) return out;
  keys = joined(std::move(keys));
  // Stretches begin at the first key and after the widest gaps.
  std::vector<std::size_t> begins(keys.size());
  for (std::size_t i = 0; i < begins.size(); ++i) begins[i] = i;
  const std::size_t n = std::min(most, keys.size());
  const auto gap = [&](std::size_t i) { return difference(keys[i].first, keys[i - 1].last); };
  std::nth_element(begins.begin() + 1, begins.begin() + static_cast<std::ptrdiff_t>(n), begins.end(),
                   [&](std::size_t i, std::size_t j) {
                     const CurveKey a = gap(i), b = gap(j);
                     return b < a || (a == b && i < j);
                   });
  std::sort(begins.begin() + 1, begins.begin() + static_cast<std::ptrdiff_t>(n));
  for (std::size_t s = 0; s < n; ++s)
    out[s] = {keys[begins[s]].first, keys[s + 1 < n ? begins[s + 1] - 1 : keys.size() - 1].last};
  return out;
}

bool touches(std::span<const KeyRange> stretches, const CurveKey& begin, const CurveKey& end) {
  return std::any_of(stretches.begin(), stretches.end(), [&](const KeyRange& range) {
    return range.first <= range.last && range.first < end && range.last >= begin;
  });
}

}  // namespace octavo::engine
