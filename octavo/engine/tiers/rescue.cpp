#include "octavo/engine/tiers/rescue.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/engine/tiers/rebuild.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/store/durable.hpp"
#include "octavo/store/read/scan.hpp"
#include "octavo/store/write/copy_segment.hpp"

namespace octavo::engine {

namespace {

using base::Error;
using base::Kind;
namespace fs = std::filesystem;

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

StepsInStore steps_in(const fs::path& path) {
  StepsInStore steps;
  if (!store::recognise(path)) return steps;
  const store::Scan scan = store::scan_store(path, store::Trust::mark);
  for (const store::StepFound& step : scan.steps) {
    StepInStore& there = steps[{step.flow, step.step, step.attempt}];
    there.order = step.order;
    // Only segment 0 was read of a step that the mark vouches for.
    if (step.totals) there.all = store::committed(scan, step.segments[0]).footer.segments;
    for (const store::SegmentPlace& place : step.segments)
      if (!step.totals) there.others.insert(store::committed(scan, place).footer.segment);
  }
  return steps;
}

// The number in "data.003".
int number_of(const fs::path& subfile) {
  const std::string text = subfile.extension().string();
  int number = 0;
  std::from_chars(text.data() + std::min<std::size_t>(1, text.size()), text.data() + text.size(), number);
  return number;
}

void drain_found(const LocalSegment& segment, const fs::path& store) {
  const auto opened = store::open_newest(segment.subfile);
  // A process of the earlier run may still be copying it.
  store::copy_segment_once(opened, store::plan_of_copy(opened, store, number_of(segment.subfile)));
}

std::string describe(const LocalSegment& segment) {
  return store::to_string(segment.name.flow) + " step " + std::to_string(segment.step) + " (" +
         segment.directory.string() + ")";
}

// The fate of each of this rank's segments, decided by rank 0, and the largest order of a step that goes to the store.
struct RescuePlan {
  std::vector<Fate> fates;
  std::uint64_t newest_order = 0;
};

// Steps of which segments were brought to the store, by flow and order. On rank 0.
using Arrived = std::map<std::pair<store::Flow, std::uint64_t>, LocalRow>;

// Steps that arrived before stay if they are in the store by now, or are on their way again.
void note_arrivals(const std::vector<LocalRow>& rows, const std::vector<Fate>& fates, const StepsInStore& stored,
                   Arrived& arrived) {
  std::erase_if(arrived, [&](const auto& entry) {
    const LocalRow& row = entry.second;
    const auto there = stored.find({row.name.flow, row.step, attempt_of(row.name)});
    return there == stored.end() || there->second.count() != row.segments;
  });
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (fates[i] == Fate::drain) arrived[{rows[i].name.flow, rows[i].name.order}] = rows[i];
}

// Collective.
RescuePlan decide(MPI_Comm comm, const std::vector<LocalSegment>& mine, const StepsInStore& stored, Arrived& arrived) {
  std::vector<LocalRow> rows;
  for (const LocalSegment& segment : mine)
    rows.push_back({segment.name, segment.step, segment.segments, !segment.subfile.empty()});
  const auto texts = ranks::gather_to_first(comm, base::packed(rows));
  RescuePlan verdict;
  std::vector<std::string> by_rank;
  ranks::agree(comm, [&] {
    std::vector<LocalRow> all;
    std::vector<std::size_t> ends;
    for (const std::string& text : texts) {
      rows = base::unpacked<std::vector<LocalRow>>(text);
      all.insert(all.end(), rows.begin(), rows.end());
      ends.push_back(all.size());
    }
    const std::vector<Fate> fates = judge(all, stored);
    note_arrivals(all, fates, stored, arrived);
    for (std::size_t r = 0, first = 0; r < ends.size(); first = ends[r++])
      by_rank.push_back(base::packed(std::vector<Fate>(fates.begin() + static_cast<std::ptrdiff_t>(first),
                                                       fates.begin() + static_cast<std::ptrdiff_t>(ends[r]))));
    for (const auto& [key, step] : stored) verdict.newest_order = std::max(verdict.newest_order, step.order);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (fates[i] == Fate::drain) verdict.newest_order = std::max(verdict.newest_order, all[i].name.order);
  });
  verdict.fates = base::unpacked<std::vector<Fate>>(ranks::scatter_from_first(comm, by_rank));
  MPI_Bcast(&verdict.newest_order, 1, MPI_UINT64_T, 0, comm);
  return verdict;
}

// A damaged copy becomes a note; every other error is thrown. `done`: segments that are in the store now.
void follow(const LocalSegment& segment, Fate fate, const fs::path& store, LocalDisk& disk, Rescue& out,
            std::vector<fs::path>& done) {
  if (fate == Fate::drain) try {
      drain_found(segment, store);
      ++out.drained;
      fate = Fate::stored;
    } catch (const Error& error) {
      if (error.kind() != Kind::corrupt) throw;
      disk.damaged.insert(segment.directory);
      disk.notes.push_back("damage: " + describe(segment) + " could not be drained: " + error.what());
    }
  (fate == Fate::stored ? done : out.leftovers).push_back(segment.directory);
  if (fate == Fate::incomplete)
    out.notes.push_back(describe(segment) + " is on a local disk, but other parts of it are on none that is here");
}

// Collective. One look at all disks. Returns whether it found damage that was not known.
bool look_and_drain(MPI_Comm comm, LocalDisk& disk, const fs::path& store, Rescue& out, std::vector<fs::path>& done,
                    Arrived& arrived) {
  StepsInStore stored;
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) == 0) stored = steps_in(store);
  });
  rebuild_lost(comm, disk, stored);
  const std::size_t damaged = disk.damaged.size();
  std::vector<LocalSegment> mine;
  ranks::agree(comm, [&] { mine = segments_on(disk); });
  const RescuePlan verdict = decide(comm, mine, stored, arrived);
  out.newest_order = verdict.newest_order;
  out.notes.clear();
  out.leftovers.assign(disk.damaged.begin(), disk.damaged.end());
  ranks::agree(comm, [&] {
    for (std::size_t i = 0; i < mine.size(); ++i) follow(mine[i], verdict.fates[i], store, disk, out, done);
  });
  std::int64_t found = disk.damaged.size() > damaged ? 1 : 0;
  ranks::largest_of_all(comm, {&found, 1});
  return found != 0;
}

}  // namespace

LocalTier local_tier(MPI_Comm comm, const fs::path& staging_directory, const fs::path& path, int ranks_per_node) {
  const ranks::OwnComm host = ranks::ranks_of_host(comm, ranks_per_node);
  const bool is_first = ranks::rank_in(host.get()) == 0;
  // The lowest rank of this host, and how many hosts have a lower one.
  std::array<int, 2> mine{ranks::rank_in(comm), 0};
  const int first = is_first ? 1 : 0;
  MPI_Exscan(&first, &mine[1], 1, MPI_INT, MPI_SUM, comm);
  if (mine[0] == 0) mine[1] = 0;
  MPI_Bcast(mine.data(), static_cast<int>(mine.size()), MPI_INT, 0, host.get());
  std::string name = host_name();
  if (ranks_per_node > 0) name += "." + std::to_string(mine[1]);
  const std::string absolute = ranks::from_first(comm, fs::absolute(path).string());
  return {local_root(staging_directory, absolute, name), is_first, mine[0]};
}

Rescue rescue(MPI_Comm comm, const LocalTier& tier, const fs::path& path) {
  Rescue out;
  LocalDisk disk;
  if (tier.first_of_host) disk.roots = {tier.root};
  std::vector<fs::path> done;
  Arrived arrived;
  bool sound = true;
  // Files of a step that are damaged may be made again from the others, so these stay until all is drained.
  while (look_and_drain(comm, disk, path, out, done, arrived)) sound = false;
  // All ranks have their segments there. The mark says so before a local copy goes.
  ranks::agree(comm, [&] {
    for (const auto& [key, row] : arrived) store::note_durable(path, key.first, key.second, row.step);
  });
  for (const fs::path& segment : done) {
    // Damage that turns up later may need these files for parity, so with damage they stay until the run has a
    // checkpoint of its own.
    if (sound)
      file::remove_all(segment);
    else
      out.leftovers.push_back(segment);
  }
  ranks::agree(comm, [&] {
    if (!tier.first_of_host) return;
    for (fs::path& parity : parity_paths(tier.root)) out.leftovers.push_back(std::move(parity));
  });
  MPI_Allreduce(MPI_IN_PLACE, &out.drained, 1, MPI_INT64_T, MPI_SUM, comm);
  out.notes.insert(out.notes.begin(), disk.notes.begin(), disk.notes.end());
  out.notes = base::gather(ranks::ranks_of(comm), std::move(out.notes));
  return out;
}

}  // namespace octavo::engine
