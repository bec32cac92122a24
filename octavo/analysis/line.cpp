#include "octavo/analysis/line.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>
#include <variant>

#include "octavo/analysis/descend.hpp"
#include "octavo/analysis/orientation.hpp"
#include "octavo/analysis/region_on_line.hpp"
#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/merge.hpp"

namespace octavo::analysis {
namespace {

using base::Error;
using base::Kind;
using mesh::Point3;

constexpr double longest_line = 16;  // lengths of the domain

}  // namespace

Line make_line(const mesh::Header& header, const Point3& from, const Point3& to,
               const std::optional<mesh::Region>& region) {
  Line line;
  line.dim = header.dim;
  line.from = from;
  line.to = to;
  line.periodic = header.periodic;
  const Point3 size = mesh::cell_size(header, 0);
  double square = 0;
  bool long_one = false;
  for (std::size_t a = 0; a < 3; ++a) {
    line.cells[a] = static_cast<double>(header.roots[a] * header.block[a]);
    if (a >= static_cast<std::size_t>(header.dim)) continue;
    if (!std::isfinite(from[a]) || !std::isfinite(to[a])) throw Error(Kind::usage, "an end of the line is not finite");
    line.start[a] = on_side_if_near((from[a] - header.lo[a]) / size[a], line.cells[a]);
    line.course[a] = on_side_if_near((to[a] - header.lo[a]) / size[a], line.cells[a]) - line.start[a];
    square += (to[a] - from[a]) * (to[a] - from[a]);
    const auto range = range_along(line, a);
    long_one = long_one || range[0] < -longest_line * line.cells[a] || range[1] > longest_line * line.cells[a];
  }
  line.length = std::sqrt(square);
  if (!(line.length > 0) || (line.course[0] == 0 && line.course[1] == 0 && line.course[2] == 0))
    throw Error(Kind::usage, "a line without length: both ends are the same point");
  if (long_one) throw Error(Kind::usage, "an end of the line is more than 16 times the domain away");
  line.in_region = {{0, 1}};
  if (region) line.in_region = shares_in_region(header, line, *region);
  return line;
}

std::vector<mesh::Box> boxes_of_line(const mesh::Header& header, const Line& line, int pieces) {
  const double unit = header.hi[0] - header.lo[0];
  const auto moving = std::count_if(line.course.begin(), line.course.end(), [](double d) { return d != 0; });
  // Along an axis one box holds little but the line.
  if (moving == 1) pieces = 1;
  constexpr double margin = 1e-12;
  std::vector<mesh::Box> boxes;
  for (const Share& share : line.in_region)
    for (int p = 0; p < pieces; ++p) {
      mesh::Box box;
      for (std::size_t a = 0; a < static_cast<std::size_t>(line.dim); ++a) {
        const auto at = [&](int piece) {
          const double t = share[0] + (share[1] - share[0]) * piece / pieces;
          return (line.from[a] + t * (line.to[a] - line.from[a]) - header.lo[a]) / unit;
        };
        box.lo[a] = std::min(at(p), at(p + 1)) - margin;
        box.hi[a] = std::max(at(p), at(p + 1)) + margin;
        if (line.course[a] != 0) continue;
        const auto stretch = stretch_at(header, a, line.from[a]);
        box.lo[a] = stretch[0];
        box.hi[a] = stretch[1];
      }
      boxes.push_back(box);
    }
  return boxes;
}

Chords chords_of(const mesh::Part& part, const mesh::Header& header, const Line& line,
                 const std::vector<std::string>& fields, int max_level) {
  const mesh::Octree& tree = mesh::octree_of(part);
  Chords found;
  std::vector<std::size_t> places;  // of the chords' values
  const auto& n = tree.block;
  const auto corner = [&](const Point3& move, double edge, const mesh::Coordinate& at, const mesh::Index3& cell) {
    Point3 lo = move;
    for (std::size_t a = 0; a < 3; ++a)
      lo[a] += (static_cast<double>(at[a]) * static_cast<double>(n[a]) + static_cast<double>(cell[a])) * edge;
    return lo;
  };
  const auto take_cell = [&](const Point3& lo, int level, std::size_t value) {
    const double edge = std::ldexp(1.0, -level);
    const Share share = share_in_box(line, lo, {edge, edge, edge});
    for (const Share& wanted : line.in_region) {
      const double entry = std::max(share[0], wanted[0]), exit = std::min(share[1], wanted[1]);
      if (!(entry < exit)) continue;
      found.chords.push_back({entry * line.length, exit * line.length, mesh::code_level(header, level)});
      places.push_back(value);
    }
  };
  for (const Point3& move : moves_of_line(line, {0, 0, 0}, line.cells)) {
    const auto near = [&](int level, const mesh::Coordinate& at) {
      const double edge = std::ldexp(1.0, -level);
      const Share share = share_in_box(
          line, corner(move, edge, at, {0, 0, 0}),
          {edge * static_cast<double>(n[0]), edge * static_cast<double>(n[1]), edge * static_cast<double>(n[2])});
      return share[0] < share[1];
    };
    descend(tree, header, max_level, near, [&](int level, const mesh::Coordinate& at, std::size_t value) {
      for (std::int64_t z = 0; z < n[2]; ++z)
        for (std::int64_t y = 0; y < n[1]; ++y)
          for (std::int64_t x = 0; x < n[0]; ++x)
            take_cell(corner(move, std::ldexp(1.0, -level), at, {x, y, z}), level, value++);
    });
  }
  found.values.resize(places.size() * fields.size());
  for (std::size_t f = 0; f < fields.size(); ++f)
    mesh::visit_values(cell_field(part, fields[f]), [&](auto values) {
      for (std::size_t c = 0; c < places.size(); ++c)
        found.values[c * fields.size() + f] = static_cast<double>(values[places[c]]);
    });
  return found;
}

void add(Chords& to, Chords&& other) {
  to.chords.insert(to.chords.end(), other.chords.begin(), other.chords.end());
  to.values.insert(to.values.end(), other.values.begin(), other.values.end());
}

void sort_chords(Chords& chords) {
  const std::size_t count = chords.chords.size();
  const std::size_t fields = count == 0 ? 0 : chords.values.size() / count;
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return chords.chords[a].entry < chords.chords[b].entry; });
  Chords sorted;
  for (const std::size_t c : order) {
    sorted.chords.push_back(chords.chords[c]);
    const auto from = chords.values.begin() + static_cast<std::ptrdiff_t>(c * fields);
    sorted.values.insert(sorted.values.end(), from, from + static_cast<std::ptrdiff_t>(fields));
  }
  chords = std::move(sorted);
}

}  // namespace octavo::analysis
