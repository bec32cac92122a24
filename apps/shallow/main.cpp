// octavo-shallow: see `octavo-shallow --help` and docs/shallow.md.
#include <mpi.h>

#include <csignal>
#include <cstdio>

#include "apps/shallow/run.hpp"
#include "octavo/base/error.hpp"
#include "octavo/ranks/communicator.hpp"

namespace {

volatile int asked_to_stop = 0;
static_assert(sizeof(int) >= sizeof(std::sig_atomic_t));

void ask_to_stop(int) { asked_to_stop = 1; }

int run(int rank, int count, char** words) {
  using namespace octavo;
  try {
    const auto options = shallow::parse_options(count - 1, words + 1);
    if (!options) {
      if (rank == 0) std::fputs(shallow::usage_text, stdout);
      return 0;
    }
    const shallow::RunReport report = shallow::run(MPI_COMM_WORLD, *options, &asked_to_stop);
    if (rank == 0) std::printf("%s\n", shallow::to_text(report, options->json).c_str());
    return 0;
  } catch (const base::Error& error) {
    if (rank == 0) std::fprintf(stderr, "octavo-shallow: %s\n", error.what());
    return base::exit_code(error.kind());
  }
}

}  // namespace

int main(int count, char** words) {
  int provided = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
  std::signal(SIGTERM, ask_to_stop);
  std::signal(SIGINT, ask_to_stop);
  const int status = run(octavo::ranks::rank_in(MPI_COMM_WORLD), count, words);
  MPI_Finalize();
  return status;
}
