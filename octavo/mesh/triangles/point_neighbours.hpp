#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "octavo/mesh/unstructured.hpp"

namespace octavo::mesh {

/// From which points that come before it a value at a point can be expected. All are places in the order in which
/// values stand, from 0; one entry a point, 16 bytes.
struct PointNeighbours {
  std::vector<std::uint32_t> order;  ///< of visit: breadth first over the edges, from place 0, then from the first left
  /// For each visit three points a, b, c that were visited before. Where there are such: a and b are the others of one
  /// of its triangles, c the third of the triangle beyond their edge, so that a + b - c completes a parallelogram
  /// (Touma and Gotsman, "Triangle mesh compression", 1998); of several the one that does so best, a being nearer than
  /// b. Else the nearest visited neighbour three times, or the point visited before it. The first visit: itself.
  std::vector<std::array<std::uint32_t, 3>> near;
};

/// `along`: the points as values stand, each once. Pure; the same on every machine (docs/format.md, "Triangles"). About
/// 28 bytes a point and 24 a triangle while it runs, beside the result. Empty where that takes more than 256 looks for
/// each corner of a triangle, which is for meshes made to take long: their values are not predicted.
/// @pre validate(mesh); fewer than 2^32 - 1 points
PointNeighbours neighbours_along(const Unstructured& mesh, std::span<const std::uint32_t> along);

}  // namespace octavo::mesh
