#include "octavo/analysis/project.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "octavo/analysis/select.hpp"
#include "octavo/base/error.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::analysis {
namespace {

constexpr int all_levels = std::numeric_limits<int>::max();
constexpr double infinity = std::numeric_limits<double>::infinity();

mesh::Header header_of(const mesh::Octree& tree, bool periodic) {
  mesh::Header header;
  header.dim = tree.dim;
  header.roots = tree.roots;
  header.block = tree.block;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis) {
    header.lo[axis] = 0.3;
    header.hi[axis] = 0.3 + 1.7 * static_cast<double>(tree.roots[axis]);
    header.periodic[axis] = periodic;
  }
  return header;
}

/// A part with the smooth fields "rho" and "w".
mesh::Part part_of(const mesh::Octree& tree, std::uint64_t seed) {
  mesh::Part part;
  part.mesh = tree;
  part.fields = {testing::smooth_field(tree, "rho", seed), testing::smooth_field(tree, "w", seed + 1)};
  return part;
}

std::vector<double> image_of(const mesh::Part& part, const mesh::Header& header, const Frame& frame,
                             const std::string& weight = "", int max_level = all_levels) {
  ImageRows image = blank_rows(frame, {frame.pixels[1]});
  add(frame.kind, image, project(part, header, frame, "rho", weight, max_level));
  return finish(frame.kind, std::move(image));
}

/// Pixel by pixel and cell by cell, from the definition, in extended precision. Overlaps below 1e-12 are rounding.
struct Reference {
  const mesh::Part& part;
  const mesh::Header& header;
  const Frame& frame;
  const std::string& weight;

  static long double overlap(long double a, long double b, long double lo, long double hi) {
    return std::max(0.0L, std::min(b, hi) - std::max(a, lo));
  }

  /// The share of a window's pixel that the cell's interval covers; along the line of sight, its length.
  long double along(int axis, long double a, long double b, long double lo, long double hi, bool share) const {
    if (axis >= header.dim) return 1;
    const long double length = overlap(a, b, lo, hi);
    return share ? length / (hi - lo) : length;
  }

  bool meets(const long double* lo, const long double* hi) const {
    const auto d = static_cast<std::size_t>(frame.axis);
    bool both = frame.axis >= header.dim || overlap(lo[d], hi[d], frame.depth_lo, frame.depth_hi) > 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto a = static_cast<std::size_t>(frame.image_axis[i]);
      both = both && (frame.image_axis[i] >= header.dim || overlap(lo[a], hi[a], frame.lo[i], frame.hi[i]) > 0);
    }
    return both;
  }

  std::vector<double> image() const {
    const std::size_t nx = frame.pixels[0], ny = frame.pixels[1];
    std::vector<long double> sum(nx * ny), weights(nx * ny), extreme(nx * ny, NAN);
    const auto value = cell_field(part, "rho").as<double>();
    const auto w = weight.empty() ? std::span<const double>{} : cell_field(part, weight).as<double>();
    const double unit = header.hi[0] - header.lo[0];
    for_each_selected(std::get<mesh::Octree>(part.mesh), header, {}, [&](const Cells& cells) {
      const mesh::Point3 size = mesh::cell_size(header, cells.level);
      for (std::size_t k = 0; k < cells.positions.size(); ++k)
        for (int shift = 0; shift < 19 * 19 * 19; ++shift) {
          const int shifts[] = {shift % 19 - 9, shift / 19 % 19 - 9, shift / 361 - 9};
          long double lo[3]{}, hi[3]{};
          bool shown = true;
          mesh::Point3 centre{};
          for (std::size_t a = 0; a < 3; ++a) {
            if (shifts[a] != 0 && (static_cast<int>(a) >= header.dim || !header.periodic[a])) shown = false;
            lo[a] = header.lo[a] + shifts[a] * (static_cast<long double>(header.hi[a]) - header.lo[a]) +
                    static_cast<long double>(cells.positions[k][a]) * size[a];
            hi[a] = lo[a] + size[a];
            centre[a] = static_cast<double>(cells.positions[k][a] + 0.5L) * size[a] / unit;
          }
          if (!shown || !meets(lo, hi) ||
              (frame.within && !mesh::contains(frame.within->region, mesh::domain_of(header), centre)))
            continue;
          add_cell(lo, hi, value[cells.values[k]], w.empty() ? 1.0 : w[cells.values[k]], sum, weights, extreme);
        }
    });
    std::vector<double> out(nx * ny, NAN);
    for (std::size_t p = 0; p < out.size(); ++p) {
      if (weights[p] == 0) continue;
      out[p] = static_cast<double>(frame.kind == Projection::integral ? sum[p]
                                   : frame.kind == Projection::mean   ? sum[p] / weights[p]
                                                                      : extreme[p]);
    }
    return out;
  }

  void add_cell(const long double* lo, const long double* hi, double value, double w, std::vector<long double>& sum,
                std::vector<long double>& weights, std::vector<long double>& extreme) const {
    const int u = frame.image_axis[0], v = frame.image_axis[1], d = frame.axis;
    const long double path = along(d, lo[d], hi[d], frame.depth_lo, frame.depth_hi, false);
    if (path < 1e-12L) return;
    for (std::size_t y = 0; y < frame.pixels[1]; ++y) {
      const long double dy = (static_cast<long double>(frame.hi[1]) - frame.lo[1]) / frame.pixels[1];
      const long double sy = along(v, lo[v], hi[v], frame.lo[1] + y * dy, frame.lo[1] + (y + 1) * dy, true);
      if (sy < 1e-12L) continue;
      for (std::size_t x = 0; x < frame.pixels[0]; ++x) {
        const long double dx = (static_cast<long double>(frame.hi[0]) - frame.lo[0]) / frame.pixels[0];
        const long double share = sy * along(u, lo[u], hi[u], frame.lo[0] + x * dx, frame.lo[0] + (x + 1) * dx, true);
        if (share < 1e-12L) continue;
        const std::size_t p = y * frame.pixels[0] + x;
        sum[p] += value * w * path * share;
        weights[p] += w * path * share;
        const bool better = frame.kind == Projection::maximum ? value > extreme[p] : value < extreme[p];
        if (std::isnan(extreme[p]) || better) extreme[p] = value;
      }
    }
  }
};

void expect_same(const std::vector<double>& found, const std::vector<double>& expected, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t p = 0; p < found.size(); ++p) {
    ASSERT_EQ(std::isnan(found[p]), std::isnan(expected[p])) << what << ", pixel " << p;
    if (std::isnan(found[p])) continue;
    ASSERT_NEAR(found[p], expected[p], 2e-11 * std::abs(expected[p])) << what << ", pixel " << p;
  }
}

const std::optional<mesh::Region> regions[] = {
    std::nullopt,
    mesh::Box{{0.25, 0.125, 0.25}, {0.75, 0.625, 1}},     // on cell edges
    mesh::Box{{0.21, 0.13, 0.3}, {0.777, 0.61, 0.9123}},  // not
    mesh::Box{{-0.3, 0.71, -0.11}, {0.24, 1.3, 0.4}},     // past the sides
    mesh::Box{{-0.25, -0.5, 0.1}, {1.5, 1.75, 0.2}},      // wider than the domain
    mesh::Sphere{{0.4, 0.3, 0.6}, 0.3},
    mesh::Sphere{{0.05, 0.95, 0.5}, 0.35},
    mesh::Cylinder{{0.9, 0.4, 0.5}, {1, 0, 0}, 0.2, 0.7},
    mesh::join(mesh::Join::without, mesh::Sphere{{0.1, 0.3, 0.6}, 0.45}, mesh::Box{{0, 0, 0}, {1, 0.3, 1}}),
    mesh::join(mesh::Join::both, mesh::Sphere{{0.05, 0.5, 0.5}, 0.3}, mesh::HalfSpace{{0.05, 0.5, 0.5}, {0, 0, 1}}),
};

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

TEST(Project, every_pixel_is_the_exact_overlap_of_the_definition) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    testing::TreeOptions options;
    options.dim = static_cast<int>(seed % 3 + 1);
    options.max_levels = 4;
    options.max_cells = 250;
    if (seed % 5 == 4)
      for (std::size_t a = 0; a < static_cast<std::size_t>(options.dim); ++a)
        options.block[a] = 2 + static_cast<std::int64_t>(a);
    mesh::Octree tree = testing::random_octree(seed, options);
    if (seed % 4 == 1) testing::own_randomly(tree, 0.7, seed);
    const mesh::Header header = header_of(tree, seed % 2 == 0);
    const mesh::Part part = part_of(tree, seed);
    for (const auto& region : regions) {
      const int axis = static_cast<int>((seed / 3 + static_cast<std::uint64_t>(compared)) % 3);
      const Projection kind = static_cast<Projection>(compared % 4);
      const std::string weight = compared % 8 == 1 ? "w" : "";
      const Frame frame = make_frame(header, axis, kind, region, compared % 3 == 0 ? 8 : 1 + seed);
      expect_same(image_of(part, header, frame, weight), Reference{part, header, frame, weight}.image(),
                  "seed " + std::to_string(seed) + ", case " + std::to_string(compared));
      ++compared;
    }
  }
  EXPECT_EQ(compared, 24 * 10);
}

TEST(Project, columns_of_cells_are_drawn_as_each_cell_would_be) {
  testing::TreeOptions options;
  options.dim = 3;
  options.roots = {1, 1, 1};
  options.max_levels = 4;
  options.refine = 1;  // 8 x 8 x 8 leaves
  mesh::Octree tree = testing::random_octree(1, options);
  testing::own_randomly(tree, 0.8, 2);
  const mesh::Header header = header_of(tree, true);
  const mesh::Part part = part_of(tree, 3);
  for (const auto& region : regions)
    for (int number = 0; number < 5; ++number) {
      const std::string weight = number == 4 ? "w" : "";
      const Projection kind = number == 4 ? Projection::mean : static_cast<Projection>(number);
      const Frame frame = make_frame(header, number % 3, kind, region, 13);
      expect_same(image_of(part, header, frame, weight), Reference{part, header, frame, weight}.image(),
                  "kind " + std::to_string(number));
      ImageRows bands = blank_rows(frame, {frame.pixels[1]});
      for (std::size_t row = 0; row < frame.pixels[1]; row += 3)
        add(kind, bands, project(part, header, frame, "rho", weight, all_levels, {row, row + 3}));
      ImageRows whole = blank_rows(frame, {frame.pixels[1]});
      add(kind, whole, project(part, header, frame, "rho", weight, all_levels));
      EXPECT_TRUE(same_bits(bands.sum, whole.sum) && same_bits(bands.weight, whole.weight)) << "kind " << number;
    }
}

TEST(Project, an_integral_map_holds_what_the_cells_hold) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const mesh::Octree tree = testing::random_octree(seed);
    const mesh::Header header = header_of(tree, false);
    const mesh::Part part = part_of(tree, seed);
    long double expected = 0;
    for_each_selected(tree, header, {}, [&](const Cells& cells) {
      const mesh::Point3 size = mesh::cell_size(header, cells.level);
      for (std::size_t i : cells.values) {
        long double mass = part.fields[0].as<double>()[i];
        for (std::size_t a = 0; a < static_cast<std::size_t>(tree.dim); ++a) mass *= size[a];
        expected += mass;
      }
    });
    for (std::size_t pixels : {1U, 7U, 64U, 100U, 129U})
      for (int axis = 0; axis < 3; ++axis) {
        const Frame frame = make_frame(header, axis, Projection::integral, std::nullopt, pixels);
        long double sum = 0, area = 1;
        for (double value : image_of(part, header, frame)) sum += value;
        for (std::size_t i = 0; i < 2; ++i) area *= (frame.hi[i] - frame.lo[i]) / static_cast<double>(frame.pixels[i]);
        EXPECT_NEAR(static_cast<double>(sum * area / expected), 1, 1e-12) << seed << ", " << pixels << ", " << axis;
      }
  }
}

TEST(Project, a_level_limit_conserves_where_parents_are_means) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const mesh::Octree tree = testing::random_octree(seed, {.max_levels = 6});
    const mesh::Header header = header_of(tree, false);
    const mesh::Part part = part_of(tree, seed);
    const Frame frame = make_frame(header, 2, Projection::integral, std::nullopt, 50);
    const auto sum = [&](int level) {
      long double total = 0;
      for (double value : image_of(part, header, frame, "", level)) total += value;
      return static_cast<double>(total);
    };
    for (int level = 0; level < mesh::num_levels(tree); ++level) EXPECT_NEAR(sum(level) / sum(all_levels), 1, 1e-12);
  }
}

TEST(Project, parts_add_up_to_the_whole) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const mesh::Octree tree = testing::random_octree(seed);
    const mesh::Header header = header_of(tree, true);
    for (int kind = 0; kind < 4; ++kind) {
      const Frame frame = make_frame(header, static_cast<int>(seed % 3), static_cast<Projection>(kind),
                                     mesh::Box{{0.1, 0.3, 0.2}, {0.9, 1.4, 0.77}}, 37);
      ImageRows sum = blank_rows(frame, {frame.pixels[1]});
      for (const mesh::Octree& domain : testing::random_domains(tree, 4))
        add(frame.kind, sum, project(part_of(domain, seed), header, frame, "rho", "w", all_levels));
      expect_same(finish(frame.kind, std::move(sum)), image_of(part_of(tree, seed), header, frame, "w"), "parts");
    }
  }
}

TEST(Project, rows_drawn_alone_have_the_bits_of_the_whole_and_stay_in_the_footprint) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    mesh::Octree tree = testing::random_octree(seed, {.dim = static_cast<int>(seed % 3 + 1)});
    testing::own_randomly(tree, 0.4, seed);
    const mesh::Header header = header_of(tree, seed % 2 == 0);
    const mesh::Part part = part_of(tree, seed);
    for (const auto& region : regions) {
      const Projection kind = static_cast<Projection>(seed % 4);
      const Frame frame = make_frame(header, static_cast<int>(seed / 3 % 3), kind, region, 53);
      const Tile whole = project(part, header, frame, "rho", "w", all_levels);
      const Footprint pixels = footprint(part, header, frame, all_levels);
      for (std::size_t i = 0; i < 2 && !whole.sum.empty(); ++i) {
        EXPECT_LE(pixels.first[i], whole.first[i]);
        EXPECT_GE(pixels.last[i], whole.first[i] + whole.size[i]);
      }
      ImageRows expected = blank_rows(frame, {frame.pixels[1]}), bands = expected;
      add(kind, expected, whole);
      for (std::size_t row = 0; row < frame.pixels[1]; row += 7)
        add(kind, bands, project(part, header, frame, "rho", "w", all_levels, {row, row + 7}));
      EXPECT_TRUE(same_bits(bands.sum, expected.sum) && same_bits(bands.weight, expected.weight)) << "seed " << seed;
    }
  }
}

TEST(Tile, rows_are_dealt_once_each_whatever_the_ranks_and_the_block) {
  for (const std::size_t rows : {1U, 7U, 64U, 101U})
    for (const std::size_t block : {1U, 3U, 64U})
      for (const std::size_t ranks : {1U, 2U, 5U, 9U}) {
        std::vector<int> seen(rows, 0);
        for (std::size_t rank = 0; rank < ranks; ++rank) {
          const DealtRows dealt{rows, block, rank, ranks};
          std::size_t count = 0;
          dealt.for_each_block({0, rows}, [&](RowRange some) {
            for (std::size_t row = some.first; row < some.last; ++row) {
              ++seen[row];
              EXPECT_EQ(dealt.place(row), count++);
            }
          });
          EXPECT_EQ(dealt.count(), count) << rows << " " << block << " " << ranks << " " << rank;
        }
        EXPECT_EQ(seen, std::vector<int>(rows, 1));
      }
}

TEST(Project, a_window_over_a_periodic_side_shows_the_shifted_domain) {
  const mesh::Octree tree = testing::random_octree(5, {.dim = 3, .roots = {2, 2, 2}});
  mesh::Header header = header_of(tree, true);
  header.lo = {0, 0, 0};
  header.hi = {1, 1, 1};
  const mesh::Part part = part_of(tree, 5);
  const std::size_t n = 32;
  for (int kind = 0; kind < 4; ++kind) {
    const auto whole = image_of(part, header, make_frame(header, 2, static_cast<Projection>(kind), std::nullopt, n));
    const Frame frame =
        make_frame(header, 2, static_cast<Projection>(kind), mesh::Box{{0.25, -0.5, 0.5}, {1.25, 0.5, 1.5}}, n);
    const auto shifted = image_of(part, header, frame);
    for (std::size_t y = 0; y < n; ++y)
      for (std::size_t x = 0; x < n; ++x)
        ASSERT_NEAR(shifted[y * n + x], whole[(y + n / 2) % n * n + (x + n / 4) % n], 1e-13) << x << ", " << y;
  }
}

TEST(Project, an_extreme_never_sees_the_cell_next_to_a_pixel) {
  // 3 roots and 3 * 2^k pixels: every pixel edge is a cell edge, but few of them are exact numbers.
  const mesh::Octree tree = testing::random_octree(8, {.dim = 2, .roots = {3, 3, 1}, .max_levels = 5});
  mesh::Header header = header_of(tree, false);
  header.lo = {0.1, 0.1, 0};
  header.hi = {0.8, 0.8, 1};
  const mesh::Part part = part_of(tree, 8);
  const std::size_t n = 48;
  const Frame frame = make_frame(header, 2, Projection::maximum, std::nullopt, n);
  const auto image = image_of(part, header, frame);
  for_each_selected(tree, header, {}, [&](const Cells& cells) {
    for (std::size_t k = 0; k < cells.values.size(); ++k) {
      const std::size_t wide = n / 3 >> cells.level;
      for (std::size_t y = 0; y < wide; ++y)
        for (std::size_t x = 0; x < wide; ++x)
          ASSERT_EQ(image[(cells.positions[k][1] * wide + y) * n + cells.positions[k][0] * wide + x],
                    part.fields[0].as<double>()[cells.values[k]]);
    }
  });
}

TEST(Project, along_z_two_dimensional_data_show_themselves_and_one_dimensional_make_a_row) {
  for (int dim : {1, 2}) {
    mesh::Octree tree = testing::random_octree(1, {.dim = dim, .roots = {4, dim == 2 ? 2 : 1, 1}, .max_levels = 1});
    const mesh::Part part = part_of(tree, 1);
    const mesh::Header header = header_of(tree, false);
    for (int kind = 0; kind < 4; ++kind) {
      const Frame frame = make_frame(header, 2, static_cast<Projection>(kind), std::nullopt, 4);
      EXPECT_EQ(frame.pixels, (std::array<std::size_t, 2>{4, dim == 2 ? 2U : 1U}));
      const auto image = image_of(part, header, frame);
      const auto values = part.fields[0].as<double>();
      for (std::size_t p = 0; p < values.size(); ++p) EXPECT_DOUBLE_EQ(image[p], values[p]);
    }
  }
}

TEST(Project, pixels_without_cells_are_nan_and_nan_cells_stay_where_they_are) {
  mesh::Octree tree;
  tree.dim = 2;
  tree.roots = {4, 1, 1};
  tree.refined.emplace_back(4);
  tree.owned.emplace_back(4, true);
  tree.owned[0].set(3, false);
  mesh::Part part = part_of(tree, 1);
  const double values[] = {0.0, -0.0, std::nan(""), 7};
  std::copy(std::begin(values), std::end(values), part.fields[0].as<double>().begin());
  const mesh::Header header = header_of(tree, false);
  for (int kind = 0; kind < 4; ++kind) {
    const auto image = image_of(part, header, make_frame(header, 2, static_cast<Projection>(kind), std::nullopt, 4));
    ASSERT_EQ(image.size(), 4U);
    EXPECT_EQ(image[0], 0);
    EXPECT_EQ(image[1], 0);
    EXPECT_TRUE(std::isnan(image[2]));
    EXPECT_TRUE(std::isnan(image[3]));
  }
  // An infinite value is a value.
  part.fields[0].as<double>()[0] = -infinity;
  EXPECT_EQ(image_of(part, header, make_frame(header, 2, Projection::maximum, std::nullopt, 4))[0], -infinity);
}

TEST(Project, pixels_are_as_square_as_whole_numbers_allow) {
  const mesh::Octree tree = testing::random_octree(1, {.dim = 3, .roots = {3, 2, 1}});
  const mesh::Header header = header_of(tree, false);
  const auto pixels = [&](int axis, std::size_t n) {
    return make_frame(header, axis, Projection::mean, std::nullopt, n).pixels;
  };
  EXPECT_EQ(pixels(2, 100), (std::array<std::size_t, 2>{100, 67}));
  EXPECT_EQ(pixels(1, 100), (std::array<std::size_t, 2>{100, 33}));
  EXPECT_EQ(pixels(0, 100), (std::array<std::size_t, 2>{100, 50}));
  EXPECT_EQ(pixels(1, 1), (std::array<std::size_t, 2>{1, 1}));
}

TEST(Project, impossible_frames_are_refused) {
  const mesh::Octree tree = testing::random_octree(1, {.dim = 3});
  const mesh::Header header = header_of(tree, true);
  EXPECT_THROW(make_frame(header, 3, Projection::mean, std::nullopt, 10), base::Error);
  EXPECT_THROW(make_frame(header, -1, Projection::mean, std::nullopt, 10), base::Error);
  EXPECT_THROW(make_frame(header, 0, Projection::mean, std::nullopt, 0), base::Error);
  EXPECT_THROW(make_frame(header, 0, Projection::mean, std::nullopt, 70000), base::Error);
  EXPECT_THROW(make_frame(header, 0, Projection::mean, mesh::Box{{0, 0, 0}, {1, 1e9, 1}}, 10), base::Error);
  EXPECT_THROW(make_frame(header, 0, Projection::mean, mesh::Sphere{{0.5, 0.5, 0.5}, NAN}, 10), base::Error);
}

}  // namespace
}  // namespace octavo::analysis
