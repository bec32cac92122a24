#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "octavo/mesh/dataset.hpp"
#include "octavo/store/store.hpp"

/// All steps of a file as one: meshes of triangles, which stay the same.
namespace octavo::step {

enum class OverTime : std::uint8_t { maximum, minimum, mean };
/// "max", "min" or "mean"; Error(usage) otherwise.
OverTime over_time_named(std::string_view name);

/// The path's last step, of a store that of the flow (nothing: the one that open() takes), but each value is the
/// largest, smallest or mean of its point over all steps; NaN are passed over. Reading takes one field of one step in
/// memory beside the result. Throws Error(unsupported) for meshes of cells, or that change from step to step,
/// Error(usage) for a flow that is not there.
mesh::Dataset over_time(const std::filesystem::path& path, OverTime kind, std::optional<store::Flow> flow = {});

}  // namespace octavo::step
