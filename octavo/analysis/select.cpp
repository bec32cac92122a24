#include "octavo/analysis/select.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/mesh/sides.hpp"
#include "octavo/mesh/tree/merge.hpp"

namespace octavo::analysis {
namespace {

using base::Error;
using base::Kind;

constexpr std::size_t batch_cells = 32768;  // some 600 kB: stays in the second-level cache

/// Collects selected cells and hands them on when there are many.
class CellCollector {
 public:
  explicit CellCollector(const std::function<void(const Cells&)>& visit) : visit_(visit) {
    positions_.reserve(batch_cells);
    values_.reserve(batch_cells);
  }
  void add(const mesh::Coordinate& position, std::size_t value) {
    positions_.push_back(position);
    values_.push_back(value);
  }
  void flush_if_full(int level, std::size_t next) {
    if (positions_.size() + next > batch_cells) flush(level);
  }
  void flush(int level) {
    if (!positions_.empty()) visit_({level, positions_, values_});
    positions_.clear();
    values_.clear();
  }

 private:
  const std::function<void(const Cells&)>& visit_;
  std::vector<mesh::Coordinate> positions_;
  std::vector<std::size_t> values_;
};

/// Adds the cells of one tree cell's block, or the tree cell itself where there are no blocks.
void add_block(CellCollector& batch, const CentresWithin* within, const mesh::Index3& block, const mesh::Coordinate& at,
               std::size_t first_value) {
  const mesh::Coordinate n{static_cast<std::uint32_t>(block[0]), static_cast<std::uint32_t>(block[1]),
                           static_cast<std::uint32_t>(block[2])};
  std::size_t value = first_value;
  for (std::uint32_t z = 0; z < n[2]; ++z)
    for (std::uint32_t y = 0; y < n[1]; ++y)
      for (std::uint32_t x = 0; x < n[0]; ++x, ++value) {
        const mesh::Coordinate cell{at[0] * n[0] + x, at[1] * n[1] + y, at[2] * n[2] + z};
        if (!within || (*within)(cell)) batch.add(cell, value);
      }
}

void visit_level(const mesh::Octree& tree, int level, bool refined_too, std::size_t first_cell,
                 const std::vector<mesh::Coordinate>& coordinates, const CentresWithin* within, CellCollector& batch) {
  const auto& owned = tree.owned[static_cast<std::size_t>(level)].words();
  const auto& refined = tree.refined[static_cast<std::size_t>(level)].words();
  const std::size_t block = mesh::block_size(tree);
  for (std::size_t w = 0; w < owned.size(); ++w) {
    batch.flush_if_full(level, 64 * block);
    for (std::uint64_t rest = owned[w] & (refined_too ? ~std::uint64_t{0} : ~refined[w]); rest != 0; rest &= rest - 1) {
      const std::size_t i = w * 64 + static_cast<std::size_t>(std::countr_zero(rest));
      if (block != 1)
        add_block(batch, within, tree.block, coordinates[i], (first_cell + i) * block);
      else if (!within || (*within)(coordinates[i]))
        batch.add(coordinates[i], first_cell + i);
    }
  }
  batch.flush(level);
}

}  // namespace

CentresWithin::CentresWithin(const mesh::Header& header, const mesh::Region& region, int level)
    : region_(&region), domain_(mesh::domain_of(header)), size_(mesh::cell_size(header, level)) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    size_[axis] /= header.hi[0] - header.lo[0];
    if (static_cast<int>(axis) < header.dim)
      grouped_ = grouped_ && size_[axis] * (1 << group_bits) <= domain_.extent[axis];
  }
}

void CentresWithin::look_at(const mesh::Coordinate& group) const {
  mesh::Point3 lo{}, hi{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto first = static_cast<double>(std::uint64_t{group[axis]} << group_bits);
    lo[axis] = first * size_[axis];
    hi[axis] = (first + (1 << group_bits)) * size_[axis];
  }
  group_ = group;
  overlap_ = mesh::meets(*region_, domain_, lo, hi);
}

void for_each_selected(const mesh::Octree& tree, const mesh::Header& header, const Selection& selection,
                       const std::function<void(const Cells&)>& visit) {
  const int last = mesh::num_levels(tree) - 1;
  CellCollector batch(visit);
  std::vector<mesh::Coordinate> coordinates = mesh::root_coordinates(tree);
  std::size_t first_cell = 0;
  for (int level = 0; level <= last; ++level) {
    const int code_level = mesh::code_level(header, level);
    if (code_level > selection.max_level) break;  // only where the coarsest level is
    std::optional<CentresWithin> within;
    if (selection.region) within.emplace(header, *selection.region, level);
    visit_level(tree, level, code_level == selection.max_level, first_cell, coordinates, within ? &*within : nullptr,
                batch);
    if (level == last || code_level == selection.max_level) break;
    first_cell += mesh::num_cells(tree, level);
    coordinates = mesh::child_coordinates(tree, level, coordinates);
  }
}

SharesOfBox::SharesOfBox(const mesh::Header& header, const mesh::Box& box, int level)
    : box_(box), domain_(mesh::domain_of(header)), size_(mesh::cell_size(header, level)) {
  for (double& size : size_) size /= header.hi[0] - header.lo[0];
}

double SharesOfBox::operator()(const mesh::Coordinate& at) const {
  constexpr double rounding = 1e-12;  // nearer to 0 or 1 a share is none or all
  double share = 1;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(domain_.dim); ++axis) {
    const double lo = at[axis] * size_[axis], hi = (at[axis] + 1.0) * size_[axis], extent = domain_.extent[axis];
    const bool wraps = domain_.periodic[axis];
    const double first = wraps ? std::floor((box_.lo[axis] - hi) / extent) : 0;
    const double last = wraps ? std::ceil((box_.hi[axis] - lo) / extent) : 0;
    double length = 0;
    // All images of the cell that may meet the box.
    for (double k = first; k <= last && length < hi - lo; ++k)
      length += std::max(0.0, std::min(hi + k * extent, box_.hi[axis]) - std::max(lo + k * extent, box_.lo[axis]));
    const double along = std::min(1.0, length / (hi - lo));
    share *= along < rounding ? 0 : along > 1 - rounding ? 1 : along;
  }
  return share;
}

namespace {

/// Only cells that share volume with the box, with their shares.
std::function<void(const Cells&)> visit_clipped(const mesh::Header& header, const mesh::Box& box,
                                                const std::function<void(const Cells&)>& visit) {
  return [&header, box, &visit](const Cells& cells) {
    const SharesOfBox share_of(header, box, cells.level);
    std::vector<mesh::Coordinate> positions;
    std::vector<std::size_t> values;
    std::vector<double> shares;
    for (std::size_t k = 0; k < cells.values.size(); ++k) {
      const double share = share_of(cells.positions[k]);
      if (share == 0) continue;
      positions.push_back(cells.positions[k]);
      values.push_back(cells.values[k]);
      shares.push_back(share);
    }
    if (!values.empty()) visit({cells.level, positions, values, shares});
  };
}

}  // namespace

void for_each_selected(const mesh::Part& part, const mesh::Header& header, const Selection& selection,
                       const std::function<void(const Cells&)>& visit) {
  if (selection.clip && selection.region) {
    const Selection whole{{}, selection.max_level, selection.where};
    return for_each_selected(part, header, whole, visit_clipped(header, std::get<mesh::Box>(*selection.region), visit));
  }
  const mesh::Octree& tree = mesh::octree_of(part);
  if (selection.where.empty()) return for_each_selected(tree, header, selection, visit);
  const std::vector<double> holds = mesh::to_doubles(cell_field(part, selection.where));
  std::vector<mesh::Coordinate> positions;
  std::vector<std::size_t> values;
  for_each_selected(tree, header, selection, [&](const Cells& cells) {
    positions.clear();
    values.clear();
    for (std::size_t k = 0; k < cells.values.size(); ++k) {
      const double condition = holds[cells.values[k]];
      if (condition == 0 || std::isnan(condition)) continue;
      positions.push_back(cells.positions[k]);
      values.push_back(cells.values[k]);
    }
    if (!values.empty()) visit({cells.level, positions, values});
  });
}

const mesh::Field& cell_field(const mesh::Part& part, const std::string& name) {
  const auto found = std::find_if(part.fields.begin(), part.fields.end(),
                                  [&](const mesh::Field& field) { return field.info.name == name; });
  if (found == part.fields.end())
    throw Error(Kind::usage, "the part lacks the field \"" + name + "\"").at("part " + std::to_string(part.index));
  const mesh::FieldInfo& info = found->info;
  const mesh::Octree& tree = mesh::octree_of(part);
  // On nodes one corner of each cell is a value a cell, too.
  const bool other = info.centring == mesh::Centring::particle ||
                     (info.centring == mesh::Centring::node && !mesh::side_of(info, tree.dim));
  if (info.components != 1 || info.ghost != 0 || other)
    throw Error(Kind::unsupported, "a field must have one value a cell, without ghost cells, to be analysed")
        .at("field " + name);
  const std::size_t expected = mesh::num_cells(tree) * mesh::block_size(tree);
  if (found->size() != expected)
    throw Error(Kind::corrupt, "values of a field: expected " + std::to_string(expected) + ", one a cell, found " +
                                   std::to_string(found->size()))
        .at("part " + std::to_string(part.index) + ", field " + name);
  return *found;
}

}  // namespace octavo::analysis
