#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>

/// Stripes of files on Lustre, without its library: the request that `lfs setstripe` makes.
namespace octavo::file {

/// How Lustre spreads a file over its storage targets.
struct Striping {
  int count = 0;          ///< targets; 0: the file system's default, -1: all
  std::int64_t size = 0;  ///< [bytes] of a stripe, a multiple of 65536; 0: the file system's default
  int first = -1;         ///< number of the first target; -1: Lustre chooses
  bool operator==(const Striping&) const = default;
};
/// Nothing is asked for.
constexpr bool is_default(const Striping& striping) noexcept { return striping == Striping{}; }

constexpr std::int64_t least_stripe = 65536;  ///< Lustre's LOV_MIN_STRIPE_SIZE
constexpr int most_stripes = 2000;            ///< LOV_MAX_STRIPE_COUNT

/// The bytes of Lustre's struct lov_user_md_v1 without objects, in the order of this machine (lustre_user.h): magic
/// 0x0BD10BD0, pattern, id and sequence of an object, stripe size, stripe count, first target.
std::array<std::byte, 32> lov_user_md(const Striping& striping);

/// Sets the striping of files that will be made in this directory and in directories made in it. Returns false, and
/// does nothing, if the directory is not on Lustre. Throws the system's error if Lustre refuses.
bool set_striping(const std::filesystem::path& directory, const Striping& striping);

/// The two system calls, for tests; empty members: the system's own.
struct LustreCalls {
  std::function<std::int64_t(int descriptor)> file_system;  ///< fstatfs: the magic number
  std::function<int(int descriptor, unsigned long request, const void* argument)> ioctl;
};
void set_lustre_calls(LustreCalls calls);

}  // namespace octavo::file
