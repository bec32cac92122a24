#include "octavo/engine/write/whole_index.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "octavo/base/checksum.hpp"
#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/pack.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/store/durable.hpp"
#include "octavo/store/read/index.hpp"
#include "octavo/store/read/opened.hpp"
#include "octavo/store/read/scan.hpp"

namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
using store::Flow;

// Steps of which all ranks are told at once, so that no rank has a list of all.
constexpr std::size_t batch = 8;

// A step without a line, as rank 0 tells all ranks of it.
struct MissingLine {
  std::string directory;
  std::int64_t step = 0;
  store::Attempt attempt{};
  int segments = 0;
};

template <class Way>
void both(Way& way, MissingLine& missing) {
  using base::both;
  both(way, missing.directory, missing.step, missing.attempt, missing.segments);
}

// Rank 0's knowledge of a flow's index.
struct Known {
  std::vector<store::IndexedStep> lines;  // of steps that the mark lists
  bool is_whole = true;                   // nothing is to be written
};

bool has_all(const store::DurableMark& mark, const std::set<std::uint64_t>& orders) {
  std::uint64_t listed = 0;
  for (const store::OrderRange& range : mark.orders) listed += range.last - range.first + 1;
  return orders.size() == listed;
}

// For each step that the mark lists and `orders` lacks: where it is, and its line without the sums over all segments.
void look_for_missing(const fs::path& path, Flow flow, const std::set<std::uint64_t>& orders,
                      std::vector<MissingLine>& missing, std::vector<store::IndexedStep>& added) {
  const store::Scan scan = store::scan_store(path, store::Trust::mark, flow);
  for (const store::StepFound& step : scan.steps) {
    if (!step.complete || orders.contains(step.order)) continue;
    if (!store::contains(scan.marks[static_cast<std::size_t>(flow)], step.order)) continue;
    const store::SegmentPlace& first = step.segments[0];
    const store::Committed& commit = store::committed(scan, first);
    const fs::path file = scan.subfiles[first.subfile].path.lexically_relative(scan.store);
    store::IndexedStep line{file.generic_string(), commit.at, to_bytes(commit.footer), {}};
    // Another version may have written a footer that this one does not write in the same bytes.
    if (base::checksum(line.footer) != commit.at.checksum) continue;
    if (file.filename() != store::subfile_name(0)) continue;
    missing.push_back({file.parent_path().generic_string(), step.step, step.attempt, commit.footer.segments});
    added.push_back(std::move(line));
  }
}

Known look(const fs::path& path, Flow flow, std::vector<MissingLine>& missing, std::vector<store::IndexedStep>& added) {
  Known known;
  const store::DurableMark mark = store::read_mark(path, flow);
  if (!mark.is_there || !mark.is_whole) return known;
  store::Index index = store::read_index(path, flow);
  const std::size_t lines = index.steps.size();
  known.lines = store::listed_by(mark, std::move(index.steps));
  std::set<std::uint64_t> orders;
  for (const store::IndexedStep& line : known.lines) orders.insert(store::parse_footer(line.footer, line.at).order);
  known.is_whole = (index.is_whole || lines == 0) && lines == known.lines.size();
  const std::size_t before = missing.size();
  if (!has_all(mark, orders)) look_for_missing(path, flow, orders, missing, added);
  known.is_whole = known.is_whole && missing.size() == before;
  return known;
}

// Parts and bytes of this rank's share of the step's segments. A third number counts the segments that cannot be read.
std::array<std::int64_t, 3> sums_of(const fs::path& store, const MissingLine& step, int rank, int ranks) {
  std::array<std::int64_t, 3> sums{};
  const auto [first, last] = base::share(step.segments, rank, ranks);
  for (std::int64_t segment = first; segment < last; ++segment) try {
      const fs::path file = store / step.directory / store::subfile_name(static_cast<int>(segment));
      const store::Committed commit = store::find_commit(file, {step.step, step.attempt});
      sums[0] += commit.footer.parts;
      sums[1] += static_cast<std::int64_t>(store::segment_bytes(commit.footer, commit.at));
    } catch (const base::Error&) {
      // We count the file in place of an error: a rank that threw would leave the others in the reduction.
      ++sums[2];
    }
  return sums;
}

// Collective. Adds the sums over all segments to the lines of both flows, and drops the lines of steps that lack one.
void add_sums(MPI_Comm comm, const fs::path& path, std::vector<MissingLine> missing,
              std::vector<store::IndexedStep>& lines) {
  const int rank = ranks::rank_in(comm), ranks = ranks::size_of(comm);
  std::vector<store::IndexedStep> whole;
  std::size_t told = batch;
  for (std::size_t at = 0; told == batch; at += batch) {
    std::vector<MissingLine> some;
    for (std::size_t i = at; i < std::min(at + batch, missing.size()); ++i) some.push_back(missing[i]);
    some = base::unpacked<std::vector<MissingLine>>(ranks::from_first(comm, base::packed(some)));
    told = some.size();
    if (told == 0) break;
    std::vector<std::int64_t> mine, all(3 * told);
    for (const MissingLine& step : some)
      for (const std::int64_t sum : sums_of(path, step, rank, ranks)) mine.push_back(sum);
    MPI_Reduce(mine.data(), all.data(), static_cast<int>(all.size()), MPI_INT64_T, MPI_SUM, 0, comm);
    for (std::size_t i = 0; rank == 0 && i < told; ++i) {
      if (all[3 * i + 2] != 0) continue;
      lines[at + i].totals = {all[3 * i], static_cast<std::uint64_t>(all[3 * i + 1])};
      whole.push_back(std::move(lines[at + i]));
    }
  }
  lines = std::move(whole);
}

}  // namespace

void complete_indexes(MPI_Comm comm, const fs::path& path) {
  std::array<Known, 2> known;
  std::vector<MissingLine> missing;
  std::vector<store::IndexedStep> added;
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) == 0) try {
        for (Flow flow : {Flow::checkpoint, Flow::analysis})
          known[static_cast<std::size_t>(flow)] = look(path, flow, missing, added);
      } catch (const base::Error&) {  // the next function that needs the store reports the error
        missing.clear();
      }
  });
  add_sums(comm, path, std::move(missing), added);
  for (store::IndexedStep& line : added) {
    const Flow flow = store::parse_footer(line.footer, line.at).flow;
    known[static_cast<std::size_t>(flow)].lines.push_back(std::move(line));
  }
  // Elsewhere than on rank 0 nothing is known of the indexes, and is_whole is true.
  for (Flow flow : {Flow::checkpoint, Flow::analysis}) try {
      const Known& here = known[static_cast<std::size_t>(flow)];
      if (!here.is_whole) store::write_index(path, flow, here.lines);
    } catch (const base::Error&) {  // never the truth, and never in the way
    }
}

}  // namespace octavo::engine
