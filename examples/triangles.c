/* A solver on triangles that writes checkpoints into a store in the background, and goes on from the newest on any number
 * of ranks with the cut that it likes.     mpirun -n 3 triangles_c channel.octavo 10; mpirun -n 2 ... 20 */
#include <mpi.h>
#include <octavo.h>
#include <stdio.h>
#include <stdlib.h>

enum { columns = 60, rows = 12, most = (columns + 1) * (rows + 1) };
static octavo_error error;
static void check(int code) {
  if (code == 0) return;
  fprintf(stderr, "%s\n", error.message);
  MPI_Abort(MPI_COMM_WORLD, code);
}

int main(int count, char** arguments) {
  int provided, rank, ranks;
  MPI_Init_thread(&count, &arguments, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (count < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  /* A channel of squares, each of two triangles; a rank has some columns of them, and the points on their borders. */
  static double x[most], y[most], depth[most];
  static int64_t number[most], nodes[6 * most];
  const int first = columns * rank / ranks, last = columns * (rank + 1) / ranks;
  octavo_triangles mesh = octavo_triangles_default();
  mesh.x = x, mesh.y = y, mesh.connectivity = nodes, mesh.global_point = number;
  for (int i = first; i <= last; ++i)
    for (int j = 0; j <= rows; ++j, ++mesh.points) {
      const int64_t a = mesh.points, b = a + rows + 1;
      x[a] = 5.0 * i, y[a] = 5.0 * j, depth[a] = 2, number[a] = i * (rows + 1) + j;
      const int64_t corners[6] = {a, b, b + 1, a, b + 1, a + 1};
      for (int k = 0; k < 6 && i < last && j < rows; ++k) nodes[3 * mesh.triangles + k] = corners[k];
      if (i < last && j < rows) mesh.triangles += 2;
    }

  octavo_restart_options options = octavo_restart_options_default();
  options.points = number, options.num_points = mesh.points;
  octavo_restart* from = NULL;
  check(octavo_restart_open(MPI_COMM_WORLD, arguments[1], &options, &from, &error));
  octavo_restart_info info = octavo_restart_info_default();
  check(octavo_restart_get_info(from, &info, &error));
  int64_t step = from ? info.step : 0;
  const octavo_array values = octavo_array_packed(OCTAVO_FLOAT64, depth, mesh.points);
  if (from) check(octavo_restart_get_field(from, "WATER DEPTH", &values, &error));
  octavo_domain domain = octavo_domain_default();
  domain.dim = 2;
  octavo_target target = octavo_target_default(OCTAVO_STORE);
  target.path = arguments[1];
  target.from = from;
  octavo_writer* writer;
  check(octavo_writer_open(MPI_COMM_WORLD, &target, &domain, &writer, &error));
  octavo_restart_free(&from);
  while (++step <= atol(arguments[2])) {
    for (int64_t i = 0; i < mesh.points; ++i) depth[i] += x[i] / 1024; /* the physics */
    check(octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, NULL, step, 0.5 * (double)step, &error));
    check(octavo_writer_put_triangles(writer, &mesh, &error));
    check(octavo_writer_put_field(writer, "WATER DEPTH", "m", &values, &error));
    check(octavo_writer_end_step(writer, &error)); /* the solver goes on; the step is written behind its back */
  }
  check(octavo_writer_close(&writer, &error));
  double deepest = depth[mesh.points - 1]; /* the last column's */
  MPI_Allreduce(MPI_IN_PLACE, &deepest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("step %ld, deepest %.9f\n", atol(arguments[2]), deepest);
  MPI_Finalize();
}
