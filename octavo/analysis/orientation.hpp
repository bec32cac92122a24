#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "octavo/analysis/frame.hpp"

namespace octavo::analysis {

/// The axes of a picture that need not be those of the data: unit vectors, right x up = towards. The viewer stands on
/// the side that `towards` points to.
struct Orientation {
  mesh::Point3 right{1, 0, 0}, up{0, 1, 0}, towards{0, 0, 1};
  bool operator==(const Orientation&) const = default;
};

/// The picture seen from the side that `towards` points to (any length). Its vertical is `up` without the share along
/// `towards`; by default z, or y where the viewer looks along z. Throws Error(usage) that names the vector: without a
/// length, not finite, or `up` along `towards`.
Orientation make_orientation(const mesh::Point3& towards, const std::optional<mesh::Point3>& up = {});

/// Along an axis of the data, 0-2, with the other two ascending in the picture: of y, that is towards -y.
Orientation along_axis(int axis);

double dot(const mesh::Point3& a, const mesh::Point3& b);

/// A direction for people: "x", "-y", "(0.707, -0.707, 0)".
std::string name_of(const mesh::Point3& direction);

/// A picture of 3-D data along any axes. Lengths are code lengths; a point x is at dot(right, x), dot(up, x) in the
/// picture, at depth dot(towards, x).
struct AnyView {
  Orientation axes;
  std::array<std::size_t, 2> pixels{0, 0};
  std::array<double, 2> lo{}, hi{};   ///< window along right and up
  double depth_lo = 0, depth_hi = 0;  ///< of a slice, both are the plane's
  mesh::Point3 clip_lo{}, clip_hi{};  ///< nothing outside of this box shows
  std::optional<Within> within;       ///< and nothing outside of a region that is no box
};

/// Everything in a region (or the domain), seen in some direction: the window is the smallest rectangle that holds the
/// shadow of the sphere, or of the region's mesh::bounds. `pixels`: as in make_frame(), which has the errors too.
AnyView view_of_region(const mesh::Header& header, const Orientation& axes, const std::optional<mesh::Region>& region,
                       std::size_t pixels, RegionEdge edge = RegionEdge::usual);

/// The plane through `at` [code length] across `axes.towards`, where it lies in the region. Throws Error(usage) where
/// it does not meet the region.
AnyView view_of_plane(const mesh::Header& header, const Orientation& axes, const mesh::Point3& at,
                      const std::optional<mesh::Region>& region, std::size_t pixels);

/// A place along an axis, in cells of level 0, of which the domain has `cells`. If it is a side between cells of any
/// level but for rounding, that side.
double on_side_if_near(double place, double cells);

/// The stretch along an axis, in the units of regions, that holds the cells at a coordinate [code length], and hardly
/// more. A coordinate on a side of cells belongs to those above it.
std::array<double, 2> stretch_at(const mesh::Header& header, std::size_t axis, double at);

/// Boxes, in the units of regions, that hold the visible part of the plane. There are at most about 6 * 4^fineness.
std::vector<mesh::Box> boxes_of_plane(const mesh::Header& header, const AnyView& view, int fineness);

}  // namespace octavo::analysis
