/* A solver that writes a checkpoint in the background every few steps, and starts again where it stopped.
 *     mpirun -n 4 write_c run.octavo 20     then, on any number of ranks:     mpirun -n 3 write_c run.octavo 40 */
#include <mpi.h>
#include <octavo.h>
#include <stdio.h>
#include <stdlib.h>

enum { edge = 16, all = edge * edge * edge };

static octavo_error error;
static void check(int code) {
  if (code == 0) return;
  fprintf(stderr, "%s\n", error.message);
  MPI_Abort(MPI_COMM_WORLD, code);
}

int main(int count, char** arguments) {
  int provided, rank, size;
  MPI_Init_thread(&count, &arguments, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (count < 3) MPI_Abort(MPI_COMM_WORLD, 2);

  /* The cells of one level, all on every rank, of which each owns its share. */
  octavo_restart* from = NULL;
  check(octavo_restart_open(MPI_COMM_WORLD, arguments[1], NULL, &from, &error));
  int64_t cells = all, step = 0;
  static uint8_t refined[all], owned[all];
  static double density[all];
  for (int i = 0; i < all; ++i) {
    owned[i] = (long)i * size / all == rank;
    density[i] = 1;
  }
  octavo_tree tree = {sizeof tree, 1, &cells, refined, owned, 0, NULL};
  const octavo_array values = octavo_array_packed(OCTAVO_FLOAT64, density, all);
  if (from) {
    octavo_restart_info info = octavo_restart_info_default();
    check(octavo_restart_get_info(from, &info, &error));
    step = info.step;
    check(octavo_restart_get_tree(from, &tree, &error)); /* its arrays are the restart's */
    check(octavo_restart_get_field(from, "density", &values, &error));
  }

  octavo_domain domain = octavo_domain_default();
  domain.code = "example";
  for (int axis = 0; axis < 3; ++axis) domain.roots[axis] = edge;
  octavo_target target = octavo_target_default(OCTAVO_STORE);
  target.path = arguments[1];
  target.from = from;
  octavo_writer* writer;
  check(octavo_writer_open(MPI_COMM_WORLD, &target, &domain, &writer, &error));
  while (++step <= atol(arguments[2])) {
    for (int i = 0; i < all; ++i) density[i] *= 1.01; /* the physics */
    if (step % 5 != 0) continue;
    check(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, NULL, step, 0.1 * (double)step, &error));
    check(octavo_writer_put_tree(writer, &tree, &error));
    check(octavo_writer_put_field(writer, "density", "g/cm^3", &values, &error));
    check(octavo_writer_end_step(writer, &error)); /* the solver goes on; the step is written behind its back */
  }
  check(octavo_writer_close(&writer, &error));
  octavo_restart_free(&from);
  MPI_Finalize();
}
