#include "octavo/formats/amrex/output.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "octavo/formats/amrex/hdf5_plotfile.hpp"
#include "octavo/formats/amrex/headers.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/patches/patches_to_octree.hpp"

namespace octavo::formats::amrex {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

constexpr const char* amr_level_title = "CheckPointVersion_1.0";

bool is_particle_header(const fs::path& path) {
  if (!fs::is_regular_file(path)) return false;
  return read_text(path).line().starts_with("Version_");
}

void open_species(AmrexOutput& output) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(output.path))
    if (entry.is_directory() && is_particle_header(entry.path() / "Header")) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  for (const fs::path& path : folders) {
    ParticleFolder folder = open_particles(path);
    if (folder.dim != output.header.dim)
      throw Error(Kind::corrupt, "particles in " + std::to_string(folder.dim) + " dimensions in an output in " +
                                     std::to_string(output.header.dim))
          .at(path.string());
    if (!folder.damage.empty())
      output.notes.push_back("damaged, half-written or wrongly indexed, and not to be read: " + folder.damage);
    if (!folder.packed)
      output.notes.push_back(path.filename().string() +
                             ": this version keeps 32 bits of an id; larger ids were cut off by the writer");
    output.particles.push_back(std::move(folder));
  }
}

std::int64_t bytes_below(const fs::path& path) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file()) bytes += entry.file_size();
  return static_cast<std::int64_t>(bytes);
}

void validate(const AmrexOutput& output) {
  try {
    mesh::validate(output.patches);
  } catch (Error& error) {
    throw error.at(output.path.string());
  }
}

/// AMReX's level 0 always covers its domain; and memory for a domain no larger than the files is safe.
void check_level_0(const AmrexOutput& output) {
  const mesh::Patches& patches = output.patches;
  if (output.sources.empty())
    throw Error(Kind::unsupported, "no cell-centred values on the boxes of the levels").at(output.path.string());
  double domain = 1, boxes = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(patches.dim); ++axis)
    domain *= static_cast<double>(patches.domain[0].hi[axis] - patches.domain[0].lo[axis]);
  for (const mesh::IndexBox& box : patches.boxes[0]) boxes += static_cast<double>(mesh::num_cells(box, patches.dim));
  if (domain != boxes)
    throw Error(Kind::corrupt, "the boxes of level 0 hold " + std::to_string(boxes) + " of the domain's " +
                                   std::to_string(domain) + " cells: they must cover it")
        .at(output.path.string());
}

AmrexOutput open_checked(const fs::path& path, const HeaderFacts& options) {
  AmrexOutput output;
  output.path = path;
  output.header.code = "AMReX";
  if (fs::is_regular_file(path)) {
    open_hdf5_plotfile(output);
    validate(output);
    check_level_0(output);
    output.bytes = static_cast<std::int64_t>(fs::file_size(path));
    return output;
  }
  Text text = read_text(path / "Header");
  if (Text(text).line() == amr_level_title) {
    output.family = OutputFamily::amr_level;
    open_amr_level(text, output);
  } else if (is_plotfile_header(text)) {
    output.family = OutputFamily::plotfile;
    open_plotfile(text, output);
  } else {
    output.family = OutputFamily::hand_written;
    open_hand_written(text, output, options);
  }
  validate(output);
  check_level_0(output);
  open_species(output);
  if (path.filename().extension() == ".temp" || path.parent_path().filename().extension() == ".temp")
    output.notes.push_back("the name ends in .temp: its writer did not finish it");
  output.bytes = bytes_below(path);
  return output;
}

/// The components of one MultiFab that are wanted, on one side of the cells, and which field each is.
struct WantedComponents {
  std::vector<int> components;
  std::vector<std::size_t> fields;
};

using MultiFabSide = std::pair<std::size_t, mesh::Index3>;

std::map<MultiFabSide, WantedComponents> by_multifab(const AmrexOutput& output,
                                                     const std::vector<std::size_t>& fields) {
  std::map<MultiFabSide, WantedComponents> wanted;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const FieldSource& source = output.sources[fields[i]];
    WantedComponents& want = wanted[{source.multifab, source.side}];
    want.components.push_back(source.component);
    want.fields.push_back(i);
  }
  return wanted;
}

/// The nodes or faces at that side of the cells.
std::vector<Take> moved(std::vector<Take> takes, const mesh::Index3& side) {
  for (Take& take : takes)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      take.cells.lo[axis] += side[axis];
      take.cells.hi[axis] += side[axis];
    }
  return takes;
}

}  // namespace

fs::path output_directory(const fs::path& path) {
  std::error_code ignored;
  const bool is_header = path.filename() == "Header" && fs::is_regular_file(path, ignored);
  if (!is_header) return path;
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

bool recognise(const fs::path& given) {
  std::error_code ignored;
  const fs::path path = output_directory(given);
  if (fs::is_regular_file(path, ignored)) return is_hdf5_plotfile(path);
  if (!fs::is_regular_file(path / "Header", ignored)) return false;
  for (fs::directory_iterator entry(path / "Level_0", ignored), end; !ignored && entry != end; entry.increment(ignored))
    if (entry->path().filename().string().ends_with("_H")) return true;
  return false;
}

AmrexOutput open_output(const fs::path& path, const HeaderFacts& options) {
  try {
    AmrexOutput output = open_checked(output_directory(path), options);
    output.index = mesh::index_levels(output.patches);
    return output;
  } catch (const fs::filesystem_error& error) {
    throw base::system_error("list a directory", error.code().value()).at(error.path1().string());
  }
}

mesh::Part read_patches(const AmrexOutput& output, const PatchRequest& request) {
  const std::size_t levels = std::min(request.levels, output.patches.boxes.size());
  mesh::Patches patches{output.patches.dim, output.patches.domain, output.patches.ratio, {}};
  patches.domain.resize(levels);
  patches.ratio.resize(levels == 0 ? 0 : levels - 1);
  const mesh::IndexBox region = request.region.value_or(output.patches.domain[0]);
  mesh::PatchCut cut = mesh::cut_patches(patches, output.index, region);
  std::size_t values = 0;
  std::vector<std::vector<Take>> takes(levels);
  for (std::size_t level = 0; level < levels; ++level)
    for (std::size_t i = 0; i < cut.source[level].size(); ++i) {
      const mesh::IndexBox& box = cut.patches.boxes[level][i];
      takes[level].push_back({cut.source[level][i], box, values});
      values += static_cast<std::size_t>(mesh::num_cells(box, patches.dim));
    }
  const auto wanted = mesh::select_fields(output.header, request.fields);
  mesh::Part part;
  for (std::size_t field : wanted) part.fields.push_back(mesh::make_field(output.header.fields[field], values));
  for (const auto& [key, want] : by_multifab(output, wanted)) {
    const auto& [multifab, side] = key;
    std::vector<std::span<std::byte>> targets;
    for (std::size_t field : want.fields) targets.emplace_back(part.fields[field].bytes);
    for (std::size_t level = 0; level < levels; ++level)
      read_cells(output.multifabs[level][multifab], moved(takes[level], side), want.components,
                 part.fields[want.fields[0]].info.type, targets);
  }
  part.mesh = std::move(cut.patches);
  return part;
}

}  // namespace octavo::formats::amrex
