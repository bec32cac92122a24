#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "octavo/store/store.hpp"

/// The first 12288 bytes of a subfile: its head and two commit records, each in a block of its own (docs/format.md,
/// "Subfile").
namespace octavo::store {

/// Bytes that are read or written at once. Their checksum is taken while they are in the second-level cache. Strided
/// values are packed in pieces of this size.
inline constexpr std::size_t tile_bytes = std::size_t{256} << 10;

constexpr std::uint16_t version_major = 2;
constexpr std::uint16_t version_minor = 0;

constexpr std::size_t sector_size = 512;    ///< a disk writes a sector entirely or not at all
constexpr std::size_t sector_block = 4096;  ///< one unreadable sector never costs more than this
constexpr std::size_t head_size = 3 * sector_block;
constexpr std::size_t stream_alignment = 8;

/// 128 random bits that name one subfile, so that a reader recognises bytes that belong to another file.
using Identity = std::array<std::byte, 16>;
using Sector = std::array<std::byte, sector_size>;

/// A range of a file and the checksum of its bytes.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint64_t checksum = 0;
  bool operator==(const Extent&) const = default;
};

struct Head {
  std::uint16_t major = version_major;
  std::uint16_t minor = version_minor;
  Identity file{};
  Flow flow = Flow::analysis;
  bool operator==(const Head&) const = default;
};

/// Commits a segment: a footer counts only if a commit record names it, directly or through later footers. A file has
/// two places for records. Both hold the newest record, except during a commit, when one of them still holds the
/// previous record. The valid record with the higher sequence is the newest.
struct CommitRecord {
  Identity file{};
  std::uint64_t sequence = 0;  ///< 1 for the first commit of a file, one more for each later commit
  std::int64_t step = 0;
  Attempt attempt{};
  Extent footer;
  Extent previous;  ///< footer of the previous commit, if any: it can be found even if this footer is damaged
  bool operator==(const CommitRecord&) const = default;
};

/// The commit records of a subfile, by place.
using Records = std::array<Sector, 2>;
inline std::uint64_t record_place(std::size_t place) { return sector_block * (1 + place); }
inline std::uint64_t align(std::uint64_t offset) {
  return (offset + stream_alignment - 1) / stream_alignment * stream_alignment;
}

Sector to_sector(const Head& head);
Sector to_sector(const CommitRecord& record);

/// Whether these bytes begin like a subfile; nothing else is checked.
bool has_magic(std::span<const std::byte> bytes) noexcept;
/// Throws Error(corrupt), or Error(unsupported) for another major version.
Head parse_head(std::span<const std::byte> sector);
/// Returns nothing for a sector of zeros, where no record was written. Throws Error(corrupt).
std::optional<CommitRecord> parse_record(std::span<const std::byte> sector);
bool all_zero(std::span<const std::byte> bytes) noexcept;

}  // namespace octavo::store
