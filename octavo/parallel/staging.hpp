#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace octavo::parallel {

/// Memory for steps that are not written yet. Never holds more than `limit` bytes, buffers kept for the next step
/// included; buffers are used again, so that later steps find pages that the system has already given. Thread-safe.
class Staging {
 public:
  explicit Staging(std::uint64_t limit) : limit_(limit) {}

  bool fits(std::uint64_t bytes) const noexcept { return bytes <= limit_; }
  /// Waits until so many bytes are free, and holds them. Returns the seconds waited; 0 where nobody had to.
  /// @pre fits(bytes), and whoever holds the rest will give it back without this thread's help.
  double reserve(std::uint64_t bytes);
  /// A buffer out of what is reserved.
  std::vector<std::byte> take(std::size_t size);
  /// Frees a buffer (of the size it was taken with) and its share of the reservation.
  void give_back(std::vector<std::byte> buffer);
  /// Frees what was reserved and not taken.
  void release(std::uint64_t bytes);

  /// Bytes of all buffers, those kept for use again included.
  std::uint64_t held() const;

 private:
  void forget_down_to(std::uint64_t spare);
  std::uint64_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::uint64_t reserved_ = 0;
  std::uint64_t taken_ = 0;  // capacity of buffers in use
  std::uint64_t slack_ = 0;  // of buffers in use: capacity past what was asked for
  std::uint64_t spare_ = 0;  // capacity of free buffers
  std::vector<std::vector<std::byte>> free_;
};

}  // namespace octavo::parallel
