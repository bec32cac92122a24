#pragma once
#include <cstdint>
#include <string_view>

/// Limits the memory that a file can make this process allocate. A damaged file may claim any size; without a limit the
/// computer would swap, or the system would kill the process.
namespace octavo::base {

/// Free memory [bytes]: the smallest of what is free on the computer, in this process's control group, and below its
/// limit of address space.
std::uint64_t free_memory() noexcept;

/// Sets the limit on the memory of one request [bytes]. The default is 0: 80 % of the memory that is free at that
/// moment.
void set_memory_limit(std::uint64_t bytes) noexcept;
std::uint64_t memory_limit() noexcept;

/// Throws Error(no_space) if `bytes` exceeds memory_limit(). `what` names the thing that needs them.
void need_memory(std::uint64_t bytes, std::string_view what);

/// The largest number of threads, from 1 to `threads`, that fits into memory if each takes `bytes`.
int threads_within_memory(int threads, std::uint64_t bytes) noexcept;

}  // namespace octavo::base
