#pragma once
#include "octavo/mesh/unstructured.hpp"

/// The mesh of the examples on triangles.
namespace channel {

// A channel of 60 x 12 squares, each of two triangles; a rank has some columns of them, and the points on their
// borders.
inline octavo::mesh::Unstructured columns_of(int rank, int ranks) {
  constexpr std::int64_t columns = 60, rows = 12;
  const std::int64_t first = columns * rank / ranks, last = columns * (rank + 1) / ranks;
  octavo::mesh::Unstructured mesh;
  for (std::int64_t i = first; i <= last && first < last; ++i)
    for (std::int64_t j = 0; j <= rows; ++j) {
      mesh.x.push_back(5.0 * static_cast<double>(i));
      mesh.y.push_back(5.0 * static_cast<double>(j));
      mesh.global_point.push_back(i * (rows + 1) + j);  // its number in the whole mesh: all that is needed
    }
  for (std::int64_t i = 0; i < last - first; ++i)
    for (std::int64_t j = 0; j < rows; ++j) {
      const std::int64_t a = i * (rows + 1) + j, b = a + rows + 1;
      mesh.connectivity.insert(mesh.connectivity.end(), {a, b, b + 1, a, b + 1, a + 1});
    }
  return mesh;
}

}  // namespace channel
