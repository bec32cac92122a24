#include "octavo/engine/write/store_steps.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

#include "octavo/base/error.hpp"
#include "octavo/base/pack.hpp"
#include "octavo/engine/hints.hpp"
#include "octavo/engine/step/all_patches.hpp"
#include "octavo/engine/step/step_puts.hpp"
#include "octavo/engine/tiers/local_tier.hpp"
#include "octavo/engine/write/whole_index.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/route.hpp"
#include "octavo/store/read/opened.hpp"
#include "octavo/store/write/append.hpp"

/// A store as the target of a writer. It has no coordinator while steps are written: each group of ranks commits its
/// own segment on its thread. Rank 0 alone knows the directories and marks; it tells the other ranks in the collective
/// calls that the application makes anyway.
namespace octavo::engine {

template <class Way>
void both(Way& way, OldDirectory& old) {
  using base::both;
  both(way, old.directory, old.files);
}

namespace {

using base::Error;
using base::Kind;
using store::Flow;

// As rank 0 tells all ranks.
struct Gone {
  std::vector<OldDirectory> directories;
  bool more_may = false;  // go, with later checkpoints
};

template <class Way>
void both(Way& way, Gone& gone) {
  using base::both;
  both(way, gone.directories, gone.more_may);
}

// Whether this process may start threads, by what it told MPI.
bool has_threads() {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  return provided >= MPI_THREAD_FUNNELED;
}

std::string continued(const std::optional<store::StepId>& from) {
  if (!from) return " a new run;";
  const std::int64_t attempt =
      ranks::hash_of(std::string(reinterpret_cast<const char*>(from->attempt.data()), from->attempt.size()));
  return " goes on from step " + std::to_string(from->step) + ", attempt " + std::to_string(attempt) + ";";
}

Error other_volume(const Volume& sum, const Volume& domain, const std::string& step) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", to_double(sum) / to_double(domain));
  const bool more = is_larger(sum, domain);
  return Error(Kind::usage, "owned leaves of all ranks fill " + std::string(text.data()) +
                                " of the domain: " + (more ? "cells are owned twice" : "cells are owned by no rank"))
      .at(step);
}

// We check here because otherwise only verify would find cells that two ranks own, in a step already reported as
// durable. Returns whether the owned leaves fill the domain.
bool check_volume(const Volume& digits, const StepJob& job, const Options& options) {
  const Volume sum = normalised(digits), domain = normalised(domain_volume(job.header.dim, job.header.roots));
  if (sum == domain) return true;
  if (is_whole_domain(options, job.plan.flow) || is_larger(sum, domain))
    throw other_volume(sum, domain, describe_step(job));
  return false;
}

bool is_wanted(const std::vector<std::string>& wanted, const std::string& name) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

void set_piece(StepJob& job, PutTriangles& triangles, const mesh::Unstructured& mesh,
               std::span<const std::int64_t> global_element) {
  set_mesh(job, TriangleSource{mesh.x.size(), mesh.planes});
  const std::uint64_t checksum = checksum_of(mesh, global_element);
  if (checksum == triangles.piece_checksum) return;
  triangles.piece = {.piece = mesh, .global_element = {global_element.begin(), global_element.end()}};
  triangles.piece_checksum = checksum;
}

// Collective. Ranks learn each other's patches, because coarse cells under a finer box are refined, whichever rank has
// the box.
void learn_boxes(MPI_Comm comm, int rank, StepJob& job) {
  const auto all = gather_patches(comm, job.patches ? &job.patches->mine : nullptr);
  ranks::agree(comm, [&] {
    if (job.patches) job.patches->others = patches_of_others(all, rank);
  });
}

// A line that is missing costs readers time, no more.
void add_to_index(file::File& file, const std::filesystem::path& store, Flow flow, const store::IndexedStep& entry,
                  const std::optional<store::DurableMark>& keep) noexcept {
  try {
    store::append_index(file, store, flow, entry);
    if (keep) store::shorten_index(file, store, flow, *keep);
  } catch (...) {
    file = {};
  }
}

}  // namespace

StoreSteps::StoreSteps(MPI_Comm everyone, const mesh::Header& common, const StoreTarget& target)
    : comm(everyone), rank(ranks::rank_in(everyone)), path(target.path), header(common), options(target.options) {
  // A run that starts from an output of a code continues no step of a store.
  if (target.resumed_from && target.resumed_from->attempt != store::Attempt{}) resumed_from = target.resumed_from;
}

// ------------------------------------------------------------------ opened

void StoreSteps::open() {
  ranks::agree(comm, [&] {
    if (path.empty()) throw Error(Kind::usage, "the store needs a name");
    if (header.unfolded < 0 || header.unfolded > 32)
      throw Error(Kind::usage, "unfolded levels: expected 0 to 32, found " + std::to_string(header.unfolded));
    check(header);
    striping_of(options);
    lock_store();
    if (rank == 0) set_striping();
  });
  ranks::require_same(comm,
                      "store " + path.string() + ";" + describe(header) + describe(options) + continued(resumed_from),
                      "the writer");
  if (rank == 0) run = store::random_attempt();
  MPI_Bcast(run.data(), static_cast<int>(run.size()), MPI_BYTE, 0, comm);
  const ranks::OwnComm host = ranks::ranks_of_host(comm, options.ranks_per_node);
  // Ranks of one host share a file, because they hand each other an open descriptor (group.cpp).
  planned = own_file(comm, host.get(), plan_options(options));
  const ranks::OwnComm together = ranks::split(host.get(), planned.file, rank);
  has_file = ranks::rank_in(together.get()) == 0;
  group = Group::join(together.get(), rank);
  // A restart reads the newest step from the local disks, and the drain reads each.
  group.drop_pages(options.drop_pages && options.staging_directory.empty());
  if (!options.staging_directory.empty()) {
    for (std::string& note : open_local(local.emplace(), comm, options, path, has_file))
      notes.push_back(std::move(note));
  }
  open_keeper();
  complete_indexes(comm, path);
}

// A job that was submitted twice would have its runs write over each other in turn. The lock ends with the process,
// however that ends. A store that cannot be made or locked is left to its first step, which says what is wrong with it.
void StoreSteps::lock_store() {
  if (rank != 0) return;
  try {
    file::make_directories(path);
    store::write_marker(path);
    lock = file::lock_directory(path);
  } catch (const Error&) {
    return;
  }
  if (!lock.is_open())
    throw Error(Kind::usage, "another writer has this store open: " + lock.holder())
        .at(path.string())
        .hint("a run that is still at work, or a writer that was not closed");
  if (!lock.note().empty()) notes.push_back(lock.note());
  store::check_version(path);
}

// On rank 0. Files and directories of a store inherit its striping, so no rank pays for it when it makes one. Those
// that an earlier run has made keep theirs, except that new files in them follow the hints.
void StoreSteps::set_striping() {
  const file::Striping striping = striping_of(options);
  for (std::string& line : hints_not_followed(options)) notes.push_back(std::move(line));
  if (is_default(striping)) return;
  std::error_code ignored;
  bool is_lustre = true;
  for (const std::filesystem::path& directory : {path, path / "checkpoint", path / "analysis"})
    if (std::filesystem::is_directory(directory, ignored)) is_lustre = file::set_striping(directory, striping);
  if (!is_lustre) notes.push_back("mpi_io_hint.striping_*: " + path.string() + " is not on Lustre; nothing is striped");
}

// On rank 0. A store that cannot be read is left to its first step, but its slots are not.
FoundCheckpoints StoreSteps::look() const {
  if (options.keep_last == 0 && store::read_mark(path, Flow::checkpoint).kept == 0) return {};
  std::error_code ignored;
  try {
    return look_for_checkpoints(path);
  } catch (const Error& error) {
    if (error.kind() == Kind::unsupported || std::filesystem::exists(path / slot_name(0), ignored)) throw;
    return {};
  }
}

// Collective.
void StoreSteps::open_keeper() {
  FoundCheckpoints found;
  ranks::agree(comm, [&] {
    if (rank != 0) return;
    found = look();
    const bool syncs = options.sync_policy != SyncPolicy::none;
    const Keeper::Options how{options.keep_last, recycles(options), syncs, local.has_value()};
    keeper.emplace(path, how, found, resumed_from);
    names = names_after(found);
    removes = options.keep_last > 0 && (!how.recycle || keeper->has_removable());
  });
  if (options.keep_last == 0) return;
  std::int64_t step = names.newest.value_or(0);
  std::array<std::int64_t, 4> told{removes ? 1 : 0, names.attempt, names.newest ? 1 : 0, step};
  MPI_Bcast(told.data(), static_cast<int>(told.size()), MPI_INT64_T, 0, comm);
  removes = told[0] != 0;
  names.attempt = static_cast<int>(told[1]);
  if (told[2] != 0) names.newest = told[3];
  remove_garbage();
  if (!recycles(options)) return;
  slots = Slots(options.keep_last);
  slots.find(comm, path, found, resumed_from);
  if (keeper) keeper->give_up(slots.unneeded());  // the calls that follow are collective
}

// Collective. Before the first step, which may need the room.
void StoreSteps::remove_garbage() {
  constexpr std::size_t at_once = 64;  // directories of which all ranks are told at once
  removal = Removal(path, planned, has_file, rank == 0, has_threads(), options.bound_thread);
  for (std::size_t at = 0, told = at_once; told == at_once; at += at_once) {
    std::vector<OldDirectory> some;
    if (keeper)
      for (std::size_t i = at; i < std::min(at + at_once, keeper->garbage().size()); ++i)
        some.push_back(keeper->garbage()[i]);
    some = base::unpacked<std::vector<OldDirectory>>(ranks::from_first(comm, base::packed(some)));
    told = some.size();
    removal.begin(std::move(some));
  }
  removal.finish(comm);
}

// ------------------------------------------------------------------ a step

TargetRow StoreSteps::row() {
  TargetRow row = row_of_puts();
  row.stages = true;
  row.begin = [this](StepJob& job) {
    job.plan.store = path;
    job.plan.subfile = job.plan.segment = planned.file;
    job.plan.segments = planned.files;
    job.encoding = encoding_of(options, job.plan.flow);
  };
  row.put_bytes = [](StepJob& job, const std::string& name, std::span<const std::byte> bytes) {
    job.opaque[name].assign(bytes.begin(), bytes.end());
  };
  row.put_piece = [this](StepJob& job, const mesh::Unstructured& mesh, std::span<const std::int64_t> global_element) {
    set_piece(job, triangles, mesh, global_element);
  };
  row.put_field = [this, add = row.put_field](StepJob& job, const mesh::FieldInfo& info, const ArrayView& view) {
    if (is_wanted(fields_of(options, job.plan.flow), info.name)) add(job, info, view);
  };
  row.put_boxes = [this, add = row.put_boxes](StepJob& job, const mesh::FieldInfo& info,
                                              std::span<const ArrayView> boxes) {
    if (is_wanted(fields_of(options, job.plan.flow), info.name)) add(job, info, boxes);
  };
  row.check = [this](const StepJob& job) {
    if (job.triangles) triangles.numbers = numbers_checksum(job);
  };
  row.describe = [](const StepJob& job) { return describe_step(job) + ";" + describe(job.header); };
  row.take = [this](std::shared_ptr<StepJob> job, const Agreement& all) { return take(std::move(job), all); };
  return row;
}

// Each group of ranks commits its segment in the background, so no rank seals the step.
StepWork StoreSteps::take(std::shared_ptr<StepJob> shared, const Agreement& all) {
  StepJob& job = *shared;
  // The ways below are collective. All conditions come from the reduced numbers, so all ranks take the same one.
  const bool cells = all.any_part() && all.triangles.most == 0;
  const bool whole = cells && check_volume(all.volume, job, options);
  if (all.patches != 0) learn_boxes(comm, rank, job);
  if (all.triangles.most != 0) fold_triangles(job, all.new_mesh != 0);
  job.plan.whole_domain = whole && all.patches == 0;
  leave_out(job);
  StepWork work;
  work.bytes_put = bytes_of(job);
  work.stage = [&job](Staging& memory) { return engine::stage(job, memory); };
  work.write = [this, shared](Writing& writing) {
    writing.written = carry_out(*shared, group, *staging, writing.released);
  };
  work.job = std::move(shared);
  return work;
}

// Collective. Shares out a new mesh, then reduces the job to what this rank writes.
void StoreSteps::fold_triangles(StepJob& job, bool is_new) {
  if (is_new) {
    triangles.shares.reset();
    triangles.shares = share_triangles(comm, triangles.piece);
    triangles.shares->piece = triangles.piece_checksum;
    triangles.shared_numbers = triangles.numbers;
    triangles.since = next_number;
    triangles.mesh_step.reset();
  }
  fold(comm, job, *triangles.shares, job.plan.flow == Flow::analysis ? triangles.mesh_step : std::nullopt);
}

bool StoreSteps::choose_files(store::SegmentPlan& segment, std::int64_t number) {
  segment.sync = options.sync_policy == SyncPolicy::step;
  segment.relies_on_first = !local;  // a step on local disks is safe before segment 0 is in the store
  segment.direct_io = options.direct_io;
  // Checkpoints are written over, so their ranks share no page. Analysis steps are appended, and stay dense.
  segment.alignment =
      static_cast<std::uint64_t>(alignment_of(options, segment.flow == Flow::checkpoint ? group.size() : 1));
  if (segment.flow == Flow::analysis) {
    segment.stays_open = options.append_analysis;
    if (!options.append_analysis) segment.directory = "analysis" / store::fanned_out(segment.step);
    return true;
  }
  segment.stays_open = options.append_checkpoint || recycles(options);
  if (options.append_checkpoint) segment.directory = "checkpoint";
  if (!recycles(options)) {
    if (options.keep_last > 0) segment.directory = new_directory(names, segment.step);
    return true;
  }
  const auto slot = slots.take(number);
  if (!slot) return false;
  segment.directory = *slot;
  segment.recycle = true;
  return true;
}

void StoreSteps::identify(StepJob& job, Submitted& step, const std::optional<store::StepId>& continues) {
  next_number = step.number + 1;
  step.id.attempt = job.plan.attempt = attempt_of(run, step.number);
  if (resumed_from) job.plan.continues = continues;
  step.directory = store::subfile_path(job.plan).parent_path().lexically_relative(path).generic_string();
  if (!local) return;
  step.order = local->base + static_cast<std::uint64_t>(step.number) + 1;
  local->steps.push_back(step);
}

// ------------------------------------------------------------------ a step is over

void StoreSteps::tell(Agreement& own, WriteStatistics& statistics) {
  lock.touch();
  if (rank == 0) own.marked = marked;
  if (!local) return;
  own.safe = safe_up_to(*local, own.finished);
  own.drained = drained_up_to(*local, own.finished);
  collect(*local, statistics);
  // A step that failed before it reached all local disks is not reported again as lost on the way from there.
  const auto is_known = [&](const auto& failure) { return has_failed(local->steps, failure.first); };
  std::erase_if(local->failures, is_known);
  std::erase_if(local->unprotected, is_known);
  if (!local->unprotected.empty()) own.unsafe = local->unprotected.front().first;
  if (!local->failures.empty()) own.lost = local->failures.front().first;
}

// Collective: a sum of two integers to rank 0, which returns the step's line in the index. Unsynced writes do without
// one.
std::optional<store::IndexedStep> StoreSteps::entry_of(const Submitted& step) {
  if (options.sync_policy != SyncPolicy::step) return {};
  // It is far below any number of parts, so the sum is negative if a single file's footer is not known.
  constexpr std::int64_t unknown = std::numeric_limits<std::int32_t>::min();
  std::array<std::int64_t, 2> mine{}, all{};
  if (has_file && step.segment)
    mine = {step.segment->footer.parts,
            static_cast<std::int64_t>(store::segment_bytes(step.segment->footer, step.segment->at))};
  else if (has_file)
    mine = {unknown, 0};
  MPI_Reduce(mine.data(), all.data(), 2, MPI_INT64_T, MPI_SUM, 0, comm);
  if (rank != 0 || !step.segment || all[0] < 0) return {};
  return store::IndexedStep{step.directory + "/" + store::subfile_name(planned.file),
                            step.segment->at,
                            to_bytes(step.segment->footer),
                            {all[0], static_cast<std::uint64_t>(all[1])}};
}

void StoreSteps::landed(const Submitted& step) {
  if (step.failed) {
    slots.failed(step.number);
  } else {
    prove({Mark::started, Mark::failed});
    slots.durable(step.number);
    if (!local) unmarked.push_back(step);
    if (step.flow == Flow::analysis && triangles.shares && step.number >= triangles.since && !triangles.mesh_step)
      triangles.mesh_step = step.id.step;
  }
  if (!local) keep(step, step.failed ? std::nullopt : entry_of(step));
}

void StoreSteps::told_up_to(std::int64_t number) {
  for (; !unmarked.empty() && unmarked.front().number < number; unmarked.pop_front())
    told[static_cast<std::size_t>(unmarked.front().flow)] = unmarked.front().id;
  for (; !doomed.empty() && doomed.front().number < number; doomed.pop_front())
    removal.begin(std::move(doomed.front().directories));
}

void StoreSteps::advance_safe(std::int64_t up_to, std::int64_t unprotected) {
  leave_behind(engine::advance_safe(*local, up_to));
  mark_unprotected(*local, unprotected);
}

// Segments that found the local disk full are in the store, without the others of their step.
void StoreSteps::leave_behind(const std::vector<Submitted>& dropped) {
  if (!keeper) return;
  for (const Submitted& step : dropped) keeper->half_drained(step.directory);
}

void StoreSteps::advance_drained(std::int64_t up_to, std::int64_t failed) {
  std::vector<Submitted> passed;
  const std::vector<Submitted> ended = engine::advance(*local, up_to, passed);
  leave_behind(passed);
  for (const Submitted& step : ended) keep(step, step.failed ? std::nullopt : entry_of(step));
  mark_failed(local->steps, failed);
  for (Submitted& step : local->steps) step.lost_on_the_way = step.lost_on_the_way || step.number == failed;
}

// Collective. Called when all ranks are done with a step in the store itself. Only now, when it is complete everywhere,
// may an older one go.
void StoreSteps::keep(const Submitted& step, std::optional<store::IndexedStep> entry) {
  Keeper::Change change;
  std::optional<store::DurableMark> shorter;
  if (keeper && step.failed && step.flow == Flow::checkpoint && step.lost_on_the_way) {
    keeper->half_drained(step.directory);
  } else if (keeper) {
    const KeptStep kept{step.id, step.order, step.directory, planned.files};
    change = step.failed ? keeper->failed(step.flow, kept) : keeper->durable(step.flow, kept);
    if (!step.failed && step.flow == Flow::checkpoint) shorter = keeper->mark_for_index();
    do_behind([this, mark = std::move(change.mark), number = step.number, flow = step.flow, entry = std::move(entry),
               shorter = std::move(shorter)] {
      // The index follows the mark, since it may list only steps that the mark lists; `marked` follows both, and lets
      // files go.
      if (mark) mark();
      if (entry) add_to_index(indexes[static_cast<std::size_t>(flow)], path, flow, *entry, shorter);
      marked = number + 1;
    });
  }
  if (step.flow == Flow::checkpoint) tell_gone(step.number, std::move(change.gone));
}

// Collective: a broadcast, unless nothing can ever go.
void StoreSteps::tell_gone(std::int64_t number, std::vector<OldDirectory> gone) {
  if (!removes) return;
  Gone all{std::move(gone), !recycles(options) || (keeper && keeper->has_removable())};
  all = base::unpacked<Gone>(ranks::from_first(comm, base::packed(all)));
  removes = all.more_may;
  if (!all.directories.empty()) doomed.push_back({number, std::move(all.directories)});
}

void StoreSteps::do_behind(Chore chore) {
  if (chore) background->run_behind(std::move(chore));
}

void StoreSteps::prove(std::initializer_list<Mark> marks) {
  if (!resumed_from || proven || rank != 0) return;
  for (Flow flow : {Flow::checkpoint, Flow::analysis})
    for (Mark mark : marks) try {
        forget_restart(path, flow, *resumed_from, mark);
      } catch (const Error&) {  // the next restart reports that this one is remembered
      }
  proven = true;
}

}  // namespace octavo::engine
