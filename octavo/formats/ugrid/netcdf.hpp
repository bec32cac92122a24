#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "octavo/mesh/field.hpp"

/// Variables of NetCDF files, classic (CDF-1, 2 and 5) and of version 4, which is HDF5. Groups of version 4 are passed
/// over.
namespace octavo::formats::ugrid {

using NetcdfValue = std::variant<std::vector<double>, std::string>;
using NetcdfAttributes = std::map<std::string, NetcdfValue>;

struct NetcdfVariable {
  std::string name;
  std::vector<std::uint64_t> shape;      ///< slowest index first; the unlimited dimension has its present length
  std::optional<mesh::ScalarType> type;  ///< nothing: texts, or a type that has no numbers
  NetcdfAttributes attributes;
  std::vector<std::string> dimensions{};                 ///< names, where the file tells (classic)
  bool has_values = true;                                ///< false: they are not in the file; `read` throws
  std::string text(const std::string& attribute) const;  ///< empty: there is none
  std::optional<double> number(const std::string& attribute) const;
};

/// A file whose variables have been listed.
struct Netcdf {
  std::filesystem::path path;
  NetcdfAttributes attributes;  ///< of the file
  std::vector<NetcdfVariable> variables;
  /// Reads rows [first, first + rows) of a variable as doubles: integers beyond 2^53 are rounded. `out` has the size of
  /// these rows. From several threads.
  std::function<void(const NetcdfVariable& variable, std::uint64_t first, std::span<double> out)> read;
  const NetcdfVariable* find(const std::string& name) const;
};

/// Whether the first bytes are those of a classic file.
bool is_classic(const std::filesystem::path& path) noexcept;
/// Throws Error(corrupt), with file, byte and variable, if a count or an offset does not fit the file's size.
Netcdf open_classic(const std::filesystem::path& path);
Netcdf open_netcdf4(const std::filesystem::path& path);

/// The product of the shape.
std::uint64_t num_values(const NetcdfVariable& variable);
/// All values.
std::vector<double> read_all(const Netcdf& file, const NetcdfVariable& variable);

}  // namespace octavo::formats::ugrid
