#pragma once
#include <filesystem>

/// What gets its name once it is whole, and durable. Errors as those of posix.hpp.
namespace octavo::file {

/// Renames, but throws Error(usage) where `to` exists: nothing is replaced.
void rename_new(const std::filesystem::path& from, const std::filesystem::path& to);

/// Syncs all files and directories in a directory, and itself; or the file, if it is one.
void sync_all(const std::filesystem::path& path);

}  // namespace octavo::file
