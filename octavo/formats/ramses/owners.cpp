#include "octavo/formats/ramses/owners.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/formats/ramses/oct_table.hpp"

namespace octavo::formats::ramses {
namespace {

using mesh::Coordinate;
using mesh::Curve;
using mesh::CurveKey;

CurveKey add(const CurveKey& a, const CurveKey& b) {
  const std::uint64_t low = a.low + b.low;
  return {a.high + b.high + (low < a.low ? 1 : 0), low};
}

CurveKey key_after(const Owners& owners, int depth, const Coordinate& cell) {
  return add(mesh::first_key(Curve::hilbert, owners.dim, owners.bits, depth, cell),
             mesh::curve_end(owners.dim, owners.bits - depth));
}

/// The value by which leaves are sorted: their first Hilbert key, or the position of their centre along x in units of
/// keys.
CurveKey place_of(const Owners& owners, int level, const Coordinate& cell) {
  const int depth = level + 1 + owners.coarse_bits;
  if (owners.ordering == Ordering::hilbert)
    return mesh::first_key(Curve::hilbert, owners.dim, owners.bits, depth, cell);
  return {0, (2 * std::uint64_t{cell[0]} + 1) << (owners.bits - depth - 1)};
}

double centre_along(const Owners& owners, int level, const Coordinate& cell, std::size_t axis) {
  return std::ldexp(cell[axis] + 0.5, -(level + 1)) * owners.coarse_cell;
}

/// Leaves along the curve. An entry counts the leaves from its key up to the next entry's key.
struct CurveStretch {
  CurveKey key;
  std::int64_t leaves = 0;
};
constexpr std::size_t most_stretches = std::size_t{1} << 20;

void add_leaves(const mesh::Octree& tree, const Owners& owners, std::vector<CurveStretch>& stretches) {
  const auto before = static_cast<std::ptrdiff_t>(stretches.size());
  for_each_oct(tree, [&](int level, const TreeOct& oct) {
    for (unsigned c = 0; c < (1U << tree.dim); ++c)
      if ((oct.owned & ~oct.refined) >> c & 1) stretches.push_back({place_of(owners, level, cell_at(oct.at, c)), 1});
  });
  const auto less = [](const CurveStretch& a, const CurveStretch& b) { return a.key < b.key; };
  std::sort(stretches.begin() + before, stretches.end(), less);
  std::inplace_merge(stretches.begin(), stretches.begin() + before, stretches.end(), less);
}

/// Joins pairs of entries until few are left.
void shorten(std::vector<CurveStretch>& stretches) {
  while (stretches.size() > most_stretches) {
    const std::size_t half = stretches.size() / 2;
    for (std::size_t i = 0; i < half; ++i)
      stretches[i] = {stretches[2 * i].key, stretches[2 * i].leaves + stretches[2 * i + 1].leaves};
    if (stretches.size() % 2 != 0) stretches[half - 1].leaves += stretches.back().leaves;
    stretches.resize(half);
  }
}

/// One past the last key of the coarse cells.
CurveKey last_key(const Owners& curve, const mesh::Header& header) {
  CurveKey last;
  for (std::int64_t k = 0; k < std::max<std::int64_t>(1, header.roots[2] / 2); ++k)
    for (std::int64_t j = 0; j < std::max<std::int64_t>(1, header.roots[1] / 2); ++j)
      for (std::int64_t i = 0; i < header.roots[0] / 2; ++i)
        last = std::max(last, key_after(curve, curve.coarse_bits,
                                        {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j),
                                         static_cast<std::uint32_t>(k)}));
  return last;
}

/// Finds the domain whose box holds a place. A place on a wall of the bisection belongs to the lower side
/// (cmp_bisection_cpumap).
int owner_in_boxes(const Owners& owners, int level, const Coordinate& cell) {
  for (int d = 0; d < owners.domains; ++d) {
    bool inside = true;
    for (int a = 0; a < owners.dim; ++a) {
      const auto at = static_cast<std::size_t>(d + a * owners.domains);
      const double x = centre_along(owners, level, cell, static_cast<std::size_t>(a));
      inside = inside && owners.box_min[at] < x && x <= owners.box_max[at];
    }
    if (inside) return d;
  }
  return owners.domains - 1;
}

bool touches_box(const Owners& owners, int level, const Coordinate& cell, int domain) {
  for (int a = 0; a < owners.dim; ++a) {
    const auto at = static_cast<std::size_t>(domain + a * owners.domains);
    const double low = std::ldexp(cell[static_cast<std::size_t>(a)], -(level + 1)) * owners.coarse_cell;
    if (owners.box_max[at] < low || owners.box_min[at] > low + std::ldexp(owners.coarse_cell, -(level + 1)))
      return false;
  }
  return true;
}

}  // namespace

std::string name_of(Ordering ordering) {
  switch (ordering) {
    case Ordering::planar: return "planar";
    case Ordering::bisection: return "bisection";
    default: return "hilbert";
  }
}

int Owners::of(int level, const Coordinate& cell) const {
  if (ordering == Ordering::bisection) return owner_in_boxes(*this, level, cell);
  if (ordering == Ordering::planar) {
    const auto above = std::upper_bound(planes.begin() + 1, planes.end() - 1, centre_along(*this, level, cell, 0));
    return static_cast<int>(above - planes.begin()) - 1;
  }
  const auto key = mesh::centre_key(Curve::hilbert, dim, bits, level + 1 + coarse_bits, cell);
  const auto above = std::upper_bound(bounds.begin() + 1, bounds.end() - 1, key);
  return static_cast<int>(above - bounds.begin()) - 1;
}

bool Owners::reaches(int level, const Coordinate& cell, int domain) const {
  if (ordering == Ordering::bisection) return touches_box(*this, level, cell, domain);
  const auto d = static_cast<std::size_t>(domain);
  if (ordering == Ordering::planar) {
    const double x = centre_along(*this, level, cell, 0), half = std::ldexp(coarse_cell, -(level + 2));
    return x + half > planes[d] && x - half < planes[d + 1];
  }
  const int depth = level + 1 + coarse_bits;
  return key_after(*this, depth, cell) > bounds[d] &&
         mesh::first_key(Curve::hilbert, dim, bits, depth, cell) < bounds[d + 1];
}

Owners curve_of(const mesh::Header& header, int nlevelmax, int domains) {
  Owners owners;
  owners.dim = header.dim;
  owners.domains = domains;
  const auto coarse = static_cast<std::uint64_t>(std::max<std::int64_t>(1, header.roots[0] / 2));
  // In 1-D the key is the position itself and needs all its bits. Otherwise RAMSES rounds the bits down.
  owners.coarse_bits = static_cast<int>(header.dim == 1 ? std::bit_width(coarse - 1) : std::bit_width(coarse) - 1);
  owners.bits = nlevelmax + 1 + owners.coarse_bits;
  owners.coarse_cell = 2 * (header.hi[0] - header.lo[0]) / static_cast<double>(header.roots[0]);
  if (owners.bits > 32)
    throw base::Error(base::Kind::unsupported,
                      "Hilbert keys of " + std::to_string(owners.bits) + " bits an axis: at most 32");
  return owners;
}

bool is_one_to_one(const Owners& owners, const mesh::Header& header) {
  const std::int64_t cells = std::int64_t{2} << owners.coarse_bits;
  for (std::size_t a = 0; a < static_cast<std::size_t>(header.dim); ++a)
    if (header.roots[a] > cells) return false;
  return true;
}

void balance(const mesh::Dataset& dataset, Owners& owners, bool quad, const std::function<void()>& advance) {
  std::vector<CurveStretch> stretches;
  for (int p = 0; p < dataset.num_parts; ++p, advance()) {
    add_leaves(read_tree_of(dataset, p), owners, stretches);
    shorten(stretches);
  }
  std::int64_t total = 0, before = 0;
  for (const CurveStretch& stretch : stretches) total += stretch.leaves;
  const std::int64_t domains = owners.domains;
  std::vector<CurveKey> bounds{{0, 0}};
  for (const CurveStretch& stretch : stretches) {
    // The first leaf of domain m is number total * m / domains.
    for (auto m = static_cast<std::int64_t>(bounds.size());
         m < domains && total / domains * m + total % domains * m / domains < before + stretch.leaves; ++m)
      bounds.push_back(quad ? stretch.key : mesh::key_from_double(mesh::to_double(stretch.key)));
    before += stretch.leaves;
  }
  const bool planar = owners.ordering == Ordering::planar;
  const CurveKey last = planar ? CurveKey{0, static_cast<std::uint64_t>(dataset.header.roots[0] / 2)
                                                 << (owners.bits - owners.coarse_bits)}
                               : last_key(owners, dataset.header);
  bounds.resize(static_cast<std::size_t>(domains), last);
  bounds.push_back(last);
  if (!planar) {
    owners.bounds = std::move(bounds);
    return;
  }
  owners.planes.clear();
  for (const CurveKey& at : bounds)
    owners.planes.push_back(std::ldexp(mesh::to_double(at), owners.coarse_bits - owners.bits) * owners.coarse_cell);
}

}  // namespace octavo::formats::ramses
