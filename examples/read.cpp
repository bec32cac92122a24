// The mass in the newest checkpoint of a run, on any number of ranks.     mpirun -n 2 read_cpp run.octavo
#include <mpi.h>

#include <cstdio>

#include "octavo/base/error.hpp"
#include "octavo/engine/restart/restart.hpp"

using namespace octavo;

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (count < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  try {
    engine::RestartOptions options;
    options.fields = {{"density"}};
    const auto from = engine::restart(MPI_COMM_WORLD, arguments[1], options);
    if (!from) throw base::Error(base::Kind::usage, "there is no checkpoint yet").at(arguments[1]);

    // Owned leaves count; each rank has an equal share of them.
    const auto& tree = std::get<mesh::Octree>(from->part.mesh);
    const std::vector<double> density = to_doubles(from->part.fields[0]);  // float32 with single_precision
    const auto offsets = level_offsets(tree);
    double mass = 0;
    for (int level = 0; level < num_levels(tree); ++level) {
      const auto size = mesh::cell_size(from->header, level);
      const auto l = static_cast<std::size_t>(level);
      tree.owned[l].for_each_set([&](std::size_t i) {
        if (!tree.refined[l][i]) mass += density[offsets[l] + i] * size[0] * size[1] * size[2];
      });
    }
    MPI_Allreduce(MPI_IN_PLACE, &mass, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) std::printf("step %lld, mass %.9f\n", static_cast<long long>(from->id.step), mass);
  } catch (const base::Error& error) {
    if (rank == 0) std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, base::exit_code(error.kind()));
  }
  MPI_Finalize();
}
