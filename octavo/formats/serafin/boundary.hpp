#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace octavo::formats::serafin {

/// A line of a boundary file (.cli): one boundary point's conditions (TELEMAC-2D user manual, "The boundary conditions
/// file"). Codes: 2 wall, 4 free, 5 imposed value, 6 imposed velocity, 0 no slip.
struct BoundaryPoint {
  int depth = 2, u = 2, v = 2;            ///< LIHBOR, LIUBOR, LIVBOR
  std::array<double, 4> values{};         ///< HBOR, UBOR, VBOR, AUBOR
  int tracer = 2;                         ///< LITBOR
  std::array<double, 3> tracer_values{};  ///< TBOR, ATBOR, BTBOR
  std::int32_t point = 0;                 ///< N, from 1
  std::int32_t colour = 0;                ///< K: the point's number along the boundary, or a colour
  bool operator==(const BoundaryPoint&) const = default;
};

/// Reads a boundary file. A line has 13 numbers, or 9 without the tracer columns, as in hand-made files. Throws
/// Error(corrupt) with file and line for other counts, and for points that are not in [1, points] or occur twice.
std::vector<BoundaryPoint> read_boundary(const std::filesystem::path& path, std::int32_t points);

/// One line as partel writes it, 208 bytes with its newline: 12 decimals.
std::string boundary_line(const BoundaryPoint& point);

/// A float as gfortran writes it list-directed: a blank, 9 significant digits in 12 columns and 4 for an exponent.
std::string list_directed(float value);
/// The same of a double: 17 digits in 20 columns and 5.
std::string list_directed(double value);
/// The same of a default integer: 12 columns.
std::string list_directed(std::int64_t value);

}  // namespace octavo::formats::serafin
