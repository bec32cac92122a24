#include "octavo/engine/tiers/rescue.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/store/read/scan.hpp"
#include "octavo/store/write/copy_segment.hpp"

namespace octavo::engine {

// Found by base::packed.
template <class Way>
void both(Way& way, LocalRow& row) {
  both(way, row.name.flow);
  both(way, row.name.order);
  both(way, row.name.base);
  both(way, row.name.run);
  both(way, row.name.segment);
  both(way, row.step);
  both(way, row.segments);
  both(way, row.committed);
}

namespace {

using base::Error;
using base::Kind;
namespace fs = std::filesystem;

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

// The rows of all hosts. Those of this host begin at `first`.
struct Rows {
  std::vector<LocalRow> all;
  std::size_t first = 0;
};

Rows gather(MPI_Comm comm, const std::vector<LocalSegment>& mine) {
  std::vector<LocalRow> rows;
  for (const LocalSegment& segment : mine)
    rows.push_back({segment.name, segment.step, segment.segments, !segment.subfile.empty()});
  const auto texts = ranks::ranks_of(comm).all_gather(base::packed(rows));
  Rows gathered;
  for (std::size_t r = 0; r < texts.size(); ++r) {
    if (static_cast<int>(r) == ranks::rank_in(comm)) gathered.first = gathered.all.size();
    rows = base::unpacked<std::vector<LocalRow>>(texts[r]);
    gathered.all.insert(gathered.all.end(), rows.begin(), rows.end());
  }
  return gathered;
}

std::vector<StoredRow> rows_of_store(const fs::path& path) {
  std::vector<StoredRow> rows;
  if (!store::recognise(path)) return rows;
  const store::Scan scan = store::scan_store(path);
  for (const store::StepFound& step : scan.steps)
    for (const store::SegmentPlace& place : step.segments)
      rows.push_back({step.flow, step.step, step.attempt, store::committed(scan, place).footer.segment, step.order});
  return rows;
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
  file::remove_all(segment.directory);
}

std::string describe(const LocalSegment& segment) {
  return store::to_string(segment.name.flow) + " step " + std::to_string(segment.step) + " (" +
         segment.directory.string() + ")";
}

// A damaged copy becomes a note; every other error is thrown.
void follow(const LocalSegment& segment, Fate fate, const fs::path& store, Rescue& out) {
  if (fate == Fate::stored) {
    file::remove_all(segment.directory);
  } else if (fate == Fate::drain) {
    try {
      drain_found(segment, store);
      ++out.drained;
    } catch (const Error& error) {
      if (error.kind() != Kind::corrupt) throw;
      out.notes.push_back("damage: " + describe(segment) + " could not be drained: " + error.what());
      out.leftovers.push_back(segment.directory);
    }
  } else {
    out.leftovers.push_back(segment.directory);
    if (fate == Fate::incomplete)
      out.notes.push_back(describe(segment) + " is on a local disk, but other parts of it are on none that is here");
  }
}

}  // namespace

LocalTier local_tier(MPI_Comm comm, const fs::path& staging_directory, const fs::path& path, int ranks_per_node) {
  const std::vector<int> hosts = ranks::hosts_of_ranks(comm, ranks_per_node);
  const int rank = ranks::rank_in(comm);
  const int mine = hosts[static_cast<std::size_t>(rank)];
  std::string host = host_name();
  if (ranks_per_node > 0) host += "." + std::to_string(std::set<int>(hosts.begin(), hosts.begin() + mine).size());
  const std::string absolute = ranks::from_first(comm, fs::absolute(path).string());
  return {local_root(staging_directory, absolute, host), rank == mine};
}

Rescue rescue(MPI_Comm comm, const LocalTier& tier, const fs::path& path) {
  std::vector<LocalSegment> mine;
  std::vector<StoredRow> stored;
  ranks::agree(comm, [&] {
    if (tier.first_of_host) mine = list_local(tier.root);
    if (ranks::rank_in(comm) == 0) stored = rows_of_store(path);
  });
  const Rows rows = gather(comm, mine);
  std::string fates;
  if (ranks::rank_in(comm) == 0)
    for (Fate fate : judge(rows.all, stored)) fates += static_cast<char>(fate);
  fates = ranks::from_first(comm, std::move(fates));
  Rescue out;
  for (const StoredRow& row : stored) out.newest_order = std::max(out.newest_order, row.order);
  ranks::agree(comm, [&] {
    for (std::size_t i = 0; i < mine.size(); ++i) follow(mine[i], static_cast<Fate>(fates[rows.first + i]), path, out);
  });
  for (std::size_t i = 0; i < rows.all.size(); ++i)
    if (static_cast<Fate>(fates[i]) == Fate::drain)
      out.newest_order = std::max(out.newest_order, rows.all[i].name.order);
  MPI_Bcast(&out.newest_order, 1, MPI_UINT64_T, 0, comm);
  MPI_Allreduce(MPI_IN_PLACE, &out.drained, 1, MPI_INT64_T, MPI_SUM, comm);
  out.notes = base::gather(ranks::ranks_of(comm), std::move(out.notes));
  return out;
}

}  // namespace octavo::engine
