#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/formats/ugrid/netcdf.hpp"
#include "octavo/mesh/dataset.hpp"

/// The description of a mesh in a UGRID file, version 1.0 of the conventions, and of the fields on it. For
/// formats/ugrid alone.
namespace octavo::formats::ugrid {

/// The points of each cell, as a file lists them.
struct Connectivity {
  NetcdfVariable variable;
  bool by_corner = false;      ///< shape (corners, cells), not (cells, corners)
  std::int64_t start = 0;      ///< the number of the first point
  std::optional<double> fill;  ///< stands for corners that a cell lacks, as any negative number does
  std::uint64_t cells = 0, corners = 0;
};

struct UgridField {
  mesh::FieldInfo info;
  NetcdfVariable variable;
  bool in_steps = false;          ///< shape (steps, places); else (places)
  std::vector<double> missing{};  ///< values that stand for none
  double scale = 1, offset = 0;   ///< of packed values
};

struct UgridContents {
  Netcdf file;
  std::string topology;    ///< name of its variable
  bool solid = false;      ///< cells are volumes, else faces
  NetcdfVariable x, y, z;  ///< z of volumes alone
  std::uint64_t points = 0;
  Connectivity connectivity;
  std::vector<std::int64_t> cells;  ///< of faces, by corners: mesh::cells_attribute; of volumes mesh::solids_attribute
  std::vector<UgridField> fields;
  std::uint64_t steps = 0;    ///< 0: no field has steps
  std::vector<double> times;  ///< [s], of all steps
  std::string time_origin;    ///< "1970-01-01 00:00:00", in the file's words; empty: not told
  bool degrees = false;       ///< coordinates are longitude and latitude
  std::vector<std::string> notes;
};

/// Reads all but coordinates and values. Throws Error(corrupt) or Error(unsupported), with the file.
UgridContents read_contents(const std::filesystem::path& path);

/// Coordinates of all points. Throws Error(corrupt) for one without a place.
std::vector<double> read_axis(const UgridContents& contents, const NetcdfVariable& axis);
/// mesh::Unstructured, or mesh::Solids whose cells of negative volume have been turned round: the conventions do not
/// say how corners of a volume are ordered, so they are taken as VTK's. If `wanted` is false, it is empty.
mesh::Mesh read_mesh(const UgridContents& contents, bool wanted);
/// Values of a field at a step, which counts if the field has steps.
mesh::Field read_field(const UgridContents& contents, const UgridField& entry, std::uint64_t step);

/// Whether a variable describes a mesh.
bool is_topology(const NetcdfVariable& variable);
/// By its first bytes: classic NetCDF, or HDF5.
Netcdf open_netcdf(const std::filesystem::path& path);

}  // namespace octavo::formats::ugrid
