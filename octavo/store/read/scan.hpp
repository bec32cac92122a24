#pragma once
#include "octavo/store/durable.hpp"
#include "octavo/store/subfile.hpp"

namespace octavo::store {

/// A segment that was found: `scan.subfiles[subfile].commits[commit]`.
struct SegmentPlace {
  std::size_t subfile = 0, commit = 0;
};

/// One attempt at a step.
struct StepFound {
  Flow flow = Flow::analysis;
  std::int64_t step = 0;
  Attempt attempt{};
  std::uint64_t order = 0;             ///< in the flow's history
  std::vector<SegmentPlace> segments;  ///< by segment number where complete
  bool complete = false;
  bool superseded = false;  ///< by a complete step that was committed later
  bool lost = false;        ///< it was durable, and is not complete
  /// Features of its segments that this Octavo does not know, each once: it cannot be opened. It counts like any other
  /// step all the same, so that no older one is taken in its place.
  std::vector<std::string> unknown;
};

/// A store as its heads and footers describe it. Nothing else has been read.
struct Scan {
  std::filesystem::path store;
  std::vector<Subfile> subfiles;
  std::array<DurableMark, 2> marks;  ///< by flow
  std::vector<StepFound> steps;      ///< by flow, then step, then order
  std::vector<Finding> damage;       ///< damaged and lost data
  std::vector<std::string> notes;    ///< interrupted and superseded attempts
};

/// The store that a path means: itself, or that of a subfile or marker in it.
std::filesystem::path store_of(const std::filesystem::path& path);
/// Throws Error(unsupported) if the first subfile found has another version of the format. Opens no other subfile.
void check_version(const std::filesystem::path& store);
/// Throws Error(unreadable) if there is no such directory, Error(corrupt) if it is no store, Error(unsupported) if a
/// subfile has another version of the format.
Scan scan_store(const std::filesystem::path& store);

inline const Committed& committed(const Scan& scan, const SegmentPlace& place) {
  return scan.subfiles[place.subfile].commits[place.commit];
}
inline bool listed(const StepFound& step) { return step.complete && !step.superseded; }
/// The finding as one line: "damage: ", "lost: " or "not supported: ", then where and what.
std::string note_of(const Finding& finding);
/// "analysis step 40".
std::string name_of(const StepFound& step);

/// Whether the name is "data." with three digits or more.
bool is_subfile_name(const std::string& name);
/// Whether the making of the subfile was interrupted: it has no head and nothing after it, so it never held anything.
bool was_being_made(const Subfile& subfile);
/// Whether the flow has a complete step or ever had a durable one. A flow without either has lost nothing, whatever is
/// in its files.
bool ever_had_steps(const Scan& scan, Flow flow);

/// The directories that a flow's subfiles may be in: its own, and those below it (docs/format.md, "Directory").
std::vector<std::filesystem::path> flow_directories(const std::filesystem::path& store, Flow flow);

/// "000000040", and "000/000/000000040", where no directory gets more than a thousand entries.
std::string step_directory(std::int64_t step);
std::filesystem::path fanned_out(std::int64_t step);
/// Directory of the subfiles of a step, and the file's name.
std::filesystem::path directory_of(const std::filesystem::path& store, Flow flow, std::int64_t step);
std::string subfile_name(int subfile);

/// The store's marker file: its name and all of its bytes.
extern const char* const marker_name;
extern const char* const marker_text;

}  // namespace octavo::store
