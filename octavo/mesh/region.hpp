#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace octavo::mesh {

using Point3 = std::array<double, 3>;

/// All lengths of a region are fractions of the domain's extent along x (so that a cube stays a cube), measured from
/// the domain's lower corner. A shape may reach past a periodic side and continues on the other. Boxes are half-open,
/// all other shapes open. Axes that the data lack do not matter. Directions have the length 1; they lie in the data's
/// axes, or along one that the data lack.
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
struct Cylinder {
  Point3 centre{0.5, 0.5, 0.5};
  Point3 axis{0, 0, 1};
  double radius = 0.5;
  double height = 1;  ///< half of it on either side of the centre
  bool operator==(const Cylinder&) const = default;
};
/// The points of a sphere that are seen from its centre within an angle of a direction.
struct Sector {
  Point3 centre{0.5, 0.5, 0.5};
  double radius = 0.5;
  Point3 direction{0, 0, 1};
  double angle = 90;  ///< [degrees], above 0 and below 180
  bool operator==(const Sector&) const = default;
};
/// The points on the side of a plane to which its normal points. Along a periodic axis a point is taken where it is
/// nearest to `point`: so this is half of the domain.
struct HalfSpace {
  Point3 point{0.5, 0.5, 0.5};
  Point3 normal{0, 0, 1};
  bool operator==(const HalfSpace&) const = default;
};

/// The cells of some domains. No place tells its domain: in_domain() answers, and to all other functions this is
/// everything, or nothing where `takes_away`, so that a region is never smaller to them than it is.
struct Domains {
  std::vector<std::array<int, 2>> ranges{};  ///< first and last, counted from 1
  bool takes_away = false;                   ///< the region holds less for it
  bool operator==(const Domains&) const = default;
};

struct Region;
/// Points that are in both regions, in either, or in the first without the second.
enum class Join : std::uint8_t { both, either, without };
struct Joined {
  Join how = Join::both;
  std::vector<Region> of;  ///< two
  bool operator==(const Joined&) const;
};

/// A shape, or two regions joined.
struct Region : std::variant<Box, Sphere, Cylinder, Sector, HalfSpace, Domains, Joined> {
  using variant::variant;
};
Region join(Join how, Region first, Region second);
/// Everything: a box without sides.
Region everything();

/// Whether domains are named anywhere in the region.
bool names_domains(const Region& region);
/// The region as it is for the cells of a domain, counted from 0: it names no domain. Nothing: none of them is in it.
std::optional<Region> in_domain(const Region& region, int part);
/// The region as functions see it that are not told a domain: it names none. Nothing: no place is in it.
std::optional<Region> in_any_domain(const Region& region);

/// Reads a region; docs/regions.md has the grammar ("sphere:0.5,0.5,0.5:0.1 - box:0,0,0:1,1,0.5"). 2-D and 1-D give as
/// many numbers as there are axes; "center" in place of a point stands for the middle of a domain of that `extent`, see
/// Domain. Throws Error(usage) that quotes the text and gives the expected form: for another form, NaN or infinity, an
/// upper corner not above the lower, a radius, height or direction without a length, an angle not between 0 and 180, a
/// number of a domain below 1.
Region parse_region(std::string_view text, int dim, const Point3& extent = {1, 1, 1});
/// Reads one point of a region's text: numbers, or "center".
Point3 parse_point(std::string_view text, int dim, const Point3& extent = {1, 1, 1});
/// The inverse of parse_region, exact to the last bit.
std::string to_string(const Region& region, int dim);

/// The domain as regions see it: extent along each axis in fractions of the x extent, and which axes wrap.
struct Domain {
  int dim = 3;
  Point3 extent{1, 1, 1};
  std::array<bool, 3> periodic{false, false, false};
};

/// Whether the point is in the region; images of its shapes along periodic axes count.
bool contains(const Region& region, const Domain& domain, const Point3& point);

/// How a region and a cell meet.
enum class Overlap { none, some, all };
/// How the region and the axis-aligned cell [lo, hi), no wider than the domain, meet; images count. `none` and `all`
/// are certain: no point of the cell is in the region, or every point. For a box and a sphere, `some` is certain too:
/// they share volume (a sphere is tested by the exact distance of its centre to the cell).
Overlap meets(const Region& region, const Domain& domain, const Point3& lo, const Point3& hi);
/// Whether they may share volume: a cell that holds a contained point always touches.
bool touches(const Region& region, const Domain& domain, const Point3& lo, const Point3& hi);

/// A box that holds the region once: of a box, itself; of a sphere, the cube around it. Along axes on which the region
/// has no end, or on which joined regions are wider than a periodic domain, it has the domain's ends. If two regions
/// have nothing in common, their intersection is empty along an axis: lo == hi.
Box bounds(const Region& region, const Domain& domain);
/// The centre of a shape (of a half-space, its point), or of the first of joined regions.
Point3 centre(const Region& region, const Domain& domain);

}  // namespace octavo::mesh
