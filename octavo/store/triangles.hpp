#pragma once
#include <filesystem>
#include <optional>

#include "octavo/store/store.hpp"

/// Meshes of triangles in a store (docs/format.md, "Triangles"): a tree of one cell that has all values, in the order
/// of a Hilbert curve through the points, and the mesh as two species. So all that is true of a store is true of them.
namespace octavo::store {

constexpr std::size_t most_triangle_points = std::size_t{1} << 24;  ///< a step's values stand in one cell

/// A step as it is stored, before unfold().
mesh::Dataset open_folded(const std::filesystem::path& store, Flow flow, std::int64_t step);

/// Whether a header is that of such a mesh: attributes "triangles" and "planes" are there.
bool has_triangles(const mesh::Header& header);

/// Attributes of a step whose mesh is another step's, the same bit for bit: readers take it from there.
constexpr const char* mesh_step_attribute = "mesh_step";
constexpr const char* mesh_checksum_attribute = "mesh_checksum";
/// Of places, triangles and planes.
std::int64_t mesh_checksum(const mesh::Unstructured& mesh);

/// The part as the store has it. Without `with_mesh` the mesh, and fields of integers, are left out.
mesh::Part fold(const mesh::Part& part, bool with_mesh);

/// Makes a step as it was opened one of triangles again. `store` and `flow` say where other steps are.
void unfold(mesh::Dataset& dataset, const std::filesystem::path& store, Flow flow);

}  // namespace octavo::store
