#include "octavo/engine/step/device_pack.hpp"

#include <algorithm>
#include <deque>
#include <numeric>

#include "octavo/base/checksum.hpp"
#include "octavo/engine/device/lanes.hpp"

namespace octavo::engine {
namespace {

// Two cells are copied together if the gap between them is at most this: about the bytes that the bus moves while a
// copy starts.
constexpr std::int64_t widest_gap = std::int64_t{64} << 10;

// Part of an array that one buffer holds.
struct Window {
  device::Lines lines;
  std::int64_t before = 0;     // [elements] in a line, in front of the first cell's first value
  std::int64_t component = 0;  // stride in the buffer
};

std::int64_t size_of_value(const ArrayView& view) { return static_cast<std::int64_t>(mesh::size_of(view.type)); }

// The memory of cells at places 0 to `last_place` of a view without ghosts.
Window window_of(const ArrayView& view, std::int64_t last_place) {
  const auto& [cell, x, y, z, component] = view.stride;
  std::int64_t before = 0, behind = 1;
  const auto reach = [&](std::int64_t distance) { (distance < 0 ? before : behind) += std::abs(distance); };
  reach(last_place * cell);
  reach((view.block[0] - 1) * x);
  reach((view.block[1] - 1) * y);
  reach((view.block[2] - 1) * z);
  const std::int64_t size = size_of_value(view);
  Window window;
  const bool apart = view.components > 1 && std::abs(component) >= before + behind;
  if (!apart) reach((view.components - 1) * component);
  window.before = before;
  window.component = apart ? before + behind : component;
  window.lines.first = static_cast<const std::byte*>(view.data) - before * size;
  window.lines.width = static_cast<std::size_t>((before + behind) * size);
  if (apart) {
    window.lines.pitch = component * size;
    window.lines.count = static_cast<std::size_t>(view.components);
  }
  return window;
}

bool fits(const Window& window) { return bytes_of(window.lines) <= device::buffer_bytes(); }

ArrayView cells_from(const ArrayView& view, std::int64_t place) {
  ArrayView from = view;
  from.data = static_cast<const std::byte*>(view.data) + place * view.stride.cell * size_of_value(view);
  return from;
}

// The contents of a window: cells, or a slab of one cell that is larger than a buffer.
struct Piece {
  ArrayView device;  // without ghosts and order, from the lowest place on
  Window window;
  std::size_t first = 0, count = 0;    // cells, in the order in which they are copied
  std::size_t out = 0;                 // [bytes] of a slab, from its cell's first value
  std::vector<std::uint32_t> order{};  // of the cells from the lowest place on; empty: they follow one another
};

// Cuts a cell into slabs along its outermost axis, and slabs that are still too large along the next.
void cut(const Piece& piece, std::deque<Piece>& out) {
  Piece slab = piece;
  slab.window = window_of(slab.device, 0);
  if (fits(slab.window)) return out.push_back(std::move(slab));
  const std::array<std::int64_t, 3> strides{slab.device.stride.x, slab.device.stride.y, slab.device.stride.z};
  std::size_t axis = 2;
  while (axis > 0 && slab.device.block[axis] == 1) --axis;
  const std::int64_t extent = slab.device.block[axis];
  if (extent > 1) {
    slab.device.block[axis] = extent / 2;
  } else {  // a single value of each component
    axis = 3;
    slab.device.components = piece.device.components / 2;
  }
  cut(slab, out);
  slab.out += cell_bytes(slab.device);
  const std::int64_t passed = axis == 3 ? slab.device.components : slab.device.block[axis];
  const std::int64_t stride = axis == 3 ? slab.device.stride.component : strides[axis];
  slab.device.data = static_cast<const std::byte*>(slab.device.data) + passed * stride * size_of_value(slab.device);
  if (axis == 3)
    slab.device.components = piece.device.components - static_cast<int>(passed);
  else
    slab.device.block[axis] = extent - passed;
  cut(slab, out);
}

// The pieces of cells [first, last), in the order in which they lie.
class Pieces {
 public:
  Pieces(const ArrayView& view, std::size_t first, std::size_t last) : view_(view), end_(last - first) {
    if (view.order.empty()) {
      view_ = cells_from(view, static_cast<std::int64_t>(first));
    } else {
      order_ = view.order.subspan(first, last - first);
      sort();
    }
    view_.order = {};
  }

  // Cell of [first, last), from 0, that is the n-th to be copied.
  std::size_t cell(std::size_t n) const { return sorted_.empty() ? n : sorted_[n]; }
  bool in_order() const { return sorted_.empty(); }

  bool next(Piece& piece) {
    if (slabs_.empty()) take_cells();
    if (slabs_.empty()) return false;
    piece = std::move(slabs_.front());
    slabs_.pop_front();
    return true;
  }

 private:
  void sort() {
    if (std::is_sorted(order_.begin(), order_.end()) && (order_.empty() || order_.back() != ArrayView::nowhere)) return;
    sorted_.resize(order_.size());
    std::iota(sorted_.begin(), sorted_.end(), 0U);
    std::stable_sort(sorted_.begin(), sorted_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return order_[a] < order_[b]; });
    while (end_ > 0 && place(end_ - 1) == ArrayView::nowhere) --end_;
  }
  std::int64_t place(std::size_t n) const {
    return order_.empty() ? static_cast<std::int64_t>(n) : std::int64_t{order_[cell(n)]};
  }
  // How many cells from `at_` on are copied together.
  std::size_t count(const ArrayView& from) const {
    const std::size_t most =
        std::max<std::size_t>(1, device::buffer_bytes() / std::max<std::size_t>(1, cell_bytes(view_)));
    const std::size_t limit = std::min(end_, at_ + most);
    const auto fit = [&](std::size_t last) { return fits(window_of(from, place(last) - place(at_))); };
    if (order_.empty()) {
      std::size_t good = 1, bad = limit - at_ + 1;
      while (bad - good > 1) {
        const std::size_t middle = good + (bad - good) / 2;
        (fit(at_ + middle - 1) ? good : bad) = middle;
      }
      return good;
    }
    const std::int64_t gap = widest_gap / std::max<std::int64_t>(1, std::abs(view_.stride.cell) * size_of_value(view_));
    std::size_t last = at_;
    while (last + 1 < limit && place(last + 1) - place(last) <= gap + 1 && fit(last + 1)) ++last;
    return last + 1 - at_;
  }
  void take_cells() {
    if (at_ == end_) return;
    Piece piece;
    piece.device = cells_from(view_, place(at_));
    piece.first = at_;
    piece.count = count(piece.device);
    piece.device.cells = piece.count;
    piece.window = window_of(piece.device, place(at_ + piece.count - 1) - place(at_));
    if (!order_.empty())
      for (std::size_t n = at_; n < at_ + piece.count; ++n)
        piece.order.push_back(static_cast<std::uint32_t>(place(n) - place(at_)));
    at_ += piece.count;
    if (fits(piece.window)) return slabs_.push_back(std::move(piece));
    piece.order.clear();  // one cell
    cut(piece, slabs_);
  }

  ArrayView view_;
  std::span<const std::uint32_t> order_;
  std::vector<std::uint32_t> sorted_;  // empty: cells lie in the order in which they are packed
  std::size_t at_ = 0, end_ = 0;
  std::deque<Piece> slabs_;
};

// The values of a piece in a buffer, as a view of host memory.
ArrayView in_buffer(const Piece& piece, std::span<const std::byte> buffer) {
  ArrayView view = piece.device;
  view.space = MemorySpace::host;
  view.data = buffer.data() + piece.window.before * size_of_value(view);
  view.stride.component = piece.window.component;
  view.order = piece.order;
  return view;
}

}  // namespace

void pack_from_device(const ArrayView& view, std::size_t first, std::size_t last, std::span<std::byte> out,
                      base::RunningChecksum* sum) {
  Pieces pieces(without_ghosts(view), first, last);
  const std::size_t cell = cell_bytes(view);
  base::RunningChecksum* in_passing = pieces.in_order() ? sum : nullptr;
  if (!pieces.in_order()) std::fill(out.begin(), out.end(), std::byte{0});  // cells that are nowhere
  std::deque<Piece> on_their_way;
  std::vector<std::byte> scattered;
  const auto next = [&](device::Lines& lines) {
    Piece piece;
    if (!pieces.next(piece)) return false;
    lines = piece.window.lines;
    on_their_way.push_back(std::move(piece));
    return true;
  };
  const auto take = [&](std::span<const std::byte> buffer) {
    const Piece piece = std::move(on_their_way.front());
    on_their_way.pop_front();
    const ArrayView here = in_buffer(piece, buffer);
    if (pieces.in_order() || piece.count == 1)
      return pack(here, 0, piece.count, out.subspan(pieces.cell(piece.first) * cell + piece.out, packed_bytes(here)),
                  in_passing);
    scattered.resize(packed_bytes(here));
    pack(here, 0, piece.count, scattered, nullptr);
    for (std::size_t n = 0; n < piece.count; ++n)
      std::copy_n(scattered.data() + n * cell, cell, out.data() + pieces.cell(piece.first + n) * cell);
  };
  if (first < last) device::read(view.data, next, take);
  if (sum != nullptr && !pieces.in_order()) sum->add(out);
}

}  // namespace octavo::engine
