#pragma once
#include <cstdint>
#include <filesystem>

namespace octavo::step {

/// One domain's files of a RAMSES output, made for a restart of RAMSES itself, which removes them once it has read
/// them.
struct RamsesFiles {
  std::filesystem::path folder;  ///< holds output_NNNNN
  int number = 0;                ///< NNNNN
  int domain = 0;                ///< from 0
};

/// Writes the files of domain `domain` of `domains` of the RAMSES output that a store's checkpoint is, and its texts,
/// into `folder`/output_NNNNN. NNNNN is the step's attribute output_number. The ranks of a run call it at the same
/// time, each for its domain; it is not collective. `folder` is one for all ranks of a node, or for all.
///
/// Memory: one part of the step, one domain, the coarse levels. Every rank reads the trees of all parts.
///
/// Throws Error(unsupported) if the step is not RAMSES', Error(usage) if it was stored with a loss.
RamsesFiles write_ramses_domain(const std::filesystem::path& store, std::int64_t step,
                                const std::filesystem::path& folder, int domain, int domains);

/// Links output_NNNNN of the current directory to the output. Replaces a link, as a killed run leaves it; throws
/// Error(usage) if something else has the name.
void link_ramses_output(const RamsesFiles& files);

/// Removes the domain's files and the texts; the last domain on a node removes the folders, the first domain the link.
void remove(const RamsesFiles& files) noexcept;

}  // namespace octavo::step
