#pragma once
#include <mpi.h>
#include <sys/resource.h>

/// Measurements that benchmark programs take on all ranks together. Collective, over MPI_COMM_WORLD.
namespace octavo::bench {

inline double largest(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return value;
}

/// User and system seconds of all ranks so far.
inline double cpu_of_all() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  double sum = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

}  // namespace octavo::bench
