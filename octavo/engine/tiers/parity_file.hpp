#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/engine/tiers/local_steps.hpp"
#include "octavo/engine/tiers/safety.hpp"
#include "octavo/file/posix.hpp"

/// Parity files on local disks (docs/node-local-disks.md, "Parity files"). The members of a group hold one file each. A
/// file is cut into as many chunks as the group has stripes with its data. Stripe s has one block of each member: rows
/// of parity on the members s, s + 1, ... (modulo their number), data of the others.
namespace octavo::engine {

/// The stripe whose parity of this row a member holds.
constexpr int stripe_of(int member, int row, int members) { return (member - row + members) % members; }
/// Whether a member's block of a stripe is data.
constexpr bool is_data(int member, int stripe, int rows, int members) {
  return (member - stripe + members) % members >= rows;
}
/// The chunk of a member's file that is its data in a stripe.
constexpr int chunk_of(int member, int stripe, int members) { return (stripe - member - 1 + 2 * members) % members; }

/// One member's file.
struct ProtectedFile {
  int segment = -1;  ///< negative: the member has no file here, and counts as one of no bytes
  int subfile = 0;   ///< its number in the store
  std::uint64_t bytes = 0, checksum = 0;
  bool operator==(const ProtectedFile&) const = default;
};

struct ParityHeader {
  LocalName name;  ///< `segment` is the lane: the n-th files of a group's nodes share parity
  Safety safety = Safety::partner;
  std::int64_t step = 0;
  int segments = 1;  ///< of the step
  int group = 0;     ///< of the run's groups of this scheme
  int member = 0;    ///< the one that holds this file
  int rows = 1;
  std::uint64_t chunk = 0;             ///< [bytes]
  std::vector<ProtectedFile> members;  ///< by place in the group
  bool operator==(const ParityHeader&) const = default;
};
/// The chunk for files of these sizes: the largest, shared by the stripes that have its data.
std::uint64_t chunk_bytes(const std::vector<ProtectedFile>& members, int rows);

/// Bytes that are exchanged, and have a checksum of their own, at a time.
inline constexpr std::uint64_t parity_block = std::uint64_t{1} << 20;

std::filesystem::path parity_path(const std::filesystem::path& root, const LocalName& name, Safety safety);

/// Writes a parity file, block by block. It counts only once finish() has returned.
class ParityWriter {
 public:
  ParityWriter(const std::filesystem::path& path, ParityHeader header);
  /// The next block of a row: blocks of a row in order, rows in any.
  void write(int row, std::uint64_t at, std::span<const std::byte> block);
  /// Writes and syncs header and tail after the blocks, and syncs the directory. Returns the bytes of the file.
  std::uint64_t finish();

 private:
  ParityHeader header_;
  file::File file_;
  std::vector<std::uint64_t> sums_;  // row after row
};

/// A parity file that was found.
struct ParityFile {
  std::filesystem::path path;
  ParityHeader header;
  std::vector<std::uint64_t> sums;
};
/// Reads tail and header. Returns nothing for a file whose writer was interrupted: it has no tail. Throws
/// Error(corrupt) that names file and byte.
std::optional<ParityFile> read_parity(const std::filesystem::path& path);
/// The files of a root that have names of parity files, sorted.
std::vector<std::filesystem::path> parity_paths(const std::filesystem::path& root);
/// The parity files of a root, by name. Damaged ones are left out; `notes` describes them.
std::vector<ParityFile> list_parity(const std::filesystem::path& root, std::vector<std::string>& notes);
/// Compares all blocks with their checksums. Throws Error(corrupt) that names file and bytes.
void check_blocks(const ParityFile& parity);

}  // namespace octavo::engine
