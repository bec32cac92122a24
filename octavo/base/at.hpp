#pragma once
#include <cstddef>
#include <cstdint>

namespace octavo::base {

/// A number from 0 as a place in an array.
constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace octavo::base
