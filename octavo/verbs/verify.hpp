#pragma once
#include <filesystem>

#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/store/store.hpp"

namespace octavo::verbs {

/// Reads all of a store or a native output. For a store it checks every checksum and size (store::verify). For a native
/// output it reads every part with all fields and particles, validates trees, and compares the cells found with the
/// counts in the headers and with the domain's volume. No two particles of FLASH or AMReX may have the same identity.
/// Throws Error if nothing could be opened, and Error(unsupported) if the mesh cannot be a tree.
///
/// Collective over `ranks`, which share the parts, and the steps of a file of triangles; all return the report of one
/// process, or throw the same Error. Rank 0 alone reads headers.
store::Report verify(const std::filesystem::path& path, int threads, const base::Progress& progress = {},
                     const base::Ranks& ranks = {});
/// Checks only that a store's steps are complete (store::verify_quick). Throws Error(usage) for a native output, which
/// cannot be checked without reading it.
store::Report verify_quick(const std::filesystem::path& path);

}  // namespace octavo::verbs
