#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace octavo::mesh {

/// Throws Error(corrupt) unless there are none, or one distinct number >= 0 for each of `points` points.
void check_global_points(std::span<const std::int64_t> numbers, std::size_t points);

}  // namespace octavo::mesh
