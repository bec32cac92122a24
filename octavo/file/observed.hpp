#pragma once
#include <cstdint>

/// For the sources of this room that write without posix.hpp.
namespace octavo::file {

/// Whether set_observer() has set a function. It must hear of every write, so writes then go through posix.hpp.
bool is_observed() noexcept;
/// Adds a write call to counts().
void count_write(std::uint64_t bytes) noexcept;

}  // namespace octavo::file
