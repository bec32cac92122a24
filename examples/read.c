/* The mass in the newest checkpoint of a run, on any number of ranks.     mpirun -n 2 read_c run.octavo */
#include <mpi.h>
#include <octavo.h>
#include <stdio.h>
#include <stdlib.h>

static octavo_error error;
static void check(int code) {
  if (code == 0) return;
  fprintf(stderr, "%s\n", error.message);
  MPI_Abort(MPI_COMM_WORLD, code);
}

int main(int count, char** arguments) {
  int rank;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  octavo_restart* from = NULL;
  if (count < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  check(octavo_restart_open(MPI_COMM_WORLD, arguments[1], NULL, &from, &error));
  if (!from) MPI_Abort(MPI_COMM_WORLD, 2);

  octavo_restart_info info = octavo_restart_info_default();
  octavo_tree tree = octavo_tree_default();
  check(octavo_restart_get_info(from, &info, &error));
  check(octavo_restart_get_tree(from, &tree, &error));
  double* density = malloc((size_t)info.cells * sizeof *density);
  const octavo_array values = octavo_array_packed(OCTAVO_FLOAT64, density, info.cells);
  check(octavo_restart_get_field(from, "density", &values, &error));

  /* Owned leaves count; the domain is a cube of volume 1. */
  double mass = 0, volume = 1.0 / (double)tree.cells_of_level[0];
  size_t i = 0;
  for (int level = 0; level < tree.levels; ++level, volume /= 8)
    for (int64_t c = 0; c < tree.cells_of_level[level]; ++c, ++i)
      if (tree.owned[i] && !tree.refined[i]) mass += density[i] * volume;
  MPI_Allreduce(MPI_IN_PLACE, &mass, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("step %lld, mass %.9f\n", (long long)info.step, mass);
  free(density);
  octavo_restart_free(&from);
  MPI_Finalize();
}
