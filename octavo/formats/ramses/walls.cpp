#include "octavo/formats/ramses/walls.hpp"

#include <algorithm>
#include <iterator>

namespace octavo::formats::ramses {
namespace {

using file::RecordReader;

std::size_t of(std::int64_t n) { return static_cast<std::size_t>(n); }

/// Centres and levels, list after list, level after level.
void read_places(RecordReader& reader, const AmrHeader& amr, double coarse_cell, mesh::Particles& walls) {
  const std::size_t dim = of(amr.ndim), real = of(amr.real_bytes);
  const RealCells cells = find_real_cells(amr);
  std::array<std::vector<double>, 3> position;
  std::vector<std::int32_t> level_of;
  for (int level = 0; level < amr.nlevelmax; ++level)
    for (int list = 0; list < num_lists(amr); ++list) {
      const std::uint64_t octs = num_octs(amr, level, list);
      if (octs == 0) continue;
      reader.skip(3, 4 * octs, "ind_grid, next, prev");
      if (list < amr.ncpu) reader.skip(dim, real * octs, "xg");
      for (std::size_t a = 0; list >= amr.ncpu && a < dim; ++a)
        for (const double centre : reader.reals(octs, "xg"))
          position[a].push_back((centre - static_cast<double>(cells.first[a])) * coarse_cell);
      reader.skip(1 + 2 * dim + (std::uint64_t{3} << dim), 4 * octs, "father, nbor, son, cpu_map, flag1");
      if (list >= amr.ncpu) level_of.insert(level_of.end(), octs, level + 1);
    }
  walls.count = static_cast<std::int64_t>(level_of.size());
  for (std::size_t a = 0; a < dim; ++a)
    walls.attributes.push_back(mesh::attribute_of(std::string("position_") + "xyz"[a], position[a]));
  walls.attributes.push_back(mesh::attribute_of("level", level_of));
}

/// The values of one list; `row` is its first oct among the walls'.
void read_list(RecordReader& reader, std::uint64_t octs, std::size_t row, std::size_t cells,
               std::span<mesh::Field> fields) {
  std::vector<std::byte> column;
  for (std::size_t c = 0; c < cells; ++c)
    for (mesh::Field& field : fields) {
      const std::size_t width = mesh::size_of(field.info.type);
      column.resize(octs * width);
      reader.read_bytes(reader.next(octs * width, "values of a variable"), 0, column);
      if (reader.foreign_order()) base::swap_bytes(column, width);
      for (std::size_t i = 0; i < octs; ++i)
        std::copy_n(column.begin() + static_cast<std::ptrdiff_t>(i * width), width,
                    field.bytes.begin() + static_cast<std::ptrdiff_t>(((row + i) * cells + c) * width));
    }
}

void read_values(RecordReader& reader, CellKind kind, const AmrHeader& amr, std::span<mesh::Field> fields) {
  const CellHeader header = read_cell_header(reader, kind, amr.ndim);
  const std::size_t cells = std::size_t{1} << amr.ndim;
  if (header.ncpu != amr.ncpu || header.nlevelmax != amr.nlevelmax || header.nboundary != amr.nboundary ||
      of(header.variables) != fields.size())
    throw base::Error(base::Kind::corrupt, "files of different outputs: the header differs from the amr file's")
        .at(reader.path().string());
  std::size_t row = 0;
  for (int level = 0; level < amr.nlevelmax; ++level)
    for (int list = 0; list < num_lists(amr); ++list) {
      const std::uint64_t octs = num_octs(amr, level, list);
      reader.skip(2, 4, "the level, the number of octs of the list");
      if (octs == 0) continue;
      if (list < amr.ncpu) {
        reader.skip(cells * fields.size(), octs * mesh::size_of(fields[0].info.type), "values of a variable");
        continue;
      }
      read_list(reader, octs, row, cells, fields);
      row += octs;
    }
}

}  // namespace

mesh::Particles read_walls(const Output& output, int domain) {
  RecordReader reader(file_of(output.listing, "amr", domain).path);
  const AmrHeader amr = read_amr_header(reader);
  require_same_output(output.amr, amr, reader);
  mesh::Particles walls{mesh::wall_species, 0, {}};
  read_places(reader, amr, output.header.hi[0] / static_cast<double>(find_real_cells(amr).count[0]), walls);
  const std::size_t cells = std::size_t{1} << amr.ndim;
  for (const auto& [kind, header] : output.kinds) {
    std::vector<mesh::Field> fields;
    for (std::size_t f = 0; f < output.variables.size(); ++f) {
      if (output.variables[f].kind != kind) continue;
      mesh::FieldInfo info = output.header.fields[f];
      info.centring = mesh::Centring::particle;
      info.components = static_cast<int>(cells);
      fields.push_back(mesh::make_field(info, of(walls.count) * cells));
    }
    RecordReader values(file_of(output.listing, prefix(kind), domain).path);
    read_values(values, kind, amr, fields);
    std::move(fields.begin(), fields.end(), std::back_inserter(walls.attributes));
  }
  return walls;
}

}  // namespace octavo::formats::ramses
