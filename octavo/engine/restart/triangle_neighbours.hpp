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
  /// Points that other ranks have, too, by ascending number in the whole mesh; and those ranks, ascending: of
  /// shared[i] they are ranks[first[i]] to ranks[first[i + 1]] (without it).
  std::vector<std::int32_t> shared;
  std::vector<std::int64_t> first;
  std::vector<std::int32_t> ranks;

  /// A triangle with an edge to another rank's, and what lies behind its edges (points 0-1, 1-2, 2-0): rank, and
  /// triangle there; -1: nothing.
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
    /// The next and the previous point along the boundary, by their numbers in the whole mesh, where the edge to it is
    /// another rank's; -1 where it is this rank's.
    std::int64_t next = -1, previous = -1;
    std::array<std::int32_t, 4> codes{};  ///< depth, u, v, tracer: LIHBOR, LIUBOR, LIVBOR, LITBOR
    std::array<double, 7> values{};       ///< HBOR, UBOR, VBOR, AUBOR, TBOR, ATBOR, BTBOR
    std::int32_t colour = 0;              ///< the boundary file's last number
  };
  std::vector<Boundary> boundary;  ///< by place
};

/// Finds the neighbours after a restart from a step of triangles, on the same ranks and with its share, whatever the
/// cut was. Collective. Throws the same on all ranks: Error(usage) where the step is not of triangles, or was read by
/// `points`, Error(corrupt) where the boundary is not that of the mesh.
TriangleNeighbours find_neighbours(MPI_Comm comm, const Restart& start);

}  // namespace octavo::engine
