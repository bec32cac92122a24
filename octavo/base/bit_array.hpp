#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace octavo::base {

/// A sequence of bits, packed 64 to a word, bit i in word i/64 at position i%64. Bits past the end are 0.
class BitArray {
 public:
  BitArray() = default;
  explicit BitArray(std::size_t size, bool value = false)
      : words_((size + 63) / 64, value ? ~std::uint64_t{0} : 0), size_(size) {
    trim();
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  bool operator[](std::size_t i) const noexcept { return (words_[i >> 6] >> (i & 63)) & 1; }
  void set(std::size_t i, bool value = true) noexcept {
    const std::uint64_t mask = std::uint64_t{1} << (i & 63);
    if (value)
      words_[i >> 6] |= mask;
    else
      words_[i >> 6] &= ~mask;
  }
  void push_back(bool value) {
    if ((size_ & 63) == 0) words_.push_back(0);
    ++size_;
    if (value) set(size_ - 1);
  }
  /// New bits are `false`.
  void resize(std::size_t size) {
    words_.resize((size + 63) / 64, 0);
    size_ = size;
    trim();
  }
  /// Number of set bits.
  std::size_t count() const noexcept {
    std::size_t n = 0;
    for (std::uint64_t w : words_) n += static_cast<std::size_t>(std::popcount(w));
    return n;
  }
  /// Position of the first bit at `begin` or later that equals `value`; size() if there is none.
  std::size_t find(bool value, std::size_t begin) const noexcept {
    for (std::size_t w = begin >> 6, skip = begin & 63; w < words_.size(); ++w, skip = 0) {
      const std::uint64_t found = (value ? words_[w] : ~words_[w]) & (~std::uint64_t{0} << skip);
      if (found != 0) return std::min(size_, (w << 6) + static_cast<std::size_t>(std::countr_zero(found)));
    }
    return size_;
  }
  /// The bits [begin, end). @pre begin <= end <= size()
  BitArray slice(std::size_t begin, std::size_t end) const {
    BitArray out(end - begin);
    const std::size_t first = begin >> 6, shift = begin & 63;
    for (std::size_t w = 0; w < out.words_.size(); ++w) {
      out.words_[w] = words_[first + w] >> shift;
      if (shift != 0 && first + w + 1 < words_.size()) out.words_[w] |= words_[first + w + 1] << (64 - shift);
    }
    out.trim();
    return out;
  }
  /// Calls f(i) for each set bit, in order.
  template <class F>
  void for_each_set(F&& f) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (std::uint64_t rest = words_[w]; rest != 0; rest &= rest - 1)
        f((w << 6) + static_cast<std::size_t>(std::countr_zero(rest)));
  }
  const std::vector<std::uint64_t>& words() const noexcept { return words_; }
  /// Gives the words for bulk filling. The caller must leave bits past `size()` 0.
  std::vector<std::uint64_t>& words() noexcept { return words_; }

  bool operator==(const BitArray&) const = default;

 private:
  void trim() noexcept {
    // gcc 12 does not see that words_ cannot be empty here, and warns.
    if ((size_ & 63) != 0 && !words_.empty()) words_.back() &= (std::uint64_t{1} << (size_ & 63)) - 1;
  }
  std::vector<std::uint64_t> words_;
  std::size_t size_ = 0;
};

/// Positions of the set bits, ascending. Throws std::length_error if the array has more than 2^32 bits.
std::vector<std::uint32_t> set_positions(const BitArray& bits);

}  // namespace octavo::base
