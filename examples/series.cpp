// A solver on triangles whose ranks write one SERAFIN file together, in the background: the same bytes on any number of
// ranks, no pieces and no merging.     mpirun -n 4 series_cpp channel.slf 10
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/parallel/series_writer.hpp"

using namespace octavo;

// A channel of 60 x 12 squares, each of two triangles; a rank has some columns of them. Points between two ranks are on
// both: that is what cut meshes are like.
static parallel::SeriesMesh columns_of(int rank, int ranks) {
  constexpr std::int64_t columns = 60, rows = 12;
  const std::int64_t first = columns * rank / ranks, last = columns * (rank + 1) / ranks;
  parallel::SeriesMesh mesh;
  if (first == last) return mesh;
  for (std::int64_t i = first; i <= last; ++i)
    for (std::int64_t j = 0; j <= rows; ++j) {
      mesh.piece.x.push_back(5.0 * static_cast<double>(i));
      mesh.piece.y.push_back(5.0 * static_cast<double>(j));
      mesh.piece.global_point.push_back(i * (rows + 1) + j);  // the number in the file: all that is needed
    }
  for (std::int64_t i = 0; i < last - first; ++i)
    for (std::int64_t j = 0; j < rows; ++j) {
      const std::int64_t a = i * (rows + 1) + j, b = a + rows + 1;
      mesh.piece.connectivity.insert(mesh.piece.connectivity.end(), {a, b, b + 1, a, b + 1, a + 1});
    }
  return mesh;
}

static void simulate(const char* path, int steps) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const parallel::SeriesMesh mesh = columns_of(rank, ranks);
  formats::serafin::Header header;
  header.title = parallel::series_title("A CHANNEL", 4);
  header.variables = {formats::serafin::variable("WATER DEPTH", "M"), formats::serafin::variable("VELOCITY U", "M/S")};
  parallel::SeriesWriter writer(MPI_COMM_WORLD, path, header, mesh);

  std::vector<double> work(mesh.piece.x.size());  // one array for all variables: put_field copies
  for (int step = 0; step < steps; ++step) {
    writer.begin_step(0.5 * step);
    for (std::size_t i = 0; i < work.size(); ++i) work[i] = 2 + mesh.piece.x[i] / 1024 + step / 64.0;  // the physics
    writer.put_field("WATER DEPTH", parallel::view_of(work));
    for (std::size_t i = 0; i < work.size(); ++i) work[i] = mesh.piece.y[i] / 256 - step / 32.0;
    writer.put_field("VELOCITY U", parallel::view_of(work));
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
