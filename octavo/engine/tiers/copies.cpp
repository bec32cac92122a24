#include "octavo/engine/tiers/copies.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "octavo/engine/tiers/local_steps.hpp"
#include "octavo/engine/tiers/parity_file.hpp"

namespace octavo::engine {
namespace {

namespace fs = std::filesystem;

// The files of one lane of a group.
struct LaneFiles {
  std::set<int> members;  // those that have their parity file
  std::vector<ProtectedFile> all;
};

struct FoundCopies {
  std::int64_t step = 0;
  int segments = 1;
  std::set<int> local;
  std::map<std::tuple<Safety, int, int>, LaneFiles> lanes;  // by scheme, group and lane
};
using FoundSteps = std::map<std::tuple<store::Flow, std::uint64_t, store::Attempt>, FoundCopies>;

FoundCopies& found_of(FoundSteps& all, const LocalName& name, std::int64_t step, int segments) {
  FoundCopies& found = all[{name.flow, name.order, attempt_of(name)}];
  found.step = step;
  found.segments = segments;
  return found;
}

void look_at_node(const fs::path& root, FoundSteps& all, std::vector<std::string>& notes) {
  for (const LocalSegment& segment : list_local(root)) {
    if (segment.subfile.empty()) continue;  // its writer was interrupted
    found_of(all, segment.name, segment.step, segment.segments).local.insert(segment.name.segment);
  }
  for (const ParityFile& parity : list_parity(root, notes)) {
    const ParityHeader& header = parity.header;
    LaneFiles& lane = found_of(all, header.name, header.step, header.segments)
                          .lanes[{header.safety, header.group, header.name.segment}];
    lane.members.insert(header.member);
    lane.all = header.members;
  }
}

StepCopies copies_of(const FoundCopies& found) {
  StepCopies copies;
  copies.step = found.step;
  copies.segments = found.segments;
  const auto count = [&](Safety safety) -> std::optional<int>& {
    return copies.there[static_cast<std::size_t>(safety)];
  };
  if (!found.local.empty()) count(Safety::local) = static_cast<int>(found.local.size());
  for (const auto& [key, lane] : found.lanes) {
    std::optional<int>& covered = count(std::get<Safety>(key));
    if (!covered) covered = 0;
    // A lane without one of its parity files may still help, but it does not survive what its scheme promises.
    if (lane.members.size() != lane.all.size()) continue;
    covered = *covered + static_cast<int>(std::count_if(lane.all.begin(), lane.all.end(),
                                                        [](const ProtectedFile& file) { return file.segment >= 0; }));
  }
  return copies;
}

}  // namespace

std::vector<StepCopies> list_copies(const fs::path& staging_directory, const fs::path& store,
                                    std::vector<std::string>& notes) {
  FoundSteps all;
  std::error_code ignored;
  const fs::path nodes = local_root(staging_directory, fs::absolute(store), "node").parent_path();
  for (fs::directory_iterator it(nodes, ignored), end; !ignored && it != end; it.increment(ignored))
    look_at_node(it->path(), all, notes);
  std::vector<StepCopies> steps;
  for (const auto& [key, found] : all) {
    steps.push_back(copies_of(found));
    std::tie(steps.back().flow, steps.back().order, steps.back().attempt) = key;
  }
  return steps;
}

}  // namespace octavo::engine
