#include "octavo/engine/write/keep.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/store/read/scan.hpp"

/// Which checkpoints stay, which go, and the mark that says so. Rank 0 decides on the main thread, on lists in memory;
/// the writing thread writes marks; each rank removes its own files (removal.cpp). The order keeps every crash
/// harmless: a newer step is durable, then the mark lists it and drops the old one, then files go. In between, the
/// store holds files that no mark lists, and the next writer removes them.
namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
using store::Flow;

constexpr auto checkpoint = static_cast<std::size_t>(Flow::checkpoint);

std::string name_in(const fs::path& directory, const fs::path& store) {
  return directory.lexically_relative(store).generic_string();
}

bool by_order(const KeptStep& a, const KeptStep& b) { return a.order < b.order; }

template <class T>
bool is_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

// The attempt and the step of "checkpoint/000000040.2".
std::optional<std::pair<int, std::int64_t>> numbers_in(const fs::path& directory) {
  if (directory.parent_path() != store::to_string(Flow::checkpoint)) return {};
  const std::string name = directory.filename().string();
  const std::size_t dot = std::min(name.find('.'), name.size());
  std::pair<int, std::int64_t> numbers{1, 0};
  if (!is_number(std::string_view(name).substr(0, dot), numbers.second)) return {};
  if (dot < name.size() && !is_number(std::string_view(name).substr(dot + 1), numbers.first)) return {};
  return numbers;
}

}  // namespace

// One entry for each directory, including those without any subfile.
FoundCheckpoints look_for_checkpoints(const fs::path& path) {
  const store::Scan scan = store::scan_store(path, store::Trust::mark, Flow::checkpoint);
  FoundCheckpoints found;
  for (const fs::path& directory : store::flow_directories(scan.store, Flow::checkpoint)) {
    FoundDirectory& here = found[name_in(directory, scan.store)];
    std::error_code error;
    for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error))
      // A file that we did not write keeps its directory: remove_all() would take it along.
      here.damaged = here.damaged || !store::is_subfile_name(it->path().filename().string());
    here.damaged = here.damaged || error;
  }
  const auto directory_of = [&](std::size_t subfile) {
    return name_in(scan.subfiles[subfile].path.parent_path(), scan.store);
  };
  for (std::size_t s = 0; s < scan.subfiles.size(); ++s)
    if (!scan.subfiles[s].damage.empty() && !scan.subfiles[s].was_being_made) found[directory_of(s)].damaged = true;
  for (const store::StepFound& step : scan.steps) {
    const std::string first = directory_of(step.segments[0].subfile);
    const int files = store::committed(scan, step.segments[0]).footer.segments;
    if (store::listed(step)) found[first].listed.push_back({{step.step, step.attempt}, step.order, first, files});
    for (const store::SegmentPlace& place : step.segments) {
      FoundDirectory& here = found[directory_of(place.subfile)];
      here.incomplete = here.incomplete || !step.complete;
      here.lost = here.lost || step.lost;
      // The step's segments are in several directories: we touch none of them.
      if (step.complete && directory_of(place.subfile) != first) here.damaged = true;
    }
  }
  return found;
}

DirectoryNames names_after(const FoundCheckpoints& found) {
  DirectoryNames names;
  for (const auto& [directory, ignored] : found)
    if (const auto numbers = numbers_in(directory)) {
      names.attempt = std::max(names.attempt, numbers->first);
      names.newest = std::max(names.newest.value_or(numbers->second), numbers->second);
    }
  return names;
}

// Few checkpoints are kept, so they need no nested directories, each of which would cost two syncs.
std::string new_directory(DirectoryNames& names, std::int64_t step) {
  const std::string name = store::to_string(Flow::checkpoint) + "/" + store::step_directory(step);
  if (names.newest && step <= *names.newest) return name + "." + std::to_string(++names.attempt);
  names.newest = step;
  return name;
}

Keeper::Keeper(const fs::path& store, const Options& options, const FoundCheckpoints& found,
               const std::optional<store::StepId>& resumed_from)
    : store_(store), options_(options) {
  for (Flow flow : {Flow::checkpoint, Flow::analysis})
    marks_[static_cast<std::size_t>(flow)] = store::read_mark(store_, flow);
  settle(found);
  if (options_.keep_last == 0) return;
  for (const auto& [directory, here] : found) {
    for (const KeptStep& step : here.listed) kept_.push_back(step);
    if (!here.listed.empty() || here.damaged || !is_removable(directory)) continue;
    const bool stays = here.lost || (here.incomplete && options_.incomplete_may_be_completed);
    (stays ? leftovers_ : garbage_).push_back({directory});
  }
  std::sort(kept_.begin(), kept_.end(), by_order);
  // Steps above the one that the run resumed from are those of the run that it replaces.
  for (const KeptStep& step : kept_)
    if (resumed_from && step.id.step > resumed_from->step) abandoned_.push_back(step.id);
  remove_too_many(resumed_from);
}

// The steps whose places an earlier run was taking when it was killed leave the mark, since this run may keep more.
void Keeper::settle(const FoundCheckpoints& found) {
  store::DurableMark& mark = marks_[checkpoint];
  std::set<std::uint64_t> complete;
  for (const auto& [directory, here] : found)
    for (const KeptStep& step : here.listed) complete.insert(step.order);
  for (const store::OrderRange& range : std::vector(mark.orders))
    for (std::uint64_t order = range.first; mark.kept > 0 && order <= range.last; ++order)
      if (!complete.contains(order) && store::is_given_up(mark, order, complete)) store::drop(mark, order);
  mark.kept = static_cast<std::uint32_t>(options_.keep_last);
}

// A killed run may have committed one more checkpoint than it had reported. The checkpoint that the new run continues
// from stays; abandoned ones stay until a newer one exists.
void Keeper::remove_too_many(const std::optional<store::StepId>& resumed_from) {
  const std::size_t before = garbage_.size();
  for (const KeptStep& step : std::vector(kept_)) {
    if (kept_.size() <= static_cast<std::size_t>(options_.keep_last)) break;
    if (step.id == resumed_from || is_abandoned(step) || !is_removable(step.directory)) continue;
    forget(step);
    garbage_.push_back({step.directory, step.files});
  }
  // No thread runs yet. The mark is written here, before the caller removes what garbage() lists.
  if (garbage_.size() > before) chore(Flow::checkpoint)();
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

// Files go only when the mark is written, because a step that the mark lists but that is missing counts as lost.
Chore Keeper::chore(Flow flow) {
  return
      [store = store_, flow, mark = marks_[static_cast<std::size_t>(flow)], sync = options_.sync, files = mark_files_] {
        file::File& file = (*files)[static_cast<std::size_t>(flow)];
        try {
          store::write_mark(file, store, flow, mark, sync);
        } catch (const base::Error&) {  // not the step's fault: the next step tries again
          file = {};
        }
      };
}

Keeper::Change Keeper::durable(Flow flow, const KeptStep& step) {
  store::add(marks_[static_cast<std::size_t>(flow)], step.order, step.id.step);
  if (flow != Flow::checkpoint || options_.keep_last == 0) return {chore(flow), {}};
  std::vector<OldDirectory> gone = std::exchange(leftovers_, {});
  const auto remove = [&](const KeptStep& old) {
    if (is_removable(old.directory) && old.directory != step.directory) gone.push_back({old.directory, old.files});
    forget(old);
  };
  // The same step written anew replaces its older attempt, a directory or slot that is used again has lost its step,
  // and an abandoned branch ends now that this run has a checkpoint.
  const auto is_superseded = [&](const KeptStep& other) {
    return other.id.step == step.id.step || other.directory == step.directory || is_abandoned(other);
  };
  for (const KeptStep& other : std::vector(kept_))
    if (is_superseded(other)) remove(other);
  abandoned_.clear();
  kept_.push_back(step);
  while (kept_.size() > static_cast<std::size_t>(options_.keep_last)) remove(KeptStep(kept_.front()));
  // A directory that also holds a step we keep must stay.
  std::erase_if(gone, [&](const OldDirectory& old) {
    return std::any_of(kept_.begin(), kept_.end(),
                       [&](const KeptStep& kept) { return kept.directory == old.directory; });
  });
  return {chore(flow), std::move(gone)};
}

// A flow without a durable step has no mark, and a step that failed makes none.
Keeper::Change Keeper::failed(Flow flow, const KeptStep& step) {
  store::DurableMark& mark = marks_[static_cast<std::size_t>(flow)];
  Change change;
  if (flow == Flow::checkpoint && options_.keep_last > 0 && is_removable(step.directory))
    change.gone.push_back({step.directory, step.files});
  const bool is_new = step.order > mark.known;
  store::note_failed(mark, step.order);
  if (mark.is_whole && is_new) change.mark = chore(flow);
  return change;
}

void Keeper::half_drained(const std::string& directory) {
  if (options_.keep_last > 0 && is_removable(directory)) leftovers_.push_back({directory});
}

bool Keeper::has_removable() const {
  return !leftovers_.empty() ||
         std::any_of(kept_.begin(), kept_.end(), [&](const KeptStep& step) { return is_removable(step.directory); });
}

void Keeper::give_up(const std::vector<std::string>& slots) {
  const std::size_t before = kept_.size();
  for (const KeptStep& step : std::vector(kept_))
    if (std::find(slots.begin(), slots.end(), step.directory) != slots.end()) forget(step);
  if (kept_.size() < before) chore(Flow::checkpoint)();
}

std::optional<store::DurableMark> Keeper::mark_for_index() {
  constexpr std::size_t few = 8;
  if (gone_ < kept_.size() + few) return {};
  gone_ = 0;
  return marks_[checkpoint];
}

}  // namespace octavo::engine
