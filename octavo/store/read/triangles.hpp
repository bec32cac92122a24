#pragma once
#include <filesystem>
#include <optional>

#include "octavo/store/read/part.hpp"
#include "octavo/store/store.hpp"

/// Meshes of triangles in a store (docs/format.md, "Triangles"): a tree of one cell that has all values, in the order
/// of a Hilbert curve through the points, and the mesh as two species. So all that is true of a store is true of them.
/// Ranks write several parts: even stretches of the curve, of the points and of the triangles.
namespace octavo::store {

constexpr std::size_t most_triangle_points = std::size_t{1} << 24;  ///< a part's values stand in one cell

constexpr const char* points_species = "mesh points";
constexpr const char* triangles_species = "mesh triangles";

/// A cut of the mesh, where it has one: the header's attribute says into how many parts, and an attribute of the
/// triangles which one each is in. A restart by as many ranks gives each its part.
constexpr const char* cut_attribute = "cut_parts";
constexpr const char* part_attribute = "part";
/// The cut as particles, for a part that fold() is given.
mesh::Particles cut_of(std::span<const std::int32_t> part_of);
/// Parts of the triangles that a part as stored has; empty where it has none.
std::vector<std::int32_t> read_cut(const mesh::Part& part);

/// Steps of several parts: each has so many values a plane of the points along the curve, the last ones filled up.
inline std::size_t stretch_of(std::size_t points, int parts) {
  return (points + static_cast<std::size_t>(parts) - 1) / static_cast<std::size_t>(parts);
}
/// The tree that values stand on; the first part owns its leaf.
mesh::Octree one_cell(int planes, bool owned);
/// Integer fields stand with the mesh, by number of the point.
bool is_integer(const mesh::FieldInfo& info);
/// Coordinates that lose nothing are stored so.
bool fit_float32(std::span<const double> values);
/// For each triangle its first point, and the others less that one: small numbers where points near each other have
/// near numbers.
std::vector<std::int32_t> triangle_steps(std::span<const std::int64_t> connectivity);
/// The two species of consecutive parts as those of one. @pre there is one
mesh::Part join_meshes(std::vector<mesh::Part> parts);
/// A part's share of points and triangles, whose points have their numbers in the whole mesh. Nothing is checked but
/// that they are there.
mesh::Unstructured mesh_of(const mesh::Part& part, int planes);
/// Fields that stand with the mesh: attributes of its points that are no places.
std::vector<mesh::FieldInfo> fields_beside(const std::vector<mesh::SpeciesInfo>& species);

/// A step as it is stored, before unfold().
mesh::Dataset open_folded(const std::filesystem::path& store, Flow flow, std::int64_t step);

/// The species of a step's mesh, of all parts as one, wherever they are stored.
mesh::Part stored_mesh(const std::filesystem::path& store, Flow flow, std::int64_t step);

/// Whether a header is that of such a mesh: attributes "triangles" and "planes" are there.
bool has_triangles(const mesh::Header& header);

/// Attributes of a step whose mesh is another step's, the same bit for bit: readers take it from there.
constexpr const char* mesh_step_attribute = "mesh_step";
constexpr const char* mesh_checksum_attribute = "mesh_checksum";
/// The checksum of places, triangles and planes.
std::int64_t mesh_checksum(const mesh::Unstructured& mesh);

/// The part as the store has it. Without `with_mesh` the mesh, and fields of integers, are left out.
mesh::Part fold(const mesh::Part& part, bool with_mesh);

/// The neighbours that values of a mesh are predicted from (docs/format.md, "Triangles"); made when first asked for, on
/// any thread. For a mesh that is made then, and must hold what mesh::validate() asks; or of one that stays until then.
NeighbourSource neighbours_of(std::function<mesh::Unstructured()> make);
NeighbourSource neighbours_of(const mesh::Unstructured& mesh);
/// The same for a step of one part as it is stored: its mesh is in that part, which `own` reads with its species, or in
/// another step of the store.
NeighbourSource neighbours_of_step(const mesh::Header& header, std::function<mesh::Part()> own,
                                   const std::filesystem::path& store, Flow flow);

/// Reads a part as it is stored; the values of those with neighbours, if that is not empty.
using FoldedRead = std::function<mesh::Part(int part, const mesh::Request&, const NeighbourSource&)>;
/// Makes a step as it was opened one of triangles again. `store` and `flow` say where other steps are.
void unfold(mesh::Dataset& dataset, const FoldedRead& read, const std::filesystem::path& store, Flow flow);

}  // namespace octavo::store
