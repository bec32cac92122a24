#include "octavo/formats/amrex/particles.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "octavo/base/byte_order.hpp"
#include "octavo/file/posix.hpp"

namespace octavo::formats::amrex {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using mesh::ScalarType;

constexpr std::uint64_t most_particle_bytes = 4U << 20;  // bytes of one read, unless one grid has more

struct Version {
  const char* name;
  bool packed;
  ScalarType real;
};
constexpr Version versions[] = {{"Version_Two_Dot_Zero_double", false, ScalarType::float64},
                                {"Version_Two_Dot_Zero_single", false, ScalarType::float32},
                                {"Version_Two_Dot_One_double", true, ScalarType::float64},
                                {"Version_Two_Dot_One_single", true, ScalarType::float32}};

void read_version(Text& text, ParticleFolder& folder) {
  folder.version = text.name();
  for (const Version& version : versions)
    if (folder.version == version.name) {
      folder.packed = version.packed;
      folder.real = version.real;
      return;
    }
  throw Error(Kind::unsupported, "particles of \"" + folder.version + "\": versions 2.0 and 2.1 are read")
      .at(text.path().string());
}

std::vector<std::string> read_names(Text& text) {
  const std::size_t n = text.count(1);
  text.end_line();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < n; ++i) names.push_back(text.name());
  return names;
}

void read_grids(Text& text, ParticleFolder& folder) {
  const std::size_t levels = text.count(1) + 1;
  std::vector<std::size_t> counts;
  for (std::size_t level = 0; level < levels; ++level) counts.push_back(text.count(5));
  std::int64_t total = 0;
  for (std::size_t count : counts) {
    auto& grids = folder.grids.emplace_back();
    for (std::size_t i = 0; i < count; ++i) {
      ParticleGrid grid{.file = text.integer(), .count = text.integer(), .offset = 0};
      // A wrong header of a known kind has offsets that wrapped: a finding, no syntax error.
      grid.offset = static_cast<std::uint64_t>(text.integer(INT64_MAX));
      if (grid.file < 0 || grid.count < 0) throw text.error("a negative file number or count of particles");
      total += grid.count;
      grids.push_back(grid);
    }
  }
  if (total != folder.total)
    throw text.error("particles in grids: expected " + std::to_string(folder.total) + ", as announced, found " +
                     std::to_string(total));
}

fs::path level_path(const ParticleFolder& folder, std::size_t level) { return folder.path / level_name(level); }
fs::path data_path(const ParticleFolder& folder, std::size_t level, std::int64_t file) {
  return level_path(folder, level) / numbered("DATA_", file);
}

void read_boxes(ParticleFolder& folder) {
  for (std::size_t level = 0; level < folder.grids.size(); ++level) {
    BoxArray& boxes = folder.boxes.emplace_back();
    const fs::path path = level_path(folder, level) / "Particle_H";
    const bool any = std::any_of(folder.grids[level].begin(), folder.grids[level].end(),
                                 [](const ParticleGrid& grid) { return grid.count > 0; });
    if (!any && !fs::exists(path)) continue;
    Text text = read_text(path);
    boxes = text.box_array();
    if (boxes.boxes.size() != folder.grids[level].size() || (boxes.dim != folder.dim && !boxes.boxes.empty()))
      throw text.error("boxes of particles: expected " + std::to_string(folder.grids[level].size()) + " in " +
                       std::to_string(folder.dim) + " dimensions, found " + std::to_string(boxes.boxes.size()) +
                       " in " + std::to_string(boxes.dim));
  }
}

/// Grids with particles, by file and offset.
std::vector<std::size_t> by_offset(const std::vector<ParticleGrid>& grids) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < grids.size(); ++i)
    if (grids[i].count > 0) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(grids[a].file, grids[a].offset) < std::pair(grids[b].file, grids[b].offset);
  });
  return order;
}

/// Blocks of a level must follow one another in their files, from the beginning to the end. Empty where they do.
std::string find_damage(const ParticleFolder& folder, std::size_t level) {
  const auto& grids = folder.grids[level];
  const std::size_t stride = particle_bytes(folder);
  const auto where = [&](std::size_t grid, std::uint64_t expected) {
    return "particles of grid " + std::to_string(grid) + " at byte " + std::to_string(grids[grid].offset) + " of " +
           data_path(folder, level, grids[grid].file).string() + ", expected at " + std::to_string(expected);
  };
  std::uint64_t expected = 0, size = 0;
  std::int64_t file = -1;
  for (std::size_t i : by_offset(grids)) {
    if (grids[i].file != file) {
      if (file >= 0 && expected != size)
        return "bytes that no grid has, at the end of a file before grid " + std::to_string(i);
      file = grids[i].file;
      size = file::size(file::open_read(data_path(folder, level, file)));
      expected = 0;
    }
    if (grids[i].offset != expected) return where(i, expected);
    const auto bytes = static_cast<std::uint64_t>(grids[i].count) * stride;
    if (bytes > size - expected)
      return where(i, expected) + ", but only " + std::to_string(size - expected) + " bytes of " +
             std::to_string(bytes) + " are there";
    expected += bytes;
  }
  if (file >= 0 && expected != size)
    return std::to_string(size - expected) + " bytes at the end of " + data_path(folder, level, file).string() +
           " belong to no grid";
  return {};
}

// ------------------------------------------------------------------------------------------------------------- values

/// Appends values of one attribute.
template <class T>
void append(mesh::Field& field, T value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  field.bytes.insert(field.bytes.end(), bytes, bytes + sizeof(T));
}

mesh::Identity identity_of(const ParticleFolder& folder, const std::byte* record) {
  const auto first = base::load<std::uint32_t>(record, std::endian::native);
  const auto second = base::load<std::uint32_t>(record + 4, std::endian::native);
  if (!folder.packed) return {static_cast<std::int32_t>(first), static_cast<std::int32_t>(second)};
  return mesh::unpack_identity(std::uint64_t{first} << 32 | second);
}

double real_at(const ParticleFolder& folder, const std::byte* reals, std::size_t i) {
  return folder.real == ScalarType::float64 ? base::load<double>(reals + 8 * i, std::endian::native)
                                            : double{base::load<float>(reals + 4 * i, std::endian::native)};
}

/// Splits the records of one grid into columns: integers of all particles first, then reals of all.
void append_grid(const ParticleFolder& folder, const GridNumber& number, std::span<const std::byte> bytes,
                 const std::function<bool(const GridNumber&, const mesh::Point3&)>& keep, mesh::Particles& out) {
  const auto dim = static_cast<std::size_t>(folder.dim);
  const std::size_t width = mesh::size_of(folder.real);
  const std::size_t int_stride = 4 * (2 + folder.ints.size()), real_stride = width * (dim + folder.reals.size());
  const std::size_t count = bytes.size() / (int_stride + real_stride);
  for (std::size_t p = 0; p < count; ++p) {
    const std::byte* ints = bytes.data() + p * int_stride;
    const std::byte* reals = bytes.data() + count * int_stride + p * real_stride;
    mesh::Point3 position{0, 0, 0};
    for (std::size_t axis = 0; axis < dim; ++axis) position[axis] = real_at(folder, reals, axis);
    if (!keep(number, position)) continue;
    ++out.count;
    std::size_t column = 0;
    for (std::size_t i = 0; i < dim + folder.reals.size(); ++i) {
      auto& to = out.attributes[column++].bytes;
      to.insert(to.end(), reals + i * width, reals + (i + 1) * width);
    }
    const mesh::Identity identity = identity_of(folder, ints);
    append(out.attributes[column++], identity.id);
    append(out.attributes[column++], identity.rank);
    for (std::size_t i = 0; i < folder.ints.size(); ++i) {
      auto& to = out.attributes[column++].bytes;
      to.insert(to.end(), ints + 8 + 4 * i, ints + 12 + 4 * i);
    }
  }
}

/// The wanted grids from the first on that follow one another in a file and are one read.
std::size_t length_of_run(const ParticleFolder& folder, std::span<const GridNumber> wanted) {
  const auto grid = [&](std::size_t i) -> const ParticleGrid& { return folder.grids[wanted[i].level][wanted[i].grid]; };
  const auto bytes = [&](std::size_t i) { return static_cast<std::uint64_t>(grid(i).count) * particle_bytes(folder); };
  std::uint64_t all = bytes(0);
  std::size_t n = 1;
  for (; n < wanted.size() && wanted[n].level == wanted[0].level && grid(n).file == grid(0).file &&
         grid(n).offset == grid(0).offset + all && all + bytes(n) <= most_particle_bytes;
       ++n)
    all += bytes(n);
  return n;
}

void check_names(ParticleFolder& folder, const Text& text) {
  if (folder.dim < 1 || folder.dim > 3) throw text.error("dimensions of particles: expected 1 to 3");
  for (auto* names : {&folder.reals, &folder.ints})
    for (const std::string& name : *names)
      if (name.empty()) throw text.error("an attribute of particles without a name");
}

}  // namespace

std::size_t particle_bytes(const ParticleFolder& folder) {
  return 4 * (2 + folder.ints.size()) +
         mesh::size_of(folder.real) * (static_cast<std::size_t>(folder.dim) + folder.reals.size());
}

ParticleFolder open_particles(const fs::path& path) {
  ParticleFolder folder;
  folder.path = path;
  Text text = read_text(path / "Header");
  read_version(text, folder);
  folder.dim = static_cast<int>(text.integer());
  folder.reals = read_names(text);
  folder.ints = read_names(text);
  check_names(folder, text);
  text.integer();  // a flag that is always 1
  folder.total = text.integer(INT64_MAX);
  folder.next_id = text.integer(INT64_MAX);
  read_grids(text, folder);
  read_boxes(folder);
  for (std::size_t level = 0; level < folder.grids.size() && folder.damage.empty(); ++level) try {
      folder.damage = find_damage(folder, level);
    } catch (const Error& error) {
      folder.damage = error.message() + ": " + (error.places().empty() ? "" : error.places().front());
    }
  return folder;
}

mesh::SpeciesInfo species_of(const ParticleFolder& folder) {
  mesh::SpeciesInfo info{.name = folder.path.filename().string(), .count = folder.total, .attributes = {}};
  const auto add = [&](const std::string& wanted, ScalarType type) {
    std::string name = wanted;
    const auto taken = [&] {
      return std::any_of(info.attributes.begin(), info.attributes.end(), [&](const auto& f) { return f.name == name; });
    };
    for (int n = 2; taken(); ++n) name = wanted + "_" + std::to_string(n);
    info.attributes.push_back({.name = name, .unit = "", .type = type, .centring = mesh::Centring::particle});
  };
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(folder.dim); ++axis)
    add(std::string("position_") + "xyz"[axis], folder.real);
  for (const std::string& name : folder.reals) add(name, folder.real);
  add("id", ScalarType::int64);
  add("cpu", ScalarType::int32);
  for (const std::string& name : folder.ints) add(name, ScalarType::int32);
  return info;
}

mesh::Particles read_particles(const ParticleFolder& folder, std::vector<GridNumber> wanted,
                               const std::function<bool(const GridNumber&, const mesh::Point3&)>& keep) {
  if (!folder.damage.empty())
    throw Error(Kind::corrupt, folder.damage)
        .at((folder.path / "Header").string())
        .hint("the particles are half-written or wrongly indexed; the mesh can be read without them");
  mesh::Particles out;
  const mesh::SpeciesInfo info = species_of(folder);
  out.species = info.name;
  for (const mesh::FieldInfo& attribute : info.attributes) out.attributes.push_back(mesh::make_field(attribute, 0));
  const auto grid = [&](const GridNumber& number) -> const ParticleGrid& {
    return folder.grids[number.level][number.grid];
  };
  std::erase_if(wanted, [&](const GridNumber& number) { return grid(number).count == 0; });
  std::sort(wanted.begin(), wanted.end(), [&](const GridNumber& a, const GridNumber& b) {
    return std::tuple(a.level, grid(a).file, grid(a).offset) < std::tuple(b.level, grid(b).file, grid(b).offset);
  });
  std::vector<std::byte> buffer;
  for (std::size_t i = 0; i < wanted.size();) {
    const std::size_t run = length_of_run(folder, std::span(wanted).subspan(i));
    const ParticleGrid &first = grid(wanted[i]), &last = grid(wanted[i + run - 1]);
    const std::size_t stride = particle_bytes(folder);
    buffer.resize(last.offset + static_cast<std::uint64_t>(last.count) * stride - first.offset);
    file::pread_all(file::open_read(data_path(folder, wanted[i].level, first.file)), first.offset, buffer);
    for (std::size_t end = i + run; i < end; ++i) {
      const ParticleGrid& here = grid(wanted[i]);
      append_grid(folder, wanted[i],
                  std::span(buffer).subspan(here.offset - first.offset, static_cast<std::size_t>(here.count) * stride),
                  keep, out);
    }
  }
  return out;
}

}  // namespace octavo::formats::amrex
