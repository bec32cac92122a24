#include "octavo/mesh/region.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "octavo/base/error.hpp"
#include "tests/support/random_octree.hpp"
#include "tests/support/random_region.hpp"

namespace octavo::mesh {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(const std::string& text, int dim) {
  try {
    parse_region(text, dim);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::Kind::usage);
    EXPECT_THAT(error.what(), HasSubstr("region \"" + text + "\""));
    return error.what();
  }
  return "accepted";
}

TEST(parse_region, reads_boxes_and_spheres_in_each_dimension) {
  EXPECT_EQ(parse_region("box:0.1,0.2,0.3:0.4,0.5,0.6", 3), Region(Box{{0.1, 0.2, 0.3}, {0.4, 0.5, 0.6}}));
  EXPECT_EQ(parse_region("box:-0.5,0:0.5,1e-1", 2), Region(Box{{-0.5, 0, 0}, {0.5, 0.1, 1}}));
  EXPECT_EQ(parse_region("box:.25:+.75", 1), Region(Box{{0.25, 0, 0}, {0.75, 1, 1}}));
  EXPECT_EQ(parse_region("sphere:0.1,0.2,0.3:0.05", 3), Region(Sphere{{0.1, 0.2, 0.3}, 0.05}));
  EXPECT_EQ(parse_region(" sphere : 0.1 , 0.2 : 2 ", 2), Region(Sphere{{0.1, 0.2, 0.5}, 2}));
}

TEST(parse_region, center_is_the_middle_of_the_domain) {
  EXPECT_EQ(parse_region("sphere:center:0.1", 3), Region(Sphere{{0.5, 0.5, 0.5}, 0.1}));
  EXPECT_EQ(parse_region("sphere:centre:0.1", 2, {1, 3, 1}), Region(Sphere{{0.5, 1.5, 0.5}, 0.1}));
  EXPECT_EQ(parse_region("box:0,0,0:center", 3, {1, 2, 0.5}), Region(Box{{0, 0, 0}, {0.5, 1, 0.25}}));
}

TEST(parse_region, says_what_is_wrong_and_what_was_expected) {
  EXPECT_THAT(refusal("ball:0,0,0:1", 3), AllOf(HasSubstr("begin with \"box:\", \"sphere:\""), HasSubstr("x,y,z:r")));
  EXPECT_THAT(refusal("", 3), HasSubstr("begin with"));
  EXPECT_THAT(refusal("box:0,0,0", 3), HasSubstr("3 pieces between colons in \"box:0,0,0\", found 2"));
  EXPECT_THAT(refusal("box:0,0:1,1:", 2), HasSubstr("found 4"));
  EXPECT_THAT(refusal("box:0,0:1,1", 3), HasSubstr("expected 3 coordinates in \"0,0\", found 2"));
  EXPECT_THAT(refusal("sphere:0,0:1", 1), HasSubstr("expected 1 coordinate in \"0,0\", found 2"));
  EXPECT_THAT(refusal("box:0,a,0:1,1,1", 3), HasSubstr("\"a\" is not a number"));
  EXPECT_THAT(refusal("box:0,,0:1,1,1", 3), HasSubstr("\"\" is not a number"));
  EXPECT_THAT(refusal("sphere:0,0,0:0.1x", 3), HasSubstr("\"0.1x\" is not a number"));
  EXPECT_THAT(refusal("sphere:0,0,0:1e999", 3), HasSubstr("\"1e999\" is not a number"));
  EXPECT_THAT(refusal("sphere:nan,0,0:0.1", 3), HasSubstr("expected a finite number, found \"nan\""));
  EXPECT_THAT(refusal("box:0,0,0:1,inf,1", 3), HasSubstr("expected a finite number, found \"inf\""));
  EXPECT_THAT(refusal("box:0,0.5,0:1,0.5,1", 3), HasSubstr("upper corner must be above the lower one along y"));
  EXPECT_THAT(refusal("box:0.5:0.4", 1), HasSubstr("along x"));
  EXPECT_THAT(refusal("sphere:0,0,0:0", 3), HasSubstr("the radius must be positive"));
  EXPECT_THAT(refusal("sphere:0,0,0:-1", 3), HasSubstr("the radius must be positive"));
}

TEST(parse_region, reads_the_other_shapes) {
  EXPECT_EQ(parse_region("cylinder:center:z:0.1:0.4", 3), Region(Cylinder{{0.5, 0.5, 0.5}, {0, 0, 1}, 0.1, 0.4}));
  EXPECT_EQ(parse_region("cylinder:0,0:3,4:0.1:0.4", 2), Region(Cylinder{{0, 0, 0.5}, {0.6, 0.8, 0}, 0.1, 0.4}));
  EXPECT_EQ(parse_region("sector:center:0.2:x:30", 3), Region(Sector{{0.5, 0.5, 0.5}, 0.2, {1, 0, 0}, 30}));
  EXPECT_EQ(parse_region("halfspace:0.1,0.2,0.3:0,-2,0", 3), Region(HalfSpace{{0.1, 0.2, 0.3}, {0, -1, 0}}));
  EXPECT_EQ(parse_region("shell:center:0.1:0.2", 3),
            join(Join::without, Sphere{{0.5, 0.5, 0.5}, 0.2}, Sphere{{0.5, 0.5, 0.5}, 0.1}));
  EXPECT_EQ(parse_region(" all ", 2), everything());
  EXPECT_THAT(refusal("cylinder:center:0,0,0:1:1", 3), HasSubstr("\"0,0,0\" has no length"));
  EXPECT_THAT(refusal("cylinder:center:z:1:-1", 3), HasSubstr("the height must be positive"));
  EXPECT_THAT(refusal("cylinder:center:z:1", 3), HasSubstr("expected 5 pieces"));
  EXPECT_THAT(refusal("cylinder:center:z:100:1", 3), HasSubstr("larger than 16 domains"));
  EXPECT_THAT(refusal("halfspace:1e300,0,0:z", 3), HasSubstr("as far away"));
  EXPECT_THAT(refusal("sector:center:1:z:180", 3), HasSubstr("below 180"));
  EXPECT_THAT(refusal("shell:center:0.2:0.2", 3), HasSubstr("outer radius must be above"));
}

TEST(parse_region, joins_as_python_does) {
  const Region a = Sphere{{0.5, 0.5, 0.5}, 0.1}, b = Box{{0, 0, 0}, {1, 1, 0.5}}, c = Sphere{{0, -0.5, 0.001}, 0.3};
  const std::string sa = "sphere:center:0.1", sb = "box:0,0,0:1,1,0.5", sc = "sphere:0,-0.5,1e-3:0.3";
  EXPECT_EQ(parse_region(sa + " - " + sb, 3), join(Join::without, a, b));
  EXPECT_EQ(parse_region(sa + "-" + sc, 3), join(Join::without, a, c));
  EXPECT_EQ(parse_region(sc + "&" + sc, 3), join(Join::both, c, c));
  EXPECT_EQ(parse_region(sa + " | " + sb + " & " + sc, 3), join(Join::either, a, join(Join::both, b, c)));
  EXPECT_EQ(parse_region(sa + " & " + sb + " - " + sc, 3), join(Join::both, a, join(Join::without, b, c)));
  EXPECT_EQ(parse_region("((" + sa + " | " + sb + ")) - " + sc, 3), join(Join::without, join(Join::either, a, b), c));
  EXPECT_EQ(parse_region(sa + "-" + sb + "-" + sc, 3), join(Join::without, join(Join::without, a, b), c));
  EXPECT_EQ(parse_region("all-(" + sa + ")", 3), join(Join::without, everything(), a));
  EXPECT_THAT(refusal(sa + " & ", 3), HasSubstr("expected \"\" to begin with"));
  EXPECT_THAT(refusal("(" + sa, 3), HasSubstr("not closed"));
  EXPECT_THAT(refusal(sa + ")", 3), HasSubstr("expected & or | or - at \")\""));
  EXPECT_THAT(refusal(sa + " sphere:center:0.2", 3), HasSubstr("pieces between colons"));
  std::string many = sa;
  for (int k = 0; k < 1000; ++k) many += "|" + sa;
  EXPECT_THAT(refusal(many, 3), HasSubstr("more than 1000 shapes"));
  EXPECT_THAT(refusal(std::string(100, '(') + sa + std::string(100, ')'), 3), HasSubstr("more than 64 parentheses"));
}

TEST(parse_region, reads_back_what_to_string_writes) {
  testing::Random random(1);
  for (int trial = 0; trial < 500; ++trial) {
    const int dim = 1 + static_cast<int>(random.below(3));
    Box box;
    Sphere sphere;
    for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) {
      box.lo[a] = random.uniform() - 0.5;
      box.hi[a] = box.lo[a] + random.uniform() + 1e-9;
      sphere.centre[a] = random.uniform() * 1e-7;
    }
    sphere.radius = random.uniform() * 1e9 + 1e-300;
    EXPECT_EQ(parse_region(to_string(box, dim), dim), Region(box));
    EXPECT_EQ(parse_region(to_string(sphere, dim), dim), Region(sphere));
  }
  EXPECT_EQ(to_string(Sphere{{0.5, 0.25, 0}, 0.1}, 2), "sphere:0.5,0.25:0.1");
}

const Domain closed{3, {1, 1, 1}, {false, false, false}};
const Domain periodic{3, {1, 1, 1}, {true, true, true}};

TEST(contains, boxes_are_half_open) {
  const Region box = Box{{0.25, 0.25, 0.25}, {0.5, 0.5, 0.5}};
  for (const Domain& domain : {closed, periodic}) {
    EXPECT_TRUE(contains(box, domain, {0.25, 0.25, 0.25}));
    EXPECT_TRUE(contains(box, domain, {std::nextafter(0.5, 0), 0.3, 0.3}));
    EXPECT_FALSE(contains(box, domain, {0.5, 0.3, 0.3}));
    EXPECT_FALSE(contains(box, domain, {0.3, std::nextafter(0.25, 0), 0.3}));
  }
}

TEST(contains, boxes_side_by_side_hold_each_point_once_across_a_periodic_side) {
  testing::Random random(2);
  for (int trial = 0; trial < 3000; ++trial) {
    const double lo = 3 * random.uniform() - 1.5, middle = lo + random.uniform(), x = random.uniform();
    const Domain line{1, {1, 1, 1}, {true, false, false}};
    const Region a = Box{{lo, 0, 0}, {middle, 1, 1}}, b = Box{{middle, 0, 0}, {lo + 1, 1, 1}};
    EXPECT_NE(contains(a, line, {x, 0, 0}), contains(b, line, {x, 0, 0})) << lo << " " << middle << " " << x;
  }
}

TEST(contains, a_box_as_wide_as_the_period_holds_every_point) {
  testing::Random random(6);
  const Domain line{1, {1, 1, 1}, {true, false, false}};
  for (int trial = 0; trial < 2000; ++trial) {
    Box box;
    box.lo[0] = 3 * random.uniform() - 1.5;
    box.hi[0] = box.lo[0] + 1;
    if (box.hi[0] - box.lo[0] < 1) continue;
    const double seam = box.lo[0] - std::floor(box.lo[0]);
    for (double x : {seam, std::nextafter(seam, 0), std::nextafter(seam, 1), random.uniform()})
      ASSERT_TRUE(contains(box, line, {x, 0, 0})) << box.lo[0] << " " << x;
  }
}

TEST(contains, boxes_go_on_beyond_periodic_sides_only) {
  const Region box = Box{{-0.25, 0.75, 0}, {0.25, 1.5, 1}};
  EXPECT_TRUE(contains(box, periodic, {0.9, 0.4, 0.5}));
  EXPECT_TRUE(contains(box, periodic, {0.1, 0.8, 0.5}));
  EXPECT_FALSE(contains(box, periodic, {0.5, 0.8, 0.5}));
  EXPECT_FALSE(contains(box, closed, {0.9, 0.4, 0.5}));
  EXPECT_TRUE(contains(box, closed, {0.1, 0.8, 0.5}));
  EXPECT_TRUE(contains(Box{{-7, -7, -7}, {7, 7, 7}}, periodic, {0.99, 0, 0.5}));
  EXPECT_TRUE(contains(Box{{1e300, 0, 0}, {1.1e300, 1, 1}}, periodic, {0.5, 0.5, 0.5}));
}

TEST(contains, spheres_reach_over_periodic_sides) {
  const Region sphere = Sphere{{0.05, 0.5, 0.5}, 0.125};
  EXPECT_TRUE(contains(sphere, periodic, {0.95, 0.5, 0.5}));
  EXPECT_FALSE(contains(sphere, closed, {0.95, 0.5, 0.5}));
  EXPECT_FALSE(contains(sphere, periodic, {0.9, 0.5, 0.5}));
  EXPECT_TRUE(contains(Sphere{{-2.95, 7.5, 0.5}, 0.125}, periodic, {0.95, 0.5, 0.5}));
}

/// The definitions in long doubles, trying all images.
struct Definition {
  const Domain& domain;
  const Point3& point;

  template <class Holds>
  bool any_image(const Point3& centre, Holds&& holds) const {
    for (int shift = 0; shift < 13 * 13 * 13; ++shift) {
      const std::array<int, 3> k{shift % 13 - 6, shift / 13 % 13 - 6, shift / 169 - 6};
      std::array<long double, 3> d{};
      bool image = true;
      for (std::size_t a = 0; a < 3; ++a) {
        if (k[a] != 0 && (static_cast<int>(a) >= domain.dim || !domain.periodic[a])) image = false;
        if (static_cast<int>(a) < domain.dim)
          d[a] = static_cast<long double>(point[a]) + k[a] * static_cast<long double>(domain.extent[a]) - centre[a];
      }
      if (image && holds(d)) return true;
    }
    return false;
  }
  static long double dot(const Point3& n, const std::array<long double, 3>& d) {
    return n[0] * d[0] + n[1] * d[1] + n[2] * d[2];
  }
  static long double length(const std::array<long double, 3>& d) { return std::hypot(d[0], d[1], d[2]); }

  bool operator()(const Sphere& sphere) const {
    return any_image(sphere.centre, [&](const auto& d) { return length(d) < sphere.radius; });
  }
  bool operator()(const Cylinder& c) const {
    return any_image(c.centre, [&](const auto& d) {
      const long double h = dot(c.axis, d);
      return std::abs(h) < c.height / 2 && std::sqrt(std::max(0.0L, length(d) * length(d) - h * h)) < c.radius;
    });
  }
  bool operator()(const Sector& s) const {
    return any_image(s.centre, [&](const auto& d) {
      return length(d) < s.radius && dot(s.direction, d) > std::cos(s.angle * std::acos(-1.0L) / 180) * length(d);
    });
  }
  bool operator()(const HalfSpace& half) const {
    std::array<long double, 3> d{};
    for (std::size_t a = 0; a < static_cast<std::size_t>(domain.dim); ++a) {
      d[a] = static_cast<long double>(point[a]) - half.point[a];
      if (domain.periodic[a]) d[a] -= std::round(d[a] / domain.extent[a]) * domain.extent[a];
    }
    return dot(half.normal, d) > 0;
  }
  bool operator()(const Box& box) const {
    return any_image(Point3{}, [&](const auto& d) {
      for (std::size_t a = 0; a < static_cast<std::size_t>(domain.dim); ++a)
        if (!(box.lo[a] <= d[a] && d[a] < box.hi[a])) return false;
      return true;
    });
  }
  bool operator()(const Joined& joined) const {
    const bool a = (*this)(joined.of[0]), b = (*this)(joined.of[1]);
    return joined.how == Join::both ? a && b : joined.how == Join::either ? a || b : a && !b;
  }
  bool operator()(const Region& region) const {
    return std::visit([&](const auto& shape) { return (*this)(shape); }, static_cast<const Region::variant&>(region));
  }
};

Domain random_domain(testing::Random& random) {
  Domain domain{1 + static_cast<int>(random.below(3)), {1, 0.75, 1.5}, {}};
  for (bool& side : domain.periodic) side = random.chance(0.5);
  return domain;
}

TEST(contains, every_region_is_as_defined) {
  testing::Random random(7);
  int inside = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    const Domain domain = random_domain(random);
    const Region region = testing::random_region(random, domain.dim, 3);
    EXPECT_EQ(parse_region(to_string(region, 3), 3), region);
    for (int sample = 0; sample < 4; ++sample) {
      Point3 point;
      for (std::size_t a = 0; a < 3; ++a) point[a] = random.uniform() * domain.extent[a];
      const bool found = contains(region, domain, point);
      ASSERT_EQ(found, Definition(domain, point)(region)) << to_string(region, 3) << ", " << domain.dim << "-D";
      inside += found ? 1 : 0;
    }
  }
  EXPECT_GT(inside, 3000);
}

// No cell with a contained point is `none`, no cell with a point outside `all`; and few cells are `some` for nothing.
TEST(meets, is_certain_of_none_and_all) {
  testing::Random random(8);
  int none = 0, all = 0, some = 0, needless = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const Domain domain = random_domain(random);
    const Region region = testing::random_region(random, domain.dim, trial % 3);
    Point3 lo, hi;
    const double edge = 1.0 / static_cast<double>(4 << random.below(3));
    for (std::size_t a = 0; a < 3; ++a) {
      lo[a] = edge * std::floor(random.uniform() * domain.extent[a] / edge);
      hi[a] = lo[a] + edge;
    }
    const Overlap overlap = meets(region, domain, lo, hi);
    bool in = false, out = false;
    for (int sample = 0; sample < 40; ++sample) {
      Point3 point;
      for (std::size_t a = 0; a < 3; ++a) {
        const double share = sample < 8 ? (sample >> a & 1) * (1 - 1e-15) : random.uniform();
        point[a] = std::min(lo[a] + share * edge, std::nextafter(hi[a], 0));
      }
      (contains(region, domain, point) ? in : out) = true;
    }
    const auto text = [&] {
      return to_string(region, 3) + " at " + std::to_string(lo[0]) + "," + std::to_string(lo[1]) + "," +
             std::to_string(lo[2]);
    };
    if (overlap == Overlap::none) {
      ASSERT_FALSE(in) << text();
      ++none;
    } else if (overlap == Overlap::all) {
      ASSERT_FALSE(out) << text();
      ++all;
    } else {
      ++some;
      needless += in && out ? 0 : 1;
    }
  }
  EXPECT_GT(none, 5000);
  EXPECT_GT(all, 1000);
  EXPECT_LT(needless, some / 4) << some;
}

TEST(bounds, hold_the_region_once) {
  testing::Random random(9);
  int held = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    const Domain domain = random_domain(random);
    const Region region = testing::random_region(random, domain.dim, 2);
    const Box box = bounds(region, domain);
    for (int sample = 0; sample < 10; ++sample) {
      Point3 point;
      for (std::size_t a = 0; a < 3; ++a) point[a] = random.uniform() * domain.extent[a];
      if (!contains(region, domain, point)) continue;
      ++held;
      bool empty = false;
      for (std::size_t a = 0; a < static_cast<std::size_t>(domain.dim); ++a) empty = empty || box.lo[a] >= box.hi[a];
      ASSERT_FALSE(empty) << to_string(region, 3);
      ASSERT_TRUE(contains(box, domain, point)) << to_string(region, 3) << " in " << to_string(box, 3);
    }
  }
  EXPECT_GT(held, 3000);
}

TEST(bounds, of_regions_that_meet_across_a_periodic_side) {
  const Region left = Sphere{{0.05, 0.5, 0.5}, 0.1}, right = Sphere{{0.95, 0.5, 0.5}, 0.125};
  const Box both = bounds(join(Join::both, left, right), periodic);
  EXPECT_DOUBLE_EQ(both.lo[0], -0.05);
  EXPECT_NEAR(both.hi[0], 0.075, 1e-15);
  const Box apart = bounds(join(Join::both, left, right), closed);
  EXPECT_EQ(apart.lo[0], apart.hi[0]);
  EXPECT_EQ(bounds(join(Join::without, everything(), left), periodic), Box{});
  EXPECT_EQ(bounds(HalfSpace{{0.3, 0, 0}, {1, 0, 0}}, closed), (Box{{0.3, 0, 0}, {1, 1, 1}}));
  EXPECT_EQ(bounds(HalfSpace{{0.3, 0, 0}, {1, 0, 0}}, periodic), Box{});
  EXPECT_EQ(centre(join(Join::without, right, left), periodic), (Point3{0.95, 0.5, 0.5}));
}

TEST(contains, unused_axes_do_not_matter) {
  const Domain plane{2, {1, 1, 1}, {false, false, false}};
  EXPECT_TRUE(contains(Box{{0, 0, 0.4}, {1, 1, 0.5}}, plane, {0.5, 0.5, 0}));
  EXPECT_TRUE(contains(Sphere{{0.5, 0.5, 9}, 0.1}, plane, {0.5, 0.5, 0}));
}

TEST(touches, a_box_must_share_volume_not_only_a_side) {
  const Region box = Box{{0.25, 0, 0}, {0.5, 1, 1}};
  for (const Domain& domain : {closed, periodic}) {
    EXPECT_FALSE(touches(box, domain, {0, 0, 0}, {0.25, 0.25, 0.25}));
    EXPECT_TRUE(touches(box, domain, {0.25, 0, 0}, {0.5, 0.25, 0.25}));
    EXPECT_FALSE(touches(box, domain, {0.5, 0, 0}, {0.75, 0.25, 0.25}));
    EXPECT_TRUE(touches(box, domain, {0, 0, 0}, {1, 1, 1}));
    EXPECT_TRUE(touches(Box{{0.3, 0.3, 0.3}, {0.31, 0.31, 0.31}}, domain, {0.25, 0.25, 0.25}, {0.5, 0.5, 0.5}));
  }
}

TEST(touches, a_sphere_by_its_distance_to_the_cell_not_to_its_centre) {
  const Region sphere = Sphere{{0.5, 0.5, 0.5}, 0.125};
  EXPECT_TRUE(touches(sphere, closed, {0.5625, 0.5, 0.5}, {1, 1, 1}));
  EXPECT_FALSE(touches(sphere, closed, {0.625, 0.5, 0.5}, {1, 1, 1}));
  // The corner of the cell is sqrt(3) / 16 = 0.108 away; then sqrt(3) / 8.
  EXPECT_TRUE(touches(sphere, closed, {0.5625, 0.5625, 0.5625}, {1, 1, 1}));
  EXPECT_FALSE(touches(sphere, closed, {0.625, 0.625, 0.625}, {1, 1, 1}));
  EXPECT_TRUE(touches(Sphere{{0.99, 0.99, 0.99}, 0.03}, periodic, {0, 0, 0}, {0.125, 0.125, 0.125}));
  EXPECT_FALSE(touches(Sphere{{0.99, 0.99, 0.99}, 0.03}, closed, {0, 0, 0}, {0.125, 0.125, 0.125}));
}

// All numbers are multiples of 1/64: the reference, which tries all images, is exact.
double dyadic(testing::Random& random, double lo, double hi) {
  return lo + std::floor(random.uniform() * (hi - lo) * 64) / 64;
}

struct Case {
  Domain domain;
  Point3 lo, hi;
};

Case random_case(testing::Random& random) {
  Case out{{1 + static_cast<int>(random.below(3)), {1, 0.5, 2}, {}}, {}, {}};
  for (std::size_t a = 0; a < 3; ++a) {
    out.domain.periodic[a] = random.chance(0.5);
    const double size = out.domain.extent[a] / static_cast<double>(std::size_t{1} << random.below(4));
    out.lo[a] = size * std::floor(random.uniform() * out.domain.extent[a] / size);
    out.hi[a] = out.lo[a] + size;
  }
  return out;
}

template <class Meets>
bool along_all_axes(const Case& c, Meets&& meets) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(c.domain.dim); ++a) {
    bool met = false;
    for (int k = -6; k <= 6; ++k)
      if (k == 0 || c.domain.periodic[a]) met = met || meets(a, k * c.domain.extent[a]);
    if (!met) return false;
  }
  return true;
}

TEST(touches, agrees_with_trying_all_images_of_a_box) {
  testing::Random random(3);
  for (int trial = 0; trial < 20000; ++trial) {
    const Case c = random_case(random);
    Box box;
    for (std::size_t a = 0; a < 3; ++a) {
      box.lo[a] = dyadic(random, -1.5, 1.5);
      box.hi[a] = box.lo[a] + dyadic(random, 1.0 / 64, random.chance(0.8) ? 0.25 : 2.5);
    }
    const bool cell = along_all_axes(
        c, [&](std::size_t a, double shift) { return box.lo[a] + shift < c.hi[a] && c.lo[a] < box.hi[a] + shift; });
    const bool point = along_all_axes(
        c, [&](std::size_t a, double shift) { return box.lo[a] + shift <= c.lo[a] && c.lo[a] < box.hi[a] + shift; });
    ASSERT_EQ(touches(box, c.domain, c.lo, c.hi), cell) << to_string(box, 3);
    ASSERT_EQ(contains(box, c.domain, c.lo), point) << to_string(box, 3);
  }
}

TEST(touches, agrees_with_trying_all_images_of_a_sphere) {
  testing::Random random(4);
  for (int trial = 0; trial < 20000; ++trial) {
    const Case c = random_case(random);
    Sphere sphere;
    for (double& x : sphere.centre) x = dyadic(random, -1.5, 1.5);
    sphere.radius = dyadic(random, 1.0 / 64, 0.7);
    double square = 0;
    for (std::size_t a = 0; a < static_cast<std::size_t>(c.domain.dim); ++a) {
      double nearest = 1e9;
      for (int k = -6; k <= 6; ++k) {
        const double centre = sphere.centre[a] + k * c.domain.extent[a];
        if (k == 0 || c.domain.periodic[a])
          nearest = std::min(nearest, std::max({c.lo[a] - centre, centre - c.hi[a], 0.0}));
      }
      square += nearest * nearest;
    }
    ASSERT_EQ(touches(sphere, c.domain, c.lo, c.hi), square < sphere.radius * sphere.radius) << to_string(sphere, 3);
  }
}

TEST(touches, a_cell_around_a_contained_point) {
  testing::Random random(5);
  for (int trial = 0; trial < 20000; ++trial) {
    const Case c = random_case(random);
    Point3 point;
    Box box;
    Sphere sphere;
    for (std::size_t a = 0; a < 3; ++a) {
      point[a] = c.lo[a] + (c.hi[a] - c.lo[a]) * random.uniform();
      box.lo[a] = 3 * random.uniform() - 1.5;
      box.hi[a] = box.lo[a] + random.uniform();
      sphere.centre[a] = 3 * random.uniform() - 1.5;
    }
    sphere.radius = random.uniform();
    for (const Region& region : {Region(box), Region(sphere)})
      if (contains(region, c.domain, point)) {
        ASSERT_TRUE(touches(region, c.domain, c.lo, c.hi)) << to_string(region, 3);
      }
  }
}

}  // namespace
}  // namespace octavo::mesh
