#pragma once
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "octavo/store/table.hpp"

namespace octavo::store {

/// Returns a stream's stored bytes. Checks them against their checksum if one was taken (it is not 0).
using Fetch = std::function<std::vector<std::byte>(const StreamRow&)>;

/// Reads bytes of the subfile from `offset` on into `out`, without any check.
using ReadTo = std::function<void(std::uint64_t offset, std::span<std::byte> out)>;

/// Returns memory for `bytes` bytes of a field's values, aligned for their type. If it returns an empty span, the part
/// holds the values itself.
using Place = std::function<std::span<std::byte>(const mesh::FieldInfo& field, std::size_t bytes)>;

/// The functions that supply a part's bytes and take its fields.
struct PartSource {
  Fetch fetch;
  ReadTo read_to{};  ///< if given, values that are stored raw are read straight into place
  NeighbourSource neighbours{};
  Place place{};  ///< only for parts that are read to their finest level
};

/// Reads one part that is a tree: fetches the mesh, then exactly the streams that the request needs, one at a time.
/// Checks the decoded streams against the table. Fields for which `place` gave memory have no bytes in the part.
mesh::Part decode_part(const Table& table, std::size_t row, const mesh::Request& request, const PartSource& source);

/// Decodes fields of a part that is a tree, on all levels, and gives one after another to `take`. Memory
/// holds the values of one field, and of those that weigh others.
void decode_each(const Table& table, std::size_t row, const std::vector<std::size_t>& fields, const PartSource& source,
                 const std::function<void(const mesh::Field&)>& take);

/// The fields, and those that weigh them on levels 0 to `deepest` of the part: all that must be read for them.
std::vector<std::size_t> with_weights(const Table& table, const PartRow& part, std::vector<std::size_t> fields,
                                      std::size_t deepest);

/// A part of a mesh of triangles or solids as it is stored.
struct StoredTriangles {
  int index = 0;
  TriangleMesh mesh;
  TriangleShare share;
  std::vector<MeshArray> arrays;
  std::vector<std::vector<std::byte>> values;  ///< of each array
  /// Values at the part's places along the curve, plane after plane; of solids, at points or in cells by number.
  std::vector<mesh::Field> fields;
  std::map<std::string, std::vector<std::byte>> opaque;
};

/// The same for a part of triangles or solids. From the request it uses the fields and whether the mesh and opaque
/// bytes are wanted.
StoredTriangles decode_triangles(const Table& table, std::size_t row, const mesh::Request& request,
                                 const PartSource& source);

/// The part's opaque bytes, by name.
std::map<std::string, std::vector<std::byte>> decode_opaque(const Table& table, std::size_t row, const Fetch& fetch);

/// Throws Error(corrupt) unless the part, read in full, has the counts, box and keys of the table.
void check_part(const Table& table, std::size_t row, const mesh::Part& part);

}  // namespace octavo::store
