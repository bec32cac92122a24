#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>

namespace octavo::engine {

/// Memory for steps that are not written yet: one arena of fixed size. A step takes one block; blocks are taken in a
/// ring. The system provides pages up to the end of the highest block so far. Thread-safe.
class Staging {
 public:
  static constexpr std::size_t alignment = 64;

  /// Throws Error(no_space) if the system refuses that many bytes.
  explicit Staging(std::uint64_t limit = 0);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  bool fits(std::uint64_t bytes) const noexcept { return bytes <= limit_; }
  struct Block {
    std::span<std::byte> bytes;  ///< begins at a multiple of `alignment`
    double waited = 0;           ///< seconds; 0 if there was room at once
  };
  /// Waits until `bytes` bytes are free in one piece. Throws Error(no_space) if the system lacks memory for pages that
  /// no block has had so far.
  /// @pre fits(bytes), and the holders of other blocks give them back without this thread's help.
  Block take(std::uint64_t bytes);
  void give_back(std::span<std::byte> block);

  /// Bytes of blocks in use.
  std::uint64_t held() const;
  std::uint64_t limit() const noexcept { return limit_; }

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;
    bool free = false;
  };
  bool place(std::uint64_t bytes, Range& range) const;
  void provide(std::uint64_t end);

  std::uint64_t limit_ = 0;
  std::uint64_t touched_ = 0;  // pages below it exist
  std::byte* memory_ = nullptr;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::deque<Range> ranges_;  // in the order they were taken
};

}  // namespace octavo::engine
