#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "octavo/mesh/octree.hpp"
#include "octavo/mesh/region.hpp"

namespace octavo::mesh {

/// A position along a space-filling curve: the integer high * 2^64 + low, 0 <= key <= 2^96 (3-D with 32 bits an axis).
struct CurveKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const CurveKey&) const = default;
};

/// A half-open stretch of a curve.
struct KeyInterval {
  CurveKey begin;
  CurveKey end;
  bool operator==(const KeyInterval&) const = default;
};

/// The value nearest to the key, as RAMSES stores it in 8 bytes; exact below 2^53.
double to_double(const CurveKey& key) noexcept;
/// The key of a stored number, its fraction cut off. Throws Error(corrupt) for NaN, a negative number or 2^96 < value.
CurveKey key_from_double(double value);
/// One past the last key of a curve of that many bits an axis: 2^(dim * bits).
CurveKey curve_end(int dim, int bits);

/// Curves through a grid of 2^bits cells along each axis. Both visit a cube of the next coarser grid completely before
/// they leave it, so the key of a cell at a depth is the first dim * depth bits of the keys of all that lies in it.
/// - morton: the Z curve, x the lowest bit of each digit: the order of an Octree's families.
/// - hilbert: the curve of RAMSES (3-D: 12 orientations, 2-D: 4, 1-D: the position itself), begins at the origin.
enum class Curve : std::uint8_t { morton = 0, hilbert = 1 };

/// The key of a cell: `dim` is 1-3, `bits` 0-32, entries of `cell` below 2^bits (higher bits and axes are ignored).
CurveKey curve_key(Curve curve, int dim, int bits, const Coordinate& cell) noexcept;

/// The first key, at `bits` an axis, of a cell of the coarser grid of 2^depth cells an axis; depth <= bits.
CurveKey first_key(Curve curve, int dim, int bits, int depth, const Coordinate& cell) noexcept;
/// The key, at `bits` an axis, of that coarser cell's centre: what decides who owns it. With depth == bits, its own
/// key.
CurveKey centre_key(Curve curve, int dim, int bits, int depth, const Coordinate& cell) noexcept;

/// Asked for cells of the curve's own tree: those of the grid of 2^depth cells an axis.
using Classify = std::function<Overlap(int depth, const Coordinate& cell)>;

struct IntervalLimits {
  int depth = 32;                ///< no finer than this (and than `bits`)
  std::size_t max_cells = 4096;  ///< cells kept at once; a region that needs more is covered more coarsely
};

/// Stretches of the curve that hold every key of the region, ascending and apart: the curve's tree is descended where
/// the region meets a cell partly, down to the limits, so the stretches can hold more than the region but never less.
/// At most `max_cells` intervals.
///
/// Cells are owned by the key of their centre, which may lie outside a region that touches the cell. Take a depth no
/// deeper than that of the coarsest leaf and the stretches hold the centres of all leaves that touch the region.
std::vector<KeyInterval> key_intervals(Curve curve, int dim, int bits, const Classify& classify,
                                       const IntervalLimits& limits = {});
/// The same for the cells lo <= index < hi of the grid of 2^bits cells an axis; cells outside of it are ignored.
std::vector<KeyInterval> key_intervals(Curve curve, int dim, int bits, const Index3& lo, const Index3& hi,
                                       const IntervalLimits& limits = {});

/// The stretches d, ascending, for which [bounds[d], bounds[d+1]) meets any of the intervals. Both lists are sorted.
std::vector<int> stretches_touching(const std::vector<CurveKey>& bounds, const std::vector<KeyInterval>& intervals);

}  // namespace octavo::mesh
