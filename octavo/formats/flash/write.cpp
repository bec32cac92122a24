#include <algorithm>
#include <array>
#include <cstring>

#include "octavo/file/posix.hpp"
#include "octavo/formats/flash/flash.hpp"
#include "octavo/formats/flash/foreign.hpp"
#include "octavo/formats/flash/layout.hpp"
#include "octavo/formats/flash/particles.hpp"
#include "octavo/formats/flash/write_parts.hpp"
#include "octavo/mesh/tree/merge.hpp"

namespace octavo::formats::flash {

using base::Error;
using base::Kind;
using file::hdf5::ItemType;

namespace {

std::vector<std::int64_t> root_order(const Attributes& attributes) {
  const auto found = attributes.find("flash/root order");
  if (found == attributes.end()) return {};
  const auto* order = std::get_if<std::vector<std::int64_t>>(&found->second);
  return order == nullptr ? std::vector<std::int64_t>{} : *order;
}

FileKind kind_of(const mesh::Header& header, const WriteOptions& options) {
  if (!options.kind.empty()) try {
      return file_kind(options.kind);
    } catch (const Error& error) {
      throw Error(Kind::usage, error.message());
    }
  return file_kind(text(header.attributes, "flash/kind").value_or("checkpoint"));
}

void plan_species(const std::vector<mesh::SpeciesInfo>& all, OutputPlan& plan, FlashReport& report) {
  if (plan.kind == FileKind::plotfile) return;
  for (const mesh::SpeciesInfo& species : all) {
    if (!plan.species.empty() || species.attributes.empty()) {
      report.notes.push_back("species \"" + species.name + "\" is not written: FLASH has one list of particles");
      continue;
    }
    plan.species = species.name;
    for (const mesh::FieldInfo& info : species.attributes) plan.columns.push_back(info.name);
  }
  if (plan.species.empty()) return;
  const auto has = [&](const std::string& name) {
    return std::find(plan.columns.begin(), plan.columns.end(), name) != plan.columns.end();
  };
  // FLASH's particles have three positions and velocities in any dimension, and yt reads all of them.
  const bool moving = has("velocity_x") || has("velx");
  for (auto axis = static_cast<std::size_t>(plan.frame.dim); axis < 3; ++axis) {
    const std::string along = std::string("_") + "xyz"[axis], short_name = std::string("vel") + "xyz"[axis];
    if (!has("position" + along)) plan.added.push_back("position" + along);
    if (moving && !has("velocity" + along) && !has(short_name)) plan.added.push_back(short_name);
  }
  for (const char* name : {"blk", "proc"})
    if (!has(name)) plan.added.emplace_back(name);
  // An id becomes the tag if it identifies a particle without a cpu.
  for (const char* name : {"tag", "identity", "id"})
    if (plan.tag.empty() && has(name) && (std::string(name) != "id" || !has("cpu"))) plan.tag = name;
  if (!plan.tag.empty()) return;
  plan.added.emplace_back("tag");
  report.notes.emplace_back("the particles have no tag: they are numbered from 1");
}

constexpr std::array<const char*, 3> axis_names{"x", "y", "z"};

/// Scalars and lists that Flash-X needs for a restart. Given a time step of 0, it starts with its smallest step, which
/// then grows.
void add_restart_defaults(Attributes& lists, bool particles) {
  set_default(lists, "logical runtime parameters", "restart", std::int64_t{0});
  // The number of particles for which a process of the earlier run had room. A restarted run uses its own limit.
  if (particles) set_default(lists, "integer runtime parameters", "pt_maxperproc", std::int64_t{1000});
  for (const char* name : {"splitnumblocks", "splitnumparticles", "globalnumparticles", "checkpointfilenumber",
                           "plotfilenumber", "forcedplotfilenumber"})
    set_default(lists, "integer scalars", name, std::int64_t{0});
  const std::int64_t step = std::max(integer(lists, "step").value_or(1), std::int64_t{1});  // FLASH counts from 1
  for (const char* name : {"nstep", "nbegin"}) set_default(lists, "integer scalars", name, step);
  for (const char* name : {"iprocs", "jprocs", "kprocs"}) set_default(lists, "integer scalars", name, std::int64_t{1});
  for (const char* name : {"dt", "dtold", "dtnew", "dtsts", "redshift", "redshiftold", "nextcheckpointtime",
                           "nextcheckpointz", "nextplotfiletime", "nextplotfilez"})
    set_default(lists, "real scalars", name, 0.0);
}

/// Adds entries that FLASH, yt and VTK look up, if the step does not come from FLASH.
void add_defaults(const mesh::Header& header, OutputPlan& plan) {
  Attributes& lists = plan.attributes;
  constexpr const char* parameters = " runtime parameters";
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string name = axis_names[axis];
    set_default(lists, std::string("real") + parameters, name + "min", plan.frame.lo[axis]);
    set_default(lists, std::string("real") + parameters, name + "max", plan.frame.hi[axis]);
    set_default(lists, std::string("integer") + parameters, "nblock" + name, plan.frame.roots[axis]);
    const std::string kind = header.periodic[axis] ? "periodic" : "outflow";
    for (const char* side : {"l", "r"})
      set_default(lists, std::string("string") + parameters, name + side + "_boundary_type", kind);
  }
  int deepest = 0;
  for (const Block& block : plan.tree.blocks) deepest = std::max(deepest, block.level + 1);
  set_default(lists, std::string("integer") + parameters, "lrefine_max", std::int64_t{deepest});
  set_default(lists, std::string("integer") + parameters, "lrefine_min", std::int64_t{1});
  set_default(lists, std::string("string") + parameters, "geometry", std::string("cartesian"));
  set_default(lists, "string scalars", "geometry", std::string("cartesian"));
  set_default(lists, "logical scalars", "corners", std::int64_t{0});
  // A file that FLASH wrote has all entries that its version needs, and a copy must stay the same.
  const auto known = lists.lower_bound("sim info/");
  const bool complete = known != lists.end() && known->first.starts_with("sim info/");
  // Its lists may have been removed.
  if (!complete || !lists.contains("logical runtime parameters")) add_restart_defaults(lists, !plan.species.empty());
}

void set_scalars(const mesh::Header& header, OutputPlan& plan) {
  Attributes& lists = plan.attributes;
  if (plan.kind != FileKind::particles || text(header.attributes, "flash/kind") != "particles") {
    const std::array<const char*, 3> names{"nxb", "nyb", "nzb"};
    for (std::size_t axis = 0; axis < 3; ++axis)
      set_value(lists, "integer scalars", names[axis], plan.frame.block[axis]);
    set_value(lists, "integer scalars", "globalnumblocks", static_cast<std::int64_t>(plan.tree.blocks.size()));
  }
  set_value(lists, "integer scalars", "dimensionality", std::int64_t{plan.frame.dim});
  set_value(lists, "real scalars", "time", header.time);
}

}  // namespace

TreeFrame frame_of(const mesh::Header& header, const mesh::Octree& tree) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tree.dim); ++axis)
    if (tree.block[axis] == 1 && mesh::num_levels(tree) > 1)
      throw Error(Kind::unsupported, "the tree is one of single cells: FLASH has blocks").hint("fold it into blocks");
  return {tree.dim, tree.block, tree.roots, header.lo, header.hi, header.periodic};
}

OutputPlan plan_output(const mesh::Header& header, const std::vector<mesh::SpeciesInfo>& species,
                       const TreeFrame& frame, BlockTree tree, const WriteOptions& options, FlashReport& report) {
  OutputPlan plan;
  plan.kind = kind_of(header, options);
  plan.frame = frame;
  plan.tree = std::move(tree);
  if (plan.kind != FileKind::particles) plan.variables = plan_variables(header, options);
  plan.single_positions = options.single_precision || integer(header.attributes, "flash/metadata bytes") == 4;
  plan.attributes = header.attributes;
  plan_species(species, plan, report);
  add_defaults(header, plan);
  set_scalars(header, plan);
  const bool single = std::any_of(plan.variables.begin(), plan.variables.end(), [](const OutputVariable& variable) {
    return variable.type == mesh::ScalarType::float32;
  });
  set_default(plan.attributes, "logical scalars", "double_precision", std::int64_t{single ? 0 : 1});
  if (options.single_precision) set_value(plan.attributes, "logical scalars", "double_precision", std::int64_t{0});
  return plan;
}

std::vector<TreeSet> tree_sets(const OutputPlan& plan, const TreeArrays& arrays) {
  const int dim = plan.frame.dim;
  const std::uint64_t n = plan.tree.blocks.size(), k2 = dim > 1 ? 3 : 1, k3 = dim > 2 ? 3 : 1;
  const ItemType type = plan.single_positions ? file::hdf5::float32_type : file::hdf5::float64_type;
  const ItemType integer = file::hdf5::int32_type;
  return {{"refine level", integer, {n}, &arrays.refine_level},
          {"node type", integer, {n}, &arrays.node_type},
          {"which child", integer, {n}, &arrays.which_child},
          {"processor number", integer, {n}, &arrays.processor},
          {"bflags", integer, {n, 1}, &arrays.bflags},
          {"gid", integer, {n, gid_width(dim)}, &arrays.gid},
          {"gsurr_blks", integer, {n, k3, k2, 3, 2}, &arrays.gsurr_blks},
          {"coordinates", type, {n, 3}, nullptr, &arrays.coordinates},
          {"block size", type, {n, 3}, nullptr, &arrays.block_size},
          {"bounding box", type, {n, 3, 2}, nullptr, &arrays.bounding_box}};
}

namespace {

OutputPlan plan_output(const mesh::Dataset& dataset, const WriteOptions& options, FlashReport& report) {
  const mesh::Octree tree = mesh::whole_tree(dataset, 0);
  const mesh::Header& header = dataset.header;
  return plan_output(header, dataset.species, frame_of(header, tree),
                     make_block_tree(tree, header.periodic, root_order(header.attributes)), options, report);
}

}  // namespace

void write_unknown_names(const file::hdf5::File& file, const OutputPlan& plan) {
  std::vector<std::string> names;
  for (const OutputVariable& variable : plan.variables)
    if (variable.listed) names.push_back(variable.set);
  const std::vector<std::uint64_t> shape{names.size(), 1};
  if (!names.empty()) file::hdf5::write_text(file, "unknown names", 4, names, shape);
}

namespace {

/// Writes lists and particles, and for a mesh everything but the values of variables. Returns the offsets of these
/// values.
Offsets begin_file(const mesh::Dataset& dataset, const std::filesystem::path& path, OutputPlan& plan,
                   FlashReport& report) {
  const bool has_mesh = plan.kind != FileKind::particles;
  const TreeArrays arrays = restore_tree_arrays(plan.tree, plan.frame, plan.single_positions, plan.attributes);
  BlockParticles rows;
  if (!plan.species.empty()) {
    rows = collect_particles(dataset, plan, arrays.processor);
    set_value(plan.attributes, "integer scalars", "globalnumparticles", rows.rows);
  }
  report.blocks = has_mesh ? static_cast<std::int64_t>(plan.tree.blocks.size()) : 0;
  report.particles = rows.rows;
  report.outside = rows.outside;
  if (!has_mesh) {
    file::hdf5::File file = file::hdf5::create(path);
    write_lists(file, plan.attributes);
    if (!plan.species.empty()) write_particles(file, plan, rows);
    write_foreign(file, rows.per_block.size(), plan.attributes);
    file.close();
    return {};
  }
  Offsets offsets = lay_out(path, plan, static_cast<std::uint64_t>(rows.rows));
  write_tree_values(path, offsets, plan, arrays, rows.per_block);
  if (rows.rows != 0)
    file::pwrite_all(file::open_write(path), offsets.at("tracer particles"), std::as_bytes(std::span(rows.values)));
  return offsets;
}

/// Gives all ranks the offsets of the first. Collective.
Offsets shared(const base::Ranks& ranks, const Offsets& mine) {
  std::string text;
  for (const auto& [set, offset] : mine) text += set + '\n' + std::to_string(offset) + '\n';
  const std::string first = base::all_gather(ranks, text)[0];
  Offsets offsets;
  for (std::size_t at = 0; at < first.size();) {
    const std::size_t end = first.find('\n', at), last = first.find('\n', end + 1);
    offsets[first.substr(at, end - at)] = std::stoull(first.substr(end + 1, last - end - 1));
    at = last + 1;
  }
  return offsets;
}

/// Collective. The ranges of all ranks together.
void join(const base::Ranks& ranks, std::vector<LeafRange>& ranges) {
  const std::string mine(reinterpret_cast<const char*>(ranges.data()), ranges.size() * sizeof(LeafRange));
  for (const std::string& other : base::all_gather(ranks, mine))
    for (std::size_t v = 0; v < ranges.size(); ++v) {
      LeafRange range;
      std::memcpy(&range, other.data() + v * sizeof(LeafRange), sizeof(LeafRange));
      ranges[v] = {std::min(ranges[v].min, range.min), std::max(ranges[v].max, range.max)};
    }
}

/// Removes the file unless it was finished.
struct Unfinished {
  std::filesystem::path path;
  bool finished = false;
  ~Unfinished() {
    std::error_code ignored;
    if (!finished && !path.empty()) std::filesystem::remove(path, ignored);
  }
};

std::filesystem::path directory_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

FlashReport write_flash(const mesh::Dataset& dataset, const std::filesystem::path& path, const WriteOptions& options) {
  const bool first = options.ranks.rank == 0;
  std::filesystem::path partial = path;
  partial += ".partial";
  FlashReport report;
  OutputPlan plan;
  Offsets offsets;
  Unfinished unfinished;
  base::agree(options.ranks, [&] {
    plan = plan_output(dataset, options, report);
    if (!first) return;
    for (const std::filesystem::path& there : {path, partial})
      if (std::filesystem::exists(std::filesystem::symlink_status(there)))
        throw Error(Kind::usage, "exists already").at(there.string());
    unfinished.path = partial;
    offsets = begin_file(dataset, partial, plan, report);
  });
  offsets = shared(options.ranks, offsets);
  std::vector<LeafRange> ranges;
  base::agree(options.ranks, [&] {
    if (plan.kind != FileKind::particles)
      ranges = write_variables(partial, offsets, dataset, plan, options.threads, options.ranks);
  });
  join(options.ranks, ranges);
  base::agree(options.ranks, [&] {
    if (!first) return;
    if (!ranges.empty()) attach_ranges(partial, plan, ranges);
    file::sync(file::open_write(partial));
    file::rename(partial, path);
    file::sync_directory(directory_of(path));
    unfinished.finished = true;
  });
  return report;
}

}  // namespace octavo::formats::flash
