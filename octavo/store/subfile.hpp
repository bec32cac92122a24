#pragma once
#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/store/footer.hpp"

namespace octavo::store {

/// A committed footer and its place.
struct Committed {
  Footer footer;
  Extent at;
};

/// A subfile as its head, commit records and footers describe it.
struct Subfile {
  std::filesystem::path path;
  std::uint64_t size = 0;
  std::optional<Head> head;     ///< if damaged, recovered from record and footer; nothing: not found there either
  bool was_being_made = false;  ///< it has neither head nor commit records: it never held anything
  std::array<std::optional<CommitRecord>, 2> records;  ///< by place in the file
  std::vector<Committed> commits;                      ///< by sequence, ascending; damaged ones are missing
  std::vector<Finding> damage;
};

/// How much of a subfile is read. By default, all footers, from the file.
struct ReadSubfile {
  /// Returns the footer's bytes if the caller has bytes that may be those; they count only if their checksum is the
  /// footer's.
  std::function<std::span<const std::byte>(const Extent& footer)> known{};
  /// Stops at the first footer, from the newest on, for which it holds.
  std::function<bool(const Footer&)> wanted{};
};

/// Reads the head and all footers that can be read; lists damage instead of throwing it. Throws Error(unsupported) for
/// a file of another version.
Subfile read_subfile(const std::filesystem::path& path, const ReadSubfile& how = {});
/// The footer of this step in the subfile, and its place; reads no older ones. Throws Error(corrupt) if there is none.
Committed find_commit(const std::filesystem::path& path, const StepId& step);
/// The same from a subfile that is open.
Committed find_commit(const file::File& file, const StepId& step);

/// Whether the places of both commit records are zeros, or not there, in the first head_size bytes of a file.
bool has_no_records(std::span<const std::byte> head);
/// Whether the places of a file may hold these: one record twice, those of two successive commits, or at the first
/// commit one record or none.
bool is_pair(const std::optional<CommitRecord>& a, const std::optional<CommitRecord>& b);
/// The valid record with the higher sequence.
std::optional<CommitRecord> newest_record(const Subfile& subfile);

/// Reads a range of the file and compares its checksum. Throws Error(corrupt) that names `what` and the bytes.
std::vector<std::byte> read_extent(const file::File& file, const Extent& extent, const std::string& what);
/// Reads the footer that a link or a record names. Checks that it belongs to this file and has the link's sequence.
Footer read_footer(const file::File& file, const Identity& identity, const Link& link);

/// "data.000, bytes 4096 to 5000".
std::string byte_range(const std::filesystem::path& path, std::uint64_t offset, std::uint64_t length);
/// Turns an error into a finding: its places, outermost first, and its message. Rethrows an error about lack of memory,
/// because that is not damage.
Finding finding_of(const base::Error& error);

}  // namespace octavo::store
