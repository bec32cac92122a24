#include "octavo/formats/ramses/cover.hpp"

#include <algorithm>

namespace octavo::formats::ramses {
namespace {

using mesh::Coordinate;
using mesh::Curve;
using mesh::CurveKey;

struct Descent {
  const Owners& owners;
  const CurveKey &begin, &end;
  std::vector<CurveBox>& boxes;

  CurveKey key(int depth, const Coordinate& cell) const {
    return mesh::first_key(Curve::hilbert, owners.dim, owners.bits, depth, cell);
  }
  CurveKey after(int depth, const Coordinate& cell) const {
    const CurveKey first = key(depth, cell), size = mesh::curve_end(owners.dim, owners.bits - depth);
    const std::uint64_t low = first.low + size.low;
    return {first.high + size.high + (low < first.low ? 1 : 0), low};
  }
  /// The cubes of the curve's own tree that make up the stretch.
  void go(int depth, const Coordinate& cell) {
    const CurveKey first = key(depth, cell), last = after(depth, cell);
    if (first >= end || last <= begin) return;
    const int shift = owners.bits - depth;
    if ((begin <= first && last <= end) || shift == 0) {
      CurveBox box{};
      for (std::size_t a = 0; a < 3; ++a) {
        box.lo[a] = std::int64_t{cell[a]} << shift;
        box.hi[a] = (std::int64_t{cell[a]} + 1) << shift;
      }
      boxes.push_back(box);
      return;
    }
    for (unsigned c = 0; c < (1U << owners.dim); ++c)
      go(depth + 1, {2 * cell[0] + (c & 1), 2 * cell[1] + (c >> 1 & 1), 2 * cell[2] + (c >> 2 & 1)});
  }
};

bool is_near(const DomainCover& cover, const CurveBox& a, const CurveBox& b, std::int64_t margin) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(cover.dim); ++axis) {
    const auto gap = [&](std::int64_t shift) {
      return std::max(a.lo[axis] + shift - b.hi[axis], b.lo[axis] - a.hi[axis] - shift);
    };
    std::int64_t least = gap(0);
    if (cover.period[axis] > 0) least = std::min({least, gap(cover.period[axis]), gap(-cover.period[axis])});
    if (least > margin) return false;
  }
  return true;
}

}  // namespace

void enclose(CurveBox& box, const CurveBox& more) {
  for (std::size_t a = 0; a < 3; ++a) {
    box.lo[a] = std::min(box.lo[a], more.lo[a]);
    box.hi[a] = std::max(box.hi[a], more.hi[a]);
  }
}

CurveBox box_of(const Owners& owners, int level, const Coordinate& oct) {
  const int shift = owners.bits - owners.coarse_bits - level;
  CurveBox box{};
  for (std::size_t a = 0; a < 3; ++a) {
    box.lo[a] = std::int64_t{oct[a]} << shift;
    box.hi[a] = (std::int64_t{oct[a]} + 1) << shift;
  }
  return box;
}

DomainCover cover_of(const Owners& owners, const mesh::Header& header, int domain) {
  DomainCover cover;
  cover.dim = owners.dim;
  if (owners.ordering != Ordering::hilbert || !is_one_to_one(owners, header)) return cover;
  cover.everywhere = false;
  for (std::size_t a = 0; a < 3; ++a)
    if (header.periodic[a]) cover.period[a] = (header.roots[a] / 2) << (owners.bits - owners.coarse_bits);
  const auto d = static_cast<std::size_t>(domain);
  if (owners.bounds[d] < owners.bounds[d + 1])
    Descent{owners, owners.bounds[d], owners.bounds[d + 1], cover.boxes}.go(0, {0, 0, 0});
  for (const CurveBox& box : cover.boxes) enclose(cover.bounds, box);
  return cover;
}

bool may_hold(const DomainCover& cover, const Owners& owners, int level, const CurveBox& box) {
  if (cover.everywhere) return true;
  if (cover.boxes.empty() || box.lo[0] > box.hi[0]) return false;
  // We go from the oct's size to the size of the cells among which its father lies.
  const std::int64_t margin = std::int64_t{owners.ghost_layers * cover.dim + 1}
                              << (owners.bits - owners.coarse_bits - level);
  return is_near(cover, cover.bounds, box, margin) &&
         std::any_of(cover.boxes.begin(), cover.boxes.end(),
                     [&](const CurveBox& of_domain) { return is_near(cover, of_domain, box, margin); });
}

}  // namespace octavo::formats::ramses
