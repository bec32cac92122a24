#include "octavo/engine/tiers/local_tier.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/store/read/scan.hpp"

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
  ranks::agree(comm, [&] {
    if (has_files) local.drain.emplace(options.bound_thread);
  });
  return std::move(rescued.notes);
}

// The segment goes to a small store of its own: once it is committed there, it is drained.
void send_through(LocalSteps& local, StepJob& step, const store::Attempt& run, std::int64_t number) {
  step.plan.after_order = local.base + static_cast<std::uint64_t>(number);
  const store::SegmentPlan to = step.plan;
  step.plan.store = local.root / to_text(LocalName{to.flow, to.after_order + 1, local.base, run, to.segment});
  step.plan.directory.clear();  // a store of its own has the usual places
  step.plan.stays_open = false;
  if (!local.drain) return;
  step.committed = [drain = &*local.drain, number, to, at = step.plan.store] {
    const auto subfile = store::directory_of(at, to.flow, to.step) / store::subfile_name(to.subfile);
    return drain->submit({number, at, subfile, to});
  };
}

void collect(LocalSteps& local, Statistics& statistics) {
  if (!local.drain) return;
  for (Drained& done : local.drain->collect()) {
    statistics.seconds_draining += done.seconds;
    statistics.bytes_drained += done.bytes;
    if (done.failure)
      local.failures.emplace_back(done.number, std::move(*done.failure));
    else
      ++statistics.drained;
  }
}

std::int64_t drained_up_to(const LocalSteps& local, std::int64_t finished) {
  // Finished steps have been given to the drain.
  return local.drain ? std::min(finished, local.drain->oldest().value_or(finished)) : finished;
}

std::vector<Submitted> advance(LocalSteps& local, std::int64_t up_to) {
  std::vector<Submitted> ended;
  bool checkpoint = false;
  for (; !local.steps.empty() && local.steps.front().number < up_to; local.steps.pop_front()) {
    ended.push_back(std::move(local.steps.front()));
    const Submitted& step = ended.back();
    if (step.failed) continue;
    local.drained[static_cast<std::size_t>(step.flow)] = step.id;
    checkpoint = checkpoint || step.flow == store::Flow::checkpoint;
  }
  if (checkpoint)
    for (const auto& leftover : std::exchange(local.leftovers, {})) file::remove_all(leftover);
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
