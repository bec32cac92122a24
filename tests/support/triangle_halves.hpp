#pragma once
#include "octavo/store/read/triangles.hpp"

namespace octavo::testing {

/// The first or second half of a whole part: of its places along the curve, points, triangles and boundary.
inline store::StoredTriangles half_of(store::StoredTriangles part, int half) {
  part.index = half;
  const auto cut_values = [&](std::vector<std::byte>& bytes, std::uint64_t count, int planes) {
    if (count == 0) return;
    const auto plane = static_cast<std::ptrdiff_t>(bytes.size()) / planes;
    const auto at = plane / static_cast<std::ptrdiff_t>(count) * static_cast<std::ptrdiff_t>(count / 2);
    std::vector<std::byte> kept;
    for (auto begin = bytes.begin(); begin != bytes.end(); begin += plane)
      kept.insert(kept.end(), half == 0 ? begin : begin + at, half == 0 ? begin + at : begin + plane);
    bytes = std::move(kept);
  };
  for (mesh::Field& field : part.fields) cut_values(field.bytes, part.share.places, part.mesh.planes);
  for (std::size_t a = 0; a < part.arrays.size(); ++a) {
    const store::MeshArray& array = part.arrays[a];
    const bool number = array.of == store::MeshSet::points && array.info.name.size() > 1;
    cut_values(part.values[a], part.share.of(array.of), number ? part.mesh.planes : 1);
  }
  const auto cut_count = [&](std::uint64_t& count) { count = half == 0 ? count / 2 : count - count / 2; };
  for (auto* count : {&part.share.places, &part.share.points, &part.share.triangles, &part.share.boundary})
    cut_count(*count);
  return part;
}

}  // namespace octavo::testing
