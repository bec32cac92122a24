#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace octavo::analysis {

/// Adds the contributions of parts 0, 1, 2 ... in an order that depends on their numbers alone: stretches of 2^k parts
/// that begin at a multiple of 2^k are summed first, then joined. So processes that share the parts in contiguous
/// ranges get, once their pieces are pushed in order into one sum, the same bits as one process that has them all. At
/// most 2 log2(parts) pieces are held. `add(T& to, T&& other)` adds a later contribution.
template <class T, class Add>
class OrderedSum {
 public:
  /// Parts [first, first + count) summed: count is a power of two that divides first.
  struct Piece {
    std::uint64_t first = 0, count = 1;
    T value;
    template <class Way>
    friend void both(Way& way, Piece& piece) {
      both(way, piece.first, piece.count, piece.value);
    }
  };

  explicit OrderedSum(Add add) : add_(std::move(add)) {}

  void push(std::uint64_t part, T value) { push({part, 1, std::move(value)}); }
  void push(Piece piece) {
    pieces_.push_back(std::move(piece));
    while (pieces_.size() > 1 && joins(pieces_[pieces_.size() - 2], pieces_.back())) join_last();
  }
  std::vector<Piece>& pieces() { return pieces_; }

  /// The sum of all; a default-constructed T where nothing was pushed. Empties the sum.
  T take() {
    while (pieces_.size() > 1) join_last();
    T all = pieces_.empty() ? T{} : std::move(pieces_[0].value);
    pieces_.clear();
    return all;
  }

 private:
  static bool joins(const Piece& left, const Piece& right) {
    return left.count == right.count && left.first % (2 * left.count) == 0 && left.first + left.count == right.first;
  }
  void join_last() {
    Piece& left = pieces_[pieces_.size() - 2];
    add_(left.value, std::move(pieces_.back().value));
    left.count *= 2;
    pieces_.pop_back();
  }

  Add add_;
  std::vector<Piece> pieces_;
};

}  // namespace octavo::analysis
