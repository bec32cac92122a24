#include "octavo/engine/targets/series_target.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>
#include <system_error>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/engine/points/series_exchange.hpp"
#include "octavo/engine/points/triangle_pieces.hpp"
#include "octavo/engine/step/step_puts.hpp"
#include "octavo/engine/targets/series_med.hpp"
#include "octavo/engine/targets/series_share.hpp"
#include "octavo/engine/targets/target_row.hpp"
#include "octavo/engine/timer.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/formats/med/groups.hpp"
#include "octavo/formats/med/row.hpp"
#include "octavo/formats/med/steps.hpp"
#include "octavo/formats/serafin/row.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/route.hpp"

namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
namespace serafin = formats::serafin;
using base::Error;
using base::Kind;

void check_options(const serafin::SerafinHeader& header, const SeriesOptions& options) {
  if (options.mode == Mode::automatic) throw Error(Kind::usage, "mode: expected sync or background, found auto");
  if (header.variables.empty()) throw Error(Kind::usage, "a series needs one variable at least");
  std::set<std::string> names;
  for (const serafin::Variable& variable : header.variables)
    if (!names.insert(serafin::name_of(variable)).second)
      throw Error(Kind::usage, "variable " + serafin::name_of(variable) + " is there twice: names have 16 characters");
  if (header.real_bytes != 4 && header.real_bytes != 8)
    throw Error(Kind::usage, "bytes a real: expected 4 or 8, found " + std::to_string(header.real_bytes));
}

const formats::Format& format_of(const SeriesTarget& target) {
  if (target.format != nullptr) return *target.format;
  return formats::format_by_ending(target.path) == &formats::med::row ? formats::med::row : serafin::row;
}

/// The groups of a geometry in MED. In 3-D they are those of the lowest plane's edges, as gretel has them.
std::optional<formats::MeshGroups> groups_of(const SeriesMesh& mesh, const SharedMesh& shared) {
  if (!shared.geometry || shared.geometry->first.format != formats::med::row.name) return {};
  formats::MeshGroups groups = formats::med::read_groups(*mesh.geometry);
  if (mesh.piece.planes > 1) groups.of_triangle = groups.of_point = {};
  return groups;
}

std::string describe_time(double time) {
  char text[40];
  std::snprintf(text, sizeof(text), "time %.17g", time);
  return text;
}

/// Removes its files when it is destroyed.
struct ScratchFiles {
  std::vector<fs::path> files;
  void clear() const {
    std::error_code ignored;
    for (const fs::path& file : files) fs::remove(file, ignored);
  }
  ~ScratchFiles() { clear(); }
};

/// Creates the mesh as a SERAFIN file beside a MED file, under an unused name, while the MED file is being made.
file::File create_geometry(const fs::path& path, ScratchFiles& scratch) {
  fs::path name = path.string() + ".geometry";
  for (int n = 1; fs::exists(fs::symlink_status(name)); ++n) name = path.string() + ".geometry-" + std::to_string(n);
  file::File made = file::create(name);
  scratch.files.push_back(std::move(name));
  return made;
}

/// The mesh of a new SERAFIN file: on rank 0 from the file's begin, then a stretch on each writer. The threads of the
/// first step write it, and then the file gets its name.
struct MeshOnItsWay {
  static constexpr std::uint64_t most = std::uint64_t{64} << 20;  // [bytes] in memory; the rest is written at once
  std::uint64_t at = 0;
  std::vector<std::byte> bytes;

  void put(const file::File& file, std::uint64_t to, std::span<const std::byte> some) {
    const std::size_t kept = to < bytes.size() ? std::min<std::size_t>(some.size(), bytes.size() - to) : 0;
    if (kept > 0) std::memcpy(bytes.data() + to, some.data(), kept);
    if (kept < some.size()) file::pwrite_all(file, to + kept, some.subspan(kept));
  }
  // Collective. Rank 0 hands each writer its stretch.
  void share(MPI_Comm comm, const SeriesPlan& plan, std::uint64_t size) {
    if (plan.writers == 1) return;
    std::vector<int> counts(static_cast<std::size_t>(ranks::size_of(comm)), 0);
    for (int w = 0; w < plan.writers; ++w) {
      const SeriesWrite piece = mesh_piece(plan, w, size);
      const int writer = plan.ranks[static_cast<std::size_t>(w)];
      if (!bytes.empty()) counts[static_cast<std::size_t>(writer)] = static_cast<int>(piece.end - piece.begin);
      if (writer == ranks::rank_in(comm)) at = piece.begin;
    }
    bytes = ranks::route<std::byte>(comm, bytes, counts).values;
  }
  void write(const file::File& file) const { file::pwrite_all(file, at, bytes); }
};

/// The open file, and the step on its way to it.
struct SeriesFile {
  MPI_Comm comm = MPI_COMM_NULL;
  fs::path path;
  const formats::Format* format = nullptr;
  serafin::SerafinHeader header;
  SeriesOptions options;
  std::uint64_t piece = 0;  // checksum of the mesh that this rank has
  SeriesPlan plan;
  SeriesExchange exchange;
  std::size_t values = 0;  // in an array of this rank
  std::optional<file::File> file;
  std::optional<formats::med::Steps> med;  // rank 0's, of a MED file
  std::int64_t steps = 0;                  // whole ones when it was opened
  bool has_name = true;                    // not NAME.partial; the same on all ranks
  std::optional<MeshOnItsWay> mesh_on_its_way;

  std::vector<bool> put;
  std::vector<std::byte> out, packed;
  SeriesShare share;
  std::uint64_t bytes_put = 0;
  double seconds_copying = 0;

  fs::path partial() const { return path.string() + ".partial"; }
  void make_file(const SeriesMesh& mesh, const SharedMesh& shared);
  void begin_file(const SeriesMesh& mesh, const SharedMesh& shared);
  void give_name();
  void close();
  void put_mesh(const SeriesMesh& mesh, const SharedMesh& shared, const file::File* to);
  std::uint64_t resume_file(const SeriesMesh& mesh, const SharedMesh& shared);
  std::uint64_t resume_med(const SeriesMesh& mesh, const SharedMesh& shared);
  void open(const SeriesMesh& mesh);
  bool is_med() const { return format == &formats::med::row; }
  bool is_last_writer() const { return exchange.writer + 1 == plan.writers; }
  void encode(std::size_t variable, const ArrayView& view);
  void put_field(const std::string& variable, const ArrayView& view);
  void check_step() const;
  void find_places(double time);
  void show_step();
  void hide_step() noexcept;
  StepWork take(const std::shared_ptr<SeriesFile>& self, std::shared_ptr<StepJob> job);
};

std::string describe(const SeriesFile& file) {
  const serafin::SerafinHeader& header = file.header;
  const SeriesOptions& options = file.options;
  std::string text = file.path.string() + ": " + std::string(file.format->outputs[0].title) + ", " +
                     std::to_string(header.real_bytes) + " bytes a real, ";
  text += header.order == std::endian::big ? "big endian, variables " : "little endian, variables ";
  for (const serafin::Variable& variable : header.variables) text += serafin::name_of(variable) + ", ";
  text += options.resume ? "resumed at " + std::to_string(*options.resume) : "new";
  return text + ", " + std::to_string(options.writers) + " writers, bounds at " + std::to_string(options.alignment);
}

// ------------------------------------------------------------------ the file

void SeriesFile::put_mesh(const SeriesMesh& mesh, const SharedMesh& shared, const file::File* to) {
  write_mesh(comm, mesh, shared, header,
             [&](std::uint64_t at, std::span<const std::byte> bytes) { file::pwrite_all(*to, at, bytes); });
}

// On rank 0.
void require_new(const fs::path& path) {
  if (fs::exists(fs::symlink_status(path)))
    throw Error(Kind::usage, "the output exists already").at(path.string()).hint("resume goes on behind its steps");
}

// A SERAFIN file whose mesh goes with the first step.
void SeriesFile::begin_file(const SeriesMesh& mesh, const SharedMesh& shared) {
  has_name = false;
  ScratchFiles scratch;
  if (ranks::rank_in(comm) == 0) scratch.files = {partial()};
  std::optional<file::File> made;
  MeshOnItsWay whole;
  const std::uint64_t size = std::min(MeshOnItsWay::most, plan.offsets.steps);
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) != 0) return;
    require_new(path);
    scratch.clear();
    made = file::create(partial());
    whole.bytes.resize(size);
  });
  write_mesh(comm, mesh, shared, header,
             [&](std::uint64_t at, std::span<const std::byte> bytes) { whole.put(*made, at, bytes); });
  whole.share(comm, plan, size);
  if (!whole.bytes.empty()) mesh_on_its_way = std::move(whole);
  scratch.files.clear();
}

// On all ranks, when the mesh is in the file.
void SeriesFile::give_name() {
  mesh_on_its_way.reset();
  if (std::exchange(has_name, true) || ranks::rank_in(comm) != 0) return;
  file::rename(partial(), path);
  if (options.sync) file::sync_directory(path.has_parent_path() ? path.parent_path() : fs::path("."));
}

// Collective. A file without a step has its mesh.
void SeriesFile::close() {
  if (has_name) return;
  ranks::agree(comm, [&] {
    if (!mesh_on_its_way) return;
    mesh_on_its_way->write(*file);
    if (options.sync) file::sync(*file);
  });
  ranks::agree(comm, [&] { give_name(); });
}

void SeriesFile::make_file(const SeriesMesh& mesh, const SharedMesh& shared) {
  if (!is_med() && options.mode == Mode::background) return begin_file(mesh, shared);
  const fs::path partial = this->partial();
  ScratchFiles scratch;
  if (ranks::rank_in(comm) == 0) scratch.files = {partial};
  std::optional<file::File> made;
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) != 0) return;
    require_new(path);
    scratch.clear();
    made = is_med() ? create_geometry(path, scratch) : file::create(partial);
  });
  put_mesh(mesh, shared, made ? &*made : nullptr);
  ranks::agree(comm, [&] {
    if (!made) return;
    if (is_med()) {
      make_med(made->path(), partial, header.real_bytes, groups_of(mesh, shared));
      formats::med::Steps(partial, options.alignment).commit(options.sync);
      made = file::open_write(partial);
    }
    if (options.sync) file::sync(*made);
    file::rename(partial, path);
    if (options.sync) file::sync_directory(path.has_parent_path() ? path.parent_path() : fs::path("."));
    if (is_med()) med.emplace(path, options.alignment);
  });
}

// Returns how many steps stay.
std::uint64_t SeriesFile::resume_med(const SeriesMesh& mesh, const SharedMesh& shared) {
  ScratchFiles scratch;
  std::optional<file::File> made;
  std::uint64_t keep = 0;
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) != 0) return;
    file::open_read(path);
    made = create_geometry(path, scratch);
  });
  put_mesh(mesh, shared, made ? &*made : nullptr);
  ranks::agree(comm, [&] {
    if (!made) return;
    require_same_series(made->path(), path);
    med.emplace(path, options.alignment);
    const std::vector<double>& times = med->times();
    while (keep < times.size() && !(times[keep] > *options.resume)) ++keep;
    if (keep == times.size()) return;
    med->keep(static_cast<std::int64_t>(keep));
    med->commit(options.sync);
  });
  MPI_Bcast(&keep, 1, MPI_UINT64_T, 0, comm);
  return keep;
}

// Returns how many steps stay. Compares the bytes of the mesh in the file with those that we would write.
std::uint64_t SeriesFile::resume_file(const SeriesMesh& mesh, const SharedMesh& shared) {
  std::optional<serafin::SerafinSeries> there;
  std::uint64_t keep = 0;
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) != 0) return;
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
  write_mesh(comm, mesh, shared, header, [&](std::uint64_t at, std::span<const std::byte> bytes) {
    found.resize(bytes.size());
    file::pread_all(*there->file, at, found);
    const auto differs = std::mismatch(found.begin(), found.end(), bytes.begin()).first;
    if (differs != found.end())
      throw Error(Kind::usage, "the file has another mesh: nothing can be added")
          .at(path.string() + ", byte " + std::to_string(at + static_cast<std::uint64_t>(differs - found.begin())));
  });
  ranks::agree(comm, [&] {
    if (!there) return;
    const file::File cut = file::open_write(path);
    // Steps later than the one to resume from, and a torn one, go before the first step is added.
    file::resize(cut, plan.offsets.steps + keep * plan.offsets.step_bytes);
    if (options.sync) file::sync(cut);
  });
  MPI_Bcast(&keep, 1, MPI_UINT64_T, 0, comm);
  return keep;
}

void SeriesFile::open(const SeriesMesh& mesh) {
  ranks::agree(comm, [&] {
    if (!is_med() && formats::format_by_ending(path) == &formats::med::row)
      throw Error(Kind::usage, "path: the name of a SERAFIN file does not end in .med");
    check_options(header, options);
  });
  ranks::require_same(comm, describe(*this), "the series");
  const SharedMesh shared = share_mesh(comm, mesh, header);
  ranks::agree(comm, [&] {
    const std::vector<int> hosts = ranks::hosts_of_ranks(comm, options.ranks_per_node);
    serafin::SerafinHeader laid_out = header;
    if (is_med()) laid_out.order = std::endian::native;
    plan = plan_series(laid_out, writer_ranks(hosts, options.writers), options.alignment);
  });
  if (options.resume)
    steps = static_cast<std::int64_t>(is_med() ? resume_med(mesh, shared) : resume_file(mesh, shared));
  else
    make_file(mesh, shared);
  piece = checksum_of(mesh.piece, mesh.global_element);
  exchange = plan_exchange(comm, plan, shared.owned);
  values = mesh.piece.x.size() * static_cast<std::size_t>(mesh.piece.planes);
  put.assign(header.variables.size(), false);
  ranks::agree(comm, [&] {
    out.resize(exchange.send.size() * header.variables.size() * header.real_bytes);
    share.values.resize(exchange.place.size() * header.variables.size() * header.real_bytes);
    if (exchange.writer >= 0) file = file::open_write(has_name ? path : partial());
  });
}

// Packed by the rank each value goes to.
void SeriesFile::encode(std::size_t variable, const ArrayView& view) {
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

void SeriesFile::put_field(const std::string& variable, const ArrayView& view) try {
  const Timer copying(seconds_copying);
  const std::size_t v = serafin::find_variable(header, variable);
  if (put[v]) throw Error(Kind::usage, "the variable was put before");
  check(view);
  if (view.type != mesh::ScalarType::float64 && view.type != mesh::ScalarType::float32)
    throw Error(Kind::usage, "expected float64 or float32, found " + std::string(mesh::name_of(view.type)));
  if (packed_bytes(view) != values * mesh::size_of(view.type))
    throw Error(Kind::usage, "expected " + std::to_string(values) + " values, found " +
                                 std::to_string(packed_bytes(view) / mesh::size_of(view.type)));
  follow({&view, 1});
  encode(v, view);
  put[v] = true;
  bytes_put += packed_bytes(view);
} catch (Error& error) {
  throw error.at("field " + variable);
}

// ------------------------------------------------------------------ a step goes

void SeriesFile::check_step() const {
  for (std::size_t v = 0; v < put.size(); ++v)
    if (!put[v]) throw Error(Kind::usage, "variable " + serafin::name_of(header.variables[v]) + " was not put");
}

void SeriesFile::show_step() {
  if (med) med->commit(options.sync);
  // All ranks have written their shares, or land() would not have called this.
  if (!is_med() && is_last_writer()) {
    write_seal(plan, *file, share.step);
    if (options.sync) file::sync(*file);
  }
  give_name();
}

void SeriesFile::hide_step() noexcept {
  if (med) med->abandon();
  try {
    // The file ends with the previous step again, as if this one had not begun.
    if (!is_med() && is_last_writer()) file::resize(*file, step_end(plan, share.step - 1));
  } catch (const Error&) {  // a tail that readers pass over
  }
}

// Finds where a step's variables are in a MED file; rank 0 makes room for them.
void SeriesFile::find_places(double time) {
  if (!is_med()) return;
  std::vector<std::uint64_t>& places = share.places;
  places.resize(header.variables.size());
  ranks::agree(comm, [&] {
    if (med) places = med->add(header.real_bytes == 4 ? double{static_cast<float>(time)} : time);
  });
  MPI_Bcast(places.data(), static_cast<int>(places.size()), MPI_UINT64_T, 0, comm);
}

StepWork SeriesFile::take(const std::shared_ptr<SeriesFile>& self, std::shared_ptr<StepJob> job) {
  share.step = job->plan.step;
  share.time = job->header.time;
  try {
    find_places(share.time);
    exchange_values(comm, exchange, header.variables.size(), header.real_bytes, out, share.values);
  } catch (...) {
    if (med) med->abandon();  // what it has of this step's fields
    throw;
  }
  StepWork work;
  work.job = std::move(job);
  work.bytes_put = bytes_put;
  work.bytes_copied = share.values.size();
  work.bytes_stored = file ? share.values.size() : 0;
  work.seconds_copying = seconds_copying;
  work.write = [self](Writing&) {
    if (!self->file) return;
    if (self->mesh_on_its_way) self->mesh_on_its_way->write(*self->file);
    write_share(self->plan, self->exchange, self->share, *self->file);
    if (self->options.sync) file::sync(*self->file);
  };
  work.seal = [self] { self->show_step(); };
  work.discard = [self] { self->hide_step(); };
  return work;
}

}  // namespace

std::array<char, 80> series_title(const std::string& text, std::size_t real_bytes) {
  std::array<char, 80> title;
  title.fill(' ');
  const std::string tag = real_bytes == 8 ? "SERAFIND" : "SERAFIN ";
  std::copy_n(text.begin(), std::min<std::size_t>(text.size(), 72), title.begin());
  std::copy(tag.begin(), tag.end(), title.begin() + 72);
  return title;
}

namespace {

// Collective. Creates the file, or finds where to go on in it.
TargetRow open(MPI_Comm comm, const SeriesTarget& target) {
  const auto file = std::make_shared<SeriesFile>();
  file->comm = comm;
  file->path = target.path;
  file->format = &format_of(target);
  file->header = target.header;
  file->options = target.options;
  file->open(target.mesh);
  TargetRow row;
  row.name = file->format->outputs[0].title;
  row.threaded = file->file.has_value();
  row.steps_found = file->steps;
  row.notes = {to_text(file->plan)};
  row.begin = [file](StepJob& job) {
    job.name = file->path.string() + ", " + describe_time(job.header.time);
    file->put.assign(file->put.size(), false);
    file->bytes_put = 0;
    file->seconds_copying = 0;
  };
  row.put_piece = [file](StepJob&, const mesh::Unstructured& mesh, std::span<const std::int64_t> global_element) {
    if (checksum_of(mesh, global_element) != file->piece)
      throw Error(Kind::unsupported, "a SERAFIN or MED file has one mesh, with which it was opened").at("the mesh");
  };
  row.put_field = [file](StepJob&, const mesh::FieldInfo& info, const ArrayView& view) {
    file->put_field(info.name, view);
  };
  row.check = [file](const StepJob&) { file->check_step(); };
  row.describe = [](const StepJob& job) { return describe_time(job.header.time); };
  row.take = [file](std::shared_ptr<StepJob> job, const Agreement&) { return file->take(file, std::move(job)); };
  row.close = [file] { file->close(); };
  return row;
}

}  // namespace

SeriesTarget::operator FileTarget() const {
  return {&format_of(*this), StepsBy::time, common_options(options),
          [target = std::make_shared<const SeriesTarget>(*this)](MPI_Comm comm, const mesh::Header&) {
            return open(comm, *target);
          }};
}

}  // namespace octavo::engine
