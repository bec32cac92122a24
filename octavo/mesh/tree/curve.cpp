#include "octavo/mesh/tree/curve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

__extension__ using Wide = unsigned __int128;

Wide wide(const CurveKey& key) { return Wide{key.high} << 64 | key.low; }
CurveKey narrow(Wide key) { return {static_cast<std::uint64_t>(key >> 64), static_cast<std::uint64_t>(key)}; }

// A curve as a machine: in a state, the child cell c = x + 2y + 4z of a cell is the digit-th to be visited, and is
// itself walked in the next state.
struct CurveStep {
  std::uint8_t digit = 0;
  std::uint8_t next = 0;
};
constexpr unsigned num_states = 24;
using Machine = std::array<std::array<CurveStep, 8>, num_states>;

// How a cell's walk is laid into its digit-th child: all axes turned on by `turn` places, then those in `flip`
// reversed.
struct Placement {
  unsigned turn;
  unsigned flip;
};

// The Hilbert curve of RAMSES (amr/hilbert.f90). Corners of a cell are numbered with x as the highest bit and visited
// in Gray code order; walking child after child, the walk inside is the whole one turned and flipped as listed. Turns
// are cyclic, and flips come in pairs of axes: the 12 (3-D) or 4 (2-D) orientations that these generate are the states.
constexpr std::array<Placement, 8> hilbert_3d{
    {{1, 0b000}, {2, 0b000}, {2, 0b000}, {0, 0b011}, {0, 0b011}, {2, 0b110}, {2, 0b110}, {1, 0b101}}};
constexpr std::array<Placement, 4> hilbert_2d{{{1, 0b00}, {0, 0b00}, {0, 0b00}, {1, 0b11}}};

constexpr unsigned turned(unsigned corner, unsigned places, unsigned dim) {
  return (corner << places | corner >> (dim - places)) & ((1U << dim) - 1);
}

// Corner number (x highest) to child number (x lowest).
constexpr unsigned child_of_corner(unsigned corner, unsigned dim) {
  unsigned child = 0;
  for (unsigned axis = 0; axis < dim; ++axis) child |= (corner >> (dim - 1 - axis) & 1) << axis;
  return child;
}

// State 8 * turn + flip is the orientation corner -> turned(corner, turn) ^ flip. Orientations compose:
// turn and flip of a child's walk are applied first, the parent's after.
template <std::size_t family>
constexpr Machine hilbert_machine(unsigned dim, const std::array<Placement, family>& placements) {
  Machine machine{};
  for (unsigned turn = 0; turn < dim; ++turn)
    for (unsigned flip = 0; flip < family; ++flip)
      for (unsigned digit = 0; digit < family; ++digit) {
        const Placement& inner = placements[digit];
        const unsigned corner = turned(digit ^ (digit >> 1), turn, dim) ^ flip;
        const unsigned next_flip = turned(inner.flip, turn, dim) ^ flip;
        machine[8 * turn + flip][child_of_corner(corner, dim)] = {
            static_cast<std::uint8_t>(digit), static_cast<std::uint8_t>(8 * ((inner.turn + turn) % dim) + next_flip)};
      }
  return machine;
}

// One state, children in their own order; also the Hilbert curve of 1-D.
constexpr Machine morton_machine() {
  Machine machine{};
  for (unsigned child = 0; child < 8; ++child) machine[0][child] = {static_cast<std::uint8_t>(child), 0};
  return machine;
}

constexpr Machine morton = morton_machine();
constexpr Machine hilbert2 = hilbert_machine(2, hilbert_2d);
constexpr Machine hilbert3 = hilbert_machine(3, hilbert_3d);

const Machine& machine_of(Curve curve, int dim) {
  if (curve == Curve::morton || dim == 1) return morton;
  return dim == 2 ? hilbert2 : hilbert3;
}

template <unsigned dim, class Key>
Key walk(const Machine& machine, int bits, const Coordinate& cell) {
  Key key = 0;
  unsigned state = 0;
  for (int bit = bits - 1; bit >= 0; --bit) {
    unsigned child = cell[0] >> bit & 1;
    if constexpr (dim > 1) child |= (cell[1] >> bit & 1) << 1;
    if constexpr (dim > 2) child |= (cell[2] >> bit & 1) << 2;
    const CurveStep step = machine[state][child];
    key = key << dim | step.digit;
    state = step.next;
  }
  return key;
}

// A cell of the curve's tree, and how the curve walks it.
struct Node {
  Wide key;
  Coordinate cell;
  std::uint8_t state;
};

// Cells found to be wholly in the region, and those to be looked into.
struct RegionCover {
  std::vector<KeyInterval> done;
  std::vector<Node> open;
};

void add_child(RegionCover& cover, const Node& child, Overlap overlap, int dim, int bits, int depth) {
  if (overlap == Overlap::some) cover.open.push_back(child);
  if (overlap != Overlap::all) return;
  const int shift = dim * (bits - depth);
  cover.done.push_back({narrow(child.key << shift), narrow((child.key + 1) << shift)});
}

// Replaces the open cells by their children on grid `depth`.
RegionCover descend(const Machine& machine, int dim, int bits, int depth, const RegionCover& cover,
                    const Classify& classify) {
  RegionCover next{cover.done, {}};
  for (const Node& node : cover.open)
    for (std::uint32_t c = 0; c < (1U << dim); ++c) {
      const CurveStep step = machine[node.state][c];
      const Coordinate cell{node.cell[0] << 1 | (c & 1), node.cell[1] << 1 | (c >> 1 & 1), node.cell[2] << 1 | c >> 2};
      add_child(next, {node.key << dim | step.digit, cell, step.next}, classify(depth, cell), dim, bits, depth);
    }
  return next;
}

std::vector<KeyInterval> sorted_and_joined(std::vector<KeyInterval> intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<KeyInterval> joined;
  for (const KeyInterval& next : intervals)
    if (!joined.empty() && next.begin <= joined.back().end)
      joined.back().end = std::max(joined.back().end, next.end);
    else
      joined.push_back(next);
  return joined;
}

// Fills the rest at this depth: conservative.
std::vector<KeyInterval> close(RegionCover cover, int dim, int bits, int depth) {
  const std::vector<Node> open = std::move(cover.open);
  cover.open.clear();
  for (const Node& node : open) add_child(cover, node, Overlap::all, dim, bits, depth);
  return sorted_and_joined(std::move(cover.done));
}

Overlap overlap_of_ranges(const Index3& lo, const Index3& hi, int dim, const Coordinate& cell, int shift) {
  Overlap overlap = Overlap::all;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    const std::int64_t from = std::int64_t{cell[axis]} << shift;
    const std::int64_t to = from + (std::int64_t{1} << shift);
    if (to <= lo[axis] || hi[axis] <= from) return Overlap::none;
    if (from < lo[axis] || hi[axis] < to) overlap = Overlap::some;
  }
  return overlap;
}

}  // namespace

double to_double(const CurveKey& key) noexcept {
  return std::ldexp(static_cast<double>(key.high), 64) + static_cast<double>(key.low);
}

CurveKey key_from_double(double value) {
  if (!(value >= 0) || value > 0x1p96)
    throw base::Error(base::Kind::corrupt,
                      "key on a space-filling curve: expected 0 to 2^96, found " + std::to_string(value));
  const double high = std::floor(std::ldexp(value, -64));
  return {static_cast<std::uint64_t>(high), static_cast<std::uint64_t>(value - std::ldexp(high, 64))};
}

CurveKey curve_end(int dim, int bits) { return narrow(Wide{1} << (dim * bits)); }

CurveKey curve_key(Curve curve, int dim, int bits, const Coordinate& cell) noexcept {
  const Machine& machine = machine_of(curve, dim);
  if (dim == 1) return {0, walk<1, std::uint64_t>(machine, bits, cell)};
  if (dim == 2) return {0, walk<2, std::uint64_t>(machine, bits, cell)};
  if (bits <= 21) return {0, walk<3, std::uint64_t>(machine, bits, cell)};
  return narrow(walk<3, Wide>(machine, bits, cell));
}

CurveKey first_key(Curve curve, int dim, int bits, int depth, const Coordinate& cell) noexcept {
  return narrow(wide(curve_key(curve, dim, depth, cell)) << (dim * (bits - depth)));
}

CurveKey centre_key(Curve curve, int dim, int bits, int depth, const Coordinate& cell) noexcept {
  if (depth == bits) return curve_key(curve, dim, bits, cell);
  Coordinate centre = cell;
  for (std::uint32_t& x : centre) x = (2 * x + 1) << (bits - depth - 1);
  return curve_key(curve, dim, bits, centre);
}

std::vector<KeyInterval> key_intervals(Curve curve, int dim, int bits, const Classify& classify,
                                       const IntervalLimits& limits) {
  RegionCover cover;
  add_child(cover, {0, {0, 0, 0}, 0}, classify(0, {0, 0, 0}), dim, bits, 0);
  int depth = 0;
  while (depth < std::min(bits, limits.depth) && !cover.open.empty()) {
    RegionCover next = descend(machine_of(curve, dim), dim, bits, depth + 1, cover, classify);
    next.done = sorted_and_joined(std::move(next.done));
    if (next.done.size() + next.open.size() > limits.max_cells) break;
    cover = std::move(next);
    ++depth;
  }
  return close(std::move(cover), dim, bits, depth);
}

std::vector<KeyInterval> key_intervals(Curve curve, int dim, int bits, const Index3& lo, const Index3& hi,
                                       const IntervalLimits& limits) {
  const auto classify = [&](int depth, const Coordinate& cell) {
    return overlap_of_ranges(lo, hi, dim, cell, bits - depth);
  };
  return key_intervals(curve, dim, bits, classify, limits);
}

std::vector<int> stretches_touching(const std::vector<CurveKey>& bounds, const std::vector<KeyInterval>& intervals) {
  std::vector<int> touched;
  std::size_t i = 0;
  for (std::size_t d = 0; d + 1 < bounds.size(); ++d) {
    while (i < intervals.size() && intervals[i].end <= bounds[d]) ++i;
    if (i < intervals.size() && bounds[d] < bounds[d + 1] && intervals[i].begin < bounds[d + 1])
      touched.push_back(static_cast<int>(d));
  }
  return touched;
}

}  // namespace octavo::mesh
