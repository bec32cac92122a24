#pragma once
#include <string>

#include "octavo/engine/step/array_view.hpp"

namespace octavo::engine {

/// Cells [first, last) of an array in device memory, and where their packed form goes.
struct DeviceCells {
  ArrayView view;
  std::size_t first = 0, last = 0;
  std::span<std::byte> out;
  base::RunningChecksum* sum = nullptr;  ///< gets the bytes; arrays in succession may share one
  const std::string* name = nullptr;     ///< of the array, in errors
};

/// Writes the packed forms, as pack() does. All are one flow of copies through pinned buffers: while the host takes
/// some values, others are on their way. Where the device packs, the packed forms alone are copied. Elsewhere memory
/// between rows or blocks of values is left out where that saves more than the additional rows cost; else it is copied
/// too, and the host packs. Where cells have an order, they are copied in the order in which they lie.
void pack_from_device(std::span<const DeviceCells> all);

}  // namespace octavo::engine
