#include "capi/layout.hpp"

#include "octavo/mesh/boxes.hpp"

namespace octavo::capi {
namespace {

mesh::IndexBox box_at(const std::int64_t* corners) {
  mesh::IndexBox box;
  std::copy_n(corners, 3, box.lo.begin());
  std::copy_n(corners + 3, 3, box.hi.begin());
  return box;
}

std::int64_t elements(const Layout& layout, const mesh::Index3& size) {
  std::int64_t all = std::max<std::int64_t>(layout.stride, 1);
  for (int axis = 0; axis < layout.dim; ++axis) all *= size[static_cast<std::size_t>(axis)] + 2 * layout.ghost;
  return all;
}

const std::vector<mesh::Index3>& expected_boxes(const Boxes& boxes, std::int64_t count) {
  if (!boxes) throw Error(Kind::usage, "no boxes were put before");
  if (count != std::ssize(*boxes))
    throw Error(Kind::usage,
                "expected arrays of " + std::to_string(boxes->size()) + " boxes, found " + std::to_string(count));
  return *boxes;
}

}  // namespace

mesh::Patches patches_from(int dim, int levels, const std::int64_t* domain, const int* ratio,
                           const std::int64_t* boxes_of_level, const std::int64_t* boxes) {
  mesh::Patches patches;
  patches.dim = dim;
  for (int level = 0; level < levels; ++level) {
    patches.domain.push_back(box_at(&checked(domain, "domain") + 6 * level));
    if (level > 0) patches.ratio.push_back((&checked(ratio, "ratio"))[level - 1]);
    patches.boxes.emplace_back();
    for (std::int64_t i = (&checked(boxes_of_level, "boxes_of_level"))[level]; i > 0; --i, boxes += 6)
      patches.boxes.back().push_back(mesh::flat(box_at(&checked(boxes, "boxes")), dim));
  }
  return patches;
}

std::vector<mesh::Index3> sizes_of(const mesh::Patches& patches) {
  std::vector<mesh::Index3> sizes;
  for (const auto& level : patches.boxes)
    for (const mesh::IndexBox& box : level)
      sizes.push_back({box.hi[0] - box.lo[0], box.hi[1] - box.lo[1], box.hi[2] - box.lo[2]});
  return sizes;
}

engine::ArrayView view_of_arrays(const Layout& layout, const void* values, std::int64_t count,
                                 const mesh::Index3& size) {
  if (layout.ghost < 0 || layout.stride < 0) throw Error(Kind::usage, "ghost and stride must not be negative");
  engine::ArrayView view = view_of(layout.type, values, count, 0, layout.space);
  view.block = size;
  if (layout.ghost == 0 && layout.stride <= 1) return view;
  engine::ArrayView::Stride& stride = view.stride;
  stride.x = std::max<std::int64_t>(layout.stride, 1);
  stride.y = stride.x * (size[0] + 2 * layout.ghost);
  stride.z = layout.dim > 1 ? stride.y * (size[1] + 2 * layout.ghost) : stride.y;
  stride.cell = elements(layout, size);
  stride.component = 1;
  const std::int64_t first =
      layout.ghost * (stride.x + (layout.dim > 1 ? stride.y : 0) + (layout.dim > 2 ? stride.z : 0));
  if (count > 0)
    view.data =
        &checked(static_cast<const std::byte*>(values), "values") + first * std::int64_t(mesh::size_of(view.type));
  return view;
}

FieldViews views_of_boxes(const Layout& layout, const Boxes& boxes, const void* const* values, std::int64_t count) {
  const auto& sizes = expected_boxes(boxes, count);
  // No boxes: a view all the same, which has the type.
  if (sizes.empty()) return view_of_arrays(layout, nullptr, 0, {1, 1, 1});
  std::vector<engine::ArrayView> views;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    views.push_back(view_of_arrays(layout, (&checked(values, "values"))[i], 1, sizes[i]));
  return views;
}

FieldViews views_in_a_row(const Layout& layout, const Boxes& boxes, const mesh::Index3& block, const void* values,
                          std::int64_t count) {
  if (!boxes) return view_of_arrays(layout, values, count, block);
  const auto& sizes = expected_boxes(boxes, count);
  const auto width = std::int64_t(mesh::size_of(type_of(layout.type)));
  const auto* first = static_cast<const std::byte*>(values);
  std::vector<const void*> arrays;
  std::int64_t at = 0;
  for (const mesh::Index3& size : sizes) {
    arrays.push_back(&checked(first, "values") + at * width);
    at += elements(layout, size);
  }
  if (layout.ghost != 0 || layout.stride > 1) return views_of_boxes(layout, boxes, arrays.data(), count);
  // Without ghosts they are one array of all cells.
  return view_of_arrays(layout, values, at, {1, 1, 1});
}

engine::ArrayView view_of(const octavo_array& array, const mesh::Index3& block) {
  engine::ArrayView view = view_of(array.type, array.values, array.cells, 0, array.space);
  view.block = block;
  view.components = array.components;
  view.ghost = array.ghost;
  view.stride = {array.stride_cell, array.stride[0], array.stride[1], array.stride[2], array.stride_component};
  return view;
}

mesh::Centring centring_of(int centring) {
  if (centring < OCTAVO_CELL || centring > OCTAVO_NODE)
    throw Error(Kind::usage, "centring: expected 0 to 4, found " + std::to_string(centring));
  return static_cast<mesh::Centring>(centring);
}

std::vector<std::uint32_t> order_from(const std::int64_t* order, std::int64_t cells) {
  constexpr std::uint32_t nowhere = engine::ArrayView::nowhere;
  std::vector<std::uint32_t> out;
  for (const std::int64_t place : array_from(order, cells)) {
    if (place < -1 || place >= std::int64_t{nowhere})
      throw Error(Kind::usage,
                  "order: expected -1, or 0 to " + std::to_string(nowhere - 1) + ", found " + std::to_string(place));
    out.push_back(place < 0 ? nowhere : static_cast<std::uint32_t>(place));
  }
  return out;
}

mesh::Centring faces_along(int axis, int dim) {
  if (axis < 0 || axis >= dim)
    throw Error(Kind::usage, "axis: expected 0 to " + std::to_string(dim - 1) + ", found " + std::to_string(axis));
  return static_cast<mesh::Centring>(static_cast<int>(mesh::Centring::face_x) + axis);
}

}  // namespace octavo::capi
