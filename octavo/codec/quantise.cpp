#include "octavo/codec/quantise.hpp"

#include <limits>

#include "octavo/codec/wide.hpp"

namespace octavo::codec {

namespace {

/// Before the first cell, of those from q on, that lies above the magnitude.
template <class Grid>
void insert(Grid& grid, const Lattice& lattice, double reach, std::int64_t q, double value) {
  const double magnitude = std::abs(*lattice.common);
  grid.common = {value > magnitude ? q : q + 1, std::signbit(*lattice.common), magnitude, std::min(reach, magnitude)};
}

}  // namespace

LogGrid log_grid(double bound, const Lattice& lattice) {
  // As a bound nears 1, the lower end of a cell nears 0, and its logarithm has no end. So wider bounds get the cells of
  // 0.5.
  const double e = std::min(bound, 0.5);
  const double above = log2_of(1.0 + e);
  const double width = above - log2_of(1.0 - e);
  // One part in 2^20 is left for rounding, half of it at each end of a cell.
  const double step = (width * (1.0 - 0x1p-20)) * (1.0 - lattice.narrow * 0x1p-16);
  const double offset = above - width * 0x1p-21;
  LogGrid grid{
      step, 1.0 / step, lattice.phase, {offset + lattice.phase[0] * step, offset + lattice.phase[1] * step}, {}};
  if (lattice.common) {
    const std::int64_t q = index_on(grid, *lattice.common);
    insert(grid, lattice, e * std::abs(*lattice.common), q, value_on(grid, q, *lattice.common < 0));
  }
  return grid;
}

OCTAVO_WIDE bool signs_of(const double* values, std::uint8_t* negative, std::size_t count) {
  FourBits outside{};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    Four x;
    std::memcpy(&x, values + i, sizeof x);
    const FourBits sign = (FourBits)x >> 63;
    for (std::size_t k = 0; k < 4; ++k) negative[i + k] = static_cast<std::uint8_t>(sign[k]);
    magnitudes_of_four(x, x);
    outside |= ~((FourBits)(x >= log_grid_lowest) & (FourBits)(x <= std::numeric_limits<double>::max()));
  }
  bool all = (outside[0] | outside[1] | outside[2] | outside[3]) == 0;
  for (; i < count; ++i) {
    negative[i] = std::signbit(values[i]) ? 1 : 0;
    const double magnitude = std::abs(values[i]);
    all = all && magnitude >= log_grid_lowest && magnitude <= std::numeric_limits<double>::max();
  }
  return all;
}

OCTAVO_WIDE void logarithms_of(const double* values, double* logarithms, std::size_t count) {
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    Four x;
    std::memcpy(&x, values + i, sizeof x);
    log2_of_four(x, x);
    std::memcpy(logarithms + i, &x, sizeof x);
  }
  for (; i < count; ++i) logarithms[i] = log2_of(values[i]);
}

OCTAVO_WIDE void indices_of(const LogGrid& grid, const double* logarithms, const std::uint8_t* negative,
                            std::int64_t* indices, std::size_t count) {
  const double inverse = grid.inverse;
  const double* const phase = grid.phase.data();
  const bool apart = phase[0] != phase[1];
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    Four x;
    FourBits q;
    std::memcpy(&x, logarithms + i, sizeof x);
    Four phases = Four{} + phase[0];
    if (apart)
      phases = Four{phase[negative[i]], phase[negative[i + 1]], phase[negative[i + 2]], phase[negative[i + 3]]};
    floor_of_four(x * inverse - phases, q);
    std::memcpy(indices + i, &q, sizeof q);
  }
  for (; i < count; ++i) indices[i] = floor_of(logarithms[i] * inverse - phase[negative[i]]);
}

OCTAVO_WIDE void indices_on(const LogGrid& grid, const double* values, std::int64_t* indices, std::size_t count) {
  wide_indices_on(grid, values, indices, count);
}

OCTAVO_WIDE void values_on(const LogGrid& grid, const std::int64_t* indices, const std::uint8_t* negative,
                           double* values, std::size_t count) {
  wide_values_on(grid, indices, negative, values, count);
}

LinearGrid linear_grid(double bound, const Lattice& lattice) {
  const double step = (2.0 * bound) * (1.0 - lattice.narrow * 0x1p-16);
  LinearGrid grid{step, 1.0 / step, lattice.phase, {}};
  if (lattice.common) {
    const std::int64_t q = index_on(grid, *lattice.common);
    insert(grid, lattice, bound, std::abs(q), std::abs(value_on(grid, q)));
  }
  return grid;
}

OCTAVO_WIDE void cells_of(const LinearGrid& grid, const double* values, std::int64_t* indices, double* decoded,
                          std::size_t count) {
  const double inverse = grid.inverse, step = grid.step;
  const Four first = Four{} + grid.phase[0], second = Four{} + grid.phase[1];
  const auto put = [&](std::size_t i, std::size_t size) __attribute__((always_inline)) {
    Four x{}, phase, y;
    FourBits negative, q;
    std::memcpy(&x, values + i, size);
    signs_of_four(x, negative);
    select_four(negative, second, first, phase);
    magnitudes_of_four(x, x);
    const Four distance = x * inverse, cell = (distance + phase) + 0.5;
    floor_of_four(cell, q);
    q &= ~(FourBits)(distance < 0.5);
    double_of_four(q, y);
    y = (y - phase) * step;
    y = (Four)(((FourBits)y | (negative << 63)) & ~(FourBits)(q == 0));
    q = (q ^ negative) - negative;
    std::memcpy(indices + i, &q, size);
    std::memcpy(decoded + i, &y, size);
  };
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) put(i, sizeof(Four));  // a size that is known: else vectors are put together in memory
  if (i < count) put(i, (count - i) * sizeof(double));
}

OCTAVO_WIDE bool have_places(const LinearGrid& grid, const double* values, std::size_t count) {
  // Cell 0 stands for +0, so -0.0 has no place.
  const std::uint64_t minus_zero = std::uint64_t{1} << 63;
  FourBits outside{};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    Four x, steps;
    std::memcpy(&x, values + i, sizeof x);
    magnitudes_of_four(x, steps);
    steps *= grid.inverse;
    outside |= ~(FourBits)(steps < linear_grid_limit) | (FourBits)((FourBits)x == minus_zero);
  }
  bool all = (outside[0] | outside[1] | outside[2] | outside[3]) == 0;
  for (; i < count; ++i)
    all = all && std::abs(values[i]) * grid.inverse < linear_grid_limit &&
          std::bit_cast<std::uint64_t>(values[i]) != minus_zero;
  return all;
}

OCTAVO_WIDE void indices_on(const LinearGrid& grid, const double* values, std::int64_t* indices, std::size_t count) {
  wide_indices_on(grid, values, indices, count);
}

OCTAVO_WIDE void values_on(const LinearGrid& grid, const std::int64_t* indices, double* values, std::size_t count) {
  wide_values_on(grid, indices, values, count);
}

}  // namespace octavo::codec
