#include "octavo/engine/write/writer.hpp"

#include <cmath>
#include <fstream>

#include "octavo/base/current_error.hpp"
#include "octavo/engine/step/step_puts.hpp"
#include "octavo/engine/step_log.hpp"
#include "octavo/engine/timer.hpp"
#include "octavo/engine/write/writer_state.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/mesh/sides.hpp"
#include "octavo/ranks/route.hpp"

namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;
using store::Flow;

void check_threads(const Options& options) {
  if (options.mode == Mode::sync && options.staging_directory.empty()) return;
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_FUNNELED)
    throw Error(Kind::usage, "MPI was initialised for one thread a process only")
        .at("option mode = " + std::string(name_of(options.mode)))
        .hint("MPI_Init_thread with MPI_THREAD_FUNNELED, or mode = sync without a staging directory");
}

}  // namespace

// ------------------------------------------------------------------ opened

Writer::State::State(MPI_Comm parent, const mesh::Header& common, const Target& to)
    : comm(ranks::duplicate(parent)),
      rank(ranks::rank_in(comm.get())),
      header(common),
      steps_by(engine::steps_by(to)),
      options(std::visit([](const auto& chosen) { return chosen.options; }, to)) {}

void Writer::State::open(const Target& to) {
  // Options first: nothing has been made yet if they are wrong.
  ranks::agree(comm.get(), [&] {
    check(options);
    check_threads(options);
    if (rank == 0) check_log(options.log);
    if (rank == 0) check_statistics(options.statistics);
  });
  // Only rank 0 needs the name of the log. All must know whether there is one, because land() then sums over ranks.
  int wanted = options.log.empty() ? 0 : 1;
  MPI_Bcast(&wanted, 1, MPI_INT, 0, comm.get());
  logs = wanted != 0;
  if (const auto* chosen = std::get_if<StoreTarget>(&to)) {
    store = std::make_unique<StoreSteps>(comm.get(), header, *chosen);
    store->open();
    target = store->row();
  } else {
    target = std::get<FileTarget>(to).open(comm.get(), header);
  }
  ranks::agree(comm.get(), [&] {
    const bool stages = target.stages && options.mode != Mode::sync && !options.lend;
    staging.emplace(stages ? static_cast<std::uint64_t>(options.staging_bytes) : 0);
    background.emplace(options.mode != Mode::sync && target.threaded, options.bound_thread);
  });
  if (store) store->use(*background, *staging);
}

Writer::Writer(MPI_Comm comm, const mesh::Header& header, const Target& target)
    : state_(std::make_unique<State>(comm, header, target)) {
  state_->open(target);
}
Writer::Writer(MPI_Comm comm, const std::filesystem::path& store, const mesh::Header& header, const Options& options,
               const std::optional<store::StepId>& resumed_from)
    : Writer(comm, header, StoreTarget{store, options, resumed_from}) {}
Writer::~Writer() = default;
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;

// ------------------------------------------------------------------ a step is begun

namespace {

const char* what_begins(StepsBy by) {
  if (by == StepsBy::flow) return "a flow, a number and a time";
  return by == StepsBy::path ? "a path, a number and a time" : "a time only";
}

}  // namespace

void Writer::State::begin(StepsBy by, const store::SegmentPlan& plan, const std::filesystem::path& path, double time) {
  // The timer starts below, so the time of this call is not in it yet.
  in_application = seconds_since(opened) - statistics.seconds_in_calls;
  const Timer timer(statistics.seconds_in_calls);
  if (closed || job) throw Error(Kind::usage, closed ? "the writer is closed" : "the step before has not ended");
  if (by != steps_by) throw Error(Kind::usage, "begin_step() of " + target.name + " takes " + what_begins(steps_by));
  // From here on the application may change arrays that it lent.
  statistics.seconds_waiting += background->take_back_lent();
  auto next = std::make_shared<StepJob>();
  next->plan = plan;
  if (!store) next->plan.flow = Flow::checkpoint;
  next->path = path;
  next->header = header;
  next->header.time = time;
  next->header.fields.clear();
  next->part = rank;
  next->checksums = options.checksums;
  target.begin(*next);
  last_begun = describe_step(*next);
  job = std::move(next);
  begin_error.reset();
  collect();
  if (const auto spent = watched(job->plan.flow)) automatic[static_cast<std::size_t>(job->plan.flow)].begins(*spent);
}

void Writer::begin_step(Flow flow, std::int64_t step, double time) {
  store::SegmentPlan plan;
  plan.flow = flow;
  plan.step = step;
  state_->begin(StepsBy::flow, plan, {}, time);
}

void Writer::begin_step(const std::filesystem::path& path, std::int64_t step, double time) {
  store::SegmentPlan plan;
  plan.step = step;
  state_->begin(StepsBy::path, plan, path, time);
}

void Writer::begin_step(double time) { state_->begin(StepsBy::time, {}, {}, time); }

bool Writer::due(Flow flow, std::int64_t step, double time) {
  State& s = *state_;
  ranks::require_mpi();
  const auto f = static_cast<std::size_t>(flow);
  const Cadence& cadence = cadence_of(s.options, flow);
  const CadenceState known{s.asked_time[f], seconds_since(s.last_step[f])};
  s.asked_time[f] = time;
  int is = is_due(cadence, step, time, known) ? 1 : 0;
  // All ranks have the same kind of cadence (describe(options) is compared at open), so either all or none broadcast.
  if (cadence.seconds > 0) MPI_Bcast(&is, 1, MPI_INT, 0, s.comm.get());
  return is != 0;
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
    // We keep the error until all ranks can throw it: if this rank left now, the others would wait in end_step().
    if (!put_error) put_error = base::current_error();
  }
}

// Passes a put to the target, if it takes such puts.
template <class Put, class... Arguments>
void Writer::State::give(const std::string& what, const Put& target_put, Arguments&&... arguments) {
  put(what, [&] {
    if (!target_put) throw Error(Kind::unsupported, target.name + " does not take such a put").at(what);
    target_put(*job, std::forward<Arguments>(arguments)...);
  });
}

void Writer::put_attribute(const std::string& name, mesh::Attribute value) {
  state_->give("attribute " + name, state_->target.put_attribute, name, std::move(value));
}

void Writer::put_units(double length, double density, double time) {
  state_->put("the units", [&] {
    for (const double unit : {length, density, time})
      if (!(std::isfinite(unit) && unit > 0))
        throw Error(Kind::usage, "units: expected finite numbers above 0, found " + std::to_string(unit));
    mesh::Header& header = state_->job->header;
    header.unit_length = length, header.unit_density = density, header.unit_time = time;
  });
}

void Writer::put_bytes(const std::string& name, std::span<const std::byte> bytes) {
  state_->give("bytes " + name, state_->target.put_bytes, name, bytes);
}

void Writer::put_mesh(const mesh::Octree& tree) { state_->give("the mesh", state_->target.put_tree, tree); }
void Writer::put_mesh(const mesh::Patches& patches) { state_->give("the mesh", state_->target.put_patches, patches); }
void Writer::put_mesh(const mesh::Unstructured& piece, std::span<const std::int64_t> global_element) {
  state_->give("the mesh", state_->target.put_piece, piece, global_element);
}

void Writer::put_field(const std::string& name, const ArrayView& view, const std::string& unit) {
  State& s = *state_;
  const mesh::Centring centring = view.centring;
  const auto& put_field = s.target.put_field;
  const std::size_t axis = mesh::is_face(centring) ? mesh::face_axis(centring) : 0;
  if (!mesh::is_face(centring) || view.block[axis] != s.header.block[axis] + 1)
    return s.give("field " + name, put_field, mesh::FieldInfo{name, unit, view.type, centring, view.components, 0},
                  view);
  s.put("field " + name, [&] { check(view); });
  const auto sides = split_faces(view, axis);
  for (unsigned high = 0; high < 2; ++high) {
    const std::string side = mesh::name_of_side(name, centring, high);
    s.give("field " + side, put_field, mesh::FieldInfo{side, unit, view.type, centring, view.components, 0},
           sides[high]);
  }
}

void Writer::put_field(const std::string& name, std::span<const ArrayView> boxes, const std::string& unit,
                       mesh::Centring centring) {
  state_->give("field " + name, state_->target.put_boxes,
               mesh::FieldInfo{name, unit, mesh::ScalarType::float64, centring, 1, 0}, boxes);
}

void Writer::put_particles(const std::string& species, const std::string& attribute, const ArrayView& view,
                           const std::string& unit) {
  state_->give("particles " + species + "/" + attribute, state_->target.put_particles, species,
               mesh::FieldInfo{attribute, unit, view.type, mesh::Centring::particle, view.components, 0}, view);
}

void Writer::put_particles(const mesh::Particles& particles) {
  for (const mesh::Field& attribute : particles.attributes) {
    ArrayView view;
    view.data = attribute.bytes.data(), view.type = attribute.info.type;
    view.cells = static_cast<std::size_t>(particles.count);
    view.components = attribute.info.components;
    put_particles(particles.species, attribute.info.name, view, attribute.info.unit);
  }
}

void Writer::put_error(const Error& error) {
  if (!state_->put_error) state_->put_error = error;
}
void Writer::begin_error(const Error& error) { state_->begin_error = error; }

// ------------------------------------------------------------------ what is known

WriteStatistics Writer::State::statistics_now() {
  collect();
  const file::Counts now = file::counts();
  statistics.writes = now.writes - counts_before.writes;
  statistics.bytes_written = now.bytes_written - counts_before.bytes_written;
  statistics.syncs = now.syncs - counts_before.syncs;
  return statistics;
}

// Replaces the file in one step, because somebody may be reading it.
void Writer::State::write_statistics() {
  int wanted = options.statistics.empty() ? 0 : 1;
  MPI_Bcast(&wanted, 1, MPI_INT, 0, comm.get());
  if (wanted == 0) return;
  const std::vector<WriteStatistics> all = gather(statistics_now(), comm.get());
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

std::int64_t Writer::steps() const { return state_->target.steps_found + state_->durable_steps; }

std::optional<store::StepId> Writer::newest_durable(Flow flow) const {
  const bool marks = state_->store && !state_->store->local;
  return (marks ? state_->store->told : state_->durable)[static_cast<std::size_t>(flow)];
}

std::optional<store::StepId> Writer::newest_drained(Flow flow) const {
  if (!state_->store || !state_->store->local) return newest_durable(flow);
  return state_->store->local->drained[static_cast<std::size_t>(flow)];
}

std::string direct_io_note(const std::filesystem::path& store) {
  return "direct_io: the file system of " + store.string() + " has none; steps go through the page cache";
}

std::optional<store::StepId> Writer::newest_safe(Flow flow, Safety safety) const {
  if (safety == Safety::local) return newest_durable(flow);
  const bool is_protected = state_->store && state_->store->local && flow == Flow::checkpoint;
  if (safety == Safety::store || !is_protected) return newest_drained(flow);
  return state_->store->local->safe[static_cast<std::size_t>(safety)].id;
}

std::vector<std::string> Writer::notes() const {
  if (!state_->store) return state_->target.notes;
  std::vector<std::string> notes = state_->store->notes;
  if (state_->store->group.direct_io_refused()) notes.push_back(direct_io_note(state_->store->path));
  return notes;
}

WriteStatistics Writer::statistics() const { return state_->statistics_now(); }
WriteStatistics Writer::total_statistics() const { return total(state_->statistics_now(), state_->comm.get()); }

Mode Writer::mode_of(Flow flow) const {
  if (state_->options.mode != Mode::automatic) return state_->options.mode;
  const AutoMode& automatic = state_->automatic[static_cast<std::size_t>(flow)];
  return automatic.decided() ? automatic.choice().mode : Mode::automatic;
}

}  // namespace octavo::engine
