#include "octavo/engine/write/auto_mode.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "octavo/ranks/communicator.hpp"

/// Chooses after the first step, or one more, how a flow's later steps are written. Every rank brings what its step
/// cost; the largest costs and the least idle time of all ranks count, because the slowest rank holds up the others.
/// A choice costs four reductions and the first one a split by host, too.
namespace octavo::engine {
namespace {

// The core seconds that the thread takes from the computation: those that idle cores do not cover.
double missed(const WriteCost& cost, double cpu) { return std::max(0.0, cpu - cost.idle); }

// The cost of a step to the application. Values as they are have `ratio` times the bytes, so we expect them to take
// `ratio` times as long to write.
struct Seconds {
  double in_call = 0, cpu = 0;
};
Seconds seconds_of(const WriteCost& cost, CodecChoice encoding) {
  const EncodingCost& step = encoding == CodecChoice::fast ? *cost.fast : cost.given;
  if (encoding == CodecChoice::raw) return {step.writing * step.ratio, step.writing_cpu * step.ratio};
  return {step.encoding + step.writing, step.encoding + step.writing_cpu};
}

bool is_free(const WriteCost& cost, CodecChoice encoding) { return missed(cost, seconds_of(cost, encoding).cpu) == 0; }

CodecChoice soonest(const WriteCost& cost) {
  CodecChoice best = CodecChoice::given;
  const auto consider = [&](CodecChoice other) {
    if (seconds_of(cost, other).in_call < seconds_of(cost, best).in_call) best = other;
  };
  if (cost.fast) consider(CodecChoice::fast);
  consider(CodecChoice::raw);
  return best;
}

CodecChoice behind_the_computation(const WriteCost& cost) {
  if (is_free(cost, CodecChoice::given)) return CodecChoice::given;
  if (cost.fast && is_free(cost, CodecChoice::fast)) return CodecChoice::fast;
  return soonest(cost);
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

// [s] that the threads of this process have waited for a core.
double waited_for_cores() noexcept try {
  std::int64_t waiting = 0;  // [ns]
  std::error_code failed;
  for (std::filesystem::directory_iterator thread("/proc/self/task", failed), end; !failed && thread != end;
       thread.increment(failed)) {
    std::int64_t ran = 0, waited = 0;
    if (std::ifstream(thread->path() / "schedstat") >> ran >> waited) waiting += waited;
  }
  return 1e-9 * static_cast<double>(waiting);
} catch (const std::exception&) {
  return 0;  // a rank that lacks memory here goes on like the others
}

}  // namespace

Choice cheapest(const WriteCost& cost, bool by_cost, const std::optional<Mode>& fixed) {
  const Choice sync{Mode::sync, by_cost ? soonest(cost) : CodecChoice::given};
  const Choice background{Mode::background, by_cost ? behind_the_computation(cost) : CodecChoice::given};
  const double of_sync = seconds_of(cost, sync.encoding).in_call;
  const double of_background = cost.copying + missed(cost, seconds_of(cost, background.encoding).cpu);
  return fixed.value_or(of_sync <= of_background ? Mode::sync : Mode::background) == Mode::sync ? sync : background;
}

std::string to_text(const Choice& choice, const WriteCost& cost, std::uint64_t bytes) {
  constexpr std::array words{"encoded", "encoded with effort fast", "as they are"};
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(),
                "%s, %s: the first step, %.1f MB, took %.3f s to copy, %.3f s to encode (%.2f to 1), %.3f s to write",
                std::string(name_of(choice.mode)).c_str(), words[static_cast<std::size_t>(choice.encoding)],
                static_cast<double>(bytes) / 1e6, cost.copying, cost.given.encoding, cost.given.ratio,
                cost.given.writing);
  std::string all = text.data();
  if (cost.fast) {
    std::snprintf(text.data(), text.size(), "; one with effort fast took %.3f s to encode (%.2f to 1), %.3f s to write",
                  cost.fast->encoding, cost.fast->ratio, cost.fast->writing);
    all += text.data();
  }
  const bool tries = choice.encoding == CodecChoice::fast && !cost.fast;
  const bool free = is_free(cost, tries ? CodecChoice::given : choice.encoding);
  return all + (free ? "; the thread finds idle cores" : "; the thread takes cores from the computation");
}

Spent spent_by_process(double application) noexcept {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return {application, static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec), waited_for_cores()};
}

void AutoMode::handed_over(const Spent& now) noexcept {
  if (!begin_) begin_ = until_ = now;
}

void AutoMode::begins(const Spent& now) noexcept {
  if (!begin_ || choice_) return;
  until_ = now;
  ++intervals_;
}

void AutoMode::written(CodecChoice encoding, double copying, const EncodingCost& cost, std::uint64_t bytes_put,
                       std::uint64_t bytes_stored) noexcept {
  Measured& measured = encoding == CodecChoice::fast ? fast_ : given_;
  if (!measured.known) measured = {true, copying, cost, bytes_put, bytes_stored};
}

std::string AutoMode::decide(MPI_Comm comm, int cores, bool by_cost, const std::optional<Mode>& fixed) {
  const Measured& measured = tries_ ? fast_ : given_;
  std::array<double, 4> largest{measured.copying, measured.cost.encoding, measured.cost.writing,
                                measured.cost.writing_cpu};
  std::array<std::uint64_t, 2> bytes{measured.bytes_put, measured.bytes_stored};
  MPI_Allreduce(MPI_IN_PLACE, largest.data(), static_cast<int>(largest.size()), MPI_DOUBLE, MPI_MAX, comm);
  MPI_Allreduce(MPI_IN_PLACE, bytes.data(), 2, MPI_UINT64_T, MPI_SUM, comm);
  const double ratio = bytes[1] == 0 ? 1 : static_cast<double>(bytes[0]) / static_cast<double>(bytes[1]);
  const EncodingCost of_all{largest[1], largest[2], largest[3], ratio};
  if (tries_) {
    cost_.fast = of_all;
  } else {
    const int intervals = std::max(1, intervals_);
    // In each interval this process's own thread encoded and wrote a step, which is no work of the computation. A core
    // for which threads waited was not idle: the wait makes the interval longer, as idle cores would.
    const double waiting = std::max(0.0, until_.waiting - begin_->waiting);
    const double cpu =
        (until_.cpu - begin_->cpu + waiting) / intervals - measured.cost.encoding - measured.cost.writing_cpu;
    double idle = idle_seconds(comm, cores, (until_.application - begin_->application) / intervals, std::max(0.0, cpu));
    MPI_Allreduce(MPI_IN_PLACE, &idle, 1, MPI_DOUBLE, MPI_MIN, comm);
    cost_ = {largest[0], idle, of_all};
    bytes_put_ = bytes[0];
  }
  choice_ = cheapest(cost_, by_cost, fixed);
  const bool costs = choice_->mode == Mode::sync || !is_free(cost_, CodecChoice::given);
  tries_ = by_cost && !cost_.fast && choice_->encoding == CodecChoice::given && costs;
  if (tries_) choice_->encoding = CodecChoice::fast;
  return to_text(*choice_, cost_, bytes_put_);
}

}  // namespace octavo::engine
