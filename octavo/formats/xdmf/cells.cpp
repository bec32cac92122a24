// XDMF's numbers of cell types and names of topologies: "XDMF Model and Format", version 3.
#include "octavo/formats/xdmf/cells.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <set>
#include <span>

#include "octavo/mesh/triangles/cells.hpp"

namespace octavo::formats::xdmf {
namespace {

const XdmfShape* find_shape(std::span<const XdmfShape> shapes, std::size_t corners) {
  for (const XdmfShape& shape : shapes)
    if (shape.corners == corners) return &shape;
  return nullptr;
}

using EachCell = std::function<void(std::span<const std::int64_t> corners)>;

void for_each_polygon(const Series& series, const EachCell& each) {
  const std::vector<std::int64_t>& connectivity = series.mesh.connectivity;
  if (mesh::cells_by_corners(series.first.header).empty()) {
    for (std::size_t t = 0; t < connectivity.size(); t += 3) each(std::span(connectivity).subspan(t, 3));
    return;
  }
  const std::vector<std::int64_t> first = mesh::first_triangles(connectivity);
  for (std::size_t c = 0; c + 1 < first.size(); ++c) each(mesh::corners_of(connectivity, first[c], first[c + 1]));
}

void for_each_cell(const Series& series, const EachCell& each) {
  if (!mesh::holds_solids(series.first.header)) return for_each_polygon(series, each);
  std::size_t corner = 0;
  for (const std::uint8_t corners : series.solids.corners) {
    each(std::span(series.solids.connectivity).subspan(corner, corners));
    corner += corners;
  }
}

}  // namespace

XdmfCells cells_of(const Series& series) {
  const bool solid = mesh::holds_solids(series.first.header);
  const auto shapes = solid ? std::span<const XdmfShape>(solid_shapes) : std::span<const XdmfShape>(flat_shapes);
  XdmfCells out;
  std::set<std::size_t> kinds;
  for_each_cell(series, [&](std::span<const std::int64_t> corners) {
    kinds.insert(corners.size());
    ++out.cells;
  });
  const XdmfShape* only = kinds.size() == 1 ? find_shape(shapes, *kinds.begin()) : nullptr;
  out.type = only != nullptr ? only->name : "Mixed";
  out.corners = only != nullptr ? only->corners : 0;
  for_each_cell(series, [&](std::span<const std::int64_t> corners) {
    if (only == nullptr) {
      const XdmfShape* shape = find_shape(shapes, corners.size());
      out.numbers.push_back(shape != nullptr ? shape->number : polygon_number);
      if (shape == nullptr) out.numbers.push_back(std::ssize(corners));
    }
    out.numbers.insert(out.numbers.end(), corners.begin(), corners.end());
  });
  return out;
}

}  // namespace octavo::formats::xdmf
