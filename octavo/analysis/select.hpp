#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "octavo/mesh/dataset.hpp"

/// Computations on one part at a time; partial results of parts add up (reduce.hpp). No files, no threads.
namespace octavo::analysis {

/// Which cells take part: the owned leaves; with `max_level`, the owned leaves down to it and the owned refined cells
/// on it, which carry the value of the cells below. With a region, those of them whose centre is inside. On trees with
/// blocks every cell of a block is a cell.
struct Selection {
  std::optional<mesh::Region> region{};
  int max_level = std::numeric_limits<int>::max();  ///< the code's own number
  std::string where{};  ///< a field of the part: only cells where it is neither 0 nor NaN; empty: all
  bool clip = false;    ///< of a region that is a box: all cells that share volume with it
};

/// Some selected cells of one level, in the tree's order. `positions[k]` is the cell's integer position on its level,
/// in units of mesh::cell_size(header, level) from the domain's lower corner (level l has `roots << l` times `block`
/// cells along an axis); `values[k]` the cell's place in an array over all cells of the part, levels one after another:
/// the index of a field's value where it has one component.
struct Cells {
  int level = 0;  ///< index from 0
  std::span<const mesh::Coordinate> positions;
  std::span<const std::size_t> values;
  std::span<const double> shares{};  ///< of each cell's volume, where the selection clips cells; else none: all of it
};

/// Whether the centres of cells of one level are in a region: every computation asks in this one way. Cells come in the
/// tree's order, so it remembers how the region meets the last group of 8 x 8 x 8. For one thread.
class CentresWithin {
 public:
  /// @pre the region outlives it
  CentresWithin(const mesh::Header& header, const mesh::Region& region, int level);
  /// By the cell's integer position, as in Cells.
  bool operator()(const mesh::Coordinate& at) const {
    const mesh::Coordinate group{at[0] >> group_bits, at[1] >> group_bits, at[2] >> group_bits};
    if (grouped_ && group != group_) look_at(group);
    if (overlap_ != mesh::Overlap::some) return overlap_ == mesh::Overlap::all;
    return mesh::contains(*region_, domain_,
                          {(at[0] + 0.5) * size_[0], (at[1] + 0.5) * size_[1], (at[2] + 0.5) * size_[2]});
  }

 private:
  static constexpr int group_bits = 3;
  void look_at(const mesh::Coordinate& group) const;

  const mesh::Region* region_;
  mesh::Domain domain_;
  mesh::Point3 size_;
  bool grouped_ = true;  ///< a group is no wider than the domain
  mutable mesh::Coordinate group_{0xFFFFFFFFU, 0xFFFFFFFFU, 0xFFFFFFFFU};
  mutable mesh::Overlap overlap_ = mesh::Overlap::some;
};

/// The share of the volume of cells of one level that is in a box, its images along periodic axes included; exactly 0
/// and 1 where it is so but for rounding.
class SharesOfBox {
 public:
  SharesOfBox(const mesh::Header& header, const mesh::Box& box, int level);
  /// By the cell's integer position, as in Cells.
  double operator()(const mesh::Coordinate& at) const;

 private:
  mesh::Box box_;
  mesh::Domain domain_;
  mesh::Point3 size_;
};

/// Calls visit for all selected cells of a part, coarse levels first, some ten thousand at a time; only non-empty.
/// Throws as cell_field does for the field `where`.
void for_each_selected(const mesh::Part& part, const mesh::Header& header, const Selection& selection,
                       const std::function<void(const Cells&)>& visit);
/// The same for a tree alone: `selection.where` must be empty, and `clip` not set.
void for_each_selected(const mesh::Octree& tree, const mesh::Header& header, const Selection& selection,
                       const std::function<void(const Cells&)>& visit);

/// The part's values of a field, one a cell. Throws Error(usage) where the part lacks the field; Error(unsupported)
/// where it has several components, ghost cells, or values elsewhere than one a cell; Error(corrupt) where its size
/// does not fit the tree.
const mesh::Field& cell_field(const mesh::Part& part, const std::string& name);

}  // namespace octavo::analysis
