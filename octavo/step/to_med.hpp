#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/formats/med/groups.hpp"
#include "octavo/step/triangle_series.hpp"
#include "octavo/store/store.hpp"

namespace octavo::step {

struct ToMedOptions {
  std::optional<std::vector<std::string>> fields{};  ///< nothing: all
  bool single_precision = false;                     ///< values of 4 bytes: MED 4.1, which TELEMAC does not read
  std::optional<std::filesystem::path> boundary{};   ///< .cli of the mesh: becomes edges in groups named by their codes
  bool overwrite = false;
  base::Progress progress{};          ///< in steps
  std::optional<store::Flow> flow{};  ///< of a store: nothing: analysis, if it has a step
};

struct ToMedReport {
  std::int64_t steps = 0, points = 0, elements = 0, groups = 0;
  std::int64_t bytes = 0;
  std::vector<std::string> notes;
};

/// Writes all steps of a mesh of triangles (SERAFIN, a store, MED, VTKHDF) as one MED file, as TELEMAC would: mesh
/// MESH, values at points in doubles (those of floats are the same numbers), IPOBO as the points' global numbers,
/// NPLAN, DATE and TIME as parameters; and what else a SERAFIN header has as parameters, so that the way back gives its
/// bytes again. Groups of a MED file go along. One variable of one step is in memory, and the mesh. Throws
/// Error(unsupported) for meshes of cells, and without libmedC; Error(usage) where `out` exists.
ToMedReport to_med(const std::filesystem::path& path, const std::filesystem::path& out, const ToMedOptions& options);
/// The same for an open series; options.fields are not used. `groups`: the mesh's groups, if options name no boundary
/// file.
ToMedReport to_med(const TriangleSeries& series, const formats::med::Groups& groups, const std::filesystem::path& out,
                   const ToMedOptions& options);

}  // namespace octavo::step
