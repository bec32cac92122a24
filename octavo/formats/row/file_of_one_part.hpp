#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "octavo/mesh/dataset.hpp"

/// Files of one part whose reader keeps nothing open, between the processes of a run.
namespace octavo::formats {

/// The number of the step to open in a file that has so many, numbered from 0; without a choice the last. A file
/// without steps has its mesh at step 0. Throws Error(usage) with the path for a step that is not there.
std::int64_t chosen_step(const std::filesystem::path& path, std::optional<std::int64_t> step, std::int64_t steps);

/// Sets Dataset::describe: it tells of header and sizes, not of where the file has its values. `path` and `step` as
/// Format::open had them.
void describe_file(mesh::Dataset& dataset, const std::filesystem::path& path, std::optional<std::int64_t> step);

/// The step that it tells of, for another process of the run. `open` is Format::open; it is called once, when the part
/// is read.
mesh::Dataset understand_file(
    const std::string& description,
    const std::function<mesh::Dataset(const std::filesystem::path& path, std::optional<std::int64_t> step)>& open);

}  // namespace octavo::formats
