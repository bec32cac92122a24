#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/engine/step/all_patches.hpp"
#include "octavo/engine/targets/flash_step.hpp"
#include "octavo/engine/targets/output_target.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/flash/foreign.hpp"
#include "octavo/formats/flash/lists.hpp"
#include "octavo/formats/flash/row.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::engine {
namespace {

namespace flash = formats::flash;
namespace fs = std::filesystem;
using base::Error;
using base::Kind;

// ------------------------------------------------------------------ the file laid out

flash::OutputPlan plan_of(const FlashStep& step, flash::BlockTree tree) {
  mesh::Header header = step.job->header;
  for (const StepArray& source : step.job->fields) header.fields.push_back(source.info);
  settle_kind(header);
  // Attributes from the file that the run started from describe its blocks then, not the blocks now.
  flash::forget_blocks(header.attributes);
  if (step.job->species.size() > 1) throw Error(Kind::unsupported, "FLASH has one list of particles");
  flash::WriteOptions options;
  options.names = step.target->names;
  flash::FlashReport report;
  return plan_output(header, species_of(*step.job), step.plan.frame, std::move(tree), options, report);
}

// Collective. Rank 0 makes the file; all learn where the values go. HDF5 has closed the file by then: from here on all
// ranks only write bytes at these places, on any thread.
void lay_out(FlashStep& step) {
  ranks::agree(step.comm, [&] {
    step.plan = plan_of(step, std::move(step.plan.tree));
    if (ranks::rank_in(step.comm) != 0) return;
    std::int64_t rows = 0;
    for (std::int64_t count : step.per_block) rows += count;
    if (!step.plan.species.empty())
      flash::set_value(step.plan.attributes, "integer scalars", "globalnumparticles", rows);
    step.offsets = flash::lay_out(step.partial, step.plan, static_cast<std::uint64_t>(rows));
  });
  std::vector<std::string> sets;
  for (const flash::OutputVariable& variable : step.plan.variables) sets.push_back(variable.set);
  sets.emplace_back("tracer particles");
  std::vector<std::uint64_t> offsets;
  for (const std::string& set : sets) {
    const auto found = step.offsets.find(set);
    offsets.push_back(found == step.offsets.end() ? 0 : found->second);
  }
  MPI_Bcast(offsets.data(), static_cast<int>(offsets.size()), MPI_UINT64_T, 0, step.comm);
  for (std::size_t s = 0; s < sets.size(); ++s) step.offsets[sets[s]] = offsets[s];
}

// Only owned blocks are copied, in the order of their numbers. Blocks with consecutive numbers go out in one write.
void order_fields(FlashStep& step) {
  for (const OwnBlock& own : step.own) step.order.push_back(own.cell);
  step.orders.resize(step.job->fields.size());
  for (std::size_t f = 0; f < step.job->fields.size(); ++f) {
    ArrayView& view = step.job->fields[f].view;
    std::vector<std::uint32_t>& order = step.orders[f];
    for (std::uint32_t cell : step.order) order.push_back(view.order.empty() ? cell : view.order[cell]);
    view.order = order;
    view.cells = order.size();
  }
}

// ------------------------------------------------------------------ written

template <class T>
void widen(flash::LeafRange& range, const std::byte* bytes, std::size_t count) {
  const T* values = reinterpret_cast<const T*>(bytes);
  T lo = std::numeric_limits<T>::infinity(), hi = -lo;
  for (std::size_t i = 0; i < count; ++i) {
    lo = values[i] < lo ? values[i] : lo;
    hi = values[i] > hi ? values[i] : hi;
  }
  range.min = std::min(range.min, static_cast<double>(lo));
  range.max = std::max(range.max, static_cast<double>(hi));
}

flash::LeafRange no_range() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {infinity, -infinity};
}

// `bytes` has the own blocks one after another, in the order of the copy.
void write_values(FlashStep& step, const file::File& file, const flash::OutputVariable& variable,
                  std::span<const std::byte> bytes) {
  const std::uint64_t offset = step.offsets.at(variable.set);
  const std::size_t count = values_a_block(step.plan, variable);
  const std::size_t block = count * mesh::size_of(variable.type);
  flash::LeafRange range = no_range();
  for (std::size_t o = 0; o < step.own.size();) {
    std::size_t end = o;
    for (; end < step.own.size() && step.own[end].number - step.own[o].number == static_cast<std::int64_t>(end - o);
         ++end) {
      if (!step.own[end].leaf) continue;
      const std::byte* values = bytes.data() + end * block;
      if (variable.type == mesh::ScalarType::float32) widen<float>(range, values, count);
      if (variable.type == mesh::ScalarType::float64) widen<double>(range, values, count);
    }
    file::pwrite_all(file, offset + static_cast<std::uint64_t>(step.own[o].number) * block,
                     bytes.subspan(o * block, (end - o) * block));
    o = end;
  }
  step.ranges.push_back(range);
}

void write_variable(FlashStep& step, const file::File& file, const flash::OutputVariable& variable) {
  const StepJob& job = *step.job;
  const StepArray& values = job.fields[variable.field];
  if (variable.right == variable.field) {
    std::vector<std::byte> scratch;
    return write_values(step, file, variable, packed_values(job, values, scratch));
  }
  write_values(step, file, variable,
               face_values(step.plan, variable, field_of(job, values), field_of(job, job.fields[variable.right]),
                           step.own.size()));
}

// Rows of this rank's particles, by block; blocks whose numbers follow one another have adjoining rows.
void write_particles(FlashStep& step, const file::File& file, const mesh::Particles& particles) {
  if (particles.count == 0) return;
  flash::BlockParticles rows;
  append_rows(step.plan, particles, rows);
  const std::size_t width = width_of(step.plan), blk = column_of(step.plan, "blk"), proc = column_of(step.plan, "proc"),
                    tag = column_of(step.plan, "tag");
  std::vector<std::size_t> order(static_cast<std::size_t>(rows.rows));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return step.row_of_cell[a] < step.row_of_cell[b]; });
  const int rank = step.job->part;
  std::vector<double> sorted(rows.values.size());
  const std::uint64_t offset = step.offsets.at("tracer particles");
  std::size_t begin = 0;
  for (std::size_t o = 0; o < step.own.size(); ++o) {
    const auto count = static_cast<std::size_t>(step.own[o].particles);
    for (std::size_t i = begin; i < begin + count; ++i) {
      double* row = sorted.data() + i * width;
      std::copy_n(rows.values.data() + order[i] * width, width, row);
      if (blk < width) row[blk] = static_cast<double>(o + 1);
      if (proc < width) row[proc] = rank;
      if (tag >= step.plan.columns.size() && tag < width)
        row[tag] = static_cast<double>(step.own[o].first_row + static_cast<std::int64_t>(i - begin) + 1);
    }
    if (count > 0)
      file::pwrite_all(file, offset + static_cast<std::uint64_t>(step.own[o].first_row) * width * sizeof(double),
                       std::as_bytes(std::span(sorted).subspan(begin * width, count * width)));
    begin += count;
  }
}

void write_tree(const FlashStep& step) {
  flash::TreeArrays arrays =
      restore_tree_arrays(step.plan.tree, step.plan.frame, step.plan.single_positions, step.plan.attributes);
  arrays.processor = step.processor;
  write_tree_values(step.partial, step.offsets, step.plan, arrays, step.per_block);
}

void write_mine(FlashStep& step) {
  const StepJob& job = *step.job;
  if (job.part == 0) write_tree(step);
  file::File file = file::open_write(step.partial);
  for (const flash::OutputVariable& variable : step.plan.variables) write_variable(step, file, variable);
  for (const SpeciesSource& species : job.species) write_particles(step, file, particles_of(job, species));
  if (step.target->options.sync) file::sync(file);
  file.close();
}

// Collective. One reduction finds the smallest values and, negated, the largest.
void gather_ranges(FlashStep& step) {
  std::vector<double> least;
  for (const flash::LeafRange& range : step.ranges) least.insert(least.end(), {range.min, -range.max});
  MPI_Allreduce(MPI_IN_PLACE, least.data(), static_cast<int>(least.size()), MPI_DOUBLE, MPI_MIN, step.comm);
  for (std::size_t v = 0; v < step.ranges.size(); ++v) step.ranges[v] = {least[2 * v], -least[2 * v + 1]};
}

void seal(const FlashStep& step) {
  attach_ranges(step.partial, step.plan, step.ranges);
  if (step.target->options.sync) file::sync(file::open_write(step.partial));
}

// Collective. Turns patches into blocks of the header's size inside this call, so their values are copied twice.
void fold_patches(MPI_Comm comm, StepJob& job) {
  // The same on all ranks: their descriptions agree.
  if (!job.patches) return;
  const auto all = gather_patches(comm, &job.patches->mine);
  ranks::agree(comm, [&] {
    for (const StepArray& source : job.fields)
      if (source.info.centring != mesh::Centring::cell)
        throw Error(Kind::unsupported, "face variables go with a tree of blocks, not with patches")
            .at("field " + source.info.name);
    mesh::Part tree = patches_to_octree(part_of(job), job.patches->tree, patches_of_others(all, ranks::rank_in(comm)));
    job.tree = std::get<mesh::Octree>(tree.mesh);
    job.patches.reset();
    for (std::size_t f = 0; f < job.fields.size(); ++f) {
      StepArray& source = job.fields[f];
      source.boxes.clear();
      source.folded = std::move(tree.fields[f].bytes);
      source.view = {};
      source.view.data = source.folded.data();
      source.view.type = source.info.type;
      source.view.cells = num_cells(*job.tree);
      source.view.block = job.tree->block;
    }
  });
}

// Collective.
StepWork start(MPI_Comm comm, const FlashTarget& target, const std::shared_ptr<StepJob>& shared,
               const fs::path& partial) {
  if (target.collect) {
    collect_flash(comm, *shared, target);
    return {};
  }
  StepJob& job = *shared;
  fold_patches(comm, job);
  const auto step = std::make_shared<FlashStep>();
  step->comm = comm;
  step->job = &job;
  step->target = &target;
  step->partial = partial;
  std::vector<std::int64_t> list;
  ranks::agree(comm, [&] {
    // From here on the fields hold owned blocks, and not the tree's cells.
    if (job.tree) step->tree = std::move(*job.tree);
    job.tree.reset();
    mesh::Octree shape;
    shape.dim = job.header.dim;
    shape.roots = job.header.roots;
    shape.block = job.header.block;
    shape.refined.resize(2);
    step->plan.frame = flash::frame_of(job.header, shape);
    step->tree.block = shape.block;
    step->tree.dim = shape.dim;
    list = list_blocks(*step);
  });
  number_blocks(*step, list);
  lay_out(*step);
  ranks::agree(comm, [&] { order_fields(*step); });
  StepWork work;
  work.write = [step](Writing&) { write_mine(*step); };
  work.gather = [step] { gather_ranges(*step); };
  work.seal = [step] { seal(*step); };
  return work;
}

}  // namespace

std::vector<mesh::SpeciesInfo> species_of(const StepJob& job) {
  std::vector<mesh::SpeciesInfo> all;
  for (const SpeciesSource& species : job.species) {
    mesh::SpeciesInfo info{species.species, species.count, {}};
    for (const StepArray& source : species.attributes) info.attributes.push_back(source.info);
    all.push_back(std::move(info));
  }
  return all;
}

void settle_kind(mesh::Header& header) {
  if (flash::text(header.attributes, "flash/kind") != "plotfile")
    header.attributes["flash/kind"] = std::string("checkpoint");
}

namespace {

void check_field(const mesh::FieldInfo& info) {
  if (const std::string why = flash::row.misfit(info, info.name, {}); !why.empty())
    throw Error(Kind::unsupported, why).at("field " + info.name);
}

TargetRow open(MPI_Comm comm, const mesh::Header& header, const std::shared_ptr<const FlashTarget>& target) {
  OutputParts parts{.format = &flash::row, .kind = flash::row.outputs[0], .options = target->options};
  parts.replace = target->replace;
  parts.check_field = &check_field;
  parts.start = [comm, target](const std::shared_ptr<StepJob>& job, const fs::path& partial) {
    return start(comm, *target, job, partial);
  };
  TargetRow row = output_row(comm, header, std::move(parts));
  row.stages = !target->collect;
  return row;
}

}  // namespace

FlashTarget::operator FileTarget() const {
  return output_target(flash::row, options,
                       [target = std::make_shared<const FlashTarget>(*this)](
                           MPI_Comm comm, const mesh::Header& header) { return open(comm, header, target); });
}

}  // namespace octavo::engine
