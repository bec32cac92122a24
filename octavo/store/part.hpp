#pragma once
#include <functional>

#include "octavo/store/table.hpp"

namespace octavo::store {

/// Gives a stream's stored bytes, checked against their checksum if it was taken (not 0).
using Fetch = std::function<std::vector<std::byte>(const StreamRow&)>;

/// Reads one part: fetches the mesh and then exactly the streams that the request needs, one at a time, and checks what
/// they decode to against the table. `deepest` is the level index that request.max_level means.
mesh::Part decode_part(const Table& table, std::size_t row, const mesh::Request& request, const Fetch& fetch);

/// Throws Error(corrupt) unless the part, read in full, is what the table says: counts, box, keys.
void check_part(const Table& table, std::size_t row, const mesh::Part& part);

}  // namespace octavo::store
