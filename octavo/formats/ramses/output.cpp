#include "octavo/formats/ramses/output.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <string_view>

#include "octavo/base/release.hpp"
#include "octavo/formats/ramses/naming.hpp"

namespace octavo::formats::ramses {
namespace {

using base::Error;
using base::Kind;
using file::RecordReader;

// The headers that we want take a page or two, so we read less than a whole window.
constexpr std::size_t header_window = std::size_t{1} << 16;

std::optional<std::string> text_of(const Listing& listing, const std::string& name) {
  const FileEntry* entry = find_file(listing, name);
  if (entry == nullptr) return {};
  return read_text(entry->path);
}

// "_00080.txt"
std::string text_suffix(const Listing& listing) {
  const std::string name = file_name(listing, "", 0);
  return name.substr(0, name.find(".out")) + ".txt";
}

InfoText read_info(const Listing& listing) {
  const FileEntry* entry = find_file(listing, "info" + text_suffix(listing));
  return parse_info(read_text(entry->path), entry->path);
}

void check_info(const InfoText& info, const AmrHeader& amr, const Listing& listing) {
  const auto require = [&](const std::string& name, std::int64_t in_amr) {
    const std::int64_t in_info = integer(info, name);
    if (in_info != in_amr)
      throw Error(Kind::corrupt, "files of different outputs: " + name + " is " + std::to_string(in_info) + " in " +
                                     info.path.filename().string() + " and " + std::to_string(in_amr) + " in " +
                                     file_name(listing, "amr", 0))
          .at(listing.directory.string());
  };
  require("ncpu", amr.ncpu);
  require("ndim", amr.ndim);
  require("levelmax", amr.nlevelmax);
}

void set_geometry(const AmrHeader& amr, mesh::Header& header) {
  const RealCells real = find_real_cells(amr);
  const double coarse_cell = amr.boxlen / static_cast<double>(real.count[0]);
  header.dim = amr.ndim;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool used = axis < static_cast<std::size_t>(amr.ndim);
    header.roots[axis] = used ? 2 * real.count[axis] : 1;
    header.lo[axis] = 0;
    header.hi[axis] = coarse_cell * static_cast<double>(real.count[axis]);
    // Walls take up coarse cells. An axis without walls is periodic.
    header.periodic[axis] = used && real.count[axis] == amr.coarse[axis];
  }
}

void check_depth(const mesh::Header& header, int levels) {
  const std::int64_t widest = *std::max_element(header.roots.begin(), header.roots.end());
  if (levels > 32 || widest > (std::int64_t{1} << 32 >> (levels - 1)))
    throw Error(Kind::unsupported,
                "a tree of " + std::to_string(levels) + " levels: cell numbers take more than 32 bits");
}

void set_time_and_units(const InfoText& info, const AmrHeader& amr, mesh::Header& header) {
  header.code = "RAMSES";
  header.level_origin = 1;
  header.time = amr.time;
  header.unit_length = real_or(info, "unit_l", 1);
  header.unit_density = real_or(info, "unit_d", 1);
  header.unit_time = real_or(info, "unit_t", 1);
}

void set_info_attributes(const InfoText& info, const AmrHeader& amr, std::map<std::string, mesh::Attribute>& to) {
  to["levelmin"] = integer(info, "levelmin");
  to["nlevelmax"] = std::int64_t{amr.nlevelmax};
  to["ngridmax"] = amr.ngridmax;
  to["boxlen"] = amr.boxlen;
  for (const char* name : {"aexp", "H0", "omega_m", "omega_l", "omega_k", "omega_b"})
    if (info.values.contains(name)) to[name] = real(info, name);
}

void set_amr_attributes(const AmrHeader& amr, std::map<std::string, mesh::Attribute>& to) {
  to["ncpu"] = std::int64_t{amr.ncpu};
  to["coarse_cells"] = std::vector<std::int64_t>(amr.coarse.begin(), amr.coarse.end());
  to["coarse_cpu_map"] = std::vector<std::int64_t>(amr.coarse_cpu.begin(), amr.coarse_cpu.end());
  to["nboundary"] = std::int64_t{amr.nboundary};
  to["output_counts"] = amr.output_counts;
  to["tout"] = amr.tout;
  to["aout"] = amr.aout;
  to["dtold"] = amr.dtold;
  to["dtnew"] = amr.dtnew;
  to["nstep"] = amr.steps;
  to["energy"] = amr.start;
  to["cosmology"] = amr.cosmology;
  to["expansion"] = amr.expansion;
  to["mass_sph"] = amr.mass_sph;
  to["ordering"] = amr.ordering;
  to["real_bytes"] = std::int64_t{amr.real_bytes};
  if (!amr.bound_key.empty()) to["bound_key"] = amr.bound_key;
  if (!amr.bound_key_low.empty()) to["bound_key_low"] = amr.bound_key_low;
  if (amr.ordering != "bisection") return;
  to["bisection_wall"] = amr.bisection_wall;
  to["bisection_next"] = amr.bisection_next;
  to["bisection_indx"] = amr.bisection_indx;
  to["cpubox_min"] = amr.cpubox_min;
  to["cpubox_max"] = amr.cpubox_max;
}

// The cells of a level, and its leaves, follow from the octs of this level and the next.
std::vector<mesh::LevelCount> count_levels(const AmrHeader& amr) {
  std::vector<mesh::LevelCount> levels;
  for (std::size_t l = 0; l < amr.total_octs.size() && amr.total_octs[l] > 0; ++l) {
    const std::int64_t cells = amr.total_octs[l] << amr.ndim;
    const std::int64_t refined = l + 1 < amr.total_octs.size() ? amr.total_octs[l + 1] : 0;
    if (refined > cells)
      throw Error(Kind::corrupt, "numbtot: " + std::to_string(refined) + " octs on level " + std::to_string(l + 2) +
                                     ", but only " + std::to_string(cells) + " cells on the level above");
    levels.push_back({static_cast<int>(l) + 1, cells, cells - refined});
  }
  if (levels.empty()) throw Error(Kind::corrupt, "numbtot: expected octs on level 1, found none");
  return levels;
}

std::vector<std::string> variable_names(const Listing& listing, CellKind kind, const CellHeader& cell, int ndim,
                                        std::vector<std::string>& notes) {
  const std::string file = prefix(kind) + "_file_descriptor.txt";
  std::vector<std::string> names = default_names(kind, cell.variables, ndim);
  if (kind == CellKind::grav) return names;  // has no descriptor
  const auto text = text_of(listing, file);
  const auto described = text ? parse_descriptor(*text) : std::nullopt;
  if (!described) {
    notes.push_back("no usable " + file + ": variables are named " + names.front() + " to " + names.back());
    return names;
  }
  if (described->size() != names.size())
    notes.push_back(file + " names " + std::to_string(described->size()) + " variables, the files have " +
                    std::to_string(names.size()) + ": the rest are named by their number");
  for (std::size_t i = 0; i < std::min(names.size(), described->size()); ++i) names[i] = (*described)[i].name;
  return names;
}

// If another field has the name already, the kind of file goes before it.
std::string unused_name(std::set<std::string>& taken, CellKind kind, const std::string& name) {
  std::string free = name;
  while (!taken.insert(free).second) free = prefix(kind) + "_" + free;
  return free;
}

void add_variables(Output& output, CellKind kind) {
  const std::string file = prefix(kind);
  if (!has_kind(output.listing, file)) return;
  RecordReader reader(file_of(output.listing, file, 0).path, header_window);
  const CellHeader cell = read_cell_header(reader, kind, output.amr.ndim);
  const auto type = find_value_width(reader) == 4 ? mesh::ScalarType::float32 : mesh::ScalarType::float64;
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const mesh::FieldInfo& field : output.header.fields) taken.insert(field.name);
  int index = 0;
  for (const auto& given : variable_names(output.listing, kind, cell, output.amr.ndim, output.notes)) {
    names.push_back(unused_name(taken, kind, given));
    output.header.fields.push_back({names.back(), unit_of(names.back()), type, centring_of(names.back()), 1, 0});
    output.variables.push_back({kind, index++});
  }
  output.kinds[kind] = cell;
  output.header.attributes[file + "_variables"] = names;
  if (kind == CellKind::hydro) output.header.attributes["gamma"] = cell.gamma;
}

// Only a file with particles tells the widths of old particle files.
ParticleLayout find_layout(const Listing& listing, int ncpu,
                           const std::optional<std::vector<DescriptorLine>>& descriptor) {
  ParticleLayout layout;
  for (int domain = 0; domain < ncpu; ++domain) {
    RecordReader reader(file_of(listing, "part", domain).path, header_window);
    const auto header = read_particle_header(reader);
    layout = find_particle_layout(reader, header, descriptor);
    if (header.count > 0 || descriptor) break;
  }
  return layout;
}

std::int64_t count_particles(const Output& output) {
  if (const auto text = text_of(output.listing, "header" + text_suffix(output.listing)))
    if (const auto count = parse_header(*text).count) return *count;
  std::int64_t sum = 0;
  for (int domain = 0; domain < output.amr.ncpu; ++domain) {
    RecordReader reader(file_of(output.listing, "part", domain).path, header_window);
    sum += read_particle_header(reader).count;
  }
  return sum;
}

void add_particles(Output& output) {
  if (!has_kind(output.listing, "part")) return;
  const auto text = text_of(output.listing, "part_file_descriptor.txt");
  const auto descriptor = text ? parse_descriptor(*text) : std::nullopt;
  const ParticleLayout layout = find_layout(output.listing, output.amr.ncpu, descriptor);
  if (layout.guessed)
    output.notes.push_back("no part_file_descriptor.txt: particle attributes are named by their place and size");
  output.particle_attributes = layout.attributes;
  output.particle_count = count_particles(output);
  RecordReader reader(file_of(output.listing, "part", 0).path, header_window);
  const ParticleFileHeader header = read_particle_header(reader);
  auto& to = output.header.attributes;
  to["localseed"] = header.localseed;
  to["nstar_tot"] = header.nstar_tot;
  to["nsink"] = header.nsink;
}

// Keeps texts that a copy of the output needs again.
void add_texts(Output& output) {
  std::string number = text_suffix(output.listing);
  number.resize(number.size() - 4);
  for (const CarriedText& carried : carried_texts)
    if (auto text =
            text_of(output.listing, carried.stem + (carried.numbered ? number : std::string()) + carried.extension))
      output.header.attributes[carried.attribute] = std::move(*text);
}

// The wall that each coarse cell belongs to, from 1. The octs in the walls' lists of level 1 tell it.
std::vector<std::int64_t> read_boundaries(RecordReader& reader, const AmrHeader& amr) {
  std::vector<std::int64_t> regions(amr.coarse_cpu.size(), 0);
  const std::size_t dim = static_cast<std::size_t>(amr.ndim);
  for (int list = 0; list < num_lists(amr); ++list) {
    const std::uint64_t octs = num_octs(amr, 0, list);
    if (octs == 0) continue;
    reader.skip(3, 4 * octs, "ind_grid, next, prev");
    std::vector<std::int64_t> cell(octs, 0);
    std::int64_t stride = 1;
    for (std::size_t a = 0; a < dim; stride *= amr.coarse[a++]) {
      const auto centre = reader.reals(octs, "xg");
      for (std::size_t i = 0; i < octs; ++i) {
        const auto coarse = static_cast<double>(amr.coarse[a]);
        if (!(centre[i] >= 0 && centre[i] < coarse))
          throw reader.error("xg: expected positions from 0 to " + std::to_string(amr.coarse[a]) +
                             " coarse cells, found " + std::to_string(centre[i]));
        cell[i] += stride * static_cast<std::int64_t>(centre[i]);
      }
    }
    for (std::size_t i = 0; i < octs && list >= amr.ncpu; ++i)
      if (const auto at = static_cast<std::size_t>(cell[i]); amr.coarse_cpu[at] < 1) regions[at] = list - amr.ncpu + 1;
    reader.skip(1 + 2 * dim + (std::uint64_t{3} << dim), 4 * octs, "father, nbor, son, cpu_map, flag1");
  }
  return regions;
}

// Keeps the manner in which the files were written, so that the same program can read a copy.
void add_layout(const RecordReader& reader, Output& output) {
  auto& to = output.header.attributes;
  if (reader.format().marker != 4) to["record_marker"] = static_cast<std::int64_t>(reader.format().marker);
  if (reader.format().order == std::endian::big) to["big_endian"] = std::int64_t{1};
  std::int64_t in_group = 0;
  for (const auto& [name, entry] : output.listing.files)
    if (name.starts_with("amr_") && entry.path.parent_path().filename() == "group_00001") ++in_group;
  if (in_group > 0) to["io_group_size"] = in_group;
}

void note_missing_files(Output& output) {
  for (const char* kind : {"amr", "hydro", "grav", "rt", "part"})
    for (int domain = 0; has_kind(output.listing, kind) && domain < output.amr.ncpu; ++domain)
      if (const auto name = file_name(output.listing, kind, domain); find_file(output.listing, name) == nullptr)
        output.notes.push_back("the output is not complete: " + name + " is missing");
}

}  // namespace

Output open_output(Listing listing) {
  Output output;
  output.listing = std::move(listing);
  const InfoText info = read_info(output.listing);
  RecordReader reader(file_of(output.listing, "amr", 0).path, header_window);
  output.amr = read_amr_header(reader);
  check_info(info, output.amr, output.listing);
  set_geometry(output.amr, output.header);
  set_time_and_units(info, output.amr, output.header);
  set_info_attributes(info, output.amr, output.header.attributes);
  set_amr_attributes(output.amr, output.header.attributes);
  output.header.attributes["output_number"] = std::int64_t{output.listing.number};
  if (output.amr.nboundary > 0) output.header.attributes["coarse_boundary"] = read_boundaries(reader, output.amr);
  output.levels = count_levels(output.amr);
  check_depth(output.header, static_cast<int>(output.levels.size()));
  for (const CellKind kind : {CellKind::hydro, CellKind::grav, CellKind::rt}) add_variables(output, kind);
  add_particles(output);
  add_texts(output);
  add_layout(reader, output);
  note_missing_files(output);
  // It is that of domain 1; each part is read with its own.
  base::release(output.amr.numbl);
  return output;
}

void keep_particle_heads(const Output& output, mesh::Header& header) {
  std::vector<std::int64_t> seeds;
  double made = 0, lost = 0;  // each domain counts the mass of the stars that it made
  for (int domain = 0; domain < output.amr.ncpu; ++domain) {
    RecordReader reader(file_of(output.listing, "part", domain).path, header_window);
    const ParticleFileHeader own = read_particle_header(reader);
    seeds.insert(seeds.end(), own.localseed.begin(), own.localseed.end());
    made += own.mstar_tot;
    lost += own.mstar_lost;
  }
  if (output.amr.ncpu > 1) header.attributes["localseeds"] = std::move(seeds);
  header.attributes["mstar_tot"] = made;
  header.attributes["mstar_lost"] = lost;
}

}  // namespace octavo::formats::ramses
