#include "octavo/formats/flash/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

namespace octavo::formats::flash {

using base::Error;
using base::Kind;

namespace {

constexpr std::array<const char*, 3> axis_names{"x", "y", "z"};
constexpr double tolerance = 1e-3;  // of a block's size: positions in plotfiles are floats

std::int64_t required(const OpenedFlash& source, const Attributes& attributes, const std::string& name,
                      std::int64_t most) {
  const auto value = integer(attributes, "integer scalars/" + name);
  if (!value) throw error_in(source, "integer scalars", "\"" + name + "\" is missing");
  if (*value < 1 || *value > most)
    throw error_in(source, "integer scalars",
                   name + ": expected 1 to " + std::to_string(most) + ", found " + std::to_string(*value));
  return *value;
}

TreeFrame frame_of(const OpenedFlash& source, const Attributes& attributes) {
  TreeFrame frame;
  frame.dim = static_cast<int>(required(source, attributes, "dimensionality", 3));
  const std::array<const char*, 3> names{"nxb", "nyb", "nzb"};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool used = axis < static_cast<std::size_t>(frame.dim);
    frame.block[axis] = required(source, attributes, names[axis], used ? 65536 : 1);
  }
  return frame;
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string block_name(std::size_t row) { return "block " + std::to_string(row + 1); }

double bound(const TreeArrays& arrays, std::size_t row, std::size_t axis, std::size_t side) {
  return arrays.bounding_box[(row * 3 + axis) * 2 + side];
}

/// The root blocks fill the domain. If their bounds were rounded to float and the run's xmin ... agree with them, we
/// take those.
void find_domain(const OpenedFlash& source, const Attributes& attributes, const TreeArrays& arrays, bool single,
                 TreeFrame& frame) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(frame.dim); ++axis) {
    double lo = std::numeric_limits<double>::infinity(), hi = -lo, size = 0;
    for (std::size_t row = 0; row < arrays.refine_level.size(); ++row) {
      if (arrays.refine_level[row] != 1) continue;
      lo = std::min(lo, bound(arrays, row, axis, 0));
      hi = std::max(hi, bound(arrays, row, axis, 1));
      size = bound(arrays, row, axis, 1) - bound(arrays, row, axis, 0);
    }
    const double count = (hi - lo) / size;
    if (!(size > 0) || !std::isfinite(lo) || !std::isfinite(hi) || !(count < 2e9))
      throw error_in(source, "bounding box",
                     std::string("the blocks of level 1 fill no domain along ") + axis_names[axis] + ": found " +
                         number(lo) + " to " + number(hi));
    frame.roots[axis] = std::max<std::int64_t>(1, std::llround(count));
    const std::string parameter = std::string("real runtime parameters/") + axis_names[axis];
    const double min = real(attributes, parameter + "min").value_or(lo);
    const double max = real(attributes, parameter + "max").value_or(hi);
    const auto rounded = [](double value) { return static_cast<double>(static_cast<float>(value)); };
    frame.lo[axis] = single && rounded(min) == lo ? min : lo;
    frame.hi[axis] = single && rounded(max) == hi ? max : hi;
  }
}

/// Runtime parameters say which sides are periodic. If the file has none, we look at the low neighbours of the root
/// blocks: a block (periodic) or a boundary (negative).
void find_periodic(const Attributes& attributes, const TreeArrays& arrays, TreeFrame& frame) {
  const std::size_t width = gid_width(frame.dim);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(frame.dim); ++axis) {
    const std::string side = std::string("string runtime parameters/") + axis_names[axis];
    const auto low = text(attributes, side + "l_boundary_type"), high = text(attributes, side + "r_boundary_type");
    frame.periodic[axis] = low == "periodic" && high == "periodic";
    if (low || high || arrays.gid.empty()) continue;
    for (std::size_t row = 0; row < arrays.refine_level.size(); ++row)
      if (arrays.refine_level[row] == 1 && bound(arrays, row, axis, 0) == frame.lo[axis])
        frame.periodic[axis] = frame.periodic[axis] || arrays.gid[row * width + 2 * axis] > 0;
  }
}

void check_root_count(const OpenedFlash& source, const TreeArrays& arrays, const TreeFrame& frame) {
  const auto found = std::count(arrays.refine_level.begin(), arrays.refine_level.end(), 1);
  const double expected =
      static_cast<double>(frame.roots[0]) * static_cast<double>(frame.roots[1]) * static_cast<double>(frame.roots[2]);
  if (static_cast<double>(found) != expected)
    throw Error(Kind::unsupported, "expected " + number(expected) + " blocks of level 1 to fill the domain, found " +
                                       std::to_string(found) + ": domains with holes cannot be handled")
        .at(source.file.path().string() + ", data set \"refine level\"");
}

/// Finds a block's place from its box. Checks both ends of the box against the grid of its level.
Block place(const OpenedFlash& source, const TreeArrays& arrays, const TreeFrame& frame, std::size_t row) {
  const std::int32_t level = arrays.refine_level[row];
  if (level < 1 || level > 31)
    throw error_in(source, "refine level",
                   block_name(row) + ": expected a level of 1 to 31, found " + std::to_string(level));
  Block block{level - 1, {}, static_cast<std::int64_t>(row)};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(frame.dim); ++axis) {
    const double cells = static_cast<double>(frame.roots[axis]) * std::ldexp(1.0, block.level);
    const double size = (frame.hi[axis] - frame.lo[axis]) / cells;
    const double at = std::floor((bound(arrays, row, axis, 0) - frame.lo[axis]) / size + 0.5);
    if (!(at >= 0 && at < cells && at < 4e9))
      throw error_in(source, "bounding box",
                     block_name(row) + ": outside of the domain along " + axis_names[axis] +
                         ", found a lower bound of " + number(bound(arrays, row, axis, 0)));
    // The spacing of floats in a domain that is far from the origin.
    const double slack = tolerance * size + 4e-7 * std::max(std::abs(frame.lo[axis]), std::abs(frame.hi[axis]));
    for (std::size_t side = 0; side < 2; ++side) {
      const double expected = frame.lo[axis] + (at + static_cast<double>(side)) * size;
      if (!(std::abs(bound(arrays, row, axis, side) - expected) <= std::min(slack, 0.25 * size)))
        throw error_in(source, "bounding box",
                       block_name(row) + ": expected " + number(expected) + " along " + axis_names[axis] +
                           " for a block of level " + std::to_string(block.level + 1) + ", found " +
                           number(bound(arrays, row, axis, side)));
    }
    block.at[axis] = static_cast<std::uint32_t>(at);
  }
  return block;
}

std::vector<Block> place_all(const OpenedFlash& source, const TreeArrays& arrays, const TreeFrame& frame) {
  std::vector<Block> blocks;
  for (std::size_t row = 0; row < arrays.refine_level.size(); ++row)
    blocks.push_back(place(source, arrays, frame, row));
  return blocks;
}

void check_extents(const OpenedFlash& source, const TreeArrays& arrays, const TreeFrame& frame) {
  for (std::size_t row = 0; row < arrays.refine_level.size(); ++row)
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(frame.dim); ++axis) {
      const double lo = bound(arrays, row, axis, 0), hi = bound(arrays, row, axis, 1), size = hi - lo;
      const double slack = std::min(tolerance * size + 4e-7 * std::max(std::abs(lo), std::abs(hi)), 0.25 * size);
      const double found_size = arrays.block_size[row * 3 + axis], found = arrays.coordinates[row * 3 + axis];
      if (!(std::abs(found_size - size) <= slack))
        throw error_in(source, "block size",
                       block_name(row) + ": expected " + number(size) + " along " + axis_names[axis] +
                           " from its bounding box, found " + number(found_size));
      if (!(std::abs(found - 0.5 * (lo + hi)) <= slack))
        throw error_in(source, "coordinates",
                       block_name(row) + ": expected " + number(0.5 * (lo + hi)) + " along " + axis_names[axis] +
                           " from its bounding box, found " + number(found));
    }
}

/// Describes the first entry that differs from the derived one. All kinds of boundary count as equal.
std::optional<std::string> difference(const BlockTree& tree, const std::vector<std::int32_t>& found,
                                      const std::vector<std::int32_t>& expected, std::size_t width) {
  const auto boundary = [](std::int32_t id) { return id <= -20 && id >= -50; };
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i] != expected[i] && !(boundary(found[i]) && boundary(expected[i])))
      return block_name(static_cast<std::size_t>(tree.blocks[i / width].row)) + ", entry " +
             std::to_string(i % width + 1) + ": expected " + std::to_string(expected[i]) + ", found " +
             std::to_string(found[i]);
  return {};
}

void require_same(const OpenedFlash& source, const std::string& name, const BlockTree& tree,
                  const std::vector<std::int32_t>& found, const std::vector<std::int32_t>& expected,
                  std::size_t width) {
  if (const auto different = difference(tree, found, expected, width)) throw error_in(source, name, *different);
}

bool all_unset(const std::vector<std::int32_t>& values) {
  return std::all_of(values.begin(), values.end(), [](std::int32_t value) { return value == -1; });
}

/// AMReX builds write only leaves (1) and parents (2).
void check_node_types(const OpenedFlash& source, CheckedTree& checked, const TreeArrays& derived, bool lenient) {
  std::vector<std::int32_t> found = checked.arrays.node_type;
  if (lenient)
    for (std::size_t i = 0; i < found.size(); ++i)
      if (found[i] == 2 && derived.node_type[i] == 3) found[i] = 3;
  require_same(source, "node type", checked.tree, found, derived.node_type, 1);
}

void check_ids(const OpenedFlash& source, CheckedTree& checked, const TreeArrays& arrays, const TreeArrays& derived) {
  const std::size_t width = gid_width(checked.frame.dim), around = gsurr_width(checked.frame.dim);
  const BlockTree& tree = checked.tree;
  const bool ordered = in_order(tree);
  const auto wrong = difference(tree, checked.arrays.gid, derived.gid, width);
  if (wrong && !ordered && !difference(tree, reordered(arrays, tree, false).gid, derived.gid, width)) {
    checked.arrays = reordered(arrays, tree, false);
    checked.notes.push_back("the blocks are not in Morton order, but the ids in gid count so: taken in that order");
  } else if (wrong) {
    throw error_in(source, "gid", *wrong);
  } else if (!ordered) {
    checked.notes.push_back("the blocks are not in Morton order: taken in that order");
  }
  require_same(source, "gsurr_blks", tree, checked.arrays.gsurr_blks, derived.gsurr_blks, around);
}

/// If gid is -1 everywhere, an AMReX build wrote the file, or somebody stripped it. We take the tree from the boxes and
/// derive the missing arrays.
void repair(CheckedTree& checked, const TreeArrays& derived) {
  checked.arrays.gid.clear();
  checked.arrays.gsurr_blks.clear();
  checked.arrays.which_child.clear();
  checked.arrays.node_type = derived.node_type;
  checked.notes.push_back(
      std::string("gid is unset, as AMReX builds write it: the tree is taken from the bounding boxes") +
      (in_order(checked.tree) ? "" : ", and the blocks in Morton order"));
}

void check_arrays(const OpenedFlash& source, CheckedTree& checked, const TreeArrays& arrays) {
  const Boundary any{-32, -32, -32, -32, -32, -32};
  const TreeArrays derived = derive(checked.tree, checked.frame, any, checked.single);
  const bool unset = all_unset(arrays.gid);
  checked.arrays = reordered(arrays, checked.tree, true);
  check_node_types(source, checked, derived, unset);
  if (unset) return repair(checked, derived);
  check_ids(source, checked, arrays, derived);
  require_same(source, "which child", checked.tree, checked.arrays.which_child, derived.which_child, 1);
}

void check_block_count(const OpenedFlash& source, const Attributes& attributes, std::size_t found) {
  const auto expected = integer(attributes, "integer scalars/globalnumblocks");
  if (!expected || *expected == static_cast<std::int64_t>(found)) return;
  Error error =
      error_in(source, "refine level",
               "expected globalnumblocks = " + std::to_string(*expected) + " blocks, found " + std::to_string(found));
  const auto pieces = integer(attributes, "integer runtime parameters/outputsplitnum");
  if (pieces.value_or(1) > 1)
    error.hint("outputSplitNum is " + std::to_string(*pieces) + ": one piece of split output");
  throw error;
}

}  // namespace

CheckedTree read_tree(const OpenedFlash& source, const Attributes& attributes) {
  CheckedTree checked;
  checked.frame = frame_of(source, attributes);
  const TreeArrays arrays = read_tree_arrays(source, checked.frame.dim);
  checked.single = set(source, "bounding box").type.bytes == 4;
  check_block_count(source, attributes, arrays.refine_level.size());
  find_domain(source, attributes, arrays, checked.single, checked.frame);
  check_root_count(source, arrays, checked.frame);
  find_periodic(attributes, arrays, checked.frame);
  check_extents(source, arrays, checked.frame);
  const std::vector<Block> rows = place_all(source, arrays, checked.frame);
  try {
    checked.tree = make_block_tree(checked.frame.dim, checked.frame.roots, checked.frame.periodic, rows);
  } catch (Error& error) {
    throw std::move(error.at(source.file.path().string() + ", data sets \"refine level\" and \"bounding box\""));
  }
  check_arrays(source, checked, arrays);
  return checked;
}

}  // namespace octavo::formats::flash
