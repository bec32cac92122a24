#pragma once
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "octavo/store/table.hpp"

namespace octavo::store {

/// Gives a stream's stored bytes, checked against their checksum if it was taken (not 0).
using Fetch = std::function<std::vector<std::byte>(const StreamRow&)>;

/// Reads bytes of the subfile from `offset` on straight to where they shall be; nothing is checked.
using ReadTo = std::function<void(std::uint64_t offset, std::span<std::byte> out)>;

/// Gives the memory for `bytes` bytes of a field's values, aligned for their type; an empty span: the part shall hold
/// them itself.
using Place = std::function<std::span<std::byte>(const mesh::FieldInfo& field, std::size_t bytes)>;

/// Where a part's bytes come from, and where its fields go.
struct Source {
  Fetch fetch;
  ReadTo read_to{};  ///< where given, values that are stored as they are take no detour
  NeighbourSource neighbours{};
  Place place{};  ///< only for parts that are read to their finest level
};

/// Reads one part that is a tree: fetches the mesh and then exactly the streams that the request needs, one at a time,
/// and checks what they decode to against the table. Fields that `place` gave memory for are in the part without bytes.
mesh::Part decode_part(const Table& table, std::size_t row, const mesh::Request& request, const Source& source);

/// A part of a mesh of triangles as it is stored.
struct StoredTriangles {
  int index = 0;
  TriangleMesh mesh;
  TriangleShare share;
  std::vector<MeshArray> arrays;
  std::vector<std::vector<std::byte>> values;  ///< of each array
  std::vector<mesh::Field> fields;             ///< of its places along the curve, plane after plane
  std::map<std::string, std::vector<std::byte>> opaque;
};

/// The same for a part of triangles: of the request count the fields, and whether the mesh and opaque bytes are wanted.
StoredTriangles decode_triangles(const Table& table, std::size_t row, const mesh::Request& request,
                                 const Source& source);

/// The part's opaque bytes, by name.
std::map<std::string, std::vector<std::byte>> decode_opaque(const Table& table, std::size_t row, const Fetch& fetch);

/// Throws Error(corrupt) unless the part, read in full, is what the table says: counts, box, keys.
void check_part(const Table& table, std::size_t row, const mesh::Part& part);

}  // namespace octavo::store
