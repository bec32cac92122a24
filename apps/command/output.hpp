#pragma once
#include <mpi.h>

#include <functional>
#include <optional>

#include "apps/command/words.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/write/writer.hpp"

namespace octavo::command {

/// The options that all runs share: where they write, how and how often.
struct OutputOptions {
  std::filesystem::path store;
  bool off = false;        ///< nothing is written
  engine::Options engine;  ///< as the environment and --options say, and the words below
  std::int64_t steps = 0;  ///< the last step
  bool restart = false;    ///< from the newest checkpoint
};

/// Their rows of a command's table: --store, --io, --steps, --checkpoint-every, --analysis-every, --codec, --options,
/// --restart.
std::vector<Word> output_words(std::int64_t steps, std::int64_t checkpoint_every, std::int64_t analysis_every);
/// Throws Error(usage) for words that contradict each other.
OutputOptions output_options(const Words& words);

/// Collective. The checkpoint that --restart goes on from, `how` as the simulation wants it. Throws Error(usage) where
/// there is none.
engine::Restart take_up(MPI_Comm comm, const OutputOptions& options, engine::RestartOptions how = {});

/// The steps that a run writes, and their cost.
class Output {
 public:
  using Put = std::function<void(engine::Writer&, store::Flow)>;
  /// Collective.
  Output(MPI_Comm comm, const OutputOptions& options, const mesh::Header& header, Put put,
         std::optional<store::StepId> resumed = {});
  /// Collective. Writes the outputs due at this step; a checkpoint if `last`. Whether a signal asked any rank to
  /// stop (apps/run/stop.hpp): then this was the last step, and its checkpoint is written.
  bool after_step(std::int64_t step, double time, bool last);
  /// Collective. Every step is durable.
  void close();

  std::int64_t calls() const { return calls_; }  ///< steps written
  double seconds() const { return seconds_; }    ///< this rank spent in calls of the engine
  /// Collective. One line of JSON: seconds are means over the ranks; `more` is added: "\"error\": 1e-3".
  std::string report(double seconds_of_run, std::int64_t cell_updates, const std::string& more) const;

 private:
  void write(store::Flow flow, std::int64_t step, double time);
  MPI_Comm comm_;
  OutputOptions options_;
  Put put_;
  std::optional<engine::Writer> writer_;
  std::int64_t calls_ = 0;
  double seconds_ = 0;
};

/// MPI_Init, --help, errors: runs `body` with the words of the command line, prints what it returns on rank 0, and
/// gives the exit code. An error ends all ranks, with its text on the error output.
int main_of(int argc, char** argv, const std::string& summary, const std::vector<Word>& table,
            const std::function<std::string(const Words&)>& body);

}  // namespace octavo::command
