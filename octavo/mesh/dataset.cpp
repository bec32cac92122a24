#include "octavo/mesh/dataset.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

std::string lower(const std::string& text) {
  std::string out = text;
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Levenshtein distance: insertions, deletions and replacements that turn a into b.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// The names that a user may write; not those of fields with a condition (step::define_where).
std::vector<std::string> names_of(const Header& header) {
  std::vector<std::string> names;
  for (const FieldInfo& field : header.fields)
    if (field.name.find(" where ") == std::string::npos) names.push_back(field.name);
  return names;
}

// Names that a user may have meant, best first: few edits away, or one within the other.
std::vector<std::string> near_matches(const std::vector<std::string>& known, const std::string& name) {
  constexpr std::size_t most_shown = 5;
  const std::string wanted = lower(name);
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& field : known) {
    const std::string have = lower(field);
    const std::size_t distance = edit_distance(wanted, have);
    const bool within = wanted.size() > 1 && (have.find(wanted) != std::string::npos ||
                                              (have.size() > 1 && wanted.find(have) != std::string::npos));
    if (within || distance <= std::max<std::size_t>(1, wanted.size() / 3)) ranked.emplace_back(distance, field);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (auto& [distance, field] : ranked)
    if (names.size() < most_shown) names.push_back(std::move(field));
  return names;
}

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

base::Error unknown_field(const Header& header, const std::string& name) {
  base::Error error(base::Kind::usage, "unknown field \"" + name + "\"");
  const std::vector<std::string> all = names_of(header);
  const auto near = near_matches(all, name);
  if (!near.empty()) return error.hint("did you mean " + join(near) + "?");
  return error.hint(all.empty() ? "there are no fields here" : "the fields are " + join(all));
}

}  // namespace

namespace {

/// Ratios between the levels of patches; nothing where all steps are one level of the tree.
const std::vector<std::int64_t>* patch_ratios(const Header& header) {
  const auto found = header.attributes.find("patches/ratio");
  return found == header.attributes.end() ? nullptr : std::get_if<std::vector<std::int64_t>>(&found->second);
}

constexpr int levels_of(std::int64_t ratio) { return ratio == 4 ? 2 : 1; }

/// In the order of the attribute of solids.
struct SolidWords {
  std::uint8_t corners;
  const char *one, *many;
};
constexpr std::array<SolidWords, 4> solid_words{{{4, "tetrahedron", "tetrahedra"},
                                                 {5, "pyramid", "pyramids"},
                                                 {6, "prism", "prisms"},
                                                 {8, "hexahedron", "hexahedra"}}};

}  // namespace

// Patches refined by 4 skip a level of the tree. Such a tree level counts as the coarser one of the two beside it.
int code_level(const Header& header, int index) {
  int level = 0, at = header.unfolded;  // of the patches, and where that is
  if (const auto* ratios = patch_ratios(header))
    for (const std::int64_t ratio : *ratios) {
      if (at + levels_of(ratio) > index) return header.level_origin + level + std::min(0, index - at);
      at += levels_of(ratio);
      ++level;
    }
  return header.level_origin + level + index - at;
}

int level_index(const Header& header, int code_level) {
  std::int64_t level = std::int64_t{code_level} - header.level_origin, index = header.unfolded;
  if (const auto* ratios = patch_ratios(header))
    for (const std::int64_t ratio : *ratios) {
      if (level <= 0) break;
      index += levels_of(ratio);
      --level;
    }
  return static_cast<int>(std::clamp<std::int64_t>(index + level, INT32_MIN, INT32_MAX));
}

bool is_between_levels(const Header& header, int index) {
  return level_index(header, code_level(header, index)) != index;
}

std::vector<std::int64_t> count_solids(const Header& header) {
  const auto found = header.attributes.find(solids_attribute);
  if (found == header.attributes.end()) return {};
  const auto* counts = std::get_if<std::vector<std::int64_t>>(&found->second);
  return counts == nullptr || counts->size() != solid_words.size() ? std::vector<std::int64_t>{} : *counts;
}

std::vector<std::int64_t> count_solids(const Solids& mesh) {
  std::vector<std::int64_t> counts(solid_words.size(), 0);
  for (const std::uint8_t corners : mesh.corners)
    for (std::size_t shape = 0; shape < counts.size(); ++shape)
      counts[shape] += solid_words[shape].corners == corners ? 1 : 0;
  return counts;
}

std::string describe_solids(const std::vector<std::int64_t>& counts) {
  std::string out;
  for (std::size_t shape = 0; shape < std::min(counts.size(), solid_words.size()); ++shape)
    if (counts[shape] > 0)
      out += (out.empty() ? "" : ", ") + std::to_string(counts[shape]) + " " +
             (counts[shape] == 1 ? solid_words[shape].one : solid_words[shape].many);
  return out;
}

bool holds_solids(const Header& header) { return !count_solids(header).empty(); }

void forget_levels(Header& header) {
  std::erase_if(header.attributes, [](const auto& entry) { return entry.first.starts_with("patches/"); });
}

Domain domain_of(const Header& header) {
  Domain domain{.dim = header.dim, .extent = {1, 1, 1}, .periodic = header.periodic};
  for (std::size_t axis = 1; axis < static_cast<std::size_t>(header.dim); ++axis)
    domain.extent[axis] = (header.hi[axis] - header.lo[axis]) / (header.hi[0] - header.lo[0]);
  return domain;
}

Point3 cell_size(const Header& header, int index) {
  Point3 size{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double extent = header.hi[axis] - header.lo[axis];
    const auto cells = static_cast<double>(header.roots[axis] * header.block[axis]);
    size[axis] = axis < static_cast<std::size_t>(header.dim) ? std::ldexp(extent / cells, -index) : extent;
  }
  return size;
}

namespace {

std::int64_t field_bytes(const FieldInfo& info) {
  return static_cast<std::int64_t>(size_of(info.type)) * std::max(1, info.components);
}

/// Corners (64 bits) and places (three reals), and a value of each field at each point or in each cell.
PartSizes sizes_of_solids(const Header& header, const std::vector<std::int64_t>& counts, std::int64_t points) {
  PartSizes sizes;
  std::int64_t cells = 0;
  for (std::size_t shape = 0; shape < solid_words.size(); ++shape) {
    cells += counts[shape];
    sizes.mesh += counts[shape] * (1 + 8 * std::int64_t{solid_words[shape].corners});
  }
  sizes.mesh += points * 24;
  for (const FieldInfo& info : header.fields)
    sizes.fields += (info.centring == Centring::cell ? cells : points) * field_bytes(info);
  return sizes;
}

/// A plane's triangles (three 64-bit corners) and places (two reals), and a value of each field at each point.
PartSizes sizes_of_one_part(const Header& header, std::int64_t elements, std::int64_t points) {
  if (const auto counts = count_solids(header); !counts.empty()) return sizes_of_solids(header, counts, points);
  const auto found = header.attributes.find("planes");
  const auto* number = found == header.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  const std::int64_t planes = number == nullptr ? 1 : std::max<std::int64_t>(1, *number);
  PartSizes sizes;
  sizes.mesh = elements / std::max<std::int64_t>(1, planes - 1) * 24 + points / planes * 16;
  for (const FieldInfo& info : header.fields) sizes.fields += points * field_bytes(info);
  return sizes;
}

}  // namespace

Dataset of_one_part(std::string format, std::string path, Header header, std::int64_t bytes, std::int64_t elements,
                    std::int64_t points) {
  Dataset dataset;
  dataset.format = std::move(format);
  dataset.path = std::move(path);
  dataset.header = std::move(header);
  dataset.num_parts = 1;
  dataset.unstructured = true;
  dataset.bytes = bytes;
  dataset.levels = {{0, elements, elements}};
  dataset.parts_touching = [](const Region&) { return std::vector<int>{0}; };
  dataset.part_bytes = [bytes](int) { return bytes; };
  const PartSizes sizes = sizes_of_one_part(dataset.header, elements, points);
  dataset.part_sizes = [sizes](int) { return sizes; };
  return dataset;
}

std::int64_t bytes_to_read(const Dataset& dataset, const PartSizes& sizes, const Request& request) {
  const std::vector<FieldInfo>& fields = dataset.header.fields;
  double all = 0, wanted = 0, cells = 0, kept = 0;
  for (const FieldInfo& info : fields) all += static_cast<double>(field_bytes(info));
  for (const std::size_t f : select_fields(dataset.header, request.fields))
    wanted += static_cast<double>(field_bytes(fields[f]));
  for (const LevelCount& count : dataset.levels) {
    cells += static_cast<double>(count.cells);
    if (count.level <= request.max_level) kept += static_cast<double>(count.cells);
  }
  const double share = (all > 0 ? wanted / all : 1) * (cells > 0 ? kept / cells : 1);
  return (request.mesh || !dataset.unstructured ? sizes.mesh : 0) +
         static_cast<std::int64_t>(static_cast<double>(sizes.fields) * share) +
         (request.particles ? sizes.particles : 0);
}

namespace {

/// The region's box, widened to whole cells with edges twice as long as those of the level index.
Box whole_fathers(const Header& header, const Region& region, int index) {
  const Domain domain = domain_of(header);
  const Point3 size = cell_size(header, index);
  Box box = bounds(region, domain);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) {
    const double edge = 2 * size[axis] / (header.hi[0] - header.lo[0]);
    box.lo[axis] = std::floor(box.lo[axis] / edge) * edge;
    box.hi[axis] = std::ceil(box.hi[axis] / edge) * edge;
    if (box.hi[axis] - box.lo[axis] < domain.extent[axis]) continue;
    box.lo[axis] = 0;
    box.hi[axis] = domain.extent[axis];
  }
  return box;
}

}  // namespace

std::vector<int> parts_of(const Dataset& dataset, const std::optional<Region>& region, std::optional<int> max_level) {
  const auto coarsest = std::find_if(dataset.levels.begin(), dataset.levels.end(),
                                     [](const LevelCount& count) { return count.leaves > 0; });
  const bool above_leaves = max_level && coarsest != dataset.levels.end() && *max_level < coarsest->level;
  std::vector<int> parts;
  if (region) {
    parts = dataset.parts_touching(
        above_leaves ? whole_fathers(dataset.header, *region, level_index(dataset.header, *max_level)) : *region);
  } else {
    parts.resize(static_cast<std::size_t>(dataset.num_parts));
    std::iota(parts.begin(), parts.end(), 0);
  }
  if (region && names_domains(*region))
    std::erase_if(parts, [&](int part) { return !in_domain(*region, number_of(dataset, part)); });
  return parts;
}

int number_of(const Dataset& dataset, int part) {
  return dataset.numbers.empty() ? part : dataset.numbers.at(static_cast<std::size_t>(part));
}

std::string density_field(const Header& header) {
  for (const char* name : {"density", "dens", "Density", "rho"})
    for (const FieldInfo& field : header.fields)
      if (field.name == name && field.components == 1 && field.centring == Centring::cell) return field.name;
  return {};
}

std::vector<std::size_t> select_fields(const Header& header, const std::optional<std::vector<std::string>>& names) {
  std::vector<bool> wanted(header.fields.size(), !names);
  for (const std::string& name : names.value_or(std::vector<std::string>{})) {
    bool found = false;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (header.fields[i].name == name) found = wanted[i] = true;
    if (!found) throw unknown_field(header, name);
  }
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) positions.push_back(i);
  return positions;
}

std::vector<Particles> gather_particles(const Dataset& dataset) {
  std::vector<Particles> all;
  if (dataset.species.empty()) return all;
  Request request;
  request.fields = std::vector<std::string>{};
  request.particles = true;
  for (int p = 0; p < dataset.num_parts; ++p)
    for (Particles& particles : dataset.read(p, request).particles) {
      const auto known =
          std::find_if(all.begin(), all.end(), [&](const Particles& s) { return s.species == particles.species; });
      if (known == all.end())
        all.push_back(std::move(particles));
      else
        append(*known, particles);
    }
  return all;
}

Dataset with_walls_as_species(const Dataset& dataset) {
  if (!dataset.read_walls) return dataset;
  Dataset out = dataset;
  SpeciesInfo walls{wall_species, 0, {}};
  for (const Field& attribute : dataset.read_walls(0).attributes) walls.attributes.push_back(attribute.info);
  out.species.push_back(std::move(walls));
  out.read_walls = {};
  out.read = [dataset](int part, const Request& request) {
    Part read = dataset.read(part, request);
    if (request.particles) read.particles.push_back(dataset.read_walls(part));
    return read;
  };
  return out;
}

void take_walls_out(Dataset& dataset) {
  const auto is_walls = [](const auto& name) { return name == wall_species; };
  if (std::erase_if(dataset.species, [&](const SpeciesInfo& info) { return is_walls(info.name); }) == 0) return;
  dataset.read_walls = [read = dataset.read](int part) {
    Request particles;
    particles.fields.emplace();
    particles.particles = true;
    for (Particles& species : read(part, particles).particles)
      if (species.species == wall_species) return std::move(species);
    return Particles{wall_species, 0, {}};
  };
  dataset.read = [read = dataset.read, is_walls](int part, const Request& request) {
    Part out = read(part, request);
    std::erase_if(out.particles, [&](const Particles& species) { return is_walls(species.species); });
    return out;
  };
}

}  // namespace octavo::mesh
