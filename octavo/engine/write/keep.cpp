#include "octavo/engine/write/keep.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/store/read/index.hpp"

namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
using store::Flow;

constexpr auto checkpoint = static_cast<std::size_t>(Flow::checkpoint);

// The result of scanning a directory of checkpoints.
struct Found {
  bool damaged = false;     // or it holds something other than subfiles
  bool incomplete = false;  // segments of steps that lack others
  bool lost = false;        // those of one that was durable
  std::vector<KeptStep> listed;
};

std::string name_in(const fs::path& directory, const fs::path& store) {
  return directory.lexically_relative(store).generic_string();
}

// One entry for each directory, including those without any subfile.
std::map<std::string, Found> look_at(const store::Scan& scan) {
  std::map<std::string, Found> found;
  for (const fs::path& directory : store::flow_directories(scan.store, Flow::checkpoint)) {
    Found& here = found[name_in(directory, scan.store)];
    std::error_code error;
    for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error))
      here.damaged = here.damaged || !store::is_subfile_name(it->path().filename().string());
    here.damaged = here.damaged || error;
  }
  const auto directory_of = [&](std::size_t subfile) {
    return name_in(scan.subfiles[subfile].path.parent_path(), scan.store);
  };
  for (std::size_t s = 0; s < scan.subfiles.size(); ++s)
    if (!scan.subfiles[s].damage.empty() && !scan.subfiles[s].was_being_made) found[directory_of(s)].damaged = true;
  for (const store::StepFound& step : scan.steps) {
    if (step.flow != Flow::checkpoint) continue;
    const std::string first = directory_of(step.segments[0].subfile);
    if (store::listed(step)) found[first].listed.push_back({{step.step, step.attempt}, step.order, first});
    for (const store::SegmentPlace& place : step.segments) {
      Found& here = found[directory_of(place.subfile)];
      here.incomplete = here.incomplete || !step.complete;
      here.lost = here.lost || step.lost;
      // The step's segments are in several directories: we touch none of them.
      if (step.complete && directory_of(place.subfile) != first) here.damaged = true;
    }
  }
  return found;
}

bool by_order(const KeptStep& a, const KeptStep& b) { return a.order < b.order; }

}  // namespace

Keeper::Keeper(const fs::path& store, const Options& options, const std::optional<store::StepId>& resumed_from)
    : store_(store), options_(options) {
  for (Flow flow : {Flow::checkpoint, Flow::analysis})
    marks_[static_cast<std::size_t>(flow)] = store::read_mark(store_, flow);
  if (options_.keep_last == 0) return;
  store::Scan scan;
  try {
    scan = store::scan_store(store_);
  } catch (const base::Error& error) {  // the first step reports the error
    if (error.kind() == base::Kind::unsupported) throw;
    return;
  }
  for (auto& [directory, found] : look_at(scan)) {
    for (const KeptStep& step : found.listed) kept_.push_back(step);
    directories_.insert(directory);
    if (!found.listed.empty() || found.damaged || !is_removable(directory)) continue;
    if (found.lost || (found.incomplete && options_.incomplete_may_be_completed)) {
      leftovers_.push_back(directory);
    } else {
      file::remove_all(store_ / directory);
      directories_.erase(directory);
    }
  }
  std::sort(kept_.begin(), kept_.end(), by_order);
  for (const KeptStep& step : kept_)
    if (resumed_from && step.id.step > resumed_from->step) abandoned_.push_back(step.id);
  remove_too_many(resumed_from);
}

// A killed run may have committed one more checkpoint than it had reported. The checkpoint that the new run continues
// from stays; abandoned ones stay until a newer one exists.
void Keeper::remove_too_many(const std::optional<store::StepId>& resumed_from) {
  std::vector<std::string> removed;
  for (const KeptStep& step : std::vector(kept_)) {
    if (kept_.size() <= static_cast<std::size_t>(options_.keep_last)) break;
    if (step.id == resumed_from || is_abandoned(step) || !is_removable(step.directory)) continue;
    forget(step);
    removed.push_back(step.directory);
    directories_.erase(step.directory);
  }
  if (!removed.empty()) chore(Flow::checkpoint, std::move(removed))();
}

bool Keeper::is_abandoned(const KeptStep& step) const {
  return std::find(abandoned_.begin(), abandoned_.end(), step.id) != abandoned_.end();
}

// Slots stay. Files in the flow's own directory stay, because all its steps share them.
bool Keeper::is_removable(const std::string& directory) const {
  if (directory == store::to_string(Flow::checkpoint)) return false;
  return !options_.recycle || directory.find("/slot.") == std::string::npos;
}

// With the oldest step we also drop marks below it: of steps that were lost earlier, or that are on a branch abandoned
// earlier.
void Keeper::forget(const KeptStep& step) {
  const bool is_oldest = !kept_.empty() && kept_.front().order == step.order;
  (is_oldest ? store::drop_up_to : store::drop)(marks_[checkpoint], step.order);
  gone_ += std::erase_if(kept_, [&](const KeptStep& other) { return other.order == step.order; });
}

// We write the mark before removing files, because a step that the mark lists but that is missing counts as lost.
Chore Keeper::chore(Flow flow, std::vector<std::string> removed) {
  return [store = store_, flow, mark = marks_[static_cast<std::size_t>(flow)], sync = options_.sync,
          removed = std::move(removed), files = mark_files_] {
    file::File& file = (*files)[static_cast<std::size_t>(flow)];
    try {
      store::write_mark(file, store, flow, mark, sync);
    } catch (const base::Error&) {  // not the step's fault: the next step tries again
      file = {};
    }
    for (const std::string& directory : removed) file::remove_all(store / directory);
  };
}

Chore Keeper::durable(Flow flow, const KeptStep& step) {
  store::add(marks_[static_cast<std::size_t>(flow)], step.order, step.id.step);
  if (flow != Flow::checkpoint || options_.keep_last == 0) return chore(flow, {});
  std::vector<std::string> removed = std::exchange(leftovers_, {});
  const auto remove = [&](const KeptStep& gone) {
    if (is_removable(gone.directory) && gone.directory != step.directory) removed.push_back(gone.directory);
    forget(gone);
  };
  const auto is_superseded = [&](const KeptStep& other) {
    return other.id.step == step.id.step || other.directory == step.directory || is_abandoned(other);
  };
  for (const KeptStep& other : std::vector(kept_))
    if (is_superseded(other)) remove(other);
  abandoned_.clear();
  kept_.push_back(step);
  while (kept_.size() > static_cast<std::size_t>(options_.keep_last)) remove(KeptStep(kept_.front()));
  // A directory that also holds a step we keep must stay.
  std::erase_if(removed, [&](const std::string& directory) {
    return std::any_of(kept_.begin(), kept_.end(), [&](const KeptStep& kept) { return kept.directory == directory; });
  });
  return chore(flow, std::move(removed));
}

// A flow without a durable step has no mark, and a step that failed makes none.
Chore Keeper::failed(Flow flow, const KeptStep& step) {
  store::DurableMark& mark = marks_[static_cast<std::size_t>(flow)];
  std::vector<std::string> removed;
  if (flow == Flow::checkpoint && options_.keep_last > 0 && is_removable(step.directory))
    removed.push_back(step.directory);
  const bool is_new = step.order > mark.known;
  store::note_failed(mark, step.order);
  if (mark.is_whole && is_new) return chore(flow, std::move(removed));
  if (removed.empty()) return {};
  return [path = store_ / step.directory] { file::remove_all(path); };
}

void Keeper::half_drained(const std::string& directory) {
  if (options_.keep_last > 0 && is_removable(directory)) leftovers_.push_back(directory);
}

Chore Keeper::taken(const std::string& slot) {
  const auto held =
      std::find_if(kept_.begin(), kept_.end(), [&](const KeptStep& kept) { return kept.directory == slot; });
  if (held == kept_.end()) return {};
  forget(KeptStep(*held));
  return chore(Flow::checkpoint, {});
}

std::optional<store::DurableMark> Keeper::mark_for_index() {
  constexpr std::size_t few = 8;
  if (gone_ < kept_.size() + few) return {};
  gone_ = 0;
  return marks_[checkpoint];
}

std::string new_directory(std::int64_t step, std::set<std::string>& used) {
  // Few checkpoints are kept, so they need no nested directories, each of which would cost two syncs.
  const std::string name = store::to_string(Flow::checkpoint) + "/" + store::step_directory(step);
  std::string fresh = name;
  for (int attempt = 2; used.contains(fresh); ++attempt) fresh = name + "." + std::to_string(attempt);
  used.insert(fresh);
  return fresh;
}

}  // namespace octavo::engine
