#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "octavo/file/posix.hpp"

/// Classic NetCDF files, written. For formats/ugrid alone.
namespace octavo::formats::ugrid {

/// NetCDF's numbers of types.
enum class ClassicType : std::uint32_t { int32 = 4, float32 = 5, float64 = 6 };

struct NewVariable {
  std::string name;
  ClassicType type = ClassicType::float64;
  std::vector<std::uint32_t> dimensions;  ///< numbers of ClassicFile's
  std::vector<std::pair<std::string, std::variant<std::string, std::vector<double>>>>
      attributes;  ///< numbers have the variable's type
};

struct ClassicContents {
  std::vector<std::pair<std::string, std::uint64_t>> dimensions;  ///< name and length; 0: unlimited
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<NewVariable> variables;  ///< those without the unlimited dimension first
  std::uint64_t records = 0;
};

/// A file whose header is written when it is made. Values may come in any order; those never put are undefined.
class ClassicFile {
 public:
  ClassicFile(const std::filesystem::path& path, ClassicContents contents);
  /// `record` counts if the variable has the unlimited dimension. `first`: value of the record, or of the variable,
  /// that comes first.
  void put(std::size_t variable, std::uint64_t record, std::uint64_t first, std::span<const double> values);
  void close();

 private:
  std::vector<std::byte> header() const;
  ClassicContents contents_;
  file::File file_;
  bool wide_ = false;                  ///< CDF-5
  std::vector<std::uint64_t> begins_;  ///< by variable [byte]
  std::uint64_t record_bytes_ = 0;
};

}  // namespace octavo::formats::ugrid
