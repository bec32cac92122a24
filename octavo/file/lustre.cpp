#include "octavo/file/lustre.hpp"

#include <sys/ioctl.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"

namespace octavo::file {
namespace {

// From Lustre's lustre_user.h, whose values are part of the kernel's interface.
constexpr std::int64_t super_magic = 0x0BD00BD0;
constexpr std::uint32_t user_magic = 0x0BD10BD0;
constexpr unsigned long set_stripe = _IOW('f', 154, long);

struct LovUserMd {
  std::uint32_t magic = user_magic;
  std::uint32_t pattern = 0;  // 0: the default, stripes without redundancy
  std::uint64_t object_id = 0, object_sequence = 0;
  std::uint32_t stripe_size = 0;
  std::uint16_t stripe_count = 0;
  std::uint16_t first_target = 0xffff;
};
static_assert(sizeof(LovUserMd) == 32);

LustreCalls calls;

std::int64_t file_system_of(int descriptor) {
  if (calls.file_system) return calls.file_system(descriptor);
  struct statfs system {};
  return ::fstatfs(descriptor, &system) == 0 ? static_cast<std::int64_t>(system.f_type) : 0;
}

int call_ioctl(int descriptor, unsigned long request, const void* argument) {
  return calls.ioctl ? calls.ioctl(descriptor, request, argument) : ::ioctl(descriptor, request, argument);
}

}  // namespace

std::array<std::byte, 32> lov_user_md(const Striping& striping) {
  LovUserMd request;
  request.stripe_size = static_cast<std::uint32_t>(striping.size);
  request.stripe_count = static_cast<std::uint16_t>(striping.count);
  request.first_target = static_cast<std::uint16_t>(striping.first);
  std::array<std::byte, sizeof request> bytes{};
  std::memcpy(bytes.data(), &request, sizeof request);
  return bytes;
}

bool set_striping(const std::filesystem::path& directory, const Striping& striping) {
  const File handle = open_directory(directory);
  if (file_system_of(handle.descriptor()) != super_magic) return false;
  const auto request = lov_user_md(striping);
  if (call_ioctl(handle.descriptor(), set_stripe, request.data()) != 0)
    throw base::system_error("set the stripes of new files", errno).at(directory.string());
  return true;
}

void set_lustre_calls(LustreCalls other) { calls = std::move(other); }

}  // namespace octavo::file
