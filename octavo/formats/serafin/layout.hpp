#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// SERAFIN (Selafin): TELEMAC's file of one mesh and the steps on it (TELEMAC's data manual, "Selafin format"). It is
/// made of Fortran records, each between two 4-byte lengths. Every position follows from the header, so nothing is
/// ever scanned.
namespace octavo::formats::serafin {

/// Converts a file's Latin-1 to UTF-8 without trailing blanks and NULs; and back, with '?' for characters that Latin-1
/// lacks.
std::string text_of(std::string_view latin1);
/// The same with its NULs, which come back where blanks fill up what is written.
std::string tag_of(std::string_view latin1);
std::string latin1_of(std::string_view text);

/// A variable: name and unit as the file has them, 16 characters each, blanks and NULs included.
struct Variable {
  std::array<char, 32> text{};
  bool operator==(const Variable&) const = default;
};
/// Converts UTF-8 to Latin-1, with '?' for characters that Latin-1 lacks. Pads with blanks, cuts at 16 bytes.
Variable variable(std::string_view name, std::string_view unit);
/// Without trailing blanks and NULs, as UTF-8.
std::string name_of(const Variable& variable);
std::string unit_of(const Variable& variable);

/// All of the header but the arrays.
struct SerafinHeader {
  std::endian order = std::endian::big;
  std::size_t real_bytes = 4;       ///< of times, coordinates and values: 4 (SERAFIN) or 8 (SERAFIND)
  std::array<char, 80> title{};     ///< title (72 characters) and tag (8), which says nothing in existing files
  std::vector<Variable> variables;  ///< linear ones, then `quadratic` others
  int quadratic = 0;
  std::array<std::int32_t, 10> iparam{1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  std::optional<std::array<std::int32_t, 6>> date;  ///< year, month, day, hour, minute, second
  std::int32_t elements = 0;                        ///< of all planes
  std::int32_t points = 0;                          ///< of all planes
  std::int32_t nodes = 3;                           ///< points per element: 3 triangles, 6 prisms, 4 quadrangles
  bool operator==(const SerafinHeader&) const = default;
};

/// Horizontal planes of points: 1 for a 2-D mesh.
inline std::int32_t planes(const SerafinHeader& header) { return header.iparam[6] > 1 ? header.iparam[6] : 1; }
/// Points and triangles of one plane.
inline std::int32_t plane_points(const SerafinHeader& header) { return header.points / planes(header); }
inline std::int32_t plane_elements(const SerafinHeader& header) {
  return planes(header) > 1 ? header.elements / (planes(header) - 1) : header.elements;
}

/// The positions of records (of their leading length word) from the file's first byte, and the size of a step [bytes].
struct RecordOffsets {
  std::uint64_t iparam = 0, sizes = 0, connectivity = 0, numbers = 0, x = 0, y = 0, steps = 0;
  std::uint64_t step_bytes = 0;
};
RecordOffsets offsets_of(const SerafinHeader& header);
/// The position of a variable's values in a step: the first payload byte.
std::uint64_t values_at(const SerafinHeader& header, const RecordOffsets& offsets, std::int64_t step,
                        std::size_t variable);
/// The position of the step's time: the first payload byte.
std::uint64_t time_at(const RecordOffsets& offsets, std::int64_t step);

/// The header up to the arrays, as bytes: [0, RecordOffsets::connectivity). Throws Error(unsupported) if a record would
/// pass 2 GiB, because the format's 4-byte lengths cannot hold that.
std::vector<std::byte> encode_header(const SerafinHeader& header);

}  // namespace octavo::formats::serafin
