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
#include "octavo/ranks/route.hpp"

namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;
using mesh::CurveKey;

// The stretches of all parts, which every rank holds if shares are refined, take at most 8 MiB, however many parts
// there are.
constexpr std::size_t most_stretches = 64, most_of_all = std::size_t{1} << 18;

base::WideKey wide(const CurveKey& key) { return base::WideKey{key.high} << 64 | key.low; }
CurveKey narrow(base::WideKey key) { return {static_cast<std::uint64_t>(key >> 64), static_cast<std::uint64_t>(key)}; }

// Gathers the keys of cells, in any order, as a bounded number of stretches.
class Stretches {
 public:
  explicit Stretches(std::size_t most) : most_(most) { keys_.reserve(held); }
  void add(const CurveKey& key) {
    if (keys_.size() == held) keys_ = reduced(held / 4);
    keys_.push_back({key, key});
  }
  std::vector<KeyRange> result() && { return stretches_of(std::move(keys_), most_); }

 private:
  static constexpr std::size_t held = 128 * most_stretches;
  std::vector<KeyRange> reduced(std::size_t most) {
    auto fewer = stretches_of(std::move(keys_), most);
    std::erase_if(fewer, [](const KeyRange& range) { return range.last < range.first; });
    fewer.reserve(held);
    return fewer;
  }
  std::size_t most_;
  std::vector<KeyRange> keys_;
};

// The stretches that hold the keys of the centres of all owned cells.
std::vector<KeyRange> stretches_of_tree(const mesh::Octree& tree, const mesh::SplitPlan& plan, std::size_t most) {
  Stretches stretches(most);
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

// Bound m is the key that would be at position total * m / ranks if the leaves of all ranks were sorted. We recompute
// the keys in each round, because a list of them is larger than the values of a field.
void find_bounds(MPI_Comm comm, const std::vector<mesh::Octree>& trees, int refined, mesh::SplitPlan& plan) {
  constexpr std::size_t counters = 4096;
  const auto ranks = static_cast<std::size_t>(ranks::size_of(comm));
  std::int64_t total = 0;
  for (const mesh::Octree& tree : trees)
    for (int level = 0; level < num_levels(tree); ++level)
      total += static_cast<std::int64_t>(num_owned_leaves(tree, level)) * weight_of(plan, level, refined);
  MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT64_T, MPI_SUM, comm);
  plan.bounds.assign(ranks + 1, mesh::curve_end(plan.dim, plan.bits));
  plan.bounds[0] = {};
  const auto positions = base::KeySearch::cuts(total, static_cast<std::int64_t>(ranks));
  const auto found = ranks::find_keys(comm, {positions, plan.dim * plan.bits, counters}, [&](base::KeySearch& search) {
    for (const mesh::Octree& tree : trees)
      mesh::walk(tree, [&](int level, std::size_t cell, const mesh::Coordinate& at) {
        const auto l = static_cast<std::size_t>(level);
        const auto [first, last] = keys_in(plan, level, at);
        if (tree.refined[l][cell]) return search.asks_for(first, last);
        if (tree.owned[l][cell]) search.count_one(first, weight_of(plan, level, refined));
        return false;
      });
  });
  std::transform(found.begin(), found.end(), plan.bounds.begin() + 1, narrow);
}

int root_bits_of(const mesh::Header& header) {
  const auto most = static_cast<std::uint64_t>(*std::max_element(header.roots.begin(), header.roots.end()));
  return static_cast<int>(std::bit_width(most - 1));
}

int deepest_level(MPI_Comm comm, const std::vector<mesh::Octree>& trees) {
  int levels = 1;
  for (const mesh::Octree& tree : trees) levels = std::max(levels, num_levels(tree));
  MPI_Allreduce(MPI_IN_PLACE, &levels, 1, MPI_INT, MPI_MAX, comm);
  return levels - 1;
}

// Parts are dealt out in order, so the lists of all ranks, one after another, are the list of all parts.
std::vector<KeyRange> gather_ranges(MPI_Comm comm, const std::vector<KeyRange>& mine, int parts, int each) {
  static_assert(sizeof(KeyRange) == 4 * sizeof(std::uint64_t));
  const int ranks = ranks::size_of(comm);
  std::vector<int> counts, offsets;
  for (int rank = 0; rank < ranks; ++rank) {
    const Deal dealt = deal(parts, ranks, rank);
    counts.push_back(4 * each * (dealt.last - dealt.first));
    offsets.push_back(4 * each * dealt.first);
  }
  std::vector<KeyRange> all(static_cast<std::size_t>(parts) * static_cast<std::size_t>(each));
  MPI_Allgatherv(mine.data(), static_cast<int>(4 * mine.size()), MPI_UINT64_T, all.data(), counts.data(),
                 offsets.data(), MPI_UINT64_T, comm);
  return all;
}

mesh::Request mesh_only() {
  mesh::Request request;
  request.fields = std::vector<std::string>{};
  return request;
}

CurveKey difference(const CurveKey& a, const CurveKey& b) {
  return {a.high - b.high - (a.low < b.low ? 1 : 0), a.low - b.low};
}

// Joins stretches that touch.
std::vector<KeyRange> joined(std::vector<KeyRange> keys) {
  std::sort(keys.begin(), keys.end(), [](const KeyRange& a, const KeyRange& b) { return a.first < b.first; });
  std::size_t count = 0;
  for (const KeyRange& key : keys)
    if (count > 0 && key.first <= keys[count - 1].last)
      keys[count - 1].last = std::max(keys[count - 1].last, key.last);
    else
      keys[count++] = key;
  keys.resize(count);
  return keys;
}

mesh::Octree tree_of(const StepParts& step, int part) {
  mesh::Part read = step.dataset.read(part, mesh_only());
  octree_of(read);
  return std::get<mesh::Octree>(std::move(read.mesh));
}

// The cells of a part's tree that a rank keeps: those that the part owns and whose centres lie in the rank's stretch,
// and the cells that close the tree.
mesh::Octree kept_of(mesh::Octree tree, const mesh::SplitPlan& plan, std::size_t rank) {
  const base::WideKey begin = wide(plan.bounds[rank]), end = wide(plan.bounds[rank + 1]);
  std::vector<base::BitArray> mine;
  for (const base::BitArray& level : tree.owned) mine.emplace_back(level.size());
  mesh::walk(tree, [&](int level, std::size_t cell, const mesh::Coordinate& at) {
    const auto l = static_cast<std::size_t>(level);
    const auto [first, last] = keys_in(plan, level, at);
    if (last < begin || first >= end) return false;
    const base::WideKey centre = wide(centre_key(plan.curve, plan.dim, plan.bits, plan.root_bits + level, at));
    if (tree.owned[l][cell] && centre >= begin && centre < end) mine[l].set(cell);
    return true;
  });
  tree.owned = std::move(mine);
  return mesh::prune_tree(tree);
}

// The parts that this rank reads, the cells that it keeps of their trees, and the tree that these make together.
struct ShareTrees {
  std::vector<int> parts;
  std::vector<mesh::Part> kept;
  mesh::Octree whole;
};

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
PartRuns runs_of_part(const StepParts& step, ShareTrees& trees, std::size_t k, const mesh::Octree& whole,
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
struct Target {
  std::span<std::byte> bytes;
  std::size_t width = 0;
};

std::vector<Target> make_fields(mesh::Part& share, const StepParts& step, const mesh::Request& request,
                                const store::Place& place) {
  const std::size_t cells = num_cells(std::get<mesh::Octree>(share.mesh));
  std::vector<Target> targets;
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

ShareTrees read_trees(const StepParts& step, const Shares& shares, int rank) {
  ShareTrees out;
  for (const int p : shares.parts) {
    mesh::Part kept;
    kept.index = p;
    kept.mesh = kept_of(tree_of(step, p), shares.plan, static_cast<std::size_t>(rank));
    if (!mesh::owns_any(kept)) continue;
    out.parts.push_back(p);
    out.kept.push_back(std::move(kept));
  }
  if (!out.kept.empty()) out.whole = mesh::merge_trees(out.kept);
  return out;
}

}  // namespace

std::span<std::byte> given_memory(const mesh::FieldInfo& field, std::size_t bytes, const store::Place& place) {
  const std::span<std::byte> memory = place && bytes != 0 ? place(field, bytes) : std::span<std::byte>{};
  if (!memory.empty() && memory.size() != bytes)
    throw Error(Kind::usage, "memory for a field: expected " + std::to_string(bytes) + " bytes, found " +
                                 std::to_string(memory.size()))
        .at("field " + field.name);
  return memory;
}

std::vector<KeyRange> stretches_of(std::vector<KeyRange> keys, std::size_t most) {
  std::vector<KeyRange> out(most);
  if (keys.empty()) return out;
  keys = joined(std::move(keys));
  // Stretches begin at the first key and after the widest gaps.
  std::vector<std::size_t> begins(keys.size());
  for (std::size_t i = 0; i < begins.size(); ++i) begins[i] = i;
  const std::size_t n = std::min(most, keys.size());
  const auto gap = [&](std::size_t i) { return difference(keys[i].first, keys[i - 1].last); };
  std::nth_element(begins.begin() + 1, begins.begin() + static_cast<std::ptrdiff_t>(n), begins.end(),
                   [&](std::size_t i, std::size_t j) {
                     const CurveKey a = gap(i), b = gap(j);
                     return b < a || (a == b && i < j);
                   });
  std::sort(begins.begin() + 1, begins.begin() + static_cast<std::ptrdiff_t>(n));
  for (std::size_t s = 0; s < n; ++s)
    out[s] = {keys[begins[s]].first, keys[s + 1 < n ? begins[s + 1] - 1 : keys.size() - 1].last};
  return out;
}

bool touches(std::span<const KeyRange> stretches, const CurveKey& begin, const CurveKey& end) {
  return std::any_of(stretches.begin(), stretches.end(), [&](const KeyRange& range) {
    return range.first <= range.last && range.first < end && range.last >= begin;
  });
}

std::vector<int> ranks_touched(const mesh::SplitPlan& plan, std::span<const KeyRange> stretches) {
  std::vector<int> ranks;
  const auto& bounds = plan.bounds;
  for (const KeyRange& stretch : stretches) {
    if (stretch.last < stretch.first) continue;
    // Share r is [bounds[r], bounds[r + 1]): the last one that begins at or before the stretch has its first key.
    const auto after = std::upper_bound(bounds.begin(), bounds.end(), stretch.first) - bounds.begin();
    for (auto r = static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - 1, 0));
         r + 1 < bounds.size() && bounds[r] <= stretch.last; ++r)
      if (stretch.first < bounds[r + 1]) ranks.push_back(static_cast<int>(r));
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

namespace {

// Collective. The parts that this rank's share touches. `ranges`: the stretches of the parts dealt to this rank.
std::vector<int> parts_to_read(MPI_Comm comm, StepParts& step, const mesh::SplitPlan& plan,
                               std::span<const KeyRange> ranges, const Deal& mine) {
  std::vector<std::pair<int, int>> told;
  for (int part = mine.first; part < mine.last; ++part) {
    const auto at = static_cast<std::size_t>(part - mine.first) * most_stretches;
    for (const int rank : ranks_touched(plan, ranges.subspan(at, most_stretches))) told.emplace_back(rank, part);
  }
  std::sort(told.begin(), told.end());
  return tell_parts(comm, step, told);
}

}  // namespace

Shares plan_shares(MPI_Comm comm, StepParts& step, mesh::Curve curve, int refined) {
  const Deal mine = deal(num_parts(step), ranks::size_of(comm), ranks::rank_in(comm));
  std::vector<mesh::Octree> trees;
  ranks::agree(comm, [&] {
    for (int part = mine.first; part < mine.last; ++part) trees.push_back(tree_of(step, part));
  });
  Shares shares;
  shares.plan.curve = curve;
  shares.plan.dim = step.dataset.header.dim;
  shares.plan.root_bits = root_bits_of(step.dataset.header);
  shares.plan.bits = shares.plan.root_bits + deepest_level(comm, trees);
  std::vector<KeyRange> ranges, of_part;
  const auto parts = static_cast<std::size_t>(num_parts(step));
  shares.stretches = std::clamp<std::size_t>(most_of_all / std::max<std::size_t>(1, parts), 1, most_stretches);
  ranks::agree(comm, [&] {
    for (const mesh::Octree& tree : trees) {
      const auto found = stretches_of_tree(tree, shares.plan, most_stretches);
      ranges.insert(ranges.end(), found.begin(), found.end());
      if (refined == 0) continue;
      const auto fewer = stretches_of_tree(tree, shares.plan, shares.stretches);
      of_part.insert(of_part.end(), fewer.begin(), fewer.end());
    }
  });
  find_bounds(comm, trees, refined, shares.plan);
  shares.parts = parts_to_read(comm, step, shares.plan, ranges, mine);
  if (refined > 0) shares.of_part = gather_ranges(comm, of_part, num_parts(step), static_cast<int>(shares.stretches));
  return shares;
}

mesh::SplitPlan only_share(const mesh::SplitPlan& plan, int rank) {
  mesh::SplitPlan mine = plan;
  const auto r = static_cast<std::size_t>(rank);
  mine.bounds = {plan.bounds.front(), plan.bounds[r], plan.bounds[r + 1], plan.bounds.back()};
  return mine;
}

mesh::Part read_share(const StepParts& step, const Shares& shares, int rank, const mesh::Request& request,
                      const store::Place& place) {
  ShareTrees trees = read_trees(step, shares, rank);
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

// This rank's particles of a species, by the rank that is to have them.
using Pieces = std::vector<mesh::Particles>;

// The particles of a species that this rank has read: by rank if they have positions, else in order.
struct Sorted {
  mesh::SpeciesInfo info;
  Pieces pieces;
  mesh::Particles unplaced;
};

Sorted& sorted_of(std::vector<Sorted>& all, const mesh::SpeciesInfo& info, int ranks) {
  const auto known = std::find_if(all.begin(), all.end(), [&](const Sorted& s) { return s.info.name == info.name; });
  if (known == all.end())
    return all.emplace_back(
        Sorted{{info.name, 0, info.attributes}, Pieces(static_cast<std::size_t>(ranks), none_of(info)), none_of(info)});
  if (known->info.attributes.size() != info.attributes.size())
    throw Error(Kind::corrupt, "segments disagree on the attributes of species " + info.name);
  return *known;
}

// Reads the particles of the parts dealt to this rank. RAMSES' octs in walls are not particles and are left out.
void sort_particles(MPI_Comm comm, const StepParts& step, const Shares& shares, const mesh::Header& header,
                    std::vector<Sorted>& all) {
  const int ranks = ranks::size_of(comm);
  const Deal mine = deal(num_parts(step), ranks, ranks::rank_in(comm));
  mesh::Request request = mesh_only();
  request.particles = true;
  for (int p = mine.first; p < mine.last; ++p)
    for (const mesh::Particles& particles : step.dataset.read(p, request).particles) {
      if (particles.species == mesh::wall_species) continue;
      mesh::SpeciesInfo info{particles.species, 0, {}};
      for (const mesh::Field& attribute : particles.attributes) info.attributes.push_back(attribute.info);
      Sorted& sorted = sorted_of(all, info, ranks);
      if (particles.count == 0) continue;
      if (!have_positions(info.attributes, header.dim)) {
        append(sorted.unplaced, particles);
        continue;
      }
      const auto split = split_particles(particles, header, shares.plan);
      for (std::size_t r = 0; r < split.size(); ++r) append(sorted.pieces[r], split[r]);
    }
}

// All species of which any rank has read particles, the same list on all ranks, without counts. RAMSES' octs in walls
// are not particles and are left out.
std::vector<mesh::SpeciesInfo> species_of(MPI_Comm comm, const std::vector<mesh::SpeciesInfo>& found) {
  std::vector<mesh::SpeciesInfo> all;
  for (mesh::SpeciesInfo& info : base::gather(ranks::ranks_of(comm), found))
    if (std::none_of(all.begin(), all.end(), [&](const auto& known) { return known.name == info.name; }))
      all.push_back(std::move(info));
  return all;
}

// Collective. Receives an attribute's pieces for this rank, one sender after another.
std::vector<std::byte> exchange(const base::Ranks& ranks, Pieces& pieces, std::size_t attribute) {
  std::vector<std::vector<std::byte>> to;
  for (mesh::Particles& piece : pieces) to.push_back(std::exchange(piece.attributes[attribute].bytes, {}));
  return base::exchange(ranks, std::move(to));
}

// Collective. Deals particles without positions out in the order of the parts, equal numbers to each rank.
Pieces deal_out(MPI_Comm comm, const mesh::Particles& mine) {
  std::int64_t first = 0, total = mine.count;
  MPI_Exscan(&mine.count, &first, 1, MPI_INT64_T, MPI_SUM, comm);
  if (ranks::rank_in(comm) == 0) first = 0;
  MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT64_T, MPI_SUM, comm);
  Pieces pieces;
  ranks::agree(comm, [&] { pieces = deal_particles(mine, first, total, ranks::size_of(comm)); });
  return pieces;
}

// Collective. Collects this rank's particles of a species from the pieces that all ranks have for it.
mesh::Particles collect(const base::Ranks& all, const mesh::SpeciesInfo& info, Pieces& pieces) {
  std::vector<std::vector<std::int64_t>> counts;
  for (const mesh::Particles& piece : pieces) counts.push_back({piece.count});
  mesh::Particles particles = none_of(info);
  for (const std::int64_t count : base::exchange(all, std::move(counts))) particles.count += count;
  for (std::size_t a = 0; a < particles.attributes.size(); ++a)
    particles.attributes[a].bytes = exchange(all, pieces, a);
  return particles;
}

}  // namespace

std::vector<mesh::Particles> read_particles(MPI_Comm comm, const StepParts& step, const Shares& shares,
                                            const mesh::Header& header) {
  std::vector<Sorted> mine;
  for (const mesh::SpeciesInfo& info : step.dataset.species) sorted_of(mine, info, ranks::size_of(comm));
  ranks::agree(comm, [&] { sort_particles(comm, step, shares, header, mine); });
  std::vector<mesh::SpeciesInfo> known;
  for (const Sorted& sorted : mine) known.push_back(sorted.info);
  std::vector<mesh::Particles> out;
  for (const mesh::SpeciesInfo& info : species_of(comm, known)) {
    Sorted* sorted = nullptr;
    ranks::agree(comm, [&] { sorted = &sorted_of(mine, info, ranks::size_of(comm)); });
    if (!have_positions(info.attributes, header.dim)) sorted->pieces = deal_out(comm, sorted->unplaced);
    out.push_back(collect(ranks::ranks_of(comm), info, sorted->pieces));
  }
  return out;
}

}  // namespace octavo::engine
