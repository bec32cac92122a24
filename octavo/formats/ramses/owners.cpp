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

/// Leaves along the curve: those from a key up to the next entry's.
struct Stretch {
  CurveKey key;
  std::int64_t leaves = 0;
};
constexpr std::size_t most_stretches = std::size_t{1} << 20;

void add_leaves(const mesh::Octree& tree, const Owners& curve, std::vector<Stretch>& stretches) {
  const auto before = static_cast<std::ptrdiff_t>(stretches.size());
  for_each_oct(tree, [&](int level, const TreeOct& oct) {
    for (unsigned c = 0; c < (1U << tree.dim); ++c)
      if ((oct.owned & ~oct.refined) >> c & 1)
        stretches.push_back(
            {mesh::first_key(Curve::hilbert, curve.dim, curve.bits, level + 1 + curve.coarse_bits, cell_at(oct.at, c)),
             1});
  });
  const auto less = [](const Stretch& a, const Stretch& b) { return a.key < b.key; };
  std::sort(stretches.begin() + before, stretches.end(), less);
  std::inplace_merge(stretches.begin(), stretches.begin() + before, stretches.end(), less);
}

/// Pairs become one until few are left.
void shorten(std::vector<Stretch>& stretches) {
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

}  // namespace

int Owners::of(int level, const Coordinate& cell) const {
  if (bounds.empty()) {
    for (int d = 0; d < domains; ++d) {
      bool inside = true;
      for (int a = 0; a < dim; ++a) {
        const auto at = static_cast<std::size_t>(d + a * domains);
        const double x = std::ldexp(cell[static_cast<std::size_t>(a)] + 0.5, -(level + 1)) * coarse_cell;
        inside = inside && box_min[at] <= x && x < box_max[at];
      }
      if (inside) return d;
    }
    return domains - 1;
  }
  const auto key = mesh::centre_key(Curve::hilbert, dim, bits, level + 1 + coarse_bits, cell);
  const auto above = std::upper_bound(bounds.begin() + 1, bounds.end() - 1, key);
  return static_cast<int>(above - bounds.begin()) - 1;
}

bool Owners::reaches(int level, const Coordinate& cell, int domain) const {
  if (bounds.empty()) {
    for (int a = 0; a < dim; ++a) {
      const auto at = static_cast<std::size_t>(domain + a * domains);
      const double low = std::ldexp(cell[static_cast<std::size_t>(a)], -(level + 1)) * coarse_cell;
      if (box_max[at] < low || box_min[at] > low + std::ldexp(coarse_cell, -(level + 1))) return false;
    }
    return true;
  }
  const int depth = level + 1 + coarse_bits;
  const auto d = static_cast<std::size_t>(domain);
  return key_after(*this, depth, cell) > bounds[d] &&
         mesh::first_key(Curve::hilbert, dim, bits, depth, cell) < bounds[d + 1];
}

Owners curve_of(const mesh::Header& header, int nlevelmax, int domains) {
  Owners owners;
  owners.dim = header.dim;
  owners.domains = domains;
  const auto coarse = static_cast<std::uint64_t>(std::max<std::int64_t>(1, header.roots[0] / 2));
  // In 1-D the key is the position itself, so that it needs all its bits; else RAMSES rounds the bits down.
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

std::vector<CurveKey> balance(const mesh::Dataset& dataset, const Owners& curve, bool quad,
                              const std::function<void()>& advance) {
  std::vector<Stretch> stretches;
  for (int p = 0; p < dataset.num_parts; ++p, advance()) {
    add_leaves(read_tree_of(dataset, p), curve, stretches);
    shorten(stretches);
  }
  std::int64_t total = 0, before = 0;
  for (const Stretch& stretch : stretches) total += stretch.leaves;
  const std::int64_t domains = curve.domains;
  std::vector<CurveKey> bounds{{0, 0}};
  for (const Stretch& stretch : stretches) {
    // The first leaf of domain m is number total * m / domains.
    for (auto m = static_cast<std::int64_t>(bounds.size());
         m < domains && total / domains * m + total % domains * m / domains < before + stretch.leaves; ++m)
      bounds.push_back(quad ? stretch.key : mesh::key_from_double(mesh::to_double(stretch.key)));
    before += stretch.leaves;
  }
  bounds.resize(static_cast<std::size_t>(domains), last_key(curve, dataset.header));
  bounds.push_back(last_key(curve, dataset.header));
  return bounds;
}

}  // namespace octavo::formats::ramses
