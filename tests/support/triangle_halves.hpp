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

/// The first or second half of a whole part of solids: of its points, cells, and the corners of these.
inline store::StoredTriangles half_of_solids(store::StoredTriangles part, int half) {
  part.index = half;
  store::TriangleShare& share = part.share;
  const auto cut = [&](std::vector<std::byte>& bytes, std::uint64_t count, std::uint64_t at) {
    if (count == 0) return;
    const auto middle = bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / count * at);
    bytes = half == 0 ? std::vector<std::byte>(bytes.begin(), middle) : std::vector<std::byte>(middle, bytes.end());
  };
  std::uint64_t corners = 0;  // of the cells of the first half
  for (std::size_t a = 0; a < part.arrays.size(); ++a)
    if (part.arrays[a].of == store::MeshSet::cells && part.arrays[a].info.name == "corners")
      for (std::size_t c = 0; c < share.triangles / 2; ++c)
        corners += std::to_integer<std::uint64_t>(part.values[a][c]);
  for (std::size_t a = 0; a < part.arrays.size(); ++a) {
    const store::MeshSet of = part.arrays[a].of;
    cut(part.values[a], share.of(of), of == store::MeshSet::corners ? corners : share.of(of) / 2);
  }
  for (mesh::Field& field : part.fields) {
    const std::uint64_t count = field.info.centring == mesh::Centring::cell ? share.cell_places : share.places;
    cut(field.bytes, count, count / 2);
  }
  const auto cut_count = [&](std::uint64_t& count, std::uint64_t at) { count = half == 0 ? at : count - at; };
  cut_count(share.corners, corners);
  for (auto* count : {&share.places, &share.points, &share.triangles, &share.cell_places})
    cut_count(*count, *count / 2);
  return part;
}

}  // namespace octavo::testing
