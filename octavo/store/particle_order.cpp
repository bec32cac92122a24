#include "octavo/store/particle_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "octavo/mesh/tree/curve.hpp"

namespace octavo::store {

namespace {

constexpr int bits_of_order = 21;  // three axes fit into 64 bits

std::uint32_t cell_along(double position, double lo, double hi) {
  const double cells = std::ldexp(1.0, bits_of_order), at = std::floor((position - lo) / (hi - lo) * cells);
  return at >= 0 ? static_cast<std::uint32_t>(std::min(at, cells - 1)) : 0;  // 0 for NaN, too
}

}  // namespace

int axis_of_position(const mesh::FieldInfo& info) {
  const bool is_real = info.type == mesh::ScalarType::float64 || info.type == mesh::ScalarType::float32;
  if (!is_real || info.components != 1) return -1;
  return info.name == "position_x" ? 0 : info.name == "position_y" ? 1 : info.name == "position_z" ? 2 : -1;
}

std::vector<std::size_t> particle_order(std::span<const std::vector<double>> positions, const mesh::Header& header) {
  if (positions.empty()) return {};
  const int dim = static_cast<int>(positions.size());
  std::vector<std::uint64_t> keys(positions[0].size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    mesh::Coordinate cell{};
    for (std::size_t a = 0; a < positions.size(); ++a)
      cell[a] = cell_along(positions[a][i], header.lo[a], header.hi[a]);
    keys[i] = curve_key(mesh::Curve::hilbert, dim, bits_of_order, cell).low;
  }
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  return order;
}

std::vector<std::size_t> particle_order(const mesh::Particles& particles, const mesh::Header& header) {
  std::vector<std::vector<double>> positions;
  for (int axis = 0; axis < 3; ++axis)
    for (const mesh::Field& field : particles.attributes)
      if (axis_of_position(field.info) == axis && static_cast<int>(positions.size()) == axis)
        positions.push_back(to_doubles(field));
  return particle_order(positions, header);
}

std::vector<std::byte> in_order(std::span<const std::byte> bytes, std::span<const std::size_t> order) {
  std::vector<std::byte> sorted(bytes.size());
  const std::size_t size = order.empty() ? 0 : bytes.size() / order.size();
  for (std::size_t i = 0; i < order.size(); ++i)
    std::memcpy(sorted.data() + i * size, bytes.data() + order[i] * size, size);
  return sorted;
}

}  // namespace octavo::store
