#include "octavo/formats/flash/tree_arrays.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

namespace octavo::formats::flash {

using base::Error;
using base::Kind;
using file::hdf5::Class;
using Position = std::array<std::int64_t, 3>;

namespace {

constexpr std::int32_t reflecting = -31, outflow = -32;  // FLASH's constants.h

std::int32_t smallest_kind(const Boundary& boundary, unsigned faces) {
  std::int32_t kind = 0;
  for (std::size_t face = 0; face < 6; ++face)
    if ((faces >> face & 1) != 0) kind = std::min(kind, boundary[face]);
  return kind;
}

/// The id at a place beside a block: the id of a block, -1 if there is none at this level, or a kind of boundary.
std::int32_t id_at(const BlockTree& tree, const Boundary& boundary, int level, const Position& at) {
  const unsigned faces = outside(tree, level, at);
  if (faces != 0) return smallest_kind(boundary, faces);
  const std::int64_t number = find(tree, level, at);
  return number == no_block ? -1 : static_cast<std::int32_t>(number + 1);
}

Position beside(const Block& block, std::size_t axis, std::int64_t step) {
  Position at{block.at[0], block.at[1], block.at[2]};
  at[axis] += step;
  return at;
}

std::int64_t child_number(const BlockTree& tree, const Block& block, unsigned child) {
  return find(tree, block.level + 1,
              {2 * std::int64_t{block.at[0]} + (child & 1), 2 * std::int64_t{block.at[1]} + (child >> 1 & 1),
               2 * std::int64_t{block.at[2]} + (child >> 2 & 1)});
}

void derive_gid(const BlockTree& tree, const Boundary& boundary, std::int64_t number, std::vector<std::int32_t>& gid) {
  const Block& block = tree.blocks[static_cast<std::size_t>(number)];
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis)
    for (std::int64_t step : {-1, 1}) gid.push_back(id_at(tree, boundary, block.level, beside(block, axis, step)));
  const std::int64_t parent = tree.parent[static_cast<std::size_t>(number)];
  gid.push_back(parent == no_block ? -1 : static_cast<std::int32_t>(parent + 1));
  for (unsigned child = 0; child < (1U << tree.dim); ++child)
    gid.push_back(is_leaf(tree, number) ? -1 : static_cast<std::int32_t>(child_number(tree, block, child) + 1));
}

void derive_gsurr(const BlockTree& tree, const Boundary& boundary, const std::vector<std::int32_t>& types,
                  const Block& block, std::vector<std::int32_t>& gsurr) {
  const std::int64_t k2 = tree.dim > 1 ? 1 : 0, k3 = tree.dim > 2 ? 1 : 0;
  for (std::int64_t k = -k3; k <= k3; ++k)
    for (std::int64_t j = -k2; j <= k2; ++j)
      for (std::int64_t i = -1; i <= 1; ++i) {
        const std::int32_t id = id_at(tree, boundary, block.level, {block.at[0] + i, block.at[1] + j, block.at[2] + k});
        gsurr.push_back(id);
        gsurr.push_back(id < 1 ? -1 : types[static_cast<std::size_t>(id - 1)]);
      }
}

/// Corner, size and centre along an axis. Along axes beyond dim FLASH writes leftovers of its arrays: bounds of the
/// domain, a size that halves with each level, the root's centre, and -1 below the root.
struct AxisExtent {
  double lo, hi, size, centre;
};
AxisExtent extent_of(const TreeFrame& frame, const Block& block, std::size_t axis) {
  const double whole = frame.hi[axis] - frame.lo[axis];
  const double fraction = 1.0 / static_cast<double>(std::int64_t{1} << block.level);
  const double size = whole / static_cast<double>(frame.roots[axis]) * fraction;
  if (axis >= static_cast<std::size_t>(frame.dim))
    return {frame.lo[axis], frame.hi[axis], size, block.level == 0 ? frame.lo[axis] + 0.5 * whole : -1};
  const auto at = static_cast<double>(block.at[axis]);
  return {frame.lo[axis] + at * size, frame.lo[axis] + (at + 1) * size, size, frame.lo[axis] + (at + 0.5) * size};
}

void derive_extents(const TreeFrame& frame, const Block& block, TreeArrays& arrays) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const AxisExtent extent = extent_of(frame, block, axis);
    arrays.coordinates.push_back(extent.centre);
    arrays.block_size.push_back(extent.size);
    arrays.bounding_box.push_back(extent.lo);
    arrays.bounding_box.push_back(extent.hi);
  }
}

void round_to_single(std::vector<double>& values) {
  for (double& value : values) value = static_cast<double>(static_cast<float>(value));
}

std::int32_t which_child(const BlockTree& tree, std::size_t number) {
  if (tree.parent[number] == no_block) return -1;
  const mesh::Coordinate& at = tree.blocks[number].at;
  return static_cast<std::int32_t>(1 + (at[0] & 1) + 2 * (at[1] & 1) + 4 * (at[2] & 1));
}

template <class T>
std::vector<T> read_array(const OpenedFlash& source, const std::string& name, const std::vector<std::uint64_t>& shape,
                          Class kind) {
  return file::hdf5::read_all<T>(source.file, set(source, name, shape, kind));
}

std::vector<std::int32_t> read_if_there(const OpenedFlash& source, const std::string& name,
                                        const std::vector<std::uint64_t>& shape) {
  return has(source, name) ? read_array<std::int32_t>(source, name, shape, Class::integer)
                           : std::vector<std::int32_t>{};
}

/// Old files have no entries for the axes beyond dim. These get the values that new files have.
std::vector<double> read_extents(const OpenedFlash& source, const std::string& name, std::uint64_t rows,
                                 std::uint64_t width, std::size_t per_axis, double spare) {
  std::vector<std::uint64_t> shape{rows, width};
  if (per_axis > 1) shape.push_back(per_axis);
  const auto found = read_array<double>(source, name, shape, Class::real);
  if (width == 3) return found;
  std::vector<double> wide;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < 3 * per_axis; ++i)
      wide.push_back(i < width * per_axis ? found[row * width * per_axis + i] : spare);
  return wide;
}

std::uint64_t geometry_width(const OpenedFlash& source, int dim) {
  const auto& info = set(source, "coordinates");
  const std::uint64_t width = info.shape.size() == 2 ? info.shape[1] : 0;
  if (width != 3 && width != static_cast<std::uint64_t>(dim))
    throw error_in(
        source, "coordinates",
        "expected 3 (or, in old files, " + std::to_string(dim) + ") numbers a block, found " + describe(info));
  return width;
}

template <class T>
std::vector<T> rows_in_order(const std::vector<T>& values, const BlockTree& tree) {
  const std::size_t width = tree.blocks.empty() ? 0 : values.size() / tree.blocks.size();
  std::vector<T> ordered;
  ordered.reserve(values.size());
  for (const Block& block : tree.blocks) {
    const auto first = values.begin() + block.row * static_cast<std::ptrdiff_t>(width);
    ordered.insert(ordered.end(), first, first + static_cast<std::ptrdiff_t>(width));
  }
  return ordered;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::equal(a.begin(), a.end(), b.begin(), [](T x, T y) {
                                    if constexpr (std::is_same_v<T, double>)
                                      return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
                                    else
                                      return x == y;
                                  }));
}

void keep(Attributes& attributes, const std::string& name, const std::vector<std::int32_t>& values,
          const std::vector<std::int32_t>& derived) {
  if (!values.empty() && !same_bits(values, derived))
    attributes["flash/" + name] = std::vector<std::int64_t>(values.begin(), values.end());
}

void keep(Attributes& attributes, const std::string& name, const std::vector<double>& values,
          const std::vector<double>& derived) {
  if (!values.empty() && !same_bits(values, derived)) attributes["flash/" + name] = values;
}

template <class T>
const std::vector<T>* kept(const Attributes& attributes, const std::string& name) {
  const auto found = attributes.find("flash/" + name);
  return found == attributes.end() ? nullptr : std::get_if<std::vector<T>>(&found->second);
}

void put_back(const Attributes& attributes, const std::string& name, std::vector<std::int32_t>& values) {
  const auto* stored = kept<std::int64_t>(attributes, name);
  if (stored == nullptr || stored->size() != values.size()) return;
  std::transform(stored->begin(), stored->end(), values.begin(),
                 [](std::int64_t value) { return static_cast<std::int32_t>(value); });
}

void put_back(const Attributes& attributes, const std::string& name, std::vector<double>& values) {
  const auto* stored = kept<double>(attributes, name);
  if (stored != nullptr && stored->size() == values.size()) values = *stored;
}

/// Finds the kind of each face, from any block that touches it.
Boundary boundary_of(const TreeArrays& arrays, const BlockTree& tree) {
  Boundary boundary{outflow, outflow, outflow, outflow, outflow, outflow};
  const std::size_t width = gid_width(tree.dim);
  // Backwards, so that the first block at a face decides, whatever others say.
  for (std::size_t i = arrays.gid.size() / width; i-- > 0;)
    for (std::size_t face = 0; face < 2 * static_cast<std::size_t>(tree.dim); ++face)
      if (arrays.gid[i * width + face] <= -20) boundary[face] = arrays.gid[i * width + face];
  return boundary;
}

/// Takes the kinds from a file's attributes, else from the runtime parameters that name the sides.
Boundary boundary_of(const Attributes& attributes) {
  Boundary boundary{outflow, outflow, outflow, outflow, outflow, outflow};
  constexpr std::array<const char*, 6> names{"xl", "xr", "yl", "yr", "zl", "zr"};
  for (std::size_t face = 0; face < 6; ++face)
    if (text(attributes, std::string("string runtime parameters/") + names[face] + "_boundary_type") == "reflecting")
      boundary[face] = reflecting;
  if (const auto* stored = kept<std::int64_t>(attributes, "boundary"))
    for (std::size_t face = 0; face < std::min<std::size_t>(6, stored->size()); ++face)
      if ((*stored)[face] <= -20 && (*stored)[face] >= -50) boundary[face] = static_cast<std::int32_t>((*stored)[face]);
  return boundary;
}

std::vector<std::int64_t> runs_of(const std::vector<std::int32_t>& values) {
  std::vector<std::int64_t> runs;
  for (std::int32_t value : values) {
    if (runs.empty() || runs[runs.size() - 2] != value) {
      runs.push_back(value);
      runs.push_back(0);
    }
    ++runs.back();
  }
  return runs;
}

void put_back_runs(const Attributes& attributes, std::vector<std::int32_t>& values) {
  const auto* runs = kept<std::int64_t>(attributes, "processor number");
  if (runs == nullptr || runs->size() % 2 != 0) return;
  std::vector<std::int32_t> all;
  for (std::size_t i = 0; i < runs->size(); i += 2) {
    const std::int64_t count = (*runs)[i + 1];
    if (count < 0 || count > static_cast<std::int64_t>(values.size() - all.size())) return;
    all.insert(all.end(), static_cast<std::size_t>(count), static_cast<std::int32_t>((*runs)[i]));
  }
  if (all.size() == values.size()) values = std::move(all);
}

std::vector<std::int64_t> root_order(const BlockTree& tree) {
  std::vector<std::int64_t> order;
  for (const Block& block : tree.blocks)
    if (block.level == 0) order.push_back((block.at[2] * tree.roots[1] + block.at[1]) * tree.roots[0] + block.at[0]);
  return order;
}

}  // namespace

TreeArrays derive(const BlockTree& tree, const TreeFrame& frame, const Boundary& boundary, bool single) {
  TreeArrays arrays;
  for (std::size_t i = 0; i < tree.blocks.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    arrays.refine_level.push_back(tree.blocks[i].level + 1);
    arrays.node_type.push_back(node_type(tree, number));
    arrays.which_child.push_back(which_child(tree, i));
    derive_gid(tree, boundary, number, arrays.gid);
    derive_extents(frame, tree.blocks[i], arrays);
  }
  for (const Block& block : tree.blocks) derive_gsurr(tree, boundary, arrays.node_type, block, arrays.gsurr_blks);
  arrays.bflags.assign(tree.blocks.size(), -1);
  arrays.processor.assign(tree.blocks.size(), 0);
  if (single)
    for (auto* values : {&arrays.coordinates, &arrays.block_size, &arrays.bounding_box}) round_to_single(*values);
  return arrays;
}

TreeArrays read_tree_arrays(const OpenedFlash& source, int dim) {
  const auto& levels = set(source, "refine level");
  if (levels.shape.size() != 1 || levels.shape[0] == 0 ||
      levels.shape[0] > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()))
    throw error_in(source, "refine level", "expected one number a block, found " + describe(levels));
  const std::uint64_t n = levels.shape[0], k2 = dim > 1 ? 3 : 1, k3 = dim > 2 ? 3 : 1;
  const std::uint64_t width = geometry_width(source, dim);
  TreeArrays arrays;
  arrays.refine_level = read_array<std::int32_t>(source, "refine level", {n}, Class::integer);
  arrays.node_type = read_array<std::int32_t>(source, "node type", {n}, Class::integer);
  arrays.coordinates = read_extents(source, "coordinates", n, width, 1, -1);
  arrays.block_size = read_extents(source, "block size", n, width, 1, 1);
  arrays.bounding_box = read_extents(source, "bounding box", n, width, 2, 0);
  arrays.gid = read_if_there(source, "gid", {n, gid_width(dim)});
  arrays.which_child = read_if_there(source, "which child", {n});
  arrays.processor = read_if_there(source, "processor number", {n});
  arrays.gsurr_blks = read_if_there(source, "gsurr_blks", {n, k3, k2, 3, 2});
  arrays.bflags = read_if_there(source, "bflags", {n, 1});
  return arrays;
}

TreeArrays reordered(const TreeArrays& arrays, const BlockTree& tree, bool ids_are_rows) {
  TreeArrays out;
  out.refine_level = rows_in_order(arrays.refine_level, tree);
  out.node_type = rows_in_order(arrays.node_type, tree);
  out.which_child = rows_in_order(arrays.which_child, tree);
  out.processor = rows_in_order(arrays.processor, tree);
  out.gid = rows_in_order(arrays.gid, tree);
  out.gsurr_blks = rows_in_order(arrays.gsurr_blks, tree);
  out.bflags = rows_in_order(arrays.bflags, tree);
  out.coordinates = rows_in_order(arrays.coordinates, tree);
  out.block_size = rows_in_order(arrays.block_size, tree);
  out.bounding_box = rows_in_order(arrays.bounding_box, tree);
  if (!ids_are_rows) return out;
  std::vector<std::int32_t> number_of_row(tree.blocks.size());
  for (std::size_t i = 0; i < tree.blocks.size(); ++i)
    number_of_row[static_cast<std::size_t>(tree.blocks[i].row)] = static_cast<std::int32_t>(i + 1);
  const auto renumber = [&](std::int32_t& id) {
    if (id >= 1 && id <= static_cast<std::int32_t>(number_of_row.size()))
      id = number_of_row[static_cast<std::size_t>(id - 1)];
  };
  for (std::int32_t& id : out.gid) renumber(id);
  for (std::size_t i = 0; i < out.gsurr_blks.size(); i += 2) renumber(out.gsurr_blks[i]);
  return out;
}

void keep_tree_arrays(const TreeArrays& arrays, const BlockTree& tree, const TreeFrame& frame, bool single,
                      Attributes& attributes) {
  const Boundary boundary = boundary_of(arrays, tree);
  const TreeArrays derived = derive(tree, frame, boundary, single);
  if (!arrays.gid.empty())
    attributes["flash/boundary"] = std::vector<std::int64_t>(boundary.begin(), boundary.begin() + 2 * tree.dim);
  if (!arrays.processor.empty()) attributes["flash/processor number"] = runs_of(arrays.processor);
  auto order = root_order(tree);
  if (!std::is_sorted(order.begin(), order.end())) attributes["flash/root order"] = std::move(order);
  keep(attributes, "gid", arrays.gid, derived.gid);
  keep(attributes, "gsurr_blks", arrays.gsurr_blks, derived.gsurr_blks);
  keep(attributes, "bflags", arrays.bflags, derived.bflags);
  keep(attributes, "coordinates", arrays.coordinates, derived.coordinates);
  keep(attributes, "block size", arrays.block_size, derived.block_size);
  keep(attributes, "bounding box", arrays.bounding_box, derived.bounding_box);
}

TreeArrays restore_tree_arrays(const BlockTree& tree, const TreeFrame& frame, bool single,
                               const Attributes& attributes) {
  TreeArrays arrays = derive(tree, frame, boundary_of(attributes), single);
  put_back_runs(attributes, arrays.processor);
  put_back(attributes, "gid", arrays.gid);
  put_back(attributes, "gsurr_blks", arrays.gsurr_blks);
  put_back(attributes, "bflags", arrays.bflags);
  put_back(attributes, "coordinates", arrays.coordinates);
  put_back(attributes, "block size", arrays.block_size);
  put_back(attributes, "bounding box", arrays.bounding_box);
  return arrays;
}

}  // namespace octavo::formats::flash
