#pragma once
#include <cstdint>
#include <string_view>

/// What this process may take for what a file asks for. A size in a file is no reason to swap, or to be killed.
namespace octavo::base {

/// Free memory [bytes]: of the computer, of this process's control group, or what its limit of address space leaves,
/// whichever is least.
std::uint64_t free_memory() noexcept;

/// The limit in bytes for what is read at once; 0: the default, 80 % of what is free at that moment.
void set_memory_limit(std::uint64_t bytes) noexcept;
std::uint64_t memory_limit() noexcept;

/// Throws Error(no_space) where that many bytes are more than memory_limit(); `what` needs them.
void need_memory(std::uint64_t bytes, std::string_view what);

/// As many of `threads`, at least one, as can take `bytes` each.
int threads_within_memory(int threads, std::uint64_t bytes) noexcept;

}  // namespace octavo::base
