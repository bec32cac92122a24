#include "octavo/engine/restart/shares.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/mesh/pack.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/route.hpp"

namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;
using mesh::CurveKey;

// Facts of all parts that all ranks know take 8 MiB at most, however many parts there are.
constexpr std::size_t most_stretches = 64, most_of_all = std::size_t{1} << 18;

// First keys, and how many leaves each counts for.
using Leaves = std::vector<std::pair<base::WideKey, std::int64_t>>;

base::WideKey wide(const CurveKey& key) { return base::WideKey{key.high} << 64 | key.low; }
CurveKey narrow(base::WideKey key) { return {static_cast<std::uint64_t>(key >> 64), static_cast<std::uint64_t>(key)}; }

// Keys of the owned cells of a part: the centres of all are listed, the leaves are counted.
void add_keys(const mesh::Octree& tree, const mesh::SplitPlan& plan, int refined, std::vector<CurveKey>& centres,
              Leaves& leaves) {
  auto coordinates = root_coordinates(tree);
  for (int level = 0; level < num_levels(tree); ++level) {
    const auto l = static_cast<std::size_t>(level);
    const int depth = plan.root_bits + level;
    tree.owned[l].for_each_set([&](std::size_t i) {
      centres.push_back(centre_key(plan.curve, plan.dim, plan.bits, depth, coordinates[i]));
      if (!tree.refined[l][i])
        leaves.emplace_back(wide(first_key(plan.curve, plan.dim, plan.bits, depth, coordinates[i])),
                            depth == plan.bits ? std::int64_t{1} << (plan.dim * refined) : 1);
    });
    if (level + 1 < num_levels(tree)) coordinates = child_coordinates(tree, level, coordinates);
  }
}

// Bound m is the key that would stand at position total * m / ranks if the leaves of all ranks were sorted.
void find_bounds(MPI_Comm comm, Leaves leaves, mesh::SplitPlan& plan) {
  constexpr std::size_t counters = 4096;
  const auto ranks = static_cast<std::size_t>(ranks::size_of(comm));
  std::sort(leaves.begin(), leaves.end());
  std::int64_t total = 0;
  for (const auto& [key, count] : leaves) total += count;
  MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT64_T, MPI_SUM, comm);
  plan.bounds.assign(ranks + 1, mesh::curve_end(plan.dim, plan.bits));
  plan.bounds[0] = {};
  const auto positions = base::KeySearch::cuts(total, static_cast<std::int64_t>(ranks));
  const auto found = ranks::find_keys(comm, {positions, plan.dim * plan.bits, counters}, [&](base::KeySearch& search) {
    search.count(
        leaves, [](const auto& leaf) { return leaf.first; }, [](const auto& leaf) { return leaf.second; });
  });
  std::transform(found.begin(), found.end(), plan.bounds.begin() + 1, narrow);
}

int root_bits_of(const mesh::Header& header) {
  const auto most = static_cast<std::uint64_t>(*std::max_element(header.roots.begin(), header.roots.end()));
  return static_cast<int>(std::bit_width(most - 1));
}

int deepest_level(MPI_Comm comm, StepParts& step, const Deal& mine) {
  int levels = 1;
  ranks::agree(comm, [&] {
    for (int part = mine.first; part < mine.last; ++part) levels = std::max(levels, levels_of(step, part));
  });
  MPI_Allreduce(MPI_IN_PLACE, &levels, 1, MPI_INT, MPI_MAX, comm);
  return levels - 1;
}

// Parts are dealt out in order: what each rank knows of its own, put one after another, is the list of all.
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

}  // namespace

std::vector<KeyRange> stretches_of(std::vector<CurveKey> keys, std::size_t most) {
  std::vector<KeyRange> out(most);
  if (keys.empty()) return out;
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  // Stretches begin at the first key and after the widest gaps.
  std::vector<std::size_t> begins(keys.size());
  for (std::size_t i = 0; i < begins.size(); ++i) begins[i] = i;
  const std::size_t n = std::min(most, keys.size());
  std::nth_element(begins.begin() + 1, begins.begin() + static_cast<std::ptrdiff_t>(n), begins.end(),
                   [&](std::size_t i, std::size_t j) {
                     const CurveKey a = difference(keys[i], keys[i - 1]), b = difference(keys[j], keys[j - 1]);
                     return b < a || (a == b && i < j);
                   });
  std::sort(begins.begin() + 1, begins.begin() + static_cast<std::ptrdiff_t>(n));
  for (std::size_t s = 0; s < n; ++s) out[s] = {keys[begins[s]], keys[s + 1 < n ? begins[s + 1] - 1 : keys.size() - 1]};
  return out;
}

bool touches(std::span<const KeyRange> stretches, const CurveKey& begin, const CurveKey& end) {
  return std::any_of(stretches.begin(), stretches.end(), [&](const KeyRange& range) {
    return range.first <= range.last && range.first < end && range.last >= begin;
  });
}

std::vector<int> Shares::parts_of(int rank) const {
  const auto r = static_cast<std::size_t>(rank);
  std::vector<int> parts;
  for (std::size_t p = 0; p < of_part.size() / stretches; ++p)
    if (touches(std::span(of_part).subspan(p * stretches, stretches), plan.bounds[r], plan.bounds[r + 1]))
      parts.push_back(static_cast<int>(p));
  return parts;
}

Deal deal(int parts, int ranks, int rank) {
  const auto [first, last] = base::share(parts, rank, ranks);
  return {static_cast<int>(first), static_cast<int>(last)};
}

Shares plan_shares(MPI_Comm comm, StepParts& step, mesh::Curve curve, int refined) {
  const Deal mine = deal(num_parts(step), ranks::size_of(comm), ranks::rank_in(comm));
  Shares shares;
  shares.plan.curve = curve;
  shares.plan.dim = step.header.dim;
  shares.plan.root_bits = root_bits_of(step.header);
  shares.plan.bits = shares.plan.root_bits + deepest_level(comm, step, mine);
  const auto parts = static_cast<std::size_t>(num_parts(step));
  shares.stretches = std::clamp<std::size_t>(most_of_all / std::max<std::size_t>(1, parts), 1, most_stretches);
  std::vector<KeyRange> ranges;
  Leaves leaves;
  ranks::agree(comm, [&] {
    for (int part = mine.first; part < mine.last; ++part) {
      const mesh::Part read = read_part(step, part, mesh_only());
      std::vector<CurveKey> centres;
      add_keys(std::get<mesh::Octree>(read.mesh), shares.plan, refined, centres, leaves);
      const auto found = stretches_of(std::move(centres), shares.stretches);
      ranges.insert(ranges.end(), found.begin(), found.end());
    }
  });
  find_bounds(comm, std::move(leaves), shares.plan);
  shares.of_part = gather_ranges(comm, ranges, num_parts(step), static_cast<int>(shares.stretches));
  return shares;
}

mesh::SplitPlan only_share(const mesh::SplitPlan& plan, int rank) {
  mesh::SplitPlan mine = plan;
  const auto r = static_cast<std::size_t>(rank);
  mine.bounds = {plan.bounds.front(), plan.bounds[r], plan.bounds[r + 1], plan.bounds.back()};
  return mine;
}

mesh::Part read_share(StepParts& step, const Shares& shares, int rank, const mesh::Request& request) {
  const mesh::SplitPlan mine = only_share(shares.plan, rank);
  std::vector<mesh::Part> pieces;
  for (const int p : shares.parts_of(rank)) {
    const mesh::Part part = read_part(step, p, request);
    auto split = mesh::split(std::span(&part, 1), mine);
    if (mesh::owns_any(split[1])) pieces.push_back(std::move(split[1]));
  }
  mesh::Part share = pieces.empty() ? mesh::empty_part(step.header, request) : mesh::merge(pieces);
  share.index = rank;
  return share;
}

// ------------------------------------------------------------------ particles

namespace {

// All species of the step, the same list on all ranks, without counts. RAMSES' octs in walls are no particles.
std::vector<mesh::SpeciesInfo> species_of(MPI_Comm comm, StepParts& step, const Deal& mine) {
  std::vector<mesh::SpeciesInfo> found;
  ranks::agree(comm, [&] {
    for (int part = mine.first; part < mine.last; ++part)
      for (const mesh::SpeciesInfo& info : species_known(step, part)) {
        const auto known = std::find_if(found.begin(), found.end(),
                                        [&](const mesh::SpeciesInfo& other) { return other.name == info.name; });
        if (known == found.end() && info.name != mesh::wall_species) found.push_back({info.name, 0, info.attributes});
      }
  });
  std::vector<mesh::SpeciesInfo> all;
  for (mesh::SpeciesInfo& info : base::gather(ranks::ranks_of(comm), found))
    if (std::none_of(all.begin(), all.end(), [&](const auto& known) { return known.name == info.name; }))
      all.push_back(std::move(info));
  return all;
}

mesh::Particles none_of(const mesh::SpeciesInfo& info) {
  mesh::Particles none{info.name, 0, {}};
  for (const mesh::FieldInfo& attribute : info.attributes) none.attributes.push_back({attribute, {}});
  return none;
}

// This rank's particles of a species, by the rank that shall have them.
using Pieces = std::vector<mesh::Particles>;

// Collective. All pieces of an attribute for this rank, one sender's after another's.
std::vector<std::byte> exchange(const base::Ranks& ranks, Pieces& pieces, std::size_t attribute) {
  std::vector<std::vector<std::byte>> to;
  for (mesh::Particles& piece : pieces) to.push_back(std::exchange(piece.attributes[attribute].bytes, {}));
  return base::exchange(ranks, std::move(to));
}

// Collective. Particles without positions stay in the order of the parts: equal numbers to each rank.
Pieces deal_out(MPI_Comm comm, const mesh::Particles& mine) {
  std::int64_t first = 0, total = mine.count;
  MPI_Exscan(&mine.count, &first, 1, MPI_INT64_T, MPI_SUM, comm);
  if (ranks::rank_in(comm) == 0) first = 0;
  MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT64_T, MPI_SUM, comm);
  Pieces pieces;
  ranks::agree(comm, [&] { pieces = deal_particles(mine, first, total, ranks::size_of(comm)); });
  return pieces;
}

}  // namespace

std::vector<mesh::Particles> read_particles(MPI_Comm comm, StepParts& step, const Shares& shares,
                                            const mesh::Header& header) {
  const int ranks = ranks::size_of(comm);
  const Deal mine = deal(num_parts(step), ranks, ranks::rank_in(comm));
  const auto species = species_of(comm, step, mine);
  std::vector<Pieces> pieces;
  std::vector<mesh::Particles> unplaced;  // by species
  for (const mesh::SpeciesInfo& info : species) {
    pieces.emplace_back(static_cast<std::size_t>(ranks), none_of(info));
    unplaced.push_back(none_of(info));
  }
  const auto is_placed = [&](std::size_t s) { return have_positions(species[s].attributes, step.header.dim); };
  ranks::agree(comm, [&] {
    mesh::Request request = mesh_only();
    request.particles = true;
    for (int p = mine.first; p < mine.last; ++p)
      for (const mesh::Particles& particles : read_part(step, p, request).particles) {
        const auto s =
            static_cast<std::size_t>(std::find_if(species.begin(), species.end(),
                                                  [&](const auto& info) { return info.name == particles.species; }) -
                                     species.begin());
        if (particles.count == 0 || s == species.size()) continue;
        if (particles.attributes.size() != species[s].attributes.size())
          throw Error(Kind::corrupt, "segments disagree on the attributes of species " + particles.species);
        if (!is_placed(s)) {
          append(unplaced[s], particles);
          continue;
        }
        const auto split = split_particles(particles, header, shares.plan);
        for (std::size_t r = 0; r < split.size(); ++r) append(pieces[s][r], split[r]);
      }
  });
  std::vector<mesh::Particles> out;
  for (std::size_t s = 0; s < species.size(); ++s) {
    if (!is_placed(s)) pieces[s] = deal_out(comm, unplaced[s]);
    std::vector<std::vector<std::int64_t>> counts;
    for (const mesh::Particles& piece : pieces[s]) counts.push_back({piece.count});
    const base::Ranks all = ranks::ranks_of(comm);
    mesh::Particles particles = none_of(species[s]);
    for (const std::int64_t count : base::exchange(all, std::move(counts))) particles.count += count;
    for (std::size_t a = 0; a < particles.attributes.size(); ++a)
      particles.attributes[a].bytes = exchange(all, pieces[s], a);
    out.push_back(std::move(particles));
  }
  return out;
}

}  // namespace octavo::engine
