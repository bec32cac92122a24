// A simulation that computes and writes in turn, and the share of the writing that it sees.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

#include "measure.hpp"
#include "octavo/base/error.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::bench {
namespace {

namespace fs = std::filesystem;

// Work that takes one core and little memory, as much for every run.
double compute(std::int64_t rounds) {
  double x = 0.5;
  for (std::int64_t i = 0; i < rounds; ++i) x = 3.7 * x * (1 - x);
  return x;
}

// On all ranks at once, as it will run.
std::int64_t rounds_for(MPI_Comm comm, double seconds) {
  constexpr std::int64_t trial = 20'000'000;
  MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  volatile double sink = compute(trial);
  (void)sink;
  double took = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, comm);
  return static_cast<std::int64_t>(static_cast<double>(trial) * seconds / took);
}

/// How a run writes a step, waits until it is written, and ends. All empty: it does not write.
struct Output {
  std::function<void(int step)> write{};
  std::function<void()> wait{};
  std::function<void()> close{};
  std::function<engine::WriteStatistics()> statistics{};
};

// The observer of the room file throttles these, as it does the engine's.
void write_file(const Values& fields, const fs::path& path) {
  const file::File out = file::open_write(path);
  std::uint64_t offset = 0;
  for (const auto& field : fields) {
    file::pwrite_all(out, offset, std::as_bytes(std::span(field)));
    offset += 8 * field.size();
  }
  file::sync(out);  // of set_sync()
}

fs::path slot_of(const Place& place, int step) {
  return place.setup->directory /
         ("slot" + std::to_string(step % 2) + "." + std::to_string(ranks::rank_in(place.comm)));
}

// A run begins without files, as the engine's does: pages that are there cost a fifth of new ones.
void remove_slots(const Place& place) {
  for (int step : {0, 1}) fs::remove(slot_of(place, step));
}

Output plain(const Place& place) {
  remove_slots(place);
  Output output;
  output.write = [=](int step) { write_file(place.problem->fields, slot_of(place, step)); };
  return output;
}

// The least that writing behind a simulation's back can be: one copy, one thread, one step at a time.
Output copy_and_thread(const Place& place) {
  struct State {
    Values copy;
    std::thread thread;
    std::exception_ptr failure;
    void join() {
      if (thread.joinable()) thread.join();
      if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
    }
    ~State() {
      if (thread.joinable()) thread.join();
    }
  };
  remove_slots(place);
  const auto state = std::make_shared<State>();
  state->copy = place.problem->fields;
  Output output;
  output.write = [=](int step) {
    state->join();
    for (std::size_t f = 0; f < state->copy.size(); ++f)
      std::memcpy(state->copy[f].data(), place.problem->fields[f].data(), 8 * state->copy[f].size());
    state->thread = std::thread([state = state.get(), place, step] {
      try {
        write_file(state->copy, slot_of(place, step));
      } catch (...) {
        state->failure = std::current_exception();
      }
    });
  };
  output.close = output.wait = [=] { state->join(); };
  return output;
}

Output engine(const Place& place, const Pace& pace, engine::Mode mode, bool lend) {
  auto options = engine_options(*place.setup, place.setup->per_file.front(), place.setup->checksums.back(), mode);
  options.lend = lend;
  options.keep_last = 1;
  options.recycle = true;  // as the other ways do: two slots, in turn
  const auto least = static_cast<std::int64_t>(2 * bytes_of(*place.problem)) + (64 << 20);
  options.staging_bytes = std::max(options.staging_bytes, least);
  const auto writer = std::make_shared<engine::Writer>(place.comm, place.setup->directory / "run.octavo",
                                                       place.problem->header, options);
  Output output;
  output.write = [=](int step) {
    writer->begin_step(pace.flow, step, step);
    writer->put_mesh(place.problem->tree);
    for (std::size_t f = 0; f < place.problem->fields.size(); ++f)
      writer->put_field("field" + std::to_string(f), view_of(*place.problem, f));
    writer->end_step();
  };
  output.wait = [=] { writer->wait(); };
  output.close = [=] { writer->close(); };
  output.statistics = [=] { return writer->statistics(); };
  return output;
}

using Make = std::function<Output()>;

// Steps before the first that is timed: after them all files of all ways are there, and written again in turn.
constexpr int warming = 3;

void warm(const Output& output) {
  if (!output.write) return;
  for (int step = 0; step < warming; ++step) output.write(step);
  if (output.wait) output.wait();
}

std::uint64_t stored(const Output& output) {
  return output.statistics ? output.statistics().bytes_stored : std::uint64_t{0};
}

Run take(const Place& place, const Pace& pace, std::int64_t rounds, const Make& make) {
  // Every run begins without files, and with memory that the machine has.
  if (ranks::rank_in(place.comm) == 0) fs::remove_all(place.setup->directory / "run.octavo");
  for (int slot = 0; slot < 2; ++slot) fs::remove(slot_of(place, slot));
  MPI_Barrier(place.comm);
  const Output output = make();
  if (place.setup->rewrite) warm(output);
  const std::uint64_t stored_before = stored(output);
  touch_free_memory(4 * bytes_of(*place.problem));
  Run run;
  double in_calls = 0;
  const auto timed = [](double& seconds, const auto& work) {
    const double begin = MPI_Wtime();
    work();
    seconds += MPI_Wtime() - begin;
  };
  MPI_Barrier(place.comm);
  const Usage before = usage();
  const double begin = MPI_Wtime();
  for (int step = 0; step < pace.steps; ++step) {
    timed(run.computing, [&] {
      volatile double sink = compute(rounds);
      (void)sink;
    });
    if (output.write) timed(in_calls, [&] { output.write(warming + step); });
  }
  run.before_close = MPI_Wtime() - begin;
  if (output.close) timed(in_calls, output.close);
  run.whole = MPI_Wtime() - begin;
  std::array<double, 4> slowest{run.whole, run.before_close, run.computing, in_calls};
  std::array<double, 2> sums{(usage() - before).cpu, static_cast<double>(stored(output) - stored_before)};
  MPI_Allreduce(MPI_IN_PLACE, slowest.data(), 4, MPI_DOUBLE, MPI_MAX, place.comm);
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, place.comm);
  return {slowest[0], slowest[1], slowest[2], slowest[3], sums[0], static_cast<std::uint64_t>(sums[1])};
}

// The seconds that a plain write of one step takes.
double seconds_of_write(const Place& place) {
  if (place.setup->throttle > 0) return static_cast<double>(bytes_of(*place.problem)) / place.setup->throttle;
  double seconds = 0;
  for (int trial = 0; trial < 4; ++trial) {  // the first two make the files
    MPI_Barrier(place.comm);
    const double begin = MPI_Wtime();
    write_file(place.problem->fields, slot_of(place, trial));
    seconds = MPI_Wtime() - begin;
  }
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, place.comm);
  return seconds;
}

}  // namespace

RunTable measure_runs(MPI_Comm comm, const Setup& setup, const Pace& pace) {
  const Problem problem = make_problem(setup.shape, ranks::rank_in(comm), ranks::size_of(comm));
  const Place place{comm, &setup, &problem, nullptr};
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) == 0) fs::create_directories(setup.directory);
  });
  set_sync(setup.sync);
  set_throttle(setup.throttle);
  RunTable table{ranks::size_of(comm), bytes_of(problem), pace.compute, {}};
  if (table.compute <= 0) table.compute = 1.5 * seconds_of_write(place);
  const std::int64_t rounds = rounds_for(comm, table.compute);
  std::vector<std::pair<std::string, Make>> ways{
      {"off", [] { return Output{}; }},
      {"pwrite", [&] { return plain(place); }},
      {"copy + thread + pwrite", [&] { return copy_and_thread(place); }},
      {"octavo sync", [&] { return engine(place, pace, engine::Mode::sync, false); }},
      {"octavo background", [&] { return engine(place, pace, engine::Mode::background, false); }},
      {"octavo lend", [&] { return engine(place, pace, engine::Mode::background, true); }},
      {"octavo auto", [&] { return engine(place, pace, engine::Mode::automatic, false); }}};
  // The way that the others are compared with stays.
  std::erase_if(ways, [&](const auto& way) {
    const auto names_it = [&](const std::string& start) { return way.first.starts_with(start); };
    return !setup.only.empty() && way.first != "off" && way.first != "octavo sync" &&
           std::none_of(setup.only.begin(), setup.only.end(), names_it);
  });
  for (const auto& way : ways) table.rows.push_back({way.first, {}});
  for (int repetition = 0; repetition < setup.repetitions; ++repetition)
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const std::size_t w = (i + static_cast<std::size_t>(repetition)) % ways.size();
      table.rows[w].runs.push_back(take(place, pace, rounds, ways[w].second));
    }
  set_throttle(0);
  set_sync(true);
  MPI_Barrier(comm);
  if (ranks::rank_in(comm) == 0) fs::remove_all(setup.directory / "run.octavo");
  for (int slot = 0; slot < 2; ++slot) fs::remove(slot_of(place, slot));
  return table;
}

}  // namespace octavo::bench
