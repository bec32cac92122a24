#include "octavo/codec/slices.hpp"

#include <algorithm>
#include <vector>

#include "octavo/codec/wide.hpp"

namespace octavo::codec {

namespace {

/// Slots of a table: slices of positive values, of negative ones, and the values left out.
constexpr std::size_t num_slots = 3 * num_slices;
constexpr std::uint64_t left_out = 2 * num_slices;

/// Bytes that are 0 or 1 to bits that are all clear or all set.
[[gnu::always_inline]] inline void mask_of_four(const std::uint8_t* bytes, FourBits& mask) {
  mask = -FourBits{bytes[0], bytes[1], bytes[2], bytes[3]};
}

/// The slice in which each place, in steps, lies.
[[gnu::always_inline]] inline void slices_of_four(const Four& place, FourBits& slice) {
  const double magic = 6755399441055744.0 / num_slices;  // its last bits count slices
  slice = (FourBits)((place - 0.5 / num_slices) + magic) & (num_slices - 1);
}

/// Sums of squares of weights.
OCTAVO_WIDE double slots_of(const LogGrid& grid, const double* values, const double* logarithms,
                            const std::uint8_t* counted, std::uint16_t* slots, std::size_t count) {
  const double inverse = grid.inverse;
  Four squares{};
  for (std::size_t i = 0; i < count; i += 4) {
    Four x, y;
    FourBits slice, negative, counts;
    std::memcpy(&x, values + i, sizeof x);
    std::memcpy(&y, logarithms + i, sizeof y);
    slices_of_four(y * inverse, slice);
    signs_of_four(x, negative);
    mask_of_four(counted + i, counts);
    slice += negative & num_slices;
    slice = (counts & slice) | (~counts & left_out);
    x = (Four)((FourBits)x & counts);
    squares += x * x;
    for (std::size_t k = 0; k < 4; ++k) slots[i + k] = static_cast<std::uint16_t>(slice[k]);
  }
  return (squares[0] + squares[1]) + (squares[2] + squares[3]);
}

/// The sum of the values that go to 0.
OCTAVO_WIDE double slots_of(const LinearGrid& grid, const double* values, const std::uint8_t* counted,
                            std::uint16_t* slots, std::size_t count) {
  const double inverse = grid.inverse;
  Four fixed{};
  for (std::size_t i = 0; i < count; i += 4) {
    Four x, steps;
    FourBits slice, negative, counts;
    std::memcpy(&x, values + i, sizeof x);
    magnitudes_of_four(x, steps);
    steps *= inverse;
    slices_of_four(steps + 0.5, slice);
    signs_of_four(x, negative);
    mask_of_four(counted + i, counts);
    const FourBits stays = (FourBits)(steps < 0.5);
    fixed += (Four)((FourBits)x & counts & stays);
    slice += negative & num_slices;
    counts &= ~stays;
    slice = (counts & slice) | (~counts & left_out);
    for (std::size_t k = 0; k < 4; ++k) slots[i + k] = static_cast<std::uint16_t>(slice[k]);
  }
  return (fixed[0] + fixed[1]) + (fixed[2] + fixed[3]);
}

/// The first four values, padded with uncounted ones if there are fewer.
struct Last {
  std::array<double, 4> values{}, logarithms{};
  std::array<std::uint8_t, 4> counted{};
};

std::vector<std::uint16_t>& slots_for(std::size_t count) {
  thread_local std::vector<std::uint16_t> slots;
  if (slots.size() < count + 4) slots.resize(count + 4);
  return slots;
}

}  // namespace

Sliced slice(const LogGrid& grid, std::span<const double> values, std::span<const double> logarithms,
             std::span<const std::uint8_t> counted) {
  const std::size_t whole = values.size() / 4 * 4;
  auto& slots = slots_for(values.size());
  Last last;
  std::copy(values.begin() + static_cast<std::ptrdiff_t>(whole), values.end(), last.values.begin());
  std::copy(logarithms.begin() + static_cast<std::ptrdiff_t>(whole), logarithms.end(), last.logarithms.begin());
  std::copy(counted.begin() + static_cast<std::ptrdiff_t>(whole), counted.end(), last.counted.begin());
  Sliced sliced;
  sliced.slices[0].squares =
      slots_of(grid, values.data(), logarithms.data(), counted.data(), slots.data(), whole) +
      slots_of(grid, last.values.data(), last.logarithms.data(), last.counted.data(), slots.data() + whole, 4);
  std::array<std::array<double, num_slots>, 2> weight{};  // two, so that no sum waits for the one before
  for (std::size_t i = 0; i < values.size(); ++i) weight[i & 1][slots[i]] += std::abs(values[i]);
  for (std::size_t s = 0; s < num_slices; ++s)
    for (std::size_t sign = 0; sign < 2; ++sign)
      sliced.slices[sign].weight[s] = weight[0][s + sign * num_slices] + weight[1][s + sign * num_slices];
  return sliced;
}

Sliced slice(const LinearGrid& grid, std::span<const double> values, std::span<const std::uint8_t> counted) {
  const std::size_t whole = values.size() / 4 * 4;
  auto& slots = slots_for(values.size());
  Last last;
  std::copy(values.begin() + static_cast<std::ptrdiff_t>(whole), values.end(), last.values.begin());
  std::copy(counted.begin() + static_cast<std::ptrdiff_t>(whole), counted.end(), last.counted.begin());
  Sliced sliced;
  sliced.fixed = -(slots_of(grid, values.data(), counted.data(), slots.data(), whole) +
                   slots_of(grid, last.values.data(), last.counted.data(), slots.data() + whole, 4));
  std::array<std::array<std::uint32_t, num_slots>, 4> number{};
  for (std::size_t i = 0; i < values.size(); ++i) ++number[i & 3][slots[i]];
  for (std::size_t s = 0; s < num_slices; ++s)
    for (std::size_t sign = 0; sign < 2; ++sign) {
      const std::size_t slot = s + sign * num_slices;
      sliced.slices[sign].weight[s] = (number[0][slot] + number[1][slot]) + (number[2][slot] + number[3][slot]);
      sliced.slices[sign].squares += sliced.slices[sign].weight[s];
    }
  return sliced;
}

Drift drift_of(const Slices& slices, const Response& response) {
  // Sums of weight, weight * place, weight * place^2 over all slices, and over those below the edge, which belong to
  // the cell below.
  std::array<double, 3> all{}, before{};
  const auto add = [&](std::array<double, 3>& to, std::size_t s) {
    const double place = (static_cast<double>(s) + 0.5) / num_slices, weight = slices.weight[s];
    to[0] += weight;
    to[1] += weight * place;
    to[2] += weight * place * place;
  };
  for (std::size_t s = 0; s < num_slices; ++s) add(all, s);
  Drift drift{};
  for (std::size_t s = 0; s < num_slices; ++s) {
    const double above = response.centre + static_cast<double>(s) / num_slices, below = above - 1;
    const double after = all[0] - before[0];
    const double first = after * above + before[0] * below - all[1];
    const double second = after * above * above - 2 * above * (all[1] - before[1]) + before[0] * below * below -
                          2 * below * before[1] + all[2];
    drift[s] = response.rate * first + 0.5 * response.curved * response.rate * response.rate * second;
    add(before, s);
  }
  return drift;
}

std::optional<double> find_phase(const Slices& slices, const Drift& drift, double wanted) {
  std::optional<double> phase;
  double least = 0;
  for (std::size_t s = 0; s < num_slices; ++s) {
    const double here = drift[s] - wanted, next = drift[(s + 1) % num_slices] - wanted;
    if (here > 0 || next <= 0 || (phase && slices.weight[s] >= least)) continue;
    least = slices.weight[s];
    phase = (static_cast<double>(s) - here / (next - here)) / num_slices;
  }
  return phase;
}

OCTAVO_WIDE CodingErrors errors_of(std::span<const double> given, std::span<const double> decoded,
                                   std::span<const std::uint8_t> counted, double bound, bool relative) {
  Four sum{}, squares{};
  FourBits beyond{};
  std::size_t i = 0;
  for (; i + 4 <= given.size(); i += 4) {
    Four x, y, size, allowed;
    FourBits counts;
    std::memcpy(&x, given.data() + i, sizeof x);
    std::memcpy(&y, decoded.data() + i, sizeof y);
    mask_of_four(counted.data() + i, counts);
    const Four error = y - x;
    magnitudes_of_four(error, size);
    magnitudes_of_four(x, allowed);
    allowed = relative ? allowed * bound : Four{} + bound;
    beyond |= ~(FourBits)(size < allowed);
    const Four own = (Four)((FourBits)error & counts);
    sum += own;
    squares += own * own;
  }
  CodingErrors errors{(sum[0] + sum[1]) + (sum[2] + sum[3]), (squares[0] + squares[1]) + (squares[2] + squares[3]),
                      (beyond[0] | beyond[1] | beyond[2] | beyond[3]) == 0};
  for (; i < given.size(); ++i) {
    const double error = decoded[i] - given[i];
    errors.within = errors.within && std::abs(error) < (relative ? bound * std::abs(given[i]) : bound);
    if (counted[i] == 0) continue;
    errors.sum += error;
    errors.squares += error * error;
  }
  return errors;
}

}  // namespace octavo::codec
