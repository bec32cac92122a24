#include "octavo/engine/step/counted_memory.hpp"

#include <malloc.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace octavo::testing {

std::atomic<std::size_t> largest_allocation{0};
std::atomic<std::int64_t> allocated{0}, most_allocated{0};
std::atomic<std::size_t> refused_size{no_size};
std::atomic<int> granted{0};

}  // namespace octavo::testing

namespace {

void raise_to(std::atomic<std::int64_t>& most, std::int64_t value) {
  std::int64_t known = most;
  while (value > known && !most.compare_exchange_weak(known, value)) {
  }
}

void release(void* memory) noexcept {
  if (memory != nullptr) octavo::testing::allocated -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) {
  using namespace octavo::testing;
  std::size_t largest = largest_allocation;
  while (size > largest && !largest_allocation.compare_exchange_weak(largest, size)) {
  }
  if (size >= refused_size && granted-- == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(size == 0 ? 1 : size)) {
    raise_to(most_allocated, allocated += static_cast<std::int64_t>(malloc_usable_size(memory)));
    return memory;
  }
  throw std::bad_alloc();
}
// A sort asks for this memory, and can do without it.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
