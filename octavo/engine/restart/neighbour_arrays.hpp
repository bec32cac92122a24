#pragma once
#include <cstdint>
#include <vector>

#include "octavo/engine/restart/triangle_neighbours.hpp"

namespace octavo::engine {

/// TriangleNeighbours as plain arrays, for the C, Fortran and Python faces. Names and shapes are those of
/// capi/octavo.h.
struct NeighbourArrays {
  std::vector<std::int32_t> shared;
  std::vector<std::int64_t> first;
  std::vector<std::int32_t> ranks;
  std::vector<std::int32_t> halo_triangle, behind_rank, behind_triangle;
  std::vector<std::int32_t> boundary_point, place, liquid;
  std::vector<std::int64_t> next, previous;
  std::vector<std::int32_t> codes;
  std::vector<double> values;
  std::vector<std::int32_t> colour;
};

NeighbourArrays arrays_of(TriangleNeighbours neighbours);

}  // namespace octavo::engine
