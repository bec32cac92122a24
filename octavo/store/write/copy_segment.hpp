#pragma once
#include <functional>
#include <optional>

#include "octavo/store/read/opened.hpp"

namespace octavo::store {

/// The newest committed segment of a subfile, with its table. Throws Error(corrupt) if there is none.
OpenedSegment open_newest(const std::filesystem::path& subfile);

/// Reads a part back as it was encoded, before a SegmentWriter wrote it. Checks each stream against its checksum. A raw
/// stream, which only has a checksum of its values, gets one of its stored bytes. Throws Error(corrupt), naming part
/// and stream. The path in `segment` is used for errors only.
EncodedPart encoded_part(const OpenedSegment& segment, std::size_t row, const Fetch& fetch);

/// The plan for a copy of the segment in `store`, with the same step, attempt and segment number.
SegmentPlan plan_of_copy(const OpenedSegment& from, const std::filesystem::path& store, int subfile);

struct Copied {
  std::uint64_t bytes = 0;             ///< written
  std::optional<Committed> segment{};  ///< the copy; nothing if it could not be read back
};
/// Copies a segment to where `plan` says and commits the copy. The bytes of its streams are not decoded; each stream is
/// checked against its stored checksum on the way. One part at a time is in memory. Throws Error(corrupt) with the
/// place of damage in the original; nothing is committed then. `copied` is called with the bytes of each stream once it
/// has been read.
Copied copy_segment(const OpenedSegment& from, const SegmentPlan& plan,
                    const std::function<void(std::uint64_t bytes)>& copied = {});
/// The same if the copy may exist already: in that case it does nothing and returns 0. It looks for the copy after
/// locking the subfile. A segment that is there twice would make its step incomplete.
std::uint64_t copy_segment_once(const OpenedSegment& from, const SegmentPlan& plan);

}  // namespace octavo::store
