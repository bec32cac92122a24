#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "octavo/mesh/dataset.hpp"

/// Particles along a curve through the domain: the order in which they stand under a bound, if it takes fewer bytes.
namespace octavo::store {

/// The order of particles along the Hilbert curve through 2^21 cells an axis of the domain: for each new place the old
/// one. Particles of one cell keep their order. `positions` has an array for each axis from x on, all of one size
/// [code length]. Empty if there is no axis.
std::vector<std::size_t> particle_order(std::span<const std::vector<double>> positions, const mesh::Header& header);
/// The same of a species with the floating-point attributes position_x, position_y ...
std::vector<std::size_t> particle_order(const mesh::Particles& particles, const mesh::Header& header);

/// The values in that order, `bytes.size() / order.size()` bytes each.
std::vector<std::byte> in_order(std::span<const std::byte> bytes, std::span<const std::size_t> order);

/// The axis of an attribute called position_x, position_y or position_z; -1 for all others.
int axis_of_position(const mesh::FieldInfo& info);

}  // namespace octavo::store
