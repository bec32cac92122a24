#include "octavo/engine/restart/shares.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/mesh/pack.hpp"
#include "octavo/mesh/tree/cell_runs.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/mesh/tree/walk.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/deliver.hpp"
#include "octavo/ranks/halves.hpp"

/// Equal shares of a step for M ranks, whichever N wrote it. The parts are dealt to ranks, which read their trees and
/// count leaves by key; a search over all ranks finds the keys that cut the curve into equal numbers (key_share.hpp).
/// Then each rank reads the parts that touch its stretch and keeps their cells in it. Memory: the trees dealt to a rank
/// while it plans, later the trees that touch its share; values are copied in runs straight to their place.
namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;
using mesh::CurveKey;

CurveKey narrow(base::WideKey key) { return {static_cast<std::uint64_t>(key >> 64), static_cast<std::uint64_t>(key)}; }

// The stretches that hold the keys of the centres of all owned cells.
std::vector<KeyRange> stretches_of_tree(const mesh::Octree& tree, const mesh::SplitPlan& plan) {
  Stretches stretches;
  mesh::walk(tree, [&](int level, std::size_t cell, const mesh::Coordinate& at) {
    if (tree.owned[static_cast<std::size_t>(level)][cell])
      stretches.add(centre_key(plan.curve, plan.dim, plan.bits, plan.root_bits + level, at));
    return true;
  });
  return std::move(stretches).result();
}

// How many leaves a leaf of this tree level index counts for.
std::int64_t weight_of(const mesh::SplitPlan& plan, int level, int refined) {
  return plan.root_bits + level == plan.bits ? std::int64_t{1} << (plan.dim * refined) : 1;
}

// The first and the last key in a cell.
std::array<base::WideKey, 2> keys_in(const mesh::SplitPlan& plan, int level, const mesh::Coordinate& at) {
  const int depth = plan.root_bits + level;
  const base::WideKey first = wide(first_key(plan.curve, plan.dim, plan.bits, depth, at));
  return {first, first + ((base::WideKey{1} << (plan.dim * (plan.bits - depth))) - 1)};
}

mesh::Request mesh_only() {
  mesh::Request request;
  request.fields = std::vector<std::string>{};
  return request;
}

// The cells of a part's tree that a rank keeps: those that the part owns and whose centres lie in the rank's stretch,
// and the cells that close the tree.
mesh::Octree kept_of(mesh::Octree tree, const Shares& shares) {
  const mesh::SplitPlan& plan = shares.plan;
  std::vector<base::BitArray> mine;
  for (const base::BitArray& level : tree.owned) mine.emplace_back(level.size());
  mesh::walk(tree, [&](int level, std::size_t cell, const mesh::Coordinate& at) {
    const auto l = static_cast<std::size_t>(level);
    const auto [first, last] = keys_in(plan, level, at);
    if (last < shares.keys.begin || first >= shares.keys.end) return false;
    const base::WideKey centre = wide(centre_key(plan.curve, plan.dim, plan.bits, plan.root_bits + level, at));
    if (tree.owned[l][cell] && centre >= shares.keys.begin && centre < shares.keys.end) mine[l].set(cell);
    return true;
  });
  tree.owned = std::move(mine);
  return mesh::prune_tree(tree);
}

// The cells of the share that have their final value, and those whose value the owning part may still replace.
struct Filled {
  std::vector<base::BitArray> any, owned;
};

// The runs of a part's cells that give values to the share. A cell's value comes from the part that owns it, else from
// the first part that has it.
mesh::CellRuns runs_of(const mesh::Octree& kept, const mesh::Octree& part, const mesh::Octree& whole, Filled& filled) {
  mesh::CellRuns runs = cell_runs(kept, part, whole);
  for (std::size_t level = 0; level < runs.size(); ++level) {
    std::vector<mesh::CellRun> taken;
    std::size_t cell = 0;
    for (const mesh::CellRun& run : runs[level])
      for (std::uint32_t i = 0; i < run.count; ++i, ++cell) {
        const bool owned = kept.owned[level][cell];
        const std::uint32_t to = run.to + i;
        if (filled.owned[level][to] || (!owned && filled.any[level][to])) continue;
        filled.any[level].set(to);
        filled.owned[level].set(to, owned);
        if (!taken.empty() && taken.back().from + taken.back().count == run.from + i &&
            taken.back().to + taken.back().count == to)
          ++taken.back().count;
        else
          taken.push_back({run.from + i, to, 1});
      }
    runs[level] = std::move(taken);
  }
  return runs;
}

// Where a part's cells go in the share, and how many cells it has, by level.
struct PartRuns {
  mesh::CellRuns runs;
  std::vector<std::size_t> cells;
};

// Consumes the kept tree of the part.
PartRuns runs_of_part(const StepParts& step, KeptTrees& trees, std::size_t k, const mesh::Octree& whole,
                      Filled& filled) {
  const mesh::Octree kept = std::get<mesh::Octree>(std::move(trees.kept[k].mesh));
  const mesh::Octree tree = tree_of(step, trees.parts[k]);
  PartRuns out;
  for (const base::BitArray& level : tree.refined) out.cells.push_back(level.size());
  out.runs = trees.parts.size() == 1 ? cell_runs(kept, tree, whole) : runs_of(kept, tree, whole, filled);
  return out;
}

// Copies the bytes of a level that the runs name. `bytes` begins at byte `begin` of the level; a cell has `width`
// bytes.
void copy_runs(const std::vector<mesh::CellRun>& runs, std::size_t begin, std::span<const std::byte> bytes,
               std::size_t width, std::byte* level) {
  // Runs ascend in `from`: we begin at the first that does not end before the bytes.
  auto run = std::upper_bound(runs.begin(), runs.end(), begin / width, [](std::size_t cell, const mesh::CellRun& r) {
    return cell < std::size_t{r.from} + r.count;
  });
  const std::size_t end = begin + bytes.size();
  for (; run != runs.end() && run->from * width < end; ++run) {
    const std::size_t first = std::max(begin, run->from * width);
    const std::size_t last = std::min(end, (std::size_t{run->from} + run->count) * width);
    if (first < last)
      std::memcpy(level + run->to * width + (first - run->from * width), bytes.data() + (first - begin), last - first);
  }
}

// A field of the share: the memory of its values, the caller's or the field's own, and the bytes of a tree cell.
struct FieldMemory {
  std::span<std::byte> bytes;
  std::size_t width = 0;
};

std::vector<FieldMemory> make_fields(mesh::Part& share, const StepParts& step, const mesh::Request& request,
                                     const store::Place& place) {
  const std::size_t cells = num_cells(std::get<mesh::Octree>(share.mesh));
  std::vector<FieldMemory> targets;
  for (const std::size_t f : mesh::select_fields(step.dataset.header, request.fields)) {
    share.fields.push_back({step.dataset.header.fields[f], {}});
    mesh::Field& field = share.fields.back();
    const std::size_t width = step.widths[f] * mesh::size_of(field.info.type);
    std::span<std::byte> memory = given_memory(field.info, cells * width, place);
    if (memory.empty()) {
      field.bytes.resize(cells * width);
      memory = field.bytes;
    }
    targets.push_back({memory, width});
  }
  return targets;
}

}  // namespace

int root_bits_of(const mesh::Index3& roots) {
  const auto most = static_cast<std::uint64_t>(*std::max_element(roots.begin(), roots.end()));
  return static_cast<int>(std::bit_width(most - 1));
}

int deepest_level(MPI_Comm comm, const std::vector<mesh::Octree>& trees) {
  int levels = 1;
  for (const mesh::Octree& tree : trees) levels = std::max(levels, num_levels(tree));
  MPI_Allreduce(MPI_IN_PLACE, &levels, 1, MPI_INT, MPI_MAX, comm);
  return levels - 1;
}

// The share of rank m begins at the key that would be at position total * m / ranks if the leaves of all ranks were
// sorted. We recompute the keys in each round, because a list of them is larger than the values of a field.
ranks::KeyShare find_own_keys(MPI_Comm comm, const std::vector<mesh::Octree>& trees, int refined,
                              const mesh::SplitPlan& plan) {
  std::int64_t leaves = 0;
  for (const mesh::Octree& tree : trees)
    for (int level = 0; level < num_levels(tree); ++level)
      leaves += static_cast<std::int64_t>(num_owned_leaves(tree, level)) * weight_of(plan, level, refined);
  return ranks::find_share(comm, plan.dim * plan.bits, leaves, [&](base::KeyCounts& counts) {
    for (const mesh::Octree& tree : trees)
      mesh::walk(tree, [&](int level, std::size_t cell, const mesh::Coordinate& at) {
        const auto l = static_cast<std::size_t>(level);
        const auto [first, last] = keys_in(plan, level, at);
        if (tree.refined[l][cell]) return counts.asks_for(first, last);
        if (tree.owned[l][cell]) counts.count_one(first, weight_of(plan, level, refined));
        return false;
      });
  });
}

mesh::Octree tree_of(const StepParts& step, int part) {
  mesh::Part read = step.dataset.read(part, mesh_only());
  octree_of(read);
  return std::get<mesh::Octree>(std::move(read.mesh));
}

KeptTrees read_trees(const StepParts& step, const std::vector<int>& parts,
                     const std::function<mesh::Octree(mesh::Octree)>& keep) {
  KeptTrees out;
  for (const int p : parts) {
    mesh::Part kept;
    kept.index = p;
    kept.mesh = keep(tree_of(step, p));
    if (!mesh::owns_any(kept)) continue;
    out.parts.push_back(p);
    out.kept.push_back(std::move(kept));
  }
  if (!out.kept.empty()) out.whole = mesh::merge_trees(out.kept);
  return out;
}

std::span<std::byte> given_memory(const mesh::FieldInfo& field, std::size_t bytes, const store::Place& place) {
  const std::span<std::byte> memory = place && bytes != 0 ? place(field, bytes) : std::span<std::byte>{};
  if (!memory.empty() && memory.size() != bytes)
    throw Error(Kind::usage, "memory for a field: expected " + std::to_string(bytes) + " bytes, found " +
                                 std::to_string(memory.size()))
        .at("field " + field.name);
  return memory;
}

std::vector<ranks::KeyOwner> owners_of(MPI_Comm comm, const Shares& shares, const std::vector<KeyRange>& stretches) {
  std::vector<ranks::KeyStretch> asked;
  for (const KeyRange& stretch : stretches)
    if (stretch.first <= stretch.last) asked.push_back({wide(stretch.first), wide(stretch.last)});
  return ranks::owners_of(comm, shares.keys, asked);
}

std::vector<int> ranks_touched(std::span<const ranks::KeyOwner> owners, std::span<const KeyRange> stretches) {
  std::vector<int> ranks;
  for (const KeyRange& stretch : stretches) {
    if (stretch.last < stretch.first) continue;
    const base::WideKey first = wide(stretch.first), last = wide(stretch.last);
    auto owner = std::partition_point(owners.begin(), owners.end(),
                                      [&](const ranks::KeyOwner& one) { return one.end <= first; });
    for (; owner != owners.end() && owner->begin <= last; ++owner) ranks.push_back(owner->rank);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

std::vector<int> parts_to_read(MPI_Comm comm, StepParts& step, const Shares& shares,
                               const std::vector<KeyRange>& stretches) {
  const Deal mine = deal(num_parts(step), ranks::size_of(comm), ranks::rank_in(comm));
  const std::vector<ranks::KeyOwner> owners = owners_of(comm, shares, stretches);
  std::vector<std::pair<int, int>> told;
  for (int part = mine.first; part < mine.last; ++part) {
    const auto at = static_cast<std::size_t>(part - mine.first) * most_stretches;
    for (const int rank : ranks_touched(owners, std::span(stretches).subspan(at, most_stretches)))
      told.emplace_back(rank, part);
  }
  std::sort(told.begin(), told.end());
  return tell_parts(comm, step, told);
}

std::vector<int> parts_beside(MPI_Comm comm, StepParts& step, const Shares& shares,
                              const std::vector<KeyRange>& stretches) {
  std::vector<ranks::Parcel> asked;
  for (const ranks::KeyOwner& owner : owners_of(comm, shares, stretches)) asked.push_back({owner.rank, {}, 0});
  std::vector<std::pair<int, int>> told;
  for (const ranks::Parcel& asker : ranks::deliver(comm, std::move(asked)))
    for (const int part : shares.parts) told.emplace_back(asker.rank, part);
  std::vector<int> parts = tell_parts(comm, step, told);
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

void set_keys(Shares& shares, ranks::KeyShare keys) {
  shares.plan.bounds = {{}, narrow(keys.begin), narrow(keys.end), mesh::curve_end(shares.plan.dim, shares.plan.bits)};
  shares.keys = std::move(keys);
}

Shares plan_shares(MPI_Comm comm, StepParts& step, mesh::Curve curve, int refined) {
  const Deal mine = deal(num_parts(step), ranks::size_of(comm), ranks::rank_in(comm));
  std::vector<mesh::Octree> trees;
  ranks::agree(comm, [&] {
    for (int part = mine.first; part < mine.last; ++part) trees.push_back(tree_of(step, part));
  });
  Shares shares;
  shares.plan.curve = curve;
  shares.plan.dim = step.dataset.header.dim;
  shares.plan.root_bits = root_bits_of(step.dataset.header.roots);
  shares.plan.bits = shares.plan.root_bits + deepest_level(comm, trees);
  std::vector<KeyRange> ranges;
  ranks::agree(comm, [&] {
    for (const mesh::Octree& tree : trees) {
      const auto found = stretches_of_tree(tree, shares.plan);
      ranges.insert(ranges.end(), found.begin(), found.end());
    }
  });
  set_keys(shares, find_own_keys(comm, trees, refined, shares.plan));
  shares.parts = parts_to_read(comm, step, shares, ranges);
  return shares;
}

mesh::Part read_share(const StepParts& step, const Shares& shares, int rank, const mesh::Request& request,
                      const store::Place& place) {
  KeptTrees trees = read_trees(step, shares.parts, [&](mesh::Octree tree) { return kept_of(std::move(tree), shares); });
  if (trees.parts.empty()) {
    mesh::Part none = mesh::empty_part(step.dataset.header, request);
    none.index = rank;
    return none;
  }
  mesh::Part share{rank, std::move(trees.whole), {}, {}};
  const auto& whole = std::get<mesh::Octree>(share.mesh);
  const auto targets = make_fields(share, step, request, place);
  const auto offsets = level_offsets(whole);
  Filled filled;
  // A single part gives each cell once, so nothing needs to be noted.
  if (trees.parts.size() > 1)
    for (const base::BitArray& level : whole.owned) filled.any.emplace_back(level.size());
  filled.owned = filled.any;
  for (std::size_t k = 0; k < trees.parts.size(); ++k) {
    const PartRuns part = runs_of_part(step, trees, k, whole, filled);
    stream_part(step, trees.parts[k], request,
                [&](std::size_t field, int level, std::size_t first, std::span<const std::byte> values) {
                  const auto l = static_cast<std::size_t>(level);
                  if (l >= part.runs.size()) return;
                  const auto& [bytes, width] = targets[field];
                  const std::size_t begin = first * mesh::size_of(share.fields[field].info.type);
                  if (begin + values.size() > part.cells[l] * width)
                    throw Error(Kind::unsupported, "a field has more values than its cells have")
                        .at("field " + share.fields[field].info.name);
                  copy_runs(part.runs[l], begin, values, width, bytes.data() + offsets[l] * width);
                });
  }
  return share;
}

// ------------------------------------------------------------------ particles

namespace {

mesh::Particles none_of(const mesh::SpeciesInfo& info) {
  mesh::Particles none{info.name, 0, {}};
  for (const mesh::FieldInfo& attribute : info.attributes) none.attributes.push_back({attribute, {}});
  return none;
}

// The particles of a species that this rank has read: those that have positions, and the others.
struct Sorted {
  mesh::SpeciesInfo info;
  mesh::Particles placed, unplaced;
};

Sorted& sorted_of(std::vector<Sorted>& all, const mesh::SpeciesInfo& info) {
  const auto known = std::find_if(all.begin(), all.end(), [&](const Sorted& s) { return s.info.name == info.name; });
  if (known == all.end())
    return all.emplace_back(Sorted{{info.name, 0, info.attributes}, none_of(info), none_of(info)});
  if (known->info.attributes.size() != info.attributes.size())
    throw Error(Kind::corrupt, "segments disagree on the attributes of species " + info.name);
  return *known;
}

// Reads the particles of the parts dealt to this rank. RAMSES' octs in walls are not particles and are left out.
void read_dealt(MPI_Comm comm, const StepParts& step, int dim, std::vector<Sorted>& all) {
  const Deal mine = deal(num_parts(step), ranks::size_of(comm), ranks::rank_in(comm));
  mesh::Request request = mesh_only();
  request.particles = true;
  for (int p = mine.first; p < mine.last; ++p)
    for (const mesh::Particles& particles : step.dataset.read(p, request).particles) {
      if (particles.species == mesh::wall_species) continue;
      mesh::SpeciesInfo info{particles.species, 0, {}};
      for (const mesh::Field& attribute : particles.attributes) info.attributes.push_back(attribute.info);
      Sorted& sorted = sorted_of(all, info);
      if (particles.count > 0)
        append(have_positions(info.attributes, dim) ? sorted.placed : sorted.unplaced, particles);
    }
}

using Species = std::vector<mesh::SpeciesInfo>;

// Collective. All species of which any rank has read particles, the same list on all ranks, without counts.
Species species_of(MPI_Comm comm, const std::vector<Sorted>& found) {
  Species known;
  for (const Sorted& sorted : found) known.push_back(sorted.info);
  return ranks::merged(comm, std::move(known), [](Species all, const Species& more) {
    for (const mesh::SpeciesInfo& info : more)
      if (std::none_of(all.begin(), all.end(), [&](const auto& one) { return one.name == info.name; }))
        all.push_back(info);
    return all;
  });
}

// This rank's particles of a species that another rank is to have.
struct ParticleParcel {
  int rank = 0;
  mesh::Particles particles;
};
using ParticleParcels = std::vector<ParticleParcel>;

// The stretches that hold the positions of all particles.
std::vector<KeyRange> stretches_of_particles(const std::vector<Sorted>& all, const mesh::Header& header,
                                             const mesh::SplitPlan& plan) {
  Stretches stretches;
  for (const Sorted& sorted : all)
    if (sorted.placed.count > 0)
      for (const CurveKey& key : particle_keys(sorted.placed, header, plan)) stretches.add(key);
  return std::move(stretches).result();
}

// Splits particles among the ranks that own a key of theirs.
ParticleParcels split_among(const std::vector<ranks::KeyOwner>& owners, const mesh::Particles& particles,
                            const mesh::Header& header, mesh::SplitPlan plan) {
  ParticleParcels pieces;
  if (particles.count == 0) return pieces;
  plan.bounds.clear();
  for (const ranks::KeyOwner& owner : owners) plan.bounds.push_back(narrow(owner.begin));
  plan.bounds.push_back(mesh::curve_end(plan.dim, plan.bits));
  auto split = split_particles(particles, header, plan);
  for (std::size_t i = 0; i < split.size(); ++i)
    if (split[i].count > 0) pieces.push_back({owners[i].rank, std::move(split[i])});
  return pieces;
}

// Collective. Deals particles without positions out in the order of the parts, equal numbers to each rank.
ParticleParcels deal_out(MPI_Comm comm, const mesh::Particles& mine) {
  std::int64_t first = 0, total = mine.count;
  MPI_Exscan(&mine.count, &first, 1, MPI_INT64_T, MPI_SUM, comm);
  if (ranks::rank_in(comm) == 0) first = 0;
  MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT64_T, MPI_SUM, comm);
  const int ranks = ranks::size_of(comm);
  ParticleParcels pieces;
  ranks::agree(comm, [&] {
    if (mine.count == 0) return;
    const auto begin = static_cast<int>(base::owner(first, total, ranks));
    const auto end = static_cast<int>(base::owner(first + mine.count - 1, total, ranks)) + 1;
    auto dealt = deal_particles(mine, first, total, ranks, begin, end);
    for (std::size_t i = 0; i < dealt.size(); ++i)
      if (dealt[i].count > 0) pieces.push_back({begin + static_cast<int>(i), std::move(dealt[i])});
  });
  return pieces;
}

// Collective. Collects this rank's particles of a species from the pieces that all ranks have for it, one sender after
// another.
mesh::Particles collect(MPI_Comm comm, const mesh::SpeciesInfo& info, ParticleParcels& pieces) {
  std::vector<ranks::Parcel> counts;
  for (const ParticleParcel& piece : pieces) counts.push_back({piece.rank, base::packed(piece.particles.count), 0});
  mesh::Particles particles = none_of(info);
  for (const ranks::Parcel& parcel : ranks::deliver(comm, std::move(counts)))
    particles.count += base::unpacked<std::int64_t>(parcel.bytes);
  for (std::size_t a = 0; a < particles.attributes.size(); ++a) {
    // One attribute after another, so that a rank never holds all values twice.
    std::vector<ranks::Parcel> values;
    for (ParticleParcel& piece : pieces)
      values.push_back({piece.rank, base::to_bytes(std::exchange(piece.particles.attributes[a].bytes, {})), 0});
    for (const ranks::Parcel& parcel : ranks::deliver_straight(comm, std::move(values)))
      base::append(particles.attributes[a].bytes, parcel.bytes);
  }
  return particles;
}

}  // namespace

std::vector<mesh::Particles> read_particles(MPI_Comm comm, const StepParts& step, const Shares& shares,
                                            const mesh::Header& header) {
  std::vector<Sorted> mine;
  std::vector<KeyRange> places;
  for (const mesh::SpeciesInfo& info : step.dataset.species) sorted_of(mine, info);
  ranks::agree(comm, [&] {
    read_dealt(comm, step, header.dim, mine);
    places = stretches_of_particles(mine, header, shares.plan);
  });
  const Species species = species_of(comm, mine);
  const std::vector<ranks::KeyOwner> owners =
      species.empty() ? std::vector<ranks::KeyOwner>{} : owners_of(comm, shares, places);
  std::vector<mesh::Particles> out;
  for (const mesh::SpeciesInfo& info : species) {
    Sorted* sorted = nullptr;
    ParticleParcels pieces;
    ranks::agree(comm, [&] {
      sorted = &sorted_of(mine, info);
      pieces = split_among(owners, std::exchange(sorted->placed, none_of(info)), header, shares.plan);
    });
    // All ranks have the same attributes of the species, so all or none deal out.
    if (!have_positions(info.attributes, header.dim)) pieces = deal_out(comm, sorted->unplaced);
    out.push_back(collect(comm, info, pieces));
  }
  return out;
}

}  // namespace octavo::engine
