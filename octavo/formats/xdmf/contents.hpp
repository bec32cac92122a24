#pragma once
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "octavo/formats/row/join_points.hpp"
#include "octavo/formats/xdmf/items.hpp"
#include "octavo/mesh/dataset.hpp"

/// The description of an XDMF file. For formats/xdmf alone.
namespace octavo::formats::xdmf {

/// A field's array in each piece of the mesh.
struct XdmfField {
  mesh::FieldInfo info;
  std::vector<XdmfItem> items;
  std::size_t component = 0, components = 1;
};

struct XdmfStep {
  double time = 0;
  std::vector<XdmfField> fields;
};

/// A grid with cells and points: the mesh, or one piece of it in a collection of grids in space.
struct XdmfPiece {
  XdmfItem cells, points;
  std::uint64_t corners = 0;     ///< of each cell; 0: cells are "Mixed"
  bool solid = false;            ///< those cells are solids
  std::int64_t first_point = 0;  ///< number of the first point in the list of cells
  std::uint64_t num_points = 0, num_cells = 0;
  std::size_t points_of = 0;  ///< the piece, this or one before, that has the points of this one
};

struct XdmfContents {
  std::filesystem::path path;
  std::vector<XdmfPiece> pieces;  ///< one at least; their cells and points follow one another
  std::size_t axes = 3;           ///< coordinates of a point
  bool solid = false;
  std::vector<std::int64_t> counts;             ///< mesh::solids_attribute, or mesh::cells_attribute
  std::uint64_t num_points = 0, num_cells = 0;  ///< of all pieces, as the file has them
  JoinedPoints points_of_pieces;                ///< empty: one piece has all points
  std::vector<std::uint64_t> kept;              ///< the cells that are solids, or of a surface, if others are left out
  std::vector<XdmfStep> steps;                  ///< one at least
  double unit_length = 1;                       ///< [cm]
  std::vector<std::string> notes;
  std::set<std::filesystem::path> named;  ///< all files that the text names, also for what is left out
  bool has_fields() const;
  std::uint64_t new_points() const { return points_of_pieces.kept.empty() ? num_points : points_of_pieces.kept.size(); }
  /// The text and the files that values are read from.
  std::set<std::filesystem::path> files() const;
};

/// Reads the text, and the list of cells. Throws Error(corrupt) or Error(unsupported), with the file.
XdmfContents read_contents(const std::filesystem::path& path);

/// mesh::Solids or mesh::Unstructured. If `wanted` is false, it is empty.
mesh::Mesh read_mesh(const XdmfContents& contents, bool wanted);
/// Coordinates of the mesh's points along an axis.
std::vector<double> read_axis(const XdmfContents& contents, std::size_t axis);
/// Whether the points have a third coordinate that is not 0 everywhere.
bool has_heights(const XdmfContents& contents);
mesh::Field read_field(const XdmfContents& contents, const XdmfField& entry);

}  // namespace octavo::formats::xdmf
