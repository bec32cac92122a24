#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "octavo/mesh/dataset.hpp"
#include "octavo/store/store.hpp"

/// Combines all steps of a file into one, for meshes of triangles that do not change.
namespace octavo::step {

enum class OverTime : std::uint8_t { maximum, minimum, mean };
/// "max", "min" or "mean"; Error(usage) otherwise.
OverTime over_time_named(std::string_view name);

/// The last step at the path, in which each value is the largest, smallest or mean value of its point over all steps.
/// NaN are skipped. For a store, the steps are those of `flow` (nothing: the flow that open() takes). Reading needs
/// memory for one field of one step beside the result. Throws Error(unsupported) for meshes of cells and for meshes
/// that change from step to step, Error(usage) if the store has no step of the flow.
mesh::Dataset over_time(const std::filesystem::path& path, OverTime kind, std::optional<store::Flow> flow = {});

}  // namespace octavo::step
