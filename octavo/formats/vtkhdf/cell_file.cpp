#include "octavo/formats/vtkhdf/cell_file.hpp"

#include <array>
#include <string>

#include "octavo/formats/vtkhdf/grid_file.hpp"

namespace octavo::formats::vtkhdf {
namespace {

namespace hdf5 = file::hdf5;

void write_count(GridFile& file, const std::string& name, std::uint64_t count) {
  file.list(name, std::vector<std::int64_t>{static_cast<std::int64_t>(count)});
}

/// A kind of cells that a file of particles does not have.
void write_none(GridFile& file, const std::string& group) {
  file.group(group);
  write_count(file, group + "/NumberOfCells", 0);
  write_count(file, group + "/NumberOfConnectivityIds", 0);
  file.list(group + "/Connectivity", std::vector<std::int64_t>{});
  file.list(group + "/Offsets", std::vector<std::int64_t>{0});
}

void make_points(GridFile& file, std::uint64_t points, bool single_precision) {
  write_count(file, "NumberOfPoints", points);
  file.later("Points", single_precision ? hdf5::float32_type : hdf5::float64_type, {points, 3});
}

/// The lists that say which points each cell has, in a group ("Vertices/") or in none.
void make_cells(GridFile& file, const std::string& group, std::uint64_t cells, std::uint64_t corners) {
  write_count(file, group + "NumberOfCells", cells);
  write_count(file, group + "NumberOfConnectivityIds", corners);
  file.later(group + "Connectivity", hdf5::int64_type, {corners});
  file.later(group + "Offsets", hdf5::int64_type, {cells + 1});
}

CellFile finish(GridFile& file, const std::string& group, const std::vector<std::string>& fields) {
  const auto places = file.close();
  const auto found = places_of(places, {"Points", group + "Connectivity", group + "Offsets", "Types"});
  return {found[0], found[1], found[2], found[3], places_of(places, fields)};
}

}  // namespace

std::uint8_t axis_aligned_cell(int dim) {
  constexpr std::array<std::uint8_t, 3> types{3, 8, 11};
  return types.at(static_cast<std::size_t>(dim - 1));
}

CellFile lay_out_cells(const std::filesystem::path& path, const mesh::Header& header, std::uint64_t cells,
                       std::uint64_t points, const std::vector<mesh::FieldInfo>& fields, bool single_precision) {
  GridFile file(path, "UnstructuredGrid", {1, 0});
  make_points(file, points, single_precision);
  make_cells(file, "", cells, cells << header.dim);
  file.later("Types", hdf5::uint8_type, {cells});
  file.group("CellData");
  std::vector<std::string> names;
  for (const mesh::FieldInfo& field : fields) names.push_back(file.later("CellData", field, cells));
  file.time(header.time);
  return finish(file, "", names);
}

CellFile lay_out_particles(const std::filesystem::path& path, const mesh::Header& header, std::uint64_t particles,
                           const std::vector<mesh::FieldInfo>& fields, bool single_precision) {
  GridFile file(path, "PolyData", {2, 0});
  make_points(file, particles, single_precision);
  file.group("Vertices");
  make_cells(file, "Vertices/", particles, particles);
  for (const char* none : {"Lines", "Polygons", "Strips"}) write_none(file, none);
  file.group("PointData");
  std::vector<std::string> names;
  for (const mesh::FieldInfo& field : fields) names.push_back(file.later("PointData", field, particles));
  file.time(header.time);
  return finish(file, "Vertices/", names);
}

}  // namespace octavo::formats::vtkhdf
