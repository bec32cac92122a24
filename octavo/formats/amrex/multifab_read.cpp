#include <algorithm>
#include <string>
#include <utility>

#include "octavo/file/posix.hpp"
#include "octavo/formats/amrex/hdf5_plotfile.hpp"
#include "octavo/formats/amrex/multifab.hpp"
#include "octavo/mesh/boxes.hpp"

namespace octavo::formats::amrex {
namespace {

using base::Error;
using base::Kind;
using mesh::IndexBox;

constexpr std::uint64_t most_at_once = 4U << 20;    // bytes of one read: large enough for any disk, small enough for
                                                    // the cache that the values are copied out of
constexpr std::uint64_t most_skipped = 64U << 10;   // bytes between two boxes that are cheaper read than jumped over
constexpr std::uint64_t worth_a_read = 128U << 10;  // bytes of a component that are read on their own

/// The cells wanted and the box they stand in, both with unused axes one cell wide.
struct CellWindow {
  IndexBox cells, stored;
  std::int64_t nx() const { return stored.hi[0] - stored.lo[0]; }
  std::int64_t ny() const { return stored.hi[1] - stored.lo[1]; }
  std::uint64_t points() const {
    return static_cast<std::uint64_t>(nx() * ny()) * static_cast<std::uint64_t>(stored.hi[2] - stored.lo[2]);
  }
  /// Number of the row of a cell, and whether all of the box is wanted.
  std::int64_t row(const mesh::Index3& at) const { return (at[2] - stored.lo[2]) * ny() + at[1] - stored.lo[1]; }
  bool everything() const { return cells == stored; }
};

struct BoxReader {
  const MultiFab& multifab;
  std::span<const int> components;
  mesh::ScalarType type;
  std::span<const std::span<std::byte>> out;
  std::vector<std::byte> buffer;

  std::size_t width() const { return mesh::size_of(type); }

  std::string place(std::size_t box) const {
    const FabPlace& at = multifab.places[box];
    return multifab.files[at.file].string() + ", byte " + std::to_string(at.offset) + ", box " + std::to_string(box);
  }

  CellWindow window(const Take& take) const {
    const int dim = multifab.boxes.dim;
    return {mesh::flat(take.cells, dim), mesh::flat(stored_box(multifab, take.box), dim)};
  }

  /// The line before the values, compared with what the header said; its length, and the format of the values.
  std::pair<std::size_t, RealFormat> check_line(std::size_t box, std::span<const std::byte> bytes) const {
    if (multifab.version != 1) return {0, multifab.format};
    const FabLine line = read_fab_line(bytes, place(box));
    const FabPlace& at = multifab.places[box];
    check_fab_line(multifab, box, line);
    const std::uint64_t values = stored_bytes(multifab, box) / mesh::size_of(multifab.format.type);
    if (line.bytes + values * mesh::size_of(line.format.type) > at.end - at.offset)
      throw Error(Kind::corrupt, "the values of a box reach into what follows").at(place(box));
    return {line.bytes, line.format};
  }

  /// Copies the wanted cells of one component out of `bytes`, which hold all of the box's.
  void copy(const Take& take, const CellWindow& window, const RealFormat& format, const std::byte* bytes,
            std::span<std::byte> to) const {
    std::byte* target = to.data() + take.to * width();
    if (window.everything()) return decode(format, bytes, window.points(), type, target);
    const std::size_t stored_width = mesh::size_of(format.type);
    mesh::for_each_row(window.cells, [&](const mesh::Index3& at, std::int64_t length) {
      const std::int64_t first = window.row(at) * window.nx() + at[0] - window.stored.lo[0];
      decode(format, bytes + static_cast<std::size_t>(first) * stored_width, static_cast<std::size_t>(length), type,
             target);
      target += static_cast<std::size_t>(length) * width();
    });
  }

  void take_whole(const Take& take, std::span<const std::byte> fab) const {
    const auto [line, format] = check_line(take.box, fab);
    const CellWindow window = this->window(take);
    const std::size_t component = window.points() * mesh::size_of(format.type);
    for (std::size_t c = 0; c < components.size(); ++c)
      copy(take, window, format, fab.data() + line + static_cast<std::size_t>(components[c]) * component, out[c]);
  }

  /// One component of a large box, some rows at a time.
  void take_rows(const file::File& file, std::uint64_t first_byte, const Take& take, const CellWindow& window,
                 const RealFormat& format, std::span<std::byte> to) {
    const std::uint64_t row_bytes = static_cast<std::uint64_t>(window.nx()) * mesh::size_of(format.type);
    const auto batch = static_cast<std::int64_t>(std::max<std::uint64_t>(1, most_at_once / row_bytes));
    const std::int64_t begin = window.row(window.cells.lo);
    const std::int64_t end = window.row({0, window.cells.hi[1] - 1, window.cells.hi[2] - 1}) + 1;
    const auto skipped =
        static_cast<std::size_t>(window.cells.lo[0] - window.stored.lo[0]) * mesh::size_of(format.type);
    const auto length = static_cast<std::size_t>(window.cells.hi[0] - window.cells.lo[0]);
    std::byte* target = to.data() + take.to * width();
    for (std::int64_t row = begin; row < end; row += batch) {
      const std::int64_t rows = std::min(batch, end - row);
      buffer.resize(static_cast<std::size_t>(rows) * row_bytes);
      file::pread_all(file, first_byte + static_cast<std::uint64_t>(row) * row_bytes, buffer);
      for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t y = (row + r) % window.ny() + window.stored.lo[1];
        if (y < window.cells.lo[1] || y >= window.cells.hi[1]) continue;
        decode(format, buffer.data() + static_cast<std::size_t>(r) * row_bytes + skipped, length, type, target);
        target += length * width();
      }
    }
  }

  void take_components(const file::File& file, const Take& take) {
    const FabPlace& at = multifab.places[take.box];
    std::vector<std::byte> start(max_fab_line);
    start.resize(file::pread_some(file, at.offset, start));
    const auto [line, format] = check_line(take.box, start);
    const CellWindow window = this->window(take);
    const std::uint64_t component = window.points() * mesh::size_of(format.type);
    for (std::size_t c = 0; c < components.size(); ++c) {
      const std::uint64_t first = at.offset + line + static_cast<std::uint64_t>(components[c]) * component;
      if (window.everything() && format == RealFormat{type, std::endian::native})
        file::pread_all(file, first, out[c].subspan(take.to * width(), component));
      else
        take_rows(file, first, take, window, format, out[c]);
    }
  }

  /// Whether a box is better read component by component than as a whole together with its neighbours.
  bool is_large(const Take& take) const {
    const std::uint64_t bytes = stored_bytes(multifab, take.box);
    const auto all = static_cast<std::uint64_t>(multifab.components);
    return bytes > most_at_once || (components.size() < all && bytes / all >= worth_a_read);
  }

  std::uint64_t end_of(const Take& take) const {
    const FabPlace& at = multifab.places[take.box];
    return std::min<std::uint64_t>(at.end, at.offset + max_fab_line + stored_bytes(multifab, take.box));
  }

  /// Reads a run of boxes, near one another in one file, at once.
  void take_run(const file::File& file, std::span<const Take> run) {
    const std::uint64_t begin = multifab.places[run.front().box].offset;
    buffer.resize(end_of(run.back()) - begin);
    file::pread_all(file, begin, buffer);
    for (const Take& take : run) {
      const FabPlace& at = multifab.places[take.box];
      take_whole(take, std::span(buffer).subspan(at.offset - begin, end_of(take) - at.offset));
    }
  }

  /// The takes from the first on that are one read.
  std::size_t length_of_run(std::span<const Take> takes) const {
    const FabPlace& first = multifab.places[takes[0].box];
    std::size_t n = 1;
    for (; n < takes.size() && !is_large(takes[n]); ++n) {
      const FabPlace& next = multifab.places[takes[n].box];
      if (next.file != first.file || next.offset > end_of(takes[n - 1]) + most_skipped ||
          end_of(takes[n]) > first.offset + most_at_once)
        break;
    }
    return n;
  }
};

}  // namespace

void read_cells(const MultiFab& multifab, std::vector<Take> takes, std::span<const int> components,
                mesh::ScalarType type, std::span<const std::span<std::byte>> out) {
  if (multifab.hdf5) return read_hdf5_cells(multifab, takes, components, type, out);
  const auto& places = multifab.places;
  std::sort(takes.begin(), takes.end(), [&](const Take& a, const Take& b) {
    return std::pair(places[a.box].file, places[a.box].offset) < std::pair(places[b.box].file, places[b.box].offset);
  });
  BoxReader reader{.multifab = multifab, .components = components, .type = type, .out = out, .buffer = {}};
  file::File file;
  for (std::size_t i = 0; i < takes.size();) {
    const auto& path = multifab.files[places[takes[i].box].file];
    if (!file.is_open() || file.path() != path) file = file::open_read(path);
    const auto rest = std::span<const Take>(takes).subspan(i);
    const bool large = reader.is_large(rest[0]);
    const std::size_t run = large ? 1 : reader.length_of_run(rest);
    if (large)
      reader.take_components(file, rest[0]);
    else
      reader.take_run(file, rest.first(run));
    i += run;
  }
}

}  // namespace octavo::formats::amrex
