#include "octavo/engine/write/background.hpp"

#include <chrono>
#include <ctime>
#include <utility>

#include "octavo/base/threads.hpp"
#include "octavo/engine/timer.hpp"

/// One thread takes entries from one queue. `mutex_` guards all members that both threads use, and `changed_` tells of
/// every change of them. Without a thread nothing is queued: submit() and run_behind() do the work themselves.
namespace octavo::engine {
namespace {

using Clock = std::chrono::steady_clock;
// Core seconds of the calling thread so far.
double cpu_of_thread() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

Background::Background(bool threaded, bool bound) : threaded_(threaded) {
  if (threaded_)
    thread_ = std::thread([this, bound] {
      if (!bound) base::leave_binding();
      run();
    });
}

Background::~Background() {
  if (!threaded_) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Background::put(Entry entry) {
  {
    const std::lock_guard lock(mutex_);
    lent_ += entry.lent ? 1 : 0;
    jobs_ += entry.chore ? 0U : 1U;
    queue_.push_back(std::move(entry));
  }
  changed_.notify_all();
}

double Background::submit(std::int64_t number, StepWork work, bool lent) {
  Entry entry{number, std::move(work), lent, {}};
  if (threaded_) {
    put(std::move(entry));
    return 0;
  }
  outcomes_.push_back(perform(entry));
  return outcomes_.back().seconds + outcomes_.back().seconds_waiting_for_drain;
}

void Background::run_behind(std::function<void()> chore) {
  if (threaded_)
    put({0, {}, false, std::move(chore)});
  else
    chore();
}

Outcome Background::perform(Entry& entry) {
  const auto begin = Clock::now();
  const double cpu = cpu_of_thread();
  Outcome outcome;
  outcome.number = entry.number;
  Writing writing;
  // Each write of a lent job calls this once, even if it throws; else take_back_lent() would wait for ever.
  writing.released = [&] {
    if (!entry.lent || !threaded_) return;
    {
      const std::lock_guard lock(mutex_);
      --lent_;
    }
    changed_.notify_all();
  };
  try {
    if (entry.work.write) entry.work.write(writing);
    outcome.written = writing.written;
  } catch (...) {
    outcome.failure = std::current_exception();
  }
  outcome.seconds = seconds_since(begin);
  outcome.seconds_cpu = cpu_of_thread() - cpu;
  try {
    // The clock has been read: the wait for the drain, which follows, is no work.
    const auto& ended = entry.work.job->ended;
    if (ended) outcome.seconds_waiting_for_drain = ended(outcome.failure ? nullptr : &outcome.written);
  } catch (...) {
    if (!outcome.failure) outcome.failure = std::current_exception();
  }
  return outcome;
}

void Background::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    // The thread ends only when the queue is empty, so the destructor finishes every job.
    changed_.wait(lock, [&] { return ending_ || !queue_.empty(); });
    if (queue_.empty()) return;
    // busy_ covers the time in which the entry is neither queued nor over, so that drain() waits for it too.
    Entry entry = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    lock.unlock();
    Outcome outcome;
    if (entry.chore)
      entry.chore();
    else
      outcome = perform(entry);
    lock.lock();
    if (!entry.chore) {
      outcomes_.push_back(std::move(outcome));
      --jobs_;
    }
    busy_ = false;
    changed_.notify_all();
  }
}

template <class Condition>
double Background::wait_until(Condition&& condition) {
  std::unique_lock lock(mutex_);
  if (condition()) return 0;
  const auto begin = Clock::now();
  changed_.wait(lock, condition);
  return seconds_since(begin);
}

double Background::drain() {
  return wait_until([&] { return queue_.empty() && !busy_; });
}
double Background::wait_for_room(std::size_t most) {
  return wait_until([&] { return jobs_ <= most; });
}
double Background::take_back_lent() {
  return wait_until([&] { return lent_ == 0; });
}

std::vector<Outcome> Background::collect() {
  const std::lock_guard lock(mutex_);
  return std::exchange(outcomes_, {});
}

}  // namespace octavo::engine
