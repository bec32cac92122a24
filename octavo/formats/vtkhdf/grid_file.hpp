#pragma once
// For formats/vtkhdf alone.
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/formats/vtkhdf/names.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::formats::vtkhdf {

/// A VTKHDF file that is laid out: small data are written, large data get a place, where their values are then
/// written without HDF5. Names are in VTK's group.
class GridFile {
 public:
  /// Throws Error(usage) where the file exists.
  GridFile(const std::filesystem::path& path, const std::string& type, std::array<std::int64_t, 2> version);

  void attribute(const std::string& object, const std::string& name, std::span<const std::int64_t> values);
  void attribute(const std::string& object, const std::string& name, std::span<const double> values);
  void words(const std::string& object, const std::string& name, const std::string& text);
  void group(const std::string& name);
  /// Writes a list, or a table of `columns` columns, now: doubles, or integers of 8 bytes or 1.
  template <class T>
  void list(const std::string& name, const std::vector<T>& values, std::uint64_t columns = 0);
  /// A data set whose values come later.
  void later(const std::string& name, const file::hdf5::ItemType& type, const std::vector<std::uint64_t>& shape);
  /// A field's values come later, at `values` places; its name and unit are attributes. Returns the data set's name.
  std::string later(const std::string& group, const mesh::FieldInfo& field, std::uint64_t values);
  /// The step's time, as field data TimeValue: VTK shows it beside data of one step.
  void time(double time);
  /// Closes the file. Returns the place of each data set whose values come later [byte of the file].
  std::map<std::string, std::uint64_t> close();

 private:
  std::filesystem::path path_;
  file::hdf5::File file_;
  std::vector<std::string> later_;
  std::map<std::string, std::vector<std::string>> taken_;  ///< names of fields, by group
};

/// The places of the fields' values among those of a file, in their order.
std::vector<std::uint64_t> places_of(const std::map<std::string, std::uint64_t>& places,
                                     const std::vector<std::string>& names);

}  // namespace octavo::formats::vtkhdf
