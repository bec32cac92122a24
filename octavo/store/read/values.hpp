#pragma once
#include "octavo/store/read/part.hpp"

namespace octavo::store {

/// Takes values of one tree level of a part, from the level's value `first` on, as whole scalars in the packed form:
/// cell after cell, within a block x fastest, components fastest of all. `field` is an index into the requested fields,
/// in the header's order; `level` is a tree level index.
using ValueSink =
    std::function<void(std::size_t field, int level, std::size_t first, std::span<const std::byte> values)>;

/// Gives the sink the values of the requested fields on a part. Levels that are stored raw come one tile at a time;
/// otherwise all of the part's values of one field are decoded at once. Throws Error(corrupt) if a stream's checksum
/// differs: the sink may have received values by then.
void stream_part(const Table& table, std::size_t row, const mesh::Request& request, const PartSource& source,
                 const ValueSink& sink);

}  // namespace octavo::store
