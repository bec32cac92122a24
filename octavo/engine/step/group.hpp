#pragma once
#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "octavo/store/store.hpp"
#include "octavo/store/subfile.hpp"

namespace octavo::engine {

/// The outcome of writing a segment.
struct WrittenSegment {
  std::uint64_t bytes = 0;                    ///< size of this rank's part on disk
  std::uint64_t order = 0;                    ///< the step's order, on the rank that wrote segment 0; elsewhere 0
  std::optional<store::Committed> segment{};  ///< on the rank that committed the segment, if it was synced
  bool went_round = false;                    ///< on the rank that commits: the segment took the detour
  double seconds_encoding = 0;
};

/// The way of a segment whose disk is full. All ranks that share the file have it, or none.
struct Detour {
  store::SegmentPlan plan;
  std::function<void()> before;  ///< called first: earlier segments may be on their way to the same file
};

/// The ranks of one host that share a subfile. Each writes its own range of it. The first rank, the writer, gives out
/// the ranges, and writes table, footer and commit record when all are done. They talk through a local socket, so that
/// only the main thread needs MPI and the end of a process is noticed. One thread of each rank makes all calls but
/// join(), in the same order of steps.
class Group {
 public:
  /// Collective over `comm`, ranks of one host. `name` is this rank's number in messages; negative: its rank in `comm`.
  /// Throws the same Error on all ranks.
  static Group join(MPI_Comm comm, int name = -1);
  Group();
  ~Group();
  Group(Group&&) noexcept;
  Group& operator=(Group&&) noexcept;

  /// Writes and commits one segment from the parts of all ranks of the group, in the order of ranks. `encode` gives
  /// this rank's part, or nothing if it has none; `written` is called when its streams are in the file. If any rank
  /// fails, all ranks of the group throw its error, and the segment is not committed. If the plan's disk turns out to
  /// be full, for any of the ranks and as late as in the commit, all of them write once more, on the detour, if there
  /// is one; `written` is then called after the commit. No MPI.
  WrittenSegment write_segment(const store::SegmentPlan& plan, const mesh::Header& header,
                               const std::function<std::optional<store::EncodedPart>()>& encode,
                               const std::function<void()>& written = {}, const Detour* detour = nullptr);
  int size() const noexcept;

  /// Syncs the data that this rank has written by plans without sync. If that fails, all of it is uncommitted again. Do
  /// not call this while write_segment() runs.
  void sync_written();
  /// From now on write-back begins while streams are written, and pages of synced subfiles leave the page cache.
  void drop_pages(bool drop) noexcept;
  /// Whether direct I/O was asked for and the file system has none. Thread-safe.
  bool direct_io_refused() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The table's entry of a part, as bytes, between processes of one host and version; exposed for tests.
std::vector<std::byte> to_message(const store::EncodedPart& part);
/// Throws Error(corrupt) where the bytes are not a whole part.
store::EncodedPart part_of_message(std::span<const std::byte> bytes);

}  // namespace octavo::engine
