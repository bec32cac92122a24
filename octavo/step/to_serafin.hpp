#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/step/triangle_series.hpp"

namespace octavo::step {

struct ToSerafinOptions {
  std::optional<std::vector<std::string>> fields{};  ///< nothing: all
  std::optional<bool> double_precision{};            ///< nothing: as the input's values are
  bool overwrite = false;
  base::Progress progress{};          ///< in steps
  std::optional<store::Flow> flow{};  ///< of a store: nothing: analysis, if it has a step
};

struct ToSerafinReport {
  std::int64_t steps = 0, points = 0, elements = 0;
  std::int64_t bytes = 0;
  std::vector<std::string> notes;
};

/// Writes all steps of a mesh of triangles (a store, MED, SERAFIN) as one SERAFIN file. Of what was a SERAFIN file
/// title, date, IPARAM, byte order and precision are its own again; else it is big-endian, without a date. IPOBO is the
/// field of that name; where there is none it is found from the mesh, with a note. One variable of one step is in
/// memory, and the mesh. Throws Error(unsupported) for meshes of cells, and where the format cannot hold it;
/// Error(usage) where `out` exists.
ToSerafinReport to_serafin(const std::filesystem::path& path, const std::filesystem::path& out,
                           const ToSerafinOptions& options);
/// The same of a series that is open; options.fields are not asked.
ToSerafinReport to_serafin(const TriangleSeries& series, const std::filesystem::path& out,
                           const ToSerafinOptions& options);

}  // namespace octavo::step
