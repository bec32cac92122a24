#pragma once
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "capi/arguments.hpp"
#include "octavo/engine/step/array_view.hpp"
#include "octavo/mesh/patches.hpp"
#include "octavo/step/read_box.hpp"

/// Turns an octavo_array into the engine's views. All functions throw base::Error(usage).
namespace octavo::capi {

/// Sizes of the boxes that were put in this step, level after level; nothing if another kind of mesh was put.
using Boxes = std::optional<std::vector<mesh::Index3>>;
std::vector<mesh::Index3> sizes_of(const mesh::Patches& patches);

/// One view of a field, or one view per box.
using FieldViews = std::variant<engine::ArrayView, std::vector<engine::ArrayView>>;
/// The result lacks the order of cells. `block`: values of a tree cell.
FieldViews views_of(const octavo_array& array, int dim, const mesh::Index3& block, const Boxes& boxes);
/// A view of values at points or of particles: one value per place, of one or more components. It lacks the order.
engine::ArrayView view_of_places(const octavo_array& array);

/// The array as memory for a box of `extent` cells along each axis.
step::BoxMemory box_array(const octavo_array& array, int dim, const mesh::Index3& extent);

mesh::Centring centring_of(int centring);
/// The values of a tree cell along each axis: a face variable has one more along its axis.
mesh::Index3 block_of(const std::string& name, mesh::Centring centring, int dim, mesh::Index3 block);
/// Turns the order of an octavo_array into the engine's.
std::vector<std::uint32_t> order_from(const std::int64_t* order, std::int64_t cells);
/// Whether order_from() would return `places`. Fields of one step usually share an order, so we compare without a copy.
bool is_order(std::span<const std::uint32_t> places, const std::int64_t* order, std::int64_t cells);

/// Writes the field's values to the memory of the views, although these point to it as const.
void copy_values(const mesh::Field& field, const FieldViews& views);

}  // namespace octavo::capi
