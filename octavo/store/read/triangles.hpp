#pragma once
#include <filesystem>
#include <optional>

#include "octavo/store/read/opened.hpp"
#include "octavo/store/triangle_boundary.hpp"

/// Meshes of triangles in a store (docs/format.md, "Triangles"). Values stand in the order of a Hilbert curve through
/// the points. Ranks write several parts: even stretches of the curve, of the points and of the triangles.
namespace octavo::store {

/// A cut of the mesh, where it has one: the header's attribute says into how many parts, and an array of the triangles
/// which one each is in. A restart by as many ranks gives each its part.
constexpr const char* cut_attribute = "cut_parts";

/// Integer fields stand with the mesh, by number of the point.
bool is_integer(const mesh::FieldInfo& info);
/// Coordinates that lose nothing are stored so.
bool fit_float32(std::span<const double> values);
/// For each triangle its first point, and the others less that one: small numbers where points near each other have
/// near numbers.
std::vector<std::int32_t> triangle_steps(std::span<const std::int64_t> connectivity);
/// Describes an array of the mesh.
MeshArray mesh_array(MeshSet of, std::string name, mesh::ScalarType type, int components, std::string unit = {});
/// Fields that stand with the mesh: arrays of its points that are no places.
std::vector<mesh::FieldInfo> number_fields(const std::vector<MeshArray>& arrays);

/// The mesh of consecutive parts, one after another.
struct StoredMesh {
  mesh::Unstructured mesh;            ///< triangles have the points' numbers in the whole mesh
  std::vector<mesh::Field> numbers;   ///< fields of integers, as number_fields() has them
  std::vector<std::int32_t> part_of;  ///< of each triangle; empty: the mesh was not cut
  BoundaryArrays boundary;            ///< empty: there is none
};
/// Throws Error(corrupt), naming the array, for points that the whole mesh has not.
StoredMesh mesh_of(const TriangleMesh& whole, const std::vector<MeshArray>& arrays,
                   std::span<const StoredTriangles> parts);
/// The mesh of a step, of all its parts, whichever step has it.
StoredMesh stored_mesh(const std::filesystem::path& store, Flow flow, std::int64_t step);
/// The checksum of places, triangles and planes.
std::int64_t mesh_checksum(const mesh::Unstructured& mesh);
/// Throws Error(corrupt) unless the mesh is the one that the origin names.
void check_origin(const MeshOrigin& origin, std::int64_t checksum);

/// A whole mesh as the store has it. With an origin the mesh, and fields of integers, are left out.
StoredTriangles fold(const mesh::Part& part, const EncodeOptions& options, std::optional<MeshOrigin> origin);
/// A view of the part, which must stay where it is.
PartView view_of(const StoredTriangles& part);

/// The neighbours that values of a mesh are predicted from (docs/format.md, "Triangles"); made when first asked for, on
/// any thread. For a mesh that is made then, and must hold what mesh::validate() asks; or of one that stays until then.
NeighbourSource neighbours_of(std::function<mesh::Unstructured()> make);
NeighbourSource neighbours_of(const mesh::Unstructured& mesh);
/// The same for a step of one part: its mesh is in that part, which `own` reads, or in another step of the store.
NeighbourSource neighbours_of_step(const TriangleMesh& mesh, std::function<StoredMesh()> own,
                                   const std::filesystem::path& store, Flow flow);

/// Makes a Dataset of a step of triangles: one part. `store` says where other steps are.
void set_triangles(mesh::Dataset& dataset, const std::shared_ptr<const OpenedStep>& step,
                   const std::filesystem::path& store);

}  // namespace octavo::store
