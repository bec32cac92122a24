#include "octavo/formats/amrex/multifab.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "octavo/file/posix.hpp"
#include "octavo/mesh/boxes.hpp"

namespace octavo::formats::amrex {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

constexpr std::int64_t most_components = 1 << 20;
constexpr std::int64_t most_ghosts = 1 << 16;

fs::path header_path(const fs::path& prefix) { return prefix.parent_path() / (prefix.filename().string() + "_H"); }

std::string box_place(const MultiFab& multifab, std::size_t box) {
  const FabPlace& place = multifab.places[box];
  return multifab.files[place.file].string() + ", byte " + std::to_string(place.offset) + ", box " +
         std::to_string(box);
}

mesh::Index3 read_ghost(Text& text) {
  mesh::Index3 ghost{0, 0, 0};
  if (text.follows("(")) {
    const auto values = text.tuple();
    std::copy(values.begin(), values.end(), ghost.begin());
  } else {
    ghost.fill(text.integer(most_ghosts));
  }
  for (std::int64_t n : ghost)
    if (n < 0 || n > most_ghosts) throw text.error("ghost cells: expected 0 or more, found " + std::to_string(n));
  return ghost;
}

void read_places(Text& text, MultiFab& multifab) {
  std::map<std::string, std::size_t> known;
  const std::size_t boxes = text.count(14);
  if (boxes != multifab.boxes.boxes.size())
    throw text.error("places of boxes: expected " + std::to_string(multifab.boxes.boxes.size()) + ", found " +
                     std::to_string(boxes));
  for (std::size_t i = 0; i < boxes; ++i) {
    text.expect("FabOnDisk:");
    const std::string name = text.word();
    const auto [found, is_new] = known.emplace(name, multifab.files.size());
    if (is_new) multifab.files.push_back(path_below(multifab.prefix.parent_path(), name, text));
    const std::int64_t offset = text.integer(INT64_MAX);
    if (offset < 0) throw text.error("a negative offset");
    multifab.places.push_back({found->second, static_cast<std::uint64_t>(offset), 0});
  }
}

std::vector<double> read_table(Text& text, std::size_t rows, std::size_t columns) {
  std::vector<double> values;
  if (rows * columns > text.left()) throw text.error("the table of minima and maxima does not fit the file");
  values.reserve(rows * columns);
  for (std::size_t i = 0; i < rows * columns; ++i) {
    values.push_back(text.real());
    text.expect(",");
  }
  return values;
}

std::vector<double> read_box_table(Text& text, const MultiFab& multifab) {
  const std::size_t rows = text.count(0 + 1);
  text.expect(",");
  if (rows != multifab.places.size() || text.integer() != multifab.components)
    throw text.error("a table of minima or maxima that does not fit the boxes and components");
  return read_table(text, rows, static_cast<std::size_t>(multifab.components));
}

void read_rest(Text& text, MultiFab& multifab) {
  if (multifab.version == 1 || multifab.version == 3) {
    multifab.minima = read_box_table(text, multifab);
    multifab.maxima = read_box_table(text, multifab);
  } else if (multifab.version == 4) {
    multifab.minima = read_table(text, 1, static_cast<std::size_t>(multifab.components));
    multifab.maxima = read_table(text, 1, static_cast<std::size_t>(multifab.components));
  }
  if (multifab.version != 1) multifab.format = read_real_format(text);
}

MultiFab read_header(const fs::path& prefix) {
  Text text = read_text(header_path(prefix));
  MultiFab multifab;
  multifab.prefix = prefix;
  multifab.version = static_cast<int>(text.integer());
  if (multifab.version < 1 || multifab.version > 4)
    throw Error(Kind::unsupported, "VisMF header version " + std::to_string(multifab.version) + ": 1 to 4 are known")
        .at(text.path().string());
  const std::int64_t how = text.integer();
  if (how != 0 && how != 1) throw text.error("expected 0 or 1 (how files are shared), found " + std::to_string(how));
  multifab.components = static_cast<int>(text.integer(most_components));
  if (multifab.components < 1) throw text.error("expected one component or more");
  multifab.ghost = read_ghost(text);
  multifab.boxes = text.box_array();
  for (std::size_t axis = static_cast<std::size_t>(multifab.boxes.dim); axis < 3; ++axis) multifab.ghost[axis] = 0;
  read_places(text, multifab);
  read_rest(text, multifab);
  return multifab;
}

/// The values of a box, or nothing where their size does not fit 62 bits.
std::optional<std::uint64_t> bytes_of(const MultiFab& multifab, std::size_t box) {
  const mesh::IndexBox stored = stored_box(multifab, box);
  std::int64_t n = static_cast<std::int64_t>(mesh::size_of(multifab.format.type));
  if (__builtin_mul_overflow(n, multifab.components, &n)) return {};
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (__builtin_mul_overflow(n, stored.hi[axis] - stored.lo[axis], &n)) return {};
  return static_cast<std::uint64_t>(n);
}

/// The line before the values of the first box, which all of a version 1 output have: their format, held against the
/// header.
FabLine read_first_line(MultiFab& multifab) {
  const file::File opened = file::open_read(multifab.files[multifab.places[0].file]);
  std::vector<std::byte> bytes(max_fab_line);
  bytes.resize(file::pread_some(opened, multifab.places[0].offset, bytes));
  FabLine line = read_fab_line(bytes, box_place(multifab, 0));
  multifab.format = line.format;
  check_fab_line(multifab, 0, line);
  return line;
}

std::vector<std::uint64_t> file_sizes(const MultiFab& multifab) {
  std::vector<std::uint64_t> sizes;
  for (const fs::path& path : multifab.files) sizes.push_back(file::size(file::open_read(path)));
  return sizes;
}

/// The line before the values of a box, as AMReX writes it.
std::size_t line_bytes(const MultiFab& multifab, std::size_t box) {
  const TypedBox stored{stored_box(multifab, box), multifab.boxes.nodal, multifab.boxes.dim};
  return to_text(FabLine{multifab.format, stored, multifab.components, 0}).size();
}

/// Checks that each box's bytes lie in its file, and that boxes follow one another without overlap and with at most
/// `most_between` bytes between them: 0 if the lines of text are as AMReX writes them, or missing. No other check finds
/// a wrong offset, or a number of components that is too small.
void check_places(MultiFab& multifab, std::size_t most_between) {
  const auto sizes = file_sizes(multifab);
  std::vector<std::size_t> order(multifab.places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto& places = multifab.places;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(places[a].file, places[a].offset) < std::pair(places[b].file, places[b].offset);
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    FabPlace& place = places[order[i]];
    const bool last = i + 1 == order.size() || places[order[i + 1]].file != place.file;
    place.end = last ? sizes[place.file] : places[order[i + 1]].offset;
    auto bytes = bytes_of(multifab, order[i]);
    if (bytes && multifab.version == 1) *bytes += line_bytes(multifab, order[i]);
    if (!bytes || place.offset > place.end || *bytes > place.end - place.offset)
      throw Error(Kind::corrupt, "the values of a box do not fit in: they take " +
                                     (bytes ? std::to_string(*bytes) : "too many") + " bytes, and up to the " +
                                     (last ? "end of the file" : "next box") + " there are " +
                                     std::to_string(place.end > place.offset ? place.end - place.offset : 0))
          .at(box_place(multifab, order[i]))
          .hint("the output is half-written or wrongly indexed");
    const std::uint64_t rest = place.end - place.offset - *bytes;
    if (rest > most_between)
      throw Error(Kind::corrupt, std::to_string(rest) + " bytes behind the values of a box belong to none")
          .at(box_place(multifab, order[i]))
          .hint("the output is wrongly indexed");
  }
}

}  // namespace

MultiFab open_multifab(const fs::path& prefix) {
  MultiFab multifab = read_header(prefix);
  if (multifab.places.empty()) return multifab;
  std::size_t most_between = 0;
  if (multifab.version == 1) {
    const FabLine line = read_first_line(multifab);
    if (line.bytes != line_bytes(multifab, 0)) most_between = max_fab_line;
  }
  check_places(multifab, most_between);
  return multifab;
}

void check_fab_line(const MultiFab& multifab, std::size_t box, const FabLine& line) {
  if (line.box.cells == stored_box(multifab, box) && line.box.nodal == multifab.boxes.nodal &&
      line.components == multifab.components)
    return;
  throw Error(Kind::corrupt, "header and data disagree: expected values of box " +
                                 to_text(stored_box(multifab, box), multifab.boxes.nodal, multifab.boxes.dim) +
                                 " with " + std::to_string(multifab.components) + " components, found box " +
                                 to_text(line.box.cells, line.box.nodal, line.box.dim) + " with " +
                                 std::to_string(line.components))
      .at(box_place(multifab, box));
}

mesh::IndexBox stored_box(const MultiFab& multifab, std::size_t box) {
  mesh::IndexBox out = multifab.boxes.boxes[box];
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(multifab.boxes.dim); ++axis) {
    out.lo[axis] -= multifab.ghost[axis];
    out.hi[axis] += multifab.ghost[axis];
  }
  return out;
}

std::uint64_t stored_bytes(const MultiFab& multifab, std::size_t box) { return *bytes_of(multifab, box); }

mesh::Centring centring_of(const BoxArray& boxes) {
  std::int64_t nodal = 0;
  std::size_t last = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(boxes.dim); ++axis)
    if (boxes.nodal[axis] != 0) {
      ++nodal;
      last = axis;
    }
  if (nodal == 0) return mesh::Centring::cell;
  if (nodal == boxes.dim && nodal > 1) return mesh::Centring::node;
  if (nodal == 1) return static_cast<mesh::Centring>(static_cast<int>(mesh::Centring::face_x) + static_cast<int>(last));
  throw Error(Kind::unsupported, "values on edges are not read");
}

}  // namespace octavo::formats::amrex
