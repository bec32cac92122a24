#include "octavo/step/recut.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <functional>
#include <numeric>
#include <string>

#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/mesh/tree/merge.hpp"

namespace octavo::step {
namespace {

using base::Error;
using base::Kind;
using mesh::CurveKey;
using Wide = base::WideKey;

Wide wide(const CurveKey& key) { return Wide{key.high} << 64 | key.low; }
CurveKey narrow(Wide key) { return {static_cast<std::uint64_t>(key >> 64), static_cast<std::uint64_t>(key)}; }

// ------------------------------------------------------------------ where the cuts are

/// Keys of one part's owned leaves, ascending, and the first and last key of all cells it owns.
struct PartKeys {
  std::vector<Wide> leaves;
  Wide first = ~Wide{0}, last = 0;
};

/// As in plan_split() and split(): leaves are counted by their first keys, and owners are found by centres.
PartKeys keys_of(const mesh::Octree& tree, const mesh::SplitPlan& plan) {
  PartKeys keys;
  auto coordinates = root_coordinates(tree);
  for (int level = 0; level < num_levels(tree); ++level) {
    const auto l = static_cast<std::size_t>(level);
    const int depth = plan.root_bits + level;
    tree.owned[l].for_each_set([&](std::size_t i) {
      const Wide centre = wide(centre_key(plan.curve, plan.dim, plan.bits, depth, coordinates[i]));
      keys.first = std::min(keys.first, centre);
      keys.last = std::max(keys.last, centre);
      if (!tree.refined[l][i])
        keys.leaves.push_back(wide(first_key(plan.curve, plan.dim, plan.bits, depth, coordinates[i])));
    });
    if (level + 1 < num_levels(tree)) coordinates = child_coordinates(tree, level, coordinates);
  }
  std::sort(keys.leaves.begin(), keys.leaves.end());
  return keys;
}

mesh::Part read_mesh(const mesh::Dataset& dataset, int part) {
  mesh::Request request;
  request.fields = std::vector<std::string>{};
  return dataset.read(part, request);
}

bool is_mine(int part, const base::Ranks& ranks) { return part % ranks.size == ranks.rank; }

mesh::SplitPlan begin_plan(const mesh::Dataset& dataset, int count) {
  mesh::SplitPlan plan;
  plan.dim = dataset.header.dim;
  const mesh::Index3& roots = dataset.header.roots;
  plan.root_bits =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(*std::max_element(roots.begin(), roots.end())) - 1));
  plan.bits = plan.root_bits + static_cast<int>(std::max<std::size_t>(1, dataset.levels.size())) - 1;
  plan.bounds.assign(static_cast<std::size_t>(count) + 1, mesh::curve_end(plan.dim, plan.bits));
  plan.bounds[0] = {};
  return plan;
}

std::int64_t count_leaves(const mesh::Dataset& dataset) {
  std::int64_t total = 0;
  for (const mesh::LevelCount& level : dataset.levels) total += level.leaves;
  return total;
}

/// The first and last key of each old part's cells, as two halves each.
void gather_spans(const base::Ranks& ranks, std::vector<std::pair<Wide, Wide>>& spans) {
  // Only one rank knows each: the others add nothing.
  std::vector<std::int64_t> halves;
  for (const auto& [first, last] : spans)
    for (const std::uint64_t half : {narrow(first).high, narrow(first).low, narrow(last).high, narrow(last).low})
      halves.push_back(static_cast<std::int64_t>(half));
  halves = base::sum(ranks, std::move(halves));
  const auto at = [&](std::size_t i) { return static_cast<std::uint64_t>(halves[i]); };
  for (std::size_t p = 0; p < spans.size(); ++p)
    spans[p] = {wide({at(4 * p), at(4 * p + 1)}), wide({at(4 * p + 2), at(4 * p + 3)})};
}

std::vector<mesh::Particles> particles_of(const mesh::Dataset& dataset, int part) {
  mesh::Request request;
  request.fields = std::vector<std::string>{};
  request.particles = true;
  return dataset.read(part, request).particles;
}

std::map<std::string, std::vector<std::int64_t>> number_particles(const mesh::Dataset& dataset,
                                                                  const base::Ranks& ranks) {
  std::map<std::string, std::vector<std::int64_t>> numbers;
  for (const mesh::SpeciesInfo& info : dataset.species)
    if (!have_positions(info.attributes, dataset.header.dim))
      numbers[info.name].assign(static_cast<std::size_t>(dataset.num_parts) + 1, 0);
  if (numbers.empty()) return numbers;
  base::agree(ranks, [&] {
    for (int p = 0; p < dataset.num_parts; ++p) {
      if (!is_mine(p, ranks)) continue;
      for (const mesh::Particles& species : particles_of(dataset, p))
        if (const auto known = numbers.find(species.species); known != numbers.end())
          known->second[static_cast<std::size_t>(p) + 1] = species.count;
    }
  });
  for (auto& [name, counts] : numbers) {
    counts = base::sum(ranks, std::move(counts));
    std::partial_sum(counts.begin(), counts.end(), counts.begin());
  }
  return numbers;
}

/// The stretches of the new parts of a range, the first and the last made longer: an old part has nothing there.
mesh::SplitPlan only(const mesh::SplitPlan& plan, const Recut::Range& range) {
  mesh::SplitPlan mine = plan;
  mine.bounds.assign(plan.bounds.begin() + range.first, plan.bounds.begin() + range.last + 2);
  mine.bounds.front() = plan.bounds.front();
  mine.bounds.back() = plan.bounds.back();
  return mine;
}

/// The particles of a species that an old part has for the new parts of a range.
std::vector<mesh::Particles> cut_species(const mesh::Dataset& dataset, const Recut& recut, int old_part,
                                         const Recut::Range& range, const mesh::Particles& species) {
  const auto numbers = recut.numbers.find(species.species);
  if (numbers == recut.numbers.end()) return split_particles(species, dataset.header, only(recut.plan, range));
  return deal_particles(species, numbers->second[static_cast<std::size_t>(old_part)], numbers->second.back(),
                        static_cast<int>(recut.plan.bounds.size()) - 1, range.first, range.last + 1);
}

Recut::Range range_of_particles(const mesh::Dataset& dataset, const Recut& recut, int part) {
  const Recut::Range all{0, static_cast<int>(recut.plan.bounds.size()) - 2};
  Recut::Range range;
  for (const mesh::Particles& species : particles_of(dataset, part)) {
    if (species.count == 0) continue;
    const auto split = cut_species(dataset, recut, part, all, species);
    for (int m = 0; m < static_cast<int>(split.size()); ++m) {
      if (split[static_cast<std::size_t>(m)].count == 0) continue;
      range.first = range.last < 0 ? m : std::min(range.first, m);
      range.last = std::max(range.last, m);
    }
  }
  return range;
}

std::vector<Recut::Range> ranges_of_particles(const mesh::Dataset& dataset, const Recut& recut,
                                              const base::Ranks& ranks) {
  std::vector<std::int64_t> ends(2 * static_cast<std::size_t>(dataset.num_parts), 0);
  base::agree(ranks, [&] {
    for (int p = 0; p < dataset.num_parts && !dataset.species.empty(); ++p) {
      if (!is_mine(p, ranks)) continue;
      const Recut::Range range = range_of_particles(dataset, recut, p);
      ends[2 * static_cast<std::size_t>(p)] = range.first;
      ends[2 * static_cast<std::size_t>(p) + 1] = range.last + 1;
    }
  });
  ends = base::sum(ranks, std::move(ends));
  std::vector<Recut::Range> ranges;
  for (std::size_t p = 0; p < ends.size(); p += 2)
    ranges.push_back({static_cast<int>(ends[p]), static_cast<int>(ends[p + 1]) - 1});
  return ranges;
}

// ------------------------------------------------------------------ cutting

CutPart cut(const mesh::Dataset& dataset, const Recut& recut, int old_part) {
  mesh::Request everything;
  everything.particles = true;
  const mesh::Part part = dataset.read(old_part, everything);
  const auto p = static_cast<std::size_t>(old_part);
  CutPart pieces;
  if (recut.cells[p].last >= 0) pieces.cells = split(std::span(&part, 1), only(recut.plan, recut.cells[p]));
  if (recut.particles[p].last >= 0)
    for (const mesh::Particles& species : part.particles)
      pieces.particles.push_back(
          species.count > 0
              ? cut_species(dataset, recut, old_part, recut.particles[p], species)
              : std::vector<mesh::Particles>(
                    static_cast<std::size_t>(recut.particles[p].last - recut.particles[p].first + 1), species));
  return pieces;
}

void append(const mesh::Particles& from, std::vector<mesh::Particles>& all) {
  auto to = std::find_if(all.begin(), all.end(), [&](const auto& known) { return known.species == from.species; });
  if (to == all.end()) {
    all.push_back(from);
    return;
  }
  if (to->attributes.size() != from.attributes.size())
    throw Error(Kind::corrupt, "parts disagree on the attributes of species " + from.species);
  to->count += from.count;
  for (std::size_t a = 0; a < from.attributes.size(); ++a) {
    const auto& bytes = from.attributes[a].bytes;
    to->attributes[a].bytes.insert(to->attributes[a].bytes.end(), bytes.begin(), bytes.end());
  }
}

}  // namespace

Recut plan_recut(const mesh::Dataset& dataset, int count, const base::Ranks& ranks, std::size_t most_counters) {
  if (count < 1) throw Error(Kind::usage, "number of domains: expected at least 1, found " + std::to_string(count));
  Recut recut;
  recut.plan = begin_plan(dataset, count);
  const mesh::SplitPlan& plan = recut.plan;
  const auto parts = static_cast<std::size_t>(dataset.num_parts);
  std::vector<std::pair<Wide, Wide>> spans(parts, {0, 0});
  base::KeySearch search(base::KeySearch::cuts(count_leaves(dataset), count), plan.dim * plan.bits, most_counters);
  // One round at least: it is where the spans are seen.
  for (bool first = true; first || !search.done(); first = false) {
    if (!search.done()) search.begin_round();
    // Each round reads the meshes anew: a rank never holds more than one part.
    base::agree(ranks, [&] {
      for (int p = 0; p < dataset.num_parts; ++p) {
        if (!is_mine(p, ranks)) continue;
        const mesh::Part part = read_mesh(dataset, p);
        const PartKeys keys = keys_of(octree_of(part), plan);
        if (!search.done()) search.count(keys.leaves, std::identity(), [](Wide) { return 1; });
        spans[static_cast<std::size_t>(p)] = {keys.first, keys.last};
      }
    });
    if (search.done()) break;
    search.counts() = base::sum(ranks, std::move(search.counts()));
    base::agree(ranks, [&] { search.end_round(); });
  }
  const std::vector<Wide> cuts = search.found();
  std::transform(cuts.begin(), cuts.end(), recut.plan.bounds.begin() + 1, narrow);
  gather_spans(ranks, spans);
  for (const auto& [first, last] : spans)
    recut.cells.push_back(first > last
                              ? Recut::Range{}
                              : Recut::Range{part_of_key(plan, narrow(first)), part_of_key(plan, narrow(last))});
  recut.numbers = number_particles(dataset, ranks);
  recut.particles = ranges_of_particles(dataset, recut, ranks);
  return recut;
}

Recutter::Recutter(const mesh::Dataset& dataset, const Recut& recut, int held)
    : dataset_(dataset), recut_(recut), held_(static_cast<std::size_t>(std::max(1, held))) {}

int Recutter::reads() const {
  const std::lock_guard lock(mutex_);
  return reads_;
}

Recutter::Shared Recutter::pieces_of(int old_part) {
  std::promise<Shared> promise;
  std::shared_future<Shared> known;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [part, pieces] : kept_)
      if (part == old_part) known = pieces;
    if (!known.valid()) {
      kept_.emplace_back(old_part, promise.get_future().share());
      // Threads that have its future keep its pieces.
      if (kept_.size() > held_) kept_.pop_front();
      ++reads_;
    }
  }
  // Another thread has it, or is reading it.
  if (known.valid()) return known.get();
  try {
    auto pieces = std::make_shared<const CutPart>(cut(dataset_, recut_, old_part));
    promise.set_value(pieces);
    return pieces;
  } catch (...) {
    promise.set_exception(std::current_exception());
    throw;
  }
}

mesh::Part Recutter::part(int index) {
  std::vector<mesh::Part> pieces;
  std::vector<mesh::Particles> particles;
  for (int p = 0; p < dataset_.num_parts; ++p) {
    const Recut::Range& cells = recut_.cells[static_cast<std::size_t>(p)];
    const Recut::Range& range = recut_.particles[static_cast<std::size_t>(p)];
    if (!cells.has(index) && !range.has(index)) continue;
    const Shared from = pieces_of(p);
    if (cells.has(index)) {
      const mesh::Part& piece = from->cells[static_cast<std::size_t>(index - cells.first)];
      if (mesh::owns_any(piece)) pieces.push_back(piece);
    }
    if (range.has(index))
      for (const auto& species : from->particles)
        append(species[static_cast<std::size_t>(index - range.first)], particles);
  }
  mesh::Part part = pieces.empty() ? mesh::empty_part(dataset_.header, {}) : mesh::merge(pieces);
  part.index = index;
  part.particles = std::move(particles);
  return part;
}

}  // namespace octavo::step
