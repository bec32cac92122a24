#include "octavo/formats/flash/particles.hpp"

#include <algorithm>
#include <array>

namespace octavo::formats::flash {

using base::Error;
using file::hdf5::Class;

namespace {

constexpr std::array<std::pair<const char*, const char*>, 3> positions{
    {{"posx", "position_x"}, {"posy", "position_y"}, {"posz", "position_z"}}};

std::vector<std::string> property_names(const OpenedFlash& source, std::uint64_t count) {
  std::vector<std::string> names;
  for (const std::string& text : read_text(source.file, set(source, "particle names"))) {
    names.push_back(attribute_name(trimmed(text)));
    if (names.back().empty() || std::count(names.begin(), names.end(), names.back()) > 1)
      throw error_in(source, "particle names",
                     "expected distinct names, found \"" + names.back() + "\" twice or empty");
  }
  if (names.size() != count)
    throw error_in(source, "particle names",
                   "expected " + std::to_string(count) +
                       " names, one a column of \"tracer "
                       "particles\", found " +
                       std::to_string(names.size()));
  return names;
}

void count_rows(const OpenedFlash& source, std::int64_t blocks, ParticleTable& table) {
  const auto& info = set(source, "localnp");
  const bool fits = info.shape.size() == 1 && info.type.kind == Class::integer &&
                    (blocks == 0 || info.shape[0] == static_cast<std::uint64_t>(blocks));
  if (!fits)
    throw error_in(source, "localnp",
                   "expected one integer a block" + (blocks == 0 ? "" : ", " + std::to_string(blocks)) + ", found " +
                       describe(info));
  table.per_block = file::hdf5::read_all<std::int64_t>(source.file, info);
  table.first_row = {0};
  for (std::int64_t count : table.per_block) {
    if (count < 0 || count > table.species.count)
      throw error_in(source, "localnp",
                     "expected 0 to " + std::to_string(table.species.count) +
                         " particles a block, "
                         "found " +
                         std::to_string(count));
    table.first_row.push_back(table.first_row.back() + count);
  }
  if (table.first_row.back() != table.species.count)
    throw error_in(source, "localnp",
                   "expected a sum of " + std::to_string(table.species.count) +
                       ", the rows of \"tracer particles\", found " + std::to_string(table.first_row.back()))
        .hint("--no-particles leaves them out");
}

void fill(const OpenedFlash& source, std::int64_t blocks, ParticleTable& table) {
  const auto& rows = set(source, "tracer particles");
  if (rows.shape.size() != 2 || rows.type.kind != Class::real)
    throw error_in(source, "tracer particles", "expected rows of reals, found " + describe(rows));
  // There are no particles. FLASH then writes no names.
  if (rows.shape[0] == 0 && !has(source, "particle names")) return;
  const mesh::ScalarType type = rows.type.bytes == 4 ? mesh::ScalarType::float32 : mesh::ScalarType::float64;
  for (const std::string& name : property_names(source, rows.shape[1]))
    table.species.attributes.push_back({name, "", type, mesh::Centring::particle, 1, 0});
  table.species.count = static_cast<std::int64_t>(rows.shape[0]);
  if (has(source, "localnp")) count_rows(source, blocks, table);
}

/// Turns the columns of [rows][columns] into one field each.
template <class T>
void spread(const std::vector<T>& rows, std::size_t at, mesh::Particles& particles) {
  const std::size_t columns = particles.attributes.size();
  for (std::size_t column = 0; column < columns; ++column) {
    const std::span<T> values = particles.attributes[column].as<T>();
    for (std::size_t row = 0; row * columns < rows.size(); ++row) values[at + row] = rows[row * columns + column];
  }
}

template <class T>
void read_runs(const OpenedFlash& source, const std::vector<RowRun>& runs, mesh::Particles& particles) {
  const auto& info = set(source, "tracer particles");
  constexpr std::int64_t most = std::int64_t{1} << 16;  // rows at once
  std::size_t at = 0;
  for (const RowRun& run : runs)
    for (std::int64_t done = 0; done < run.count; done += most) {
      const auto rows = static_cast<std::size_t>(std::min(most, run.count - done));
      std::vector<T> values(rows * particles.attributes.size());
      file::hdf5::read_rows<T>(source.file, info, static_cast<std::uint64_t>(run.first + done), rows, values);
      spread(values, at, particles);
      at += rows;
    }
}

}  // namespace

std::string attribute_name(const std::string& property) {
  for (const auto& [flash, ours] : positions)
    if (property == flash) return ours;
  return property;
}

std::string property_name(const std::string& attribute) {
  for (const auto& [flash, ours] : positions)
    if (attribute == ours) return flash;
  for (const char axis : {'x', 'y', 'z'})
    if (attribute == std::string("velocity_") + axis) return std::string("vel") + axis;
  return attribute;
}

ParticleTable read_particle_table(const OpenedFlash& source, std::int64_t blocks) {
  ParticleTable table;
  table.species.name = "particles";
  if (!has(source, "tracer particles")) return table;
  try {
    fill(source, blocks, table);
  } catch (const Error& error) {
    table.damage = error;
    table.first_row.clear();
    table.per_block.clear();
  }
  return table;
}

mesh::Particles read_particles(const OpenedFlash& source, const ParticleTable& table, const std::vector<RowRun>& runs) {
  mesh::Particles particles;
  particles.species = table.species.name;
  for (const RowRun& run : runs) particles.count += run.count;
  for (const mesh::FieldInfo& info : table.species.attributes)
    particles.attributes.push_back(mesh::make_field(info, static_cast<std::size_t>(particles.count)));
  if (particles.count == 0) return particles;
  if (particles.attributes.front().info.type == mesh::ScalarType::float32)
    read_runs<float>(source, runs, particles);
  else
    read_runs<double>(source, runs, particles);
  return particles;
}

}  // namespace octavo::formats::flash
