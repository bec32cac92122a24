#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// Cells with more corners than three, in a mesh of triangles. A cell is a fan: consecutive triangles that begin with
/// the same point, each with its second point where the one before has its third. A quadrangle a, b, c, d is a, b, c
/// and a, c, d. Two cells one after the other never look like one: the second begins with another corner then.
namespace octavo::mesh {

/// Header attribute of a mesh with such cells, or with values at cells: how many cells have 3 corners, 4, 5 ... If it
/// is missing, each triangle is a cell.
inline constexpr const char* cells_attribute = "cells";

/// The numbers of that attribute; empty: it is missing.
std::vector<std::int64_t> cells_by_corners(const Header& header);
/// Whether a field of a mesh of triangles, or of solids, has a value in each cell, and not at each point.
bool in_cells(const Header& header, const FieldInfo& field);
/// Cells, and the triangles that they are cut into.
std::int64_t num_cells(std::span<const std::int64_t> by_corners);
std::int64_t num_triangles(std::span<const std::int64_t> by_corners);
/// "3 triangles, 2 quadrangles, 1 of 6 corners".
std::string describe_cells(std::span<const std::int64_t> by_corners);
/// Counts a cell.
void count_cell(std::size_t corners, std::vector<std::int64_t>& by_corners);

/// Adds a cell to the end of the connectivity, whose last triangle is another cell's. Corners that run clockwise are
/// turned round. `cell`: its number, for errors. Throws Error(corrupt) for fewer than three corners, a corner that is
/// no point of the mesh, or one that is there twice; Error(unsupported) if triangles around none of its corners fill
/// it.
void add_cell(std::span<const std::int64_t> corners, std::int64_t cell, Unstructured& mesh);

/// The first triangle of each cell, and the number of triangles as a last entry.
std::vector<std::int64_t> first_triangles(std::span<const std::int64_t> connectivity);
/// The cell of each triangle.
std::vector<std::int64_t> cells_of_triangles(std::span<const std::int64_t> connectivity);
/// The corners of the cell made of the triangles [first, last).
std::vector<std::int64_t> corners_of(std::span<const std::int64_t> connectivity, std::int64_t first, std::int64_t last);

/// The area of each cell, and its centroid. [code length^2, code length]
struct CellAreas {
  std::vector<double> area, x, y;
};
CellAreas areas_of_cells(const Unstructured& mesh);

/// The same triangles, each with three points of its own: 3 t, 3 t + 1 and 3 t + 2. A function that is constant in each
/// cell has a value at each of them. @pre one plane
Unstructured apart(const Unstructured& mesh);

}  // namespace octavo::mesh
