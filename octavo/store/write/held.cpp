#include "octavo/store/write/held.hpp"

#include <algorithm>

namespace octavo::store {
namespace {

bool is_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

std::vector<codec::Range> cells_with_values(const mesh::Octree& tree, std::span<const std::byte> bytes,
                                            std::size_t cell) {
  std::vector<codec::Range> ranges;
  std::size_t at = 0;
  for (const base::BitArray& owned : tree.owned)
    for (std::size_t i = 0; i < owned.size(); ++i, ++at) {
      if (!owned[i] && is_zero(bytes.subspan(at * cell, cell))) continue;
      if (ranges.empty() || ranges.back().last != at) ranges.push_back({at, at});
      ++ranges.back().last;
    }
  return ranges;
}

// Copies the cells of ranges, one after another, from an array of all cells.
struct Gather {
  const std::byte* data = nullptr;
  std::size_t cell = 0;
  std::vector<codec::Range> ranges;
  std::vector<std::size_t> begins;  // of each range's values, in bytes

  void operator()(std::size_t first, std::span<std::byte> out) const {
    // The range that holds byte `first` is the last that begins at it or before.
    auto r = static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), first) - begins.begin()) - 1;
    for (; !out.empty(); ++r) {
      const std::size_t skip = first - begins[r], size = (ranges[r].last - ranges[r].first) * cell - skip;
      const std::size_t here = std::min(size, out.size());
      std::copy_n(data + ranges[r].first * cell + skip, here, out.begin());
      out = out.subspan(here);
      first += here;
    }
  }
};

}  // namespace

std::vector<codec::Range> part_of(const std::vector<codec::Range>& held, std::size_t first, std::size_t last) {
  std::vector<codec::Range> part;
  auto range =
      std::upper_bound(held.begin(), held.end(), first, [](std::size_t cell, const auto& r) { return cell < r.last; });
  for (; range != held.end() && range->first < last; ++range)
    part.push_back({std::max(range->first, first) - first, std::min(range->last, last) - first});
  return part;
}

std::size_t cells_of(const std::vector<codec::Range>& ranges) {
  std::size_t cells = 0;
  for (const codec::Range& range : ranges) cells += range.last - range.first;
  return cells;
}

void spread(const Values& values, std::size_t cell, std::span<std::byte> out) {
  std::size_t from = 0;
  for (const codec::Range& range : *values.held) {
    const auto to = out.subspan(range.first * cell, (range.last - range.first) * cell);
    if (values.data != nullptr)
      std::copy_n(values.data + from, to.size(), to.begin());
    else if (!to.empty())
      values.pack(from, to);
    from += to.size();
  }
}

void leave_out_zeros(Values& values, const mesh::Octree& tree) {
  const std::size_t cells = num_cells(tree), bytes = values.size * mesh::size_of(values.info.type);
  const std::size_t cell = cells == 0 ? 0 : bytes / cells;
  if (cell == 0 || bytes % cells != 0) return;
  Gather gather{values.data, cell, cells_with_values(tree, {values.data, bytes}, cell), {}};
  // Each range costs a few bytes and one more piece in a write.
  if ((cells - cells_of(gather.ranges)) * cell < (gather.ranges.size() + 1) * bytes_of_range) return;
  std::size_t begin = 0;
  for (const codec::Range& range : gather.ranges) {
    gather.begins.push_back(begin);
    begin += (range.last - range.first) * cell;
  }
  values.held = gather.ranges;
  values.cell_bytes = cell;
  values.data = nullptr;
  values.pack = std::move(gather);
}

}  // namespace octavo::store
