#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/store/store.hpp"

namespace octavo::step {

struct ToVtkhdfOptions {
  std::optional<std::vector<std::string>> fields{};  ///< nothing: all
  bool single_precision = false;                     ///< values of 4 bytes
  bool overwrite = false;
  base::Progress progress{};          ///< in steps
  std::optional<store::Flow> flow{};  ///< of a store: nothing: analysis, if it has a step
};

struct ToVtkhdfReport {
  std::int64_t steps = 0, points = 0, elements = 0;
  std::int64_t bytes = 0;
  std::vector<std::string> notes;
};

/// Writes all steps of a mesh of triangles (SERAFIN, a store, MED) as one VTKHDF file, the mesh once; of planes the
/// points stand at every step at the heights of the first variable. One variable of one step is in memory, and the
/// mesh. Throws Error(unsupported) for meshes of cells, and in builds without HDF5; Error(usage) where `out` exists.
ToVtkhdfReport to_vtkhdf(const std::filesystem::path& path, const std::filesystem::path& out,
                         const ToVtkhdfOptions& options);

}  // namespace octavo::step
