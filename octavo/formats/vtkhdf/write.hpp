#pragma once
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::formats::vtkhdf {

struct VtkCells;

/// Writes a VTKHDF file of one mesh and all steps on it, version 2.0: the mesh once, values one step after another. A
/// mesh with planes has its points once per step, because their heights move. Data sets are not compressed.
class VtkhdfWriter {
 public:
  struct SeriesInfo {
    std::vector<mesh::FieldInfo> fields;  ///< float32, float64, int32 or int64, one value a point, or a cell
    std::vector<double> times;            ///< of all steps; none: the mesh alone
    std::map<std::string, mesh::Attribute> attributes;
    std::vector<std::int64_t> cells{};  ///< by corners (mesh/triangles/cells.hpp); empty: triangles, or prisms
    std::string length_unit{};          ///< "m"; empty: not known
  };
  /// `numbers`: IPOBO, one a point of all planes; empty: none. Throws Error(usage) where the file exists.
  VtkhdfWriter(const std::filesystem::path& path, const mesh::Unstructured& mesh, std::span<const std::int32_t> numbers,
               SeriesInfo series);
  VtkhdfWriter(const std::filesystem::path& path, const mesh::Solids& mesh, SeriesInfo series);

  void put_values(std::int64_t step, std::size_t field, std::span<const double> values);
  void put_values(std::int64_t step, std::size_t field, std::span<const std::int64_t> values);
  /// Heights of all points, of meshes with planes: at every step, or once where there is none.
  void put_heights(std::int64_t step, std::span<const double> z);
  void close();

 private:
  template <class T>
  void put(std::int64_t step, std::size_t field, std::span<const T> values);
  void make_points(bool single, std::uint64_t copies);
  void put_points(std::int64_t step, std::span<const double> x, std::span<const double> y, std::span<const double> z);
  void write_cells(const VtkCells& cells);
  void make_fields(std::span<const std::int32_t> numbers);
  bool in_cells(const mesh::FieldInfo& info) const;
  bool any_in_cells() const;
  std::string group_of(const mesh::FieldInfo& info) const;
  void make_steps(bool numbers);
  void write_attributes();
  file::hdf5::File file_;
  SeriesInfo series_;
  std::vector<double> x_, y_;  ///< of one plane
  std::uint64_t points_ = 0;   ///< of all planes
  std::uint64_t cells_ = 0;
  int planes_ = 1;
  bool solids_ = false;
  std::vector<std::string> names_;  ///< of data sets in PointData and CellData, by field
};

}  // namespace octavo::formats::vtkhdf
