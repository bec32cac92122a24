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
  check(octavo_restart_open(MPI_COMM_WORLD, arguments[1], OCTAVO_CHECKPOINT, -1, &from, &error));
  if (!from) MPI_Abort(MPI_COMM_WORLD, 2);

  const int levels = octavo_restart_levels(from);
  const size_t cells = (size_t)octavo_restart_cells(from);
  int64_t* cells_of_level = malloc((size_t)levels * sizeof *cells_of_level);
  uint8_t *refined = malloc(cells), *owned = malloc(cells);
  double* density = malloc(cells * sizeof *density);
  check(octavo_restart_mesh(from, cells_of_level, refined, owned, &error));
  check(octavo_restart_field(from, "density", OCTAVO_FLOAT64, density, (int64_t)cells, &error));

  /* Owned leaves count; the domain is a cube of volume 1. */
  double mass = 0, volume = 1.0 / (double)cells_of_level[0];
  size_t i = 0;
  for (int level = 0; level < levels; ++level, volume /= 8)
    for (int64_t c = 0; c < cells_of_level[level]; ++c, ++i)
      if (owned[i] && !refined[i]) mass += density[i] * volume;
  MPI_Allreduce(MPI_IN_PLACE, &mass, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("step %lld, mass %.9f\n", (long long)octavo_restart_step(from), mass);
  free(cells_of_level);
  free(refined);
  free(owned);
  free(density);
  octavo_restart_free(&from);
  MPI_Finalize();
}
