#include "apps/patches/cluster.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>

namespace octavo::patches {
namespace {

struct Cut {
  std::size_t axis = 0;
  std::int64_t at = 0;  // first plane of the upper piece
};

using Signature = std::vector<std::int64_t>;

IndexBox bounding_box(std::span<const Index3> cells, int dim) {
  IndexBox box{{0, 0, 0}, {1, 1, 1}};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    box.lo[axis] = box.hi[axis] = cells[0][axis];
    for (const Index3& cell : cells) {
      box.lo[axis] = std::min(box.lo[axis], cell[axis]);
      box.hi[axis] = std::max(box.hi[axis], cell[axis] + 1);
    }
  }
  return box;
}

Signature signature_along(std::span<const Index3> cells, const IndexBox& box, std::size_t axis) {
  Signature signature(static_cast<std::size_t>(box.hi[axis] - box.lo[axis]), 0);
  for (const Index3& cell : cells) ++signature[static_cast<std::size_t>(cell[axis] - box.lo[axis])];
  return signature;
}

// Twice the distance of a cut from the middle: smaller is better.
std::int64_t off_centre(const IndexBox& box, std::size_t axis, std::int64_t at) {
  return std::abs(2 * at - box.lo[axis] - box.hi[axis]);
}

// The middle-most empty plane. A bounding box has none at its ends.
std::optional<std::int64_t> hole(const Signature& signature, const IndexBox& box, std::size_t axis) {
  std::optional<std::int64_t> best;
  for (std::size_t i = 0; i < signature.size(); ++i) {
    const std::int64_t at = box.lo[axis] + static_cast<std::int64_t>(i);
    if (signature[i] == 0 && (!best || off_centre(box, axis, at) < off_centre(box, axis, *best))) best = at;
  }
  return best;
}

struct Edge {
  std::int64_t at = 0;
  std::int64_t strength = 0;
};

// Where the second difference changes its sign with the largest jump.
std::optional<Edge> strongest_edge(const Signature& s, const IndexBox& box, std::size_t axis) {
  std::optional<Edge> best;
  for (std::size_t i = 1; i + 2 < s.size(); ++i) {
    const std::int64_t here = s[i + 1] - 2 * s[i] + s[i - 1], next = s[i + 2] - 2 * s[i + 1] + s[i];
    if ((here < 0) == (next < 0) || here == next) continue;
    const Edge edge{box.lo[axis] + static_cast<std::int64_t>(i) + 1, std::abs(next - here)};
    if (!best || edge.strength > best->strength ||
        (edge.strength == best->strength && off_centre(box, axis, edge.at) < off_centre(box, axis, best->at)))
      best = edge;
  }
  return best;
}

Cut middle_of(const IndexBox& box, int dim) {
  std::size_t longest = 0;
  for (std::size_t axis = 1; axis < static_cast<std::size_t>(dim); ++axis)
    if (box.hi[axis] - box.lo[axis] > box.hi[longest] - box.lo[longest]) longest = axis;
  return {longest, (box.lo[longest] + box.hi[longest]) / 2};
}

Cut best_cut(std::span<const Index3> cells, const IndexBox& box, int dim) {
  std::optional<Cut> cut;
  std::int64_t strength = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    const Signature signature = signature_along(cells, box, axis);
    if (const auto at = hole(signature, box, axis)) return {axis, *at};
    const auto edge = strongest_edge(signature, box, axis);
    if (edge && edge->strength > strength) {
      cut = Cut{axis, edge->at};
      strength = edge->strength;
    }
  }
  return cut ? *cut : middle_of(box, dim);
}

void split(std::span<Index3> cells, int dim, double efficiency, std::vector<IndexBox>& out) {
  const IndexBox box = bounding_box(cells, dim);
  if (static_cast<double>(cells.size()) >= efficiency * static_cast<double>(num_cells(box, dim))) {
    out.push_back(box);
    return;
  }
  const Cut cut = best_cut(cells, box, dim);
  const auto upper =
      std::partition(cells.begin(), cells.end(), [&](const Index3& cell) { return cell[cut.axis] < cut.at; });
  const auto count = static_cast<std::size_t>(upper - cells.begin());
  split(cells.first(count), dim, efficiency, out);
  split(cells.subspan(count), dim, efficiency, out);
}

}  // namespace

std::vector<IndexBox> chop(const IndexBox& box, const Index3& extent, int dim) {
  std::vector<IndexBox> pieces{flat(box, dim)};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    std::vector<IndexBox> cut;
    for (IndexBox piece : pieces)
      for (const std::int64_t end = piece.hi[axis]; piece.lo[axis] < end; piece.lo[axis] = piece.hi[axis]) {
        piece.hi[axis] = std::min(end, (piece.lo[axis] / extent[axis] + 1) * extent[axis]);
        cut.push_back(piece);
      }
    pieces = std::move(cut);
  }
  return pieces;
}

std::vector<IndexBox> cluster(std::vector<Index3> flagged, int dim, double efficiency, const Index3& max_extent) {
  std::vector<IndexBox> whole, out;
  if (!flagged.empty()) split(flagged, dim, efficiency, whole);
  for (const IndexBox& box : whole)
    for (const IndexBox& piece : chop(box, max_extent, dim)) out.push_back(piece);
  std::sort(out.begin(), out.end(), [](const IndexBox& a, const IndexBox& b) {
    return std::array{a.lo[2], a.lo[1], a.lo[0]} < std::array{b.lo[2], b.lo[1], b.lo[0]};
  });
  return out;
}

}  // namespace octavo::patches
