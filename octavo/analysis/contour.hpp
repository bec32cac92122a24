#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "octavo/analysis/leaf_tree.hpp"
#include "octavo/mesh/solids.hpp"
#include "octavo/mesh/unstructured.hpp"

/// Surfaces (in 2-D lines) on which a field has a value. The leaves around each corner of the mesh make a cell of the
/// dual mesh, whose corners are the leaves' centres (Schaefer and Warren, "Dual marching cubes", 2004). Dual cells have
/// no hanging corners, whatever the levels, so a surface through them has no cracks. Each is cut into tetrahedra from
/// its first leaf along the curve. Two cells that share a side cut it alike, because they agree on the first leaf
/// there.
namespace octavo::analysis {

/// Which two leaves (of triangles and solids: points) a corner of the surface lies between, the first along the curve
/// first.
using CrossedEdge = std::array<mesh::CurveKey, 2>;

struct Surface {
  int dim = 3;
  std::vector<CrossedEdge> edges;                       ///< of each point; a leaf by its first key
  std::vector<mesh::Point3> points;                     ///< [code length]
  std::vector<std::array<std::uint32_t, 3>> triangles;  ///< seen from lower values counter-clockwise. In 2-D lines of
                                                        ///< two points, with the higher values at their left
  std::vector<ValuedLeaf> border;  ///< leaves that may touch those of other parts; `id` is the part
};

/// The surface around the corners whose leaves are all the part's own. Cells that the selection leaves out, and those
/// whose value is not finite, open the surface. Throws as cell_field does.
Surface part_surface(const mesh::Part& part, const mesh::Header& header, const CommonGrid& grid,
                     const Selection& selection, const std::string& field, double at);
void add(Surface& to, Surface&& later);
/// Adds the surface between parts, and makes one point of all with the same edge. `border` is empty then.
void join_surface(Surface& surface, const CommonGrid& grid, double at);
/// Makes one point of those with the same edge; the first stands for them.
void join_points(Surface& surface);

/// The lines on a mesh of triangles between whose points values are linear. NaN opens them.
Surface triangle_lines(const mesh::Unstructured& mesh, const std::vector<double>& values, double at);

/// The surface in solids between whose points values are linear in tetrahedra. It is closed but at the outermost sides
/// of the cells that `chosen` has 1 for (empty: of all), and at points whose value is not finite. Surfaces of several
/// parts add up; join_points() joins them.
Surface solid_surface(const mesh::Solids& mesh, const std::vector<double>& values, double at,
                      std::span<const char> chosen);

template <class Way>
void both(Way& way, Surface& surface) {
  both(way, surface.dim, surface.edges, surface.points, surface.triangles, surface.border);
}

}  // namespace octavo::analysis
