#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "octavo/mesh/dataset.hpp"

/// Files of one part whose reader keeps nothing open, between the processes of a run.
namespace octavo::formats {

/// Sets Dataset::describe: it tells of header and sizes, not of where the file has its values. `path` and `step` as
/// Format::open had them.
void describe_file(mesh::Dataset& dataset, const std::filesystem::path& path, std::optional<std::int64_t> step);

/// The step that it tells of, for another process of the run. `open` is Format::open; it is called once, when the part
/// is read.
mesh::Dataset understand_file(
    const std::string& description,
    const std::function<mesh::Dataset(const std::filesystem::path& path, std::optional<std::int64_t> step)>& open);

}  // namespace octavo::formats
