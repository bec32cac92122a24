#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/formats/row/series.hpp"
#include "octavo/step/open.hpp"

/// Opens all steps on one mesh of triangles or solids, from any format or store, as the formats::Series that writers
/// take.
namespace octavo::step {

/// Makes a series from an open dataset. The caller sets its `open`.
formats::Series series_of(mesh::Dataset first, const std::optional<std::vector<std::string>>& fields,
                          std::vector<double> times);

/// Reads headers and the mesh, of triangles or solids. The steps are those of steps_of_flow(). Throws
/// Error(unsupported) for meshes of cells and of several parts; the message says what `what` holds. Opening a step
/// throws Error(unsupported) if a step of a store has another mesh.
formats::Series open_series(const std::filesystem::path& path, const std::optional<std::vector<std::string>>& fields,
                            const std::string& what, std::optional<store::Flow> flow = {});
/// The same for a mesh of triangles alone.
formats::Series open_triangles(const std::filesystem::path& path, const std::optional<std::vector<std::string>>& fields,
                               const std::string& what, std::optional<store::Flow> flow = {});

/// The step's IPOBO, for all planes; empty if it has none.
std::vector<std::int32_t> stored_boundary_numbers(const mesh::Dataset& step);

/// IPOBO of all planes. A step without IPOBO gets numbers along the mesh's boundary, and a note.
std::vector<std::int32_t> boundary_numbers_of(const formats::Series& series, std::vector<std::string>& notes);

/// IPOBO of all planes as numbers along the mesh's boundary, whatever a step has.
std::vector<std::int32_t> number_boundary(const mesh::Unstructured& mesh);

}  // namespace octavo::step
