#include "octavo/formats/ramses/writer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/ramses/domains.hpp"
#include "octavo/formats/ramses/write_particles.hpp"
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

/// The input's own table, where the number of domains is kept and there is one that fits.
bool keep_bounds(const mesh::Dataset& dataset, Owners& owners) {
  const mesh::Header& header = dataset.header;
  if (owners.domains != dataset.num_parts) return false;
  owners.box_min = numbers_or(header, "cpubox_min", {});
  owners.box_max = numbers_or(header, "cpubox_max", {});
  const std::size_t corners = static_cast<std::size_t>(dataset.num_parts) * static_cast<std::size_t>(header.dim);
  if (owners.box_min.size() == corners && owners.box_max.size() == corners) return true;
  AmrHeader keys;
  keys.bound_key = numbers_or(header, "bound_key", {});
  keys.bound_key_low = numbers_or(header, "bound_key_low", {});
  if (keys.bound_key_low.size() != keys.bound_key.size()) keys.bound_key_low.clear();
  const auto ordering = header.attributes.find("ordering");
  if (keys.bound_key.size() != static_cast<std::size_t>(dataset.num_parts) + 1 ||
      (ordering != header.attributes.end() && ordering->second != mesh::Attribute(std::string("hilbert"))))
    return false;
  owners.bounds = bound_keys(keys);
  if (std::is_sorted(owners.bounds.begin(), owners.bounds.end())) return true;
  owners.bounds.clear();
  return false;
}

void find_owners(const mesh::Dataset& dataset, const WriteOptions& options, Plan& plan,
                 const std::function<void()>& advance) {
  const int domains = options.domains > 0 ? options.domains : dataset.num_parts;
  std::int64_t octs = 0;
  for (const mesh::LevelCount& count : dataset.levels) octs += count.cells >> dataset.header.dim;
  if (domains > octs)
    throw Error(Kind::usage, std::to_string(domains) + " domains: the step has " + std::to_string(octs) + " octs")
        .at(dataset.path)
        .hint("ask for fewer domains");
  plan.owners = curve_of(dataset.header, plan.nlevelmax, domains);
  if (!keep_bounds(dataset, plan.owners)) {
    plan.owners.box_min.clear();
    plan.owners.box_max.clear();
    plan.owners.bounds = balance(dataset, plan.owners, plan.quad_keys, advance);
  }
}

void check(const mesh::Dataset& dataset, const WriteOptions& options) {
  if (options.domains < 0)
    throw Error(Kind::usage, "number of domains: expected at least 1, found " + std::to_string(options.domains));
  const mesh::Header& header = dataset.header;
  if (header.block != mesh::Index3{1, 1, 1} || header.unfolded != 0)
    throw unsupported(dataset, "its tree cells are blocks");
  if (options.domains > 99999 || dataset.num_parts > 99999)
    throw unsupported(dataset, "file names count to 99999 domains");
  for (std::size_t a = 0; a < static_cast<std::size_t>(header.dim); ++a)
    if (header.roots[a] % 2 != 0) throw unsupported(dataset, "its level-0 cells do not form octs");
  for (const mesh::FieldInfo& field : header.fields)
    if (field.components != 1) throw unsupported(dataset, "field " + field.name + " has several components");
}

/// The coarse cells that a RAMSES output had, by their cpu_map: walls have 0.
bool keep_coarse(const mesh::Header& header, Coarse& coarse) {
  AmrHeader amr;
  const auto count = numbers_or(header, "coarse_cells", {}), map = numbers_or(header, "coarse_cpu_map", {});
  if (count.size() != 3) return false;
  std::transform(count.begin(), count.end(), amr.coarse.begin(), [](double n) { return static_cast<std::int64_t>(n); });
  for (const double cpu : map) amr.coarse_cpu.push_back(static_cast<std::int32_t>(cpu));
  if (static_cast<std::int64_t>(map.size()) != amr.coarse[0] * amr.coarse[1] * amr.coarse[2]) return false;
  const RealCells real = find_real_cells(amr);
  if (real.count != coarse.real) return false;
  coarse.count = amr.coarse;
  coarse.skip = real.first;
  return true;
}

/// Which wall each coarse cell belongs to. Without a table of them walls have no octs.
void set_regions(const mesh::Header& header, Coarse& coarse) {
  const auto regions = numbers_or(header, "coarse_boundary", {});
  const std::size_t cells = static_cast<std::size_t>(coarse.count[0] * coarse.count[1] * coarse.count[2]);
  for (std::size_t i = 0; i < cells; ++i) {
    const std::size_t at[] = {i % static_cast<std::size_t>(coarse.count[0]),
                              i / static_cast<std::size_t>(coarse.count[0]) % static_cast<std::size_t>(coarse.count[1]),
                              i / static_cast<std::size_t>(coarse.count[0] * coarse.count[1])};
    bool wall = false;
    for (std::size_t a = 0; a < 3; ++a) {
      const auto x = static_cast<std::int64_t>(at[a]);
      wall = wall || x < coarse.skip[a] || x >= coarse.skip[a] + coarse.real[a];
    }
    const int region = regions.size() == cells ? static_cast<int>(regions[i]) : 0;
    coarse.region.push_back(!wall ? 0 : region > 0 ? region : -1);
    coarse.regions = std::max(coarse.regions, coarse.region.back());
  }
  // A region may have no coarse cell left; RAMSES compares their number.
  if (coarse.regions > 0)
    coarse.regions = std::max(coarse.regions, static_cast<int>(number_or(header, "nboundary", 0)));
}

Coarse find_coarse(const mesh::Header& header) {
  Coarse coarse;
  coarse.dim = header.dim;
  for (std::size_t a = 0; a < static_cast<std::size_t>(header.dim); ++a) coarse.real[a] = header.roots[a] / 2;
  coarse.count = coarse.real;
  if (!keep_coarse(header, coarse))
    for (std::size_t a = 0; a < static_cast<std::size_t>(header.dim); ++a)
      if (!header.periodic[a]) coarse.count[a] += 2, coarse.skip[a] = 1;
  set_regions(header, coarse);
  return coarse;
}

file::RecordFormat format_of(const mesh::Header& header) {
  file::RecordFormat format;
  format.marker = number_or(header, "record_marker", 4) == 8 ? 8 : 4;
  if (header.attributes.contains("big_endian")) format.order = std::endian::big;
  return format;
}

Plan make_plan(const mesh::Dataset& dataset, const WriteOptions& options) {
  check(dataset, options);
  const mesh::Header& header = dataset.header;
  Plan plan;
  plan.header = &header;
  int deepest = 1;
  for (const mesh::LevelCount& count : dataset.levels)
    deepest = std::max(deepest, mesh::level_index(header, count.level) + 1);
  plan.nlevelmax = std::max(deepest, static_cast<int>(number_or(header, "nlevelmax", deepest)));
  plan.coarse = find_coarse(header);
  plan.boxlen = header.hi[0] - header.lo[0];
  plan.gamma = number_or(header, "gamma", 5.0 / 3);
  plan.single_precision = options.single_precision || number_or(header, "real_bytes", 8) == 4;
  plan.quad_keys = header.attributes.contains("bound_key_low");
  plan.format = options.format.value_or(format_of(header));
  const double most = std::numeric_limits<std::int32_t>::max() >> header.dim;
  plan.ngridmax = static_cast<std::int32_t>(
      std::clamp(number_or(header, "ngridmax", 1), 1.0, most - static_cast<double>(plan.coarse.region.size())));
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

/// What is counted while domains are written.
struct Written {
  std::vector<std::int64_t> by_family = std::vector<std::int64_t>(12, 0);
  std::int64_t particles = 0;
  std::int32_t ngridmax = 1;
};

void write_domain(const Sources& sources, const Plan& plan, const fs::path& directory, const WriteOptions& options,
                  const Domain& domain, Written& written) {
  const mesh::Dataset& dataset = *sources.dataset;
  const int number = domain.tree.domain;
  written.ngridmax = std::max(written.ngridmax, ngridmax_of(plan, domain.tree));
  write_amr(domain_file(directory, "amr", options, number), plan, domain.tree);
  for (const auto& [kind, name] : cell_files) {
    std::vector<const mesh::Field*> fields;
    for (const mesh::Field& field : domain.values)
      if (kind_of(dataset.header, field.info.name) == kind) fields.push_back(&field);
    if (!fields.empty()) write_cells(domain_file(directory, name, options, number), kind, plan, domain.tree, fields);
  }
  if (dataset.species.empty()) return;
  const mesh::Particles particles = gather_particles(sources, plan, domain.tree);
  write_particles(domain_file(directory, "part", options, number), plan, number, particles);
  written.particles += particles.count;
  for (const mesh::Field& attribute : particles.attributes)
    if (attribute.info.name == "family" && attribute.info.type == mesh::ScalarType::int8)
      for (const std::int8_t family : attribute.as<std::int8_t>())
        ++written.by_family[family >= -5 && family <= 5 ? static_cast<std::size_t>(family + 5) : 11];
}

void require_all_particles(const mesh::Dataset& dataset, const Written& written) {
  if (dataset.species.empty() || written.particles == dataset.species[0].count) return;
  throw Error(Kind::corrupt, "particles: expected " + std::to_string(dataset.species[0].count) + ", found " +
                                 std::to_string(written.particles) + " in the parts")
      .at(dataset.path);
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

void write(const mesh::Dataset& dataset, const fs::path& directory, const WriteOptions& asked) {
  WriteOptions options = asked;
  if (options.group_size == 0)
    options.group_size = static_cast<int>(std::clamp(number_or(dataset.header, "io_group_size", 0), 0.0, 99999.0));
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(directory, ignored)))
    throw Error(Kind::usage, "the output exists").at(directory.string());
  Plan plan = make_plan(dataset, options);
  const int domains = options.domains > 0 ? options.domains : dataset.num_parts;
  // Trees for the owners, trees and coarse values for the survey, particles; then the domains.
  const int steps = 4 * dataset.num_parts + domains;
  int done = 0;
  const std::function<void()> advance = [&] {
    if (options.progress && !options.progress(++done, steps)) throw Error(Kind::interrupted, "interrupted");
  };
  find_owners(dataset, options, plan, advance);
  done = dataset.num_parts;
  Sources sources = survey(dataset, plan.owners, plan.nlevelmax, advance);
  if (!dataset.species.empty()) sources.particle_parts = find_particle_parts(dataset, plan, advance);
  done = 4 * dataset.num_parts;
  plan.octs = sources.octs;
  file::make_directories(directory);
  for (int domain = 0; domain < domains && options.group_size > 0; domain += options.group_size)
    file::make_directories(domain_file(directory, "amr", options, domain).parent_path());
  Written written;
  const int at_a_time = domains_at_a_time(sources, plan.owners, options.memory);
  for (int first = 0; first < domains; first += at_a_time)
    for (const Domain& domain :
         gather(sources, plan.coarse, plan.owners, first, std::min(at_a_time, domains - first))) {
      write_domain(sources, plan, directory, options, domain, written);
      advance();
    }
  require_all_particles(dataset, written);
  write_descriptors(dataset, plan, directory);
  if (!dataset.species.empty())
    write_header_text(directory / (numbered("header", options.number) + ".txt"), written.by_family,
                      dataset.species[0].attributes);
  write_carried_texts(dataset.header, directory, numbered("", options.number));
  plan.ngridmax = written.ngridmax;
  // Last: a directory without it is no output.
  write_info(directory / (numbered("info", options.number) + ".txt"), plan);
}

}  // namespace octavo::formats::ramses
