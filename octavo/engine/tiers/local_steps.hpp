#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "octavo/store/store.hpp"

/// Steps on a node-local disk. Each segment is a small store of its own, in a directory for this store and host, so
/// that a drained segment is simply removed.
///
///     STAGING_DIRECTORY/run.octavo-1a2b3c4d/HOST/checkpoint-000000000012-000000000004-<run>.003/
///
/// The name has flow, order, base and run of the writer, and the segment. It tells whether the segment belongs to the
/// history of the store, even if the process that wrote it was killed.
namespace octavo::engine {

/// Derives an attempt from the run's random value and the step's number in the run. Ranks agree on it without a
/// message, and any attempt of a run is recognised.
store::Attempt attempt_of(const store::Attempt& run, std::int64_t number);

/// The step and the run to which a local segment belongs.
struct LocalName {
  store::Flow flow = store::Flow::checkpoint;
  std::uint64_t order = 0;  ///< of the step in its flow: `base` + 1 + its number in the run
  std::uint64_t base = 0;   ///< the largest order of the store when the run began
  store::Attempt run{};
  int segment = 0;
  bool operator==(const LocalName&) const = default;
};
std::string to_text(const LocalName& name);
/// Nothing for any other file name.
std::optional<LocalName> parse_local_name(const std::string& text);
inline store::Attempt attempt_of(const LocalName& name) {
  return attempt_of(name.run, static_cast<std::int64_t>(name.order - name.base) - 1);
}

/// Where one host keeps its local segments of a store. `store` is absolute.
std::filesystem::path local_root(const std::filesystem::path& staging_directory, const std::filesystem::path& store,
                                 const std::string& host);

/// A segment that was found in a root.
struct LocalSegment {
  LocalName name;
  std::filesystem::path directory;
  std::filesystem::path subfile;  ///< empty: nothing is committed, its writer was interrupted
  std::int64_t step = 0;
  int segments = 1;
};
/// The local segments of a root, sorted by flow, order and segment. Empty if there is no such directory.
std::vector<LocalSegment> list_local(const std::filesystem::path& root);

/// A message between ranks about a local segment.
struct LocalRow {
  LocalName name;
  std::int64_t step = 0;
  int segments = 1;
  bool committed = false;
};
/// The segments of a step that are committed in the store itself.
struct StepInStore {
  std::uint64_t order = 0;  ///< 0 if segment 0 is missing
  int all = 0;              ///< a mark vouches for segments [0, all)
  std::set<int> others;     ///< that were read
  bool has(int segment) const { return (segment >= 0 && segment < all) || others.contains(segment); }
  int count() const { return all > 0 ? all : static_cast<int>(others.size()); }
};
using StepKey = std::tuple<store::Flow, std::int64_t, store::Attempt>;  // flow, step, attempt
using StepsInStore = std::map<StepKey, StepInStore>;
enum class Fate : std::uint8_t {
  stored,      ///< in the store already, or never committed: the local copy can be removed
  drain,       ///< its step is complete, counting the store and the hosts of this run
  incomplete,  ///< segments of its step are on hosts outside this run, or were never written
  abandoned    ///< the store has gone on without it: another run wrote later steps
};
/// Decides the fate of each local segment, given those of all hosts. Pure. The work grows with the local segments, and
/// with the stored steps once a run that has left local ones.
std::vector<Fate> judge(std::span<const LocalRow> local, const StepsInStore& stored);

}  // namespace octavo::engine
