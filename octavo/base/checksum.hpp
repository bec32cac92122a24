#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace octavo::base {

/// XXH3, 64 bits, seed 0: the checksum of every byte range in a store.
std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;

/// The same checksum for bytes that come in pieces.
class RunningChecksum {
 public:
  RunningChecksum();  ///< may throw std::bad_alloc
  ~RunningChecksum();
  RunningChecksum(RunningChecksum&&) noexcept;
  RunningChecksum& operator=(RunningChecksum&&) noexcept;
  void add(std::span<const std::byte> bytes) noexcept;
  std::uint64_t value() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Copies to memory that nobody reads soon. It writes past the caches if the machine can. If `sum` is given, it adds
/// the bytes to it while they are in the first-level cache.
void copy_out(std::span<const std::byte> from, std::byte* to, RunningChecksum* sum = nullptr) noexcept;

}  // namespace octavo::base
