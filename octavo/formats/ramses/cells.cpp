#include "octavo/formats/ramses/cells.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "octavo/formats/ramses/oct_records.hpp"

namespace octavo::formats::ramses {
namespace {

using file::Record;
using file::RecordReader;

constexpr int most_variables = 1 << 16;

int count_of(RecordReader& reader, std::int64_t low, std::int64_t high, std::string_view what) {
  const auto value = reader.scalar<std::int32_t>(what);
  if (value >= low && value <= high) return value;
  throw reader.error("the record before: expected " + std::string(what) + " from " + std::to_string(low) + " to " +
                     std::to_string(high) + ", found " + std::to_string(value));
}

void require(RecordReader& reader, std::int64_t expected, std::string_view what) {
  const auto value = reader.scalar<std::int32_t>(what);
  if (value != expected)
    throw reader.error("the record before: expected " + std::string(what) + " to be " + std::to_string(expected) +
                       ", as in the amr file, found " + std::to_string(value));
}

// The state that all lists share.
struct RecordWalk {
  RecordReader& reader;
  std::size_t cells;      // 2^dim
  std::size_t variables;  // in the file
  std::span<const WantedVariable> wanted;
  std::vector<bool> needed;     // of the variables
  std::vector<Record> records;  // of the current list: cell position slowest; those that are needed
};

constexpr const char* values_of_a_variable = "values of a variable";
constexpr std::uint64_t long_record = std::uint64_t{1} << 13;  // we jump over it and read a page less

// Walks over the records of a list of `octs` octs, values of `width` bytes. Reads none of those that nobody wants if
// they are long.
void walk_list(RecordWalk& walk, std::uint64_t octs, std::size_t width) {
  const std::uint64_t bytes = octs * width, a_record = bytes + 2 * walk.reader.format().marker;
  if (bytes < long_record || walk.wanted.size() == walk.variables) walk.reader.prefetch(a_record * walk.records.size());
  for (std::size_t first = 0; first < walk.records.size();) {
    std::size_t others = 0;
    while (first + others < walk.records.size() && !walk.needed[(first + others) % walk.variables]) ++others;
    if (others > 0) walk.reader.skip(others, bytes, values_of_a_variable);
    first += others;
    if (first < walk.records.size()) walk.records[first++] = walk.reader.next(bytes, values_of_a_variable);
  }
}

// Places one list's values of one variable. `family` says where, oct by oct.
template <class T>
void scatter(RecordWalk& walk, const WantedVariable& wanted, std::span<const std::uint32_t> family,
             const DomainTree& tree, std::size_t level, std::size_t offset, CellTile<T>& tile) {
  std::array<Record, 8> positions;
  for (std::size_t c = 0; c < walk.cells; ++c)
    positions[c] = walk.records[c * walk.variables + static_cast<std::size_t>(wanted.variable)];
  T* const to = wanted.field->as<T>().data() + offset;
  tile.for_each_oct(walk.reader, std::span(positions).first(walk.cells), family.size(),
                    [&, cells = walk.cells](std::size_t i, auto values) {
                      if (family[i] == no_family) return;
                      const std::size_t first = family[i] * cells;
                      if (level > 0)
                        std::memcpy(to + first, values.data(), values.size_bytes());
                      else
                        for (std::size_t c = 0; c < cells; ++c)
                          if (const std::uint32_t cell = tree.root_cell[first + c]; cell != no_cell)
                            to[cell] = values[c];
                    });
}

template <class T>
void read_levels(RecordWalk& walk, const AmrHeader& header, const DomainTree& tree, int levels) {
  const auto offsets = mesh::level_offsets(tree.tree);
  CellTile<T> tile;
  for (int level = 0; level < levels; ++level) {
    const auto l = static_cast<std::size_t>(level);
    std::span<const std::uint32_t> rest =
        l < tree.family_of_oct.size() ? tree.family_of_oct[l] : std::span<const std::uint32_t>{};
    for (int list = 0; list < num_lists(header); ++list) {
      const std::uint32_t octs = num_octs(header, level, list);
      require(walk.reader, level + 1, "the level");
      require(walk.reader, octs, "the number of octs of the list");
      if (octs == 0) continue;
      const bool wall = list >= header.ncpu;
      const auto family = rest.first(wall ? 0 : octs);
      rest = rest.subspan(family.size());
      if (std::all_of(family.begin(), family.end(), [](std::uint32_t f) { return f == no_family; })) {
        walk.reader.skip(walk.records.size(), octs * sizeof(T), values_of_a_variable);
        continue;
      }
      walk_list(walk, octs, sizeof(T));
      for (const WantedVariable& wanted : walk.wanted) scatter<T>(walk, wanted, family, tree, l, offsets[l], tile);
    }
  }
}

}  // namespace

std::string prefix(CellKind kind) {
  switch (kind) {
    case CellKind::hydro: return "hydro";
    case CellKind::grav: return "grav";
    default: return "rt";
  }
}

CellHeader read_cell_header(RecordReader& reader, CellKind kind, int ndim) {
  CellHeader header;
  header.ncpu = count_of(reader, 1, INT32_MAX, "ncpu");
  // In a list that is not empty each variable has a record, even if it is only a few bytes long.
  const auto most = static_cast<std::int64_t>(std::min<std::uint64_t>(most_variables, reader.file_size() / 8));
  header.variables = count_of(reader, 1, most, "the number of variables");
  if (kind != CellKind::grav) require(reader, ndim, "ndim");
  header.nlevelmax = count_of(reader, 1, INT32_MAX, "nlevelmax");
  header.nboundary = count_of(reader, 0, INT32_MAX, "nboundary");
  if (kind != CellKind::grav) header.gamma = reader.reals(1, "gamma").front();
  return header;
}

std::size_t find_value_width(RecordReader& reader) {
  while (!reader.at_end()) {
    reader.skip(1, 4, "the level");
    const auto octs = static_cast<std::uint64_t>(count_of(reader, 0, INT32_MAX, "the number of octs of the list"));
    if (octs == 0) continue;
    const std::uint64_t bytes = reader.peek("values of a variable");
    if (bytes == 8 * octs) return 8;
    if (bytes == 4 * octs) return 4;
    throw reader.error("values of a variable: expected a record of 8 or 4 bytes an oct, " + std::to_string(octs) +
                       " octs, found " + std::to_string(bytes) + " bytes");
  }
  return 8;
}

void read_cells(RecordReader& reader, const CellHeader& cell_header, const AmrHeader& header, const DomainTree& tree,
                std::span<const WantedVariable> wanted, bool whole) {
  if (cell_header.ncpu != header.ncpu || cell_header.nlevelmax != header.nlevelmax ||
      cell_header.nboundary != header.nboundary)
    throw base::Error(base::Kind::corrupt,
                      "files of different outputs: ncpu, nlevelmax or nboundary differ from the "
                      "amr file's")
        .at(reader.path().string());
  if (wanted.empty()) return;
  const std::size_t cells = std::size_t{1} << header.ndim, variables = static_cast<std::size_t>(cell_header.variables);
  RecordWalk walk{
      reader, cells, variables, wanted, std::vector<bool>(variables), std::vector<Record>(cells * variables)};
  for (const WantedVariable& one : wanted) walk.needed[static_cast<std::size_t>(one.variable)] = true;
  const int levels = whole ? header.nlevelmax : mesh::num_levels(tree.tree);
  if (wanted.front().field->info.type == mesh::ScalarType::float32)
    read_levels<float>(walk, header, tree, levels);
  else
    read_levels<double>(walk, header, tree, levels);
  if (whole) reader.require_end();
}

}  // namespace octavo::formats::ramses
