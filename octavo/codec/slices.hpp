#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "octavo/codec/quantise.hpp"

/// Inside the codec room, for encoders: how the errors of a chunk add up for each place that its grid may have.
namespace octavo::codec {

constexpr std::size_t num_slices = 256;

/// Sums over values of one sign by where in a step they stand, in slices of it.
struct Slices {
  std::array<double, num_slices> weight{};  ///< weight of an error of a whole unit, of all values there
  double squares = 0;                       ///< sum of the squares of all weights
};

/// The slices of positive and of negative values, and errors that do not depend on where the grid lies.
struct Sliced {
  std::array<Slices, 2> slices;
  double fixed = 0;
};
/// Slices the values with these logarithms for which `counted` is 1. Their weights are their magnitudes.
Sliced slice(const LogGrid& grid, std::span<const double> values, std::span<const double> logarithms,
             std::span<const std::uint8_t> counted);
/// Their weights are 1. Those within half a step of 0 go to 0, wherever the other cells are.
Sliced slice(const LinearGrid& grid, std::span<const double> values, std::span<const std::uint8_t> counted);

/// The error of a value at d steps from its grid point: rate * d + curved * (rate * d)^2 / 2, times its weight.
struct Response {
  double rate = 0;
  double curved = 0;
  double centre = 0.5;  ///< of a cell: how far its grid point lies above its edge, in steps
};

/// The sum of errors where cells begin at s / num_slices, for each s.
using Drift = std::array<double, num_slices>;
Drift drift_of(const Slices& slices, const Response& response);

/// Where cells begin so that the sum of errors is `wanted`: in the slice, of those where the sum grows past it, that
/// has the least in it. Nothing where there is none.
std::optional<double> find_phase(const Slices& slices, const Drift& drift, double wanted);

/// The errors of decoded values: sums over the counted ones, and whether all keep their bound.
struct CodingErrors {
  double sum = 0;      ///< decoded less given
  double squares = 0;  ///< of single errors
  bool within = true;
};
inline void add(CodingErrors& to, const CodingErrors& more) {
  to.sum += more.sum;
  to.squares += more.squares;
  to.within = to.within && more.within;
}
/// `relative`: the bound is times the given value's magnitude.
CodingErrors errors_of(std::span<const double> given, std::span<const double> decoded,
                       std::span<const std::uint8_t> counted, double bound, bool relative);

}  // namespace octavo::codec
