#pragma once
#include <cstddef>
#include <filesystem>

/// Rank 0's work on a series in one MED file, apart from steps. No MPI. A SERAFIN file without steps tells the
/// mesh and the header; what becomes of it is what `octavo convert` makes.
namespace octavo::engine {

bool is_med(const std::filesystem::path& path);

/// Replaces `out`: the mesh and its fields, without steps. Throws Error(unsupported) where there is no libmedC.
void make_med(const std::filesystem::path& geometry, const std::filesystem::path& out, std::size_t real_bytes);

/// Throws Error(usage) where a file has another mesh or date, other variables, or values of another precision. Titles
/// may differ, and what SERAFIN file it was made of.
void require_same_series(const std::filesystem::path& geometry, const std::filesystem::path& there);

}  // namespace octavo::engine
