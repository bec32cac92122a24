#pragma once
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "apps/patches/values.hpp"

namespace octavo::patches {

/// Cells that go from one array to another, of this rank or of two.
struct Piece {
  std::int64_t from = 0;  ///< number of the array at the rank that has it
  std::int64_t to = 0;    ///< number of the array at the rank that gets it
  IndexBox region;        ///< positions in the source
  Index3 shift{0, 0, 0};  ///< add it for positions in the target
};

/// The copies and messages of this rank each time the plan is followed. Made once for a layout of boxes.
struct CopyPlan {
  struct Peer {
    int rank = 0;
    std::vector<Piece> pieces;
    std::size_t cells = 0;
  };
  std::vector<Piece> local;
  std::vector<Peer> send, receive;
};

/// A piece that is wanted, and the rank that has it.
struct Wanted {
  int rank = 0;
  Piece piece;
};

/// Every rank says which cells it wants from which rank. Collective.
CopyPlan plan_copy(MPI_Comm comm, const std::vector<Wanted>& wanted);

/// Collective. All variables of `from`, which `to` has too. Both may be the same list, as long as no cell is written
/// that is read.
void copy(MPI_Comm comm, const CopyPlan& plan, const std::vector<Values>& from, std::vector<Values>& to);

}  // namespace octavo::patches
