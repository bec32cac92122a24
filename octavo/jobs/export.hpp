#pragma once
#include <filesystem>

#include "octavo/base/progress.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::jobs {

struct ExportOptions {
  int number = 1;                 ///< NNNNN of a RAMSES output
  int domains = 0;                ///< 0: as many as the step has parts
  bool single_precision = false;  ///< reals of 4 bytes, as an NPRE=4 build reads them
  bool overwrite = false;         ///< an existing output is replaced, once the new one is complete
  base::Progress progress;        ///< in parts
};

/// Writes a step as a RAMSES output (formats/ramses/writer.hpp says what can be, and what it keeps in memory).
/// The directory gets its name once it is complete.
void export_ramses(const mesh::Dataset& dataset, const std::filesystem::path& out, const ExportOptions& options);

}  // namespace octavo::jobs
