#include <algorithm>
#include <cmath>
#include <memory>

#include "octavo/file/hdf5/pack.hpp"
#include "octavo/formats/flash/check.hpp"
#include "octavo/formats/flash/flash.hpp"
#include "octavo/formats/flash/foreign.hpp"
#include "octavo/formats/flash/particles.hpp"
#include "octavo/formats/flash/variables.hpp"
#include "octavo/mesh/clip.hpp"
#include "octavo/mesh/geometry.hpp"
#include "octavo/mesh/pack.hpp"
#include "octavo/mesh/tree/prune.hpp"

namespace octavo::formats::flash {

using base::Error;
using base::Kind;

template <class Way>
void both(Way& way, OpenedFlash& source) {
  both(way, source.file, source.sets, source.others, source.kind);
}

template <class Way>
void both(Way& way, FlashVariable& variable) {
  both(way, variable.info, variable.set, variable.right);
}

template <class Way>
void both(Way& way, ParticleTable& table) {
  both(way, table.species, table.first_row, table.per_block, table.damage);
}

namespace {

/// An open step. The functions of its Dataset share it. It does not change after opening.
struct OpenFlashStep {
  std::string path;  ///< by which it was opened
  std::int64_t bytes = 0;
  OpenedFlash source;
  mesh::Header header;
  CheckedTree checked;
  BreadthFirst tree;
  std::vector<FlashVariable> variables;
  ParticleTable particles;
  std::vector<std::int64_t> bounds;  ///< part p has the blocks of numbers [bounds[p], bounds[p + 1])
};

/// The trees are made again of the blocks.
template <class Way>
void both(Way& way, OpenFlashStep& step) {
  using base::both;
  both(way, step.path, step.bytes, step.source, step.header, step.checked.frame, step.checked.tree.blocks);
  both(way, step.checked.notes, step.variables, step.particles, step.bounds);
}

std::int64_t num_blocks(const OpenFlashStep& step) {
  return static_cast<std::int64_t>(step.checked.tree.blocks.size());
}

void fill_header(OpenFlashStep& step) {
  mesh::Header& header = step.header;
  const TreeFrame& frame = step.checked.frame;
  header.code = "FLASH";
  header.time = real(header.attributes, "real scalars/time").value_or(0);
  header.dim = frame.dim;
  header.roots = frame.roots;
  header.block = frame.block;
  header.level_origin = 1;
  header.lo = frame.lo;
  header.hi = frame.hi;
  header.periodic = frame.periodic;
  header.attributes["flash/kind"] = to_string(step.source.kind);
  for (const FlashVariable& variable : step.variables) header.fields.push_back(variable.info);
}

std::vector<std::int64_t> part_bounds(std::int64_t blocks, std::int64_t cells, const OpenOptions& options) {
  constexpr std::int64_t cells_a_part = std::int64_t{1} << 20;
  if (options.blocks_per_part < 0) throw Error(Kind::usage, "blocks_per_part is negative");
  const std::int64_t wanted =
      options.blocks_per_part > 0 ? options.blocks_per_part : std::max<std::int64_t>(1, cells_a_part / cells);
  const std::int64_t parts = (blocks + wanted - 1) / wanted;
  std::vector<std::int64_t> bounds;
  for (std::int64_t part = 0; part <= parts; ++part) bounds.push_back(blocks * part / parts);
  return bounds;
}

/// Refuses files of FLASH2, which has other lists, and values on corners, which have another shape.
void refuse_other_forms(const OpenFlashStep& step) {
  const OpenedFlash& source = step.source;
  const auto& attributes = step.header.attributes;
  const auto refuse = [&](const std::string& why) {
    throw Error(Kind::unsupported, why).at(source.file.path().string());
  };
  std::optional<std::int64_t> version = integer(attributes, "sim info/file format version");
  if (has(source, "file format version"))
    if (const auto found = read_items(source.file, set(source, "file format version")))
      if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&*found); numbers && numbers->size() == 1)
        version = (*numbers)[0];
  constexpr std::int64_t oldest = 8;
  if (version && *version < oldest)
    refuse("a file of FLASH2: expected file format version 8 or 9, found " + std::to_string(*version));
  if (!version && has(source, "simulation parameters") && !has(source, "integer scalars"))
    refuse("a file of FLASH2: expected the list \"integer scalars\", found \"simulation parameters\"");
  if (integer(attributes, "logical scalars/corners").value_or(0) > 0)
    refuse("its values stand on the corners of cells (the scalar \"corners\" is true)");
}

void open_mesh(OpenFlashStep& step, const OpenOptions& options) {
  auto& attributes = step.header.attributes;
  step.checked = read_tree(step.source, attributes);
  const CheckedTree& checked = step.checked;
  step.tree = breadth_first(checked.tree, checked.frame.block);
  std::vector<std::string> unknown_names;
  step.variables = find_variables(step.source, checked.frame, num_blocks(step), unknown_names);
  attributes["flash/unknown names"] = std::move(unknown_names);
  attributes["flash/metadata bytes"] = std::int64_t{checked.single ? 4 : 8};
  keep_tree_arrays(checked.arrays, checked.tree, checked.frame, checked.single, attributes);
  const mesh::Index3& block = checked.frame.block;
  step.bounds = part_bounds(num_blocks(step), block[0] * block[1] * block[2], options);
}

/// A particle file does not say where its blocks are.
void open_without_mesh(OpenFlashStep& step) {
  auto& attributes = step.header.attributes;
  TreeFrame& frame = step.checked.frame;
  frame.dim = static_cast<int>(
      std::clamp<std::int64_t>(integer(attributes, "integer scalars/dimensionality").value_or(3), 1, 3));
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(frame.dim); ++axis) {
    const std::string name = std::string("real runtime parameters/") + "xyz"[axis];
    const double lo = real(attributes, name + "min").value_or(0), hi = real(attributes, name + "max").value_or(1);
    if (!std::isfinite(lo) || !std::isfinite(hi) || !(hi > lo))
      throw error_in(step.source, "real runtime parameters", "the domain is empty along an axis");
    frame.lo[axis] = lo;
    frame.hi[axis] = hi;
  }
  const Block root{0, {0, 0, 0}, 0};
  step.checked.tree = make_block_tree(frame.dim, frame.roots, frame.periodic, std::span(&root, 1));
  step.tree = breadth_first(step.checked.tree, frame.block);
  step.bounds = {0, 1};
  step.checked.notes.push_back("a particle file has no mesh: its tree is one cell without fields");
}

void open_particles(OpenFlashStep& step) {
  const bool mesh = step.source.kind != FileKind::particles;
  step.particles = read_particle_table(step.source, mesh ? num_blocks(step) : 0);
  if (step.particles.damage)
    step.checked.notes.push_back(std::string("the particles cannot be read: ") + step.particles.damage->what());
  if (step.particles.per_block.empty()) return;
  std::vector<std::int64_t> counts = step.particles.per_block;
  if (mesh)
    for (std::size_t i = 0; i < counts.size(); ++i)
      counts[i] = step.particles.per_block[static_cast<std::size_t>(step.checked.tree.blocks[i].row)];
  step.header.attributes["flash/localnp"] = std::move(counts);
}

void note_geometry(OpenFlashStep& step) {
  if (std::string note = mesh::note_on_shape(step.header); !note.empty()) step.checked.notes.push_back(std::move(note));
}

/// Data sets that the reader has understood.
OwnSets own_sets(const OpenFlashStep& step) {
  OwnSets own;
  const bool nobody = !step.particles.damage && step.particles.species.attributes.empty();
  // If there are no particles, FLASH may have made empty data sets. Only keeping them brings them back.
  const auto is_particle_set = [](const std::string& name) {
    return name == "tracer particles" || name == "particle names" || name == "localnp";
  };
  for (const auto& [name, info] : step.source.sets)
    if (is_own(name) && !(nobody && is_particle_set(name))) own.insert(name);
  for (const FlashVariable& variable : step.variables) own.insert(variable.set);
  return own;
}

void open_foreign(OpenFlashStep& step) {
  std::vector<std::int64_t> rows;
  if (step.source.kind != FileKind::particles)
    for (const Block& block : step.checked.tree.blocks) rows.push_back(block.row);
  keep_foreign(step.source, own_sets(step), rows, step.header.attributes, step.checked.notes);
  std::vector<std::string> long_names;
  for (const FlashVariable& variable : step.variables)
    if (trimmed(variable.set).size() > 4 && !variable.right) long_names.push_back(trimmed(variable.set));
  if (!long_names.empty()) step.header.attributes["flash/long names"] = std::move(long_names);
}

std::shared_ptr<OpenFlashStep> open_step(const std::filesystem::path& path, const OpenOptions& options) {
  auto step = std::make_shared<OpenFlashStep>();
  step->path = path.string();
  step->source = open_source(path);
  step->bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
  read_lists(step->source, step->header.attributes);
  refuse_other_forms(*step);
  if (step->source.kind == FileKind::particles)
    open_without_mesh(*step);
  else
    open_mesh(*step, options);
  open_particles(*step);
  open_foreign(*step);
  fill_header(*step);
  note_geometry(*step);
  return step;
}

// ------------------------------------------------------------------------------------------------ parts

/// The tree of one part: its own blocks, and the blocks that close the tree.
mesh::Extract part_tree(const OpenFlashStep& step, int part, int deepest) {
  mesh::Octree tree = step.tree.tree;
  for (base::BitArray& owned : tree.owned) owned = base::BitArray(owned.size());
  const auto p = static_cast<std::size_t>(part);
  for (std::int64_t number = step.bounds[p]; number < step.bounds[p + 1]; ++number) {
    const auto block = static_cast<std::size_t>(number);
    tree.owned[static_cast<std::size_t>(step.checked.tree.blocks[block].level)].set(step.tree.cell[block]);
  }
  if (deepest + 1 < mesh::num_levels(tree)) tree = mesh::truncate(tree, deepest).tree;
  return mesh::prune(tree);
}

/// The file's row of each cell of the part, breadth first.
std::vector<std::int64_t> part_rows(const OpenFlashStep& step, const mesh::Extract& extract) {
  std::vector<std::int64_t> rows;
  for (std::size_t level = 0; level < extract.source.size(); ++level)
    for (std::uint32_t cell : extract.source[level])
      rows.push_back(step.checked.tree.blocks[static_cast<std::size_t>(step.tree.number[level][cell])].row);
  return rows;
}

std::vector<RowRun> particle_runs(const OpenFlashStep& step, int part) {
  const ParticleTable& table = step.particles;
  const auto p = static_cast<std::size_t>(part);
  // Without blocks, or without counts per block, all particles belong to the first part.
  if (table.first_row.empty() || step.source.kind == FileKind::particles)
    return {{0, part == 0 ? table.species.count : 0}};
  std::vector<RowRun> runs;
  for (std::int64_t number = step.bounds[p]; number < step.bounds[p + 1]; ++number) {
    const auto row = static_cast<std::size_t>(step.checked.tree.blocks[static_cast<std::size_t>(number)].row);
    const RowRun next{table.first_row[row], table.first_row[row + 1] - table.first_row[row]};
    if (!runs.empty() && runs.back().first + runs.back().count == next.first)
      runs.back().count += next.count;
    else
      runs.push_back(next);
  }
  return runs;
}

void check_part(const OpenFlashStep& step, int part) {
  if (part < 0 || part + 1 >= static_cast<int>(step.bounds.size()))
    throw Error(Kind::usage,
                "no part " + std::to_string(part) + ": there are " + std::to_string(step.bounds.size() - 1));
}

mesh::Part read_part(const OpenFlashStep& step, int part, const mesh::Request& request) {
  check_part(step, part);
  mesh::Part out;
  out.index = part;
  const std::int64_t deepest = std::int64_t{request.max_level} - step.header.level_origin;
  const auto levels = static_cast<std::int64_t>(step.tree.number.size());
  mesh::Extract extract = part_tree(step, part, static_cast<int>(std::clamp<std::int64_t>(deepest, -1, levels)));
  const std::vector<std::int64_t> rows = part_rows(step, extract);
  for (std::size_t field : mesh::select_fields(step.header, request.fields))
    out.fields.push_back(read_variable(step.source, step.variables[field], step.checked.frame, rows));
  out.mesh = std::move(extract.tree);
  if (request.particles && step.particles.damage) throw *step.particles.damage;
  if (request.particles && !step.particles.species.attributes.empty())
    out.particles.push_back(read_particles(step.source, step.particles, particle_runs(step, part)));
  return out;
}

// ------------------------------------------------------------------------------------------------ regions and sizes

bool touches(const OpenFlashStep& step, const mesh::Domain& domain, const mesh::Region& region, const Block& block) {
  const mesh::CellFrame frame = mesh::cell_frame(step.header, block.level);
  const mesh::Point3 lo = frame.corner(block.at);
  mesh::Point3 hi = lo;
  for (std::size_t axis = 0; axis < 3; ++axis) hi[axis] += frame.size[axis];
  return mesh::touches(region, domain, lo, hi);
}

/// Finds the parts with a leaf that touches the region. We look at leaves, because a leaf may belong to another part
/// than its parent.
std::vector<int> parts_touching(const OpenFlashStep& step, const mesh::Region& region) {
  const mesh::Domain domain = mesh::domain_of(step.header);
  std::vector<int> parts;
  for (std::size_t p = 0; p + 1 < step.bounds.size(); ++p) {
    bool found = false;
    for (std::int64_t number = step.bounds[p]; !found && number < step.bounds[p + 1]; ++number)
      found = touches(step, domain, region, step.checked.tree.blocks[static_cast<std::size_t>(number)]);
    if (found) parts.push_back(static_cast<int>(p));
  }
  return parts;
}

mesh::PartSizes part_sizes(const OpenFlashStep& step, int part) {
  check_part(step, part);
  const auto p = static_cast<std::size_t>(part);
  const std::int64_t blocks = step.bounds[p + 1] - step.bounds[p];
  std::int64_t bytes_a_block = 0;
  for (const FlashVariable& variable : step.variables)
    bytes_a_block +=
        static_cast<std::int64_t>(values_a_block(variable, step.checked.frame) * mesh::size_of(variable.info.type));
  mesh::PartSizes sizes{blocks * static_cast<std::int64_t>(sizeof(Block)), blocks * bytes_a_block, 0};
  const auto columns = static_cast<std::int64_t>(step.particles.species.attributes.size());
  for (const RowRun& run : particle_runs(step, part)) sizes.particles += run.count * columns * 8;
  return sizes;
}

std::int64_t part_bytes(const OpenFlashStep& step, int part) {
  const mesh::PartSizes sizes = part_sizes(step, part);
  return sizes.fields + sizes.particles;
}

mesh::PartCost cost(const OpenFlashStep& step, int part, const mesh::Request& request) {
  const mesh::PartSizes sizes = part_sizes(step, part);
  const auto p = static_cast<std::size_t>(part);
  const std::int64_t blocks = step.bounds[p + 1] - step.bounds[p];
  std::int64_t values = 0;
  for (const std::size_t f : mesh::select_fields(step.header, request.fields)) {
    const FlashVariable& variable = step.variables[f];
    values +=
        static_cast<std::int64_t>(values_a_block(variable, step.checked.frame) * mesh::size_of(variable.info.type));
  }
  const std::int64_t particles = request.particles ? sizes.particles : 0;
  mesh::PartCost cost{blocks, blocks * values + particles, sizes.mesh + blocks * values + particles};
  for (const std::int64_t cells : step.header.block) cost.leaves *= cells;
  return cost;
}

std::vector<mesh::LevelCount> level_counts(const OpenFlashStep& step) {
  std::vector<mesh::LevelCount> counts;
  for (int level = 0; level < mesh::num_levels(step.tree.tree); ++level)
    counts.push_back({mesh::code_level(step.header, level),
                      static_cast<std::int64_t>(mesh::num_owned(step.tree.tree, level)),
                      static_cast<std::int64_t>(mesh::num_owned_leaves(step.tree.tree, level))});
  return counts;
}

mesh::Dataset dataset_of(const std::shared_ptr<const OpenFlashStep>& step) {
  mesh::Dataset dataset;
  dataset.format = "flash";
  dataset.path = step->path;
  dataset.header = step->header;
  dataset.num_parts = static_cast<int>(step->bounds.size() - 1);
  dataset.bytes = step->bytes;
  dataset.levels = level_counts(*step);
  if (!step->particles.species.attributes.empty()) dataset.species.push_back(step->particles.species);
  dataset.notes = step->checked.notes;
  dataset.parts_touching = [step](const mesh::Region& region) { return parts_touching(*step, region); };
  dataset.read = [step](int part, const mesh::Request& request) { return read_part(*step, part, request); };
  dataset.part_bytes = [step](int part) { return part_bytes(*step, part); };
  dataset.part_sizes = [step](int part) { return part_sizes(*step, part); };
  dataset.cost = [step](int part, const mesh::Request& request) { return cost(*step, part, request); };
  dataset.describe = [step] { return base::packed(*step); };
  return dataset;
}

}  // namespace

mesh::Dataset open_flash(const std::filesystem::path& path, const OpenOptions& options) {
  return dataset_of(open_step(path, options));
}

mesh::Dataset understand(const std::string& description) {
  auto step = std::make_shared<OpenFlashStep>(base::unpacked<OpenFlashStep>(description));
  const TreeFrame& frame = step->checked.frame;
  std::vector<Block> rows(step->checked.tree.blocks.size());
  for (const Block& block : step->checked.tree.blocks) rows.at(static_cast<std::size_t>(block.row)) = block;
  step->checked.tree = make_block_tree(frame.dim, frame.roots, frame.periodic, rows);
  step->tree = breadth_first(step->checked.tree, frame.block);
  return dataset_of(step);
}

mesh::Dataset open(const std::filesystem::path& path) { return open_flash(path); }

}  // namespace octavo::formats::flash
