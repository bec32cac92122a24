#include "octavo/codec/boxes/places.hpp"

#include <algorithm>
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
  double volume = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    extent_[a] = std::int64_t{hi[a]} - lo_[a] + 1;
    volume *= static_cast<double>(extent_[a]);
  }
  if (volume <= 8.0 * static_cast<double>(at.size()) + 4096) {
    dense_.assign(static_cast<std::size_t>(extent_[0] * extent_[1] * extent_[2]), no_box);
    for (std::size_t b = 0; b < at.size(); ++b) dense_[slot(at[b])] = static_cast<std::uint32_t>(b);
  } else {
    hash_shift_ = 63 - bit_length(at.size());
    table_.assign(std::size_t{2} << bit_length(at.size()), no_box);
    for (std::size_t b = 0; b < at.size(); ++b) table_[entry(at[b])] = static_cast<std::uint32_t>(b);
  }
}

std::uint32_t BoxMap::find(BoxPlace place, std::size_t axis, std::int64_t steps) const {
  const std::int64_t to = std::int64_t{place[axis]} - lo_[axis] + steps;
  if (to < 0 || to >= extent_[axis]) return no_box;
  place[axis] = static_cast<std::uint32_t>(lo_[axis] + to);
  return dense_.empty() ? table_[entry(place)] : dense_[slot(place)];
}

std::array<BesideBox, 3> BoxMap::beside(const BoxPlace& place) const {
  constexpr std::array<std::int64_t, 4> steps{-2, -1, 1, 2};
  std::array<BesideBox, 3> found;
  const std::size_t own = dense_.empty() ? 0 : slot(place);
  std::int64_t stride = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t here = std::int64_t{place[a]} - lo_[a];
    for (std::size_t d = 0; d < 4; ++d) {
      const std::int64_t to = here + steps[d];
      if (to < 0 || to >= extent_[a])
        found[a][d] = no_box;
      else if (dense_.empty())
        found[a][d] = find(place, a, steps[d]);
      else
        found[a][d] = dense_[static_cast<std::size_t>(static_cast<std::int64_t>(own) + steps[d] * stride)];
    }
    stride *= extent_[a];
  }
  return found;
}

std::int64_t BoxMap::longest() const { return *std::max_element(extent_.begin(), extent_.end()); }

/// Where the table has the box at a place, or has room for it.
std::size_t BoxMap::entry(const BoxPlace& p) const {
  std::uint64_t h = (p[0] * 0x9e3779b97f4a7c15ULL + p[1]) * 0x9e3779b97f4a7c15ULL + p[2];
  h = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15ULL;
  std::size_t at = static_cast<std::size_t>(h >> hash_shift_);
  const auto is_other = [&](const BoxPlace& q) { return ((q[0] ^ p[0]) | (q[1] ^ p[1]) | (q[2] ^ p[2])) != 0; };
  while (table_[at] != no_box && is_other(at_[table_[at]])) at = (at + 1) & (table_.size() - 1);
  return at;
}

std::size_t BoxMap::slot(const BoxPlace& p) const {
  return static_cast<std::size_t>(
      ((p[2] - std::int64_t{lo_[2]}) * extent_[1] + (p[1] - std::int64_t{lo_[1]})) * extent_[0] + p[0] - lo_[0]);
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
}

void BoxGrid::find_beside() {
  if (cells < 4) return;
  beside.reserve(boxes.at.size());
  for (const BoxPlace& place : boxes.at) beside.push_back(map.beside(place));
}

void BoxGrid::sort_by_stride(unsigned strides) {
  std::vector<std::uint32_t> all(boxes.at.size());
  std::iota(all.begin(), all.end(), 0u);
  of_stride.assign(1, std::move(all));
  for (unsigned n = 1; n <= strides; ++n)
    of_stride.push_back(boxes_of_stride(boxes, of_stride.back(), std::int64_t{1} << n));
}

const std::vector<std::uint32_t>& BoxGrid::boxes_of(const Stage& stage) const {
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
  std::size_t points = 0;
  if (all_alike(stage) && !among.empty())
    points = among.size() * rows_of(stage, among.front()).count();
  else
    for (const std::uint32_t box : among) points += rows_of(stage, box).count();
  return points * components;
}

}  // namespace octavo::codec
