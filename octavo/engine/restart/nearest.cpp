#include "octavo/engine/restart/nearest.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>

#include "octavo/base/pack.hpp"
#include "octavo/engine/restart/failed_restarts.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/store/durable.hpp"
#include "octavo/store/read/described.hpp"
#include "octavo/store/read/index.hpp"
#include "octavo/store/subfile.hpp"
#include "octavo/store/write/copy_segment.hpp"

/// A restart on the same nodes and the same number of ranks needs nothing from the store but a look at its index: each
/// rank reads the part that it wrote, from its own node's disk. It costs a listing of each node's directory, a gather
/// of the names on rank 0, and one broadcast.
namespace octavo::engine {
namespace {

namespace fs = std::filesystem;

using Orders = std::map<std::uint64_t, store::StepId>;

// Adds the steps whose segment 0 is in this directory. A file that cannot be read has none: a step is not newer if it
// is damaged.
void add_steps_in(const fs::path& directory, Orders& known) {
  std::error_code ignored;
  const fs::path first = directory / store::subfile_name(0);
  if (!fs::exists(first, ignored)) return;
  for (const store::Committed& commit : store::read_subfile(first).commits)
    known[commit.footer.order] = {commit.footer.step, commit.footer.attempt};
}

// The steps of the store: from its index, and from the first subfiles of the directories that the index does not know.
Orders orders_in(const fs::path& store, store::Flow flow) {
  Orders known;
  std::set<fs::path> directories;
  for (const store::IndexedStep& step : store::read_index(store, flow).steps) {
    const store::Footer footer = store::parse_footer(step.footer, step.at);
    known[footer.order] = {footer.step, footer.attempt};
    directories.insert((store / step.file).parent_path());
  }
  for (const fs::path& directory : store::flow_directories(store, flow))
    if (!directories.contains(directory)) add_steps_in(directory, known);
  return known;
}

// Whether the store has no step newer than the local one, and none of another run that went on without it. If the mark
// lists a step that we cannot find, its run is not known, and the answer is no.
bool is_newest(const fs::path& store, const LocalName& name) {
  std::error_code ignored;
  if (!fs::exists(store, ignored)) return true;
  const store::DurableMark mark = store::read_mark(store, name.flow);
  const Orders known = orders_in(store, name.flow);
  if (mark.is_damaged) return false;
  for (const store::OrderRange& range : mark.orders)
    for (std::uint64_t order = std::max(range.first, name.base + 1); order <= range.last; ++order)
      if (!known.contains(order)) return false;
  return std::all_of(known.upper_bound(name.base), known.end(), [&](const auto& later) {
    // The n-th step of a run, from 0, has order base + n + 1 (StoreSteps::identify) and the attempt that follows from
    // run and n.
    const auto& [order, id] = later;
    return order <= name.order && id.attempt == attempt_of(name.run, static_cast<std::int64_t>(order - name.base) - 1);
  });
}

// On rank 0. The newest step of which the local disks have all segments, if it may be taken from there.
std::optional<LocalRow> newest_complete(std::vector<LocalRow> rows, const fs::path& store,
                                        const RestartOptions& options) {
  std::erase_if(rows, [&](const LocalRow& row) { return row.name.flow != options.flow || !row.committed; });
  struct FoundStep {
    LocalRow row;  // one of them
    std::set<int> segments;
  };
  std::map<std::pair<std::uint64_t, store::Attempt>, FoundStep> found;  // by order
  for (const LocalRow& row : rows) {
    FoundStep& step = found[{row.name.order, attempt_of(row.name)}];
    step.row = row;
    step.segments.insert(row.name.segment);
  }
  for (auto step = found.rbegin(); step != found.rend(); ++step) {
    const auto& [row, segments] = step->second;
    if (std::ssize(segments) != row.segments) continue;
    if (options.step && row.step != *options.step) continue;
    const store::StepId id{row.step, step->first.second};
    if (options.remember_failed && !options.step && restart_failed_before(store, options.flow, id)) continue;
    return is_newest(store, row.name) ? std::optional(row) : std::nullopt;
  }
  return {};
}

// Collective. The step that all ranks take; nothing if there is none.
std::optional<LocalRow> choose_local(MPI_Comm comm, const std::vector<LocalSegment>& mine, const fs::path& store,
                                     const RestartOptions& options) {
  std::vector<LocalRow> rows;
  for (const LocalSegment& segment : mine)
    rows.push_back({segment.name, segment.step, segment.segments, !segment.subfile.empty()});
  const auto texts = ranks::gather_to_first(comm, base::packed(rows));
  std::vector<LocalRow> chosen;
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) != 0) return;
    rows = {};
    for (const std::string& text : texts) {
      const auto some = base::unpacked<std::vector<LocalRow>>(text);
      rows.insert(rows.end(), some.begin(), some.end());
    }
    if (const auto newest = newest_complete(std::move(rows), store, options)) chosen.push_back(*newest);
  });
  chosen = base::unpacked<std::vector<LocalRow>>(ranks::from_first(comm, base::packed(chosen)));
  return chosen.empty() ? std::nullopt : std::optional(chosen[0]);
}

// A part on the disk of this rank's node.
struct HeldPart {
  int index = 0;
  std::string file;
  store::Extent footer{};
  int row = 0, rows = 0;  // its place in the segment's table, and how many parts that has
};

template <class Way>
void both(Way& way, HeldPart& part) {
  using base::both;
  both(way, part.index, part.file, part.footer, part.row, part.rows);
}

// Collective. The parts of the step on this node's disk, on all its ranks. A node's first rank knows its `segments`.
std::vector<HeldPart> parts_on_node(MPI_Comm comm, const std::vector<LocalSegment>& segments, const LocalRow& chosen,
                                    int ranks_per_node) {
  std::vector<HeldPart> parts;
  ranks::agree(comm, [&] {
    for (const LocalSegment& segment : segments) {
      if (segment.subfile.empty() || segment.name.order != chosen.name.order ||
          attempt_of(segment.name) != attempt_of(chosen.name))
        continue;
      const store::OpenedSegment opened = store::open_newest(segment.subfile);
      if (opened.footer.mesh == store::triangle_mesh) continue;  // no rank reads a whole part of these
      const int rows = static_cast<int>(opened.table.parts.size());
      for (int row = 0; row < rows; ++row)
        parts.push_back(
            {opened.table.parts[static_cast<std::size_t>(row)].index, opened.path.string(), opened.at, row, rows});
    }
  });
  const ranks::OwnComm node = ranks::ranks_of_host(comm, ranks_per_node);
  return base::unpacked<std::vector<HeldPart>>(ranks::from_first(node.get(), base::packed(parts)));
}

}  // namespace

std::optional<StepParts> nearest_step(MPI_Comm comm, const LocalTier& tier, const fs::path& store,
                                      const RestartOptions& options) {
  std::vector<LocalSegment> segments;
  ranks::agree(comm, [&] {
    if (tier.first_of_host) segments = list_local(tier.root);
  });
  const std::optional<LocalRow> chosen = choose_local(comm, segments, store, options);
  if (!chosen) return {};
  const int ranks = ranks::size_of(comm), rank = ranks::rank_in(comm);
  const std::vector<HeldPart> parts = parts_on_node(comm, segments, *chosen, options.ranks_per_node);
  int all = tier.first_of_host ? static_cast<int>(parts.size()) : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, comm);
  const auto own = std::find_if(parts.begin(), parts.end(), [&](const HeldPart& part) { return part.index == rank; });
  if (ranks::lowest_where(comm, own == parts.end() || all != ranks) < ranks) return {};
  StoredStep step;
  step.store = store;
  step.found.flow = chosen->name.flow;
  step.found.step = chosen->step;
  step.found.attempt = attempt_of(chosen->name);
  step.found.order = chosen->name.order;
  step.found.complete = true;
  step.parts = ranks;
  ranks::agree(comm, [&] {
    const SegmentRef segment{own->file, rank - own->row, own->rows, own->footer};
    step.known.emplace(segment.first, segment);
    store::OpenedSegment opened = store::open_segment(*step.handles->get(segment.file), segment.footer);
    step.head = store::with_rows(opened.table, {});
    drop_lists_of_parts(step.head.header);
    store::drop_long_lists(opened.table.header);
    opened.table = store::with_rows(opened.table, {static_cast<std::size_t>(own->row)});
    step.opened.emplace(rank,
                        std::pair(std::make_shared<const store::OpenedSegment>(std::move(opened)), std::size_t{0}));
  });
  // Rank 0 has part 0, and so segment 0, which alone has the long lists.
  auto& attributes = step.head.header.attributes;
  attributes = base::unpacked<std::decay_t<decltype(attributes)>>(ranks::from_first(comm, base::packed(attributes)));
  return opened_step(std::move(step));
}

}  // namespace octavo::engine
