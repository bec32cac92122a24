#pragma once
#include "octavo/store/durable.hpp"
#include "octavo/store/subfile.hpp"

namespace octavo::store {

/// A segment that was found: `scan.subfiles[subfile].commits[commit]`.
struct SegmentPlace {
  std::size_t subfile = 0, commit = 0;
};

/// Sums over all segments of a step.
struct StepTotals {
  std::int64_t parts = 0;
  std::uint64_t bytes = 0;  ///< on disk
  bool operator==(const StepTotals&) const = default;
};

/// One attempt at a step.
struct StepFound {
  Flow flow = Flow::analysis;
  std::int64_t step = 0;
  Attempt attempt{};
  std::uint64_t order = 0;             ///< in the flow's history
  std::vector<SegmentPlace> segments;  ///< by segment number if complete
  bool complete = false;
  bool superseded = false;  ///< by a complete step that was committed later
  bool lost = false;        ///< it was durable, and is not complete
  /// Features of its segments that this Octavo does not know, each once. Unless this is empty, the step cannot be
  /// opened. It still counts as a step, so that no older one is taken instead.
  std::vector<std::string> unknown;
  /// With Trust::index and Trust::mark: nobody has looked at segments other than segment 0, and `segments` has that one
  /// alone.
  std::optional<StepTotals> totals{};
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

/// The store that a path names: the path itself, or the store that holds this subfile or marker.
std::filesystem::path store_of(const std::filesystem::path& path);
/// Throws Error(unsupported) if the first subfile found has another version of the format. Opens no other subfile.
void check_version(const std::filesystem::path& store);
/// Whether a scan may trust the mark that a step is complete. It then opens the file of segment 0 and looks for the
/// names of the other files, whose damage it does not see.
enum class Trust : std::uint8_t {
  nothing,
  index,  ///< if segment 0 is also that of the index, which knows the totals
  mark    ///< in any case; totals that the index does not know are 0
};

/// Scans a store. Throws Error(unreadable) if there is no such directory, Error(corrupt) if it is not a store,
/// Error(unsupported) if a subfile has another version of the format. `only`: nothing of the other flow is read.
Scan scan_store(const std::filesystem::path& store, Trust trust = Trust::nothing, std::optional<Flow> only = {});

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
/// Whether the flow has a complete step or ever had a durable one. Otherwise the flow has lost nothing, whatever its
/// files contain.
bool ever_had_steps(const Scan& scan, Flow flow);

/// The directories that may hold a flow's subfiles: its own, and those below it (docs/format.md, "Directory").
std::vector<std::filesystem::path> flow_directories(const std::filesystem::path& store, Flow flow);

/// step_directory() gives "000000040"; fanned_out() gives "000/000/000000040", in which no directory has more than a
/// thousand entries.
std::string step_directory(std::int64_t step);
std::filesystem::path fanned_out(std::int64_t step);
/// The directory of a step's subfiles.
std::filesystem::path directory_of(const std::filesystem::path& store, Flow flow, std::int64_t step);
std::string subfile_name(int subfile);

/// The store's marker file: its name and all of its bytes.
extern const char* const marker_name;
extern const char* const marker_text;

}  // namespace octavo::store
