#include "octavo/engine/write/auto_mode.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "octavo/ranks/communicator.hpp"

/// Chooses once, after the first step, how a flow's later steps are written. Every rank brings what its first step
/// cost; the largest costs and the least idle time of all ranks count, because the slowest rank holds up the others.
/// The choice costs one split by host and four reductions.
namespace octavo::engine {
namespace {

// The core seconds that the thread takes from the computation: those that idle cores do not cover.
double missed(const WriteCost& cost, double cpu) { return std::max(0.0, cpu - cost.idle); }

// The cost of a step to the application if its values are encoded, or stored as they are. Values as they are have
// `ratio` times the bytes, so we expect them to take `ratio` times as long to write.
struct Seconds {
  double in_call = 0, cpu = 0;
};
Seconds seconds_of(const WriteCost& cost, bool encodes) {
  if (encodes) return {cost.encoding + cost.writing, cost.encoding + cost.writing_cpu};
  return {cost.writing * cost.ratio, cost.writing_cpu * cost.ratio};
}

// Core seconds of each rank of a host that nobody used, in one interval between steps.
double idle_seconds(MPI_Comm comm, int cores, double application, double cpu) {
  // Ranks of a host may be bound to different sets of cores. The largest set counts.
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  const ranks::OwnComm owned(host);
  std::array<double, 2> sums{application, cpu};
  double most_cores = cores;
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, host);
  MPI_Allreduce(MPI_IN_PLACE, &most_cores, 1, MPI_DOUBLE, MPI_MAX, host);
  const int size = ranks::size_of(host);
  return std::max(0.0, most_cores * sums[0] / size - sums[1]) / size;
}

}  // namespace

Choice cheapest(const WriteCost& cost, bool may_store_raw, const std::optional<Mode>& fixed) {
  const bool is_slow = seconds_of(cost, true).in_call <= seconds_of(cost, false).in_call;
  const Choice sync{Mode::sync, !may_store_raw || is_slow};
  const bool is_free = missed(cost, seconds_of(cost, true).cpu) == 0;
  const Choice background{Mode::background, !may_store_raw || is_slow || is_free};
  const double of_sync = seconds_of(cost, sync.encodes).in_call;
  const double of_background = cost.copying + missed(cost, seconds_of(cost, background.encodes).cpu);
  return fixed.value_or(of_sync <= of_background ? Mode::sync : Mode::background) == Mode::sync ? sync : background;
}

std::string to_text(const Choice& choice, const WriteCost& cost, std::uint64_t bytes) {
  const bool is_free = missed(cost, seconds_of(cost, choice.encodes).cpu) == 0;
  std::array<char, 320> text{};
  std::snprintf(text.data(), text.size(),
                "%s, %s: the first step, %.1f MB, took %.3f s to copy, %.3f s to encode (%.2f to 1), %.3f s to write; "
                "the thread %s",
                std::string(name_of(choice.mode)).c_str(), choice.encodes ? "encoded" : "as they are",
                static_cast<double>(bytes) / 1e6, cost.copying, cost.encoding, cost.ratio, cost.writing,
                is_free ? "finds idle cores" : "takes cores from the computation");
  return text.data();
}

double cpu_of_process() noexcept {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void AutoMode::handed_over(const Spent& now) noexcept {
  if (!begin_) begin_ = until_ = now;
}

void AutoMode::begins(const Spent& now) noexcept {
  if (!begin_ || choice_) return;
  until_ = now;
  ++intervals_;
}

void AutoMode::written(const WriteCost& cost, std::uint64_t bytes_put, std::uint64_t bytes_stored) noexcept {
  if (measured_) return;
  measured_ = true;
  cost_ = cost;
  bytes_put_ = bytes_put;
  bytes_stored_ = bytes_stored;
}

std::string AutoMode::decide(MPI_Comm comm, int cores, bool may_store_raw, const std::optional<Mode>& fixed) {
  const int intervals = std::max(1, intervals_);
  // In each interval this process's own thread encoded and wrote a step, which is no work of the computation.
  const double cpu = (until_.cpu - begin_->cpu) / intervals - cost_.encoding - cost_.writing_cpu;
  const double idle =
      idle_seconds(comm, cores, (until_.application - begin_->application) / intervals, std::max(0.0, cpu));
  std::array<double, 5> largest{cost_.copying, cost_.encoding, cost_.writing, cost_.writing_cpu, -idle};
  std::array<std::uint64_t, 2> bytes{bytes_put_, bytes_stored_};
  MPI_Allreduce(MPI_IN_PLACE, largest.data(), static_cast<int>(largest.size()), MPI_DOUBLE, MPI_MAX, comm);
  MPI_Allreduce(MPI_IN_PLACE, bytes.data(), 2, MPI_UINT64_T, MPI_SUM, comm);
  const double ratio = bytes[1] == 0 ? 1 : static_cast<double>(bytes[0]) / static_cast<double>(bytes[1]);
  const WriteCost cost{largest[0], largest[1], largest[2], largest[3], ratio, -largest[4]};
  choice_ = cheapest(cost, may_store_raw, fixed);
  return to_text(*choice_, cost, bytes[0]);
}

}  // namespace octavo::engine
