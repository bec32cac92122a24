#pragma once
#include <cstddef>
#include <cstdint>

namespace octavo::base {

/// Casts a signed number, which counts from 0, to the unsigned type that indexes arrays.
constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace octavo::base
