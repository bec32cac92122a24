#pragma once
#include <optional>
#include <variant>
#include <vector>

#include "capi/arguments.hpp"
#include "octavo/mesh/patches.hpp"

/// Arrays of blocks and boxes as C hands them over. All throw base::Error(usage).
namespace octavo::capi {

/// How arrays lie: ghosts around the values along each dimension, `stride` elements from one value to the next.
struct Layout {
  int type, dim, ghost;
  std::int64_t stride;
  int space;
};

/// Sizes of the boxes that were put in this step, level after level; nothing where a tree was put.
using Boxes = std::optional<std::vector<mesh::Index3>>;

/// Corners as octavo_writer_put_boxes has them.
mesh::Patches patches_from(int dim, int levels, const std::int64_t* domain, const int* ratio,
                           const std::int64_t* boxes_of_level, const std::int64_t* boxes);
std::vector<mesh::Index3> sizes_of(const mesh::Patches& patches);

/// `count` arrays of `size` values each, one after another.
engine::ArrayView view_of_arrays(const Layout& layout, const void* values, std::int64_t count,
                                 const mesh::Index3& size);
/// A field as one view, or as one of each box.
using FieldViews = std::variant<engine::ArrayView, std::vector<engine::ArrayView>>;
/// Arrays of `count` blocks, or of all boxes where boxes were put, one after another.
FieldViews views_in_a_row(const Layout& layout, const Boxes& boxes, const mesh::Index3& block, const void* values,
                          std::int64_t count);
/// An array of each box, lying anywhere.
FieldViews views_of_boxes(const Layout& layout, const Boxes& boxes, const void* const* values, std::int64_t count);
/// As octavo_array has it, but for its order; `block` values of a cell.
engine::ArrayView view_of(const octavo_array& array, const mesh::Index3& block);
mesh::Centring centring_of(int centring);
/// Places as octavo_array has them, as the engine has them.
std::vector<std::uint32_t> order_from(const std::int64_t* order, std::int64_t cells);
/// The centring of a face variable along an axis of `dim`.
mesh::Centring faces_along(int axis, int dim);

}  // namespace octavo::capi
