#include "octavo/formats/ramses/reader.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/base/pack.hpp"
#include "octavo/formats/ramses/domains.hpp"
#include "octavo/formats/ramses/file_tree.hpp"
#include "octavo/formats/ramses/output.hpp"
#include "octavo/formats/ramses/walls.hpp"
#include "octavo/mesh/pack.hpp"

namespace octavo::formats::ramses {

template <class Way>
void both(Way& way, FileEntry& entry) {
  both(way, entry.path, entry.bytes);
}

template <class Way>
void both(Way& way, AmrHeader& amr) {
  both(way, amr.ncpu, amr.ndim, amr.coarse, amr.nlevelmax, amr.ngridmax, amr.nboundary, amr.ngrid_current, amr.boxlen);
  both(way, amr.output_counts, amr.tout, amr.aout, amr.time, amr.dtold, amr.dtnew, amr.steps, amr.start);
  both(way, amr.cosmology, amr.expansion, amr.mass_sph, amr.numbl, amr.total_octs, amr.ordering);
  both(way, amr.bound_key, amr.bound_key_low, amr.bisection_wall, amr.bisection_next, amr.bisection_indx);
  both(way, amr.cpubox_min, amr.cpubox_max, amr.coarse_son, amr.coarse_flag, amr.coarse_cpu, amr.real_bytes);
}

template <class Way>
void both(Way& way, Output& output) {
  both(way, output.listing.directory, output.listing.number, output.listing.files, output.amr, output.kinds);
  both(way, output.variables, output.particle_attributes, output.particle_count, output.header, output.levels);
  both(way, output.notes);
}

namespace {

namespace fs = std::filesystem;
using Shared = std::shared_ptr<const Output>;

int num_levels(const Output& output, int max_level) {
  return std::clamp(max_level - output.header.level_origin + 1, 1, output.amr.nlevelmax);
}

/// The wanted fields that this kind of file holds.
std::vector<WantedVariable> wanted_of(const Output& output, CellKind kind, const std::vector<std::size_t>& chosen,
                                      std::vector<mesh::Field>& fields) {
  std::vector<WantedVariable> wanted;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (output.variables[chosen[i]].kind == kind) wanted.push_back({output.variables[chosen[i]].index, &fields[i]});
  return wanted;
}

void read_kind(const Output& output, CellKind kind, int domain, const AmrHeader& amr, const DomainTree& tree,
               const std::vector<WantedVariable>& wanted, bool whole) {
  file::RecordReader reader(file_of(output.listing, prefix(kind), domain).path);
  const CellHeader header = read_cell_header(reader, kind, amr.ndim);
  const int expected = output.kinds.at(kind).variables;
  if (header.variables != expected)
    throw base::Error(base::Kind::corrupt, "files of different outputs: expected " + std::to_string(expected) +
                                               " variables as in domain 1, found " + std::to_string(header.variables))
        .at(reader.path().string());
  read_cells(reader, header, amr, tree, wanted, whole);
}

/// Ranks the families of the own octs: families ascend along the Z curve if there is one coarse cell.
OctOrder order_of(const AmrHeader& amr, const DomainTree& tree, int domain) {
  OctOrder order;
  for (std::size_t level = 0; level < tree.family_of_oct.size(); ++level) {
    std::size_t first = 0;
    for (int list = 0; list < domain; ++list) first += num_octs(amr, static_cast<int>(level), list);
    const auto own =
        std::span(tree.family_of_oct[level]).subspan(first, num_octs(amr, static_cast<int>(level), domain));
    OctOrder sorted(own.begin(), own.end());
    std::sort(sorted.begin(), sorted.end());
    for (const std::uint32_t family : own)
      order.push_back(
          static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), family) - sorted.begin()));
  }
  return order;
}

/// The bytes that a copy of the output needs beside values: the order of the octs, and files of the whole run.
void add_opaque(const Output& output, int domain, const AmrHeader& amr, const DomainTree& tree, mesh::Part& part) {
  if (tree.root_cell.size() >> amr.ndim == 1) part.opaque[order_name] = pack_order(order_of(amr, tree, domain));
  for (const char* name : carried_files) {
    const FileEntry* entry = domain == 0 ? find_file(output.listing, name) : nullptr;
    if (entry == nullptr) continue;
    const std::string bytes = read_text(entry->path);
    const auto all = std::as_bytes(std::span(bytes));
    part.opaque[std::string(carried_prefix) + name].assign(all.begin(), all.end());
  }
}

void read_mesh(const Output& output, int domain, const mesh::Request& request, mesh::Part& part) {
  file::RecordReader reader(file_of(output.listing, "amr", domain).path);
  const AmrHeader amr = read_amr_header(reader);
  require_same_output(output.amr, amr, reader);
  const int levels = num_levels(output, request.max_level);
  DomainTree tree = read_tree(reader, amr, domain, levels);
  const auto chosen = mesh::select_fields(output.header, request.fields);
  for (const std::size_t f : chosen)
    part.fields.push_back(mesh::make_field(output.header.fields[f], mesh::num_cells(tree.tree)));
  for (const auto& [kind, header] : output.kinds) {
    const auto wanted = wanted_of(output, kind, chosen, part.fields);
    if (!wanted.empty()) read_kind(output, kind, domain, amr, tree, wanted, levels == amr.nlevelmax);
  }
  if (request.opaque) add_opaque(output, domain, amr, tree, part);
  part.mesh = std::move(tree.tree);
}

void read_species(const Output& output, int domain, mesh::Part& part) {
  if (output.particle_attributes.empty()) return;
  file::RecordReader reader(file_of(output.listing, "part", domain).path);
  const ParticleFileHeader header = read_particle_header(reader);
  if (header.ncpu != output.amr.ncpu || header.ndim != output.amr.ndim)
    throw base::Error(base::Kind::corrupt,
                      "files of different outputs: ncpu or ndim differ from those of the amr files")
        .at(reader.path().string());
  part.particles.push_back(read_particles(reader, header, output.particle_attributes));
}

void require_part(const Output& output, int domain) {
  if (domain < 0 || domain >= output.amr.ncpu)
    throw base::Error(base::Kind::usage, "there is no part " + std::to_string(domain) + ": the output has " +
                                             std::to_string(output.amr.ncpu) + ", from 0");
}

mesh::Part read_part(const Output& output, int domain, const mesh::Request& request) {
  require_part(output, domain);
  mesh::Part part;
  part.index = domain;
  const bool particles_only = request.particles && request.fields && request.fields->empty();
  if (!particles_only) read_mesh(output, domain, request, part);
  if (request.particles) read_species(output, domain, part);
  return part;
}

/// Estimated from the files' sizes. Files also hold cells of other domains, and twice as many bytes per oct as we keep.
mesh::PartSizes part_sizes(const Output& output, int domain) {
  require_part(output, domain);
  const auto bytes_of = [&](const std::string& kind) {
    return static_cast<std::int64_t>(file_of(output.listing, kind, domain).bytes);
  };
  mesh::PartSizes sizes;
  sizes.mesh = bytes_of("amr") / 2;
  for (const auto& [kind, header] : output.kinds) sizes.fields += bytes_of(prefix(kind));
  if (!output.particle_attributes.empty()) sizes.particles = bytes_of("part");
  return sizes;
}

std::int64_t part_bytes(const Output& output, int domain) {
  const mesh::PartSizes sizes = part_sizes(output, domain);
  const std::uint64_t tree = file_of(output.listing, "amr", domain).bytes;
  return static_cast<std::int64_t>(tree) + sizes.fields + sizes.particles;
}

/// Counts whole files, those of the fields asked for, and an eighth for pages around the marks of records, which are
/// read twice: measured, it is a tenth at most. The number of octs of a domain is in its own file, whose size limits
/// it: an oct has 4 + 2 ndim numbers, 3 for each cell, and its centre.
mesh::PartCost cost(const Output& output, const mesh::Dataset& dataset, int domain, const mesh::Request& request) {
  require_part(output, domain);
  const auto bytes_of = [&](const std::string& kind) {
    return static_cast<std::int64_t>(file_of(output.listing, kind, domain).bytes);
  };
  const bool particles_only = request.particles && request.fields && request.fields->empty();
  const std::int64_t dim = output.amr.ndim, cells = std::int64_t{1} << dim;
  const std::int64_t bytes_of_oct = 4 * (4 + 2 * dim + 3 * cells) + 8 * dim;
  mesh::PartCost cost{bytes_of("amr") / bytes_of_oct * cells, 0,
                      mesh::bytes_to_read(dataset, part_sizes(output, domain), request)};
  if (!particles_only) cost.bytes += bytes_of("amr");
  std::vector<mesh::Field> none(output.header.fields.size());
  for (const auto& [kind, header] : output.kinds)
    if (!wanted_of(output, kind, mesh::select_fields(output.header, request.fields), none).empty())
      cost.bytes += bytes_of(prefix(kind));
  if (request.particles && !output.particle_attributes.empty()) cost.bytes += bytes_of("part");
  cost.bytes += cost.bytes / 8;
  return cost;
}

int coarsest_leaf(const Output& output) {
  for (const mesh::LevelCount& count : output.levels)
    if (count.leaves > 0) return mesh::level_index(output.header, count.level);
  return 0;
}

}  // namespace

namespace {

/// An output, and the path by which it was opened.
struct OpenedOutput {
  std::string path;
  Output output;
};
template <class Way>
void both(Way& way, OpenedOutput& opened) {
  using base::both;
  both(way, opened.path, opened.output);
}

mesh::Dataset dataset_of(const std::shared_ptr<const OpenedOutput>& opened) {
  const Shared output(opened, &opened->output);
  mesh::Dataset dataset;
  dataset.format = "ramses";
  dataset.path = opened->path;
  dataset.header = output->header;
  dataset.num_parts = output->amr.ncpu;
  for (const auto& [name, entry] : output->listing.files) dataset.bytes += static_cast<std::int64_t>(entry.bytes);
  dataset.levels = output->levels;
  if (!output->particle_attributes.empty())
    dataset.species.push_back({species_name, output->particle_count, output->particle_attributes});
  if (!output->particle_attributes.empty())
    dataset.carry = [output](mesh::Header& header) { keep_particle_heads(*output, header); };
  dataset.notes = output->notes;
  dataset.parts_touching = [output](const mesh::Region& region) {
    return domains_touching(output->amr, output->header, coarsest_leaf(*output), region);
  };
  dataset.read = [output](int domain, const mesh::Request& request) { return read_part(*output, domain, request); };
  dataset.part_bytes = [output](int domain) { return part_bytes(*output, domain); };
  dataset.part_sizes = [output](int domain) { return part_sizes(*output, domain); };
  mesh::Dataset described;
  described.header = output->header;
  described.levels = output->levels;
  dataset.cost = [output, described](int domain, const mesh::Request& request) {
    return cost(*output, described, domain, request);
  };
  if (output->amr.nboundary > 0)
    dataset.read_walls = [output](int domain) {
      require_part(*output, domain);
      return read_walls(*output, domain);
    };
  dataset.describe = [opened] { return base::packed(*opened); };
  return dataset;
}

}  // namespace

mesh::Dataset open(const fs::path& path) {
  auto listing = list_output(path);
  if (!listing) throw base::Error(base::Kind::corrupt, "no info_NNNNN.txt in the output").at(path.string());
  return dataset_of(
      std::make_shared<const OpenedOutput>(OpenedOutput{path.string(), open_output(std::move(*listing))}));
}

mesh::Dataset understand(const std::string& description) {
  return dataset_of(std::make_shared<const OpenedOutput>(base::unpacked<OpenedOutput>(description)));
}

}  // namespace octavo::formats::ramses
