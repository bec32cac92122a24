#include "octavo/engine/targets/series_writer.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <functional>
#include <set>
#include <system_error>
#include <thread>

#include "octavo/base/current_error.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/engine/points/series_exchange.hpp"
#include "octavo/engine/targets/series_med.hpp"
#include "octavo/engine/targets/series_share.hpp"
#include "octavo/engine/timer.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/med/steps.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/route.hpp"

namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
namespace serafin = formats::serafin;
using base::Error;
using base::Kind;

void check_options(const serafin::Header& header, const SeriesOptions& options) {
  if (options.mode == Mode::automatic) throw Error(Kind::usage, "mode: expected sync or background, found auto");
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  if (options.mode == Mode::background && provided < MPI_THREAD_FUNNELED)
    throw Error(Kind::usage, "MPI was initialised for one thread a process only")
        .hint("MPI_Init_thread with MPI_THREAD_FUNNELED, or mode = sync");
  if (header.variables.empty()) throw Error(Kind::usage, "a series needs one variable at least");
  std::set<std::string> names;
  for (const serafin::Variable& variable : header.variables)
    if (!names.insert(serafin::name_of(variable)).second)
      throw Error(Kind::usage, "variable " + serafin::name_of(variable) + " is there twice: names have 16 characters");
  if (header.real_bytes != 4 && header.real_bytes != 8)
    throw Error(Kind::usage, "bytes a real: expected 4 or 8, found " + std::to_string(header.real_bytes));
}

std::string describe(const fs::path& path, const serafin::Header& header, const SeriesOptions& options) {
  std::string text = path.string() + ": " + std::to_string(header.real_bytes) + " bytes a real, ";
  text += header.order == std::endian::big ? "big endian, variables " : "little endian, variables ";
  for (const serafin::Variable& variable : header.variables) text += serafin::name_of(variable) + ", ";
  text += options.resume ? "resumed at " + std::to_string(*options.resume) : "new";
  return text + ", " + std::to_string(options.writers) + " writers, bounds at " + std::to_string(options.alignment);
}

std::string describe_time(double time) {
  char text[40];
  std::snprintf(text, sizeof(text), "time %.17g", time);
  return text;
}

/// Files that are gone with it.
struct Scratch {
  std::vector<fs::path> files;
  void clear() const {
    std::error_code ignored;
    for (const fs::path& file : files) fs::remove(file, ignored);
  }
  ~Scratch() { clear(); }
};

/// Beside a MED file, for the time of its making: the mesh as a SERAFIN file, under a name that no file has.
file::File create_geometry(const fs::path& path, Scratch& scratch) {
  fs::path name = path.string() + ".geometry";
  for (int n = 1; fs::exists(fs::symlink_status(name)); ++n) name = path.string() + ".geometry-" + std::to_string(n);
  file::File made = file::create(name);
  scratch.files.push_back(std::move(name));
  return made;
}

/// A step handed over. What the thread needs, and what it says.
struct Flight {
  SeriesShare share;
  std::thread thread;
  std::atomic<bool> written{true};
  std::optional<Error> failure;
  double seconds = 0;
  bool on = false;
};

}  // namespace

std::array<char, 80> series_title(const std::string& text, std::size_t real_bytes) {
  std::array<char, 80> title;
  title.fill(' ');
  const std::string tag = real_bytes == 8 ? "SERAFIND" : "SERAFIN ";
  std::copy_n(text.begin(), std::min<std::size_t>(text.size(), 72), title.begin());
  std::copy(tag.begin(), tag.end(), title.begin() + 72);
  return title;
}

struct SeriesWriter::State {
  State(MPI_Comm parent, fs::path file_path, const serafin::Header& common, const SeriesOptions& chosen)
      : comm(ranks::duplicate(parent)), path(std::move(file_path)), header(common), options(chosen) {}
  ~State() {
    if (flight.thread.joinable()) flight.thread.join();
  }

  ranks::OwnComm comm;
  fs::path path;
  serafin::Header header;
  SeriesOptions options;
  SeriesPlan plan;
  SeriesExchange exchange;
  std::size_t values = 0;  // in an array of this rank
  std::optional<file::File> file;
  std::optional<formats::med::Steps> med;  // rank 0's, of a MED file
  std::int64_t steps = 0;

  bool in_step = false, closed = false;
  double time = 0;
  std::vector<bool> put;
  std::optional<Error> begin_error, put_error;
  std::vector<std::byte> out, packed;
  Flight flight;
  Statistics statistics;

  void make_file(const SeriesMesh& mesh, const SharedMesh& shared);
  void put_mesh(const SeriesMesh& mesh, const SharedMesh& shared, const file::File* to);
  std::uint64_t resume_file(const SeriesMesh& mesh, const SharedMesh& shared);
  std::uint64_t resume_med(const SeriesMesh& mesh, const SharedMesh& shared);
  void open(const SeriesMesh& mesh);
  bool is_last_writer() const { return exchange.writer + 1 == plan.writers; }
  void encode(std::size_t variable, const ArrayView& view);
  void check_step() const;
  void find_places();
  void show_step();
  void hide_step() noexcept;
  void write();
  void start_thread();
  void land();
};

// ------------------------------------------------------------------ the file

void SeriesWriter::State::put_mesh(const SeriesMesh& mesh, const SharedMesh& shared, const file::File* to) {
  write_mesh(comm.get(), mesh, shared, header,
             [&](std::uint64_t at, std::span<const std::byte> bytes) { file::pwrite_all(*to, at, bytes); });
}

void SeriesWriter::State::make_file(const SeriesMesh& mesh, const SharedMesh& shared) {
  const fs::path partial = path.string() + ".partial";
  Scratch scratch;
  if (ranks::rank_in(comm.get()) == 0) scratch.files = {partial};
  std::optional<file::File> made;
  ranks::agree(comm.get(), [&] {
    if (ranks::rank_in(comm.get()) != 0) return;
    if (fs::exists(fs::symlink_status(path)))
      throw Error(Kind::usage, "the output exists already").at(path.string()).hint("resume goes on behind its steps");
    scratch.clear();
    made = is_med(path) ? create_geometry(path, scratch) : file::create(partial);
  });
  put_mesh(mesh, shared, made ? &*made : nullptr);
  ranks::agree(comm.get(), [&] {
    if (!made) return;
    if (is_med(path)) {
      make_med(made->path(), partial, header.real_bytes);
      formats::med::Steps(partial, options.alignment).commit(options.sync);
      made = file::open_write(partial);
    }
    if (options.sync) file::sync(*made);
    file::rename(partial, path);
    if (options.sync) file::sync_directory(path.has_parent_path() ? path.parent_path() : fs::path("."));
    if (is_med(path)) med.emplace(path, options.alignment);
  });
}

// Returns how many steps stay.
std::uint64_t SeriesWriter::State::resume_med(const SeriesMesh& mesh, const SharedMesh& shared) {
  Scratch scratch;
  std::optional<file::File> made;
  std::uint64_t keep = 0;
  ranks::agree(comm.get(), [&] {
    if (ranks::rank_in(comm.get()) != 0) return;
    file::open_read(path);
    made = create_geometry(path, scratch);
  });
  put_mesh(mesh, shared, made ? &*made : nullptr);
  ranks::agree(comm.get(), [&] {
    if (!made) return;
    require_same_series(made->path(), path);
    med.emplace(path, options.alignment);
    const std::vector<double>& times = med->times();
    while (keep < times.size() && !(times[keep] > *options.resume)) ++keep;
    if (keep == times.size()) return;
    med->keep(static_cast<std::int64_t>(keep));
    med->commit(options.sync);
  });
  MPI_Bcast(&keep, 1, MPI_UINT64_T, 0, comm.get());
  return keep;
}

// Returns how many steps stay. The mesh is compared as bytes: what would be written with what is there.
std::uint64_t SeriesWriter::State::resume_file(const SeriesMesh& mesh, const SharedMesh& shared) {
  std::optional<serafin::Series> there;
  std::uint64_t keep = 0;
  ranks::agree(comm.get(), [&] {
    if (ranks::rank_in(comm.get()) != 0) return;
    there = serafin::open_series(path);
    std::copy(there->header.title.begin(), there->header.title.end(), header.title.begin());
    if (!(there->header == header))
      throw Error(Kind::usage, "the file has another mesh, precision or date, or other variables: nothing can be added")
          .at(path.string());
    while (static_cast<std::int64_t>(keep) < there->steps &&
           !(read_time(*there, static_cast<std::int64_t>(keep)) > *options.resume))
      ++keep;
  });
  std::vector<std::byte> found;
  write_mesh(comm.get(), mesh, shared, header, [&](std::uint64_t at, std::span<const std::byte> bytes) {
    found.resize(bytes.size());
    file::pread_all(*there->file, at, found);
    const auto differs = std::mismatch(found.begin(), found.end(), bytes.begin()).first;
    if (differs != found.end())
      throw Error(Kind::usage, "the file has another mesh: nothing can be added")
          .at(path.string() + ", byte " + std::to_string(at + static_cast<std::uint64_t>(differs - found.begin())));
  });
  ranks::agree(comm.get(), [&] {
    if (!there) return;
    const file::File cut = file::open_write(path);
    file::resize(cut, plan.layout.steps + keep * plan.layout.step_bytes);
    if (options.sync) file::sync(cut);
  });
  MPI_Bcast(&keep, 1, MPI_UINT64_T, 0, comm.get());
  return keep;
}

void SeriesWriter::State::open(const SeriesMesh& mesh) {
  ranks::agree(comm.get(), [&] { check_options(header, options); });
  ranks::require_same(comm.get(), describe(path, header, options), "the series");
  const SharedMesh shared = share_mesh(comm.get(), mesh, header);
  ranks::agree(comm.get(), [&] {
    const std::vector<int> hosts = ranks::hosts_of_ranks(comm.get(), options.ranks_per_node);
    serafin::Header laid_out = header;
    if (is_med(path)) laid_out.order = std::endian::native;
    plan = plan_series(laid_out, writer_ranks(hosts, options.writers), options.alignment);
  });
  if (options.resume)
    steps = static_cast<std::int64_t>(is_med(path) ? resume_med(mesh, shared) : resume_file(mesh, shared));
  else
    make_file(mesh, shared);
  exchange = plan_exchange(comm.get(), plan, shared.owned);
  values = mesh.piece.x.size() * static_cast<std::size_t>(mesh.piece.planes);
  put.assign(header.variables.size(), false);
  ranks::agree(comm.get(), [&] {
    out.resize(exchange.send.size() * header.variables.size() * header.real_bytes);
    flight.share.values.resize(exchange.place.size() * header.variables.size() * header.real_bytes);
    if (exchange.writer >= 0) file = file::open_write(path);
  });
}

SeriesWriter::SeriesWriter(MPI_Comm comm, const fs::path& path, const serafin::Header& header, const SeriesMesh& mesh,
                           const SeriesOptions& options)
    : state_(std::make_unique<State>(comm, path, header, options)) {
  state_->open(mesh);
}
SeriesWriter::~SeriesWriter() = default;
SeriesWriter::SeriesWriter(SeriesWriter&&) noexcept = default;
SeriesWriter& SeriesWriter::operator=(SeriesWriter&&) noexcept = default;

// ------------------------------------------------------------------ a step is put together

void SeriesWriter::begin_step(double time) {
  State& s = *state_;
  if (s.closed || s.in_step)
    throw Error(Kind::usage, s.closed ? "the writer is closed" : "the step before has not ended");
  s.in_step = true;
  s.time = time;
  s.begin_error.reset();
}

// Packed by the rank each value goes to.
void SeriesWriter::State::encode(std::size_t variable, const ArrayView& view) {
  const std::byte* data = packed_data(view);
  if (data == nullptr) {
    packed.resize(packed_bytes(view));
    pack(view, packed, false);
    data = packed.data();
  }
  const std::span all(exchange.send);
  for (const SeriesExchange::Peer& peer : exchange.to) {
    std::byte* to = out.data() + (peer.first * header.variables.size() + variable * peer.count) * header.real_bytes;
    const auto indices = all.subspan(peer.first, peer.count);
    if (view.type == mesh::ScalarType::float64)
      encode_values<double>(plan.header, {reinterpret_cast<const double*>(data), values}, indices, to);
    else
      encode_values<float>(plan.header, {reinterpret_cast<const float*>(data), values}, indices, to);
  }
}

void SeriesWriter::put_field(const std::string& variable, const ArrayView& view) {
  State& s = *state_;
  const Timer timer(s.statistics.seconds_in_calls);
  const Timer copying(s.statistics.seconds_copying);
  try {
    if (!s.in_step) throw Error(Kind::usage, "nothing can be put outside of a step");
    const std::size_t v = serafin::find_variable(s.header, variable);
    if (s.put[v]) throw Error(Kind::usage, "the variable was put before");
    check(view);
    if (view.type != mesh::ScalarType::float64 && view.type != mesh::ScalarType::float32)
      throw Error(Kind::usage, "expected float64 or float32, found " + std::string(mesh::name_of(view.type)));
    if (packed_bytes(view) != s.values * mesh::size_of(view.type))
      throw Error(Kind::usage, "expected " + std::to_string(s.values) + " values, found " +
                                   std::to_string(packed_bytes(view) / mesh::size_of(view.type)));
    s.encode(v, view);
    s.put[v] = true;
    s.statistics.bytes_put += packed_bytes(view);
  } catch (...) {
    put_error(base::current_error().at("field " + variable));
  }
}

void SeriesWriter::put_error(const Error& error) {
  if (!state_->put_error) state_->put_error = error;
}
void SeriesWriter::begin_error(const Error& error) { state_->begin_error = error; }

// ------------------------------------------------------------------ a step goes

void SeriesWriter::State::check_step() const {
  if (put_error) throw *put_error;
  if (!in_step) throw Error(Kind::usage, "there is no step to end");
  for (std::size_t v = 0; v < put.size(); ++v)
    if (!put[v]) throw Error(Kind::usage, "variable " + serafin::name_of(header.variables[v]) + " was not put");
}

void SeriesWriter::State::write() {
  {
    const Timer timer(flight.seconds);
    try {
      if (file) write_share(plan, exchange, flight.share, *file);
      if (file && options.sync) file::sync(*file);
    } catch (...) {
      flight.failure = base::current_error();
    }
  }
  flight.written = true;
}

// Where the system gives no thread the step has failed, which land() tells all ranks.
void SeriesWriter::State::start_thread() try {
  flight.thread = std::thread([this] {
    if (!options.bound_thread) base::leave_binding();
    write();
  });
} catch (const std::system_error& error) {
  flight.failure = base::system_error("start a thread", error.code().value());
  flight.written = true;
}

void SeriesWriter::State::show_step() {
  if (med) med->commit(options.sync);
  if (is_med(path) || !is_last_writer()) return;
  write_seal(plan, *file, flight.share.step);
  if (options.sync) file::sync(*file);
}

void SeriesWriter::State::hide_step() noexcept {
  if (med) med->abandon();
  try {
    if (!is_med(path) && is_last_writer()) file::resize(*file, step_end(plan, steps - 1));
  } catch (const Error&) {  // a tail that readers pass over
  }
}

// Where MED has a step's variables: rank 0 makes room.
void SeriesWriter::State::find_places() {
  if (!is_med(path)) return;
  std::vector<std::uint64_t>& places = flight.share.places;
  places.resize(header.variables.size());
  ranks::agree(comm.get(), [&] {
    if (med) places = med->add(header.real_bytes == 4 ? double{static_cast<float>(time)} : time);
  });
  MPI_Bcast(places.data(), static_cast<int>(places.size()), MPI_UINT64_T, 0, comm.get());
}

// Waits until all ranks have written the step, and lets the file show it.
void SeriesWriter::State::land() {
  if (!flight.on) return;
  {
    const Timer timer(statistics.seconds_waiting);
    if (flight.thread.joinable()) flight.thread.join();
  }
  flight.on = false;
  statistics.seconds_working += flight.seconds;
  try {
    ranks::agree(comm.get(), [&] {
      if (flight.failure) throw *flight.failure;
    });
    ranks::agree(comm.get(), [&] { show_step(); });
  } catch (...) {
    ++statistics.failed;
    hide_step();
    throw;
  }
  ++steps;
  if (file) statistics.bytes_stored += flight.share.values.size();
}

void SeriesWriter::end_step() {
  State& s = *state_;
  const Timer timer(s.statistics.seconds_in_calls);
  const auto reset = [&] {
    s.in_step = false;
    s.put_error.reset();
    s.put.assign(s.put.size(), false);
  };
  ranks::take_begin_error(s.begin_error, s.put_error);
  try {
    s.land();
    ranks::agree(s.comm.get(), [&] { s.check_step(); });
    ranks::require_same(s.comm.get(), describe_time(s.time), "the step");
    s.find_places();
    exchange_values(s.comm.get(), s.exchange, s.header.variables.size(), s.header.real_bytes, s.out,
                    s.flight.share.values);
  } catch (...) {
    if (s.med) s.med->abandon();  // what it has of this step's fields
    reset();
    throw;
  }
  reset();
  ++s.statistics.steps;
  s.statistics.bytes_staged += s.flight.share.values.size();
  s.flight.share.step = s.steps;
  s.flight.share.time = s.time;
  s.flight.failure.reset();
  s.flight.seconds = 0;
  s.flight.written = false;
  s.flight.on = true;
  if (s.options.mode == Mode::sync || !s.file)
    s.write();
  else
    s.start_thread();
  if (s.options.mode == Mode::sync) s.land();
}

bool SeriesWriter::finished() {
  State& s = *state_;
  ranks::require_mpi();
  const Timer timer(s.statistics.seconds_in_calls);
  int written = s.flight.written ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &written, 1, MPI_INT, MPI_MIN, s.comm.get());
  if (written == 1) s.land();
  return written == 1;
}

void SeriesWriter::wait() {
  const Timer timer(state_->statistics.seconds_in_calls);
  state_->land();
}

void SeriesWriter::close() {
  if (state_->closed) return;
  ranks::require_mpi();
  state_->closed = true;
  wait();
  ranks::take_begin_error(state_->begin_error, state_->put_error);
  ranks::require_ended(state_->comm.get(), state_->put_error, state_->in_step);
}

std::int64_t SeriesWriter::steps() const { return state_->steps; }
const SeriesPlan& SeriesWriter::plan() const { return state_->plan; }
Statistics SeriesWriter::statistics() const { return state_->statistics; }

}  // namespace octavo::engine
