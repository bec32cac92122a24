#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace octavo::testing {
/// The largest piece of memory that anything in this program asked for.
std::atomic<std::size_t> largest_allocation{0};
}  // namespace octavo::testing

void* operator new(std::size_t size) {
  auto& seen = octavo::testing::largest_allocation;
  std::size_t largest = seen;
  while (size > largest && !seen.compare_exchange_weak(largest, size)) {
  }
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
