#include "octavo/formats/ramses/particles.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "octavo/formats/ramses/naming.hpp"

namespace octavo::formats::ramses {
namespace {

using file::RecordReader;
using mesh::FieldInfo;
using mesh::ScalarType;

ScalarType type_of_letter(char letter) {
  switch (letter) {
    case 'f': return ScalarType::float32;
    case 'i': return ScalarType::int32;
    case 'q': return ScalarType::int64;
    case 'h': return ScalarType::int16;
    case 'b':
    case '?': return ScalarType::int8;
    default: return ScalarType::float64;
  }
}

bool is_real(ScalarType type) { return type == ScalarType::float64 || type == ScalarType::float32; }

// Returns the type of that kind (real or integer) with that many bytes per value; nothing if there is none.
std::optional<ScalarType> type_of_width(bool real, std::uint64_t width) {
  if (real && width == 8) return ScalarType::float64;
  if (real && width == 4) return ScalarType::float32;
  if (!real && width == 8) return ScalarType::int64;
  if (!real && width == 4) return ScalarType::int32;
  if (!real && width == 2) return ScalarType::int16;
  if (!real && width == 1) return ScalarType::int8;
  return {};
}

FieldInfo attribute_info(const std::string& name, ScalarType type) {
  return {name, unit_of(name), type, mesh::Centring::particle, 1, 0};
}

// The records that every version has, in order.
std::vector<FieldInfo> oldest_attributes(int ndim) {
  std::vector<FieldInfo> list;
  for (const char* vector : {"position_", "velocity_"})
    for (int axis = 0; axis < ndim; ++axis)
      list.push_back(attribute_info(vector + std::string(1, "xyz"[axis]), ScalarType::float64));
  list.push_back(attribute_info("mass", ScalarType::float64));
  list.push_back(attribute_info("identity", ScalarType::int32));
  list.push_back(attribute_info("levelp", ScalarType::int32));
  return list;
}

// Payload bytes of all records up to the end of the file.
std::vector<std::uint64_t> remaining_sizes(RecordReader& reader) {
  std::vector<std::uint64_t> sizes;
  while (!reader.at_end()) sizes.push_back(reader.next("a particle attribute").bytes);
  return sizes;
}

// Names for the records behind the oldest ones. Family and tag are bytes; then come the attributes of stars.
void append_newer(std::vector<FieldInfo>& list, std::size_t records, const std::vector<std::uint64_t>& sizes,
                  std::uint64_t count) {
  std::vector<std::string> bytes{"family", "tag"}, reals{"birth_time", "metallicity"};
  for (std::size_t i = list.size(); i < records; ++i) {
    const bool one_byte = count > 0 && sizes[i] == count;
    std::vector<std::string>& names = one_byte ? bytes : reals;
    const std::string name = names.empty() ? "attribute_" + std::to_string(i + 1) : names.front();
    if (!names.empty()) names.erase(names.begin());
    list.push_back(attribute_info(name, one_byte ? ScalarType::int8 : ScalarType::float64));
  }
}

// Replaces each type by the one of the same kind that the record's size asks for.
void fit_widths(std::vector<FieldInfo>& list, const std::vector<std::uint64_t>& sizes, std::uint64_t count,
                const RecordReader& reader) {
  for (std::size_t i = 0; i < list.size() && count > 0; ++i) {
    const auto type = sizes[i] % count == 0 ? type_of_width(is_real(list[i].type), sizes[i] / count) : std::nullopt;
    if (!type)
      throw reader.error("particle attribute " + list[i].name + ": a record of " + std::to_string(sizes[i]) +
                         " bytes does not hold " + std::to_string(count) + " values");
    list[i].type = *type;
  }
}

}  // namespace

ParticleFileHeader read_particle_header(RecordReader& reader) {
  ParticleFileHeader header;
  header.ncpu = reader.scalar<std::int32_t>("ncpu");
  header.ndim = reader.scalar<std::int32_t>("ndim");
  header.count = reader.integers(1, "npart").front();
  if (header.count < 0 || static_cast<std::uint64_t>(header.count) > reader.file_size())
    throw reader.error("the record before: expected npart from 0 to the file's size, found " +
                       std::to_string(header.count));
  const auto seed = reader.array<std::int32_t>("localseed");
  header.localseed.assign(seed.begin(), seed.end());
  header.nstar_tot = reader.integers(1, "nstar_tot").front();
  header.mstar_tot = reader.reals(1, "mstar_tot").front();
  header.mstar_lost = reader.reals(1, "mstar_lost").front();
  header.nsink = reader.integers(1, "nsink").front();
  return header;
}

ParticleLayout find_particle_layout(RecordReader& reader, const ParticleFileHeader& header,
                                    const std::optional<std::vector<DescriptorLine>>& descriptor) {
  const auto count = static_cast<std::uint64_t>(header.count);
  const auto sizes = remaining_sizes(reader);
  ParticleLayout layout;
  if (descriptor)
    for (const DescriptorLine& variable : *descriptor)
      layout.attributes.push_back(attribute_info(variable.name, type_of_letter(variable.type)));
  if (!descriptor) layout.attributes = oldest_attributes(header.ndim);
  if (sizes.size() < layout.attributes.size() || (descriptor && sizes.size() > layout.attributes.size()))
    throw reader.error("expected " + std::to_string(layout.attributes.size()) +
                       " records of particle attributes, found " + std::to_string(sizes.size()));
  layout.guessed = !descriptor;
  if (!descriptor) append_newer(layout.attributes, sizes.size(), sizes, count);
  fit_widths(layout.attributes, sizes, count, reader);
  return layout;
}

mesh::Particles read_particles(RecordReader& reader, const ParticleFileHeader& header,
                               const std::vector<FieldInfo>& attributes) {
  mesh::Particles particles{species_name, header.count, {}};
  const auto count = static_cast<std::uint64_t>(header.count);
  for (const FieldInfo& info : attributes) {
    const std::size_t width = mesh::size_of(info.type);
    const file::Record record = reader.next(count * width, info.name);
    mesh::Field field = mesh::make_field(info, static_cast<std::size_t>(count));
    reader.read_bytes(record, 0, field.bytes);
    if (reader.foreign_order()) base::swap_bytes(field.bytes, width);
    particles.attributes.push_back(std::move(field));
  }
  reader.require_end();
  return particles;
}

}  // namespace octavo::formats::ramses
