// The engine, by its public interface.
#include <algorithm>
#include <memory>

#include "octavo/base/error.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/ranks/communicator.hpp"
#include "ways.hpp"

namespace octavo::bench {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

// A writer lives as long as a run does: it is opened before anything is timed.
struct State {
  fs::path store;
  std::optional<engine::Writer> writer;
  std::int64_t step = 0;
  std::optional<engine::Restart> restart;
};

void remove_store(const Place& place, State& state) {
  if (state.writer) state.writer->close();
  state.writer.reset();
  state.restart.reset();
  MPI_Barrier(place.comm);
  std::error_code ignored;
  if (!state.store.empty() && ranks::rank_in(place.comm) == 0) fs::remove_all(state.store, ignored);
  MPI_Barrier(place.comm);
}

Detail write_step(const Problem& problem, engine::Writer& writer, std::int64_t step) {
  const double before = writer.statistics().seconds_copying;
  writer.begin_step(store::Flow::checkpoint, step, 0);
  writer.put_mesh(problem.tree);
  for (std::size_t f = 0; f < problem.fields.size(); ++f)
    writer.put_field("field" + std::to_string(f), view_of(problem, f));
  const double begin = MPI_Wtime();
  writer.end_step();
  const double end = MPI_Wtime();
  writer.wait();
  return {end - begin, writer.statistics().seconds_copying - before};
}

// Into the arrays that the other ways read into.
std::optional<engine::Restart> read_step(const Place& place, const fs::path& store) {
  engine::RestartOptions options;
  options.place = [&](const mesh::FieldInfo& field, std::size_t bytes) {
    auto& values = place.scratch->at(static_cast<std::size_t>(std::stoi(field.name.substr(5))));
    if (bytes != 8 * values.size())
      throw Error(Kind::corrupt, "a field of another size than was written").at(field.name);
    return std::as_writable_bytes(std::span(values));
  };
  return engine::restart(place.comm, store, options);
}

void check(const Place& place, const std::optional<engine::Restart>& restart, const std::string& way) {
  if (!restart) throw Error(Kind::corrupt, "no step was found").at(way);
  if (restart->part.fields.size() != place.scratch->size()) throw Error(Kind::corrupt, "a field is missing").at(way);
  expect_same(place.problem->fields, *place.scratch, way);
}

std::string name_of(const Setup& setup, int per_file, bool checksums, engine::Mode mode) {
  const std::string files = per_file == 0   ? "1 file a node"
                            : per_file == 1 ? "1 file a rank"
                                            : std::to_string(per_file) + " ranks a file";
  return "octavo, " + files + (checksums ? ", checksums" : "") +
         (mode == engine::Mode::sync ? "" : ", " + std::string(engine::name_of(mode))) +
         (setup.codec == "raw" ? "" : ", " + setup.codec);
}

Way octavo_way(const Place& place, int per_file, bool checksums, engine::Mode mode) {
  const auto state = std::make_shared<State>();
  Way way;
  way.name = name_of(*place.setup, per_file, checksums, mode);
  way.prepare = [=](int repetition) {
    if (place.setup->rewrite && state->writer) return;
    remove_store(place, *state);
    state->store = place.setup->directory / ("octavo_" + std::to_string(per_file) + (checksums ? "c_" : "_") +
                                             std::string(engine::name_of(mode)) + "." + std::to_string(repetition));
    auto options = engine_options(*place.setup, per_file, checksums, mode);
    if (place.setup->rewrite && options.keep_last == 0) options.keep_last = 1;
    state->writer.emplace(place.comm, state->store, place.problem->header, options);
  };
  way.write = [=] { return write_step(*place.problem, *state->writer, state->step++); };
  way.read = [=] { state->restart = read_step(place, state->store); };
  way.check = [=] {
    if (place.setup->codec.find(':') == std::string::npos) check(place, state->restart, way.name);
    state->restart.reset();
    for (auto& field : *place.scratch) std::fill(field.begin(), field.end(), -1.0);
  };
  way.finish = [=] { remove_store(place, *state); };
  return way;
}

}  // namespace

engine::ArrayView view_of(const Problem& problem, std::size_t index) {
  engine::ArrayView view = engine::view_of(problem.fields[index]);
  view.cells = problem.blocks;
  view.block = problem.tree.block;
  return view;
}

engine::Options engine_options(const Setup& setup, int per_file, bool checksums, engine::Mode mode) {
  engine::Options options;
  options.mode = mode;
  options.contributors_per_file = per_file;
  options.checksums = checksums;
  options.drop_pages = setup.sync;  // without syncs nobody waits for a disk, and no peer asks it to write
  options.checkpoint.codec = options.analysis.codec = engine::parse_codec(setup.codec);
  // A named codec is kept, but in mode auto, which may store values as they are.
  options.checkpoint_codec_by_cost = options.analysis_codec_by_cost = mode == engine::Mode::automatic;
  for (const auto& [name, value] : setup.options) engine::set_option(options, name, value);
  return options;
}

std::vector<Way> octavo_ways(const Place& place) {
  std::vector<Way> ways;
  for (const engine::Mode mode : place.setup->modes)
    for (const int per_file : place.setup->per_file)
      for (const bool checksums : place.setup->checksums) ways.push_back(octavo_way(place, per_file, checksums, mode));
  return ways;
}

}  // namespace octavo::bench
