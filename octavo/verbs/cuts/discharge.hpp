#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/analysis/transect.hpp"
#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/mesh/triangles/polygon.hpp"
#include "octavo/store/store.hpp"

/// Discharge through lines and volumes in polygons, over all steps on a mesh of triangles.
namespace octavo::verbs {

struct OverStepsOptions {
  std::optional<store::Flow> flow{};  ///< stores only; nothing: the flow that open() takes
  base::Ranks ranks{};                ///< that share the steps
  base::Progress progress{};          ///< in steps of this rank
};

/// Numbers of lines or polygons over the steps.
struct StepSeries {
  std::vector<double> times;   ///< [step]
  std::vector<double> values;  ///< [line or polygon][step]
  std::vector<double> sizes;   ///< [line or polygon]: how much of it lies on the mesh [code length, or its square]
};

/// The integral of depth times the velocity across each line, which is positive from the line's left to its right.
/// Depth and velocity are linear in a triangle, their product is integrated exactly. In prisms the integral over the
/// height of the velocity: `depth` is then not used. Each rank opens the series and reads a contiguous range of its
/// steps; every rank gets all numbers, which have the same bits for any number of ranks. Memory: the mesh (for a
/// formula twice) and three fields of one step. Throws Error(usage) for an unknown field or a line that is none,
/// Error(unsupported) as step::open_triangles(). Collective.
StepSeries discharge(const std::filesystem::path& path, const std::vector<analysis::Polyline>& lines,
                     const std::string& depth, const OverStepsOptions& options);

/// The integral of a field over each polygon, triangles being cut at its sides exactly; no polygon: over the mesh. Of
/// prisms, of its integral over the height. Memory: the mesh, a number for each point and polygon, and a field of one
/// step, of prisms two. Ranks and errors as discharge().
StepSeries volume(const std::filesystem::path& path, const std::vector<mesh::Polygon>& polygons,
                  const std::string& field, const OverStepsOptions& options);

}  // namespace octavo::verbs
