#include "octavo/formats/amrex/amrex.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/base/pack.hpp"
#include "octavo/file/hdf5/pack.hpp"
#include "octavo/formats/amrex/carried.hpp"
#include "octavo/formats/amrex/hdf5_plotfile.hpp"
#include "octavo/formats/amrex/layout.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/pack.hpp"
#include "octavo/mesh/patches/patches_to_octree.hpp"
#include "octavo/mesh/tree/prune.hpp"

namespace octavo::formats::amrex {

template <class Way>
void both(Way& way, BoxArray& array) {
  both(way, array.boxes, array.nodal, array.dim);
}

template <class Way>
void both(Way& way, Hdf5Values& values) {
  both(way, values.file, values.sets, values.first);
}

template <class Way>
void both(Way& way, MultiFab& multifab) {
  both(way, multifab.prefix, multifab.version, multifab.components, multifab.ghost, multifab.boxes, multifab.format);
  both(way, multifab.files, multifab.places, multifab.minima, multifab.maxima);
  bool in_hdf5 = multifab.hdf5 != nullptr;
  both(way, in_hdf5);
  if (!in_hdf5) return;
  Hdf5Values values = multifab.hdf5 ? *multifab.hdf5 : Hdf5Values{};
  both(way, values);
  multifab.hdf5 = std::make_shared<const Hdf5Values>(std::move(values));
}

template <class Way>
void both(Way& way, ParticleFolder& folder) {
  both(way, folder.path, folder.version, folder.packed, folder.real, folder.dim, folder.reals, folder.ints);
  both(way, folder.total, folder.next_id, folder.grids, folder.boxes, folder.damage);
}

/// Without the index, which is made of the boxes.
template <class Way>
void both(Way& way, AmrexOutput& output) {
  both(way, output.path, output.family, output.header, output.patches, output.multifabs, output.sources);
  both(way, output.others, output.common_form, output.particles, output.notes, output.bytes);
}

namespace {

using base::Error;
using base::Kind;
using mesh::IndexBox;

/// An opened output and how it is shared between parts.
struct SharedOutput {
  AmrexOutput output;
  mesh::Header header;
  mesh::PatchTree tree;
  std::vector<IndexBox> regions;  ///< of the parts, in level-0 cells
  std::optional<Error> no_tree;   ///< why there can be none
};

/// Ratio between level 0 and each level.
std::vector<std::int64_t> total_ratios(const mesh::Patches& patches) {
  std::vector<std::int64_t> total{1};
  for (int ratio : patches.ratio) total.push_back(total.back() * ratio);
  return total;
}

std::int64_t cells_of(const std::vector<IndexBox>& boxes, int dim) {
  std::int64_t n = 0;
  for (const IndexBox& box : boxes) n += mesh::num_cells(box, dim);
  return n;
}

/// Levels by the code's numbers; refined cells are those that finer boxes cover.
std::vector<mesh::LevelCount> count_levels(const mesh::Patches& patches) {
  std::vector<mesh::LevelCount> counts;
  for (std::size_t level = 0; level < patches.boxes.size(); ++level) {
    const std::int64_t cells = cells_of(patches.boxes[level], patches.dim);
    if (level > 0) {
      std::int64_t covered = cells;
      for (int axis = 0; axis < patches.dim; ++axis) covered /= patches.ratio[level - 1];
      counts.back().leaves -= covered;
    }
    counts.push_back({static_cast<int>(level), cells, cells});
  }
  while (counts.size() > 1 && counts.back().cells == 0) counts.pop_back();
  return counts;
}

void plan_tree(SharedOutput& shared, const DatasetOptions& options, std::vector<std::string>& notes) {
  const mesh::Patches& patches = shared.output.patches;
  mesh::Header& header = shared.header;
  try {
    shared.tree = mesh::plan_patch_tree(patches, mesh::unfolding_for(patches, options.max_roots));
  } catch (const Error& error) {
    if (error.kind() != Kind::unsupported) throw;
    shared.no_tree = error;
    notes.push_back(error.message() + "; the patches themselves can be read");
    shared.regions = {mesh::flat(patches.domain[0], patches.dim)};
    return;
  }
  header.roots = shared.tree.roots;
  header.unfolded = shared.tree.unfolded;
  shared.regions = mesh::plan_patch_parts(patches, shared.tree, options.part_cells);
  if (std::find(patches.ratio.begin(), patches.ratio.end(), 4) != patches.ratio.end())
    notes.push_back(
        "a refinement ratio of 4 takes two levels of the tree; cells of the one between are the means of finer ones, "
        "and "
        "it has no number: levels are called as AMReX calls them");
}

/// A box of level-0 cells in fractions of the domain's x extent.
std::pair<mesh::Point3, mesh::Point3> fractions_of(const SharedOutput& shared, const IndexBox& box) {
  const IndexBox& domain = shared.output.patches.domain[0];
  const mesh::Domain extent = mesh::domain_of(shared.header);
  mesh::Point3 lo{0, 0, 0}, hi{1, 1, 1};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(shared.header.dim); ++axis) {
    const auto cells = static_cast<double>(domain.hi[axis] - domain.lo[axis]);
    lo[axis] = static_cast<double>(box.lo[axis] - domain.lo[axis]) / cells * extent.extent[axis];
    hi[axis] = static_cast<double>(box.hi[axis] - domain.lo[axis]) / cells * extent.extent[axis];
  }
  return {lo, hi};
}

std::vector<int> parts_touching(const SharedOutput& shared, const mesh::Region& region) {
  std::vector<int> parts;
  for (std::size_t i = 0; i < shared.regions.size(); ++i) {
    const auto [lo, hi] = fractions_of(shared, shared.regions[i]);
    if (mesh::touches(region, mesh::domain_of(shared.header), lo, hi)) parts.push_back(static_cast<int>(i));
  }
  return parts;
}

// ---------------------------------------------------------------------------------------------------------- particles

/// The level-0 cell of a position; nothing far outside of the domain, or for NaN.
std::optional<mesh::Index3> level_0_cell(const SharedOutput& shared, const mesh::Point3& position) {
  const IndexBox& domain = shared.output.patches.domain[0];
  mesh::Index3 at{0, 0, 0};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(shared.header.dim); ++axis) {
    const double lo = shared.header.lo[axis], hi = shared.header.hi[axis];
    const double cell = (position[axis] - lo) / (hi - lo) * static_cast<double>(domain.hi[axis] - domain.lo[axis]);
    if (!(cell > -1e9 && cell < 1e9)) return {};
    at[axis] = domain.lo[axis] + static_cast<std::int64_t>(std::floor(cell));
  }
  return at;
}

/// The box a grid of particles lies in, in level-0 cells, kept inside the domain.
IndexBox grid_box(const SharedOutput& shared, const ParticleFolder& folder, const GridNumber& number) {
  const mesh::Patches& patches = shared.output.patches;
  const IndexBox domain = mesh::flat(patches.domain[0], patches.dim);
  const auto ratios = total_ratios(patches);
  IndexBox box = domain;
  if (number.level < ratios.size() && number.grid < folder.boxes[number.level].boxes.size())
    box = mesh::coarsened_box(folder.boxes[number.level].boxes[number.grid], ratios[number.level], patches.dim);
  const auto shared_cells = mesh::intersection(box, domain, patches.dim);
  return shared_cells.value_or(domain);
}

mesh::Particles read_species(const SharedOutput& shared, const ParticleFolder& folder, const IndexBox& region) {
  const int dim = shared.header.dim;
  std::vector<GridNumber> wanted;
  for (std::size_t level = 0; level < folder.grids.size(); ++level)
    for (std::size_t grid = 0; grid < folder.grids[level].size(); ++grid)
      if (mesh::intersection(grid_box(shared, folder, {level, grid}), region, dim)) wanted.push_back({level, grid});
  GridNumber last;
  IndexBox box = grid_box(shared, folder, last);
  return read_particles(folder, wanted, [&, last](const GridNumber& number, const mesh::Point3& position) mutable {
    if (!(number == last)) box = grid_box(shared, folder, number);
    last = number;
    const auto at = level_0_cell(shared, position);
    return mesh::holds(region, at && mesh::holds(box, *at, dim) ? *at : box.lo, dim);
  });
}

// --------------------------------------------------------------------------------------------------------------- read

void truncate(mesh::Part& part, int deepest) {
  const auto& tree = std::get<mesh::Octree>(part.mesh);
  if (mesh::num_levels(tree) <= deepest + 1) return;
  mesh::Extract extract = mesh::truncate(tree, deepest);
  for (mesh::Field& field : part.fields)
    field.bytes = mesh::gather(tree, extract, field.bytes, mesh::size_of(field.info.type));
  part.mesh = std::move(extract.tree);
}

mesh::Part read(const SharedOutput& shared, int number, const mesh::Request& request) {
  if (number < 0 || static_cast<std::size_t>(number) >= shared.regions.size())
    throw Error(Kind::usage, "part " + std::to_string(number) + " of " + std::to_string(shared.regions.size()));
  if (shared.no_tree) throw Error(*shared.no_tree).at(shared.output.path.string());
  if (request.max_level < 0) throw Error(Kind::usage, "levels of AMReX begin at 0").at(shared.output.path.string());
  const IndexBox& region = shared.regions[static_cast<std::size_t>(number)];
  const auto finest = std::min(static_cast<std::size_t>(request.max_level), shared.tree.index.size() - 1);
  const int deepest = shared.tree.index[finest];
  PatchRequest wanted{.fields = request.fields, .levels = finest + 1, .region = region};
  mesh::Part patches = read_patches(shared.output, wanted);
  patches.index = number;
  mesh::Part part;
  try {
    part = mesh::patches_to_octree(patches, shared.tree);
  } catch (Error& error) {
    throw error.at(shared.output.path.string());
  }
  truncate(part, deepest);
  if (request.particles)
    for (const ParticleFolder& folder : shared.output.particles)
      part.particles.push_back(read_species(shared, folder, region));
  return part;
}

/// The bytes of particles in grids that reach into the region.
std::uint64_t bytes_of_particles(const SharedOutput& shared, const IndexBox& region) {
  std::uint64_t bytes = 0;
  for (const ParticleFolder& folder : shared.output.particles)
    for (std::size_t level = 0; level < folder.grids.size(); ++level)
      for (std::size_t grid = 0; grid < folder.grids[level].size(); ++grid)
        if (mesh::intersection(grid_box(shared, folder, {level, grid}), region, shared.output.patches.dim))
          bytes += static_cast<std::uint64_t>(folder.grids[level][grid].count) * particle_bytes(folder);
  return bytes;
}

std::int64_t part_bytes(const SharedOutput& shared, int number) {
  const IndexBox& region = shared.regions.at(static_cast<std::size_t>(number));
  const mesh::Patches& patches = shared.output.patches;
  const auto ratios = total_ratios(patches);
  std::uint64_t bytes = 0;
  for (std::size_t level = 0; level < patches.boxes.size(); ++level)
    for (std::size_t i = 0; i < patches.boxes[level].size(); ++i)
      if (mesh::intersection(mesh::coarsened_box(patches.boxes[level][i], ratios[level], patches.dim), region,
                             patches.dim))
        for (const MultiFab& multifab : shared.output.multifabs[level])
          bytes += multifab.places[i].end - multifab.places[i].offset;
  return static_cast<std::int64_t>(bytes + bytes_of_particles(shared, region));
}

/// Cells of all levels that lie in the region.
std::int64_t cells_in(const mesh::Patches& patches, const IndexBox& region) {
  const auto ratios = total_ratios(patches);
  std::int64_t cells = 0;
  for (std::size_t level = 0; level < patches.boxes.size(); ++level) {
    std::int64_t finer = 1;  // cells of this level in one of level 0
    for (int axis = 0; axis < patches.dim; ++axis) finer *= ratios[level];
    for (const IndexBox& box : patches.boxes[level])
      if (const auto both =
              mesh::intersection(mesh::coarsened_box(box, ratios[level], patches.dim), region, patches.dim))
        cells += std::min(mesh::num_cells(box, patches.dim), mesh::num_cells(*both, patches.dim) * finer);
  }
  return cells;
}

/// A byte of mesh a cell; and each value twice, of the patches and of the tree that they become.
mesh::PartSizes part_sizes(const SharedOutput& shared, int number) {
  const IndexBox& region = shared.regions.at(static_cast<std::size_t>(number));
  mesh::PartSizes sizes;
  sizes.mesh = cells_in(shared.output.patches, region);
  for (const mesh::FieldInfo& field : shared.header.fields)
    sizes.fields += 2 * sizes.mesh * static_cast<std::int64_t>(mesh::size_of(field.type));
  sizes.particles = static_cast<std::int64_t>(bytes_of_particles(shared, region));
  return sizes;
}

mesh::PartCost cost(const SharedOutput& shared, const mesh::Dataset& dataset, int number,
                    const mesh::Request& request) {
  mesh::PartSizes sizes = part_sizes(shared, number);
  mesh::PartCost cost{sizes.mesh, part_bytes(shared, number), mesh::bytes_to_read(dataset, sizes, request)};
  if (!request.particles) cost.bytes -= sizes.particles;
  return cost;
}

/// Keeps the attributes that a copy needs for the same layout.
void keep_attributes(const AmrexOutput& output, mesh::Header& header) {
  keep_layout(output.patches, header.attributes);
  header.attributes["amrex/kind"] = std::string(output.family == OutputFamily::plotfile ? "plotfile" : "checkpoint");
  keep_form(output, header);
  if (output.family == OutputFamily::plotfile) return;
  std::vector<std::string> names;
  for (const FieldSource& source : output.sources)
    names.push_back(output.multifabs[0][source.multifab].prefix.filename().string());
  header.attributes["amrex/multifabs"] = std::move(names);
}

/// All of an output that its files told.
struct OutputFacts {
  std::string path;
  std::int64_t part_cells = 0, max_roots = 0;
  AmrexOutput output;
};
template <class Way>
void both(Way& way, OutputFacts& told) {
  using base::both;
  both(way, told.path, told.part_cells, told.max_roots, told.output);
}

mesh::Dataset dataset_of(const std::string& path, AmrexOutput output, const DatasetOptions& options) {
  const auto shared = std::make_shared<SharedOutput>();
  shared->output = std::move(output);
  shared->header = shared->output.header;
  keep_attributes(shared->output, shared->header);
  mesh::Dataset dataset;
  dataset.notes = shared->output.notes;
  plan_tree(*shared, options, dataset.notes);
  dataset.format = "amrex";
  dataset.path = path;
  dataset.header = shared->header;
  dataset.num_parts = static_cast<int>(shared->regions.size());
  dataset.bytes = shared->output.bytes;
  dataset.levels = count_levels(shared->output.patches);
  for (const ParticleFolder& folder : shared->output.particles) dataset.species.push_back(species_of(folder));
  dataset.parts_touching = [shared](const mesh::Region& region) { return parts_touching(*shared, region); };
  dataset.read = [shared](int part, const mesh::Request& request) { return read(*shared, part, request); };
  dataset.part_bytes = [shared](int part) { return part_bytes(*shared, part); };
  dataset.part_sizes = [shared](int part) { return part_sizes(*shared, part); };
  mesh::Dataset described;
  described.header = dataset.header;
  described.levels = dataset.levels;
  dataset.cost = [shared, described](int part, const mesh::Request& request) {
    return cost(*shared, described, part, request);
  };
  if (shared->output.family != OutputFamily::plotfile)
    dataset.carry = [shared](mesh::Header& header) { keep_files(shared->output, header); };
  dataset.describe = [shared, path, options] {
    return base::packed(OutputFacts{path, options.part_cells, options.max_roots, shared->output});
  };
  return dataset;
}

/// All levels are in one HDF5 file.
void open_once(AmrexOutput& output) {
  std::shared_ptr<const Hdf5Values> first;
  for (std::vector<MultiFab>& level : output.multifabs)
    for (MultiFab& multifab : level) {
      if (!multifab.hdf5) continue;
      if (!first) first = multifab.hdf5;
      multifab.hdf5 =
          std::make_shared<const Hdf5Values>(Hdf5Values{first->file, multifab.hdf5->sets, multifab.hdf5->first});
    }
}

}  // namespace

mesh::Dataset open(const std::filesystem::path& path, const DatasetOptions& options) {
  return dataset_of(path.string(), open_output(path, options.open), options);
}

mesh::Dataset understand(const std::string& description) {
  OutputFacts told = base::unpacked<OutputFacts>(description);
  told.output.index = mesh::index_levels(told.output.patches);
  open_once(told.output);
  return dataset_of(told.path, std::move(told.output), {{}, told.part_cells, told.max_roots});
}

}  // namespace octavo::formats::amrex
