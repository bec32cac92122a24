#pragma once
#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "octavo/engine/restart/restart.hpp"

namespace octavo::engine {

/// The surroundings of a rank's share of a mesh of triangles, as TELEMAC's PAR and CLI files describe them. Points and
/// triangles are the share's own, from 0; ranks are those of the communicator.
struct TriangleNeighbours {
  /// Points that other ranks also have, by ascending number in the whole mesh. The other ranks of shared[i] are
  /// ranks[first[i]] up to, but not including, ranks[first[i + 1]], ascending.
  std::vector<std::int32_t> shared;
  std::vector<std::int64_t> first;
  std::vector<std::int32_t> ranks;

  /// A triangle with an edge to another rank's triangle. For each edge (points 0-1, 1-2, 2-0): the rank of the triangle
  /// behind it, and that triangle's number there; -1: nothing.
  struct Halo {
    std::int32_t triangle = 0;
    std::array<std::int32_t, 3> rank{}, behind{};
  };
  std::vector<Halo> halo;  ///< by triangle

  /// A point of this rank on the mesh's boundary, where the store holds it (`octavo partition --layout octavo
  /// --boundary`).
  struct Boundary {
    std::int32_t point = 0;
    std::int32_t place = 0;   ///< along the whole boundary, from 0: TELEMAC's rank less one
    std::int32_t liquid = 0;  ///< number of the liquid boundary, from 1; 0: a wall
    /// The next and the previous point along the boundary, as numbers in the whole mesh, if the edge to it is another
    /// rank's; -1 if the edge is this rank's.
    std::int64_t next = -1, previous = -1;
    std::array<std::int32_t, 4> codes{};  ///< depth, u, v, tracer: LIHBOR, LIUBOR, LIVBOR, LITBOR
    std::array<double, 7> values{};       ///< HBOR, UBOR, VBOR, AUBOR, TBOR, ATBOR, BTBOR
    std::int32_t colour = 0;              ///< the boundary file's last number
  };
  std::vector<Boundary> boundary;  ///< by place
};

/// Finds the neighbours after a restart from a step of triangles, on the same ranks and with the restart's share,
/// whatever the cut was. Collective. Throws the same on all ranks: Error(usage) if the step is not of triangles or was
/// read by `points`, Error(corrupt) if the boundary does not belong to the mesh.
TriangleNeighbours find_neighbours(MPI_Comm comm, const Restart& start);

}  // namespace octavo::engine
