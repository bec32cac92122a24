#pragma once
#include "octavo/store/subfile.hpp"

/// Where a segment begins: the subfile, made if it is missing, and what is in it already.
namespace octavo::store {

/// Writes the store's marker where it is missing or another. The same bytes whoever writes them: writers that meet here
/// do no harm.
void write_marker(const std::filesystem::path& store);

/// The segment's subfile, opened for writing and locked, with a valid head; the store's marker is written if it is
/// missing. Throws Error(usage) where another writer has it.
file::File open_subfile(const SegmentPlan& plan);

/// What a commit at the end of a subfile follows.
struct Tail {
  Records records{};            ///< both sectors, as they are
  std::size_t older_place = 0;  ///< of the records: it is written over before the other
  Identity file{};
  std::uint64_t sequence = 0;     ///< of the newest commit; 0: none
  std::uint64_t order = 0;        ///< of the newest segment
  std::uint64_t end = head_size;  ///< nothing that counts lies from here on
  std::vector<Link> links;        ///< for the next footer
};

/// A sector that cannot be read comes as bytes that are no record.
Records read_records(const file::File& file);
/// Writes them over those of commits that have failed since, and syncs.
void put_back_records(const std::filesystem::path& subfile, const Records& records);

/// Throws Error(corrupt) where the newest footer is damaged.
Tail read_tail(const file::File& file);

/// Orders the steps of a flow in time: one more than that of any in the store, unless the plan says which. The analysis
/// flow appends to one first subfile; checkpoints have one each.
std::uint64_t next_order(const SegmentPlan& plan, const Tail& tail);

}  // namespace octavo::store
