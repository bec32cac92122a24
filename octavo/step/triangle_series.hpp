#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/step/open.hpp"

/// All steps of one mesh of triangles, whatever holds them, as those who write whole files of them need it.
namespace octavo::step {

struct TriangleSeries {
  mesh::Dataset first;  ///< as open() gives it: the last step of a file
  mesh::Unstructured mesh;
  std::vector<mesh::FieldInfo> variables;  ///< fields of reals that were asked for, in the file's order
  std::vector<store::StepInfo> steps;      ///< none where no variable has values
  std::function<mesh::Dataset(const store::StepInfo&)> open;
};

/// A series of a dataset that is open. Its `open` is left to fill in.
TriangleSeries series_of(mesh::Dataset first, const std::optional<std::vector<std::string>>& fields,
                         std::vector<store::StepInfo> steps);

/// Reads headers and the mesh. The steps are those of steps_of_flow(). Throws Error(unsupported) for meshes of cells
/// and of several parts; `what` is said to hold triangles only.
TriangleSeries open_triangles(const std::filesystem::path& path, const std::optional<std::vector<std::string>>& fields,
                              const std::string& what, std::optional<store::Flow> flow = {});

/// Points of all planes.
std::int64_t num_points(const TriangleSeries& series);

/// Calls `each` with the number from 0 and the step. Throws Error(interrupted) where progress says stop,
/// Error(unsupported) where a step of a store has another mesh.
void for_each_step(const TriangleSeries& series, const base::Progress& progress,
                   const std::function<void(std::int64_t, const mesh::Dataset&)>& each);

/// Values of a variable at all points. Throws Error(unsupported) where the mesh has another number of them.
std::vector<double> values_of(const TriangleSeries& series, const mesh::Dataset& step, const std::string& variable);

/// The step's IPOBO, for all planes; empty if it has none.
std::vector<std::int32_t> stored_ranks(const mesh::Dataset& step);

/// The coordinates' origin: IPARAM(3) and (4) of a SERAFIN header, X_ORIG and Y_ORIG of a MED file of TELEMAC.
std::array<std::int64_t, 2> origin_parameters(const mesh::Header& header);

/// IPOBO of all planes, as the step has it; where it has none, as the mesh's boundary runs, with a note.
std::vector<std::int32_t> boundary_ranks(const TriangleSeries& series, std::vector<std::string>& notes);

/// The same of all planes as the mesh's boundary runs, whatever a step has.
std::vector<std::int32_t> ranks_of_mesh(const mesh::Unstructured& mesh);

/// 0 at the lowest plane's points, 1 at the next: for a mesh of planes without steps.
std::vector<double> plane_heights(const TriangleSeries& series);

/// An attribute of that type, if it is there.
template <class T>
std::optional<T> attribute(const mesh::Header& header, const std::string& name) {
  const auto found = header.attributes.find(name);
  const T* value = found == header.attributes.end() ? nullptr : std::get_if<T>(&found->second);
  return value == nullptr ? std::nullopt : std::optional<T>(*value);
}

/// The f-th variable's name, as a dataset of SERAFIN has it: "#3" is behind one that others have, too.
std::string unique_name(const mesh::Header& header, std::size_t f);

/// SERAFIN's title record: 72 characters and a tag of 8, in Latin-1. Without a tag of its own `tag` is taken.
std::string title_record(const mesh::Header& header, const std::string& tag);

}  // namespace octavo::step
