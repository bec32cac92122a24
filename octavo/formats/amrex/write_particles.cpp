#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <utility>

#include "octavo/file/posix.hpp"
#include "octavo/formats/amrex/writer.hpp"
#include "octavo/mesh/boxes.hpp"

namespace octavo::formats::amrex {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using mesh::IndexBox;
using mesh::ScalarType;

constexpr int bucket_bits = 5;  // boxes are looked up in cubes of 32 cells

/// Which box of a level holds a cell.
class Locator {
 public:
  Locator(const std::vector<IndexBox>& boxes, int dim) : boxes_(boxes), dim_(dim) {
    for (std::size_t i = 0; i < boxes.size(); ++i)
      mesh::for_each_row(mesh::coarsened_box(boxes[i], std::int64_t{1} << bucket_bits, dim),
                         [&](const mesh::Index3& at, std::int64_t length) {
                           for (std::int64_t x = 0; x < length; ++x)
                             buckets_[key({at[0] + x, at[1], at[2]})].push_back(i);
                         });
  }
  std::optional<std::size_t> find(const mesh::Index3& cell) const {
    mesh::Index3 bucket{0, 0, 0};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim_); ++axis) bucket[axis] = cell[axis] >> bucket_bits;
    const auto found = buckets_.find(key(bucket));
    if (found == buckets_.end()) return {};
    for (std::size_t i : found->second)
      if (mesh::intersection(boxes_[i], {cell, {cell[0] + 1, cell[1] + 1, cell[2] + 1}}, dim_)) return i;
    return {};
  }

 private:
  static std::uint64_t key(const mesh::Index3& bucket) {
    std::uint64_t key = 0;
    for (std::int64_t i : bucket) key = key << 21 | (static_cast<std::uint64_t>(i) & 0x1FFFFF);
    return key;
  }
  const std::vector<IndexBox>& boxes_;
  int dim_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> buckets_;
};

/// The attributes of a species, sorted by their role in the file.
struct ParticleColumns {
  std::vector<const mesh::Field*> positions, reals, ints;
  const mesh::Field* id = nullptr;
  const mesh::Field* cpu = nullptr;
  ScalarType real = ScalarType::float32;
};

/// The attribute that is the id: AMReX's own, else RAMSES's, else FLASH's.
const mesh::Field* id_column(const mesh::Particles& particles) {
  for (const char* name : {"id", "identity", "tag"})
    for (const mesh::Field& field : particles.attributes)
      if (field.info.name == name) return &field;
  return nullptr;
}

bool is_real(const mesh::Field& field) {
  return field.info.type == ScalarType::float64 || field.info.type == ScalarType::float32;
}

template <class T>
T value_at(const mesh::Field& field, std::size_t i) {
  return mesh::visit_values(field, [&](auto values) { return static_cast<T>(values[i]); });
}

/// FLASH has its tags as doubles.
void check_whole_numbers(const mesh::Field& field) {
  if (!is_real(field)) return;
  for (const double value : mesh::to_doubles(field))
    if (!(std::abs(value) <= 0x1p38) || value != std::floor(value))
      throw Error(Kind::unsupported, "an identity that is no whole number: " + std::to_string(value))
          .at("attribute " + field.info.name);
}

void check_fits_32_bits(const mesh::Field& field) {
  mesh::visit_values(field, [&](auto values) {
    for (const auto value : values) {
      const auto back = static_cast<std::int32_t>(value);
      if (static_cast<decltype(value)>(back) != value || (back < 0) != (value < decltype(value){0}))
        throw Error(Kind::unsupported, "an integer that does not fit the 32 bits that particles of AMReX have for it")
            .at("attribute " + field.info.name);
    }
  });
}

ParticleColumns sort_columns(const mesh::Particles& particles, int dim) {
  ParticleColumns columns;
  columns.positions.resize(static_cast<std::size_t>(dim), nullptr);
  columns.id = id_column(particles);
  for (const mesh::Field& field : particles.attributes) {
    const std::string& name = field.info.name;
    if (field.size() != static_cast<std::size_t>(particles.count))
      throw Error(Kind::usage, "values of an attribute: expected " + std::to_string(particles.count) + ", found " +
                                   std::to_string(field.size()))
          .at("attribute " + name);
    if (&field == columns.id) continue;
    if (field.info.type == ScalarType::float64) columns.real = ScalarType::float64;
    const bool is_position =
        is_real(field) && name.size() == 10 && name.starts_with("position_") && name[9] >= 'x' && name[9] < 'x' + dim;
    if (is_position)
      columns.positions[static_cast<std::size_t>(name[9] - 'x')] = &field;
    else if (name == "cpu" && !is_real(field))
      columns.cpu = &field;
    else if (is_real(field))
      columns.reals.push_back(&field);
    else
      columns.ints.push_back(&field);
  }
  for (const auto* position : columns.positions)
    if (position == nullptr) throw Error(Kind::usage, "particles without positions").at(particles.species);
  for (const auto* field : columns.ints) check_fits_32_bits(*field);
  if (columns.cpu != nullptr) check_fits_32_bits(*columns.cpu);
  if (columns.id != nullptr) check_whole_numbers(*columns.id);
  if (columns.cpu != nullptr && columns.id == nullptr)
    throw Error(Kind::usage, "particles with a cpu and no id").at(particles.species);
  return columns;
}

std::int64_t id_of(const ParticleColumns& columns, std::size_t i) {
  return columns.id != nullptr ? value_at<std::int64_t>(*columns.id, i) : static_cast<std::int64_t>(i) + 1;
}
/// The rank that made the particle. Particles without identities count as made by this writer.
std::int32_t cpu_of(const ParticleColumns& columns, std::size_t i, std::int32_t writer) {
  if (columns.id == nullptr) return writer;
  return columns.cpu != nullptr ? value_at<std::int32_t>(*columns.cpu, i) : 0;
}

/// The cell of a position on a level. A position outside of the domain has the nearest cell.
mesh::Index3 cell_of(const mesh::Header& header, const IndexBox& domain, const mesh::Point3& position) {
  mesh::Index3 at{0, 0, 0};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) {
    const auto cells = static_cast<double>(domain.hi[axis] - domain.lo[axis]);
    double cell = std::floor((position[axis] - header.lo[axis]) / (header.hi[axis] - header.lo[axis]) * cells);
    if (!(cell >= 0)) cell = 0;  // NaN too
    at[axis] = domain.lo[axis] + static_cast<std::int64_t>(std::min(cell, cells - 1));
  }
  return at;
}

ParticleGrids grids_of(const ParticleColumns& columns, std::size_t count, const mesh::Header& header,
                       const mesh::Patches& patches) {
  ParticleGrids sorted;
  std::vector<Locator> locators;
  for (const auto& boxes : patches.boxes) {
    sorted.emplace_back(boxes.size());
    locators.emplace_back(boxes, patches.dim);
  }
  for (std::size_t i = 0; i < count; ++i) {
    mesh::Point3 position{0, 0, 0};
    for (std::size_t axis = 0; axis < columns.positions.size(); ++axis)
      position[axis] = value_at<double>(*columns.positions[axis], i);
    bool found = false;
    for (std::size_t level = locators.size(); level-- > 0 && !found;)
      if (const auto box = locators[level].find(cell_of(header, patches.domain[level], position))) {
        sorted[level][*box].push_back(i);
        found = true;
      }
    if (!found) throw Error(Kind::usage, "a particle where no patch is").at("particle " + std::to_string(i));
  }
  return sorted;
}

template <class T>
void append(std::vector<std::byte>& to, T value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof(T));
}

void append_ints(std::vector<std::byte>& to, const ParticleColumns& columns, const std::vector<std::size_t>& which,
                 const ParticlePlan& plan) {
  for (std::size_t i : which) {
    const std::int64_t id = id_of(columns, i);
    const std::int32_t cpu = cpu_of(columns, i, plan.writer);
    if (plan.packed) {
      const std::uint64_t identity = mesh::pack_identity(id, cpu);
      append(to, static_cast<std::uint32_t>(identity >> 32));
      append(to, static_cast<std::uint32_t>(identity));
    } else {
      append(to, static_cast<std::int32_t>(id));
      append(to, cpu);
    }
    for (const auto* field : columns.ints) append(to, value_at<std::int32_t>(*field, i));
  }
}

void append_reals(std::vector<std::byte>& to, const ParticleColumns& columns, const std::vector<std::size_t>& which) {
  const auto put_real = [&](const mesh::Field& field, std::size_t i) {
    const std::size_t width = mesh::size_of(field.info.type);
    const std::size_t at = to.size();
    to.resize(at + mesh::size_of(columns.real));
    decode({field.info.type, std::endian::native}, field.bytes.data() + i * width, 1, columns.real, to.data() + at);
  };
  for (std::size_t i : which) {
    for (const auto* field : columns.positions) put_real(*field, i);
    for (const auto* field : columns.reals) put_real(*field, i);
  }
}

/// Bytes that mostly follow one another in a file, written together.
class Writes {
 public:
  explicit Writes(const file::File& file) : file_(file) {}
  /// To be filled by the caller with what goes to `offset`.
  std::vector<std::byte>& at(std::uint64_t offset) {
    constexpr std::size_t large = 1U << 20;
    if (offset != offset_ + bytes_.size() || bytes_.size() >= large) flush();
    if (bytes_.empty()) offset_ = offset;
    return bytes_;
  }
  void flush() {
    if (!bytes_.empty()) file::pwrite_all(file_, offset_, bytes_);
    bytes_.clear();
  }

 private:
  const file::File& file_;
  std::uint64_t offset_ = 0;
  std::vector<std::byte> bytes_;
};

std::string names_text(const std::vector<const mesh::Field*>& fields) {
  std::string text = std::to_string(fields.size()) + "\n";
  for (const auto* field : fields) text.append(field->info.name).append("\n");
  return text;
}

std::uint64_t int_bytes(const ParticleColumns& columns) { return 4 * (2 + columns.ints.size()); }
std::uint64_t real_bytes(const ParticleColumns& columns) {
  return mesh::size_of(columns.real) * (columns.positions.size() + columns.reals.size());
}

}  // namespace

SortedParticles sort_particles(const mesh::Particles& particles, const mesh::Header& header,
                               const mesh::Patches& patches) {
  const ParticleColumns columns = sort_columns(particles, header.dim);
  const auto count = static_cast<std::size_t>(particles.count);
  SortedParticles sorted;
  sorted.grids = grids_of(columns, count, header, patches);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t id = id_of(columns, i);
    sorted.next_id = std::max(sorted.next_id, id + 1);
    sorted.wide = sorted.wide || id > INT32_MAX || id < INT32_MIN;
  }
  return sorted;
}

void write_particle_data(const fs::path& folder, const mesh::Particles& particles, const SortedParticles& sorted,
                         const ParticlePlan& plan, int dim, const WriteOptions& options) {
  const ParticleColumns columns = sort_columns(particles, dim);
  for (std::size_t level = 0; level < sorted.grids.size(); ++level) {
    const auto& grids = sorted.grids[level];
    if (std::all_of(grids.begin(), grids.end(), [](const auto& grid) { return grid.empty(); })) continue;
    file::File file = file::open_write(folder / level_name(level) / numbered("DATA_", 0));
    Writes writes(file);
    std::uint64_t begin = 0;
    for (std::size_t g = 0; g < grids.size(); ++g) {
      const auto count = static_cast<std::uint64_t>(plan.counts[level][g]);
      const auto before = static_cast<std::uint64_t>(plan.before[level][g]);
      if (!grids[g].empty()) {
        append_ints(writes.at(begin + before * int_bytes(columns)), columns, grids[g], plan);
        append_reals(writes.at(begin + count * int_bytes(columns) + before * real_bytes(columns)), columns, grids[g]);
      }
      begin += count * (int_bytes(columns) + real_bytes(columns));
    }
    writes.flush();
    if (options.sync) file::sync(file);
    file.close();
  }
}

void write_particle_headers(const fs::path& folder, const mesh::Particles& particles, const ParticlePlan& plan,
                            const mesh::Header& header, const mesh::Patches& patches, const WriteOptions& options) {
  const ParticleColumns columns = sort_columns(particles, header.dim);
  std::string text = std::string("Version_Two_Dot_") + (plan.packed ? "One" : "Zero") +
                     (columns.real == ScalarType::float64 ? "_double\n" : "_single\n") + std::to_string(header.dim) +
                     "\n" + names_text(columns.reals) + names_text(columns.ints) + "1\n" + std::to_string(plan.total) +
                     "\n" + std::to_string(plan.next_id) + "\n" + std::to_string(plan.counts.size() - 1) + "\n";
  for (const auto& level : plan.counts) text.append(std::to_string(level.size())).append("\n");
  for (std::size_t level = 0; level < plan.counts.size(); ++level) {
    std::uint64_t begin = 0;
    make_directories(folder / level_name(level), options.sync);
    for (std::int64_t count : plan.counts[level]) {
      text.append("0 ").append(std::to_string(count)).append(" ").append(std::to_string(begin)).append("\n");
      begin += static_cast<std::uint64_t>(count) * (int_bytes(columns) + real_bytes(columns));
    }
    const std::string boxes = to_text(BoxArray{patches.boxes[level], {0, 0, 0}, patches.dim}) + "\n";
    write_text(folder / level_name(level) / "Particle_H", boxes, options.sync);
  }
  write_text(folder / "Header", text, options.sync);
}

std::optional<std::int64_t> kept_next_id(const mesh::Header& header, const std::string& species) {
  const auto found = header.attributes.find("amrex/next_id/" + species);
  const auto* kept = found == header.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return kept != nullptr ? std::optional(*kept) : std::nullopt;
}

void write_particles(const fs::path& folder, const mesh::Particles& particles, const mesh::Header& header,
                     const mesh::Patches& patches, bool packed, const WriteOptions& options) {
  const SortedParticles sorted = sort_particles(particles, header, patches);
  ParticlePlan plan;
  plan.packed = packed || sorted.wide;
  plan.total = particles.count;
  plan.next_id = kept_next_id(header, particles.species).value_or(sorted.next_id);
  for (const auto& grids : sorted.grids) {
    plan.before.emplace_back(grids.size(), 0);
    auto& counts = plan.counts.emplace_back();
    for (const auto& grid : grids) counts.push_back(static_cast<std::int64_t>(grid.size()));
  }
  write_particle_headers(folder, particles, plan, header, patches, options);
  write_particle_data(folder, particles, sorted, plan, header.dim, options);
}

}  // namespace octavo::formats::amrex
