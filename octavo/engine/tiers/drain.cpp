#include "octavo/engine/tiers/drain.hpp"

#include <algorithm>
#include <string>
#include <thread>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"

namespace octavo::engine {

void Pace::spend(std::uint64_t bytes) {
  if (bytes_per_second_ <= 0) return;
  using Clock = std::chrono::steady_clock;
  const std::chrono::duration<double> time(static_cast<double>(bytes) / bytes_per_second_);
  free_ = std::max(free_, Clock::now()) + std::chrono::duration_cast<Clock::duration>(time);
  std::this_thread::sleep_until(free_);
}

store::Copied drain_now(const DrainJob& job, Pace& pace) try {
  store::Copied copied =
      store::copy_segment(store::open_newest(job.subfile), job.to, [&pace](std::uint64_t count) { pace.spend(count); });
  // A copy that cannot be removed costs space: the next start finds its step in the store and tries again.
  if (!job.keep_local) file::remove_all(job.local);
  return copied;
} catch (base::Error& error) {
  throw error.at(store::to_string(job.to.flow) + " step " + std::to_string(job.to.step) + ", which stays in " +
                 job.local.string());
}

}  // namespace octavo::engine
