#include "octavo/engine/tiers/drain.hpp"

#include <chrono>
#include <utility>

#include "octavo/base/current_error.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/store/write/copy_segment.hpp"

namespace octavo::engine {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

Drained perform(const DrainJob& job) {
  const auto begin = Clock::now();
  Drained done;
  done.number = job.number;
  try {
    done.bytes = drain_now(job);
  } catch (...) {
    done.failure = base::current_error();
  }
  if (done.failure)
    done.failure->at(store::to_string(job.to.flow) + " step " + std::to_string(job.to.step) + ", which stays in " +
                     job.local.string());
  done.seconds = seconds_since(begin);
  return done;
}

}  // namespace

std::uint64_t drain_now(const DrainJob& job) {
  const std::uint64_t bytes = store::copy_segment(store::open_newest(job.subfile), job.to);
  // A copy that cannot be removed costs space: the next start finds its step in the store and tries again.
  file::remove_all(job.local);
  return bytes;
}

Drain::Drain(bool bound)
    : thread_([this, bound] {
        if (!bound) base::leave_binding();
        run();
      }) {}

Drain::~Drain() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Drain::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ending_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const DrainJob job = jobs_.front();
    lock.unlock();
    Drained done = perform(job);
    lock.lock();
    jobs_.pop_front();
    done_.push_back(std::move(done));
    changed_.notify_all();
  }
}

double Drain::wait_for(std::size_t most) {
  std::unique_lock lock(mutex_);
  const auto begin = Clock::now();
  changed_.wait(lock, [&] { return jobs_.size() <= most; });
  return seconds_since(begin);
}

double Drain::submit(DrainJob job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
  return wait_for(most_behind);
}

double Drain::wait() { return wait_for(0); }

std::vector<Drained> Drain::collect() {
  const std::lock_guard lock(mutex_);
  return std::exchange(done_, {});
}

std::optional<std::int64_t> Drain::oldest() const {
  const std::lock_guard lock(mutex_);
  if (jobs_.empty()) return {};
  return jobs_.front().number;
}

}  // namespace octavo::engine
