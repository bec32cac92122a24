#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "octavo/formats/med/groups.hpp"
#include "octavo/mesh/solids.hpp"
#include "octavo/mesh/unstructured.hpp"

namespace octavo::formats::med {

/// Parameters of this name and a number keep the order of variables, which libmedC sorts by name: each is described by
/// a variable's name.
constexpr const char* variable_parameter = "variable_";

/// Writes a MED file as TELEMAC does (hermes/utils_med.F): meshes and fields without interlacing, values at points,
/// steps numbered from 0, integers that belong to no mesh as parameters. The version is MED 3.3, which all libraries
/// since 2017 read; with single-precision fields it is 4.1, because 3.3 has none. Everything goes through libmedC,
/// behind its lock. The file may be read after close() has returned. Every function throws Error(unreadable) if libmedC
/// fails.
class MedWriter {
 public:
  struct Options {
    std::string title;  ///< 72 characters, and a tag of 8, in Latin-1
    bool single_precision = false;
    std::string length = "M";  ///< unit of the axes, at most 16 characters; "M" is TELEMAC's
  };
  /// Replaces an existing file. Throws Error(unsupported) without MED.
  MedWriter(const std::filesystem::path& path, const Options& options);
  ~MedWriter();
  MedWriter(const MedWriter&) = delete;
  MedWriter& operator=(const MedWriter&) = delete;

  /// A mesh, named as TELEMAC does: MESH, or MESH1, MESH2 ... of pieces. `z` [m]: of all points of all planes, in 3-D.
  /// `numbers`: one a point of all planes (IPOBO, or a piece's global numbers from 1); empty: none.
  void add_mesh(const std::string& name, const mesh::Unstructured& mesh, std::span<const double> z,
                std::span<const std::int32_t> numbers);
  /// The same of solids. MED keeps cells shape by shape: tetrahedra, pyramids, prisms, hexahedra.
  void add_mesh(const std::string& name, const mesh::Solids& mesh);
  void add_groups(const std::string& mesh, const MeshGroups& groups);
  /// Writes points (from 0) as cells of their own, each of a family of points. TELEMAC reads a piece's boundary from
  /// them.
  void add_point_cells(const std::string& mesh, std::span<const std::int32_t> points,
                       std::span<const std::int32_t> families);
  void add_parameter(const std::string& name, const std::string& description, std::int32_t value);
  /// name_1, name_2 ...
  void add_parameters(const std::string& name, std::span<const std::int64_t> values);

  /// The order of variables.
  void add_order(std::span<const std::string> variables);

  /// Adds a variable of a mesh and returns the field's name. Field names are unique in a file: those of pieces end in
  /// the mesh's.
  std::string add_field(const std::string& mesh, const std::string& variable, const std::string& unit);
  void put_values(const std::string& field, std::int32_t step, double time, std::span<const double> values);
  /// The same for a field with a value in each cell of a mesh, in the order of its cells.
  void put_values(const std::string& field, std::int32_t step, double time, std::span<const double> values,
                  const mesh::Solids& mesh);

  void close();

 private:
  struct Open;
  std::unique_ptr<Open> open_;
};

/// TELEMAC's DATE and TIME of year, month, day, hour, minute, second: three values in one number each; returns false if
/// they do not fit.
bool packs(std::span<const std::int64_t> date) noexcept;
std::int32_t pack(std::int64_t a, std::int64_t b, std::int64_t c) noexcept;

}  // namespace octavo::formats::med
