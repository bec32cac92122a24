// Writes the file of octavo_bench_native flash in the way of FLASH: parallel HDF5, one collective write a variable.
//
//     mpirun -n R octavo_bench_flash_collective FILE [blocks a rank] [variables] [steps]
//
// Needs an HDF5 built for this MPI, and nothing of Octavo: two HDF5 libraries do not go into one program.
#include <hdf5.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void write_variable(hid_t file, const std::string& name, int rank, int ranks, hsize_t blocks,
                    const std::vector<double>& values) {
  const hsize_t all[4] = {blocks * static_cast<hsize_t>(ranks), 16, 16, 16}, mine[4] = {blocks, 16, 16, 16};
  const hsize_t first[4] = {blocks * static_cast<hsize_t>(rank), 0, 0, 0};
  const hid_t space = H5Screate_simple(4, all, nullptr), memory = H5Screate_simple(4, mine, nullptr);
  const hid_t set = H5Dcreate2(file, name.c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, first, nullptr, mine, nullptr);
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  if (H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, transfer, values.data()) < 0) MPI_Abort(MPI_COMM_WORLD, 1);
  H5Pclose(transfer);
  H5Dclose(set);
  H5Sclose(memory);
  H5Sclose(space);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string path = argc > 1 ? argv[1] : "flash_collective.h5";
  const int blocks = argc > 2 ? std::atoi(argv[2]) : 128, variables = argc > 3 ? std::atoi(argv[3]) : 10;
  const int steps = argc > 4 ? std::atoi(argv[4]) : 7;
  const std::vector<double> values(static_cast<std::size_t>(blocks) * 4096, 1.5);
  std::vector<double> seconds;
  for (int step = 0; step < steps; ++step) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (file < 0) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int v = 0; v < variables; ++v)
      write_variable(file, "v" + std::to_string(v), rank, ranks, static_cast<hsize_t>(blocks), values);
    H5Fclose(file);
    H5Pclose(access);
    double mine = MPI_Wtime() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    seconds.push_back(mine);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) std::remove(path.c_str());
  }
  std::sort(seconds.begin(), seconds.end());
  if (rank == 0)
    std::printf("collective  %8.1f MB a rank, median visible %8.2f ms a step\n",
                static_cast<double>(blocks) * 4096 * 8 * variables / 1e6, 1e3 * seconds[seconds.size() / 2]);
  MPI_Finalize();
  return 0;
}
