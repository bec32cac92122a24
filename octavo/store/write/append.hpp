#pragma once
#include "octavo/store/subfile.hpp"

/// Prepares a subfile for a new segment: creates it if it is missing, and finds where its content ends.
namespace octavo::store {

/// Writes the store's marker if it is missing or differs. All writers write the same bytes, so several may do it at
/// once.
void write_marker(const std::filesystem::path& store);

/// Opens the segment's subfile for writing, locks it, and makes sure that it has a valid head. Writes the store's
/// marker if it is missing. Throws Error(usage) if another writer has the subfile. `open`: the subfile that an earlier
/// call returned; it is opened again if it has been removed since.
file::File open_subfile(const SegmentPlan& plan, file::File open = {});

/// The end of a subfile, which the next commit follows.
struct Tail {
  Records records{};            ///< the bytes of both sectors
  std::size_t older_place = 0;  ///< place of the older record, which the next commit overwrites first
  Identity file{};
  std::uint64_t sequence = 0;     ///< of the newest commit; 0: none
  std::uint64_t order = 0;        ///< of the newest segment
  std::uint64_t end = head_size;  ///< the content ends before this byte
  std::vector<Link> links;        ///< for the next footer
};

/// Reads both records. For an unreadable sector it returns bytes that are not a valid record.
Records read_records(const file::File& file);
/// Restores the records that the file had before failed commits, and syncs.
void put_back_records(const std::filesystem::path& subfile, const Records& records);

/// The newest footer, of a file that a commit has just been written to. For the index, which does not need it: returns
/// nothing if it cannot be read.
std::optional<Committed> commit_in(const file::File& file);

/// Throws Error(corrupt) if the newest footer is damaged.
Tail read_tail(const file::File& file);

/// The `order` of a new step: one more than the highest in the store, unless the plan gives it. Orders sort the steps
/// of a flow in time. (The analysis flow appends to one first subfile; each checkpoint has its own.) Reads mark and
/// index, and of the first subfiles those that the index does not list or that have grown since.
std::uint64_t next_order(const SegmentPlan& plan, const Tail& tail);

}  // namespace octavo::store
