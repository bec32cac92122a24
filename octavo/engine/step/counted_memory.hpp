#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

/// Counts and refuses allocations of this test program: counted_memory_test.cpp has its operator new.
namespace octavo::testing {

constexpr std::size_t no_size = std::numeric_limits<std::size_t>::max();

/// The largest piece of memory that was asked for.
extern std::atomic<std::size_t> largest_allocation;

/// Bytes allocated now, and the most since most_allocated was set.
extern std::atomic<std::int64_t> allocated, most_allocated;

/// The first `granted` pieces of at least this many bytes are given, and the next one is refused.
extern std::atomic<std::size_t> refused_size;
extern std::atomic<int> granted;

/// While it lives, this rank is refused the n-th piece (from 0) of at least `size` bytes.
class Refusal {
 public:
  Refusal(std::size_t size, int n) {
    granted = n;
    refused_size = size;
  }
  ~Refusal() { refused_size = no_size; }
  Refusal(const Refusal&) = delete;
  Refusal& operator=(const Refusal&) = delete;
  /// Whether an allocation was refused.
  bool met() const { return granted < 0; }
};

}  // namespace octavo::testing
