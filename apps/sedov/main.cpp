// The blast of a point explosion (Sedov 1946) on an adaptive mesh, with tracers.
//     mpirun -n 2 octavo-sedov --steps 200 --store run.octavo --checkpoint-every 50 --analysis-every 10
//     mpirun -n 3 octavo-sedov --mesh patches --steps 400 --store run.octavo --restart run.octavo
#include "apps/run/main.hpp"

#include <algorithm>

using namespace octavo;

int main(int count, char** words) {
  run::App app;
  app.program = "octavo-sedov";
  app.defaults.engine.checkpoint_every.steps = 50;
  app.defaults.engine.analysis_every.steps = 10;
  app.problem = [](const run::RunOptions& options) {
    // The energy lies within 3.5 of the finest cells, as in FLASH's set-up.
    const double cells = static_cast<double>(options.roots[0]) * options.block * (1 << std::min(options.max_level, 20));
    return euler::sedov(options.dim, 3.5 / cells);
  };
  app.probe = [](const euler::Problem& problem, double time, double finest_width) {
    return run::sedov_probe(problem.gas.dim, time, finest_width);
  };
  return run::main_of(count, words, app);
}
