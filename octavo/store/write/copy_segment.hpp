#pragma once
#include "octavo/store/read/opened.hpp"

namespace octavo::store {

/// The newest segment that is committed in a subfile, with its table. Throws Error(corrupt) where there is none.
OpenedSegment open_newest(const std::filesystem::path& subfile);

/// A part as it was encoded: the inverse of what a SegmentWriter makes of it. Each stream is compared with its
/// checksum; one that has only that of its values (raw ones have) gets one of its stored bytes. Throws Error(corrupt),
/// naming part and stream. `segment` needs its path, for errors only.
EncodedPart encoded_part(const OpenedSegment& segment, std::size_t row, const Fetch& fetch);

/// Who the segment is, for a copy of it in `store`: step, attempt and place are the same.
SegmentPlan plan_of_copy(const OpenedSegment& from, const std::filesystem::path& store, int subfile);

/// Writes a segment again as `plan` says, and commits it: the bytes of its streams as they are, each compared with its
/// stored checksum on the way; one part at a time is in memory. Throws Error(corrupt) with the place of damage in the
/// original; nothing is committed then. Returns the bytes written.
std::uint64_t copy_segment(const OpenedSegment& from, const SegmentPlan& plan);
/// The same where the segment may be there already: looks for it once nobody else can write to the subfile, and then
/// does nothing and returns 0. A segment that is there twice would make its step incomplete.
std::uint64_t copy_segment_once(const OpenedSegment& from, const SegmentPlan& plan);

}  // namespace octavo::store
