#pragma once
#include "octavo/store/read/part.hpp"

namespace octavo::store {

/// Takes values of one tree level of a part, from its value `first` on, whole scalars in the packed form: cells of the
/// level one after another, a block's values x fastest, components fastest of all. `field` counts the fields that were
/// asked for, in the header's order; `level` is a tree level index.
using ValueSink =
    std::function<void(std::size_t field, int level, std::size_t first, std::span<const std::byte> values)>;

/// Gives the sink the values of the request's fields on a part. Levels that are stored as they are come a tile at a
/// time; of others the part's values of one field are decoded at once. Throws Error(corrupt), after values were given,
/// if a stream's checksum differs.
void stream_part(const Table& table, std::size_t row, const mesh::Request& request, const Source& source,
                 const ValueSink& sink);

}  // namespace octavo::store
