#include "octavo/mesh/triangles/cells.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

using base::Error;
using base::Kind;

std::string cell_text(std::int64_t cell) { return "cell " + std::to_string(cell); }

void check_corners(std::span<const std::int64_t> corners, std::int64_t cell, const Unstructured& mesh) {
  if (corners.size() < 3)
    throw Error(Kind::corrupt, "a cell of " + std::to_string(corners.size()) + " corners: expected 3 or more")
        .at(cell_text(cell));
  for (std::size_t k = 0; k < corners.size(); ++k) {
    if (corners[k] < 0 || corners[k] >= std::ssize(mesh.x))
      throw Error(Kind::corrupt, "point index: expected 0 to " + std::to_string(std::ssize(mesh.x) - 1) + ", found " +
                                     std::to_string(corners[k]))
          .at(cell_text(cell));
    for (std::size_t other = 0; other < k; ++other)
      if (corners[other] == corners[k])
        throw Error(Kind::corrupt, "a cell names the point " + std::to_string(corners[k]) + " twice")
            .at(cell_text(cell));
  }
}

/// Twice the area, positive if a, b, c turn left.
double turn(const Unstructured& mesh, std::int64_t a, std::int64_t b, std::int64_t c) {
  const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b), k = static_cast<std::size_t>(c);
  return (mesh.x[j] - mesh.x[i]) * (mesh.y[k] - mesh.y[i]) - (mesh.y[j] - mesh.y[i]) * (mesh.x[k] - mesh.x[i]);
}

/// Corners as seen from one of them.
struct Fan {
  std::span<const std::int64_t> corners;
  std::size_t begin = 0;
  std::int64_t operator[](std::size_t k) const { return corners[(begin + k) % corners.size()]; }
};

struct Areas {
  double least = std::numeric_limits<double>::infinity(), sum = 0;
};
Areas areas_of(const Unstructured& mesh, const Fan& fan) {
  Areas out;
  for (std::size_t k = 1; k + 1 < fan.corners.size(); ++k) {
    const double area = turn(mesh, fan[0], fan[k], fan[k + 1]);
    out.least = std::min(out.least, area);
    out.sum += area;
  }
  return out;
}

bool goes_on(const std::int64_t* before, std::int64_t first, std::int64_t second) {
  return before[0] == first && before[2] == second;
}

/// The corner to begin with: the first whose triangles all have an area, else the one whose smallest is largest.
std::optional<std::size_t> beginning(std::span<const std::int64_t> corners, const Unstructured& mesh) {
  const std::int64_t* before = mesh.connectivity.empty() ? nullptr : &mesh.connectivity[mesh.connectivity.size() - 3];
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t begin = 0; begin < corners.size(); ++begin) {
    const Fan fan{corners, begin};
    // From there, its first triangle would be taken for one more of the cell before.
    if (before != nullptr && goes_on(before, fan[0], fan[1])) continue;
    const Areas areas = areas_of(mesh, fan);
    if (areas.least > 0 || corners.size() == 3) return begin;
    if (areas.least >= 0 && (!best || areas.least > least)) {
      best = begin;
      least = areas.least;
    }
  }
  return best;
}

}  // namespace

std::vector<std::int64_t> cells_by_corners(const Header& header) {
  const auto found = header.attributes.find(cells_attribute);
  if (found == header.attributes.end()) return {};
  const auto* numbers = std::get_if<std::vector<std::int64_t>>(&found->second);
  return numbers == nullptr ? std::vector<std::int64_t>{} : *numbers;
}

bool in_cells(const Header& header, const FieldInfo& field) {
  return field.centring == Centring::cell && (header.attributes.count(cells_attribute) > 0 || holds_solids(header));
}

std::int64_t num_cells(std::span<const std::int64_t> by_corners) {
  std::int64_t sum = 0;
  for (const std::int64_t count : by_corners) sum += count;
  return sum;
}

std::int64_t num_triangles(std::span<const std::int64_t> by_corners) {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < by_corners.size(); ++k) sum += by_corners[k] * static_cast<std::int64_t>(k + 1);
  return sum;
}

std::string describe_cells(std::span<const std::int64_t> by_corners) {
  std::string out;
  for (std::size_t k = 0; k < by_corners.size(); ++k) {
    if (by_corners[k] == 0) continue;
    out += (out.empty() ? "" : ", ") + std::to_string(by_corners[k]);
    out += k == 0 ? " triangles" : k == 1 ? " quadrangles" : " of " + std::to_string(k + 3) + " corners";
  }
  return out;
}

void count_cell(std::size_t corners, std::vector<std::int64_t>& by_corners) {
  if (by_corners.size() < corners - 2) by_corners.resize(corners - 2, 0);
  ++by_corners[corners - 3];
}

void add_cell(std::span<const std::int64_t> given, std::int64_t cell, Unstructured& mesh) {
  check_corners(given, cell, mesh);
  std::vector<std::int64_t> corners(given.begin(), given.end());
  if (areas_of(mesh, {corners, 0}).sum < 0) std::reverse(corners.begin() + 1, corners.end());
  const auto begin = beginning(corners, mesh);
  if (!begin)
    throw Error(Kind::unsupported, "a cell of " + std::to_string(corners.size()) +
                                       " corners that triangles around none of its corners fill")
        .at(cell_text(cell));
  const Fan fan{corners, *begin};
  for (std::size_t k = 1; k + 1 < corners.size(); ++k)
    for (const std::int64_t point : {fan[0], fan[k], fan[k + 1]}) mesh.connectivity.push_back(point);
}

std::vector<std::int64_t> first_triangles(std::span<const std::int64_t> connectivity) {
  std::vector<std::int64_t> first;
  for (std::size_t i = 0; i < connectivity.size(); i += 3)
    if (i == 0 || !goes_on(&connectivity[i - 3], connectivity[i], connectivity[i + 1]))
      first.push_back(static_cast<std::int64_t>(i / 3));
  first.push_back(static_cast<std::int64_t>(connectivity.size() / 3));
  return first;
}

std::vector<std::int64_t> cells_of_triangles(std::span<const std::int64_t> connectivity) {
  std::vector<std::int64_t> cells(connectivity.size() / 3);
  std::int64_t cell = -1;
  for (std::size_t t = 0; t < cells.size(); ++t) {
    const std::int64_t* points = &connectivity[3 * t];
    if (t == 0 || !goes_on(points - 3, points[0], points[1])) ++cell;
    cells[t] = cell;
  }
  return cells;
}

std::vector<std::int64_t> corners_of(std::span<const std::int64_t> connectivity, std::int64_t first,
                                     std::int64_t last) {
  const std::int64_t* points = &connectivity[3 * static_cast<std::size_t>(first)];
  std::vector<std::int64_t> corners{points[0], points[1]};
  for (std::int64_t t = first; t < last; ++t, points += 3) corners.push_back(points[2]);
  return corners;
}

CellAreas areas_of_cells(const Unstructured& mesh) {
  const std::vector<std::int64_t> cells = cells_of_triangles(mesh.connectivity);
  const std::size_t count = cells.empty() ? 0 : static_cast<std::size_t>(cells.back()) + 1;
  CellAreas out{std::vector<double>(count, 0), std::vector<double>(count, 0), std::vector<double>(count, 0)};
  std::vector<double> corners(count, 0), middle_x(count, 0), middle_y(count, 0);
  for (std::size_t t = 0; t < cells.size(); ++t) {
    const auto cell = static_cast<std::size_t>(cells[t]);
    const std::int64_t* points = &mesh.connectivity[3 * t];
    const double area = turn(mesh, points[0], points[1], points[2]) / 2;
    double x = 0, y = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      x += mesh.x[static_cast<std::size_t>(points[k])] / 3;
      y += mesh.y[static_cast<std::size_t>(points[k])] / 3;
    }
    out.area[cell] += area;
    out.x[cell] += area * x;
    out.y[cell] += area * y;
    corners[cell] += 1;
    middle_x[cell] += x;
    middle_y[cell] += y;
  }
  for (std::size_t cell = 0; cell < count; ++cell) {  // without an area: the mean of the triangles' middles
    const bool flat = !(out.area[cell] > 0);
    out.x[cell] = flat ? middle_x[cell] / corners[cell] : out.x[cell] / out.area[cell];
    out.y[cell] = flat ? middle_y[cell] / corners[cell] : out.y[cell] / out.area[cell];
  }
  return out;
}

Unstructured apart(const Unstructured& mesh) {
  Unstructured out;
  for (std::size_t i = 0; i < mesh.connectivity.size(); ++i) {
    const auto point = static_cast<std::size_t>(mesh.connectivity[i]);
    out.x.push_back(mesh.x[point]);
    out.y.push_back(mesh.y[point]);
    out.connectivity.push_back(static_cast<std::int64_t>(i));
  }
  return out;
}

}  // namespace octavo::mesh
