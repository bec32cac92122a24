#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "octavo/store/read/opened.hpp"

/// Meshes of solids in a store (docs/format.md, "Solids"). They share with triangles (triangles.hpp) how parts stand in
/// a step, and how a step takes its mesh from another one. Values stand by number, at points or in cells.
namespace octavo::store {

/// The field of a step with the part of each cell, if the mesh was cut (cut_attribute): the last one. Its name goes on
/// with "_" if there is another of this name.
inline constexpr const char* cut_field = "part";

/// Brings a whole mesh into stored form. With an origin, the mesh is left out.
StoredTriangles fold_solids(const mesh::Part& part, const EncodeOptions& options, std::optional<MeshOrigin> origin);

/// The mesh of consecutive parts, one after another. Throws Error(corrupt), naming the array, for points and shapes
/// that the whole mesh does not have.
mesh::Solids solids_of(const TriangleMesh& whole, const std::vector<MeshArray>& arrays,
                       std::span<const StoredTriangles> parts);
/// Checks what one part has of the mesh, as far as it alone tells. Throws Error(corrupt).
void check_solids(const StoredTriangles& part);
/// The checksum of coordinates and cells.
std::int64_t solids_checksum(const mesh::Solids& mesh);

/// Makes a Dataset of a step of solids: one part. A mesh that was cut gives it one field more, cut_field. `store` says
/// where other steps are.
void set_solids(mesh::Dataset& dataset, const std::shared_ptr<const OpenedStep>& step,
                const std::filesystem::path& store);

}  // namespace octavo::store
