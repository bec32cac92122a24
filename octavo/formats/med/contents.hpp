#pragma once
// For formats/med alone, in builds that have MED's header.
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "octavo/formats/med/opened.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::formats::med {

/// Cells of one shape.
struct CellsOfShape {
  med_geometry_type shape = MED_NONE;
  int corners = 0;
  std::int64_t count = 0;
};

struct MeshEntry {
  Name name{};
  std::string title;
  std::int64_t points = 0, elements = 0;  ///< elements of `shape`, or all solids
  std::int64_t quadrangles = 0;           ///< beside triangles, or alone
  std::vector<CellsOfShape> solids{};     ///< those that are there; none: a surface, or prisms between planes
  med_geometry_type shape = MED_TRIA3;    ///< of a surface, or of prisms between planes
  int planes = 1;
  int axes = 2;
  std::string unit;  ///< of its first axis, "M" of TELEMAC; often empty
};

struct StepEntry {
  med_int number = MED_NO_DT, iteration = MED_NO_IT;
  double time = 0;
};

struct MedField {
  Name name{};
  mesh::FieldInfo info;
  int component = 1, components = 1;
  std::vector<std::pair<med_int, med_int>> steps;  ///< number and iteration of those that it has values at
};

/// The description of one mesh of a file, without its values.
struct MedContents {
  std::filesystem::path path;
  MeshEntry mesh;
  std::vector<std::string> meshes;  ///< names of all
  std::vector<MedField> fields;     ///< those with steps; if none has steps, all
  std::vector<MedField> waiting;    ///< others
  std::vector<StepEntry> steps;
  std::map<std::string, mesh::Attribute> parameters;
  std::map<std::string, std::int64_t>
      places;           ///< of variables: parameters "variable_1" ... are described by their names
  std::string comment;  ///< of the file, as it is: TELEMAC's is SERAFIN's title and tag, 72 + 8 characters
  bool has_numbers = false;
  bool is_piece = false;  ///< the numbers are those of points in the whole mesh
  /// For people: fields and heights that are left out.
  std::vector<std::string> notes;

  std::string title() const;  ///< from the comment
  std::string tag() const;
  /// All cells that may have values, shape by shape.
  std::vector<CellsOfShape> cells() const;
  /// Whether cells of a surface are told apart: there are quadrangles, or values in cells.
  bool has_cells() const;
};

/// The first mesh where `mesh` is empty. Takes the lock. Throws Error(usage) for a mesh that is not there.
MedContents contents_of(const std::filesystem::path& path, const std::string& mesh);

/// Names of the file's meshes, in its order. Takes the lock.
std::vector<std::string> mesh_names_of(const std::filesystem::path& path);

}  // namespace octavo::formats::med
