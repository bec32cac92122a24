#pragma once
#include <vector>

namespace octavo::base {

/// Empties a vector and frees its memory. `values = {}` keeps the memory: it assigns an empty list, not a new vector.
template <class T>
void release(std::vector<T>& values) noexcept {
  std::vector<T>().swap(values);
}

}  // namespace octavo::base
