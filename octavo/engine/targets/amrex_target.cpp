#include "octavo/engine/targets/amrex_target.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/base/pack.hpp"
#include "octavo/engine/step/all_patches.hpp"
#include "octavo/engine/step/step_puts.hpp"
#include "octavo/engine/targets/output_target.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/amrex/layout.hpp"
#include "octavo/formats/amrex/row.hpp"
#include "octavo/formats/amrex/writer.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/patches/octree_to_patches.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/route.hpp"

/// An AMReX output, written by all ranks. Every rank learns the boxes of all, lays the same data files out, and writes
/// its own boxes at their places; rank 0 then writes the headers. The file "Header" comes last, and the output gets its
/// name after it.
namespace octavo::engine {
namespace {

namespace amrex = formats::amrex;
namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using mesh::ScalarType;

// A species of all ranks: its particles sorted by destination, and the facts that all ranks agreed on.
struct Species {
  amrex::SortedParticles sorted;
  amrex::ParticlePlan plan;
};

// The text of this rank's rows in one level's table of minima and maxima.
struct Rows {
  std::string minima, maxima;
};
template <class Way>
void both(Way& way, Rows& rows) {
  both(way, rows.minima);
  both(way, rows.maxima);
}

struct AmrexStep {
  MPI_Comm comm = MPI_COMM_NULL;
  StepJob* job = nullptr;
  const AmrexTarget* target = nullptr;
  fs::path partial;
  mesh::Header header;
  mesh::Patches laid;              ///< boxes of all ranks as the data files have them: rank after rank on each level
  std::vector<std::size_t> first;  ///< per level, which of them is this rank's first
  mesh::Patches all;               ///< the same boxes as the headers list them
  std::vector<std::vector<std::size_t>> order;  ///< per level, for each box of `all` its number in `laid`
  mesh::Patches mine;
  mesh::PatchOptions cut;  ///< where a tree was put
  std::vector<amrex::MultiFabPlan> levels;
  std::vector<Species> species;
  std::vector<Rows> rows;
  bool syncs() const { return target->options.sync; }
};

bool is_checkpoint(const AmrexTarget& target) { return target.kind == AmrexKind::checkpoint; }
std::string multifab_of(const AmrexTarget& target) {
  return is_checkpoint(target) ? target.multifab : std::string(amrex::plotfile_multifab);
}
amrex::WriteOptions write_options(const AmrexStep& step) { return {step.target->files, step.syncs()}; }

// ------------------------------------------------------------------ laid out

void learn_patches(AmrexStep& step) {
  const int rank = ranks::rank_in(step.comm);
  const bool any = has_part(*step.job);
  const auto all = gather_patches(step.comm, any ? &step.mine : nullptr);
  step.laid = patches_of_others(all, -1);
  step.first.assign(step.laid.boxes.size(), 0);
  for (int r = 0; r < rank; ++r)
    for (std::size_t level = 0; level < all[static_cast<std::size_t>(r)].boxes.size(); ++level)
      step.first[level] += all[static_cast<std::size_t>(r)].boxes[level].size();
  if (!any) step.mine = {step.laid.dim, step.laid.domain, step.laid.ratio, {}};
  step.mine.boxes.resize(step.laid.boxes.size());
}

// For each box of a list its number among the boxes of a level; nothing if these are others.
std::optional<std::vector<std::size_t>> places_of(const std::vector<mesh::IndexBox>& listed,
                                                  const std::vector<mesh::IndexBox>& boxes) {
  std::map<mesh::Index3, std::size_t> places;
  for (std::size_t i = 0; i < boxes.size(); ++i) places.emplace(boxes[i].lo, i);
  std::vector<std::size_t> order;
  for (const mesh::IndexBox& box : listed) {
    const auto place = places.find(box.lo);
    if (place == places.end() || boxes[place->second] != box) return {};
    order.push_back(place->second);
    places.erase(place);
  }
  return places.empty() ? std::optional(std::move(order)) : std::nullopt;
}

// The headers list the boxes of a level as the attribute "patches/boxes" does, if it has just these boxes; else rank
// after rank.
void order_boxes(AmrexStep& step) {
  const auto listed = amrex::listed_boxes(step.header, step.laid.dim, step.laid.boxes.size());
  step.all = step.laid;
  for (std::size_t level = 0; level < step.laid.boxes.size(); ++level) {
    auto order = listed.empty() ? std::nullopt : places_of(listed[level], step.laid.boxes[level]);
    if (order) step.all.boxes[level] = listed[level];
    auto& places =
        step.order.emplace_back(order ? std::move(*order) : std::vector<std::size_t>(step.laid.boxes[level].size()));
    if (!order) std::iota(places.begin(), places.end(), std::size_t{0});
  }
}

void cut_tree(AmrexStep& step) {
  if (step.job->tree) step.mine = plan_patches(*step.job->tree, step.cut).patches;
}

// Each rank's own boxes were checked when they were put.
void refuse_shared_cells(const mesh::Patches& all) try { mesh::validate(all); } catch (const Error& error) {
  Error wrong(Kind::usage, "boxes of all ranks: " + error.message());
  for (const std::string& place : error.places()) wrong.at(place);
  throw wrong;
}

void plan_levels(AmrexStep& step) {
  if (step.laid.boxes.empty()) throw Error(Kind::usage, "no rank has a mesh");
  refuse_shared_cells(step.laid);
  order_boxes(step);
  amrex::MultiFabShape shape;
  shape.components = static_cast<int>(step.job->fields.size());
  if (shape.components == 0) throw Error(Kind::usage, "an output needs a field");
  shape.type = ScalarType::float32;
  for (const StepArray& source : step.job->fields) {
    amrex::check_info(source.info);
    if (source.info.type == ScalarType::float64) shape.type = ScalarType::float64;
  }
  for (const auto& boxes : step.laid.boxes) {
    shape.boxes = {boxes, {0, 0, 0}, step.laid.dim};
    step.levels.push_back(plan_multifab(shape, step.target->files));
  }
}

std::vector<std::int64_t> flat_counts(const amrex::ParticleGrids& grids) {
  std::vector<std::int64_t> counts;
  for (const auto& level : grids)
    for (const auto& grid : level) counts.push_back(static_cast<std::int64_t>(grid.size()));
  return counts;
}

std::vector<std::vector<std::int64_t>> by_level(const std::vector<std::int64_t>& flat,
                                                const amrex::ParticleGrids& grids) {
  std::vector<std::vector<std::int64_t>> out;
  auto at = flat.begin();
  for (const auto& level : grids) {
    const auto end = at + static_cast<std::ptrdiff_t>(level.size());
    out.emplace_back(at, end);
    at = end;
  }
  return out;
}

// Collective. Particles of several ranks may lie in one box. There each rank's particles follow those of lower ranks.
void plan_species(AmrexStep& step, const SpeciesSource& source) {
  Species species;
  ranks::agree(step.comm,
               [&] { species.sorted = amrex::sort_particles(particles_of(*step.job, source), step.header, step.all); });
  std::vector<std::int64_t> counts = flat_counts(species.sorted.grids), before(counts.size());
  ranks::agree(step.comm, [&] {
    if (counts.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw Error(Kind::unsupported, "more than 2^31 boxes");
  });
  const int n = static_cast<int>(counts.size());
  // A rank's particles begin in a box behind those of all lower ranks, so every rank knows its place in the file.
  MPI_Exscan(counts.data(), before.data(), n, MPI_INT64_T, MPI_SUM, step.comm);
  if (ranks::rank_in(step.comm) == 0) before.assign(counts.size(), 0);
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), n, MPI_INT64_T, MPI_SUM, step.comm);
  species.plan.counts = by_level(counts, species.sorted.grids);
  species.plan.before = by_level(before, species.sorted.grids);
  for (std::int64_t count : counts) species.plan.total += count;
  std::array<std::int64_t, 2> most{
      std::max(species.sorted.next_id, amrex::kept_next_id(step.header, source.species).value_or(1)),
      species.sorted.wide ? 1 : 0};
  MPI_Allreduce(MPI_IN_PLACE, most.data(), 2, MPI_INT64_T, MPI_MAX, step.comm);
  species.plan.next_id = most[0];
  species.plan.writer = ranks::rank_in(step.comm);
  species.plan.packed = most[1] != 0 || is_checkpoint(*step.target);
  step.species.push_back(std::move(species));
}

void make_folders(const AmrexStep& step) {
  for (std::size_t level = 0; level < step.levels.size(); ++level) {
    amrex::make_directories(step.partial / amrex::level_name(level), step.syncs());
    for (const SpeciesSource& species : step.job->species)
      amrex::make_directories(step.partial / species.species / amrex::level_name(level), step.syncs());
  }
}

// ------------------------------------------------------------------ written

// The values of all fields on this rank's boxes, box after box.
struct BoxValues {
  std::vector<std::vector<std::byte>> memory;  // of fields that are neither staged nor packed
  std::vector<amrex::ComponentValues> fields;
};

BoxValues values_on_boxes(const StepJob& job, const mesh::PatchOptions& cut) {
  std::optional<mesh::TreePatches> moved;
  if (job.tree) moved = plan_patches(*job.tree, cut);
  BoxValues out;
  for (const StepArray& source : job.fields) {
    std::vector<std::byte>& memory = out.memory.emplace_back();
    std::span<const std::byte> values = packed_values(job, source, memory);
    if (moved) values = memory = values_on(*moved, values, mesh::size_of(source.info.type));
    out.fields.push_back({source.info.type, values});
  }
  return out;
}

// The part of all values that lies on one level.
std::vector<amrex::ComponentValues> components_of(const BoxValues& values, std::size_t first, std::size_t cells) {
  std::vector<amrex::ComponentValues> components;
  for (const amrex::ComponentValues& field : values.fields) {
    const std::size_t width = mesh::size_of(field.type);
    components.push_back({field.type, field.bytes.subspan(first * width, cells * width)});
  }
  return components;
}

void write_levels(AmrexStep& step, const BoxValues& values) {
  std::size_t first = 0;
  for (std::size_t level = 0; level < step.levels.size(); ++level) {
    std::size_t cells = 0;
    for (const mesh::IndexBox& box : step.mine.boxes[level])
      cells += static_cast<std::size_t>(num_cells(box, step.mine.dim));
    amrex::MinMax min_max;
    const std::size_t begin = step.first[level], end = begin + step.mine.boxes[level].size();
    write_boxes(step.partial / amrex::level_name(level) / multifab_of(*step.target), step.levels[level],
                components_of(values, first, cells), begin, end, min_max, write_options(step));
    const int columns = step.levels[level].shape.components;
    step.rows.push_back({amrex::table_rows(min_max.minima, columns), amrex::table_rows(min_max.maxima, columns)});
    first += cells;
  }
}

void write_mine(AmrexStep& step) {
  const StepJob& job = *step.job;
  for (std::size_t s = 0; s < job.species.size(); ++s)
    write_particle_data(step.partial / job.species[s].species, particles_of(job, job.species[s]),
                        step.species[s].sorted, step.species[s].plan, step.header.dim, write_options(step));
  if (has_part(job))
    write_levels(step, values_on_boxes(job, step.cut));
  else
    step.rows.resize(step.levels.size());
}

// ------------------------------------------------------------------ finished

std::vector<std::string> names_of(const AmrexStep& step) {
  std::vector<std::string> names;
  for (const StepArray& source : step.job->fields) names.push_back(source.info.name);
  return names;
}

std::string header_of(const AmrexStep& step) {
  if (is_checkpoint(*step.target)) return amrex::checkpoint_header(step.target->title, step.header, step.all);
  return amrex::plotfile_header(step.header, names_of(step), step.all);
}

void sync_folders(const fs::path& path) {
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_directory()) file::sync_directory(entry.path());
  file::sync_directory(path);
}

// The lines of a table, one a box.
std::string in_order(const std::string& rows, const std::vector<std::size_t>& order) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0, end = 0; (end = rows.find('\n', at)) != std::string::npos; at = end + 1)
    lines.push_back(std::string_view(rows).substr(at, end + 1 - at));
  std::string text;
  for (const std::size_t i : order) text.append(lines.at(i));
  return text;
}

// The places in the data files stay; the header lists them in another order.
amrex::MultiFabPlan in_order(const amrex::MultiFabPlan& plan, const std::vector<std::size_t>& order) {
  amrex::MultiFabPlan out;
  out.shape = plan.shape;
  for (std::size_t i = 0; i < order.size(); ++i) {
    out.shape.boxes.boxes[i] = plan.shape.boxes.boxes[order[i]];
    out.places.push_back(plan.places[order[i]]);
  }
  return out;
}

// Collective. Joins the rows of all ranks, one after another, on rank 0: all levels in one exchange.
void gather_rows(AmrexStep& step) {
  std::vector<std::byte> all;
  const std::string mine = base::packed(step.rows);
  ranks::to_root<char>(step.comm, mine, [&](std::int64_t, std::span<const char> some) {
    const auto bytes = std::as_bytes(some);
    all.insert(all.end(), bytes.begin(), bytes.end());
  });
  step.rows.assign(step.levels.size(), {});
  for (base::Get get{all}; !get.bytes.empty();) {
    std::vector<Rows> some;
    both(get, some);
    for (std::size_t level = 0; level < step.rows.size(); ++level) {
      step.rows[level].minima += some[level].minima;
      step.rows[level].maxima += some[level].maxima;
    }
  }
}

mesh::Particles without_values(const SpeciesSource& species) {
  mesh::Particles particles{species.species, 0, {}};
  for (const StepArray& source : species.attributes) particles.attributes.push_back({source.info, {}});
  return particles;
}

void seal(AmrexStep& step) {
  const std::string name = multifab_of(*step.target);
  for (std::size_t level = 0; level < step.rows.size(); ++level) {
    const fs::path prefix = step.partial / amrex::level_name(level) / name;
    const std::vector<std::size_t>& order = step.order[level];
    const Rows& rows = step.rows[level];
    amrex::write_text(prefix.string() + "_H",
                      header_text(prefix, in_order(step.levels[level], order), in_order(rows.minima, order),
                                  in_order(rows.maxima, order)),
                      step.syncs());
  }
  for (std::size_t s = 0; s < step.species.size(); ++s) {
    const mesh::Particles particles = without_values(step.job->species[s]);
    write_particle_headers(step.partial / particles.species, particles, step.species[s].plan, step.header, step.all,
                           write_options(step));
  }
  if (is_checkpoint(*step.target)) {
    const amrex::NamedComponents names{name, names_of(step)};
    write_component_names(step.partial, std::span(&names, 1), step.syncs());
    amrex::write_step_file(step.partial, step.header, step.all, step.syncs());
  }
  amrex::write_text(step.partial / "Header", header_of(step), step.syncs());
  if (step.syncs()) sync_folders(step.partial);
}

// Collective.
StepWork start(MPI_Comm comm, const AmrexTarget& target, const std::shared_ptr<StepJob>& shared,
               const fs::path& partial) {
  StepJob& job = *shared;
  const auto step = std::make_shared<AmrexStep>();
  step->comm = comm;
  step->job = &job;
  step->target = &target;
  step->partial = partial;
  step->header = job.header;
  step->cut.unfolded = job.header.unfolded;
  step->cut.max_box = target.max_box;
  // All ranks have the levels of the deepest tree.
  step->cut.levels = job.tree ? num_levels(*job.tree) : 0;
  MPI_Allreduce(MPI_IN_PLACE, &step->cut.levels, 1, MPI_INT, MPI_MAX, comm);
  if (job.patches) step->mine = job.patches->mine;
  if (step->cut.levels > 0) ranks::agree(comm, [&] { cut_tree(*step); });
  learn_patches(*step);
  ranks::agree(comm, [&] {
    plan_levels(*step);
    if (is_checkpoint(target)) amrex::level_dt(step->header, step->levels.size());
    if (ranks::rank_in(comm) == 0) make_folders(*step);
  });
  for (const SpeciesSource& species : job.species) plan_species(*step, species);
  StepWork work;
  work.write = [step](Writing&) { write_mine(*step); };
  work.gather = [step] { gather_rows(*step); };
  work.seal = [step] { seal(*step); };
  return work;
}

// AMReX takes any boxes: the header's roots and block are not looked at.
void set_boxes(StepJob& job, const mesh::Patches& patches) {
  check(patches);
  if (patches.dim != job.header.dim)
    throw Error(Kind::usage, "patches in " + std::to_string(patches.dim) + " dimensions, a header in " +
                                 std::to_string(job.header.dim));
  job.patches = PatchSource{patches, {}, {}};
}

TargetRow open(MPI_Comm comm, const mesh::Header& header, const std::shared_ptr<const AmrexTarget>& target) {
  OutputParts parts{.format = &amrex::row, .options = target->options, .check_field = &amrex::check_info};
  parts.kind = amrex::row.outputs[is_checkpoint(*target) ? 1 : 0];
  parts.start = [comm, target](const std::shared_ptr<StepJob>& job, const fs::path& partial) {
    return start(comm, *target, job, partial);
  };
  TargetRow row = output_row(comm, header, std::move(parts));
  row.put_patches = set_boxes;
  return row;
}

}  // namespace

AmrexTarget::operator FileTarget() const {
  return output_target(amrex::row, options,
                       [target = std::make_shared<const AmrexTarget>(*this)](
                           MPI_Comm comm, const mesh::Header& header) { return open(comm, header, target); });
}

}  // namespace octavo::engine
