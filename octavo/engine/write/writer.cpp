#include "octavo/engine/write/writer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <fstream>
#include <limits>
#include <set>

#include "octavo/base/checksum.hpp"
#include "octavo/base/current_error.hpp"
#include "octavo/engine/points/triangle_pieces.hpp"
#include "octavo/engine/restart/failed_restarts.hpp"
#include "octavo/engine/step/all_patches.hpp"
#include "octavo/engine/step/owned_volume.hpp"
#include "octavo/engine/step/step_puts.hpp"
#include "octavo/engine/tiers/local_tier.hpp"
#include "octavo/engine/timer.hpp"
#include "octavo/engine/write/auto_mode.hpp"
#include "octavo/engine/write/background.hpp"
#include "octavo/engine/write/keep.hpp"
#include "octavo/engine/write/slots.hpp"
#include "octavo/file/directory_lock.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/route.hpp"
#include "octavo/store/read/scan.hpp"
#include "octavo/store/write/append.hpp"

namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;
using store::Flow;
using Clock = std::chrono::steady_clock;

void check_threads(const Options& options) {
  if (options.mode == Mode::sync && options.staging_directory.empty()) return;
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_FUNNELED)
    throw Error(Kind::usage, "MPI was initialised for one thread a process only")
        .at("option mode = " + std::string(name_of(options.mode)))
        .hint("MPI_Init_thread with MPI_THREAD_FUNNELED, or mode = sync without a staging directory");
}

bool is_wanted(const std::vector<std::string>& wanted, const std::string& name) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

// What ranks have put in a step.
struct Seen {
  bool patches = false, triangles = false;
  bool new_mesh = false;      // of triangles, on one rank at least
  bool whole_domain = false;  // owned leaves of trees fill the domain
};

Error other_volume(const Volume& sum, const Volume& domain, const std::string& step) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", to_double(sum) / to_double(domain));
  const bool more = is_larger(sum, domain);
  return Error(Kind::usage, "owned leaves of all ranks fill " + std::string(text.data()) +
                                " of the domain: " + (more ? "cells are owned twice" : "cells are owned by no rank"))
      .at(step);
}

// Of ranks that say another step, time or attribute first; then of parts, of which some ranks have none.
Error step_disagreement(const std::vector<std::string>& steps, std::vector<std::string> parts) {
  if (std::adjacent_find(steps.begin(), steps.end(), std::not_equal_to<>()) != steps.end())
    return ranks::disagreement(steps, "the step");
  const auto first = std::find_if(parts.begin(), parts.end(), [](const std::string& text) { return !text.empty(); });
  for (std::string& text : parts)
    if (text.empty()) text = *first;
  return ranks::disagreement(parts, "the step " + steps.front().substr(0, steps.front().find(';')));
}

std::string continued(const std::optional<store::StepId>& from) {
  if (!from) return " a new run;";
  const std::int64_t attempt =
      ranks::hash_of(std::string(reinterpret_cast<const char*>(from->attempt.data()), from->attempt.size()));
  return " goes on from step " + std::to_string(from->step) + ", attempt " + std::to_string(attempt) + ";";
}

}  // namespace

struct Writer::State {
  State(MPI_Comm parent, const std::filesystem::path& path, const mesh::Header& common, const Options& chosen);

  ranks::OwnComm comm;
  std::filesystem::path store;
  mesh::Header header;
  Options options;
  std::optional<store::StepId> resumed_from;
  WritePlan plan;
  int rank = 0;
  store::Attempt run{};
  file::DirectoryLock lock;  // of the store, on rank 0
  Group group;
  std::optional<Staging> staging;
  std::optional<LocalSteps> local;       // outlives the background, which hands steps to its drain
  std::atomic<std::int64_t> marked = 0;  // on rank 0, as local: jobs below are listed in a mark, or failed
  std::optional<Background> background;

  std::optional<StepJob> job;        // between begin_step and end_step
  std::optional<Error> begin_error;  // of a begin_step that no good one has followed
  std::optional<Error> put_error;    // the first thing that went wrong in a put
  std::string last_begun;            // step, as errors name it
  std::int64_t next_number = 0;
  std::array<std::int64_t, 2> steps_of_flow{0, 0};
  std::array<AutoMode, 2> automatic;

  SeriesMesh piece;  // of triangles, as it was put last
  std::uint64_t piece_checksum = 0;
  std::optional<TriangleShares> shares;
  std::uint64_t mesh_numbers = 0;         // checksum of the integer fields that stand with the mesh
  std::uint64_t put_numbers = 0;          // of those of this step
  std::int64_t mesh_since = 0;            // jobs from this number on have this mesh
  std::optional<std::int64_t> mesh_step;  // of the analysis flow: durable, and has it

  std::deque<Submitted> submitted;  // not known to be durable, nor to have failed
  std::array<std::optional<store::StepId>, 2> durable;
  std::array<std::optional<store::StepId>, 2> told;     // the newest durable one that a mark lists
  std::deque<Submitted> unmarked;                       // durable, and not told
  std::deque<std::pair<std::int64_t, Error>> failures;  // on this rank, of steps that ranks may still be at
  std::vector<Error> untold;  // a failed step each, the same on all ranks: nothing threw it yet
  std::int64_t finished = 0;  // jobs of this rank that are done, failed ones too
  std::int64_t synced = 0;    // of those: on disk, where sync_policy is wait
  Slots slots;
  std::optional<Keeper> keeper;       // on rank 0
  std::set<std::string> directories;  // of checkpoints: the next attempt gets another
  Statistics statistics;
  bool closed = false;
  bool logs = false;    // the same on all ranks
  bool proven = false;  // this run has a step: the start was good
  std::vector<std::string> notes;
  const Clock::time_point opened = Clock::now();
  const file::Counts counts_before = file::counts();
  std::array<std::optional<double>, 2> asked_time;
  std::array<Clock::time_point, 2> last_step{opened, opened};

  void advance_drained(std::int64_t up_to, std::int64_t failed);
  void finish(const Submitted& step);
  void prove(std::initializer_list<Mark> marks);
  void lock_store();
  void write_statistics();
  Statistics statistics_now();
  void put(const std::string& what, const std::function<void()>& work);
  void keep_error(const std::function<void()>& work);
  void collect();
  Seen report(bool with_step);
  void learn_boxes();
  void keep_piece(const mesh::Unstructured& mesh, std::span<const std::int64_t> global_element);
  void fold_triangles(bool is_new);
  void advance(std::int64_t durable_up_to, std::int64_t failed);
  void keep(const Submitted& step);
  void do_behind(Chore chore);
  void end_chores();
  void open_keeper();
  void take_failure(std::deque<std::pair<std::int64_t, Error>>& kept, std::int64_t failed);
  void tell();
  void check_same(bool with_step, std::span<const std::int64_t> numbers);
  bool check_volume(std::span<const std::int64_t> digits) const;
  void hand_over(StepJob step);
  void stage_it(StepJob& step);
  void submit(StepJob step, Mode mode);
  void choose_files(store::SegmentPlan& segment);
  std::optional<store::StepId> continued_by(Flow flow) const;
  void settle();
  void sync_written();
  Mode mode_for(Flow flow);
};

Writer::State::State(MPI_Comm parent, const std::filesystem::path& path, const mesh::Header& common,
                     const Options& chosen)
    : comm(ranks::duplicate(parent)), store(path), header(common), options(chosen), rank(ranks::rank_in(comm.get())) {}

Writer::Writer(MPI_Comm comm, const std::filesystem::path& store, const mesh::Header& header, const Options& options,
               std::optional<store::StepId> resumed_from)
    : state_(std::make_unique<State>(comm, store, header, options)) {
  State& s = *state_;
  ranks::agree(s.comm.get(), [&] {
    if (store.empty()) throw Error(Kind::usage, "the store needs a name");
    check(options);
    check_threads(options);
    if (header.unfolded < 0 || header.unfolded > 32)
      throw Error(Kind::usage, "unfolded levels: expected 0 to 32, found " + std::to_string(header.unfolded));
    check(header);
    if (s.rank == 0) check_log(options.log);
    if (s.rank == 0) check_statistics(options.statistics);
    s.lock_store();
  });
  ranks::require_same(s.comm.get(),
                      "store " + store.string() + ";" + describe(header) + describe(options) + continued(resumed_from),
                      "the writer");
  // What starts from an output of a code continues no step of a store.
  if (resumed_from && resumed_from->attempt != store::Attempt{}) s.resumed_from = resumed_from;
  if (s.rank == 0) s.run = store::random_attempt();
  MPI_Bcast(s.run.data(), static_cast<int>(s.run.size()), MPI_BYTE, 0, s.comm.get());
  int logs = options.log.empty() ? 0 : 1;
  MPI_Bcast(&logs, 1, MPI_INT, 0, s.comm.get());
  s.logs = logs != 0;
  s.plan = plan_write(ranks::hosts_of_ranks(s.comm.get(), options.ranks_per_node), {}, plan_options(options));
  const ranks::OwnComm group =
      ranks::split(s.comm.get(), s.plan.file_of_rank[static_cast<std::size_t>(s.rank)], s.rank);
  s.group = Group::join(group.get(), s.rank);
  if (!options.staging_directory.empty()) {
    const int file = s.plan.file_of_rank[static_cast<std::size_t>(s.rank)];
    const bool has_files = s.plan.files[static_cast<std::size_t>(file)].writer == s.rank;
    for (std::string& note : open_local(s.local.emplace(), s.comm.get(), options, store, has_files))
      s.notes.push_back(std::move(note));
  }
  ranks::agree(s.comm.get(), [&] {
    const bool stages = options.mode != Mode::sync && !options.lend;
    s.staging.emplace(stages ? static_cast<std::uint64_t>(options.staging_bytes) : 0);
    s.background.emplace(s.group, *s.staging, options.mode != Mode::sync, options.bound_thread);
  });
  s.open_keeper();
  if (options.recycle) {
    s.slots = Slots(options.keep_last);
    s.slots.find(s.comm.get(), store, s.resumed_from);
  }
}

// Collective. All ranks give a new attempt at a checkpoint the same directory.
void Writer::State::open_keeper() {
  std::string names;
  ranks::agree(comm.get(), [&] {
    if (rank != 0) return;
    keeper.emplace(
        store,
        Keeper::Options{options.keep_last, options.recycle, options.sync_policy != SyncPolicy::none, local.has_value()},
        resumed_from);
    for (const std::string& name : keeper->directories()) names += name + '\n';
  });
  names = ranks::from_first(comm.get(), std::move(names));
  for (std::size_t at = 0; at < names.size(); at = names.find('\n', at) + 1)
    directories.insert(names.substr(at, names.find('\n', at) - at));
}

Writer::~Writer() = default;
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;

// A job that was submitted twice would have its runs write over each other in turn. The lock ends with the process,
// however that ends. A store that cannot be made or locked is left to its first step, which says what is wrong with it.
void Writer::State::lock_store() {
  if (rank != 0) return;
  try {
    file::make_directories(store);
    store::write_marker(store);
    lock = file::lock_directory(store);
  } catch (const Error&) {
    return;
  }
  if (!lock.is_open())
    throw Error(Kind::usage, "another writer has this store open: " + lock.holder())
        .at(store.string())
        .hint("a run that is still at work, or a writer that was not closed");
  if (!lock.note().empty()) notes.push_back(lock.note());
  store::check_version(store);
}

// ------------------------------------------------------------------ a step is put together

void Writer::State::put(const std::string& what, const std::function<void()>& work) {
  const Timer timer(statistics.seconds_in_calls);
  if (job) return keep_error(work);
  if (!put_error) put_error = outside_of_step(what, last_begun);
}

void Writer::State::keep_error(const std::function<void()>& work) {
  try {
    if (!job) throw Error(Kind::usage, "there is no step to end");
    work();
  } catch (...) {
    // Kept until all ranks can throw it: one that left now would leave the others waiting in end_step().
    if (!put_error) put_error = base::current_error();
  }
}

void Writer::begin_step(Flow flow, std::int64_t step, double time) {
  State& s = *state_;
  const double in_application =
      std::chrono::duration<double>(Clock::now() - s.opened).count() - s.statistics.seconds_in_calls;
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
  s.last_begun = describe_step(job);
  s.job = std::move(job);
  s.begin_error.reset();
  s.collect();
  s.automatic[static_cast<std::size_t>(flow)].begins(in_application, s.statistics.seconds_working);
}

bool Writer::due(Flow flow, std::int64_t step, double time) {
  State& s = *state_;
  ranks::require_mpi();
  const auto f = static_cast<std::size_t>(flow);
  const Cadence& cadence = cadence_of(s.options, flow);
  const CadenceState known{s.asked_time[f], std::chrono::duration<double>(Clock::now() - s.last_step[f]).count()};
  s.asked_time[f] = time;
  int is = is_due(cadence, step, time, known) ? 1 : 0;
  if (cadence.seconds > 0) MPI_Bcast(&is, 1, MPI_INT, 0, s.comm.get());
  return is != 0;
}

void Writer::put_attribute(const std::string& name, mesh::Attribute value) {
  state_->put("attribute " + name, [&] { state_->job->header.attributes[name] = std::move(value); });
}

void Writer::put_bytes(const std::string& name, std::span<const std::byte> bytes) {
  state_->put("bytes " + name, [&] { state_->job->opaque[name].assign(bytes.begin(), bytes.end()); });
}

void Writer::put_mesh(const mesh::Octree& tree) {
  state_->put("the mesh", [&] { set_mesh(*state_->job, tree); });
}

void Writer::put_mesh(const mesh::Patches& patches) {
  state_->put("the mesh", [&] { set_mesh(*state_->job, patches); });
}

void Writer::State::keep_piece(const mesh::Unstructured& mesh, std::span<const std::int64_t> global_element) {
  set_mesh(*job, TriangleSource{mesh.x.size(), mesh.planes});
  const std::uint64_t checksum = checksum_of(mesh, global_element);
  if (checksum == piece_checksum) return;
  piece = {.piece = mesh, .global_element = {global_element.begin(), global_element.end()}};
  piece_checksum = checksum;
}

void Writer::put_mesh(const mesh::Unstructured& piece, std::span<const std::int64_t> global_element) {
  state_->put("the mesh", [&] { state_->keep_piece(piece, global_element); });
}

void Writer::put_field(const std::string& name, const ArrayView& view, const std::string& unit,
                       mesh::Centring centring) {
  state_->put("field " + name, [&] {
    if (is_wanted(fields_of(state_->options, state_->job->plan.flow), name))
      add_field(*state_->job, name, view, unit, centring);
  });
}

void Writer::put_field(const std::string& name, std::span<const ArrayView> boxes, const std::string& unit,
                       mesh::Centring centring) {
  state_->put("field " + name, [&] {
    if (is_wanted(fields_of(state_->options, state_->job->plan.flow), name))
      add_field(*state_->job, name, boxes, unit, centring);
  });
}

void Writer::put_particles(const std::string& species, const std::string& attribute, const ArrayView& view,
                           const std::string& unit) {
  state_->put("particles " + species + "/" + attribute,
              [&] { add_particles(*state_->job, species, attribute, view, unit); });
}

void Writer::put_error(const Error& error) {
  if (!state_->put_error) state_->put_error = error;
}
void Writer::begin_error(const Error& error) { state_->begin_error = error; }

// ------------------------------------------------------------------ the ranks agree

void Writer::State::collect() {
  if (local) engine::collect(*local, statistics);
  for (Outcome& outcome : background->collect()) {
    finished = outcome.number + 1;
    statistics.seconds_working += outcome.seconds;
    statistics.bytes_stored += outcome.written.bytes;
    statistics.seconds_waiting_for_drain += outcome.seconds_waiting_for_drain;
    for (Submitted& step : submitted)
      if (step.number == outcome.number) {
        step.record.seconds_working = outcome.seconds;
        step.record.bytes_stored = outcome.written.bytes;
        if (!local) step.order = outcome.written.order;
      }
    if (!outcome.failure) continue;
    ++statistics.failed;
    try {
      std::rethrow_exception(outcome.failure);
    } catch (...) {
      failures.emplace_back(outcome.number, base::current_error());
    }
  }
}

// The one reduction of every collective call. Which steps all ranks have finished, which failed anywhere, whether a put
// failed (`with_step`), and whether the ranks mean the same step and fields: what is wrong with the step that is ended
// is thrown. A step that failed becomes `untold`, once, when all ranks are done with it: those that fail later have
// nothing to add.
Seen Writer::State::report(bool with_step) {
  collect();
  lock.touch();
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::array<std::int64_t, 15> numbers{};
  Volume volume{};
  numbers[0] = with_step && put_error ? 1 : 0;
  numbers[1] = -(options.sync_policy == SyncPolicy::wait ? synced : finished);
  numbers[2] = failures.empty() ? -none : -failures.front().first;
  numbers[7] = -(local ? drained_up_to(*local, finished) : finished);
  if (local) {
    engine::collect(*local, statistics);
    // What failed before it was on all local disks is not lost once more on the way from there.
    std::erase_if(local->failures, [&](const auto& failure) { return has_failed(local->steps, failure.first); });
  }
  numbers[8] = local && !local->failures.empty() ? -local->failures.front().first : -none;
  numbers[13] = -finished;
  numbers[14] = rank == 0 ? -marked : -none;
  if (with_step && job) {
    const std::int64_t step = ranks::hash_of(describe_step(*job) + describe(job->header));
    const std::int64_t fields = has_part(*job) ? ranks::hash_of(describe(*job)) : 0;
    numbers[3] = step;
    numbers[4] = -step;
    numbers[5] = fields;
    numbers[6] = has_part(*job) ? -fields : std::numeric_limits<std::int64_t>::min();
    numbers[9] = job->patches ? 1 : 0;
    numbers[10] = job->triangles ? 1 : 0;
    numbers[11] = -numbers[10];
    numbers[12] = !shares || shares->piece != piece_checksum || mesh_numbers != put_numbers ? 1 : 0;
    if (job->tree) volume = owned_volume(*job->tree);
    if (job->patches) volume = owned_volume(job->patches->mine, header.unfolded, header.block);
  }
  ranks::largest_and_sum_of_all(comm.get(), numbers, volume);
  const std::int64_t failed = -numbers[2], lost_on_the_way = -numbers[8];
  const bool failed_everywhere = failed < -numbers[13];
  const bool lost_everywhere = !failed_everywhere && lost_on_the_way < -numbers[7];
  advance(std::min(-numbers[1], failed), failed_everywhere ? failed : none);
  for (; !unmarked.empty() && unmarked.front().number < -numbers[14]; unmarked.pop_front())
    told[static_cast<std::size_t>(unmarked.front().flow)] = unmarked.front().id;
  if (local)
    advance_drained(std::min({-numbers[7], failed, lost_on_the_way}), lost_everywhere ? lost_on_the_way : none);
  if (failed_everywhere) take_failure(failures, failed);
  if (lost_everywhere) take_failure(local->failures, lost_on_the_way);
  if (failed_everywhere || lost_everywhere) report(false);  // there may be more
  check_same(with_step, numbers);
  const bool any_cells = with_step && numbers[5] != 0 && numbers[10] == 0;
  const bool whole = any_cells && check_volume(volume) && numbers[9] == 0;
  return {numbers[9] != 0, numbers[10] != 0, numbers[12] != 0, whole};
}

// `digits` is the sum over ranks. We check here because otherwise only verify would find cells that two ranks own, in a
// step already reported as durable. Returns whether the owned leaves fill the domain.
bool Writer::State::check_volume(std::span<const std::int64_t> digits) const {
  const Volume sum = normalised(digits), domain = normalised(domain_volume(header.dim, header.roots));
  if (sum == domain) return true;
  if (is_whole_domain(options, job->plan.flow) || is_larger(sum, domain))
    throw other_volume(sum, domain, describe_step(*job));
  return false;
}

// Throws unless the reduced numbers say that all ranks end the same step and that none has found an error in it.
void Writer::State::check_same(bool with_step, std::span<const std::int64_t> numbers) {
  if (numbers[0] != 0)
    base::agree(ranks::ranks_of(comm.get()), [&] {
      if (with_step && put_error) throw *put_error;
    });
  const bool any_part = numbers[5] != 0;
  if (numbers[3] != -numbers[4] || (any_part && numbers[5] != -numbers[6])) {
    // Ranks without a part say nothing of fields: they are heard after those that have one.
    std::string mine = "no step (it has called wait() or close())", part;
    if (with_step && job) mine = describe_step(*job) + ";" + describe(job->header);
    if (with_step && job && has_part(*job)) part = describe(*job);
    const auto ranks = ranks::ranks_of(comm.get());
    const auto steps = ranks.all_gather(mine), parts = ranks.all_gather(part);
    job.reset();  // of a rank that has called wait() too: all are out of the step
    throw step_disagreement(steps, parts);
  }
  if (numbers[10] != -numbers[11])
    throw Error(Kind::usage, "some ranks put triangles, and others do not").hint("a piece without points");
}

// `durable_up_to`: all ranks have finished the jobs below without failure, but for those known to have failed. The same
// on all ranks, and so is what follows from it.
void Writer::State::advance(std::int64_t durable_up_to, std::int64_t failed) {
  while (!submitted.empty() && submitted.front().number < durable_up_to) {
    const Submitted& step = submitted.front();
    finish(step);
    if (step.failed) {
      slots.failed(step.number);
    } else {
      slots.durable(step.number);
      durable[static_cast<std::size_t>(step.flow)] = step.id;
      if (!local) unmarked.push_back(step);
      if (step.flow == Flow::analysis && shares && step.number >= mesh_since && !mesh_step) mesh_step = step.id.step;
    }
    if (!local) keep(step);
    submitted.pop_front();
  }
  mark_failed(submitted, failed);
  if (local) mark_failed(local->steps, failed);
}

// The same for the way from local disks to the store.
void Writer::State::advance_drained(std::int64_t up_to, std::int64_t failed) {
  for (const Submitted& step : engine::advance(*local, up_to)) keep(step);
  mark_failed(local->steps, failed);
  for (Submitted& step : local->steps) step.lost_on_the_way = step.lost_on_the_way || step.number == failed;
}

// All ranks are done with a step in the store itself. Only now that it is complete everywhere an older one may go.
void Writer::State::keep(const Submitted& step) {
  if (!keeper) return;
  const KeptStep kept{step.id, step.order, step.directory};
  if (!step.failed)
    do_behind([this, mark = keeper->durable(step.flow, kept), number = step.number] {
      mark();
      marked = number + 1;
    });
  else if (step.flow == Flow::checkpoint && step.lost_on_the_way)
    keeper->half_drained(step.directory);
  else
    do_behind(keeper->failed(step.flow, kept));
}

void Writer::State::do_behind(Chore chore) {
  if (chore) background->run_behind(std::move(chore));
}

// A step is over, on all ranks alike.
void Writer::State::finish(const Submitted& step) {
  if (!step.failed) prove({Mark::started, Mark::failed});
  if (!logs) return;
  StepRecord record = over_ranks(step.record, comm.get());
  record.failed = step.failed;
  if (rank == 0) write_log(options.log, to_text(record));
}

// A run that has a step that is safe, or has come to its end, did not fail in its start. What the application itself
// called a failure is one until there is a step.
void Writer::State::prove(std::initializer_list<Mark> marks) {
  if (!resumed_from || proven || rank != 0) return;
  for (Flow flow : {Flow::checkpoint, Flow::analysis})
    for (Mark mark : marks) try {
        forget_restart(store, flow, *resumed_from, mark);
      } catch (const Error&) {  // the next start is told that this one is remembered
      }
  proven = true;
}

// Collective: this rank's failures of a step, if it has any, become one that all know.
void Writer::State::take_failure(std::deque<std::pair<std::int64_t, Error>>& kept, std::int64_t failed) try {
  std::optional<Error> mine;
  for (; !kept.empty() && kept.front().first == failed; kept.pop_front())
    if (!mine) mine = kept.front().second;
  base::agree(ranks::ranks_of(comm.get()), [&] {
    if (mine) throw *mine;
  });
} catch (const Error& error) {
  untold.push_back(error);
}

// Throws all that is untold as one error.
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

// ------------------------------------------------------------------ the step goes

// What ranks must know of each other's patches: coarse cells under a finer box are refined, whoever has it.
void Writer::State::learn_boxes() {
  const auto all = gather_patches(comm.get(), job->patches ? &job->patches->mine : nullptr);
  ranks::agree(comm.get(), [&] {
    if (job->patches) job->patches->others = patches_of_others(all, rank);
  });
}

// Collective. A new mesh is shared out; then the job is what this rank writes.
void Writer::State::fold_triangles(bool is_new) {
  if (is_new) {
    shares.reset();
    shares = share_triangles(comm.get(), piece);
    shares->piece = piece_checksum;
    mesh_numbers = put_numbers;
    mesh_since = next_number;
    mesh_step.reset();
  }
  fold(comm.get(), *job, *shares, job->plan.flow == Flow::analysis ? mesh_step : std::nullopt);
}

void Writer::end_step() {
  State& s = *state_;
  const Timer timer(s.statistics.seconds_in_calls);
  ranks::take_begin_error(s.begin_error, s.put_error);
  s.keep_error([&] {
    check_complete(*s.job);
    if (s.job->triangles) s.put_numbers = numbers_checksum(*s.job);
  });
  std::optional<StepJob> step;
  try {
    const Seen seen = s.report(true);
    if (seen.patches) s.learn_boxes();
    if (seen.triangles) s.fold_triangles(seen.new_mesh);
    s.job->plan.whole_domain = seen.whole_domain;
    step = std::exchange(s.job, std::nullopt);
  } catch (const Error& error) {
    s.job.reset();
    s.put_error.reset();
    s.untold.insert(s.untold.begin(), error);
    s.tell();
  } catch (...) {
    s.job.reset();
    s.put_error.reset();
    throw;
  }
  leave_out(*step);
  s.hand_over(std::move(*step));
  s.tell();
}

// Which files a step goes to. Slots may be all taken by steps that are on their way: then they are waited for.
void Writer::State::choose_files(store::SegmentPlan& segment) {
  segment.sync = options.sync_policy == SyncPolicy::step;
  segment.direct_io = options.direct_io;
  if (segment.flow == Flow::analysis) {
    if (!options.append_analysis) segment.directory = "analysis" / store::fanned_out(segment.step);
    return;
  }
  if (options.append_checkpoint) segment.directory = "checkpoint";
  if (!options.recycle && options.keep_last > 0) segment.directory = new_directory(segment.step, directories);
  if (!options.recycle) return;
  auto slot = slots.take(next_number);
  if (!slot) {
    settle();
    slot = slots.take(next_number);
  }
  if (!slot) throw Error(Kind::usage, "no checkpoint slot is free");
  segment.directory = *slot;
  segment.recycle = true;
  if (keeper) do_behind(keeper->taken(*slot));
}

// The first step that is durable says which the run took up. Those that come before that is known go on from one
// another: whichever of them fails, the branch that was abandoned is superseded by the next.
std::optional<store::StepId> Writer::State::continued_by(Flow flow) const {
  if (durable[static_cast<std::size_t>(flow)]) return {};
  for (auto step = submitted.rbegin(); step != submitted.rend(); ++step)
    if (step->flow == flow && !step->failed) return step->id;
  return resumed_from;
}

void Writer::State::hand_over(StepJob step) {
  choose_files(step.plan);
  const auto flow = static_cast<std::size_t>(step.plan.flow);
  const std::int64_t number = next_number++;
  step.plan.attempt = attempt_of(run, number);
  if (resumed_from) step.plan.continues = continued_by(step.plan.flow);
  submitted.push_back({number, step.plan.flow, {step.plan.step, step.plan.attempt}, false, {}});
  submitted.back().directory = store::subfile_path(step.plan).parent_path().lexically_relative(store).generic_string();
  if (local) submitted.back().order = local->base + static_cast<std::uint64_t>(number) + 1;
  if (local) local->steps.push_back(submitted.back());
  ++statistics.steps;
  const std::uint64_t bytes = bytes_of(step);
  statistics.bytes_put += bytes;
  statistics.largest_step = std::max(statistics.largest_step, bytes);
  const Flow which = step.plan.flow;
  const Mode mode = mode_for(which);
  submitted.back().record = {which, step.plan.step, step.header.time, mode, false, bytes, 0, 0, 0};
  const auto begin = Clock::now();
  if (local) send_through(*local, step, run, number);
  submit(std::move(step), mode);
  last_step[flow] = Clock::now();
  const double seconds = std::chrono::duration<double>(last_step[flow] - begin).count();
  submitted.back().record.seconds_in_call = seconds;
  automatic[flow].seen(seconds);
  ++steps_of_flow[flow];
  // What became of a step that was written inside the call is told by the call.
  if (mode != Mode::sync) return;
  report(false);
  if (!unmarked.empty()) end_chores();
}

// The group is told of a step that could not be copied, and writes nothing of it.
void Writer::State::stage_it(StepJob& step) {
  statistics.bytes_staged += bytes_of(step);
  const auto begin = Clock::now();
  double waited = 0;
  try {
    waited = stage(step, *staging);
  } catch (...) {
    step.failure = base::current_error();
  }
  statistics.seconds_waiting_for_staging += waited;
  statistics.waits_for_staging += waited > 0 ? 1 : 0;
  statistics.seconds_copying += std::chrono::duration<double>(Clock::now() - begin).count() - waited;
}

// No collective call: what goes wrong here becomes the step's failure.
void Writer::State::submit(StepJob step, Mode mode) {
  const std::int64_t number = next_number - 1;
  // Other ranks may be slow, and a kill loses what is on its way. All have handed over the steps before: this ends.
  statistics.seconds_waiting += background->wait_for_room(static_cast<std::size_t>(options.steps_in_flight) - 1);
  const bool wanted = mode == Mode::background && !options.lend;
  const bool stages = wanted && staging->fits(staged_bytes_of(step));
  if (wanted && !stages) ++statistics.waits_for_staging;
  if (stages) stage_it(step);
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

void Writer::State::sync_written() try {
  collect();
  group.sync_written();
  synced = finished;
} catch (const Error& error) {
  // Which pages were lost nobody knows: no step since the last sync is safe.
  for (const Submitted& step : submitted)
    if (!step.failed)
      failures.emplace_back(step.number,
                            Error(error).at(store::to_string(step.flow) + " step " + std::to_string(step.id.step)));
  std::stable_sort(failures.begin(), failures.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  synced = finished;
}

// Collective: every step so far is durable on all ranks, or has failed.
void Writer::State::settle() {
  statistics.seconds_waiting += background->drain();
  if (options.sync_policy == SyncPolicy::wait) sync_written();
  report(false);
  end_chores();
}

// Collective. Marks are synced, what goes is gone, and the newest durable step is told.
void Writer::State::end_chores() {
  statistics.seconds_waiting += background->drain();
  if (!unmarked.empty()) report(false);
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
  note([&] { wait(); });
  ranks::take_begin_error(s.begin_error, s.put_error);
  note([&] { ranks::require_ended(s.comm.get(), s.put_error, s.job.has_value()); });
  if (s.local)
    note([&] {
      const Timer timer(s.statistics.seconds_in_calls);
      if (s.local->drain) s.statistics.seconds_waiting += s.local->drain->wait();
      s.report(false);
      s.end_chores();
      s.tell();
    });
  s.closed = true;
  s.lock = {};
  if (!first) s.prove({Mark::started});
  note([&] { s.write_statistics(); });
  if (first) throw *first;
}

Statistics Writer::State::statistics_now() {
  collect();
  const file::Counts now = file::counts();
  statistics.writes = now.writes - counts_before.writes;
  statistics.bytes_written = now.bytes_written - counts_before.bytes_written;
  statistics.syncs = now.syncs - counts_before.syncs;
  return statistics;
}

// All at once or not at all: somebody may be looking.
void Writer::State::write_statistics() {
  int wanted = options.statistics.empty() ? 0 : 1;
  MPI_Bcast(&wanted, 1, MPI_INT, 0, comm.get());
  if (wanted == 0) return;
  const std::vector<Statistics> all = gather(statistics_now(), comm.get());
  ranks::agree(comm.get(), [&] {
    if (rank != 0) return;
    std::filesystem::path partial = options.statistics;
    partial += ".partial";
    std::ofstream out(partial);
    if (!(out << report_json(all)) || (out.close(), !out))
      throw Error(Kind::unreadable, "cannot write the statistics").at(partial.string());
    file::rename(partial, options.statistics);
  });
}

std::optional<store::StepId> Writer::newest_durable(Flow flow) const {
  return (state_->local ? state_->durable : state_->told)[static_cast<std::size_t>(flow)];
}

std::optional<store::StepId> Writer::newest_drained(Flow flow) const {
  if (!state_->local) return newest_durable(flow);
  return state_->local->drained[static_cast<std::size_t>(flow)];
}

std::vector<std::string> Writer::notes() const {
  std::vector<std::string> notes = state_->notes;
  if (state_->group.direct_io_refused())
    notes.push_back("direct_io: the file system of " + state_->store.string() +
                    " has none; steps go through the page cache");
  return notes;
}
Statistics Writer::statistics() const { return state_->statistics_now(); }
Statistics Writer::total_statistics() const { return total(state_->statistics_now(), state_->comm.get()); }

Mode Writer::mode_of(Flow flow) const {
  if (state_->options.mode != Mode::automatic) return state_->options.mode;
  return state_->automatic[static_cast<std::size_t>(flow)].decided();
}

}  // namespace octavo::engine
