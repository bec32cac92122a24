#include "octavo/formats/serafin/boundary.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/serafin/number_list.hpp"

namespace octavo::formats::serafin {
namespace {

using base::Error;
using base::Kind;

constexpr std::size_t with_tracer = 13, without_tracer = 9;

std::string content_of(const std::filesystem::path& path) {
  const file::File file = file::open_read(path);
  std::string text(static_cast<std::size_t>(file::size(file)), '\0');
  file::pread_all(file, 0, std::as_writable_bytes(std::span(text)));
  return text;
}

Error wrong(const std::filesystem::path& path, std::size_t line, const std::string& message) {
  return Error(Kind::corrupt, message).at(path.string() + ", line " + std::to_string(line));
}

int code(double value) { return static_cast<int>(value); }

BoundaryPoint point_of(const std::vector<double>& numbers) {
  BoundaryPoint point;
  point.depth = code(numbers[0]);
  point.u = code(numbers[1]);
  point.v = code(numbers[2]);
  for (std::size_t i = 0; i < 4; ++i) point.values[i] = numbers[3 + i];
  const bool tracer = numbers.size() >= with_tracer;
  if (tracer) {
    point.tracer = code(numbers[7]);
    for (std::size_t i = 0; i < 3; ++i) point.tracer_values[i] = numbers[8 + i];
  }
  point.point = static_cast<std::int32_t>(numbers[tracer ? 11 : 7]);
  point.colour = static_cast<std::int32_t>(numbers[tracer ? 12 : 8]);
  return point;
}

void check_numbers(const std::filesystem::path& path, std::size_t line, const NumberList& list) {
  const std::vector<double>& numbers = list.values;
  if (numbers.size() != without_tracer && numbers.size() < with_tracer)
    throw wrong(path, line,
                "expected 13 numbers, or 9 without tracer columns, found " + std::to_string(numbers.size()) +
                    (list.odd.empty() ? "" : " and " + list.odd));
  for (const double value : numbers)
    if (!(std::abs(value) < 2e9)) throw wrong(path, line, "expected numbers, found " + std::to_string(value));
  for (const std::size_t i : {0U, 1U, 2U})
    if (numbers[i] < 0 || numbers[i] > 99)
      throw wrong(path, line, "expected a boundary code, found " + std::to_string(numbers[i]));
}

template <class... Values>
std::string formatted(const char* format, Values... values) {
  std::string text(256, '\0');
  text.resize(static_cast<std::size_t>(std::snprintf(text.data(), text.size(), format, values...)));
  return text;
}

/// Writes `digits` significant digits, and `exponent_digits` of an exponent if there is one.
std::string list_directed_real(double value, int digits, int exponent_digits) {
  const std::string scientific = formatted("%.*e", digits - 1, value);  // rounded to the digits: gives the exponent
  const int exponent = value == 0 ? 0 : std::atoi(scientific.substr(scientific.find('e') + 1).c_str());
  if (exponent < -1 || exponent >= digits) {
    const std::string mantissa = scientific.substr(0, scientific.find('e'));
    return formatted(" %*s", digits + 3, mantissa.c_str()) +
           formatted("E%c%0*d", exponent < 0 ? '-' : '+', exponent_digits, std::abs(exponent));
  }
  return formatted(" %#*.*f", digits + 3, digits - 1 - exponent, value) +
         std::string(static_cast<std::size_t>(exponent_digits) + 2, ' ');
}

}  // namespace

std::vector<BoundaryPoint> read_boundary(const std::filesystem::path& path, std::int32_t points) {
  std::istringstream text(content_of(path));
  std::vector<BoundaryPoint> boundary;
  std::vector<bool> named(static_cast<std::size_t>(points), false);
  std::string line;
  for (std::size_t number = 1; std::getline(text, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    NumberList list;
    read_numbers(line, with_tracer, list);
    check_numbers(path, number, list);
    const BoundaryPoint point = point_of(list.values);
    if (point.point < 1 || point.point > points)
      throw wrong(path, number,
                  "expected a point from 1 to " + std::to_string(points) + ", found " + std::to_string(point.point));
    if (named[static_cast<std::size_t>(point.point - 1)])
      throw wrong(path, number, "point " + std::to_string(point.point) + " has a line already");
    named[static_cast<std::size_t>(point.point - 1)] = true;
    boundary.push_back(point);
  }
  return boundary;
}

std::string boundary_line(const BoundaryPoint& p) {
  return formatted("%3d%2d%2d %24.12f %24.12f %24.12f  %24.12f%4d %24.12f %24.12f %24.12f%10d%10d\n", p.depth, p.u, p.v,
                   p.values[0], p.values[1], p.values[2], p.values[3], p.tracer, p.tracer_values[0], p.tracer_values[1],
                   p.tracer_values[2], p.point, p.colour);
}

std::string list_directed(float value) { return list_directed_real(static_cast<double>(value), 9, 2); }
std::string list_directed(double value) { return list_directed_real(value, 17, 3); }

std::string list_directed(std::int64_t value) { return formatted("%12lld", static_cast<long long>(value)); }

}  // namespace octavo::formats::serafin
