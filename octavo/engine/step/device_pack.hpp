#pragma once
#include "octavo/engine/step/array_view.hpp"

namespace octavo::engine {

/// The packed form of cells [first, last) of an array in device memory, as pack() writes it. Stretches of the array's
/// memory go through pinned buffers, ghosts and all, and are packed on the host: a copy of rows costs more than the
/// bytes that it saves. Components that lie far apart are copied one by one. Where cells have an order, they are copied
/// in the order in which they lie.
void pack_from_device(const ArrayView& view, std::size_t first, std::size_t last, std::span<std::byte> out,
                      base::RunningChecksum* sum);

}  // namespace octavo::engine
