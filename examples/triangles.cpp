// A solver on triangles that writes checkpoints into a store in the background, and goes on from the newest on any
// number of ranks with the cut that it likes.     mpirun -n 3 triangles_cpp channel.octavo 10; mpirun -n 2 ... 20
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "channel.hpp"
#include "octavo/base/error.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/write/writer.hpp"

using namespace octavo;

static void simulate(const char* path, std::int64_t steps) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const mesh::Unstructured mesh = channel::columns_of(rank, ranks);
  const auto from = engine::restart(MPI_COMM_WORLD, path, {.points = mesh.global_point});
  std::vector<double> depth(mesh.x.size(), 2.0);
  if (from) depth = to_doubles(from->part.fields[0]);  // float32 where the option single_precision is on
  mesh::Header header;
  header.code = "channel";
  header.dim = 2;
  engine::Writer writer(MPI_COMM_WORLD, path, header, engine::read_options(),
                        from ? std::optional(from->id) : std::nullopt);
  for (std::int64_t step = from ? from->id.step + 1 : 1; step <= steps; ++step) {
    for (std::size_t i = 0; i < depth.size(); ++i) depth[i] += mesh.x[i] / 1024;  // the physics
    writer.begin_step(store::Flow::checkpoint, step, 0.5 * static_cast<double>(step));
    writer.put_mesh(mesh);
    writer.put_field("WATER DEPTH", engine::view_of(depth), "m");
    writer.end_step();  // the solver goes on; the step is written behind its back
  }
  writer.close();
  double deepest = *std::max_element(depth.begin(), depth.end());  // there are columns for all ranks
  MPI_Allreduce(MPI_IN_PLACE, &deepest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) std::printf("step %lld, deepest %.9f\n", static_cast<long long>(steps), deepest);
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  try {
    if (argc < 3) throw base::Error(base::Kind::usage, "triangles_cpp STORE STEPS");
    simulate(argv[1], std::atoll(argv[2]));
  } catch (const base::Error& error) {
    std::fputs(error.what(), stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
