#include "capi/layout.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/sides.hpp"

namespace octavo::capi {
namespace {

using Stride = engine::ArrayView::Stride;

bool is_packed(const octavo_array& array) {
  return array.ghost == 0 && array.stride_cell == 0 && array.stride[0] == 0 && array.stride[1] == 0 &&
         array.stride[2] == 0 && array.stride_component == 0;
}

std::int64_t ghosts_of(const octavo_array& array, int dim, int axis) { return axis < dim ? 2 * array.ghost : 0; }

// Strides that are 0 follow from the ones before them.
Stride strides_of(const octavo_array& array, int dim, const mesh::Index3& size) {
  const auto or_packed = [](std::int64_t stride, std::int64_t packed) { return stride != 0 ? stride : packed; };
  Stride stride;
  stride.component = or_packed(array.stride_component, 1);
  stride.x = or_packed(array.stride[0], stride.component * array.components);
  stride.y = or_packed(array.stride[1], stride.x * (size[0] + ghosts_of(array, dim, 0)));
  stride.z = or_packed(array.stride[2], stride.y * (size[1] + ghosts_of(array, dim, 1)));
  stride.cell = or_packed(array.stride_cell, stride.z * (size[2] + ghosts_of(array, dim, 2)));
  return stride;
}

engine::ArrayView view_of(const octavo_array& array, int dim, const mesh::Index3& size, const void* values,
                          std::int64_t cells) {
  const engine::MemorySpace space = space_of(array.space);
  if (cells < 0) throw Error(Kind::usage, "a negative number of values: " + std::to_string(cells));
  if (array.ghost < 0) throw Error(Kind::usage, "ghost must not be negative");
  engine::ArrayView view;
  view.type = type_of(array.type);
  view.cells = static_cast<std::size_t>(cells);
  view.block = size;
  view.components = array.components;
  view.space = space;
  view.stream = array.stream;
  if (cells == 0) return view;
  view.data = &checked(static_cast<const std::byte*>(values), "values");
  if (is_packed(array)) return view;
  view.stride = strides_of(array, dim, size);
  const std::int64_t first =
      array.ghost * (view.stride.x + (dim > 1 ? view.stride.y : 0) + (dim > 2 ? view.stride.z : 0));
  view.data = static_cast<const std::byte*>(values) + first * std::int64_t(mesh::size_of(view.type));
  return view;
}

// A single view of all cells of all boxes, if their values lie in one packed array. `array.cells` counts boxes or
// cells.
std::optional<engine::ArrayView> view_of_all_cells(const octavo_array& array, const std::vector<mesh::Index3>& sizes) {
  const std::int64_t all =
      std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0},
                      [](std::int64_t sum, const mesh::Index3& size) { return sum + size[0] * size[1] * size[2]; });
  const bool by_box = array.cells == std::ssize(sizes) && is_packed(array);
  if (array.boxes != nullptr || array.ghost != 0 || (array.cells != all && !by_box)) return {};
  return view_of(array, 0, {1, 1, 1}, array.values, all);
}

FieldViews views_of_boxes(const octavo_array& array, int dim, const std::vector<mesh::Index3>& sizes) {
  if (const auto view = view_of_all_cells(array, sizes)) return *view;
  if (array.cells != std::ssize(sizes))
    throw Error(Kind::usage,
                "expected arrays of " + std::to_string(sizes.size()) + " boxes, found " + std::to_string(array.cells));
  // Without boxes the result is still one view, so that the type is known.
  if (sizes.empty()) return view_of(array, dim, {1, 1, 1}, nullptr, 0);
  const auto width = static_cast<std::int64_t>(mesh::size_of(type_of(array.type)));
  std::vector<engine::ArrayView> views;
  const auto* next = static_cast<const std::byte*>(array.values);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    views.push_back(view_of(array, dim, sizes[i], array.boxes != nullptr ? array.boxes[i] : next, 1));
    if (next != nullptr) next += width * strides_of(array, dim, sizes[i]).cell;
  }
  return views;
}

// The number of values in the packed form.
std::size_t values_in(const engine::ArrayView& view) {
  return view.cells * cell_bytes(view) / mesh::size_of(view.type);
}

// Copies the values of one view from the field's packed form. Returns the end of the values it copied.
template <class From, class To>
const From* scatter(const From* from, const engine::ArrayView& view) {
  auto* to = static_cast<To*>(const_cast<void*>(view.data));
  const std::int64_t nx = view.block[0], ny = view.block[1], nz = view.block[2], nc = view.components;
  const bool strided = view.stride.component != 0;  // else packed
  if constexpr (std::is_same_v<From, To>)
    if (!strided && view.order.empty()) {
      const auto count = static_cast<std::ptrdiff_t>(values_in(view));
      std::copy_n(from, count, to);
      return from + count;
    }
  const Stride stride = strided ? view.stride : Stride{nc * nx * ny * nz, nc, nc * nx, nc * nx * ny, 1};
  for (std::size_t i = 0; i < view.cells; ++i) {
    const std::uint32_t place = view.order.empty() ? static_cast<std::uint32_t>(i) : view.order[i];
    const bool skip = !view.order.empty() && place == engine::ArrayView::nowhere;
    const std::int64_t cell = view.order.empty() ? static_cast<std::int64_t>(i) : std::int64_t{place};
    for (std::int64_t z = 0; z < nz; ++z)
      for (std::int64_t y = 0; y < ny; ++y)
        for (std::int64_t x = 0; x < nx; ++x)
          for (std::int64_t c = 0; c < nc; ++c, ++from)
            if (!skip)
              to[cell * stride.cell + z * stride.z + y * stride.y + x * stride.x + c * stride.component] =
                  static_cast<To>(*from);
  }
  return from;
}

}  // namespace

step::BoxMemory box_array(const octavo_array& array, int dim, const mesh::Index3& extent) {
  if (array.cells != 1) throw Error(Kind::usage, "expected an array of 1 box, found " + std::to_string(array.cells));
  const engine::ArrayView view = view_of(array, dim, extent, array.values, 1);
  return {const_cast<void*>(view.data),
          view.type,
          {view.stride.x, view.stride.y, view.stride.z},
          view.components,
          view.stride.component};
}

std::vector<mesh::Index3> sizes_of(const mesh::Patches& patches) {
  std::vector<mesh::Index3> sizes;
  for (const auto& level : patches.boxes)
    for (const mesh::IndexBox& any : level) {
      const mesh::IndexBox box = mesh::flat(any, patches.dim);
      sizes.push_back({box.hi[0] - box.lo[0], box.hi[1] - box.lo[1], box.hi[2] - box.lo[2]});
    }
  return sizes;
}

FieldViews views_of(const octavo_array& array, int dim, const mesh::Index3& block, const Boxes& boxes) {
  if (boxes) return views_of_boxes(array, dim, *boxes);
  if (array.boxes != nullptr) throw Error(Kind::usage, "arrays of boxes: no boxes were put before");
  return view_of(array, dim, block, array.values, array.cells);
}

engine::ArrayView view_of_places(const octavo_array& array) {
  if (array.ghost != 0 || array.boxes != nullptr)
    throw Error(Kind::usage, "points and particles have no ghosts and no boxes");
  return view_of(array, 0, {1, 1, 1}, array.values, array.cells);
}

mesh::Centring centring_of(int centring) {
  if (centring < OCTAVO_CELL || centring > OCTAVO_NODE)
    throw Error(Kind::usage, "centring: expected 0 to 4, found " + std::to_string(centring));
  return static_cast<mesh::Centring>(centring);
}

mesh::Index3 block_of(const std::string& name, mesh::Centring centring, int dim, mesh::Index3 block) {
  if (!mesh::is_face(centring) || mesh::side_of({name, "", mesh::ScalarType::float64, centring, 1, 0}, dim))
    return block;
  const std::size_t axis = mesh::face_axis(centring);
  if (axis >= static_cast<std::size_t>(dim))
    throw Error(Kind::usage, "centring: expected faces along axes 0 to " + std::to_string(dim - 1) + ", found axis " +
                                 std::to_string(axis));
  ++block[axis];
  return block;
}

std::vector<std::uint32_t> order_from(const std::int64_t* order, std::int64_t cells) {
  constexpr std::uint32_t nowhere = engine::ArrayView::nowhere;
  std::vector<std::uint32_t> out;
  if (cells < 0) throw Error(Kind::usage, "a negative number of values: " + std::to_string(cells));
  out.reserve(static_cast<std::size_t>(cells));
  for (const std::int64_t place : std::span(order, static_cast<std::size_t>(cells))) {
    if (place < -1 || place >= std::int64_t{nowhere})
      throw Error(Kind::usage,
                  "order: expected -1, or 0 to " + std::to_string(nowhere - 1) + ", found " + std::to_string(place));
    out.push_back(place < 0 ? nowhere : static_cast<std::uint32_t>(place));
  }
  return out;
}

bool is_order(std::span<const std::uint32_t> places, const std::int64_t* order, std::int64_t cells) {
  return std::ssize(places) == cells &&
         std::equal(places.begin(), places.end(), order, [](std::uint32_t known, std::int64_t place) {
           return place == (known == engine::ArrayView::nowhere ? -1 : std::int64_t{known});
         });
}

void copy_values(const mesh::Field& field, const FieldViews& views) {
  const auto* one = std::get_if<engine::ArrayView>(&views);
  const std::span<const engine::ArrayView> all =
      one != nullptr ? std::span(one, 1) : std::span(std::get<std::vector<engine::ArrayView>>(views));
  const mesh::ScalarType type = all.front().type;
  std::size_t count = 0;
  bool fits = step::takes(type, field.info.type);
  for (const engine::ArrayView& view : all) {
    count += values_in(view);
    fits = fits && (view.components == field.info.components || view.cells == 0);
  }
  if (!fits || count != field.size())
    throw Error(Kind::usage, "expected " + std::to_string(field.size()) + " values of type " +
                                 std::string(mesh::name_of(field.info.type)) + ", " +
                                 std::to_string(field.info.components) + " components, asked for " +
                                 std::to_string(count) + " of type " + std::string(mesh::name_of(type)))
        .at("field " + field.info.name);
  const auto to_all = [&]<class From, class To>(const From* from, To) {
    for (const engine::ArrayView& view : all) from = scatter<From, To>(from, view);
  };
  if (mesh::is_half(field.info.type) && type == field.info.type)  // C++ has no type for them: their bits
    return to_all(reinterpret_cast<const std::uint16_t*>(field.bytes.data()), std::uint16_t{});
  mesh::visit_values(field, [&](auto values) {
    using From = std::remove_const_t<typename decltype(values)::element_type>;
    // A float32 field may have been put as float64 and stored with single_precision, so it may be read as float64.
    if (std::is_same_v<From, float> && type == mesh::ScalarType::float64) return to_all(values.data(), double{});
    to_all(values.data(), From{});
  });
}

}  // namespace octavo::capi
