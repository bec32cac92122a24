#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "octavo/base/cores.hpp"
#include "octavo/base/current_error.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/engine/step/step_puts.hpp"
#include "octavo/engine/step_log.hpp"
#include "octavo/engine/timer.hpp"
#include "octavo/engine/write/writer_state.hpp"

/// The way of a step from end_step() to the call that finds it finished.
namespace octavo::engine {

using base::Error;
using base::Kind;
using store::Flow;

// ------------------------------------------------------------------ handed over

// If steps on their way take all slots, waits for these steps.
void Writer::State::choose_files(store::SegmentPlan& segment) {
  if (store->choose_files(segment, next_number)) return;
  settle();
  if (!store->choose_files(segment, next_number)) throw Error(Kind::usage, "no checkpoint slot is free");
}

// Until one of the run's steps is known to be durable, each names the step that it continues: the previous one that has
// not failed, else the step from which the run resumed. So whichever of them fails, the next one supersedes the
// abandoned branch.
std::optional<store::StepId> Writer::State::continued_by(Flow flow) const {
  if (durable[static_cast<std::size_t>(flow)]) return {};
  for (auto step = submitted.rbegin(); step != submitted.rend(); ++step)
    if (step->flow == flow && !step->failed) return step->id;
  return store->resumed_from;
}

bool Writer::State::chooses(Flow flow) const {
  return options.mode == Mode::automatic || (store && is_codec_by_cost(options, flow));
}

std::optional<Spent> Writer::State::watched(Flow flow) const {
  if (!chooses(flow) || !automatic[static_cast<std::size_t>(flow)].watches()) return {};
  return spent_by_process(in_application);
}

// Collective. The cost of the first steps that all ranks have written decides how later ones are written.
Choice Writer::State::choose(Flow flow) {
  if (!chooses(flow)) return {options.mode, CodecChoice::given};
  const bool by_cost = store && is_codec_by_cost(options, flow);
  std::optional<Mode> fixed;
  if (options.mode != Mode::automatic) fixed = options.mode;
  AutoMode& automatic_mode = automatic[static_cast<std::size_t>(flow)];
  if (automatic_mode.must_decide()) {
    const int cores = options.bound_thread ? base::thread_count(0) : base::cores_without_binding();
    const std::string reason = automatic_mode.decide(comm.get(), cores, by_cost, fixed);
    const std::string until = automatic_mode.decided() ? " steps from here on: " : " steps until one is measured: ";
    if (rank == 0) write_log(options.log, store::to_string(flow) + until + reason);
  }
  Choice choice = automatic_mode.choice();
  choice.mode = fixed.value_or(choice.mode);
  return choice;
}

void Writer::State::hand_over(StepWork work) {
  StepJob& step = *work.job;
  // All ranks see the same steps come and go, so all choose the same files, or all wait here for a slot.
  if (store) choose_files(step.plan);
  const Flow which = step.plan.flow;
  const auto flow = static_cast<std::size_t>(which);
  const std::int64_t number = next_number++;
  Submitted handed{number, which, {step.plan.step, {}}, false, {}};
  if (store) store->identify(step, handed, continued_by(which));
  ++statistics.steps;
  statistics.bytes_put += work.bytes_put;
  statistics.bytes_staged += work.bytes_copied;
  statistics.seconds_copying += work.seconds_copying;
  statistics.largest_step = std::max(statistics.largest_step, work.bytes_put);
  const auto [mode, encoding] = choose(which);
  if (encoding == CodecChoice::fast) step.encoding.codec.effort = codec::Effort::fast;
  if (encoding == CodecChoice::raw) step.encoding.codec.method = codec::Method::raw;
  handed.record = {.flow = which,
                   .step = step.plan.step,
                   .time = step.header.time,
                   .mode = mode,
                   .encoding = encoding,
                   .bytes_put = work.bytes_put,
                   .seconds_copying = work.seconds_copying};
  submitted.push_back(std::move(handed));
  const auto begin = Clock::now();
  if (store && store->local) send_through(*store->local, step, store->run, number);
  // land() seals the step: the flight must keep the job, and what is to be done, until then.
  if (!store) flights.push_back({number, work});
  submit(std::move(work), mode);
  last_step[flow] = Clock::now();
  const double seconds = std::chrono::duration<double>(last_step[flow] - begin).count();
  submitted.back().record.seconds_in_call = seconds;
  if (const auto spent = watched(which)) automatic[flow].handed_over(*spent);
  // In sync mode the call that writes a step also reports its end.
  if (mode != Mode::sync) return;
  agree(false);
  end_chores();
}

// If a step cannot be copied, we tell the group, which then writes nothing of it.
void Writer::State::stage(StepWork& work) {
  const auto begin = Clock::now();
  double waited = 0;
  try {
    waited = work.stage(*staging);
  } catch (...) {
    work.job->failure = base::current_error();
  }
  statistics.seconds_waiting_for_staging += waited;
  statistics.bytes_staged += work.bytes_put - work.job->lent_bytes;
  statistics.waits_for_staging += waited > 0 || work.job->lent_bytes > 0 ? 1 : 0;
  const double copying = seconds_since(begin) - waited;
  statistics.seconds_copying += copying;
  submitted.back().record.seconds_copying += copying;
}

// Not collective: an error here becomes the step's failure.
void Writer::State::submit(StepWork work, Mode mode) {
  const std::int64_t number = next_number - 1;
  // We limit the steps on their way: other ranks may be slow, and a kill loses these steps. The wait ends, because all
  // ranks have handed over the earlier steps.
  statistics.seconds_waiting += background->wait_for_room(static_cast<std::size_t>(options.steps_in_flight) - 1);
  const bool stages = work.stage && mode == Mode::background && !options.lend;
  if (stages) stage(work);
  const std::uint64_t lent_bytes = work.job->lent_bytes;
  submitted.back().record.bytes_lent = lent_bytes;
  const bool lent = work.stage && (!stages || lent_bytes > 0);
  statistics.seconds_waiting += background->submit(number, std::move(work), lent);
  if (mode == Mode::sync)
    statistics.seconds_waiting += background->drain();
  else if (lent_bytes > 0)  // the part of the step for which staging has no room is written from the arrays
    statistics.seconds_waiting += background->take_back_lent();
}

// ------------------------------------------------------------------ over

// Takes the steps that this rank's thread has ended since the last call.
void Writer::State::collect() {
  if (store && store->local) engine::collect(*store->local, statistics);
  // Outcomes come in the order of steps, so the last one says how many this rank has finished.
  for (Outcome& outcome : background->collect()) {
    finished = outcome.number + 1;
    statistics.seconds_working += outcome.seconds;
    statistics.bytes_stored += outcome.written.bytes;
    statistics.seconds_waiting_for_drain += outcome.seconds_waiting_for_drain;
    for (Submitted& step : submitted)
      if (step.number == outcome.number) {
        step.record.seconds_working = outcome.seconds;
        step.record.seconds_encoding = outcome.written.seconds_encoding;
        step.record.seconds_cpu = outcome.seconds_cpu;
        step.record.bytes_stored = outcome.written.bytes;
        step.record.went_round = outcome.written.went_round ? 1 : 0;
        if (!store || !store->local) step.order = outcome.written.order;
        step.segment = std::move(outcome.written.segment);
      }
    if (!outcome.failure) continue;
    try {
      std::rethrow_exception(outcome.failure);
    } catch (...) {
      Error error = base::current_error();
      if (!store) error.at(flights.front().work.job->name);  // a store's steps name themselves
      failures.emplace_back(outcome.number, std::move(error));
    }
  }
}

// `durable_up_to`: all ranks have finished the steps below it, and only steps known to have failed did fail. Both
// numbers are the same on all ranks, and so are their consequences. The step `failed` is not below `durable_up_to`: it
// is marked here, and lands in a later call.
void Writer::State::advance(std::int64_t durable_up_to, std::int64_t failed) {
  for (; !submitted.empty() && submitted.front().number < durable_up_to; submitted.pop_front()) land(submitted.front());
  mark_failed(submitted, failed);
  if (store && store->local) mark_failed(store->local->steps, failed);
}

// Collective. Called when all ranks have written the step or it failed. Afterwards it is over on all ranks.
void Writer::State::land(Submitted& step) {
  if (!flights.empty() && flights.front().number == step.number) {
    const StepWork work = std::move(flights.front().work);
    flights.pop_front();
    step.failed = step.failed || !seal(work);
    if (step.failed && work.discard) work.discard();
    statistics.bytes_stored += step.failed ? 0 : work.bytes_stored;
  }
  statistics.failed += step.failed ? 1 : 0;
  if (!step.failed) {
    const StepRecord& record = step.record;
    // CodecChoice was timed by the wall clock. On a shared core the thread's own seconds are less, and the computation
    // misses only these.
    const double encoding = std::min(record.seconds_encoding, record.seconds_cpu);
    automatic[static_cast<std::size_t>(step.flow)].written(record.encoding, record.seconds_copying,
                                                           {.encoding = encoding,
                                                            .writing = record.seconds_working - record.seconds_encoding,
                                                            .writing_cpu = record.seconds_cpu - encoding},
                                                           record.bytes_put, record.bytes_stored);
    ++durable_steps;
    durable[static_cast<std::size_t>(step.flow)] = step.id;
  }
  if (store) store->landed(step);
  if (!logs) return;
  if (store && rank == 0 && store->group.direct_io_refused() && !std::exchange(refusal_told, true))
    write_log(options.log, direct_io_note(store->path));
  StepRecord record = over_ranks(step.record, comm.get());
  record.failed = step.failed;
  if (rank == 0) write_log(options.log, to_text(record));
}

// Collective. Returns false if the step cannot be made visible.
bool Writer::State::seal(const StepWork& work) try {
  if (work.gather) work.gather();
  if (work.seal) ranks::agree(comm.get(), work.seal);
  return true;
} catch (const Error& error) {
  untold.push_back(Error(error).at(work.job->name));
  return false;
}

}  // namespace octavo::engine
