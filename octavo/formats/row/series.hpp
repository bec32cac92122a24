#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/formats/row/groups.hpp"
#include "octavo/formats/row/request.hpp"
#include "octavo/formats/row/words.hpp"
#include "octavo/mesh/dataset.hpp"

/// All steps on one mesh of triangles, or of solids, from any format or store, in the form that writers of whole files
/// take.
namespace octavo::formats {

/// The steps of a file that may hold many.
struct FileSteps {
  std::vector<double> times;  ///< of all whole steps
  std::int64_t bytes = 0;     ///< of one of them, as Dataset::bytes has it
};

struct Series {
  mesh::Dataset first;  ///< as open() gives it: the last step of a file
  mesh::Unstructured mesh;
  mesh::Solids solids{};  ///< instead, if mesh::holds_solids(first.header)
  /// Fields of reals that were asked for, in the file's order; of solids, those of int32 and int64 too.
  std::vector<mesh::FieldInfo> variables;
  std::vector<double> times;                       ///< of all steps; none if no variable has values
  std::function<mesh::Dataset(std::size_t)> open;  ///< a step, from 0
  std::vector<std::int32_t> boundary;  ///< number of each point of all planes along the boundary (IPOBO), 0 inside; set
                                       ///< before it is written
  /// Groups of the mesh's edges, triangles and points; nothing: step::write() reads those of the step's own file.
  std::optional<MeshGroups> groups;
};

/// Points and elements of all planes, or of all solids.
std::int64_t num_points(const Series& series);
std::int64_t num_elements(const Series& series);
/// A report with steps, points and elements.
WriteReport report_of(const Series& series);

/// Calls `each` with the number of each step, from 0, and the step. Throws Error(interrupted) if progress says stop.
void for_each_step(const Series& series, const base::Progress& progress,
                   const std::function<void(std::int64_t, const mesh::Dataset&)>& each);
/// The same for the steps first <= step < last.
void for_each_step(const Series& series, std::array<std::int64_t, 2> steps, const base::Progress& progress,
                   const std::function<void(std::int64_t, const mesh::Dataset&)>& each);

/// Values of a variable at all points. Throws Error(unsupported) if the step's mesh has another number of points, or an
/// integer is beyond 2^53.
std::vector<double> values_of(const Series& series, const mesh::Dataset& step, const std::string& variable);
/// The same for a field at points or in cells.
std::vector<double> values_of(const Series& series, const mesh::Dataset& step, const mesh::FieldInfo& info);
/// The same for a field of integers, exactly.
std::vector<std::int64_t> integers_of(const Series& series, const mesh::Dataset& step, const mesh::FieldInfo& info);

/// Heights for a mesh of planes without steps: 0 at the points of the lowest plane, 1 at those of the next, and so on.
std::vector<double> plane_heights(const Series& series);

/// The coordinates' origin: IPARAM(3) and (4) of a SERAFIN header, X_ORIG and Y_ORIG of a MED file of TELEMAC.
std::array<std::int64_t, 2> origin_parameters(const mesh::Header& header);

/// The f-th variable's name in a dataset of SERAFIN. A name that several variables have gets a suffix such as "#3".
std::string unique_name(const mesh::Header& header, std::size_t f);

}  // namespace octavo::formats
