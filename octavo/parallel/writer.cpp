#include "octavo/parallel/writer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/parallel/all_patches.hpp"
#include "octavo/parallel/auto_mode.hpp"
#include "octavo/parallel/background.hpp"
#include "octavo/parallel/communicator.hpp"
#include "octavo/parallel/keep.hpp"
#include "octavo/parallel/step_puts.hpp"

namespace octavo::parallel {
namespace {

using base::Error;
using base::Kind;
using store::Flow;
using Clock = std::chrono::steady_clock;

// Adds the time until it goes out of scope.
class Timer {
 public:
  explicit Timer(double& seconds) : seconds_(seconds) {}
  ~Timer() { seconds_ += std::chrono::duration<double>(Clock::now() - begin_).count(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  double& seconds_;
  Clock::time_point begin_ = Clock::now();
};

void check_threads(Mode mode) {
  if (mode == Mode::sync) return;
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_FUNNELED)
    throw Error(Kind::usage, "MPI was initialised for one thread a process only")
        .at("option mode = " + std::string(name_of(mode)))
        .hint("MPI_Init_thread with MPI_THREAD_FUNNELED, or mode = sync");
}

// The ranks' attempts agree without a message: each is drawn from one random value and the step's number in the run.
store::Attempt attempt_of(const store::Attempt& run, std::int64_t number) {
  std::array<std::byte, 32> bytes{};
  std::copy(run.begin(), run.end(), bytes.begin());
  std::memcpy(bytes.data() + 16, &number, sizeof number);
  store::Attempt attempt;
  for (std::size_t half = 0; half < 2; ++half) {
    bytes[31] = static_cast<std::byte>(half);
    const std::uint64_t sum = base::checksum(bytes);
    std::memcpy(attempt.data() + 8 * half, &sum, sizeof sum);
  }
  return attempt;
}

// One step that was handed over: the same on all ranks.
struct Submitted {
  std::int64_t number = 0;
  Flow flow = Flow::checkpoint;
  store::StepId id;
  bool failed = false;
};

}  // namespace

struct Writer::State {
  State(MPI_Comm parent, const std::filesystem::path& path, const mesh::Header& common, const Options& chosen);

  OwnComm comm;
  std::filesystem::path store;
  mesh::Header header;
  Options options;
  std::optional<store::StepId> resumed_from;
  WritePlan plan;
  int rank = 0;
  store::Attempt run{};
  Group group;
  Staging staging;
  std::optional<Background> background;

  std::optional<StepJob> job;      // between begin_step and end_step
  std::optional<Error> put_error;  // the first thing that went wrong in a put
  std::int64_t next_number = 0;
  std::array<std::int64_t, 2> steps_of_flow{0, 0};
  std::array<AutoMode, 2> automatic;

  std::deque<Submitted> submitted;  // not known to be durable, nor to have failed
  std::array<std::optional<store::StepId>, 2> durable;
  std::deque<std::pair<std::int64_t, Error>> failures;  // on this rank, not reported yet
  std::int64_t finished = 0;                            // jobs of this rank that are done, failed ones too
  Statistics statistics;
  bool closed = false;

  void put(const std::function<void()>& work);
  void keep_error(const std::function<void()>& work);
  void collect();
  bool report(bool with_step);
  void learn_boxes();
  void advance(std::int64_t durable_up_to, std::int64_t failed);
  void throw_failure(std::int64_t failed);
  void hand_over(StepJob step);
  void submit(StepJob step, Mode mode);
  Mode mode_for(Flow flow);
};

Writer::State::State(MPI_Comm parent, const std::filesystem::path& path, const mesh::Header& common,
                     const Options& chosen)
    : comm(duplicate(parent)),
      store(path),
      header(common),
      options(chosen),
      rank(rank_in(comm.get())),
      staging(static_cast<std::uint64_t>(std::max<std::int64_t>(0, chosen.staging_bytes))) {}

Writer::Writer(MPI_Comm comm, const std::filesystem::path& store, const mesh::Header& header, const Options& options,
               std::optional<store::StepId> resumed_from)
    : state_(std::make_unique<State>(comm, store, header, options)) {
  State& s = *state_;
  agree(s.comm.get(), [&] {
    check(options);
    check_threads(options.mode);
  });
  s.resumed_from = resumed_from;
  if (s.rank == 0) s.run = store::random_attempt();
  MPI_Bcast(s.run.data(), static_cast<int>(s.run.size()), MPI_BYTE, 0, s.comm.get());
  s.plan = plan_write(hosts_of_ranks(s.comm.get(), options.ranks_per_node), {}, plan_options(options));
  const OwnComm group = split(s.comm.get(), s.plan.file_of_rank[static_cast<std::size_t>(s.rank)], s.rank);
  s.group = Group::join(group.get());
  agree(s.comm.get(), [&] { s.background.emplace(s.group, s.staging, options.mode != Mode::sync); });
}

Writer::~Writer() = default;
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;

// ------------------------------------------------------------------ a step is put together

void Writer::State::put(const std::function<void()>& work) {
  const Timer timer(statistics.seconds_in_calls);
  keep_error(work);
}

void Writer::State::keep_error(const std::function<void()>& work) {
  try {
    if (!job) throw Error(Kind::usage, "nothing can be put outside of a step");
    work();
  } catch (const Error& error) {
    // Kept until all ranks can throw it: one that left now would leave the others waiting in end_step().
    if (!put_error) put_error = error;
  }
}

void Writer::begin_step(Flow flow, std::int64_t step, double time) {
  State& s = *state_;
  const Timer timer(s.statistics.seconds_in_calls);
  if (s.closed || s.job) throw Error(Kind::usage, s.closed ? "the writer is closed" : "the step before has not ended");
  s.statistics.seconds_waiting += s.background->take_back_lent();
  StepJob job;
  job.plan.store = s.store;
  job.plan.flow = flow;
  job.plan.step = step;
  job.plan.subfile = job.plan.segment = s.plan.file_of_rank[static_cast<std::size_t>(s.rank)];
  job.plan.segments = static_cast<int>(s.plan.files.size());
  job.header = s.header;
  job.header.time = time;
  job.header.fields.clear();
  job.encoding = encoding_of(s.options, flow);
  job.part = s.rank;
  job.checksums = s.options.checksums;
  s.job = std::move(job);
}

void Writer::put_attribute(const std::string& name, mesh::Attribute value) {
  state_->put([&] { state_->job->header.attributes[name] = std::move(value); });
}

void Writer::put_mesh(const mesh::Octree& tree) {
  state_->put([&] { set_mesh(*state_->job, tree); });
}

void Writer::put_mesh(const mesh::Patches& patches) {
  state_->put([&] { set_mesh(*state_->job, patches); });
}

void Writer::put_field(const std::string& name, const ArrayView& view, const std::string& unit,
                       mesh::Centring centring) {
  state_->put([&] { add_field(*state_->job, name, view, unit, centring); });
}

void Writer::put_field(const std::string& name, std::span<const ArrayView> boxes, const std::string& unit) {
  state_->put([&] { add_field(*state_->job, name, boxes, unit); });
}

void Writer::put_particles(const std::string& species, const std::string& attribute, const ArrayView& view,
                           const std::string& unit) {
  state_->put([&] { add_particles(*state_->job, species, attribute, view, unit); });
}

// ------------------------------------------------------------------ the ranks agree

void Writer::State::collect() {
  for (Outcome& outcome : background->collect()) {
    finished = outcome.number + 1;
    statistics.seconds_working += outcome.seconds;
    statistics.bytes_stored += outcome.bytes_stored;
    if (!outcome.failure) continue;
    ++statistics.failed;
    try {
      std::rethrow_exception(outcome.failure);
    } catch (const Error& error) {
      failures.emplace_back(outcome.number, error);
    } catch (const std::exception& error) {
      failures.emplace_back(outcome.number, Error(Kind::unreadable, error.what()));
    }
  }
}

// The one reduction of every collective call. Which steps all ranks have finished, which failed anywhere, whether a put
// failed (`with_step`), and whether the ranks mean the same step and fields. Returns whether any has patches.
bool Writer::State::report(bool with_step) {
  collect();
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  const std::int64_t failed = failures.empty() ? none : failures.front().first;
  std::array<std::int64_t, 8> numbers{};
  numbers[0] = with_step && put_error ? 1 : 0;
  numbers[1] = -std::min(finished, failed);
  numbers[2] = -failed;
  if (with_step && job) {
    const std::int64_t step = hash_of(describe_step(*job));
    const std::int64_t fields = has_part(*job) ? hash_of(describe(*job)) : 0;
    numbers[3] = step;
    numbers[4] = -step;
    numbers[5] = fields;
    numbers[6] = has_part(*job) ? -fields : std::numeric_limits<std::int64_t>::min();
    numbers[7] = job->patches ? 1 : 0;
  }
  MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, MPI_MAX, comm.get());
  advance(-numbers[1], -numbers[2]);
  if (-numbers[2] != none) throw_failure(-numbers[2]);
  if (numbers[0] != 0)
    base::agree(ranks_of(comm.get()), [&] {
      if (put_error) throw *put_error;
    });
  const bool any_part = numbers[5] != 0;
  if (numbers[3] != -numbers[4] || (any_part && numbers[5] != -numbers[6])) {
    const std::string mine = job ? describe_step(*job) + (has_part(*job) ? ":" + describe(*job) : "") : "no step";
    const auto all = ranks_of(comm.get()).all_gather(mine);
    const auto is_part = [](const std::string& text) { return text.find(':') != std::string::npos; };
    const auto first = std::find_if(all.begin(), all.end(), is_part);
    for (std::size_t r = 0; r < all.size() && first != all.end(); ++r)
      if (all[r] != *first && (is_part(all[r]) || all[r] != first->substr(0, first->find(':'))))
        throw Error(Kind::usage, "ranks disagree about the step: rank " + std::to_string(first - all.begin()) +
                                     " has " + *first + " rank " + std::to_string(r) + " has " + all[r]);
    throw Error(Kind::usage, "ranks disagree about the step: " + all.front() + ", " + all.back());
  }
  return numbers[7] != 0;
}

// `durable_up_to`: all ranks have finished the jobs below without failure, but for those reported before. The same on
// all ranks, and so is what follows from it.
void Writer::State::advance(std::int64_t durable_up_to, std::int64_t failed) {
  bool checkpoint = false;
  while (!submitted.empty() && submitted.front().number < durable_up_to) {
    const Submitted& step = submitted.front();
    if (!step.failed) {
      durable[static_cast<std::size_t>(step.flow)] = step.id;
      checkpoint = checkpoint || step.flow == Flow::checkpoint;
    }
    submitted.pop_front();
  }
  for (Submitted& step : submitted)
    if (step.number == failed) step.failed = true;
  // A newer checkpoint is complete everywhere: only now an older one may go.
  if (checkpoint && options.keep_last > 0 && rank == 0)
    remove_old_checkpoints(store, options.keep_last, *durable[static_cast<std::size_t>(Flow::checkpoint)]);
}

void Writer::State::throw_failure(std::int64_t failed) {
  std::optional<Error> mine;
  if (!failures.empty() && failures.front().first == failed) {
    mine = failures.front().second;
    failures.pop_front();
  }
  base::agree(ranks_of(comm.get()), [&] {
    if (mine) throw *mine;
  });
}

// ------------------------------------------------------------------ the step goes

// What ranks must know of each other's patches: coarse cells under a finer box are refined, whoever has it.
void Writer::State::learn_boxes() {
  const auto all = gather_patches(comm.get(), job->patches ? &job->patches->mine : nullptr);
  if (job->patches) job->patches->others = patches_of_others(all, rank);
}

void Writer::end_step() {
  State& s = *state_;
  const Timer timer(s.statistics.seconds_in_calls);
  s.keep_error([&] { check_complete(*s.job); });
  std::optional<StepJob> step;
  try {
    if (s.report(true)) s.learn_boxes();
    step = std::exchange(s.job, std::nullopt);
  } catch (...) {
    s.job.reset();
    s.put_error.reset();
    throw;
  }
  s.hand_over(std::move(*step));
}

void Writer::State::hand_over(StepJob step) {
  const auto flow = static_cast<std::size_t>(step.plan.flow);
  const std::int64_t number = next_number++;
  step.plan.attempt = attempt_of(run, number);
  if (steps_of_flow[flow] == 0) step.plan.continues = resumed_from;
  submitted.push_back({number, step.plan.flow, {step.plan.step, step.plan.attempt}, false});
  ++statistics.steps;
  const std::uint64_t bytes = bytes_of(step);
  statistics.bytes_put += bytes;
  const Flow which = step.plan.flow;
  const Mode mode = mode_for(which);
  const auto begin = Clock::now();
  submit(std::move(step), mode);
  automatic[flow].seen(std::chrono::duration<double>(Clock::now() - begin).count(), bytes);
  ++steps_of_flow[flow];
  // A step that was written inside the call is reported by the call.
  if (mode == Mode::sync) report(false);
}

// No collective call: what goes wrong here becomes the step's failure.
void Writer::State::submit(StepJob step, Mode mode) {
  const std::int64_t number = next_number - 1;
  const std::uint64_t bytes = bytes_of(step);
  const bool stages = mode == Mode::background && !options.lend && staging.fits(bytes);
  if (stages) {
    statistics.seconds_waiting_for_staging += staging.reserve(bytes);
    statistics.bytes_staged += bytes;
    const Timer timer(statistics.seconds_copying);
    stage(step, staging);
  }
  statistics.seconds_waiting += background->submit(number, std::move(step), !stages);
  // Too large to be staged, or meant to be written now.
  if (mode == Mode::sync || (!stages && !options.lend)) statistics.seconds_waiting += background->drain();
}

Mode Writer::State::mode_for(Flow flow) {
  if (options.mode != Mode::automatic) return options.mode;
  AutoMode& automatic_mode = automatic[static_cast<std::size_t>(flow)];
  if (automatic_mode.must_decide()) automatic_mode.decide(comm.get());
  return automatic_mode.next();
}

// ------------------------------------------------------------------ waiting

void Writer::wait() {
  State& s = *state_;
  const Timer timer(s.statistics.seconds_in_calls);
  if (s.closed) throw Error(Kind::usage, "the writer is closed");
  s.statistics.seconds_waiting += s.background->drain();
  // All ranks have as many steps; the number of failures reported is the same on all too.
  std::optional<Error> first;
  while (true) {
    try {
      s.report(false);
      break;
    } catch (const Error& error) {
      if (!first) first = error;
    }
  }
  if (first) throw *first;
}

void Writer::close() {
  State& s = *state_;
  if (s.closed) return;
  try {
    wait();
  } catch (...) {
    s.closed = true;
    throw;
  }
  s.closed = true;
}

std::optional<store::StepId> Writer::newest_durable(Flow flow) const {
  return state_->durable[static_cast<std::size_t>(flow)];
}

Statistics Writer::statistics() const {
  state_->collect();
  return state_->statistics;
}

Mode Writer::mode_of(Flow flow) const {
  if (state_->options.mode != Mode::automatic) return state_->options.mode;
  return state_->automatic[static_cast<std::size_t>(flow)].decided();
}

}  // namespace octavo::parallel
