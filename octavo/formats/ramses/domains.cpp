#include "octavo/formats/ramses/domains.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace octavo::formats::ramses {
namespace {

using mesh::CurveKey;
using mesh::Point3;

std::vector<int> all_domains(int ncpu) {
  std::vector<int> all(static_cast<std::size_t>(ncpu));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Returns key + low. The two doubles come from a 16-byte key; low can be negative.
CurveKey add(CurveKey key, double low) {
  const CurveKey rest = mesh::key_from_double(low < 0 ? -low : low);
  if (low < 0) {
    key.high -= rest.high + (key.low < rest.low ? 1 : 0);
    key.low -= rest.low;
  } else {
    key.low += rest.low;
    key.high += rest.high + (key.low < rest.low ? 1 : 0);
  }
  return key;
}

// A cell of the curve's own tree in fractions of the domain's x extent. The curve's cube starts at the domain's corner
// and has as many coarse cells along each axis as the domain has along x, so its edge is 1.
std::vector<mesh::KeyInterval> intervals_of(const mesh::Header& header, int bits, int depth,
                                            const mesh::Region& region) {
  const mesh::Domain domain = mesh::domain_of(header);
  const auto classify = [&](int at, const mesh::Coordinate& cell) {
    const double edge = 1.0 / static_cast<double>(std::uint64_t{1} << at);
    Point3 lo{0, 0, 0}, hi{1, 1, 1};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) {
      lo[axis] = cell[axis] * edge;
      hi[axis] = lo[axis] + edge;
    }
    return mesh::meets(region, domain, lo, hi);
  };
  return mesh::key_intervals(mesh::Curve::hilbert, header.dim, bits, classify, {depth, 1 << 15});
}

std::vector<int> boxes_touching(const AmrHeader& amr, const mesh::Header& header, int coarsest_leaf,
                                const mesh::Region& region) {
  const mesh::Domain domain = mesh::domain_of(header);
  const double scale = 1 / (header.hi[0] - header.lo[0]), margin = mesh::cell_size(header, coarsest_leaf)[0] * scale;
  std::vector<int> touched;
  for (int d = 0; d < amr.ncpu; ++d) {
    Point3 lo{0, 0, 0}, hi{1, 1, 1};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(amr.ndim); ++axis) {
      const std::size_t at = static_cast<std::size_t>(d) + axis * static_cast<std::size_t>(amr.ncpu);
      lo[axis] = amr.cpubox_min[at] * scale - margin;
      hi[axis] = amr.cpubox_max[at] * scale + margin;
    }
    if (mesh::touches(region, domain, lo, hi)) touched.push_back(d);
  }
  return touched;
}

}  // namespace

std::vector<CurveKey> bound_keys(const AmrHeader& amr) {
  std::vector<CurveKey> keys;
  for (std::size_t i = 0; i < amr.bound_key.size(); ++i)
    keys.push_back(add(mesh::key_from_double(amr.bound_key[i]), amr.bound_key_low.empty() ? 0 : amr.bound_key_low[i]));
  return keys;
}

int key_bits(const AmrHeader& amr, const mesh::Index3& roots) {
  const auto coarse = static_cast<std::uint64_t>(roots[0] / 2);
  if (!std::has_single_bit(coarse) || roots[1] > roots[0] || roots[2] > roots[0]) return 0;
  const int bits = amr.nlevelmax + 1 + std::countr_zero(coarse);
  return bits <= 32 ? bits : 0;
}

std::vector<int> domains_touching(const AmrHeader& amr, const mesh::Header& header, int coarsest_leaf,
                                  const mesh::Region& region) {
  if (amr.ordering == "bisection") return boxes_touching(amr, header, coarsest_leaf, region);
  const int bits = key_bits(amr, header.roots);
  // `overload` splits domains into several stretches, which are dealt out in turn. We read only tables with one stretch
  // per domain.
  if (amr.ordering != "hilbert" || bits == 0 || amr.bound_key.size() != static_cast<std::size_t>(amr.ncpu) + 1)
    return all_domains(amr.ncpu);
  // The key of its father cell's centre decides who owns an oct. The father is one level above the leaf.
  const int depth = coarsest_leaf + std::countr_zero(static_cast<std::uint64_t>(header.roots[0])) - 1;
  return mesh::stretches_touching(bound_keys(amr), intervals_of(header, bits, depth, region));
}

}  // namespace octavo::formats::ramses
