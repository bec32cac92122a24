#include "octavo/formats/ramses/write_plan.hpp"

#include <algorithm>
#include <limits>

#include "octavo/base/error.hpp"
#include "octavo/formats/ramses/domains.hpp"
#include "octavo/formats/ramses/write_text.hpp"

namespace octavo::formats::ramses {
namespace {

using base::Error;
using base::Kind;

Error unsupported(const mesh::Dataset& dataset, const std::string& why) {
  return Error(Kind::unsupported, "cannot be written as a RAMSES output: " + why).at(dataset.path);
}

std::string text_or(const mesh::Header& header, const std::string& name, std::string otherwise) {
  const auto found = header.attributes.find(name);
  if (found == header.attributes.end()) return otherwise;
  const auto* text = std::get_if<std::string>(&found->second);
  return text != nullptr ? *text : otherwise;
}

/// Returns the requested ordering, else the step's own.
Ordering find_ordering(const mesh::Dataset& dataset, const WriteOptions& options) {
  const std::string name = options.ordering.empty() ? text_or(dataset.header, "ordering", "hilbert") : options.ordering;
  for (const Ordering ordering : {Ordering::hilbert, Ordering::planar, Ordering::bisection})
    if (name == name_of(ordering)) return ordering;
  throw unsupported(dataset, "its domains have the ordering \"" + name + "\"")
      .hint("--ordering hilbert (or planar) writes that, and the namelist must say so");
}

/// Returns the input's own table of bounds, if the number of domains and the ordering stay and the table fits.
bool keep_bounds(const mesh::Dataset& dataset, Owners& owners) {
  const mesh::Header& header = dataset.header;
  if (owners.domains != dataset.num_parts || text_or(header, "ordering", "hilbert") != name_of(owners.ordering))
    return false;
  if (owners.ordering == Ordering::bisection) {
    owners.box_min = numbers_or(header, "cpubox_min", {});
    owners.box_max = numbers_or(header, "cpubox_max", {});
    const std::size_t corners = static_cast<std::size_t>(dataset.num_parts) * static_cast<std::size_t>(header.dim);
    return owners.box_min.size() == corners && owners.box_max.size() == corners;
  }
  AmrHeader keys;
  keys.bound_key = numbers_or(header, "bound_key", {});
  keys.bound_key_low = numbers_or(header, "bound_key_low", {});
  if (keys.bound_key_low.size() != keys.bound_key.size()) keys.bound_key_low.clear();
  if (keys.bound_key.size() != static_cast<std::size_t>(dataset.num_parts) + 1 ||
      !std::is_sorted(keys.bound_key.begin(), keys.bound_key.end()))
    return false;
  if (owners.ordering == Ordering::planar)
    owners.planes = keys.bound_key;
  else
    owners.bounds = bound_keys(keys);
  return true;
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
  if (dataset.species.size() > 1)
    throw unsupported(dataset, "RAMSES has one list of particles, the step has " + dataset.species[0].name + ", " +
                                   dataset.species[1].name + (dataset.species.size() > 2 ? " ..." : ""))
        .hint("--no-particles leaves them out");
  for (const mesh::FieldInfo& field : header.fields)
    if (field.components != 1) throw unsupported(dataset, "field " + field.name + " has several components");
}

/// Finds the coarse cells of a RAMSES output by their cpu_map. Walls have 0.
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

/// Numbers the walls if the step has no numbers: -x +x -y +y -z +z, without gaps. Each wall reaches over the earlier
/// ones (write_text.hpp, boundary_params).
std::int32_t usual_region(const mesh::Header& header, const Coarse& coarse, const std::array<std::int64_t, 3>& at) {
  std::int32_t region = 0, walls = 0;
  for (std::size_t a = 0; a < static_cast<std::size_t>(header.dim); ++a) {
    if (header.periodic[a]) continue;
    if (at[a] < coarse.skip[a]) region = walls + 1;
    if (at[a] >= coarse.skip[a] + coarse.real[a]) region = walls + 2;
    walls += 2;
  }
  return region;
}

/// The wall that each coarse cell belongs to.
void set_regions(const mesh::Header& header, Coarse& coarse) {
  const auto regions = numbers_or(header, "coarse_boundary", {});
  const std::size_t cells = static_cast<std::size_t>(coarse.count[0] * coarse.count[1] * coarse.count[2]);
  for (std::size_t i = 0; i < cells; ++i) {
    const auto cell = static_cast<std::int64_t>(i);
    const std::array<std::int64_t, 3> at{cell % coarse.count[0], cell / coarse.count[0] % coarse.count[1],
                                         cell / (coarse.count[0] * coarse.count[1])};
    bool wall = false;
    for (std::size_t a = 0; a < 3; ++a)
      wall = wall || at[a] < coarse.skip[a] || at[a] >= coarse.skip[a] + coarse.real[a];
    const std::int32_t region =
        regions.size() == cells ? static_cast<std::int32_t>(regions[i]) : usual_region(header, coarse, at);
    coarse.region.push_back(!wall ? 0 : region > 0 ? region : -1);
    coarse.regions = std::max(coarse.regions, coarse.region.back());
  }
  // A region may have no coarse cell left. RAMSES compares the number of regions.
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
  const auto types = numbers_or(header, "bound_type", {});
  for (std::size_t side = 0; side < std::min<std::size_t>(6, types.size()); ++side)
    coarse.mirrors[side / 2][side % 2] = types[side] == reflecting_bound_type;
  return coarse;
}

file::RecordFormat format_of(const mesh::Header& header) {
  file::RecordFormat format;
  format.marker = number_or(header, "record_marker", 4) == 8 ? 8 : 4;
  if (header.attributes.contains("big_endian")) format.order = std::endian::big;
  return format;
}

}  // namespace

DomainFilePlan make_plan(const mesh::Dataset& dataset, const WriteOptions& options) {
  check(dataset, options);
  const mesh::Header& header = dataset.header;
  DomainFilePlan plan;
  plan.header = &header;
  plan.number = options.number;
  plan.variables = arrange_variables(header);
  int deepest = 1;
  for (const mesh::LevelCount& count : dataset.levels)
    deepest = std::max(deepest, mesh::level_index(header, count.level) + 1);
  const auto coarsest = std::find_if(dataset.levels.begin(), dataset.levels.end(),
                                     [](const mesh::LevelCount& count) { return count.leaves > 0; });
  plan.levelmin = number_or(header, "levelmin",
                            coarsest == dataset.levels.end() ? 1 : mesh::level_index(header, coarsest->level) + 1);
  plan.nlevelmax = std::max(deepest, static_cast<int>(number_or(header, "nlevelmax", deepest)));
  plan.coarse = find_coarse(header);
  plan.has_particles = !dataset.species.empty();
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

bool find_owners(const mesh::Dataset& dataset, const WriteOptions& options, DomainFilePlan& plan,
                 const std::function<void()>& advance) {
  const int domains = options.domains > 0 ? options.domains : dataset.num_parts;
  std::int64_t octs = 0;
  for (const mesh::LevelCount& count : dataset.levels) octs += count.cells >> dataset.header.dim;
  if (domains > octs)
    throw Error(Kind::usage, std::to_string(domains) + " domains: the step has " + std::to_string(octs) + " octs")
        .at(dataset.path)
        .hint("ask for fewer domains");
  plan.owners = curve_of(dataset.header, plan.nlevelmax, domains);
  plan.owners.ordering = find_ordering(dataset, options);
  plan.owners.ghost_layers = plan.variables.magnetic ? 2 : 1;
  if (plan.owners.ordering == Ordering::planar && plan.quad_keys)
    throw unsupported(dataset, "the ordering planar with keys of 16 bytes").hint("--ordering hilbert");
  if (keep_bounds(dataset, plan.owners)) return true;
  if (plan.owners.ordering == Ordering::bisection)
    throw unsupported(dataset, "a bisection's walls are those of its own number of domains")
        .hint("--ordering hilbert writes any number, and the namelist must say so");
  plan.owners.bounds.clear();
  balance(dataset, plan.owners, plan.quad_keys, advance);
  return false;
}

void note_overload(const mesh::Dataset& dataset, std::vector<std::string>& notes) {
  const auto keys = numbers_or(dataset.header, "bound_key", {}).size();
  const auto domains = static_cast<std::size_t>(number_or(dataset.header, "ncpu", 0));
  if (domains > 0 && keys > domains + 1)
    notes.push_back("the step's domains have " + std::to_string((keys - 1) / domains) +
                    " stretches each (overload); those written have one: the namelist must say overload=1");
}

}  // namespace octavo::formats::ramses
