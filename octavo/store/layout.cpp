#include "octavo/store/layout.hpp"

#include <algorithm>
#include <string>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"

namespace octavo::store {
namespace {

using base::Error;
using base::Kind;

// The first byte is not text and the last two are a line end, so a transfer "as text" damages the magic.
constexpr std::array<unsigned char, 8> head_magic{0x89, 'O', 'C', 'T', 'V', 'O', '\r', '\n'};
constexpr std::array<unsigned char, 8> record_magic{0x89, 'C', 'O', 'M', 'I', '2', '\r', '\n'};
constexpr std::size_t checked_bytes = sector_size - sizeof(std::uint64_t);

bool begins_with(std::span<const std::byte> bytes, const std::array<unsigned char, 8>& magic) noexcept {
  return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin(),
                                                    [](auto a, auto b) { return static_cast<std::byte>(a) == b; });
}

// Puts fields one after another; the last 8 bytes of the sector are the checksum of those before.
struct SectorWriter {
  Sector sector{};
  std::size_t position = 0;
  template <class T>
  void put(T value) {
    base::store(sector.data() + position, value);
    position += sizeof(T);
  }
  template <std::size_t n, class Byte>
  void put(const std::array<Byte, n>& bytes) {
    for (Byte byte : bytes) sector[position++] = static_cast<std::byte>(byte);
  }
  Sector finish() {
    base::store(sector.data() + checked_bytes, base::checksum({sector.data(), checked_bytes}));
    return sector;
  }
};

struct SectorReader {
  std::span<const std::byte> sector;
  std::size_t position = 8;  // after the magic
  template <class T>
  T get() {
    const T value = base::load<T>(sector.data() + position);
    position += sizeof(T);
    return value;
  }
  std::array<std::byte, 16> get_identity() {
    std::array<std::byte, 16> bytes;
    std::copy_n(sector.begin() + static_cast<std::ptrdiff_t>(position), bytes.size(), bytes.begin());
    position += bytes.size();
    return bytes;
  }
};

void check_sector(std::span<const std::byte> sector, const std::string& what) {
  if (sector.size() != sector_size) throw Error(Kind::corrupt, what + " ends early");
  if (base::load<std::uint64_t>(sector.data() + checked_bytes) != base::checksum(sector.first(checked_bytes)))
    throw Error(Kind::corrupt, what + ": checksum differs");
}

}  // namespace

bool all_zero(std::span<const std::byte> bytes) noexcept {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

bool has_magic(std::span<const std::byte> bytes) noexcept { return begins_with(bytes, head_magic); }

Sector to_sector(const Head& head) {
  SectorWriter out;
  out.put(head_magic);
  out.put(head.major);
  out.put(head.minor);
  out.put(static_cast<std::uint32_t>(head_size));
  out.put(head.file);
  out.put(static_cast<std::uint8_t>(head.flow));
  return out.finish();
}

Sector to_sector(const CommitRecord& record) {
  SectorWriter out;
  out.put(record_magic);
  out.put(record.sequence);
  out.put(record.step);
  out.put(record.attempt);
  out.put(record.footer.offset);
  out.put(record.footer.length);
  out.put(record.footer.checksum);
  out.put(record.file);
  out.put(record.previous.offset);
  out.put(record.previous.length);
  out.put(record.previous.checksum);
  return out.finish();
}

Head parse_head(std::span<const std::byte> sector) {
  if (!has_magic(sector)) throw Error(Kind::corrupt, "not a subfile of an Octavo store: it begins with other bytes");
  check_sector(sector, "head of the subfile");
  SectorReader in{sector};
  Head head;
  head.major = in.get<std::uint16_t>();
  head.minor = in.get<std::uint16_t>();
  if (head.major != version_major)
    throw Error(Kind::unsupported, "format version " + std::to_string(head.major) + "." + std::to_string(head.minor) +
                                       ", this Octavo reads " + std::to_string(version_major) + ".x")
        .hint(head.major < version_major ? "the Octavo that wrote it" : "a newer Octavo");
  const auto size = in.get<std::uint32_t>();
  head.file = in.get_identity();
  const auto flow = in.get<std::uint8_t>();
  if (size != head_size)
    throw Error(Kind::corrupt,
                "size of the head: expected " + std::to_string(head_size) + ", found " + std::to_string(size));
  if (flow > 1)
    throw Error(Kind::unsupported, "flow: expected 0 or 1, found " + std::to_string(flow)).hint("a newer Octavo");
  head.flow = static_cast<Flow>(flow);
  // A later minor version may use these bytes. Then we must not read the file as if they said nothing.
  if (!all_zero(sector.subspan(in.position, checked_bytes - in.position)))
    throw Error(Kind::unsupported, "the head says something that this Octavo does not know").hint("a newer Octavo");
  return head;
}

std::optional<CommitRecord> parse_record(std::span<const std::byte> sector) {
  if (all_zero(sector)) return {};
  if (!begins_with(sector, record_magic)) throw Error(Kind::corrupt, "commit record begins with other bytes");
  check_sector(sector, "commit record");
  SectorReader in{sector};
  CommitRecord record;
  record.sequence = in.get<std::uint64_t>();
  record.step = in.get<std::int64_t>();
  record.attempt = in.get_identity();
  record.footer.offset = in.get<std::uint64_t>();
  record.footer.length = in.get<std::uint64_t>();
  record.footer.checksum = in.get<std::uint64_t>();
  record.file = in.get_identity();
  record.previous.offset = in.get<std::uint64_t>();
  record.previous.length = in.get<std::uint64_t>();
  record.previous.checksum = in.get<std::uint64_t>();
  return record;
}

}  // namespace octavo::store
