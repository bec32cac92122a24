#pragma once
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
};

/// A store as its heads and footers describe it. Nothing else has been read.
struct Scan {
  std::filesystem::path store;
  std::vector<Subfile> subfiles;
  std::vector<StepFound> steps;  ///< by flow, then step, then order
  std::vector<Finding> damage;
  std::vector<std::string> notes;  ///< interrupted and superseded attempts
};

/// The store that a path means: itself, or that of a subfile or marker in it.
std::filesystem::path store_of(const std::filesystem::path& path);
/// Throws Error(unreadable) where there is no such directory, Error(corrupt) where it is no store.
Scan scan_store(const std::filesystem::path& store);

inline const Committed& committed(const Scan& scan, const SegmentPlace& place) {
  return scan.subfiles[place.subfile].commits[place.commit];
}
inline bool listed(const StepFound& step) { return step.complete && !step.superseded; }
/// "analysis step 40".
std::string name_of(const StepFound& step);

/// The directories that a flow's subfiles may be in: its own, and those in it.
std::vector<std::filesystem::path> flow_directories(const std::filesystem::path& store, Flow flow);

/// Directory of the subfiles of a step, and the file's name.
std::filesystem::path directory_of(const std::filesystem::path& store, Flow flow, std::int64_t step);
std::string subfile_name(int subfile);

/// The store's marker file: its name and all of its bytes.
extern const char* const marker_name;
extern const char* const marker_text;

}  // namespace octavo::store
