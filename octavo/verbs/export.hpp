#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::verbs {

struct ExportOptions {
  int number = 1;                 ///< NNNNN of a RAMSES output
  int domains = 0;                ///< 0: as many as the step has parts
  bool single_precision = false;  ///< reals of 4 bytes, as an NPRE=4 build reads them
  std::string ordering = {};      ///< "hilbert", "planar"; empty: the step's own
  bool lossy_ok = false;          ///< accept a step that was stored with a loss
  bool overwrite = false;         ///< an existing output is replaced, once the new one is complete
  base::Progress progress;        ///< in parts
};

/// Writes a step as a RAMSES output (formats/ramses/writer.hpp says what can be, and what it keeps in memory).
/// The directory gets its name once it is complete. Returns what a user should know. Throws Error(usage) for a step
/// that was stored with a loss.
std::vector<std::string> export_ramses(const mesh::Dataset& dataset, const std::filesystem::path& out,
                                       const ExportOptions& options);

/// A note for the user on the number of a written output. RAMSES finds an output by its number, in a directory named
/// after it. The note says that the number is not the step's own, or that the directory must be renamed; else empty.
std::string number_note(const mesh::Dataset& dataset, const std::filesystem::path& out, int number);

}  // namespace octavo::verbs
