#pragma once
#include <optional>
#include <variant>
#include <vector>

#include "capi/arguments.hpp"
#include "octavo/engine/step/array_view.hpp"
#include "octavo/mesh/patches.hpp"
#include "octavo/step/read_box.hpp"

/// octavo_array as the engine has arrays. All throw base::Error(usage).
namespace octavo::capi {

/// Sizes of the boxes that were put in this step, level after level; nothing where another mesh was put.
using Boxes = std::optional<std::vector<mesh::Index3>>;
std::vector<mesh::Index3> sizes_of(const mesh::Patches& patches);

/// A field as one view, or as one of each box.
using FieldViews = std::variant<engine::ArrayView, std::vector<engine::ArrayView>>;
/// `block`: values of a tree cell. Without the order.
FieldViews views_of(const octavo_array& array, int dim, const mesh::Index3& block, const Boxes& boxes);
/// A view of values at points or of particles: one value a place, each of some components. Without the order.
engine::ArrayView view_of_places(const octavo_array& array);

/// The array as memory for a box of so many cells along each axis.
step::BoxArray box_array(const octavo_array& array, int dim, const mesh::Index3& extent);

mesh::Centring centring_of(int centring);
/// Values of a tree cell: one more along the axis of a face variable.
mesh::Index3 block_of(const std::string& name, mesh::Centring centring, int dim, mesh::Index3 block);
/// Places as octavo_array has them, as the engine has them.
std::vector<std::uint32_t> order_from(const std::int64_t* order, std::int64_t cells);

/// Writes the field's values to where the views say. The caller's memory is in them as const.
void copy_values(const mesh::Field& field, const FieldViews& views);

}  // namespace octavo::capi
