#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "octavo/store/read/opened.hpp"

/// Arrays of a mesh that the parts of a step share: of triangles, or of solids.
namespace octavo::store {

/// Adds an array with its values.
void add_values(StoredTriangles& part, MeshArray array, std::vector<std::byte> values);
template <class T>
void add_values(StoredTriangles& part, MeshArray array, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  add_values(part, std::move(array), std::vector<std::byte>(bytes.begin(), bytes.end()));
}
/// Adds coordinates of points: as float32 where that loses nothing.
void add_coordinates(StoredTriangles& part, const std::string& name, const std::vector<double>& values);

/// Joins an array of all parts: in each plane, one part's values after another's.
mesh::Field joined(std::span<const StoredTriangles> parts, std::size_t array, const MeshArray& described,
                   std::size_t planes = 1);
/// The values of coordinates.
std::vector<double> doubles_of(const mesh::Field& field);
/// Throws Error(corrupt) that names the array unless all are from 0 to `points` - 1.
void check_points(std::span<const std::int64_t> found, std::int64_t points, const MeshArray& array);

/// Reads a part of a step as it is stored.
StoredTriangles read_stored(const OpenedStep& step, std::size_t part, const mesh::Request& request,
                            const NeighbourSource& neighbours = {});
/// All parts of a step that holds its mesh: their arrays alone. Throws Error(corrupt) for a step that holds none.
std::vector<StoredTriangles> read_arrays(const OpenedStep& step);
/// The step that holds the mesh. Throws Error(corrupt) if it is not there.
OpenedStep open_origin(const MeshOrigin& origin, const std::filesystem::path& store, Flow flow);
/// Bytes of all streams of a step, decoded.
std::int64_t raw_bytes_of(const OpenedStep& step);

}  // namespace octavo::store
