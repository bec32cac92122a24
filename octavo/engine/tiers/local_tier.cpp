#include "octavo/engine/tiers/local_tier.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/engine/tiers/parity_file.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/store/read/scan.hpp"

/// A checkpoint's way over the node's disk. The writing thread commits the segment in a small store of its own there;
/// the thread `copies` exchanges parity with other nodes; the thread `drain` brings the segment to the store. Each
/// thread takes steps in order, and none calls MPI. The main thread asks them how far they are, and the ranks agree on
/// the least.
namespace octavo::engine {
namespace {

// We create the directory at the start, so that an unusable one is reported before the first step.
void make_root(const std::filesystem::path& root) try {
  file::make_directories(root);
  if (::access(root.c_str(), W_OK | X_OK) != 0)
    throw base::system_error("write to the directory", errno).at(root.string());
} catch (base::Error& error) {
  throw error.at("staging_directory");
}

}  // namespace

std::vector<std::string> open_local(LocalSteps& local, MPI_Comm comm, const Options& options,
                                    const std::filesystem::path& store, bool has_files) {
  const LocalTier tier = local_tier(comm, options.staging_directory, store, options.ranks_per_node);
  ranks::agree(comm, [&] {
    if (tier.first_of_host) make_root(tier.root);
  });
  Rescue rescued = rescue(comm, tier, store);
  local.root = tier.root;
  local.base = rescued.newest_order;
  local.leftovers = std::move(rescued.leftovers);
  local.options = options;
  int files = 1;
  local.lanes = open_lanes(comm, {tier.host, tier.first_of_host, has_files}, schemes_of(options), files);
  const auto share = [files](std::int64_t of_node) { return static_cast<double>(of_node) / std::max(files, 1); };
  local.copy_pace = Pace(share(options.copy_bandwidth));
  local.drain_pace = Pace(share(options.drain_bandwidth));
  ranks::agree(comm, [&] {
    if (has_files) local.drain.emplace(options.bound_thread);
    if (!local.lanes.empty()) local.copies.emplace(options.bound_thread);
  });
  return std::move(rescued.notes);
}

// ------------------------------------------------------------------ a step on its way

namespace {

TierJob drain_job(LocalSteps& local, std::int64_t number, const std::shared_ptr<LocalFiles>& files) {
  return {number, [&local, files] {
            store::Copied copied = drain_now(files->job, local.drain_pace);
            files->stored = std::move(copied.segment);
            return copied.bytes;
          }};
}

// Runs all schemes that are due, even if one fails, because the other members of each wait for this one.
std::uint64_t protect(LocalSteps& local, const ParityJob& job, SafetySet due) {
  std::optional<base::Error> failure;
  std::uint64_t bytes = 0;
  for (ParityLane& lane : local.lanes) try {
      if ((due & bit_of(lane.scheme.safety)) != 0) bytes += write_parity(lane, job, local.copy_pace);
    } catch (const base::Error& error) {
      if (!failure) failure = error;
    }
  if (failure) throw *failure;
  return bytes;
}

// On the writing thread. A step that failed here must be made known to the ranks that share parity with this one.
double hand_on(LocalSteps& local, const Submitted& step, const std::shared_ptr<LocalFiles>& files, ParityJob parity,
               const WrittenSegment* written) {
  files->is_here = written != nullptr && !written->went_round;
  if (written != nullptr && written->went_round) files->stored = written->segment;
  const bool drains = files->is_here && step.drains;
  if (step.due == 0) return drains ? local.drain->submit(drain_job(local, step.number, files)) : 0;
  parity.failed = written == nullptr;
  if (files->is_here) parity.file = files->job.subfile;
  return local.copies->submit({step.number, [&local, files, parity, drains, number = step.number, due = step.due] {
                                 std::optional<base::Error> failure;
                                 std::uint64_t bytes = 0;
                                 try {
                                   bytes = protect(local, parity, due);
                                 } catch (const base::Error& error) {
                                   failure = error;
                                 }
                                 if (drains) local.drain->submit(drain_job(local, number, files));
                                 if (failure) throw *failure;
                                 return bytes;
                               }});
}

}  // namespace

// The segment goes to a small store of its own: once it is committed there, it is protected and drained.
void send_through(LocalSteps& local, StepJob& step, const store::Attempt& run, std::int64_t number) {
  Submitted& handed = local.steps.back();
  if (handed.flow == store::Flow::checkpoint) {
    handed.due = due_safeties(local.options, ++local.checkpoints);
    handed.drains = is_drained(local.options, local.checkpoints);
  }
  step.plan.after_order = local.base + static_cast<std::uint64_t>(number);
  const store::SegmentPlan to = step.plan;
  const LocalName name{to.flow, to.after_order + 1, local.base, run, to.segment};
  step.plan.store = local.root / to_text(name);
  step.plan.directory.clear();  // a store of its own has the usual places
  step.plan.stays_open = false;
  // The drain may have an earlier step of the same file at work.
  step.detour = Detour{to, [&local] {
                         if (local.copies) local.copies->wait();
                         if (local.drain) local.drain->wait();
                       }};
  step.detour->plan.stays_open = false;
  if (!local.drain) return;
  const auto files = std::make_shared<LocalFiles>();
  const auto& at = step.plan.store;
  // A copy that others' parity covers stays after the drain: advance() removes it with the parity files, on all nodes
  // at once.
  files->job = {at, store::directory_of(at, to.flow, to.step) / store::subfile_name(to.subfile), to, handed.due != 0};
  files->paths = {at};
  for (const ParityLane& lane : local.lanes) {
    if ((handed.due & bit_of(lane.scheme.safety)) == 0) continue;
    LocalName parity = name;
    parity.segment = lane.lane;
    files->paths.push_back(parity_path(local.root, parity, lane.scheme.safety));
  }
  local.files[number] = files;
  const ParityJob parity{name, to.step, to.segments, to.subfile, local.root, {}, false};
  step.ended = [&local, handed, files, parity](const WrittenSegment* written) {
    return hand_on(local, handed, files, parity, written);
  };
}

void collect(LocalSteps& local, WriteStatistics& statistics) {
  if (local.copies)
    for (TierDone& done : local.copies->collect()) {
      statistics.seconds_protecting += done.seconds;
      statistics.bytes_of_parity += done.bytes;
      if (done.failure) local.unprotected.emplace_back(done.number, std::move(*done.failure));
    }
  if (!local.drain) return;
  for (TierDone& done : local.drain->collect()) {
    statistics.seconds_draining += done.seconds;
    statistics.bytes_drained += done.bytes;
    if (done.failure)
      local.failures.emplace_back(done.number, std::move(*done.failure));
    else
      ++statistics.drained;
  }
}

std::int64_t safe_up_to(const LocalSteps& local, std::int64_t finished) {
  return local.copies ? std::min(finished, local.copies->oldest().value_or(finished)) : finished;
}

std::int64_t drained_up_to(const LocalSteps& local, std::int64_t finished) {
  // Finished steps have been handed on. One that goes from one thread to the other is with both for a moment, so we
  // must ask the first one first.
  const std::int64_t protected_up_to = safe_up_to(local, finished);
  return local.drain ? std::min(protected_up_to, local.drain->oldest().value_or(finished)) : protected_up_to;
}

// ------------------------------------------------------------------ a step is safe

namespace {

// How much a step survives: no node, one, two.
int strength_of(SafetySet due) {
  if ((due & bit_of(Safety::reed_solomon)) != 0) return 2;
  return due != 0 ? 1 : 0;
}

void note_safe(LocalSteps& local, Safety safety, const Submitted& step) {
  SafeStep& newest = local.safe[static_cast<std::size_t>(safety)];
  if (step.number > newest.number) newest = {step.number, step.id};
}

// Removing large files takes a while, so a thread of this rank does it.
void remove_files(LocalSteps& local, const Submitted& step) {
  const auto found = local.files.find(step.number);
  if (found == local.files.end()) return;
  local.drain->add({{}, [paths = found->second->paths] {
                      for (const auto& path : paths) file::remove_all(path);
                      return std::uint64_t{0};
                    }});
  local.files.erase(found);
}

template <class Which>
std::vector<Submitted> drop_kept(LocalSteps& local, Which&& is_superseded) {
  std::vector<Submitted> dropped;
  for (const Submitted& step : local.kept)
    if (is_superseded(step)) dropped.push_back(step);
  std::erase_if(local.kept, is_superseded);
  for (const Submitted& step : dropped) remove_files(local, step);
  return dropped;
}

}  // namespace

std::vector<Submitted> advance_safe(LocalSteps& local, std::int64_t up_to) {
  std::vector<Submitted> dropped;
  for (Submitted& step : local.steps) {
    if (step.number >= up_to || step.failed || step.is_safe || step.flow != store::Flow::checkpoint) continue;
    step.is_safe = true;
    const int strength = strength_of(step.due);
    note_safe(local, Safety::local, step);
    for (const Safety one : {Safety::partner, Safety::xor_group})
      if (strength >= 1) note_safe(local, one, step);
    if (strength >= 2) note_safe(local, Safety::reed_solomon, step);
    // An older step may go only when a newer one survives at least as much.
    for (Submitted& gone : drop_kept(local, [&](const Submitted& older) {
           return older.number < step.number && strength_of(older.due) <= strength;
         }))
      dropped.push_back(std::move(gone));
    if (!step.drains) local.kept.push_back(step);
  }
  std::erase_if(local.steps, [](const Submitted& step) { return step.is_safe && !step.drains; });
  return dropped;
}

void mark_unprotected(LocalSteps& local, std::int64_t number) {
  for (Submitted& step : local.steps)
    if (step.number == number) step.due = 0;
}

void drain_last(LocalSteps& local) {
  if (local.kept.empty()) return;
  Submitted last = std::move(local.kept.back());
  local.kept.pop_back();
  last.drains = true;
  local.steps.push_back(last);
  const auto found = local.files.find(last.number);
  if (found != local.files.end() && found->second->is_here)
    local.drain->submit(drain_job(local, last.number, found->second));
}

std::vector<Submitted> advance(LocalSteps& local, std::int64_t up_to, std::vector<Submitted>& passed) {
  std::vector<Submitted> ended;
  for (; !local.steps.empty() && local.steps.front().number < up_to; local.steps.pop_front()) {
    ended.push_back(std::move(local.steps.front()));
    Submitted& step = ended.back();
    if (step.failed) {
      local.files.erase(step.number);
      continue;
    }
    local.drained[static_cast<std::size_t>(step.flow)] = step.id;
    if (const auto files = local.files.find(step.number); files != local.files.end())
      step.segment = files->second->stored;
    remove_files(local, step);
    if (step.flow != store::Flow::checkpoint) continue;
    for (std::size_t safety = 0; safety < num_safeties; ++safety) note_safe(local, static_cast<Safety>(safety), step);
    for (Submitted& gone : drop_kept(local, [&](const Submitted& older) { return older.number < step.number; }))
      passed.push_back(std::move(gone));
    for (const auto& leftover : std::exchange(local.leftovers, {})) file::remove_all(leftover);
  }
  return ended;
}

void mark_failed(std::deque<Submitted>& steps, std::int64_t number) {
  for (Submitted& step : steps)
    if (step.number == number) step.failed = true;
}

bool has_failed(const std::deque<Submitted>& steps, std::int64_t number) {
  return std::any_of(steps.begin(), steps.end(),
                     [&](const Submitted& step) { return step.number == number && step.failed; });
}

}  // namespace octavo::engine
