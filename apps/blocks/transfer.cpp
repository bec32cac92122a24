#include "apps/blocks/transfer.hpp"

#include <algorithm>
#include <cmath>

namespace octavo::blocks {

namespace {

double limited(double left, double centre, double right) {
  const double a = centre - left, b = right - centre;
  if (a * b <= 0) return 0;
  const double size = std::min(0.5 * std::abs(a + b), 2 * std::min(std::abs(a), std::abs(b)));
  return a > 0 ? size : -size;
}

bool admissible(const euler::Gas& gas, const Family& family) {
  const auto children = std::size_t{1} << gas.dim;
  for (std::size_t child = 0; child < children; ++child) {
    const euler::Primitive state = to_primitive(gas, family.values.data() + child, children);
    if (!(state.density > 0 && state.pressure > 0)) return false;
  }
  return true;
}

// In units of cells of the finer box: where a child's numbers begin.
std::size_t child_offset(const euler::Shape& shape, std::size_t child) {
  std::size_t offset = 0;
  for (int axis = 0; axis < shape.dim; ++axis)
    if ((child >> axis) & 1) offset += stride_of(shape, axis);
  return offset;
}

}  // namespace

double mean_of_children(const euler::Shape& shape, const double* first) {
  const std::size_t y = stride_of(shape, 1), z = stride_of(shape, 2);
  const double plane = (first[0] + first[1]) + (first[y] + first[y + 1]);
  if (shape.dim == 2) return 0.25 * plane;
  return 0.125 * (plane + ((first[z] + first[z + 1]) + (first[z + y] + first[z + y + 1])));
}

void make_family(const euler::Gas& gas, const euler::Shape& shape, const double* coarse, const std::array<int, 3>& cell,
                 Family& family) {
  const std::size_t size = padded_size(shape), children = std::size_t{1} << shape.dim;
  const auto variables = static_cast<std::size_t>(num_variables(gas));
  const std::size_t at = offset_of(shape, cell[0], cell[1], cell[2]);
  family.values.resize(variables * children);
  for (std::size_t v = 0; v < variables; ++v) {
    const double* value = coarse + v * size + at;
    std::array<double, 3> quarter{};
    for (int axis = 0; axis < shape.dim; ++axis) {
      const auto stride = static_cast<std::ptrdiff_t>(stride_of(shape, axis));
      quarter[static_cast<std::size_t>(axis)] = 0.25 * limited(value[-stride], *value, value[stride]);
    }
    for (std::size_t child = 0; child < children; ++child) {
      double change = 0;
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(shape.dim); ++axis)
        change += (child >> axis) & 1 ? quarter[axis] : -quarter[axis];
      family.values[v * children + child] = *value + change;
    }
  }
  if (admissible(gas, family)) return;
  for (std::size_t v = 0; v < variables; ++v)
    std::fill_n(family.values.begin() + static_cast<std::ptrdiff_t>(v * children), children, coarse[v * size + at]);
}

void put_family(const euler::Shape& shape, const Family& family, const std::array<int, 3>& first, double* fine) {
  const std::size_t size = padded_size(shape), children = std::size_t{1} << shape.dim;
  double* out = fine + offset_of(shape, first[0], first[1], first[2]);
  for (std::size_t v = 0; v * children < family.values.size(); ++v)
    for (std::size_t child = 0; child < children; ++child)
      out[v * size + child_offset(shape, child)] = family.values[v * children + child];
}

void refine_block(const euler::Gas& gas, const euler::Shape& shape, const double* parent, int child, double* out) {
  std::array<int, 3> from{0, 0, 0}, margin{0, 0, 0}, half{1, 1, 1};
  for (int axis = 0; axis < shape.dim; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    half[a] = shape.cells[a] / 2;
    from[a] = ((child >> axis) & 1) * half[a];
    margin[a] = 1;
  }
  Family family;
  for (int k = -margin[2]; k < half[2] + margin[2]; ++k)
    for (int j = -margin[1]; j < half[1] + margin[1]; ++j)
      for (int i = -margin[0]; i < half[0] + margin[0]; ++i) {
        make_family(gas, shape, parent, {from[0] + i, from[1] + j, from[2] + k}, family);
        put_family(shape, family, {2 * i, 2 * j, shape.dim > 2 ? 2 * k : 0}, out);
      }
}

void coarsen_block(const euler::Shape& shape, std::size_t variables, const double* child, int number, double* parent) {
  const std::size_t size = padded_size(shape);
  std::array<int, 3> into{0, 0, 0}, half{1, 1, 1};
  for (int axis = 0; axis < shape.dim; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    half[a] = shape.cells[a] / 2;
    into[a] = ((number >> axis) & 1) * half[a];
  }
  for (int k = 0; k < half[2]; ++k)
    for (int j = 0; j < half[1]; ++j)
      for (int i = 0; i < half[0]; ++i) {
        const std::size_t from = offset_of(shape, 2 * i, 2 * j, shape.dim > 2 ? 2 * k : 0);
        const std::size_t to = offset_of(shape, into[0] + i, into[1] + j, into[2] + k);
        for (std::size_t v = 0; v < variables; ++v)
          parent[v * size + to] = mean_of_children(shape, child + v * size + from);
      }
}

}  // namespace octavo::blocks
