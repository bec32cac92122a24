#pragma once
#include <filesystem>
#include <optional>

#include "octavo/store/read/opened.hpp"
#include "octavo/store/triangle_boundary.hpp"

/// Meshes of triangles in a store (docs/format.md, "Triangles"). Values are in the order of a Hilbert curve through the
/// points. Each rank writes one part: an even stretch of the curve, of the points and of the triangles.
namespace octavo::store {

/// Header attribute of a mesh that was cut: the number of parts. An array of the triangles says which part each is in.
/// A restart on that many ranks gives each rank its part.
constexpr const char* cut_attribute = "cut_parts";

/// Whether the field is one of integers. These are stored with the mesh, by point number.
bool is_integer(const mesh::FieldInfo& info);
/// Whether the values lose nothing as float32. Such coordinates are stored as float32.
bool fit_float32(std::span<const double> values);
/// For each triangle its first point, then the other two minus the first. The differences are small if neighbouring
/// points have similar numbers.
std::vector<std::int32_t> triangle_steps(std::span<const std::int64_t> connectivity);
/// Describes an array of the mesh.
MeshArray mesh_array(MeshSet of, std::string name, mesh::ScalarType type, int components, std::string unit = {});
/// The fields that are stored with the mesh: the arrays of its points other than coordinates.
std::vector<mesh::FieldInfo> number_fields(const std::vector<MeshArray>& arrays);

/// The mesh of consecutive parts, one after another.
struct StoredMesh {
  mesh::Unstructured mesh;            ///< triangles refer to points by their numbers in the whole mesh
  std::vector<mesh::Field> numbers;   ///< fields of integers, as in number_fields()
  std::vector<std::int32_t> part_of;  ///< of each triangle; empty: the mesh was not cut
  BoundaryArrays boundary;            ///< empty: there is none
};
/// Throws Error(corrupt), naming the array, for points that the whole mesh does not have.
StoredMesh mesh_of(const TriangleMesh& whole, const std::vector<MeshArray>& arrays,
                   std::span<const StoredTriangles> parts);
/// The whole mesh of a step, read from the step that holds it.
StoredMesh stored_mesh(const std::filesystem::path& store, Flow flow, std::int64_t step);
/// The checksum of coordinates, triangles and planes.
std::int64_t mesh_checksum(const mesh::Unstructured& mesh);
/// Throws Error(corrupt) unless the mesh is the one that the origin names.
void check_origin(const MeshOrigin& origin, std::int64_t checksum);

/// Brings a whole mesh into stored form. With an origin, the mesh and fields of integers are left out.
StoredTriangles fold(const mesh::Part& part, const EncodeOptions& options, std::optional<MeshOrigin> origin);
/// A view of the part, which must stay where it is.
PartView view_of(const StoredTriangles& part);

/// The neighbours from which values of a mesh are predicted (docs/format.md, "Triangles"). They are found at the first
/// call, on any thread. `make` then makes the mesh, which must satisfy mesh::validate(); a mesh given by reference must
/// live until then.
NeighbourSource neighbours_of(std::function<mesh::Unstructured()> make);
NeighbourSource neighbours_of(const mesh::Unstructured& mesh);
/// The same for a stored step. `own` reads the step's own mesh; if another step of the store holds the mesh, it is read
/// from there.
NeighbourSource neighbours_of_step(const TriangleMesh& mesh, std::function<StoredMesh()> own,
                                   const std::filesystem::path& store, Flow flow);

/// Makes a Dataset of a step of triangles: one part. `store` says where other steps are.
void set_triangles(mesh::Dataset& dataset, const std::shared_ptr<const OpenedStep>& step,
                   const std::filesystem::path& store);

}  // namespace octavo::store
