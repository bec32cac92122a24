#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// VTKHDF files of single cells and of particles, laid out so that each value's place follows from the cell's number.
namespace octavo::formats::vtkhdf {

/// The places in a file of cells where values are written later [byte of the file].
struct CellFile {
  std::uint64_t points = 0;           ///< three reals a point
  std::uint64_t connectivity = 0;     ///< an int64 a corner
  std::uint64_t offsets = 0;          ///< an int64 a cell, where its corners begin; and one more
  std::uint64_t types = 0;            ///< a byte a cell
  std::vector<std::uint64_t> fields;  ///< a value a cell
};

/// VTK's type of an axis-aligned cell: voxel, pixel or line. Its corners stand x fastest.
std::uint8_t axis_aligned_cell(int dim);

/// Lays out a VTKHDF file of type UnstructuredGrid, version 1.0, of one step: cells that share no corners. Fields have
/// the types of type_in_file(). Throws Error(usage) where the file exists.
CellFile lay_out_cells(const std::filesystem::path& path, const mesh::Header& header, std::uint64_t cells,
                       std::uint64_t points, const std::vector<mesh::FieldInfo>& fields, bool single_precision);

/// Lays out a VTKHDF file of type PolyData, version 2.0, of one step: particles, each a point and a vertex. Fields may
/// have several components. There are no types.
CellFile lay_out_particles(const std::filesystem::path& path, const mesh::Header& header, std::uint64_t particles,
                           const std::vector<mesh::FieldInfo>& fields, bool single_precision);

}  // namespace octavo::formats::vtkhdf
