#pragma once
#include <filesystem>
#include <span>
#include <string_view>

#include "octavo/mesh/dataset.hpp"

/// Foreign formats: one folder each, and this table of them.
namespace octavo::formats {

/// A format is a row of functions.
struct Format {
  std::string_view name;
  bool (*recognise)(const std::filesystem::path& path);      ///< from names and first bytes; never throws
  mesh::Dataset (*open)(const std::filesystem::path& path);  ///< reads headers; throws Error
};

/// All formats of this build.
std::span<const Format> table();

/// Opens an output by the first format that recognises it; the path may be the output's directory or any file in it.
/// Throws Error(unreadable) where there is nothing, Error(corrupt) where nothing known is there: it says what is.
mesh::Dataset open(const std::filesystem::path& path);

}  // namespace octavo::formats
