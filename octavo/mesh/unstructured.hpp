#pragma once
#include <cstdint>
#include <vector>

namespace octavo::mesh {

/// Triangles, or prisms between horizontal planes of triangles, as TELEMAC has them.
struct Unstructured {
  std::vector<double> x, y;                ///< point coordinates [code length], one entry a point of one plane
  std::vector<std::int64_t> connectivity;  ///< three point indices from 0 a triangle, counter-clockwise
  int planes = 1;                          ///< 1: 2-D; more: values stand plane after plane, from the bottom
  std::vector<std::int64_t> global_point;  ///< local to global number from 0; empty: the identity
  bool operator==(const Unstructured&) const = default;
};

/// Throws Error(corrupt) unless: x and y have one length; connectivity is a multiple of three, its indices in range and
/// distinct in a triangle; planes is at least 1; global_point is empty or has one distinct number >= 0 a point.
void validate(const Unstructured& mesh);

}  // namespace octavo::mesh
