#pragma once
#include "octavo/codec/boxes/walk.hpp"

/// Inside the codec room: values interpolated from those around them (docs/codecs.md, "Boxes").
namespace octavo::codec {

/// Interpolated values of some points: `value` plus a weight times `curve`. Where `known` is 0, there is nothing to
/// interpolate from.
struct Interpolated {
  alignas(32) std::array<double, Points::most> value{}, curve{};
  std::array<std::uint8_t, Points::most> known{};
};
void interpolate(const Points& points, Interpolated& result);

/// The expected values, where something is known.
void expect(const Interpolated& found, double weight, std::size_t count, double* expected);

/// Adds, for each of four weights, how far each known value of some points is from what is expected with it; as a share
/// of both, if `relative`. Values that are not known, and zeros if `relative`, are left out.
void add_misses(const Points& points, const Interpolated& found, const double* values,
                const std::array<double, 4>& weights, bool relative, std::array<double, 4>& sums);

}  // namespace octavo::codec
