#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/flash/layout.hpp"
#include "octavo/parallel/all_patches.hpp"
#include "octavo/parallel/communicator.hpp"
#include "octavo/parallel/native_work.hpp"

namespace octavo::parallel {
namespace {

namespace flash = formats::flash;
namespace fs = std::filesystem;
using base::Error;
using base::Kind;

// A block that this rank owns.
struct Own {
  std::uint32_t cell = 0;  // of the tree, all levels together
  bool leaf = false;
  std::int64_t number = 0;     // Morton order, of all ranks
  std::int64_t particles = 0;  // in it
  std::int64_t first_row = 0;  // of its particles in the file
};

struct FlashStep {
  MPI_Comm comm = MPI_COMM_NULL;
  StepJob* job = nullptr;
  const NativeOptions* options = nullptr;
  fs::path partial;
  mesh::Octree tree;
  std::vector<Own> own;                    // by number
  std::vector<std::uint32_t> row_of_cell;  // particle after particle of the species, its block's position in `own`
  flash::OutputPlan plan;                  // complete on rank 0; elsewhere frame, variables and columns
  flash::Offsets offsets;                  // of variables and particles
  std::vector<flash::Range> ranges;
  std::vector<std::int32_t> processor;             // rank 0: of each block
  std::vector<std::int64_t> per_block;             // rank 0: particles
  std::vector<std::uint32_t> order;                // cells to copy, by number
  std::vector<std::vector<std::uint32_t>> orders;  // the same in the application's numbering, where it has its own
};

// ------------------------------------------------------------------ blocks and their numbers

// What a rank tells of a block: level, position, particles, whether it is a leaf; it gets back number and first row.
constexpr std::size_t told = 6, answered = 2;

std::vector<std::int64_t> list_blocks(FlashStep& step) {
  std::vector<std::int64_t> list;
  if (step.tree.refined.empty()) return list;
  const auto offsets = level_offsets(step.tree);
  auto at = root_coordinates(step.tree);
  for (int level = 0; level < num_levels(step.tree); ++level) {
    const auto l = static_cast<std::size_t>(level);
    if (level > 0) at = child_coordinates(step.tree, level - 1, at);
    step.tree.owned[l].for_each_set([&](std::size_t i) {
      Own own;
      own.cell = static_cast<std::uint32_t>(offsets[l] + i);
      own.leaf = !step.tree.refined[l][i];
      step.own.push_back(own);
      list.insert(list.end(), {level, at[i][0], at[i][1], at[i][2], 0, own.leaf ? 1 : 0});
    });
  }
  return list;
}

// The leaf that holds a position: its index over all levels. Positions beyond the domain count as the nearest in it.
class Descent {
 public:
  Descent(const mesh::Octree& tree, const flash::Frame& frame)
      : tree_(tree), frame_(frame), offsets_(level_offsets(tree)) {
    for (const base::BitArray& refined : tree.refined) {
      auto& family = family_.emplace_back(refined.size());
      std::uint32_t next = 0;
      for (std::size_t i = 0; i < refined.size(); ++i) {
        family[i] = next;
        next += refined[i] ? 1U : 0U;
      }
    }
  }
  std::size_t leaf_at(const mesh::Point3& position) const {
    mesh::Index3 at{0, 0, 0};
    const auto axes = static_cast<std::size_t>(tree_.dim);
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const double extent = frame_.hi[axis] - frame_.lo[axis];
      const double guess = (position[axis] - frame_.lo[axis]) / extent * static_cast<double>(tree_.roots[axis]);
      const double last = static_cast<double>(tree_.roots[axis] - 1);
      at[axis] = static_cast<std::int64_t>(guess >= 0 ? std::min(guess, last) : 0);
      while (at[axis] > 0 && position[axis] < bound(axis, 0, at[axis])) --at[axis];
      while (at[axis] + 1 < tree_.roots[axis] && position[axis] >= bound(axis, 0, at[axis] + 1)) ++at[axis];
    }
    auto cell = static_cast<std::size_t>((at[2] * tree_.roots[1] + at[1]) * tree_.roots[0] + at[0]);
    std::size_t level = 0;
    for (; tree_.refined[level][cell]; ++level) {
      std::size_t child = 0;
      for (std::size_t axis = 0; axis < axes; ++axis) {
        const bool high = position[axis] >= bound(axis, static_cast<int>(level) + 1, 2 * at[axis] + 1);
        at[axis] = 2 * at[axis] + (high ? 1 : 0);
        child |= high ? std::size_t{1} << axis : 0;
      }
      cell = family_[level][cell] * family_size(tree_) + child;
    }
    return offsets_[level] + cell;
  }

 private:
  double bound(std::size_t axis, int level, std::int64_t index) const {
    return flash::block_bound(frame_, axis, level, index);
  }
  const mesh::Octree& tree_;
  const flash::Frame& frame_;
  std::vector<std::size_t> offsets_;
  std::vector<std::vector<std::uint32_t>> family_;
};

const Source& position_of(const SpeciesSource& species, std::size_t axis) {
  const std::string name = std::string("position_") + "xyz"[axis];
  for (const Source& source : species.attributes)
    if (source.info.name == name) {
      if (source.info.type != mesh::ScalarType::float64 && source.info.type != mesh::ScalarType::float32) break;
      return source;
    }
  throw Error(Kind::usage, "the particles have no floating-point attribute \"" + name + "\"");
}

std::vector<double> values_of(const Source& source) {
  std::vector<double> values(source.view.cells);
  if (source.info.type == mesh::ScalarType::float64) {
    pack(source.view, std::as_writable_bytes(std::span(values)), false);
    return values;
  }
  std::vector<float> narrow(values.size());
  pack(source.view, std::as_writable_bytes(std::span(narrow)), false);
  std::copy(narrow.begin(), narrow.end(), values.begin());
  return values;
}

// For each particle the position in `own` of its block, and how many each block has.
void place_particles(FlashStep& step, std::vector<std::int64_t>& list) {
  if (step.job->species.empty()) return;
  const SpeciesSource& species = step.job->species[0];
  if (species.count == 0) return;
  std::array<std::vector<double>, 3> positions;
  const auto axes = static_cast<std::size_t>(step.tree.dim);
  for (std::size_t axis = 0; axis < axes; ++axis) positions[axis] = values_of(position_of(species, axis));
  constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> own_of_cell(num_cells(step.tree), nobody);
  for (std::size_t o = 0; o < step.own.size(); ++o) own_of_cell[step.own[o].cell] = static_cast<std::uint32_t>(o);
  const Descent descent(step.tree, step.plan.frame);
  for (std::size_t i = 0; i < static_cast<std::size_t>(species.count); ++i) {
    mesh::Point3 at{0, 0, 0};
    for (std::size_t axis = 0; axis < axes; ++axis) at[axis] = positions[axis][i];
    const std::uint32_t own = own_of_cell[descent.leaf_at(at)];
    if (own == nobody)
      throw Error(Kind::usage, "particle " + std::to_string(i) + " at (" + std::to_string(at[0]) + ", " +
                                   std::to_string(at[1]) + ", " + std::to_string(at[2]) +
                                   ") is in no block that this rank owns")
          .at("species " + species.species);
    step.row_of_cell.push_back(own);
    ++list[told * own + 4];
  }
}

// Rank 0: all blocks, the tree they make, and each block's number and first row.
std::vector<std::int64_t> number_blocks(FlashStep& step, const std::vector<std::int64_t>& all,
                                        const std::vector<int>& owner) {
  const std::size_t blocks = all.size() / told;
  std::vector<flash::Block> rows(blocks);
  for (std::size_t b = 0; b < blocks; ++b) {
    rows[b].level = static_cast<int>(all[told * b]);
    for (std::size_t axis = 0; axis < 3; ++axis)
      rows[b].at[axis] = static_cast<std::uint32_t>(all[told * b + 1 + axis]);
  }
  // Roots stand in the order of their rows: x fastest, whoever owns them.
  std::sort(rows.begin(), rows.end(), [](const flash::Block& a, const flash::Block& b) {
    return std::tie(a.level, a.at[2], a.at[1], a.at[0]) < std::tie(b.level, b.at[2], b.at[1], b.at[0]);
  });
  for (std::size_t b = 0; b < blocks; ++b) rows[b].row = static_cast<std::int64_t>(b);
  flash::BlockTree tree = make_block_tree(step.plan.frame.dim, step.plan.frame.roots, step.job->header.periodic, rows);
  std::vector<std::int64_t> answer(answered * blocks);
  step.processor.resize(blocks);
  step.per_block.resize(blocks);
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::int64_t* place = all.data() + told * b;
    const std::int64_t number = find(tree, static_cast<int>(place[0]), {place[1], place[2], place[3]});
    if (is_leaf(tree, number) != (place[5] == 1))
      throw Error(Kind::corrupt, "the blocks are no tree: what one rank has as refined, or as a leaf, others have not")
          .at("level index " + std::to_string(place[0]) + ", block (" + std::to_string(place[1]) + ", " +
              std::to_string(place[2]) + ", " + std::to_string(place[3]) + ")");
    answer[answered * b] = number;
    step.processor[static_cast<std::size_t>(number)] = owner[b];
    step.per_block[static_cast<std::size_t>(number)] = place[4];
  }
  std::vector<std::int64_t> first(blocks);
  std::exclusive_scan(step.per_block.begin(), step.per_block.end(), first.begin(), std::int64_t{0});
  for (std::size_t b = 0; b < blocks; ++b)
    answer[answered * b + 1] = first[static_cast<std::size_t>(answer[answered * b])];
  step.plan.tree = std::move(tree);
  return answer;
}

// Collective. Numbers of this rank's blocks; rank 0 has the tree then.
void exchange_blocks(FlashStep& step, const std::vector<std::int64_t>& list) {
  const int ranks = size_of(step.comm);
  int mine = static_cast<int>(step.own.size());
  std::vector<int> counts(static_cast<std::size_t>(ranks)), sizes(counts.size()), at(counts.size()), owner;
  MPI_Gather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, step.comm);
  const auto place = [&](int width) {
    for (std::size_t r = 0, begin = 0; r < counts.size(); ++r) {
      sizes[r] = width * counts[r];
      at[r] = static_cast<int>(begin);
      begin += static_cast<std::size_t>(sizes[r]);
    }
  };
  place(static_cast<int>(told));
  std::vector<std::int64_t> all(static_cast<std::size_t>(at.back() + sizes.back())), answer;
  MPI_Gatherv(list.data(), static_cast<int>(list.size()), MPI_INT64_T, all.data(), sizes.data(), at.data(), MPI_INT64_T,
              0, step.comm);
  agree(step.comm, [&] {
    if (rank_in(step.comm) != 0) return;
    for (int r = 0; r < ranks; ++r)
      owner.insert(owner.end(), static_cast<std::size_t>(counts[static_cast<std::size_t>(r)]), r);
    answer = number_blocks(step, all, owner);
  });
  place(static_cast<int>(answered));
  std::vector<std::int64_t> got(answered * step.own.size());
  MPI_Scatterv(answer.data(), sizes.data(), at.data(), MPI_INT64_T, got.data(), static_cast<int>(got.size()),
               MPI_INT64_T, 0, step.comm);
  for (std::size_t o = 0; o < step.own.size(); ++o) {
    step.own[o].number = got[answered * o];
    step.own[o].first_row = got[answered * o + 1];
    step.own[o].particles = list[told * o + 4];
  }
}

// `own` by number; particles keep pointing at their blocks.
void sort_own(FlashStep& step) {
  std::vector<std::uint32_t> by_number(step.own.size()), place(step.own.size());
  std::iota(by_number.begin(), by_number.end(), 0U);
  std::sort(by_number.begin(), by_number.end(),
            [&](std::uint32_t a, std::uint32_t b) { return step.own[a].number < step.own[b].number; });
  std::vector<Own> sorted;
  for (std::size_t o = 0; o < by_number.size(); ++o) {
    sorted.push_back(step.own[by_number[o]]);
    place[by_number[o]] = static_cast<std::uint32_t>(o);
  }
  step.own = std::move(sorted);
  for (std::uint32_t& own : step.row_of_cell) own = place[own];
}

// ------------------------------------------------------------------ the file laid out

std::vector<mesh::SpeciesInfo> species_of(const StepJob& job) {
  std::vector<mesh::SpeciesInfo> all;
  for (const SpeciesSource& species : job.species) {
    mesh::SpeciesInfo info{species.species, species.count, {}};
    for (const Source& source : species.attributes) info.attributes.push_back(source.info);
    all.push_back(std::move(info));
  }
  return all;
}

flash::OutputPlan plan_of(const FlashStep& step, flash::BlockTree tree) {
  mesh::Header header = step.job->header;
  for (const Source& source : step.job->fields) header.fields.push_back(source.info);
  header.attributes["flash/kind"] = std::string("checkpoint");
  if (step.job->species.size() > 1) throw Error(Kind::unsupported, "FLASH has one list of particles");
  flash::WriteOptions options;
  options.names = step.options->names;
  flash::WriteReport report;
  return plan_output(header, species_of(*step.job), step.plan.frame, std::move(tree), options, report);
}

// Collective. Rank 0 makes the file; all learn where the values go.
void lay_out(FlashStep& step) {
  agree(step.comm, [&] {
    step.plan = plan_of(step, std::move(step.plan.tree));
    if (rank_in(step.comm) != 0) return;
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

// Only owned blocks are copied, in the order of their numbers: those that follow one another go out in one write.
void order_fields(FlashStep& step) {
  for (const Own& own : step.own) step.order.push_back(own.cell);
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
void widen(flash::Range& range, const std::byte* bytes, std::size_t count) {
  const T* values = reinterpret_cast<const T*>(bytes);
  T lo = std::numeric_limits<T>::infinity(), hi = -lo;
  for (std::size_t i = 0; i < count; ++i) {
    lo = values[i] < lo ? values[i] : lo;
    hi = values[i] > hi ? values[i] : hi;
  }
  range.min = std::min(range.min, static_cast<double>(lo));
  range.max = std::max(range.max, static_cast<double>(hi));
}

flash::Range no_range() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {infinity, -infinity};
}

// `bytes` has own blocks one after another, as the copy was made.
void write_values(FlashStep& step, const file::File& file, const flash::OutputVariable& variable,
                  std::span<const std::byte> bytes) {
  const std::uint64_t offset = step.offsets.at(variable.set);
  const std::size_t count = values_a_block(step.plan, variable);
  const std::size_t block = count * (variable.single ? sizeof(float) : sizeof(double));
  flash::Range range = no_range();
  for (std::size_t o = 0; o < step.own.size();) {
    std::size_t end = o;
    for (; end < step.own.size() && step.own[end].number - step.own[o].number == static_cast<std::int64_t>(end - o);
         ++end) {
      if (!step.own[end].leaf) continue;
      const std::byte* values = bytes.data() + end * block;
      variable.single ? widen<float>(range, values, count) : widen<double>(range, values, count);
    }
    file::pwrite_all(file, offset + static_cast<std::uint64_t>(step.own[o].number) * block,
                     bytes.subspan(o * block, (end - o) * block));
    o = end;
  }
  step.ranges.push_back(range);
}

void write_variable(FlashStep& step, const file::File& file, const flash::OutputVariable& variable,
                    const mesh::Part& part) {
  const mesh::Field& values = part.fields[variable.field];
  if (variable.right == variable.field) return write_values(step, file, variable, values.bytes);
  write_values(step, file, variable,
               face_values(step.plan, variable, values, part.fields[variable.right], step.own.size()));
}

// Rows of this rank's particles, by block; blocks whose numbers follow one another have adjoining rows.
void write_particles(FlashStep& step, const file::File& file, const mesh::Particles& particles) {
  if (particles.count == 0) return;
  flash::ParticleRows rows;
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
  flash::Attributes attributes = step.plan.attributes;
  attributes.erase("flash/processor number");
  flash::TreeArrays arrays =
      restore_tree_arrays(step.plan.tree, step.plan.frame, step.plan.single_positions, attributes);
  arrays.processor = step.processor;
  write_tree_values(step.partial, step.offsets, step.plan, arrays, step.per_block);
}

void write_mine(FlashStep& step) {
  if (step.job->failure) throw *step.job->failure;
  if (step.job->part == 0) write_tree(step);
  mesh::Part part = take_part(*step.job);
  try {
    file::File file = file::open_write(step.partial);
    for (const flash::OutputVariable& variable : step.plan.variables) write_variable(step, file, variable, part);
    for (const mesh::Particles& particles : part.particles) write_particles(step, file, particles);
    if (step.options->sync) file::sync(file);
    file.close();
  } catch (...) {
    put_back(part, *step.job);
    throw;
  }
  put_back(part, *step.job);
}

// Collective. Smallest values and largest, these negated, in one reduction.
void gather_ranges(FlashStep& step) {
  std::vector<double> least;
  for (const flash::Range& range : step.ranges) least.insert(least.end(), {range.min, -range.max});
  MPI_Allreduce(MPI_IN_PLACE, least.data(), static_cast<int>(least.size()), MPI_DOUBLE, MPI_MIN, step.comm);
  for (std::size_t v = 0; v < step.ranges.size(); ++v) step.ranges[v] = {least[2 * v], -least[2 * v + 1]};
}

void seal(const FlashStep& step) {
  attach_ranges(step.partial, step.plan, step.ranges);
  if (step.options->sync) file::sync(file::open_write(step.partial));
}

// Collective. Patches become blocks of the header's size, here and now: their values are copied twice.
void fold_patches(MPI_Comm comm, StepJob& job, Buffers& buffers) {
  // The same on all ranks: their descriptions agree.
  if (!job.patches) return;
  const auto all = gather_patches(comm, &job.patches->mine);
  agree(comm, [&] {
    for (const Source& source : job.fields)
      if (source.info.centring != mesh::Centring::cell)
        throw Error(Kind::unsupported, "face variables go with a tree of blocks, not with patches")
            .at("field " + source.info.name);
    hold(job, buffers);
    if (job.failure) throw *job.failure;
    mesh::Part part = take_part(job);
    mesh::Part tree = patches_to_octree(part, job.patches->tree, patches_of_others(all, rank_in(comm)));
    put_back(part, job);
    job.tree = std::get<mesh::Octree>(tree.mesh);
    job.patches.reset();
    for (std::size_t f = 0; f < job.fields.size(); ++f) {
      Source& source = job.fields[f];
      let_go(source, buffers);
      source.boxes.clear();
      source.folded = std::move(tree.fields[f].bytes);
      source.view = {};
      source.view.data = source.folded.data();
      source.view.type = source.info.type;
      source.view.cells = num_cells(*job.tree);
      source.view.block = job.tree->block;
    }
    for (SpeciesSource& species : job.species)
      for (Source& source : species.attributes) {
        let_go(source, buffers);
      }
  });
}

}  // namespace

NativeWork start_flash(MPI_Comm comm, StepJob& job, const fs::path& partial, const NativeOptions& options,
                       Buffers& buffers) {
  fold_patches(comm, job, buffers);
  const auto step = std::make_shared<FlashStep>();
  step->comm = comm;
  step->job = &job;
  step->options = &options;
  step->partial = partial;
  std::vector<std::int64_t> list;
  agree(comm, [&] {
    if (job.tree) step->tree = *job.tree;
    mesh::Octree shape;
    shape.dim = job.header.dim;
    shape.roots = job.header.roots;
    shape.block = job.header.block;
    shape.refined.resize(2);
    step->plan.frame = flash::frame_of(job.header, shape);
    step->tree.block = shape.block;
    step->tree.dim = shape.dim;
    list = list_blocks(*step);
    place_particles(*step, list);
  });
  exchange_blocks(*step, list);
  sort_own(*step);
  lay_out(*step);
  order_fields(*step);
  hold(job, buffers);
  NativeWork work;
  work.bytes = bytes_of(job);
  work.write = [step] { write_mine(*step); };
  work.gather = [step] { gather_ranges(*step); };
  work.seal = [step] { seal(*step); };
  return work;
}

}  // namespace octavo::parallel
