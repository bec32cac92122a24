#include "octavo/verbs/export/cube.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "octavo/base/error.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/solids/refuse.hpp"
#include "octavo/step/read_box.hpp"
#include "octavo/verbs/scope.hpp"

namespace octavo::verbs {
namespace {

using base::Error;
using base::Kind;

/// Cells of a level in the units of regions.
struct LevelGrid {
  mesh::Domain domain;
  mesh::Point3 size{};  ///< of a cell

  LevelGrid(const mesh::Header& header, int level)
      : domain(mesh::domain_of(header)), size(mesh::cell_size(header, mesh::level_index(header, level))) {
    for (double& length : size) length /= header.hi[0] - header.lo[0];
  }
  bool centre_inside(const mesh::Region& region, const mesh::Index3& at) const {
    mesh::Point3 centre{};
    for (std::size_t axis = 0; axis < 3; ++axis) centre[axis] = (static_cast<double>(at[axis]) + 0.5) * size[axis];
    return mesh::contains(region, domain, centre);
  }
};

/// The slabs of cells across each axis that share something with the region: the first, and one past the last.
mesh::IndexBox slabs_touching(const mesh::Region& region, const LevelGrid& cells, const mesh::IndexBox& all) {
  mesh::IndexBox found = all;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(cells.domain.dim); ++axis) {
    const auto touched = [&](std::int64_t i) {
      mesh::Point3 lo{0, 0, 0}, hi = cells.domain.extent;
      lo[axis] = static_cast<double>(i) * cells.size[axis];
      hi[axis] = std::min(hi[axis], lo[axis] + cells.size[axis]);
      return mesh::touches(region, cells.domain, lo, hi);
    };
    while (found.lo[axis] < found.hi[axis] && !touched(found.lo[axis])) ++found.lo[axis];
    while (found.lo[axis] < found.hi[axis] && !touched(found.hi[axis] - 1)) --found.hi[axis];
  }
  return found;
}

/// The smallest box that holds the cells of `box` whose centre is in the region.
mesh::IndexBox around_centres(const mesh::Region& region, const LevelGrid& cells, const mesh::IndexBox& box) {
  mesh::IndexBox found{box.hi, box.lo};
  mesh::for_each_row(box, [&](const mesh::Index3& row, std::int64_t length) {
    std::int64_t first = 0, last = length;
    while (first < last && !cells.centre_inside(region, {row[0] + first, row[1], row[2]})) ++first;
    while (first < last && !cells.centre_inside(region, {row[0] + last - 1, row[1], row[2]})) --last;
    if (first == last) return;
    const mesh::Index3 lo{row[0] + first, row[1], row[2]}, hi{row[0] + last, row[1] + 1, row[2] + 1};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      found.lo[axis] = std::min(found.lo[axis], lo[axis]);
      found.hi[axis] = std::max(found.hi[axis], hi[axis]);
    }
  });
  return found;
}

/// A cube of more cells than any memory holds, so that nobody counts them.
void refuse_giant(const mesh::IndexBox& box, int level, const std::string& path) {
  double cells = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) cells *= static_cast<double>(box.hi[axis] - box.lo[axis]);
  if (cells > 1e12)
    throw Error(Kind::no_space,
                "a cube of the cells of level " + std::to_string(level) + " has more than 10^12 of them")
        .at(path)
        .hint("a coarser level (--level), or a smaller region (--roi)");
}

}  // namespace

Cube cube_over(const mesh::Dataset& dataset, const std::optional<mesh::Region>& region, int level) {
  const mesh::Header& header = dataset.header;
  mesh::refuse_solids(dataset, "a cube is of cells of an adaptive mesh",
                      "octavo map and octavo slice -o F.npy bring values to a grid of pixels");
  if (dataset.unstructured)
    throw Error(Kind::unsupported, "a mesh of triangles has no cube of cells")
        .at(dataset.path)
        .hint("octavo map shows it from above");
  require_level(dataset, level);
  Cube cube{level, {{0, 0, 0}, step::cells_of_level(header, level)}, {}, {}};
  if (region) {
    const LevelGrid cells(header, level);
    cube.box = slabs_touching(*region, cells, cube.box);
    refuse_giant(cube.box, level, dataset.path);
    cube.box = around_centres(*region, cells, cube.box);
    if (cube.box.lo[0] >= cube.box.hi[0])
      throw Error(Kind::usage, "no centre of a cell of level " + std::to_string(level) +
                                   " is in the region: " + mesh::to_string(*region, header.dim))
          .at(dataset.path)
          .hint("a finer level has more");
  }
  refuse_giant(cube.box, level, dataset.path);
  cube.cell = mesh::cell_size(header, mesh::level_index(header, level));
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis)
    cube.corner[axis] = header.lo[axis] + static_cast<double>(cube.box.lo[axis]) * cube.cell[axis];
  return cube;
}

void read_cube(const mesh::Dataset& whole, const Cube& cube, const std::optional<mesh::Region>& region,
               const std::string& field, const std::string& where, const step::Definitions& definitions,
               std::span<double> values) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::fill(values.begin(), values.end(), nan);
  const mesh::Dataset dataset = within_domains(whole, region);
  step::Definitions own = definitions;
  mesh::Dataset known = step::with_fields(dataset, {field}, own, whole);
  const mesh::FieldInfo& info = known.header.fields[mesh::select_fields(known.header, std::vector{field}).front()];
  std::string name = field;
  const bool real = info.type == mesh::ScalarType::float64 || info.type == mesh::ScalarType::float32;
  if (!where.empty() || !real) {  // a formula's result is real
    name = step::define_where(dataset, field, where.empty() ? "1" : where, "nan", own);
    known = step::with_fields(dataset, {name}, own, whole);
  }
  step::BoxMemory array;
  array.values = values.data();
  array.components = 1;
  step::read_box(known, name, cube.level, cube.box, array);
  if (!region) return;
  const LevelGrid cells(dataset.header, cube.level);
  std::size_t i = 0;
  mesh::for_each_row(cube.box, [&](const mesh::Index3& row, std::int64_t length) {
    for (std::int64_t x = 0; x < length; ++x, ++i)
      if (!cells.centre_inside(*region, {row[0] + x, row[1], row[2]})) values[i] = nan;
  });
}

}  // namespace octavo::verbs
