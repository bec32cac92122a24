// Sod's shock tube with tracers, 3-D: 109 steps, a checkpoint every 33 of them and a plot every 10.
//     mpirun -n 2 octavo-sod --store sod.octavo
#include "apps/run/main.hpp"

using namespace octavo;

int main(int count, char** words) {
  run::App app;
  app.program = "octavo-sod";
  app.defaults.dim = 3;
  app.defaults.roots = {8, 2, 2};
  app.defaults.max_level = 1;
  app.defaults.steps = 109;
  app.defaults.tracers = 16;
  app.defaults.engine.checkpoint_every.steps = 33;
  app.defaults.engine.analysis_every.steps = 10;
  app.problem = [](const run::RunOptions& options) { return euler::sod(options.dim); };
  app.probe = [](const euler::Problem& problem, double time, double) { return run::sod_probe(problem, time); };
  return run::main_of(count, words, app);
}
