#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// Foreign formats: one folder each, which reads and writes it, and this table of them.
/// It may touch mesh, file and base.
/// It never knows a verb or a store, and never calls MPI.
namespace octavo::formats {

/// A format is a row of functions.
struct Format {
  std::string_view name;
  bool (*recognise)(const std::filesystem::path& path);      ///< from names and first bytes; never throws
  mesh::Dataset (*open)(const std::filesystem::path& path);  ///< reads headers; throws Error
  /// Of formats whose files hold many steps: one of them, from 0, and the times of all.
  mesh::Dataset (*open_step)(const std::filesystem::path& path, std::int64_t step) = nullptr;
  std::vector<double> (*times)(const std::filesystem::path& path) = nullptr;
};

/// All formats of this build.
std::span<const Format> table();

/// The first format that recognises the path; throws as open() does where none does.
const Format& format_of(const std::filesystem::path& path);

/// Opens an output by the first format that recognises it; the path may be the output's directory or any file in it.
/// Throws Error(unreadable) where there is nothing, Error(corrupt) where nothing known is there: it says what is.
mesh::Dataset open(const std::filesystem::path& path);

}  // namespace octavo::formats
