#include "octavo/codec/boxes/places.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include "octavo/codec/chunk.hpp"

namespace octavo::codec {

BoxMap::BoxMap(std::span<const BoxPlace> at) : at_(at) {
  lo_ = at.front();
  BoxPlace hi = at.front();
  for (const BoxPlace& place : at)
    for (std::size_t a = 0; a < 3; ++a) {
      lo_[a] = std::min(lo_[a], place[a]);
      hi[a] = std::max(hi[a], place[a]);
    }
  double num_bricks = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    extent_[a] = std::int64_t{hi[a]} - lo_[a] + 1;
    shift_[a] = extent_[a] == 1 ? 0 : 2;
    // One brick more at each end, so that beside() may look two places further without a check.
    bricks_along_[a] = extent_[a] == 1 ? 1 : (extent_[a] >> 2) + 3;
    num_bricks *= static_cast<double>(bricks_along_[a]);
  }
  constexpr std::size_t most_boxes = std::size_t{1} << 25;  // of which all places in bricks have a number in 32 bits
  // A space that is nearly empty has more bricks than boxes: there the table is smaller.
  if (num_bricks <= 4.0 * static_cast<double>(at.size()) + 4096 && at.size() < most_boxes)
    fill_bricks(static_cast<std::size_t>(num_bricks));
  else
    fill_table();
}

void BoxMap::fill_bricks(std::size_t num_bricks) {
  const auto none = static_cast<std::uint32_t>(at_.size());
  const std::size_t size = std::size_t{1} << (shift_[0] + shift_[1] + shift_[2]);
  bricks_.assign(num_bricks, 0);
  dense_.assign(size, none);
  for (std::size_t b = 0; b < at_.size(); ++b) {
    std::uint32_t& begin = bricks_[brick(at_[b])];
    if (begin == 0) {
      begin = static_cast<std::uint32_t>(dense_.size());
      dense_.resize(dense_.size() + size, none);
    }
    dense_[begin + place_in_brick(at_[b])] = static_cast<std::uint32_t>(b);
  }
}

void BoxMap::fill_table() {
  hash_shift_ = 63 - bit_length(at_.size());
  table_.assign(std::size_t{2} << bit_length(at_.size()), static_cast<std::uint32_t>(at_.size()));
  for (std::size_t b = 0; b < at_.size(); ++b) table_[entry(at_[b])] = static_cast<std::uint32_t>(b);
}

BesideBox BoxMap::beside(std::uint32_t box) const {
  constexpr std::array<std::int64_t, 4> steps{-2, -1, 1, 2};
  BesideBox found;
  found.fill(box);
  if (bricks_.empty()) {
    for (std::size_t place = 0; place < 12; ++place) found[place] = find(at_[box], place / 4, steps[place % 4]);
    return found;
  }
  const auto own_brick = static_cast<std::int64_t>(brick(at_[box]));
  const auto own_place = static_cast<std::int64_t>(place_in_brick(at_[box]));
  std::int64_t bricks = 1;  // from one brick to the next along the axis
  unsigned places = 0;      // log2 of the same in a brick
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t here = std::int64_t{at_[box][a]} - lo_[a], mask = (std::int64_t{1} << shift_[a]) - 1;
    for (std::size_t d = 0; d < 4; ++d) {
      const std::int64_t to = here + steps[d];
      const std::int64_t in = own_brick + ((to >> 2) - (here >> 2)) * bricks;
      const std::int64_t place = own_place + (((to & mask) - (here & mask)) << places);
      found[4 * a + d] = extent_[a] == 1
                             ? static_cast<std::uint32_t>(at_.size())
                             : dense_[bricks_[static_cast<std::size_t>(in)] + static_cast<std::size_t>(place)];
    }
    bricks *= bricks_along_[a];
    places += shift_[a];
  }
  return found;
}

std::uint32_t BoxMap::find(BoxPlace place, std::size_t axis, std::int64_t steps) const {
  const std::int64_t to = std::int64_t{place[axis]} - lo_[axis] + steps;
  if (to < 0 || to >= extent_[axis]) return static_cast<std::uint32_t>(at_.size());
  place[axis] = static_cast<std::uint32_t>(lo_[axis] + to);
  return bricks_.empty() ? table_[entry(place)] : dense_[bricks_[brick(place)] + place_in_brick(place)];
}

std::int64_t BoxMap::longest() const { return *std::max_element(extent_.begin(), extent_.end()); }

/// Where the table has the box at a place, or has room for it.
std::size_t BoxMap::entry(const BoxPlace& p) const {
  // The factor is 2^64 over the golden ratio (Knuth, The Art of Computer Programming, 6.4).
  std::uint64_t h = (p[0] * 0x9e3779b97f4a7c15ULL + p[1]) * 0x9e3779b97f4a7c15ULL + p[2];
  h = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15ULL;
  std::size_t at = static_cast<std::size_t>(h >> hash_shift_);
  const auto is_other = [&](const BoxPlace& q) { return ((q[0] ^ p[0]) | (q[1] ^ p[1]) | (q[2] ^ p[2])) != 0; };
  while (table_[at] != at_.size() && is_other(at_[table_[at]])) at = (at + 1) & (table_.size() - 1);
  return at;
}

std::size_t BoxMap::brick(const BoxPlace& p) const {
  std::int64_t n = 0;
  for (std::size_t a = 3; a-- > 0;)
    n = n * bricks_along_[a] + (extent_[a] == 1 ? 0 : ((std::int64_t{p[a]} - lo_[a]) >> 2) + 1);
  return static_cast<std::size_t>(n);
}

std::size_t BoxMap::place_in_brick(const BoxPlace& p) const {
  std::size_t n = 0;
  for (std::size_t a = 3; a-- > 0;) n = n << shift_[a] | ((p[a] - lo_[a]) & ((1u << shift_[a]) - 1));
  return n;
}

std::vector<Stage> stages_of(unsigned strides) {
  std::vector<Stage> stages{{std::int64_t{1} << strides, 0}};
  for (unsigned s = strides; s-- > 0;)
    for (const unsigned axes : {1u, 2u, 4u, 3u, 5u, 6u, 7u}) stages.push_back({std::int64_t{1} << s, axes});
  return stages;
}

namespace {

StageRow row_of(const Stage& stage, std::size_t axis, std::int64_t box, std::int64_t shape) {
  const std::int64_t step = stage.step();  // a power of two
  const std::int64_t wanted = (stage.axes >> axis & 1) != 0 ? stage.stride : 0;
  const std::int64_t first = (wanted - box * shape) & (step - 1);
  const int shift = bit_length(static_cast<std::uint64_t>(step)) - 1;
  return {first, first < shape ? ((shape - first - 1) >> shift) + 1 : 0};
}

/// The boxes among these that hold a multiple of `stride` along each axis.
std::vector<std::uint32_t> boxes_of_stride(const Boxes& boxes, std::span<const std::uint32_t> among,
                                           std::int64_t stride) {
  std::vector<std::uint32_t> found;
  for (const std::uint32_t box : among) {
    bool holds = true;
    for (std::size_t a = 0; a < 3; ++a)
      holds = holds && row_of({stride, 0}, a, std::int64_t{boxes.at[box][a]}, std::int64_t{boxes.shape[a]}).count > 0;
    if (holds) found.push_back(box);
  }
  return found;
}

}  // namespace

BoxGrid::BoxGrid(const Boxes& given, std::size_t values)
    : boxes(given), map(given.at), cells(std::size_t{given.shape[0]} * given.shape[1] * given.shape[2]) {
  components = values / cells / boxes.at.size();
  of_stride.emplace_back(boxes.at.size());
  std::iota(of_stride[0].begin(), of_stride[0].end(), 0u);
}

std::size_t BoxGrid::place_of(const Stage& stage) {
  if (stage.axes == 0) return 0;
  return 7 * static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(stage.stride))) + stage.axes;
}

void BoxGrid::prepare(unsigned strides) {
  if (prepared_ == strides) return;
  sort_by_stride(strides);
  find_beside(strides);
  prepared_ = strides;
}

void BoxGrid::find_beside(unsigned strides) {
  if (cells < 4) return;
  beside.resize(boxes.at.size());
  for (std::uint32_t box = 0; box < beside.size(); ++box) beside[box] = map.beside(box);
  for (const Stage& stage : stages_of(strides))
    if (is_apart(stage)) find_near(stage);
}

void BoxGrid::find_near(const Stage& stage) {
  constexpr std::array<std::int64_t, 4> distance{-1, 1, -3, 3};
  StageBoxes& of = of_stage[place_of(stage)];
  of.near.reserve(of.boxes.size() * 4 * stage.num_axes());
  for (const std::uint32_t box : of.boxes)
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t d = 0; d < 4 && (stage.axes >> a & 1) != 0; ++d)
        of.near.push_back(find(box, a, distance[d] * stage.stride / boxes.shape[a]));
}

/// The stage of each box that has a point of strides from `least_apart` on.
void BoxGrid::sort_apart(unsigned strides) {
  const auto& shape = boxes.shape;
  const std::uint32_t longest = *std::max_element(shape.begin(), shape.end());
  if (!std::all_of(shape.begin(), shape.end(), [](std::uint32_t n) { return std::has_single_bit(n); })) return;
  least_apart = std::max<std::int64_t>(longest, 2);
  const int least = std::countr_zero(static_cast<std::uint64_t>(least_apart));
  const auto most = static_cast<int>(strides);
  of_stage.assign(7 * std::size_t{strides} + 1, {});
  for (std::uint32_t box = 0; box < boxes.at.size(); ++box) {
    std::array<int, 3> power;
    for (std::size_t a = 0; a < 3; ++a)
      power[a] = std::min(most, std::countr_zero(std::uint64_t{boxes.at[box][a]} * shape[a]));
    const int first = std::min({power[0], power[1], power[2]});
    if (first < least) continue;
    unsigned axes = 0;
    for (std::size_t a = 0; a < 3; ++a) axes |= power[a] == first ? 1u << a : 0u;
    of_stage[first == most ? 0 : place_of({std::int64_t{1} << first, axes})].boxes.push_back(box);
  }
}

void BoxGrid::sort_by_stride(unsigned strides) {
  sort_apart(strides);
  of_stride.resize(1);
  for (unsigned n = 1; n <= strides && (std::int64_t{1} << n) < least_apart; ++n)
    of_stride.push_back(boxes_of_stride(boxes, of_stride.back(), std::int64_t{1} << n));
}

const std::vector<std::uint32_t>& BoxGrid::boxes_of(const Stage& stage) const {
  if (is_apart(stage)) return apart(stage).boxes;
  return of_stride[static_cast<std::size_t>(bit_length(static_cast<std::uint64_t>(stage.stride))) - 1];
}

StageRows BoxGrid::rows_of(const Stage& stage, std::size_t box) const {
  StageRows rows;
  for (std::size_t a = 0; a < 3; ++a) {
    rows.row[a] = row_of(stage, a, std::int64_t{boxes.at[box][a]}, std::int64_t{boxes.shape[a]});
    if (rows.row[a].count == 0) break;
  }
  return rows;
}

bool BoxGrid::all_alike(const Stage& stage) const {
  bool alike = true;
  for (std::size_t a = 0; a < 3; ++a)
    alike = alike && (map.extent(a) == 1 || (boxes.shape[a] & (stage.step() - 1)) == 0);
  return alike;
}

std::size_t BoxGrid::values_of(const Stage& stage) const {
  const auto& among = boxes_of(stage);
  if (is_apart(stage)) return among.size() * components;
  std::size_t points = 0;
  if (all_alike(stage) && !among.empty())
    points = among.size() * rows_of(stage, among.front()).count();
  else
    for (const std::uint32_t box : among) points += rows_of(stage, box).count();
  return points * components;
}

namespace {

struct KeptGrid {
  std::vector<BoxPlace> at;
  std::unique_ptr<BoxGrid> grid;
  bool is_of(const Boxes& boxes, std::size_t components) const {
    return grid->components == components && grid->boxes.shape == boxes.shape &&
           std::equal(at.begin(), at.end(), boxes.at.begin(), boxes.at.end());
  }
};

/// Grids that a thread keeps: so many, and with so many boxes in all, of which each takes some 120 bytes.
constexpr std::size_t most_grids = 12, most_kept_boxes = std::size_t{1} << 16;

}  // namespace

BoxGrid& grid_of(const Boxes& boxes, std::size_t values) {
  thread_local std::vector<KeptGrid> kept;  // the last one used comes last
  const std::size_t components = values / (boxes.at.size() * boxes.shape[0] * boxes.shape[1] * boxes.shape[2]);
  const auto found =
      std::find_if(kept.begin(), kept.end(), [&](const KeptGrid& k) { return k.is_of(boxes, components); });
  if (found != kept.end()) {
    std::rotate(found, found + 1, kept.end());
    return *kept.back().grid;
  }
  std::size_t others = boxes.at.size(), first = kept.size();
  while (first > 0 && kept.size() - first + 1 < most_grids && others + kept[first - 1].at.size() <= most_kept_boxes)
    others += kept[--first].at.size();
  kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(first));
  kept.emplace_back().at.assign(boxes.at.begin(), boxes.at.end());
  kept.back().grid = std::make_unique<BoxGrid>(Boxes{boxes.shape, kept.back().at}, values);
  return *kept.back().grid;
}

}  // namespace octavo::codec
