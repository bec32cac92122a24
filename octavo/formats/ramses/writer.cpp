#include "octavo/formats/ramses/writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/ramses/domains.hpp"
#include "octavo/formats/ramses/write_records.hpp"
#include "octavo/formats/ramses/write_text.hpp"

namespace octavo::formats::ramses {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

Error unsupported(const mesh::Dataset& dataset, const std::string& why) {
  return Error(Kind::unsupported, "cannot be written as a RAMSES output: " + why).at(dataset.path);
}

int log2_of(std::int64_t count) {
  int bits = 0;
  while ((std::int64_t{1} << bits) < count) ++bits;
  return bits;
}

/// The table that says who owns what. One domain owns all, whatever the order.
Owners find_owners(const mesh::Dataset& dataset, int nlevelmax) {
  const mesh::Header& header = dataset.header;
  Owners owners;
  owners.dim = header.dim;
  owners.domains = dataset.num_parts;
  owners.coarse_bits = log2_of(header.roots[0] / 2);
  owners.bits = nlevelmax + 1 + owners.coarse_bits;
  owners.coarse_cell = 2 * (header.hi[0] - header.lo[0]) / static_cast<double>(header.roots[0]);
  owners.box_min = numbers_or(header, "cpubox_min", {});
  owners.box_max = numbers_or(header, "cpubox_max", {});
  const std::size_t corners = static_cast<std::size_t>(dataset.num_parts) * static_cast<std::size_t>(header.dim);
  if (owners.box_min.size() == corners && owners.box_max.size() == corners) return owners;
  AmrHeader keys;
  keys.bound_key = numbers_or(header, "bound_key", {});
  keys.bound_key_low = numbers_or(header, "bound_key_low", {});
  if (keys.bound_key_low.size() != keys.bound_key.size()) keys.bound_key_low.clear();
  const auto wanted = static_cast<std::size_t>(dataset.num_parts) + 1;
  if (keys.bound_key.size() == wanted) {
    owners.bounds = bound_keys(keys);
  } else if (dataset.num_parts == 1) {
    owners.bounds = {{0, 0}, mesh::curve_end(header.dim, owners.bits)};
  } else {
    throw unsupported(dataset, "a table of " + std::to_string(wanted) + " Hilbert keys is needed, " +
                                   std::to_string(keys.bound_key.size()) + " are there");
  }
  if (!std::is_sorted(owners.bounds.begin(), owners.bounds.end()))
    throw unsupported(dataset, "its table of Hilbert keys does not ascend");
  return owners;
}

void check(const mesh::Dataset& dataset) {
  const mesh::Header& header = dataset.header;
  if (header.block != mesh::Index3{1, 1, 1} || header.unfolded != 0)
    throw unsupported(dataset, "its tree cells are blocks");
  if (dataset.num_parts > 99999) throw unsupported(dataset, "file names count to 99999 domains");
  for (std::size_t a = 0; a < static_cast<std::size_t>(header.dim); ++a)
    if (header.roots[a] % 2 != 0) throw unsupported(dataset, "its level-0 cells do not form octs");
  for (const mesh::FieldInfo& field : header.fields)
    if (field.components != 1) throw unsupported(dataset, "field " + field.name + " has several components");
}

void set_coarse(const mesh::Header& header, Plan& plan) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(header.dim); ++a) {
    const std::int64_t real = header.roots[a] / 2;
    // With a wall on one side only its side is not known to the tree; one on each side reads the same.
    plan.coarse[a] = header.periodic[a] ? real : real + 2;
    plan.skip[a] = header.periodic[a] ? 0 : 1;
  }
  for (std::int64_t k = 0; k < plan.coarse[2]; ++k)
    for (std::int64_t j = 0; j < plan.coarse[1]; ++j)
      for (std::int64_t i = 0; i < plan.coarse[0]; ++i) {
        const std::int64_t at[] = {i - plan.skip[0], j - plan.skip[1], k - plan.skip[2]};
        mesh::Coordinate cell{};
        bool wall = false;
        for (std::size_t a = 0; a < 3; ++a) {
          wall = wall || at[a] < 0 || (static_cast<int>(a) < header.dim && at[a] >= header.roots[a] / 2);
          cell[a] = static_cast<std::uint32_t>(std::max<std::int64_t>(at[a], 0));
        }
        plan.coarse_map.push_back(wall ? 0 : plan.owners.of(-1, cell) + 1);
      }
}

/// A first pass over the trees: the tables in every file tell of all of them.
void count_octs(const mesh::Dataset& dataset, Plan& plan) {
  mesh::Request trees;
  trees.fields.emplace();
  std::int64_t most = 1;
  plan.octs.assign(static_cast<std::size_t>(plan.nlevelmax), {0, std::numeric_limits<std::int64_t>::max(), 0});
  for (int d = 0; d < dataset.num_parts; ++d) {
    const mesh::Part part = dataset.read(d, trees);
    const auto* tree = std::get_if<mesh::Octree>(&part.mesh);
    if (tree == nullptr) throw unsupported(dataset, "its mesh is no octree");
    if (mesh::num_levels(*tree) > plan.nlevelmax) throw unsupported(dataset, "its tree is deeper than its nlevelmax");
    most = std::max(most, static_cast<std::int64_t>(mesh::num_cells(*tree) >> tree->dim));
    for (int level = 0; level < plan.nlevelmax; ++level) {
      const std::int64_t own =
          level < mesh::num_levels(*tree) ? static_cast<std::int64_t>(mesh::num_owned(*tree, level) >> tree->dim) : 0;
      auto& [sum, least, largest] = plan.octs[static_cast<std::size_t>(level)];
      sum += own;
      least = std::min(least, own);
      largest = std::max(largest, own);
    }
  }
  if (most > std::numeric_limits<std::int32_t>::max() >> dataset.header.dim)
    throw unsupported(dataset, "a domain has more octs than 32-bit cell numbers reach");
  plan.ngridmax = static_cast<std::int32_t>(most);
}

Plan make_plan(const mesh::Dataset& dataset, const WriteOptions& options) {
  check(dataset);
  const mesh::Header& header = dataset.header;
  Plan plan;
  plan.header = &header;
  int deepest = 1;
  for (const mesh::LevelCount& count : dataset.levels)
    deepest = std::max(deepest, mesh::level_index(header, count.level) + 1);
  plan.nlevelmax = std::max(deepest, static_cast<int>(number_or(header, "nlevelmax", deepest)));
  plan.owners = find_owners(dataset, plan.nlevelmax);
  plan.boxlen = header.hi[0] - header.lo[0];
  plan.gamma = number_or(header, "gamma", 5.0 / 3);
  plan.single_precision = options.single_precision || number_or(header, "real_bytes", 8) == 4;
  plan.format = options.format;
  set_coarse(header, plan);
  count_octs(dataset, plan);
  return plan;
}

/// Which file each field goes to, in the header's order.
CellFile kind_of(const mesh::Header& header, const std::string& field) {
  const std::pair<const char*, CellFile> lists[] = {
      {"hydro_variables", CellFile::hydro}, {"grav_variables", CellFile::grav}, {"rt_variables", CellFile::rt}};
  for (const auto& [attribute, kind] : lists) {
    const auto names = names_of(header, attribute);
    if (std::find(names.begin(), names.end(), field) != names.end()) return kind;
  }
  return field == "potential" || field.starts_with("force_") ? CellFile::grav : CellFile::hydro;
}

constexpr std::pair<CellFile, const char*> cell_files[] = {
    {CellFile::hydro, "hydro"}, {CellFile::grav, "grav"}, {CellFile::rt, "rt"}};

std::string numbered(const std::string& kind, int number) {
  char text[16];
  std::snprintf(text, sizeof text, "_%05d", number);
  return kind + text;
}

fs::path domain_file(const fs::path& directory, const std::string& kind, const WriteOptions& options, int domain) {
  char text[32];
  fs::path folder = directory;
  if (options.group_size > 0) {
    std::snprintf(text, sizeof text, "group_%05d", domain / options.group_size + 1);
    folder /= text;
  }
  std::snprintf(text, sizeof text, ".out%05d", domain + 1);
  return folder / (numbered(kind, options.number) + text);
}

void write_domain(const mesh::Dataset& dataset, const Plan& plan, const fs::path& directory,
                  const WriteOptions& options, int domain, std::vector<std::int64_t>& by_family) {
  mesh::Request everything;
  everything.particles = true;
  const mesh::Part part = dataset.read(domain, everything);
  const auto& tree = std::get<mesh::Octree>(part.mesh);
  const Numbering numbering = number_octs(tree, plan.owners, domain);
  write_amr(domain_file(directory, "amr", options, domain), plan, tree, numbering);
  for (const auto& [kind, name] : cell_files) {
    std::vector<const mesh::Field*> fields;
    for (const mesh::Field& field : part.fields)
      if (kind_of(dataset.header, field.info.name) == kind) fields.push_back(&field);
    if (!fields.empty())
      write_cells(domain_file(directory, name, options, domain), kind, plan, tree, numbering, fields);
  }
  if (dataset.species.empty()) return;
  const mesh::Particles none{dataset.species[0].name, 0, {}};
  const mesh::Particles& particles = part.particles.empty() ? none : part.particles[0];
  write_particles(domain_file(directory, "part", options, domain), plan, particles);
  for (const mesh::Field& attribute : particles.attributes)
    if (attribute.info.name == "family" && attribute.info.type == mesh::ScalarType::int8)
      for (const std::int8_t family : attribute.as<std::int8_t>())
        ++by_family[family >= -5 && family <= 5 ? static_cast<std::size_t>(family + 5) : 11];
}

void write_descriptors(const mesh::Dataset& dataset, const Plan& plan, const fs::path& directory) {
  const auto type = plan.single_precision ? mesh::ScalarType::float32 : mesh::ScalarType::float64;
  for (const auto& [kind, name] : cell_files) {
    std::vector<std::string> names;
    for (const mesh::FieldInfo& field : dataset.header.fields)
      if (kind_of(dataset.header, field.name) == kind) names.push_back(field.name);
    if (!names.empty() && kind != CellFile::grav)
      write_descriptor(directory / (std::string(name) + "_file_descriptor.txt"), names,
                       std::vector<mesh::ScalarType>(names.size(), type));
  }
  if (dataset.species.empty()) return;
  std::vector<std::string> names;
  std::vector<mesh::ScalarType> types;
  for (const mesh::FieldInfo& attribute : dataset.species[0].attributes) {
    names.push_back(attribute.name);
    types.push_back(attribute.type);
  }
  write_descriptor(directory / "part_file_descriptor.txt", names, types);
}

}  // namespace

void write(const mesh::Dataset& dataset, const fs::path& directory, const WriteOptions& options) {
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(directory, ignored)))
    throw Error(Kind::usage, "the output exists").at(directory.string());
  const Plan plan = make_plan(dataset, options);
  file::make_directories(directory);
  for (int domain = 0; domain < dataset.num_parts && options.group_size > 0; domain += options.group_size)
    file::make_directories(domain_file(directory, "amr", options, domain).parent_path());
  std::vector<std::int64_t> by_family(12, 0);
  for (int domain = 0; domain < dataset.num_parts; ++domain) {
    write_domain(dataset, plan, directory, options, domain, by_family);
    if (options.progress && !options.progress(domain + 1, dataset.num_parts))
      throw Error(Kind::interrupted, "interrupted");
  }
  write_descriptors(dataset, plan, directory);
  if (!dataset.species.empty())
    write_header_text(directory / (numbered("header", options.number) + ".txt"), by_family,
                      dataset.species[0].attributes);
  // Last: a directory without it is no output.
  write_info(directory / (numbered("info", options.number) + ".txt"), plan);
}

}  // namespace octavo::formats::ramses
