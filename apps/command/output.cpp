#include "apps/command/output.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "apps/run/stop.hpp"
#include "octavo/base/error.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::command {
namespace {

using base::Error;
using base::Kind;
using store::Flow;

engine::Mode mode_named(const std::string& text) {
  if (text == "sync") return engine::Mode::sync;
  if (text == "background") return engine::Mode::background;
  if (text == "auto") return engine::Mode::automatic;
  throw Error(Kind::usage, "--io " + text + ": off, sync, background or auto is wanted");
}

// A cadence in steps where 0 means never.
bool is_due(std::int64_t every, std::int64_t step) { return every > 0 && step % every == 0; }

}  // namespace

std::vector<Word> output_words(std::int64_t steps, std::int64_t checkpoint_every, std::int64_t analysis_every) {
  return {{"store", "run.octavo", "the directory that steps are written to"},
          {"io", "background", "off, sync, background or auto"},
          {"steps", std::to_string(steps), "the last step"},
          {"checkpoint-every", std::to_string(checkpoint_every), "steps between checkpoints; 0: at the end alone"},
          {"analysis-every", std::to_string(analysis_every), "steps between analysis outputs; 0: none"},
          {"codec", "raw", "of checkpoints: raw, lossless ..."},
          {"options", "", "a TOML file with options of the engine"},
          {"restart", "", "goes on from the newest checkpoint of the store", true}};
}

OutputOptions output_options(const Words& words) {
  OutputOptions options;
  options.store = words.at("store");
  options.off = words.at("io") == "off";
  options.engine = engine::read_options({}, words.at("options"));
  if (!options.off) options.engine.mode = mode_named(words.at("io"));
  engine::set_option(options.engine, "checkpoint.codec", words.at("codec"));
  options.engine.checkpoint_every.steps = whole_number(words, "checkpoint-every", 0, 1'000'000'000);
  options.engine.analysis_every.steps = whole_number(words, "analysis-every", 0, 1'000'000'000);
  options.steps = whole_number(words, "steps", 0, 1'000'000'000);
  options.restart = is_set(words, "restart");
  if (options.off && options.engine.staging_directory != std::filesystem::path())
    throw Error(Kind::usage, "--io off contradicts a staging directory");
  return options;
}

engine::Restart take_up(MPI_Comm comm, const OutputOptions& options, engine::RestartOptions how) {
  const engine::RestartOptions engine = engine::restart_options(options.engine);
  how.staging_directory = engine.staging_directory;
  how.ranks_per_node = engine.ranks_per_node;
  how.remember_failed = engine.remember_failed;
  auto from = engine::restart(comm, options.store, how);
  if (!from) throw Error(Kind::usage, "there is no checkpoint to go on from").at(options.store.string());
  for (mesh::Field& field : from->part.fields) widen(field);
  return std::move(*from);
}

Output::Output(MPI_Comm comm, const OutputOptions& options, const mesh::Header& header, Put put,
               std::optional<store::StepId> resumed)
    : comm_(comm), options_(options), put_(std::move(put)) {
  run::listen_for_stop();
  if (!options.off) writer_.emplace(comm, options.store, header, options.engine, resumed);
}

void Output::write(Flow flow, std::int64_t step, double time) {
  const double begin = MPI_Wtime();
  writer_->begin_step(flow, step, time);
  put_(*writer_, flow);
  writer_->end_step();
  seconds_ += MPI_Wtime() - begin;
  ++calls_;
}

bool Output::after_step(std::int64_t step, double time, bool last) {
  int stopped = run::stop_requested() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &stopped, 1, MPI_INT, MPI_MAX, comm_);
  if (!writer_) return stopped != 0;
  if (is_due(options_.engine.analysis_every.steps, step)) write(Flow::analysis, step, time);
  if (last || stopped != 0 || is_due(options_.engine.checkpoint_every.steps, step)) write(Flow::checkpoint, step, time);
  return stopped != 0;
}

void Output::close() {
  if (!writer_) return;
  const double begin = MPI_Wtime();
  writer_->close();
  seconds_ += MPI_Wtime() - begin;
}

std::string Output::report(double seconds_of_run, std::int64_t cell_updates, const std::string& more) const {
  const auto ranks = static_cast<double>(ranks::size_of(comm_));
  std::array<double, 2> sums{seconds_of_run, seconds_};
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, comm_);
  const engine::WriteStatistics total = writer_ ? writer_->total_statistics() : engine::WriteStatistics{};
  std::array<char, 512> text{};
  const double run = sums[0] / ranks, io = sums[1] / ranks;
  std::snprintf(text.data(), text.size(),
                "{\"ranks\": %d, \"seconds\": %.4f, \"io_seconds\": %.4f, \"io_share\": %.5f, \"calls\": %lld, "
                "\"bytes\": %llu, \"hidden_seconds\": %.4f, \"cell_updates_per_second_and_rank\": %.0f",
                ranks::size_of(comm_), run, io, run > 0 ? io / run : 0.0, static_cast<long long>(calls_),
                static_cast<unsigned long long>(total.bytes_put), total.seconds_hidden() / ranks,
                static_cast<double>(cell_updates) / ranks / std::max(run - io, 1e-9));
  return std::string(text.data()) + (more.empty() ? "" : ", " + more) + "}";
}

int main_of(int argc, char** argv, const std::string& summary, const std::vector<Word>& table,
            const std::function<std::string(const Words&)>& body) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const bool first = ranks::rank_in(MPI_COMM_WORLD) == 0;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (std::find(arguments.begin(), arguments.end(), "--help") != arguments.end()) {
      if (first) std::fputs(help(summary, table).c_str(), stdout);
    } else {
      const std::string said = body(read_words(arguments, table));
      if (first) std::printf("%s\n", said.c_str());
    }
  } catch (const base::Error& error) {
    if (first) std::fprintf(stderr, "%s\n", error.what());
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return base::exit_code(error.kind());
  }
  MPI_Finalize();
  return 0;
}

}  // namespace octavo::command
