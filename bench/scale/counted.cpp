#include "counted.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "fibers.hpp"

// Every allocation of this program is counted for the virtual rank that runs, with the bytes that malloc really gives.
namespace octavo::simulated {
namespace {

thread_local bool paused = false;

Fibers::Memory* account() {
  Fibers* fibers = running();
  if (paused || fibers == nullptr || fibers->current() < 0) return nullptr;
  return &fibers->memory[static_cast<std::size_t>(fibers->current())];
}

void* take(std::size_t bytes, std::size_t alignment) {
  void* memory = alignment <= alignof(std::max_align_t) ? std::malloc(std::max<std::size_t>(bytes, 1))
                                                        : ::memalign(alignment, std::max<std::size_t>(bytes, 1));
  if (memory == nullptr) throw std::bad_alloc();
  if (Fibers::Memory* own = account()) {
    own->now += static_cast<std::int64_t>(::malloc_usable_size(memory));
    own->most = std::max(own->most, own->now);
  }
  return memory;
}

void give_back(void* memory) {
  if (memory == nullptr) return;
  if (Fibers::Memory* own = account()) own->now -= static_cast<std::int64_t>(::malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

Uncounted::Uncounted() : before_(paused) { paused = true; }
Uncounted::~Uncounted() { paused = before_; }
void Uncounted::end_all() { paused = false; }

}  // namespace octavo::simulated

using octavo::simulated::give_back;
using octavo::simulated::take;
void* operator new(std::size_t bytes) { return take(bytes, 1); }
void* operator new[](std::size_t bytes) { return take(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return take(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return take(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
