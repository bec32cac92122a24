#pragma once
#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "apps/shallow/exact_sum.hpp"

/// Messages between the ranks of the solver.
namespace octavo::shallow {

/// Collective. lists[r] goes to rank r; returns what each rank sent here.
std::vector<std::vector<std::int32_t>> all_to_all(MPI_Comm comm, const std::vector<std::vector<std::int32_t>>& lists);

/// Sums and maxima over the ranks of a communicator.
Reduce reduce_over(MPI_Comm comm);

/// Which points' values go where: ghosts of one owner stand together in the order in which it sends them.
struct Halo {
  struct Peer {
    int rank = 0;
    std::vector<std::int32_t> send;  ///< owned points
    std::int32_t first_ghost = 0, ghosts = 0;
  };
  std::vector<Peer> peers;
};

/// Collective. Gives every ghost its owner's value: `width` doubles a point, points one after the other.
void fill_ghosts(MPI_Comm comm, const Halo& halo, std::span<double> values, int width);

}  // namespace octavo::shallow
