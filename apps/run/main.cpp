#include "apps/run/main.hpp"

#include <cstdio>
#include <cstdlib>

#ifdef OCTAVO_APPS_BLOCKS
#include "apps/blocks/blocks.hpp"
#endif
#include "apps/patches/mesh.hpp"

namespace octavo::run {

namespace {

void run_blocks([[maybe_unused]] MPI_Comm comm, [[maybe_unused]] const RunOptions& options,
                [[maybe_unused]] const euler::Problem& problem, [[maybe_unused]] const App& app) {
#ifdef OCTAVO_APPS_BLOCKS
  run_on(blocks::make_blocks(comm, {problem, options.roots, options.block, options.max_level}), comm, options, problem,
         app);
#else
  throw base::Error(base::Kind::unsupported, "this build has no mesh of blocks: p4est was not found")
      .hint("Debian: libp4est-dev");
#endif
}

void run_patches(MPI_Comm comm, const RunOptions& options, const euler::Problem& problem, const App& app) {
  patches::Settings settings{problem, options.roots, options.block, options.max_level, options.max_box};
  run_on(patches::make_mesh(comm, settings), comm, options, problem, app);
}

}  // namespace

int main_of(int count, char** words, const App& app) {
  int provided = 0, rank = 0;
  // More than is needed, to measure its cost (bench/apps_tables.py).
  const char* threads = std::getenv("OCTAVO_APPS_THREADS");
  const bool multiple = threads != nullptr && std::string(threads) == "multiple";
  MPI_Init_thread(&count, &words, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  listen_for_stop();
  try {
    const RunOptions options = parse({words + 1, words + count}, app.defaults, app.program);
    const euler::Problem problem = app.problem(options);
    (options.mesh == "blocks" ? run_blocks : run_patches)(MPI_COMM_WORLD, options, problem, app);
  } catch (const base::Error& error) {
    // The same on all ranks; what only one could find is no such error, and ends the job.
    const bool help = error.kind() == base::Kind::interrupted;
    if (rank == 0) std::fprintf(help ? stdout : stderr, "%s\n", error.what());
    MPI_Finalize();
    return help ? 0 : base::exit_code(error.kind());
  }
  MPI_Finalize();
  return 0;
}

}  // namespace octavo::run
