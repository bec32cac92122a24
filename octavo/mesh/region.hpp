#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace octavo::mesh {

using Point3 = std::array<double, 3>;

/// All lengths of a region are fractions of the domain's extent along x (so that a cube stays a cube), measured from
/// the domain's lower corner. A region may reach past a periodic side and continues on the other.
struct Box {
  Point3 lo{0, 0, 0};
  Point3 hi{1, 1, 1};
  bool operator==(const Box&) const = default;
};
struct Sphere {
  Point3 centre{0.5, 0.5, 0.5};
  double radius = 0.5;
  bool operator==(const Sphere&) const = default;
};
using Region = std::variant<Box, Sphere>;

/// Reads "box:x,y,z:x,y,z" or "sphere:x,y,z:r" (2-D and 1-D give as many numbers as there are axes; "center" in place
/// of a point stands for the middle of a domain of that `extent`, see Domain). Throws Error(usage) that quotes the text
/// and gives the expected form: for another form, NaN or infinity, an upper corner not above the lower, a radius not
/// above 0.
Region parse_region(std::string_view text, int dim, const Point3& extent = {1, 1, 1});
/// The inverse of parse_region, exact to the last bit.
std::string to_string(const Region& region, int dim);

/// The domain as regions see it: extent along each axis in fractions of the x extent, and which axes wrap.
struct Domain {
  int dim = 3;
  Point3 extent{1, 1, 1};
  std::array<bool, 3> periodic{false, false, false};
};

/// Whether the point is in the region: boxes are half-open, spheres open; images of the region along periodic axes
/// count.
bool contains(const Region& region, const Domain& domain, const Point3& point);
/// Whether the axis-aligned cell [lo, hi), no wider than the domain, and the region share volume; images count. A
/// sphere is tested by the exact distance of its centre to the cell: a cell that holds a contained point always
/// touches.
bool touches(const Region& region, const Domain& domain, const Point3& lo, const Point3& hi);

}  // namespace octavo::mesh
