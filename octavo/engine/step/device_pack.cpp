#include "octavo/engine/step/device_pack.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <numeric>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/engine/device/lanes.hpp"

/// A device array is read in pieces, each small enough for a pinned buffer. Where the device packs, a piece is a run of
/// the packed form. Where it does not, a piece is a set of equal lines at regular distances that holds the wanted
/// values, and the gaps between them where a copy of the gap costs less than another row. In the buffer a piece is an
/// ArrayView of host memory, and the pack() of host arrays takes the values from there.
namespace octavo::engine {
namespace {

// Two cells are copied together if the gap between them is at most this: about the bytes that the bus moves while a
// copy starts.
constexpr std::int64_t widest_gap = std::int64_t{64} << 10;
// The price of a row of a copy, in bytes that the bus moves meanwhile. Not measured on a device.
constexpr std::int64_t price_of_row = 512;

// Part of an array that one buffer holds.
struct BufferWindow {
  device::Lines lines;
  std::int64_t before = 0;     // [elements] in the buffer, in front of the first cell's first value
  ArrayView::Stride stride{};  // in the buffer
};

std::int64_t size_of_value(const ArrayView& view) { return static_cast<std::int64_t>(mesh::size_of(view.type)); }

// An axis of an array that has several values along it.
struct Axis {
  std::int64_t extent = 1, stride = 0;
  std::int64_t ArrayView::Stride::*of = nullptr;
};
std::int64_t reach(const Axis& axis) { return (axis.extent - 1) * std::abs(axis.stride); }

// The axes of cells at places 0 to `last_place`, the fastest first.
std::vector<Axis> axes_of(const ArrayView& view, std::int64_t last_place) {
  using Stride = ArrayView::Stride;
  const Stride& stride = view.stride;
  std::vector<Axis> axes{{last_place + 1, stride.cell, &Stride::cell},
                         {view.block[0], stride.x, &Stride::x},
                         {view.block[1], stride.y, &Stride::y},
                         {view.block[2], stride.z, &Stride::z},
                         {view.components, stride.component, &Stride::component}};
  std::erase_if(axes, [](const Axis& axis) { return axis.extent == 1; });
  std::stable_sort(axes.begin(), axes.end(),
                   [](const Axis& a, const Axis& b) { return std::abs(a.stride) < std::abs(b.stride); });
  return axes;
}

// The window whose lines reach over the first `inner` axes, gaps included. Arrays may run backwards along an axis:
// lines begin at its lowest address, and `before` says how far behind that the first value lies.
BufferWindow window_of(const ArrayView& view, std::span<const Axis> axes, std::size_t inner) {
  const std::int64_t size = size_of_value(view);
  BufferWindow window;
  window.stride = view.stride;
  std::int64_t length = 1, behind = 0;
  for (const Axis& axis : axes.first(inner)) length += reach(axis);
  window.lines.width = static_cast<std::size_t>(length * size);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Axis& axis = axes[i];
    if (axis.stride < 0) behind += reach(axis);
    Axis there = axis;
    if (i >= inner) {
      there.stride = axis.stride < 0 ? -length : length;
      length *= axis.extent;
      window.lines.axes[i - inner] = {static_cast<std::size_t>(axis.extent), std::abs(axis.stride) * size};
    }
    window.stride.*axis.of = there.stride;
    if (there.stride < 0) window.before += reach(there);
  }
  if (std::none_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.of == &ArrayView::Stride::cell; }))
    window.stride.cell = length;  // of a single cell: as in the packed form
  window.lines.first = static_cast<const std::byte*>(view.data) - behind * size;
  return window;
}

// In bytes that the bus moves in the same time.
std::int64_t price_of(const device::Lines& lines) {
  std::size_t rows = 1, calls = 1;
  for (std::size_t i = 0; i < lines.axes.size(); ++i) {
    rows *= lines.axes[i].count;
    if (i >= axes_of_a_call(lines)) calls *= lines.axes[i].count;
  }
  const std::int64_t bytes = static_cast<std::int64_t>(bytes_of(lines));
  return bytes + static_cast<std::int64_t>(calls) * widest_gap +
         (rows == 1 ? 0 : static_cast<std::int64_t>(rows) * price_of_row);
}

// The memory of cells at places 0 to `last_place` of a view without ghosts, in the cheapest lines.
BufferWindow window_of(const ArrayView& view, std::int64_t last_place) {
  const std::vector<Axis> axes = axes_of(view, last_place);
  BufferWindow best = window_of(view, axes, axes.size());
  std::int64_t length = 1;
  std::vector<std::int64_t> lengths;  // of lines over the axes before each
  for (const Axis& axis : axes) {
    lengths.push_back(length);
    length += reach(axis);
  }
  for (std::size_t inner = axes.size(); inner-- > 0;) {
    // Lines do not overlap, and the driver's rows have room for four axes.
    if (std::abs(axes[inner].stride) < lengths[inner] || axes.size() - inner > best.lines.axes.size()) break;
    BufferWindow window = window_of(view, axes, inner);
    if (price_of(window.lines) < price_of(best.lines)) best = window;
  }
  return best;
}

// The same cells, packed by the device; they lie one after another, or at `places`.
BufferWindow packed_window_of(const ArrayView& view, std::size_t cells, std::span<const std::uint32_t> places) {
  const std::int64_t size = size_of_value(view);
  const auto axis = [&](auto count, std::int64_t stride) {
    return device::Lines::Axis{static_cast<std::size_t>(count), stride * size};
  };
  BufferWindow window;
  window.lines.first = view.data;
  window.lines.width = static_cast<std::size_t>(size);
  window.lines.axes = {axis(view.components, view.stride.component), axis(view.block[0], view.stride.x),
                       axis(view.block[1], view.stride.y), axis(view.block[2], view.stride.z),
                       axis(cells, view.stride.cell)};
  window.lines.packed = true;
  window.lines.places = places;
  return window;
}

bool fits(const BufferWindow& window) { return room_of(window.lines) <= device::buffer_bytes(); }

ArrayView cells_from(const ArrayView& view, std::int64_t place) {
  ArrayView from = view;
  from.data = static_cast<const std::byte*>(view.data) + place * view.stride.cell * size_of_value(view);
  return from;
}

// The contents of a window: cells, or a slab of one cell that is larger than a buffer.
struct WindowCells {
  ArrayView device;  // without ghosts and order, from the lowest place on
  BufferWindow window;
  std::size_t first = 0, count = 0;    // cells, in the order in which they are copied
  std::size_t out = 0;                 // [bytes] of a slab, from its cell's first value
  std::vector<std::uint32_t> order{};  // of the cells from the lowest place on; empty: they follow one another
};

// The memory of a slab of one cell.
BufferWindow window_of(const WindowCells& slab) {
  const device::Lines& cell = slab.window.lines;
  return cell.packed ? packed_window_of(slab.device, 1, cell.places) : window_of(slab.device, 0);
}

// Cuts a cell into slabs along its outermost axis, and slabs that are still too large along the next.
void cut(const WindowCells& piece, std::deque<WindowCells>& out) {
  WindowCells slab = piece;
  slab.window = window_of(slab);
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

// The pieces of cells [first, last), in the order in which they lie; in their own where the device packs them.
class WindowWalk {
 public:
  WindowWalk(const ArrayView& view, std::size_t first, std::size_t last, bool packed)
      : view_(view), packed_(packed), end_(last - first) {
    if (view.order.empty()) {
      view_ = cells_from(view, static_cast<std::int64_t>(first));
    } else {
      order_ = view.order.subspan(first, last - first);
      if (!packed) sort();
    }
    view_.order = {};
  }

  // Cell of [first, last), from 0, that is the n-th to be copied.
  std::size_t cell(std::size_t n) const { return sorted_.empty() ? n : sorted_[n]; }
  bool in_order() const { return sorted_.empty(); }

  bool next(WindowCells& piece) {
    if (slabs_.empty() && at_ < end_) packed_ ? take_packed_cells() : take_cells();
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
      // A window grows with its cells, so we bisect for the most that fit. A single cell may not fit: cut() divides it.
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
  void take_packed_cells() {
    const std::size_t of_a_cell = cell_bytes(view_) + (order_.empty() ? 0 : sizeof order_[0]);
    const std::size_t table = room_of(packed_window_of(view_, 0, {}).lines);
    WindowCells piece;
    piece.first = at_;
    piece.count = std::clamp<std::size_t>((device::buffer_bytes() - table) / of_a_cell, 1, end_ - at_);
    piece.device = order_.empty() ? cells_from(view_, static_cast<std::int64_t>(at_)) : view_;
    piece.device.cells = piece.count;
    piece.window =
        packed_window_of(piece.device, piece.count, order_.empty() ? order_ : order_.subspan(at_, piece.count));
    at_ += piece.count;
    if (fits(piece.window)) return slabs_.push_back(std::move(piece));
    cut(piece, slabs_);
  }
  void take_cells() {
    WindowCells piece;
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
  bool packed_ = false;
  std::span<const std::uint32_t> order_;
  std::vector<std::uint32_t> sorted_;  // empty: cells lie in the order in which they are packed
  std::size_t at_ = 0, end_ = 0;
  std::deque<WindowCells> slabs_;
};

// The values of a piece in a buffer, as a view of host memory.
ArrayView in_buffer(const WindowCells& piece, std::span<const std::byte> buffer) {
  ArrayView view = piece.device;
  view.space = MemorySpace::host;
  view.data = buffer.data() + piece.window.before * size_of_value(view);
  view.stride = piece.window.stride;  // all 0 of a packed piece, as they are
  view.order = piece.order;
  return view;
}

// Whether the values lie in the packed form already.
bool is_packed(const ArrayView& view) {
  std::int64_t next = 1;
  const auto follows = [&](std::int64_t extent, std::int64_t stride) {
    const bool good = extent == 1 || stride == next;
    next *= extent;
    return good;
  };
  return view.order.empty() && follows(view.components, view.stride.component) &&
         follows(view.block[0], view.stride.x) && follows(view.block[1], view.stride.y) &&
         follows(view.block[2], view.stride.z) && follows(static_cast<std::int64_t>(view.cells), view.stride.cell);
}

// All memory from the lowest value of the cells to their highest. The view has no ghosts.
std::span<const std::byte> memory_of(const DeviceCells& cells) {
  const ArrayView& view = cells.view;
  auto lowest = static_cast<std::int64_t>(cells.first), highest = static_cast<std::int64_t>(cells.last) - 1;
  if (!view.order.empty()) {
    lowest = std::int64_t{ArrayView::nowhere};
    highest = 0;
    for (const std::uint32_t place : view.order.subspan(cells.first, cells.last - cells.first))
      if (place != ArrayView::nowhere) {
        lowest = std::min(lowest, std::int64_t{place});
        highest = std::max(highest, std::int64_t{place});
      }
    if (lowest > highest) return {static_cast<const std::byte*>(view.data), 0};
  }
  std::int64_t behind = 0, length = 1;
  for (const Axis& axis : axes_of(view, highest - lowest)) {
    length += reach(axis);
    if (axis.stride < 0) behind += reach(axis);
  }
  const std::int64_t size = size_of_value(view);
  return {static_cast<const std::byte*>(cells_from(view, lowest).data) - behind * size,
          static_cast<std::size_t>(length * size)};
}

// Cells without ghosts, and where they lie.
struct PlacedCells {
  DeviceCells cells;
  device::MemoryPlace place;
  bool packed = false;  // by the device

  explicit PlacedCells(const DeviceCells& given) : cells(given) {
    cells.view = without_ghosts(given.view);
    try {
      place = device::driver().place_of(given.view.data);
    } catch (base::Error& error) {
      if (given.name != nullptr) error.at(*given.name);
      throw;
    }
    // The copy engine alone takes the packed form. A kernel may not read values across their alignment, nor outside of
    // the device's memory.
    const bool aligned = reinterpret_cast<std::uintptr_t>(given.view.data) % mesh::size_of(given.view.type) == 0;
    packed = aligned && !is_packed(cells.view) && packs(place, memory_of(cells), given.name);
  }
};

// Cells on their way: the pieces that are still to be copied, and those that are to be packed.
class Transfer {
 public:
  explicit Transfer(const PlacedCells& placed)
      : cells_(placed.cells),
        place_(placed.place),
        pieces_(cells_.view, cells_.first, cells_.last, placed.packed),
        cell_(cell_bytes(cells_.view)),
        // A checksum runs over the packed form from its first byte. Pieces in another order are summed at the end, in
        // finish().
        in_passing_(pieces_.in_order() ? cells_.sum : nullptr) {
    if (!pieces_.in_order()) std::fill(cells_.out.begin(), cells_.out.end(), std::byte{0});  // cells that are nowhere
  }

  bool next(device::Lines& lines) {
    WindowCells piece;
    if (!pieces_.next(piece)) return false;
    lines = piece.window.lines;
    lines.place = place_;
    lines.name = cells_.name;
    on_their_way_.push_back(std::move(piece));
    return true;
  }

  void take(std::span<const std::byte> buffer) {
    const WindowCells piece = std::move(on_their_way_.front());
    on_their_way_.pop_front();
    const ArrayView here = in_buffer(piece, buffer);
    if (pieces_.in_order() || piece.count == 1)
      return pack(here, 0, piece.count,
                  cells_.out.subspan(pieces_.cell(piece.first) * cell_ + piece.out, packed_bytes(here)), in_passing_);
    scattered_.resize(packed_bytes(here));
    pack(here, 0, piece.count, scattered_, nullptr);
    for (std::size_t n = 0; n < piece.count; ++n)
      std::copy_n(scattered_.data() + n * cell_, cell_, cells_.out.data() + pieces_.cell(piece.first + n) * cell_);
  }
  bool all_taken() const { return on_their_way_.empty(); }
  void finish() {
    if (cells_.sum != nullptr && !pieces_.in_order()) cells_.sum->add(cells_.out);
  }

 private:
  DeviceCells cells_;
  device::MemoryPlace place_;
  WindowWalk pieces_;
  std::size_t cell_ = 0;
  base::RunningChecksum* in_passing_ = nullptr;
  std::deque<WindowCells> on_their_way_;
  std::vector<std::byte> scattered_;
};

}  // namespace

void pack_from_device(std::span<const DeviceCells> all) {
  std::deque<PlacedCells> waiting;  // placed before read(), which holds the lanes that packs() asks
  for (const DeviceCells& cells : all)
    if (cells.first < cells.last) waiting.emplace_back(cells);
  std::deque<Transfer> on_their_way;  // the last one is being copied
  const auto finish_first = [&] {
    on_their_way.front().finish();
    on_their_way.pop_front();
  };
  const auto next = [&](device::Lines& lines) {
    while (on_their_way.empty() || !on_their_way.back().next(lines)) {
      if (waiting.empty()) return false;
      on_their_way.emplace_back(waiting.front());
      waiting.pop_front();
    }
    return true;
  };
  const auto take = [&](std::span<const std::byte> buffer) {
    // Buffers come back in the order in which next() named them, so the first array with pieces on their way is theirs.
    while (on_their_way.front().all_taken()) finish_first();
    on_their_way.front().take(buffer);
  };
  device::read(next, take);
  while (!on_their_way.empty()) finish_first();
}

}  // namespace octavo::engine
