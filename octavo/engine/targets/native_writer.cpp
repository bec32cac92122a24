#include "octavo/engine/targets/native_writer.hpp"

#include <atomic>
#include <chrono>
#include <limits>
#include <system_error>
#include <thread>

#include "octavo/base/current_error.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/engine/step/step_puts.hpp"
#include "octavo/engine/targets/native_work.hpp"
#include "octavo/engine/timer.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/flash/lists.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/route.hpp"

namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// A step that was handed over and does not have its name yet.
struct Flight {
  fs::path path, partial;
  StepJob job;
  NativeWork work;
  std::thread thread;
  std::atomic<bool> written{false};
  std::optional<Error> failure;
  double seconds = 0;
};

void run(Flight& flight) {
  const auto begin = Clock::now();
  try {
    flight.work.write();
  } catch (...) {
    flight.failure = base::current_error();
  }
  flight.seconds = seconds_since(begin);
  flight.written = true;
}

void check_mode(const NativeOptions& options) {
  if (options.mode == Mode::automatic) throw Error(Kind::usage, "mode: expected sync or background, found auto");
  if (options.collect && options.format != NativeFormat::flash)
    throw Error(Kind::usage, "collect is for FLASH files only");
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  if (options.mode == Mode::background && provided < MPI_THREAD_FUNNELED)
    throw Error(Kind::usage, "MPI was initialised for one thread a process only")
        .hint("MPI_Init_thread with MPI_THREAD_FUNNELED, or mode = sync");
}

// That of a field's faces, or nothing where it stands on cells. Only FLASH has such ones.
std::optional<std::size_t> axis_of(mesh::Centring centring, const NativeOptions& options, const std::string& name) {
  if (centring == mesh::Centring::cell) return {};
  if (centring > mesh::Centring::face_z || options.format != NativeFormat::flash)
    throw Error(Kind::unsupported, "only fields of cells, and in FLASH files of faces, can be written")
        .at("field " + name);
  return static_cast<std::size_t>(centring) - static_cast<std::size_t>(mesh::Centring::face_x);
}

void remove_quietly(const fs::path& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

}  // namespace

struct NativeWriter::State {
  State(MPI_Comm parent, const mesh::Header& common, const NativeOptions& chosen)
      : comm(ranks::duplicate(parent)), header(common), options(chosen), rank(ranks::rank_in(comm.get())) {}
  ~State() {
    if (flight && flight->thread.joinable()) flight->thread.join();
  }

  ranks::OwnComm comm;
  mesh::Header header;
  NativeOptions options;
  int rank = 0;
  Buffers buffers;  // of one step at a time
  std::optional<StepJob> job;
  fs::path path;
  std::optional<Error> begin_error, put_error;
  std::string last_begun;  // step, as errors name it
  std::unique_ptr<Flight> flight;
  Statistics statistics;
  bool closed = false;

  void put(const std::string& what, const std::function<void()>& work);
  void agree_on_step();
  void start();
  void land();
};

NativeWriter::NativeWriter(MPI_Comm comm, const mesh::Header& header, const NativeOptions& options)
    : state_(std::make_unique<State>(comm, header, options)) {
  ranks::agree(state_->comm.get(), [&] {
    check_mode(options);
    check(header);
  });
}
NativeWriter::~NativeWriter() = default;
NativeWriter::NativeWriter(NativeWriter&&) noexcept = default;
NativeWriter& NativeWriter::operator=(NativeWriter&&) noexcept = default;

// ------------------------------------------------------------------ a step is put together

void NativeWriter::State::put(const std::string& what, const std::function<void()>& work) {
  const Timer timer(statistics.seconds_in_calls);
  try {
    if (!job) throw outside_of_step(what, last_begun);
    work();
  } catch (...) {
    if (!put_error) put_error = base::current_error();
  }
}

void NativeWriter::begin_step(const fs::path& path, std::int64_t step, double time) {
  State& s = *state_;
  if (s.closed || s.job) throw Error(Kind::usage, s.closed ? "the writer is closed" : "the step before has not ended");
  StepJob job;
  job.plan.step = step;
  job.header = s.header;
  job.header.time = time;
  job.header.fields.clear();
  job.header.attributes["step"] = step;
  if (s.options.format == NativeFormat::flash)
    formats::flash::set_value(job.header.attributes, "integer scalars", "nstep", step);
  job.part = s.rank;
  job.checksums = s.options.checksums;
  s.last_begun = path.string();
  s.job = std::move(job);
  s.begin_error.reset();
  s.path = path;
}

void NativeWriter::put_attribute(const std::string& name, mesh::Attribute value) {
  state_->put("attribute " + name, [&] { state_->job->header.attributes[name] = std::move(value); });
}
void NativeWriter::put_mesh(const mesh::Octree& tree) {
  state_->put("the mesh", [&] { set_mesh(*state_->job, tree); });
}
void NativeWriter::put_mesh(const mesh::Patches& patches) {
  state_->put("the mesh", [&] {
    if (state_->options.format == NativeFormat::flash) return set_mesh(*state_->job, patches);
    check(patches);
    if (patches.dim != state_->header.dim)
      throw Error(Kind::usage, "patches in " + std::to_string(patches.dim) + " dimensions, a header in " +
                                   std::to_string(state_->header.dim));
    state_->job->patches = PatchSource{patches, {}, {}};
  });
}
void NativeWriter::put_field(const std::string& name, const ArrayView& view, const std::string& unit,
                             mesh::Centring centring) {
  state_->put("field " + name, [&] {
    const auto axis = axis_of(centring, state_->options, name);
    if (!axis || view.block[*axis] != state_->header.block[*axis] + 1)
      return add_field(*state_->job, name, view, unit, centring);
    check(view);
    const auto [low, high] = split_faces(view, *axis);
    add_field(*state_->job, name + "_left", low, unit, centring);
    add_field(*state_->job, name + "_right", high, unit, centring);
  });
}
void NativeWriter::put_field(const std::string& name, std::span<const ArrayView> boxes, const std::string& unit) {
  state_->put("field " + name, [&] { add_field(*state_->job, name, boxes, unit); });
}
void NativeWriter::put_particles(const std::string& species, const std::string& attribute, const ArrayView& view) {
  state_->put("particles " + species + "/" + attribute,
              [&] { add_particles(*state_->job, species, attribute, view, ""); });
}

void NativeWriter::put_error(const Error& error) {
  if (!state_->put_error) state_->put_error = error;
}
void NativeWriter::begin_error(const Error& error) { state_->begin_error = error; }

// ------------------------------------------------------------------ a step goes

// One reduction; on a failure the texts.
void NativeWriter::State::agree_on_step() {
  ranks::agree(comm.get(), [&] {
    if (put_error) throw *put_error;
    if (!job) throw Error(Kind::usage, "there is no step to end");
    check_complete(*job);
    if (rank == 0 && fs::exists(fs::symlink_status(path)))
      throw Error(Kind::usage, "the output exists already").at(path.string());
    if (rank == 0) remove_quietly(path.string() + ".partial");
  });
  ranks::require_same(comm.get(), path.string() + ";" + describe(job->header) + describe(*job), "the step");
}

void NativeWriter::State::start() {
  ++statistics.steps;
  if (options.collect) return collect_flash(comm.get(), *job, path, options);
  auto next = std::make_unique<Flight>();
  next->path = path;
  next->partial = path.string() + ".partial";
  next->job = std::move(*job);
  const auto begin = Clock::now();
  try {
    const auto start_it = options.format == NativeFormat::flash ? start_flash : start_amrex;
    next->work = start_it(comm.get(), next->job, next->partial, options, buffers);
  } catch (...) {
    if (rank == 0) remove_quietly(next->partial);
    let_go(next->job, buffers);
    throw;
  }
  statistics.seconds_copying += seconds_since(begin);
  statistics.bytes_put += next->work.bytes;
  flight = std::move(next);
  if (options.mode == Mode::sync) {
    run(*flight);
    return land();
  }
  statistics.bytes_staged += flight->work.bytes;
  try {
    flight->thread = std::thread([this] {
      if (!options.bound_thread) base::leave_binding();
      run(*flight);
    });
  } catch (const std::system_error& error) {  // told to all ranks by land()
    flight->failure = base::system_error("start a thread", error.code().value());
    flight->written = true;
  }
}

// Waits, on all ranks, until the step is written, and gives it its name.
void NativeWriter::State::land() {
  if (!flight) return;
  {
    const Timer timer(statistics.seconds_waiting);
    if (flight->thread.joinable()) flight->thread.join();
  }
  statistics.seconds_working += flight->seconds;
  const std::unique_ptr<Flight> done = std::move(flight);
  try {
    ranks::agree(comm.get(), [&] {
      if (done->failure) throw *done->failure;
    });
    done->work.gather();
    ranks::agree(comm.get(), [&] {
      if (rank != 0) return;
      done->work.seal();
      file::rename(done->partial, done->path);
      if (options.sync) file::sync_directory(done->path.has_parent_path() ? done->path.parent_path() : fs::path("."));
    });
  } catch (...) {
    ++statistics.failed;
    if (rank == 0) remove_quietly(done->partial);
    let_go(done->job, buffers);
    throw;
  }
  let_go(done->job, buffers);
  statistics.bytes_stored += done->work.bytes;
}

void NativeWriter::end_step() {
  State& s = *state_;
  const Timer timer(s.statistics.seconds_in_calls);
  ranks::take_begin_error(s.begin_error, s.put_error);
  try {
    s.land();
    s.agree_on_step();
    s.start();
  } catch (...) {
    s.job.reset();
    s.put_error.reset();
    throw;
  }
  s.job.reset();
}

bool NativeWriter::finished() {
  State& s = *state_;
  ranks::require_mpi();
  const Timer timer(s.statistics.seconds_in_calls);
  int written = !s.flight || s.flight->written ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &written, 1, MPI_INT, MPI_MIN, s.comm.get());
  if (written == 1) s.land();
  return written == 1;
}

void NativeWriter::wait() {
  const Timer timer(state_->statistics.seconds_in_calls);
  state_->land();
}

void NativeWriter::close() {
  if (state_->closed) return;
  ranks::require_mpi();
  state_->closed = true;
  wait();
  ranks::take_begin_error(state_->begin_error, state_->put_error);
  ranks::require_ended(state_->comm.get(), state_->put_error, state_->job.has_value());
}

Statistics NativeWriter::statistics() const { return state_->statistics; }

}  // namespace octavo::engine
