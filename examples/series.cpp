// A solver on triangles whose ranks write one SERAFIN file together, in the background: the same bytes on any number of
// ranks, no pieces and no merging.     mpirun -n 4 series_cpp channel.slf 10
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "channel.hpp"
#include "octavo/base/error.hpp"
#include "octavo/engine/targets/series_target.hpp"
#include "octavo/engine/write/writer.hpp"

using namespace octavo;

static void simulate(const char* path, int steps) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const engine::SeriesMesh mesh{.piece = channel::columns_of(rank, ranks)};
  formats::serafin::SerafinHeader header;
  header.title = engine::series_title("A CHANNEL", 4);
  header.variables = {formats::serafin::variable("WATER DEPTH", "M"), formats::serafin::variable("VELOCITY U", "M/S")};
  engine::Writer writer(MPI_COMM_WORLD, {}, engine::SeriesTarget{path, header, mesh});

  std::vector<double> work(mesh.piece.x.size());  // one array for all variables: put_field copies
  for (int step = 0; step < steps; ++step) {
    writer.begin_step(0.5 * step);
    for (std::size_t i = 0; i < work.size(); ++i) work[i] = 2 + mesh.piece.x[i] / 1024 + step / 64.0;  // the physics
    writer.put_field("WATER DEPTH", engine::view_of(work));
    for (std::size_t i = 0; i < work.size(); ++i) work[i] = mesh.piece.y[i] / 256 - step / 32.0;
    writer.put_field("VELOCITY U", engine::view_of(work));
    writer.end_step();  // the solver goes on; the step is written behind its back
  }
  writer.close();
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  try {
    if (argc < 3) throw base::Error(base::Kind::usage, "series_cpp FILE STEPS");
    simulate(argv[1], std::atoi(argv[2]));
  } catch (const base::Error& error) {
    std::fputs(error.what(), stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
