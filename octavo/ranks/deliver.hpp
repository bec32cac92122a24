#pragma once
#include <mpi.h>

#include <string>
#include <vector>

namespace octavo::ranks {

/// Bytes for other ranks, or from one.
struct Parcel {
  int rank = 0;
  std::string bytes;
  int more = 0;  ///< sent also to this many ranks after `rank`
};

/// Collective. Delivers each parcel to its rank; returns those for this rank by sender, and those of one sender in its
/// order. Parcels go from half to half of the ranks (halves.hpp); a parcel for many ranks is copied where their ways
/// part. So it suits few small parcels a rank, which pass through other ranks.
std::vector<Parcel> deliver(MPI_Comm comm, std::vector<Parcel> parcels);

/// Collective. The same for large parcels for one rank each: only their sizes pass through other ranks, and their bytes
/// go straight.
std::vector<Parcel> deliver_straight(MPI_Comm comm, std::vector<Parcel> parcels);

}  // namespace octavo::ranks
