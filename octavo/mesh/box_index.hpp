#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "octavo/mesh/boxes.hpp"

namespace octavo::mesh {

/// Finds which boxes of a list a box touches, through cubes of 32 cells. Indices of cells have at most 26 bits.
class BoxIndex {
 public:
  /// Refers to the boxes, which must outlive it.
  BoxIndex(const std::vector<IndexBox>& boxes, int dim) : boxes_(boxes), dim_(dim) {
    for (std::size_t i = 0; i < boxes.size(); ++i)
      for_each_bucket(boxes[i], [&](std::uint64_t key) { buckets_[key].push_back(i); });
  }

  /// Calls f(number of the box, what it shares with `box`), once for each that shares something.
  template <class F>
  void for_each_touching(const IndexBox& box, F&& f) const {
    std::vector<std::size_t> seen;  // a box is in several buckets
    for_each_bucket(box, [&](std::uint64_t key) {
      const auto found = buckets_.find(key);
      if (found == buckets_.end()) return;
      for (const std::size_t i : found->second) {
        if (std::find(seen.begin(), seen.end(), i) != seen.end()) continue;
        const auto both = intersection(boxes_[i], box, dim_);
        if (!both) continue;
        seen.push_back(i);
        f(i, *both);
      }
    });
  }

 private:
  static constexpr int bucket_bits = 5;
  template <class F>
  void for_each_bucket(const IndexBox& box, F&& f) const {
    for_each_row(flat(coarsened_box(box, std::int64_t{1} << bucket_bits, dim_), dim_),
                 [&](const Index3& at, std::int64_t length) {
                   for (std::int64_t x = 0; x < length; ++x) f(key({at[0] + x, at[1], at[2]}));
                 });
  }
  static std::uint64_t key(const Index3& bucket) {
    std::uint64_t key = 0;
    for (const std::int64_t i : bucket) key = key << 21 | (static_cast<std::uint64_t>(i) & 0x1FFFFF);
    return key;
  }
  const std::vector<IndexBox>& boxes_;
  int dim_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> buckets_;
};

}  // namespace octavo::mesh
