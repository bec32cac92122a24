#pragma once
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/telemac/cut/side_files.hpp"

namespace octavo::telemac {

/// A text file line by line, for messages that name the line.
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& path);
  /// Reads the next line, whatever it holds.
  std::string next();
  /// Reads `count` numbers from as many lines as needed, as Fortran's list-directed READ does. If the last line has
  /// more numbers, it reads up to `most`.
  std::vector<double> numbers(std::size_t count, std::size_t most = 0);
  base::Error error(const std::string& message) const;
  /// Turns a point number of the file, from 1, into one from 0.
  std::int32_t point(double value, std::int32_t points) const;
  /// Checks that the value is an integer of 32 bits.
  std::int32_t integer(double value) const;
  /// A count in [0, most].
  std::int32_t count(double value, std::int32_t most) const;

 private:
  std::filesystem::path path_;
  std::ifstream in_;
  std::size_t number_ = 0;
};

/// Parts and local numbers (from 1) of some points.
class LocalNumbers {
 public:
  /// Collective; all ranks want the same points.
  LocalNumbers(std::vector<std::int32_t> wanted, const SideParts& parts);
  /// By part, ascending.
  const std::vector<std::pair<std::int32_t, std::int32_t>>& at(std::int32_t point) const { return of_.at(point); }
  /// The local number of a point in a part; 0: the part does not have the point.
  std::int32_t in(std::int32_t point, std::int32_t part) const;

 private:
  std::map<std::int32_t, std::vector<std::pair<std::int32_t, std::int32_t>>> of_;
};

/// A line of integers, as Fortran lists them.
std::string integer_line(const std::vector<std::int32_t>& values);

}  // namespace octavo::telemac
