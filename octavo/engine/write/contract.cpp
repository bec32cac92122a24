#include <algorithm>
#include <deque>
#include <utility>

#include "octavo/engine/step/step_puts.hpp"
#include "octavo/engine/timer.hpp"
#include "octavo/engine/write/writer_state.hpp"
#include "octavo/ranks/route.hpp"

/// The points at which ranks agree, and the errors that a caller gets. Every collective call makes one reduction of a
/// few numbers (Agreement). All later decisions follow from the reduced numbers alone, so that all ranks take the same
/// way through the collective calls that come after. Texts of errors travel only when the numbers say that there are
/// some.
namespace octavo::engine {

using base::Error;
using base::Kind;

// ------------------------------------------------------------------ the ranks agree

Agreement Writer::State::own_report(bool with_step) {
  Agreement own;
  // A rank without local disks has nothing to drain or protect.
  own.finished = own.drained = own.safe = finished;
  own.durable = options.sync_policy == SyncPolicy::wait ? synced : finished;
  if (!failures.empty()) own.failed = failures.front().first;
  if (store) store->tell(own, statistics);
  if (!with_step) return own;
  // A rank that is in wait() or close() stops above: its hash 0 of the step tells the others that it is not in
  // end_step().
  own.put_failed = put_error ? 1 : 0;
  if (!job) return own;
  const std::int64_t step = ranks::hash_of(target.describe(*job));
  own.step = {step, step};
  if (!store) return own;
  if (has_part(*job)) {
    const std::int64_t part = ranks::hash_of(describe(*job));
    own.part = {part, part};
  }
  own.patches = job->patches ? 1 : 0;
  own.triangles = {job->triangles ? 1 : 0, job->triangles ? 1 : 0};
  own.new_mesh = store->triangles.is_new() ? 1 : 0;
  if (job->tree) own.volume = owned_volume(*job->tree);
  if (job->patches) own.volume = owned_volume(job->patches->mine, header.unfolded, header.block);
  return own;
}

// The one reduction of every collective call. It finds which steps all ranks have finished, which failed anywhere,
// whether a put failed (`with_step`), and whether the ranks mean the same step and fields. Throws the errors of the
// step that is being ended. A failed step enters `untold` once, when all ranks are done with it, so that no rank can
// fail it again later.
Agreement Writer::State::agree(bool with_step) {
  collect();
  Agreement all = own_report(with_step);
  reduce(comm.get(), all);
  const bool failed = all.failed < all.finished;
  // Each round takes one failure. take_failure() is collective, so all ranks must choose the same kind and step.
  const bool unsafe = !failed && all.unsafe < all.safe;
  const bool lost = !failed && !unsafe && all.lost < all.drained;
  // Steps behind a failed one land in a later round, when the failure is in `untold`. So steps land in order, each with
  // its fate known.
  advance(std::min(all.durable, all.failed), failed ? all.failed : Agreement::none);
  if (store) store->told_up_to(all.marked);
  if (store && store->local) {
    store->advance_safe(std::min({all.safe, all.failed, all.unsafe}), unsafe ? all.unsafe : Agreement::none);
    store->advance_drained(std::min({all.drained, all.failed, all.unsafe, all.lost}),
                           lost ? all.lost : Agreement::none);
  }
  if (failed) take_failure(failures, all.failed);
  if (unsafe) take_failure(store->local->unprotected, all.unsafe);
  if (lost) take_failure(store->local->failures, all.lost);
  if (failed || unsafe || lost) agree(false);  // there may be more
  check_same(with_step, all);
  return all;
}

// Throws unless the reduced numbers say that all ranks end the same step and that none has found an error in it.
void Writer::State::check_same(bool with_step, const Agreement& all) {
  if (all.put_failed != 0)
    ranks::agree(comm.get(), [&] {
      if (with_step && put_error) throw *put_error;
    });
  if (!all.step.is_one() || (all.any_part() && !all.part.is_one())) {
    // We name another step, time or attribute first, then other parts. Some ranks have no part.
    std::string mine = "no step (it has called wait() or close())", part;
    if (with_step && job) mine = target.describe(*job);
    if (with_step && job && has_part(*job)) part = describe(*job);
    auto difference = ranks::disagreement(comm.get(), mine, "the step");
    if (!difference) difference = ranks::disagreement(comm.get(), part, "the step " + mine.substr(0, mine.find(';')));
    job.reset();  // also on a rank that has called wait(): all ranks leave the step
    throw difference.value_or(Error(Kind::usage, "ranks disagree about the step"));
  }
  if (!all.triangles.is_one())
    throw Error(Kind::usage, "some ranks put triangles, and others do not").hint("a piece without points");
}

// Collective: tells all ranks the failure of a step, from this rank's failures if it has any.
void Writer::State::take_failure(std::deque<std::pair<std::int64_t, Error>>& kept, std::int64_t failed) try {
  std::optional<Error> mine;
  // A step can be here twice: its write failed, and so did a later sync of its file. The first error counts.
  for (; !kept.empty() && kept.front().first == failed; kept.pop_front())
    if (!mine) mine = kept.front().second;
  ranks::agree(comm.get(), [&] {
    if (mine) throw *mine;
  });
} catch (const Error& error) {
  untold.push_back(error);
}

// Throws all untold failures as one error.
void Writer::State::tell() {
  constexpr std::size_t most = 8;
  const std::vector<Error> all = std::exchange(untold, {});
  if (all.empty()) return;
  if (all.size() == 1) throw all.front();
  std::string text = all.front().what();
  for (std::size_t i = 1; i < std::min(most, all.size()); ++i) text += std::string("\n") + all[i].what();
  if (all.size() > most) text += "\nand " + std::to_string(all.size() - most) + " more steps failed";
  throw Error(all.front().kind(), text);
}

// ------------------------------------------------------------------ a step is ended

namespace {

// Whether the system refuses, and not the target: no room, no permission, an I/O error.
bool is_of_system(const Error& error) { return error.kind() == Kind::no_space || error.kind() == Kind::unreadable; }

// A step that was taken and has failed.
StepWork failed_work(std::shared_ptr<StepJob> job, const Error& error) {
  StepWork work;
  work.job = std::move(job);
  work.write = [error](Writing&) { throw error; };
  return work;
}

}  // namespace

// Collective. Throws the errors of this step. The previous step is over, unless the target is a store. A file that the
// system does not let a target lay out is no fault of the step: as in a store, which lays nothing out, the next call
// tells of it.
StepWork Writer::State::take_step() {
  keep_error([&] {
    check_complete(*job);
    follow_streams(*job);
    if (target.check) target.check(*job);
  });
  // The reduction below must know how the previous step ended: only one step of such a target is on its way.
  if (!store) statistics.seconds_waiting += background->drain();
  // In sync mode a step finds the room of the old ones: all ranks have removed their files when they agree.
  if (store && options.mode == Mode::sync) statistics.seconds_waiting += store->removal.wait();
  const Agreement all = agree(true);
  // A series numbers its steps without the failed ones.
  if (!store && job->path.empty()) job->plan.step = target.steps_found + durable_steps;
  const std::shared_ptr<StepJob> taken = std::exchange(job, nullptr);
  if (store) return target.take(taken, all);
  try {
    return target.take(taken, all);
  } catch (const Error& error) {
    if (!is_of_system(error)) throw;
    return failed_work(taken, error);
  }
}

void Writer::end_step() {
  State& s = *state_;
  const Timer timer(s.statistics.seconds_in_calls);
  ranks::take_begin_error(s.begin_error, s.put_error);
  std::optional<StepWork> work;
  try {
    work = s.take_step();
  } catch (const Error& error) {
    s.job.reset();
    s.put_error.reset();
    // The caller gets this step's error first, then those of earlier steps.
    s.untold.insert(s.untold.begin(), error);
    s.tell();
  } catch (...) {
    s.job.reset();
    s.put_error.reset();
    throw;
  }
  s.hand_over(std::move(*work));
  s.tell();
}

// ------------------------------------------------------------------ waiting

void Writer::State::sync_written() try {
  collect();
  // The thread is idle: settle() has drained it. Else it could write into a file while we sync it and call it done.
  store->group.sync_written();
  synced = finished;
} catch (const Error& error) {
  // Nobody knows which pages were lost, so no step since the last sync is safe.
  for (const Submitted& step : submitted)
    if (!step.failed)
      failures.emplace_back(step.number,
                            Error(error).at(store::to_string(step.flow) + " step " + std::to_string(step.id.step)));
  std::stable_sort(failures.begin(), failures.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  synced = finished;
}

// Collective: every step so far is durable on all ranks, or has failed. The order matters: the sync takes what the
// thread has written, and the reduction reports what the sync has made durable.
void Writer::State::settle() {
  statistics.seconds_waiting += background->drain();
  if (store && store->local && store->local->copies) statistics.seconds_waiting += store->local->copies->wait();
  if (options.sync_policy == SyncPolicy::wait) sync_written();
  agree(false);
  end_chores();
  if (store) statistics.seconds_waiting += store->removal.finish(comm.get());
}

// Collective. Finishes the chores: afterwards marks are synced, the newest durable step is known, and the removal of
// older ones has begun. An earlier reduction has queued the chores on rank 0's thread; this one tells all ranks that
// they are done.
void Writer::State::end_chores() {
  if (!store) return;
  statistics.seconds_waiting += background->drain();
  if (!store->unmarked.empty() || !store->doomed.empty()) agree(false);
}

// Collective. Every step that goes to the store is there, and the newest checkpoint too.
void Writer::State::drain_all() {
  LocalSteps& local = *store->local;
  const auto wait = [&] {
    if (local.drain) statistics.seconds_waiting += local.drain->wait();
    agree(false);
  };
  wait();
  drain_last(local);
  wait();
}

bool Writer::finished() {
  State& s = *state_;
  const Timer timer(s.statistics.seconds_in_calls);
  s.agree(false);
  s.tell();
  return s.submitted.empty();
}

void Writer::wait() {
  State& s = *state_;
  const Timer timer(s.statistics.seconds_in_calls);
  if (s.closed) throw Error(Kind::usage, "the writer is closed");
  s.settle();
  s.tell();
}

void Writer::close() {
  State& s = *state_;
  if (s.closed) return;
  ranks::require_mpi();
  std::optional<Error> first;
  const auto note = [&](const std::function<void()>& work) {
    try {
      work();
    } catch (const Error& error) {
      if (!first) first = error;
    }
  };
  // The parts are collective and throw the same on all ranks. After an error we go on, so that the steps that are left
  // are drained and counted.
  note([&] { wait(); });
  note([&] {
    if (s.target.close) s.target.close();
  });
  ranks::take_begin_error(s.begin_error, s.put_error);
  note([&] { ranks::require_ended(s.comm.get(), s.put_error, s.job != nullptr); });
  if (s.store && s.store->local)
    note([&] {
      const Timer timer(s.statistics.seconds_in_calls);
      s.drain_all();
      s.end_chores();
      s.store->removal.finish(s.comm.get());
      s.tell();
    });
  s.closed = true;
  if (s.store) s.store->lock = {};
  if (s.store && !first) s.store->prove({Mark::started});
  note([&] { s.write_statistics(); });
  if (first) throw *first;
}

}  // namespace octavo::engine
