#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "octavo/base/checksum.hpp"
#include "octavo/mesh/field.hpp"

namespace octavo::engine {

/// The memory in which an array lies: that of the CPU, or that of an accelerator (docs/devices.md). Managed memory may
/// be given as either.
enum class MemorySpace : std::uint8_t { host, device };

/// An array of the application, as it lies in its memory. Value (cell, x, y, z, component) is at
///     data + cell_index * stride.cell + (x + ghost) * stride.x + (y + ghost) * stride.y + ... + component *
///     stride.component
/// in elements, with cell_index = order[cell], or cell where there is no order. The packed form, which a store holds,
/// has cells breadth first, then x fastest, then y, z, and components fastest of all.
struct ArrayView {
  const void* data = nullptr;
  mesh::ScalarType type = mesh::ScalarType::float64;
  std::size_t cells = 0;                       ///< tree cells (or particles)
  std::array<std::int64_t, 3> block{1, 1, 1};  ///< values of a cell that are stored, without ghosts
  int components = 1;
  int ghost = 0;  ///< ghost values on each side of the block along the axes where `block` is larger than 1
  struct Stride {
    std::int64_t cell = 0, x = 0, y = 0, z = 0, component = 0;
  };
  Stride stride{};  ///< [elements]; all 0: packed, ghosts included
  /// For each tree cell its index in the application's own numbering, or `nowhere`.
  std::span<const std::uint32_t> order{};
  MemorySpace space = MemorySpace::host;
  /// For device memory: the CUstream whose work the values wait for; null: the default stream. Counts all work
  /// queued there before end_step() is called (in a series: before the field is put).
  void* stream = nullptr;
  mesh::Centring centring = mesh::Centring::cell;  ///< of a field; particles have their own
  /// Marks a tree cell for which the application has no values, such as another rank's root. Its values read as zeros;
  /// they take no space in a store.
  static constexpr std::uint32_t nowhere = 0xffffffff;
};

/// Values already in the packed form.
template <class T>
ArrayView view_of(std::span<const T> values, int components = 1) {
  ArrayView view;
  view.data = values.data();
  view.type = mesh::scalar_type_of<T>();
  view.cells = components > 0 ? values.size() / static_cast<std::size_t>(components) : 0;
  view.components = components;
  return view;
}
template <class T>
ArrayView view_of(const std::vector<T>& values, int components = 1) {
  return view_of(std::span<const T>(values), components);
}

/// Splits values on faces along an axis into two views of the same memory: the low face of each cell, and the high
/// face. In `faces` the block is one longer than its cells along the axis.
std::array<ArrayView, 2> split_faces(const ArrayView& faces, std::size_t axis);

/// Bytes of the packed form.
std::size_t packed_bytes(const ArrayView& view);
/// The array in the application's memory, if it is in host memory and in the packed form already.
std::optional<std::span<const std::byte>> as_packed(const ArrayView& view);
/// Throws Error(usage) for a null pointer with values, negative or zero extents, an order of another length, or memory
/// that lies elsewhere than `space` says, and Error(unsupported) for device memory without a driver.
void check(const ArrayView& view);
/// Later reads of views in device memory begin after the work that their streams have now.
void follow(std::span<const ArrayView> views);
/// The same values, described without ghosts and with all strides.
ArrayView without_ghosts(const ArrayView& view);
/// Bytes of one tree cell (or particle) in the packed form.
std::size_t cell_bytes(const ArrayView& view);
/// Pointer to the values if they are in host memory and in the packed form already; else null.
const std::byte* packed_data(const ArrayView& view);
/// Writes the packed form; `out` has packed_bytes(view). Returns its XXH3 (as base::checksum), taken tile by tile while
/// the bytes are in cache; 0 where `with_checksum` is false.
std::uint64_t pack(const ArrayView& view, std::span<std::byte> out, bool with_checksum);
/// The same for cells [first, last); `sum`, if given, gets the bytes.
void pack(const ArrayView& view, std::size_t first, std::size_t last, std::span<std::byte> out,
          base::RunningChecksum* sum);
std::uint64_t pack(const ArrayView& view, std::size_t first, std::size_t last, std::span<std::byte> out,
                   bool with_checksum);

}  // namespace octavo::engine
