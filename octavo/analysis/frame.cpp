#include "octavo/analysis/frame.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>

#include "octavo/base/error.hpp"

namespace octavo::analysis {
namespace {

using base::Error;
using base::Kind;

constexpr std::size_t most_pixels = 65536;
constexpr double most_repeats = 16;  // of a periodic domain in a window

struct AxisRange {
  double lo, hi;
};

AxisRange range_of(const mesh::Header& header, const std::optional<mesh::Region>& region, int axis) {
  if (axis >= header.dim) return {0, 1};
  const auto a = static_cast<std::size_t>(axis);
  if (!region) return {header.lo[a], header.hi[a]};
  const double unit = header.hi[0] - header.lo[0];
  const mesh::Box box = mesh::bounds(*region, mesh::domain_of(header));
  return {header.lo[a] + box.lo[a] * unit, header.lo[a] + box.hi[a] * unit};
}

AxisRange checked_range(const mesh::Header& header, const std::optional<mesh::Region>& region, int axis) {
  const AxisRange range = range_of(header, region, axis);
  if (!(range.lo < range.hi)) throw Error(Kind::usage, "the region is empty along " + std::string(1, "xyz"[axis]));
  const auto a = static_cast<std::size_t>(axis);
  if (axis < header.dim && range.hi - range.lo > most_repeats * (header.hi[a] - header.lo[a]))
    throw Error(Kind::usage,
                "the region is more than 16 times as wide as the domain along " + std::string(1, "xyz"[axis]));
  return range;
}

}  // namespace

void require_edge(const std::optional<mesh::Region>& region, RegionEdge edge) {
  if (edge == RegionEdge::clip && region && !std::holds_alternative<mesh::Box>(*region))
    throw Error(Kind::unsupported, "cells are clipped at the sides of a single box, not at other regions")
        .hint("edge centre, or a box");
}

Frame make_frame(const mesh::Header& header, int axis, Projection kind, const std::optional<mesh::Region>& region,
                 std::size_t pixels, RegionEdge edge) {
  require_edge(region, edge);
  if (axis < 0 || axis > 2)
    throw Error(Kind::usage, "axis of a map: expected 0, 1 or 2, found " + std::to_string(axis));
  if (pixels < 1 || pixels > most_pixels)
    throw Error(Kind::usage, "pixels of a map: expected 1 to 65536, found " + std::to_string(pixels));
  Frame frame;
  frame.axis = axis;
  frame.kind = kind;
  frame.image_axis = {axis == 0 ? 1 : 0, axis == 2 ? 1 : 2};
  const AxisRange depth = checked_range(header, region, axis);
  frame.depth_lo = depth.lo;
  frame.depth_hi = depth.hi;
  double longest = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const AxisRange range = checked_range(header, region, frame.image_axis[i]);
    frame.lo[i] = range.lo;
    frame.hi[i] = range.hi;
    if (frame.image_axis[i] < header.dim) longest = std::max(longest, range.hi - range.lo);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const double wanted = static_cast<double>(pixels) * (frame.hi[i] - frame.lo[i]) / longest;
    frame.pixels[i] = frame.image_axis[i] >= header.dim
                          ? 1
                          : std::max(std::size_t{1}, static_cast<std::size_t>(std::llround(wanted)));
  }
  if (region && (edge == RegionEdge::centre || !std::holds_alternative<mesh::Box>(*region)))
    frame.within = Within{*region, mesh::domain_of(header), header.lo, header.hi[0] - header.lo[0]};
  return frame;
}

std::vector<int> periods_between(const mesh::Header& header, int axis, double lo, double hi) {
  const auto a = static_cast<std::size_t>(axis);
  if (axis >= header.dim || !header.periodic[a]) return {0};
  const double extent = header.hi[a] - header.lo[a];
  const auto first = static_cast<int>(std::floor((lo - header.hi[a]) / extent));
  const auto last = static_cast<int>(std::ceil((hi - header.lo[a]) / extent));
  std::vector<int> periods;
  for (int k = first; k <= last; ++k)
    if (header.lo[a] + k * extent < hi && header.hi[a] + k * extent > lo) periods.push_back(k);
  return periods;
}

}  // namespace octavo::analysis
