#pragma once
#include <filesystem>

/// For outputs that get their name only when they are complete and durable. Throws the errors of posix.hpp.
namespace octavo::file {

/// Renames without replacing: throws Error(usage) if `to` exists.
void rename_new(const std::filesystem::path& from, const std::filesystem::path& to);

/// Syncs a directory with all files and directories below it; or `path` alone if it is a file.
void sync_all(const std::filesystem::path& path);

}  // namespace octavo::file
