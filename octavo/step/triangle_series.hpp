#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/formats/row/series.hpp"
#include "octavo/step/open.hpp"

/// All steps on one mesh of triangles as writers take them (formats::Series), from whatever holds them.
namespace octavo::step {

/// A series of a dataset that is open. Its `open` is left to fill in.
formats::Series series_of(mesh::Dataset first, const std::optional<std::vector<std::string>>& fields,
                          std::vector<double> times);

/// Reads headers and the mesh. The steps are those of steps_of_flow(). Throws Error(unsupported) for meshes of cells
/// and of several parts; `what` is said to hold triangles only. Opening a step throws Error(unsupported) if a step of a
/// store has another mesh.
formats::Series open_triangles(const std::filesystem::path& path, const std::optional<std::vector<std::string>>& fields,
                               const std::string& what, std::optional<store::Flow> flow = {});

/// The step's IPOBO, for all planes; empty if it has none.
std::vector<std::int32_t> stored_ranks(const mesh::Dataset& step);

/// IPOBO of all planes, as the step has it; where it has none, as the mesh's boundary runs, with a note.
std::vector<std::int32_t> boundary_ranks(const formats::Series& series, std::vector<std::string>& notes);

/// The same of all planes as the mesh's boundary runs, whatever a step has.
std::vector<std::int32_t> ranks_of_mesh(const mesh::Unstructured& mesh);

}  // namespace octavo::step
