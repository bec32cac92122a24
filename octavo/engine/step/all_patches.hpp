#pragma once
#include <mpi.h>

#include <vector>

#include "octavo/mesh/patches.hpp"

namespace octavo::engine {

/// Collective. The patches of every rank, by rank; a rank that gave none has no levels. 48 bytes a box on each rank.
std::vector<mesh::Patches> gather_patches(MPI_Comm comm, const mesh::Patches* mine);

/// The boxes of all ranks but one, on the levels of all.
mesh::Patches patches_of_others(const std::vector<mesh::Patches>& all, int rank);

}  // namespace octavo::engine
