#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "octavo/mesh/tree/curve.hpp"

/// Where on the curve the cells of a part are, in few numbers.
namespace octavo::engine {

constexpr std::size_t most_stretches = 64;

/// A stretch of the curve, including both ends; empty if `first` > `last`.
struct KeyRange {
  mesh::CurveKey first{~std::uint64_t{0}, ~std::uint64_t{0}};
  mesh::CurveKey last{};
};

/// Joins keys, or stretches of them, in any order, to exactly `most` stretches that hold all of them, cut at the widest
/// gaps. If fewer suffice, the last ones are empty. @pre most > 0, and none of `keys` is empty
std::vector<KeyRange> stretches_of(std::vector<KeyRange> keys, std::size_t most);
/// Whether one of the stretches overlaps [begin, end).
bool touches(std::span<const KeyRange> stretches, const mesh::CurveKey& begin, const mesh::CurveKey& end);

/// Gathers keys, in any order, as `most_stretches` stretches. It holds a bounded number of them.
class Stretches {
 public:
  void add(const mesh::CurveKey& key);
  std::vector<KeyRange> result() && { return stretches_of(std::move(keys_), most_stretches); }

 private:
  std::vector<KeyRange> keys_;
};

}  // namespace octavo::engine
