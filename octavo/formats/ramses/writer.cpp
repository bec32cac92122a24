#include "octavo/formats/ramses/writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <system_error>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/ramses/write_particles.hpp"
#include "octavo/formats/ramses/write_plan.hpp"
#include "octavo/formats/ramses/write_text.hpp"
#include "octavo/formats/row/words.hpp"

namespace octavo::formats::ramses {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

/// A kind of file with values of cells, and its variables.
struct WrittenCellFile {
  CellKind kind;
  std::vector<WrittenVariable> WrittenVariables::*variables;
};
constexpr WrittenCellFile cell_files[] = {{CellKind::hydro, &WrittenVariables::hydro},
                                          {CellKind::grav, &WrittenVariables::grav},
                                          {CellKind::rt, &WrittenVariables::rt}};

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

/// Counts taken while domains are written.
struct WrittenCounts {
  std::vector<std::int64_t> by_family = std::vector<std::int64_t>(12, 0);
  std::int64_t particles = 0;
  std::int64_t walls_made = 0;
  std::int32_t ngridmax = 1;
};

void write_domain(const Sources& sources, const DomainFilePlan& plan, const fs::path& directory,
                  const WriteOptions& options, const OutputDomain& domain, WrittenCounts& written) {
  const mesh::Dataset& dataset = *sources.dataset;
  const int number = domain.tree.domain;
  written.ngridmax = std::max(written.ngridmax, ngridmax_of(plan, domain.tree));
  written.walls_made += domain.walls_made;
  write_amr(domain_file(directory, "amr", options, number), plan, domain.tree);
  for (const auto& [kind, variables] : cell_files) {
    std::vector<const mesh::Field*> fields;
    for (const WrittenVariable& variable : plan.variables.*variables) {
      const auto field = std::find_if(domain.values.begin(), domain.values.end(),
                                      [&](const mesh::Field& f) { return f.info.name == variable.field; });
      fields.push_back(field == domain.values.end() ? nullptr : &*field);
    }
    if (!fields.empty())
      write_cells(domain_file(directory, prefix(kind), options, number), kind, plan, domain.tree, fields);
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

void require_all_particles(const mesh::Dataset& dataset, const WrittenCounts& written) {
  if (dataset.species.empty() || written.particles == dataset.species[0].count) return;
  throw Error(Kind::corrupt, "particles: expected " + std::to_string(dataset.species[0].count) + ", found " +
                                 std::to_string(written.particles) + " in the parts")
      .at(dataset.path);
}

bool from_ramses(const mesh::Header& header) { return header.attributes.contains("coarse_cells"); }

/// Adds notes about walls: the namelist that they need, and the number of values that had to be made.
void note_walls(const DomainFilePlan& plan, std::int64_t made, std::vector<std::string>& notes) {
  if (plan.coarse.regions == 0) return;
  if (!plan.header->attributes.contains("coarse_boundary"))
    notes.push_back("a box with walls: the namelist needs " + boundary_params(*plan.header));
  if (made > 0 && !plan.variables.grav.empty() && from_ramses(*plan.header))
    notes.push_back("the potential and forces of " + std::to_string(made) +
                    " octs in walls are those of the cells beside: RAMSES' first step differs a little there");
}

void write_descriptors(const mesh::Dataset& dataset, const DomainFilePlan& plan, const fs::path& directory) {
  const auto type = plan.single_precision ? mesh::ScalarType::float32 : mesh::ScalarType::float64;
  for (const auto& [kind, variables] : cell_files) {
    std::vector<std::string> names;
    for (const WrittenVariable& variable : plan.variables.*variables) names.push_back(variable.name);
    if (!names.empty() && kind != CellKind::grav)
      write_descriptor(directory / (prefix(kind) + "_file_descriptor.txt"), names,
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

/// Completes the plan, and finds the parts that the domains are made of.
Sources find_sources(const mesh::Dataset& dataset, const WriteOptions& options, DomainFilePlan& plan,
                     bool& same_domains, const std::function<void()>& advance) {
  same_domains = find_owners(dataset, options, plan, advance);
  Sources sources = survey(dataset, plan.owners, plan.nlevelmax, advance);
  if (!dataset.species.empty()) sources.particle_parts = find_particle_parts(dataset, plan, advance);
  plan.octs = sources.octs;
  return sources;
}

}  // namespace

void write_one_domain(const mesh::Dataset& dataset, const fs::path& directory, const WriteOptions& options,
                      int domain) {
  DomainFilePlan plan = make_plan(dataset, options);
  bool same_domains = false;
  const Sources sources = find_sources(dataset, options, plan, same_domains, [] {});
  file::make_directories(directory);
  WrittenCounts written;
  for (const OutputDomain& one : gather(sources, plan.coarse, plan.owners, domain, 1, same_domains))
    write_domain(sources, plan, directory, options, one, written);
  if (domain == 0) write_carried_files(read_opaque(dataset, 0), directory);  // RAMSES' first rank reads them
  // Other ranks write the same texts into the same directory: each text appears whole.
  const fs::path aside = directory / ("texts" + std::to_string(domain));
  file::make_directories(aside);
  write_carried_texts(dataset.header, aside, numbered("", options.number));
  for (const fs::directory_entry& text : fs::directory_iterator(aside))
    fs::rename(text.path(), directory / text.path().filename());
  fs::remove(aside);
}

std::vector<std::string> write(const mesh::Dataset& dataset, const fs::path& directory, const WriteOptions& asked) {
  WriteOptions options = asked;
  if (options.group_size == 0)
    options.group_size = static_cast<int>(std::clamp(number_or(dataset.header, "io_group_size", 0), 0.0, 99999.0));
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(directory, ignored)))
    throw Error(Kind::usage, "the output exists").at(directory.string());
  DomainFilePlan plan = make_plan(dataset, options);
  std::vector<std::string> notes = plan.variables.notes;
  note_overload(dataset, notes);
  const int domains = options.domains > 0 ? options.domains : dataset.num_parts;
  // Progress counts parts read for the owners, for the survey and for particles, and then the domains.
  const int steps = 4 * dataset.num_parts + domains;
  int done = 0;
  const std::function<void()> advance = [&] {
    if (options.progress && !options.progress(++done, steps)) throw Error(Kind::interrupted, "interrupted");
  };
  bool same_domains = false;
  const Sources sources = find_sources(dataset, options, plan, same_domains, advance);
  done = 4 * dataset.num_parts;
  file::make_directories(directory);
  for (int domain = 0; domain < domains && options.group_size > 0; domain += options.group_size)
    file::make_directories(domain_file(directory, "amr", options, domain).parent_path());
  WrittenCounts written;
  const int at_a_time = domains_at_a_time(sources, plan.owners, options.memory);
  for (int first = 0; first < domains; first += at_a_time)
    for (const OutputDomain& domain :
         gather(sources, plan.coarse, plan.owners, first, std::min(at_a_time, domains - first), same_domains)) {
      write_domain(sources, plan, directory, options, domain, written);
      advance();
    }
  require_all_particles(dataset, written);
  write_descriptors(dataset, plan, directory);
  write_header_text(directory / (numbered("header", options.number) + ".txt"), written.by_family,
                    dataset.species.empty() ? std::vector<mesh::FieldInfo>{} : dataset.species[0].attributes);
  write_carried_texts(dataset.header, directory, numbered("", options.number));
  write_carried_files(read_opaque(dataset, 0), directory);
  plan.ngridmax = written.ngridmax;
  plan.has_tracers = std::any_of(written.by_family.begin(), written.by_family.begin() + 6,
                                 [](std::int64_t particles) { return particles > 0; });
  if (!from_ramses(dataset.header)) {
    write_namelist(directory / "namelist.txt", plan);
    notes.push_back("namelist.txt says what RAMSES' namelist must have to go on from here");
    if (std::string cells = coarse_cells(plan); !cells.empty()) notes.push_back(std::move(cells));
  }
  note_walls(plan, written.walls_made, notes);
  // We write it last, because a directory without it is not an output.
  write_info(directory / (numbered("info", options.number) + ".txt"), plan);
  return notes;
}

// ------------------------------------------------------------------------------------------ files for a run's ranks

namespace {

int output_number(const mesh::Dataset& dataset) {
  const auto number = attribute<std::int64_t>(dataset.header, "output_number");
  if (!number || !from_ramses(dataset.header))
    throw Error(Kind::unsupported, "the checkpoint is not RAMSES': it has no output_number or no coarse_cells")
        .at(dataset.path)
        .hint("octavo convert --to ramses makes a RAMSES output of a step of another code");
  if (*number < 1 || *number > 99999)
    throw Error(Kind::corrupt, "output_number: expected 1 to 99999, found " + std::to_string(*number)).at(dataset.path);
  return static_cast<int>(*number);
}

DomainFiles write_domain_files(const mesh::Dataset& step, const fs::path& folder, const base::Ranks& ranks) {
  const DomainFiles files{folder, output_number(step), ranks.rank};
  WriteOptions options;
  options.domains = ranks.size;
  options.number = files.number;
  try {
    write_one_domain(step, folder / numbered("output", files.number), options, files.domain);
  } catch (...) {
    remove(files);
    throw;
  }
  return files;
}

}  // namespace

std::function<void()> write_shares(const mesh::Dataset& step, const fs::path& folder, const base::Ranks& ranks) {
  // The same name on all nodes, and one that no other run of the node has.
  const std::string name = base::from_rank(ranks, 0, "octavo-" + std::to_string(::getpid()));
  std::optional<DomainFiles> files;
  try {
    base::agree(ranks, [&] { files = write_domain_files(step, folder / name, ranks); });
    base::agree(ranks, [&] {
      // The link comes last: all domains are there when the code sees the output.
      if (ranks.rank == 0) link_output(*files);
    });
  } catch (...) {
    if (files) remove(*files);
    throw;
  }
  return [mine = *files] { remove(mine); };
}

void link_output(const DomainFiles& files) {
  const fs::path link = numbered("output", files.number);
  if (fs::is_symlink(link)) fs::remove(link);
  if (fs::exists(link))
    throw Error(Kind::usage, "a restart from a store needs this name in the run's directory for a link")
        .at(fs::absolute(link).string())
        .hint("move what has it");
  fs::create_directory_symlink(fs::absolute(files.folder) / link, link);
}

void remove(const DomainFiles& files) noexcept try {
  std::error_code ignored;
  const std::string name = numbered("output", files.number);
  char mine[32];
  std::snprintf(mine, sizeof mine, ".out%05d", files.domain + 1);
  std::vector<fs::path> gone;
  for (const fs::directory_entry& entry : fs::directory_iterator(files.folder / name, ignored)) {
    const std::string file = entry.path().filename().string();
    if (file.ends_with(mine) || file.find(".out") == file.npos) gone.push_back(entry.path());
  }
  for (const fs::path& file : gone) fs::remove(file, ignored);
  fs::remove(files.folder / name, ignored);
  fs::remove(files.folder, ignored);
  if (files.domain == 0 && fs::is_symlink(name, ignored)) fs::remove(name, ignored);
} catch (...) {
}

}  // namespace octavo::formats::ramses
