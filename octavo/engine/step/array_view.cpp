#include "octavo/engine/step/array_view.hpp"

#include <algorithm>
#include <cstring>

#include "octavo/base/error.hpp"
#include "octavo/engine/device/lanes.hpp"
#include "octavo/engine/step/device_pack.hpp"

namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;
using Stride = ArrayView::Stride;

// Bytes that are copied before they are summed: few enough to stay in the second-level cache in between.
constexpr std::size_t tile_bytes = std::size_t{128} << 10;

bool given(const Stride& stride) {
  return stride.cell != 0 || stride.x != 0 || stride.y != 0 || stride.z != 0 || stride.component != 0;
}

std::int64_t ghosts_of(const ArrayView& view, std::size_t axis) { return view.block[axis] > 1 ? view.ghost : 0; }

// The strides of an array without gaps, ghosts included: components are the fastest, then x, y, z, cells.
Stride packed_stride(const ArrayView& view) {
  const auto extent = [&](std::size_t axis) { return view.block[axis] + 2 * ghosts_of(view, axis); };
  Stride stride;
  stride.component = 1;
  stride.x = view.components;
  stride.y = stride.x * extent(0);
  stride.z = stride.y * extent(1);
  stride.cell = stride.z * extent(2);
  return stride;
}

bool is_packed(const ArrayView& view, const Stride& stride) {
  const Stride own = packed_stride(view);
  const bool same = stride.x == own.x && (view.block[1] == 1 || stride.y == own.y) &&
                    (view.block[2] == 1 || stride.z == own.z) && (view.components == 1 || stride.component == 1) &&
                    stride.cell == own.cell;
  return same && view.ghost == 0 && view.order.empty();
}

std::size_t values_of_cell(const ArrayView& view) {
  return static_cast<std::size_t>(view.block[0] * view.block[1] * view.block[2]) *
         static_cast<std::size_t>(view.components);
}

// One line of values along x, each with its components.
template <class T>
T* pack_line(const T* from, std::int64_t count, std::int64_t components, const Stride& stride, T* to) {
  if (components == 1 && stride.x == 1) return std::copy_n(from, count, to);
  for (std::int64_t i = 0; i < count; ++i, from += stride.x)
    for (std::int64_t c = 0; c < components; ++c) *to++ = from[c * stride.component];
  return to;
}

template <class T>
T* pack_cell(const ArrayView& view, const Stride& stride, const T* cell, T* to) {
  const T* first = cell + ghosts_of(view, 0) * stride.x + ghosts_of(view, 1) * stride.y + ghosts_of(view, 2) * stride.z;
  for (std::int64_t z = 0; z < view.block[2]; ++z)
    for (std::int64_t y = 0; y < view.block[1]; ++y)
      to = pack_line(first + z * stride.z + y * stride.y, view.block[0], view.components, stride, to);
  return to;
}

struct CellSpan {
  std::size_t first = 0, last = 0;
};

// One value a cell, as a code of single cells has it: no loops over a block, and no ghosts.
template <class T>
T* pack_values(const ArrayView& view, const Stride& stride, CellSpan cells, const T* data, T* to) {
  const auto at = [&](std::size_t place) { return data[static_cast<std::int64_t>(place) * stride.cell]; };
  if (view.order.empty()) {
    for (std::size_t i = cells.first; i < cells.last; ++i) *to++ = at(i);
    return to;
  }
  for (const std::uint32_t place : view.order.subspan(cells.first, cells.last - cells.first))
    *to++ = place == ArrayView::nowhere ? T{} : at(place);
  return to;
}

template <class T>
T* pack_blocks(const ArrayView& view, const Stride& stride, CellSpan cells, const T* data, T* to) {
  for (std::size_t i = cells.first; i < cells.last; ++i) {
    const std::size_t at = view.order.empty() ? i : view.order[i];
    // Zeros: no reader takes them, but the same step must always give the same bytes.
    if (!view.order.empty() && at == ArrayView::nowhere)
      to = std::fill_n(to, values_of_cell(view), T{});
    else
      to = pack_cell(view, stride, data + static_cast<std::int64_t>(at) * stride.cell, to);
  }
  return to;
}

template <class T>
void pack_strided(const ArrayView& view, const Stride& stride, CellSpan cells, std::span<std::byte> out,
                  base::RunningChecksum* sum) {
  const auto* data = static_cast<const T*>(view.data);
  T* to = reinterpret_cast<T*>(out.data());
  const std::size_t tile = std::max<std::size_t>(1, tile_bytes / cell_bytes(view));
  for (std::size_t begin = cells.first; begin < cells.last; begin += tile) {
    const std::size_t end = std::min(cells.last, begin + tile);
    const T* tile_begin = to;
    to = values_of_cell(view) == 1 ? pack_values(view, stride, {begin, end}, data, to)
                                   : pack_blocks(view, stride, {begin, end}, data, to);
    if (sum != nullptr) sum->add(std::as_bytes(std::span(tile_begin, to)));
  }
}

void pack_cells(const ArrayView& view, CellSpan cells, std::span<std::byte> out, base::RunningChecksum* sum) {
  if (view.space == MemorySpace::device) {
    const DeviceCells from{view, cells.first, cells.last, out, sum, nullptr};
    return pack_from_device({&from, 1});
  }
  const Stride stride = given(view.stride) ? view.stride : packed_stride(view);
  if (const std::byte* data = packed_data(view))
    return base::copy_out({data + cells.first * cell_bytes(view), out.size()}, out.data(), sum);
  // Values move as unsigned integers of their width, so that every bit of a NaN survives.
  switch (mesh::size_of(view.type)) {
    case 8: return pack_strided<std::uint64_t>(view, stride, cells, out, sum);
    case 4: return pack_strided<std::uint32_t>(view, stride, cells, out, sum);
    case 2: return pack_strided<std::uint16_t>(view, stride, cells, out, sum);
    default: return pack_strided<std::uint8_t>(view, stride, cells, out, sum);
  }
}

}  // namespace

std::size_t cell_bytes(const ArrayView& view) { return values_of_cell(view) * mesh::size_of(view.type); }

ArrayView without_ghosts(const ArrayView& view) {
  ArrayView out = view;
  if (!given(out.stride)) out.stride = packed_stride(view);
  const std::array<std::int64_t, 3> strides{out.stride.x, out.stride.y, out.stride.z};
  std::int64_t first = 0;
  for (std::size_t a = 0; a < 3; ++a) first += ghosts_of(view, a) * strides[a];
  // No cells, no memory.
  if (view.data != nullptr)
    out.data = static_cast<const std::byte*>(view.data) + first * static_cast<std::int64_t>(mesh::size_of(view.type));
  out.ghost = 0;
  return out;
}

std::array<ArrayView, 2> split_faces(const ArrayView& faces, std::size_t axis) {
  ArrayView low = without_ghosts(faces);
  --low.block[axis];
  ArrayView high = low;
  const std::array<std::int64_t, 3> strides{low.stride.x, low.stride.y, low.stride.z};
  if (low.data != nullptr)
    high.data =
        static_cast<const std::byte*>(low.data) + strides[axis] * static_cast<std::int64_t>(mesh::size_of(faces.type));
  return {low, high};
}

std::size_t packed_bytes(const ArrayView& view) { return view.cells * cell_bytes(view); }

const std::byte* packed_data(const ArrayView& view) {
  if (view.space == MemorySpace::device) return nullptr;
  const bool packed = is_packed(view, given(view.stride) ? view.stride : packed_stride(view));
  return packed ? static_cast<const std::byte*>(view.data) : nullptr;
}

std::optional<std::span<const std::byte>> as_packed(const ArrayView& view) {
  const Stride stride = given(view.stride) ? view.stride : packed_stride(view);
  if (view.space == MemorySpace::device || !is_packed(view, stride)) return {};
  return std::span(static_cast<const std::byte*>(view.data), packed_bytes(view));
}

void check(const ArrayView& view) {
  if (view.components < 1 || view.ghost < 0 || *std::min_element(view.block.begin(), view.block.end()) < 1)
    throw Error(Kind::usage, "components and block: expected 1 or more; ghosts: 0 or more");
  if (view.cells > 0 && view.data == nullptr)
    throw Error(Kind::usage, "a null pointer for " + std::to_string(view.cells) + " cells");
  if (!view.order.empty() && view.order.size() != view.cells)
    throw Error(Kind::usage, "order: expected " + std::to_string(view.cells) + " entries, found " +
                                 std::to_string(view.order.size()));
  if (view.cells > 0) device::check_place(view.data, view.space == MemorySpace::device);
}

void follow(std::span<const ArrayView> views) {
  std::vector<device::DeviceArray> sources;
  for (const ArrayView& view : views)
    if (view.space == MemorySpace::device && view.cells > 0) sources.push_back({view.data, view.stream});
  device::follow(sources);
}

void pack(const ArrayView& view, std::size_t first, std::size_t last, std::span<std::byte> out,
          base::RunningChecksum* sum) {
  pack_cells(view, {first, last}, out, sum);
}

std::uint64_t pack(const ArrayView& view, std::size_t first, std::size_t last, std::span<std::byte> out,
                   bool with_checksum) {
  if (!with_checksum) {
    pack_cells(view, {first, last}, out, nullptr);
    return 0;
  }
  base::RunningChecksum sum;
  pack_cells(view, {first, last}, out, &sum);
  return sum.value();
}

std::uint64_t pack(const ArrayView& view, std::span<std::byte> out, bool with_checksum) {
  return pack(view, 0, view.cells, out, with_checksum);
}

}  // namespace octavo::engine
