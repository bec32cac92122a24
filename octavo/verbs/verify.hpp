#pragma once
#include <filesystem>

#include "octavo/base/progress.hpp"
#include "octavo/store/store.hpp"

namespace octavo::verbs {

/// Reads all of a store or a native output. Store: every checksum and size (store::verify). Native output: every part
/// is read with all fields and particles, trees are validated, and the cells found are compared with the counts that
/// the headers promise and with the domain's volume, and no two particles of FLASH or AMReX may have one identity.
/// Throws Error where nothing could be opened, and Error(unsupported) where what is there cannot be a tree.
store::Report verify(const std::filesystem::path& path, int threads, const base::Progress& progress = {});
/// Only what makes a store's steps complete: store::verify_quick. Throws Error(usage) for a native output, which has
/// nothing that could be checked without reading it.
store::Report verify_quick(const std::filesystem::path& path);

}  // namespace octavo::verbs
