#include "octavo/engine/tiers/tier_thread.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "octavo/base/current_error.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/engine/timer.hpp"

namespace octavo::engine {
namespace {

using Clock = std::chrono::steady_clock;
TierDone perform(const TierJob& job) {
  const auto begin = Clock::now();
  TierDone done;
  done.number = job.number.value_or(-1);
  try {
    done.bytes = job.work();
  } catch (...) {
    done.failure = base::current_error();
  }
  done.seconds = seconds_since(begin);
  return done;
}

}  // namespace

TierThread::TierThread(bool bound)
    : thread_([this, bound] {
        if (!bound) base::leave_binding();
        run();
      }) {}

TierThread::~TierThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void TierThread::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ending_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const TierJob job = jobs_.front();
    lock.unlock();
    TierDone done = perform(job);
    lock.lock();
    // The job leaves the queue only now: oldest() and wait_for() must count a job that is at work.
    jobs_.pop_front();
    if (job.number) done_.push_back(std::move(done));
    changed_.notify_all();
  }
}

double TierThread::wait_for(std::size_t most) {
  std::unique_lock lock(mutex_);
  const auto begin = Clock::now();
  changed_.wait(lock, [&] { return jobs_.size() <= most; });
  return seconds_since(begin);
}

void TierThread::add(TierJob job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
}

double TierThread::submit(TierJob job) {
  add(std::move(job));
  return wait_for(most_behind);
}

double TierThread::wait() { return wait_for(0); }

std::vector<TierDone> TierThread::collect() {
  const std::lock_guard lock(mutex_);
  return std::exchange(done_, {});
}

std::optional<std::int64_t> TierThread::oldest() const {
  const std::lock_guard lock(mutex_);
  std::optional<std::int64_t> least;
  for (const TierJob& job : jobs_)
    if (job.number) least = std::min(least.value_or(*job.number), *job.number);
  return least;
}

}  // namespace octavo::engine
