// A solver that writes a checkpoint in the background every few steps, and starts again where it stopped.
//     mpirun -n 4 write_cpp run.octavo 20     then, on any number of ranks:     mpirun -n 3 write_cpp run.octavo 40
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

#include "octavo/base/error.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/write/writer.hpp"

using namespace octavo;

constexpr std::int64_t edge = 16;

// A first start: the cells of one level, a slab of them for each rank.
mesh::Octree slab(int rank, int size) {
  mesh::Octree tree;
  tree.roots = {edge, edge, edge};
  tree.refined = {base::BitArray(edge * edge * edge)};
  tree.owned = tree.refined;
  for (std::size_t i = 0; i < tree.owned[0].size(); ++i)
    tree.owned[0].set(i, static_cast<std::size_t>(rank) == i * static_cast<std::size_t>(size) / tree.owned[0].size());
  return tree;
}

int main(int count, char** arguments) {
  int provided = 0, rank = 0, size = 1;
  MPI_Init_thread(&count, &arguments, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (count < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  try {
    const engine::Options options = engine::read_options();
    const auto from = engine::restart(MPI_COMM_WORLD, arguments[1], restart_options(options));
    const mesh::Octree tree = from ? std::get<mesh::Octree>(from->part.mesh) : slab(rank, size);
    std::vector<double> density(num_cells(tree), 1.0);
    if (from) density = to_doubles(from->part.fields[0]);  // float32 where the option single_precision is on

    mesh::Header header;
    header.code = "example";
    header.roots = tree.roots;
    engine::Writer writer(MPI_COMM_WORLD, arguments[1], header, options, from ? std::optional(from->id) : std::nullopt);
    for (std::int64_t step = (from ? from->id.step : 0) + 1; step <= std::atol(arguments[2]); ++step) {
      for (double& value : density) value *= 1.01;  // the physics
      if (step % 5 != 0) continue;
      writer.begin_step(store::Flow::checkpoint, step, 0.1 * static_cast<double>(step));
      writer.put_mesh(tree);
      writer.put_field("density", engine::view_of(density), "g/cm^3");
      writer.end_step();  // the solver goes on; the step is written behind its back
    }
    writer.close();
    if (rank == 0) std::printf("%s\n", to_json(writer.statistics()).c_str());
  } catch (const base::Error& error) {
    if (rank == 0) std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, base::exit_code(error.kind()));
  }
  MPI_Finalize();
}
