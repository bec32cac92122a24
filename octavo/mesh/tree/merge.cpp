#include "octavo/mesh/tree/merge.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/mesh/tree/cell_runs.hpp"

/// Joins parts of one step, level by level from the roots. For each part we know where its cells of the level are in
/// the merged tree, as runs; from these follows where its children are. A merge with values also notes for each merged
/// cell where its value comes from: eight bytes a cell.
namespace octavo::mesh {
namespace {

using base::BitArray;
using base::Error;
using base::Kind;

constexpr std::uint32_t nobody = 0xFFFFFFFFU;

bool same_attributes(const Particles& a, const Particles& b) {
  return std::equal(a.attributes.begin(), a.attributes.end(), b.attributes.begin(), b.attributes.end(),
                    [](const Field& x, const Field& y) { return x.info == y.info; });
}

std::vector<Particles> merge_particles(std::span<const Part> parts) {
  std::vector<Particles> merged;
  for (const Part& part : parts)
    for (const Particles& species : part.particles) {
      const auto same =
          std::find_if(merged.begin(), merged.end(), [&](const Particles& p) { return p.species == species.species; });
      if (same == merged.end()) {
        merged.push_back(species);
        continue;
      }
      if (!same_attributes(*same, species))
        throw Error(Kind::usage, "parts differ in the attributes of species " + species.species)
            .at("part " + std::to_string(part.index));
      append(*same, species);
    }
  return merged;
}

// Bytes a tree cell of each field; the same in all parts.
std::vector<std::size_t> field_widths(std::span<const Part> parts) {
  std::vector<std::size_t> widths;
  for (const Part& part : parts) {
    const std::size_t cells = num_cells(octree_of(part));
    const auto& first = parts.front().fields;
    if (part.fields.size() != first.size())
      throw Error(Kind::usage, "parts differ in their fields: " + std::to_string(first.size()) + " and " +
                                   std::to_string(part.fields.size()))
          .at("part " + std::to_string(part.index));
    for (std::size_t f = 0; f < first.size(); ++f) {
      const std::string place = "part " + std::to_string(part.index) + ", field " + part.fields[f].info.name;
      if (!(part.fields[f].info == first[f].info)) throw Error(Kind::usage, "parts differ in their fields").at(place);
      const std::size_t bytes = part.fields[f].bytes.size();
      if (widths.size() == f) widths.push_back(0);
      if (widths[f] == 0 && cells != 0) widths[f] = bytes / cells;
      if (bytes != widths[f] * cells)
        throw Error(Kind::usage, "values of a field: expected " + std::to_string(widths[f] * cells) + " bytes for " +
                                     std::to_string(cells) + " cells, found " + std::to_string(bytes))
            .at(place);
    }
  }
  return widths;
}

// A part's cells of one level, all of them in order, and where they are in the merged tree. Families stay together, and
// most neighbours do.
using CellPlaces = std::vector<CellRun>;

// Calls f(cell, its place in the merged tree).
template <class F>
void for_each_place(const CellPlaces& places, F&& f) {
  for (const CellRun& run : places)
    for (std::uint32_t i = 0; i < run.count; ++i) f(std::size_t{run.from} + i, run.to + i);
}

// One level of the merged tree as it grows.
struct MergedLevel {
  BitArray refined, owned;
  // Where a cell's values come from: position in `parts`, index on the level. Empty if nobody asks.
  std::vector<std::uint32_t> part, cell;
};

void add_part(MergedLevel& merged, const Octree& tree, std::size_t level, const CellPlaces& places,
              std::uint32_t part) {
  const BitArray& refined = tree.refined[level];
  const BitArray& owned = tree.owned[level];
  for_each_place(places, [&](std::size_t i, std::uint32_t at) {
    if (refined[i]) merged.refined.set(at);
    // A value comes from the part that owns the cell, else from the first part that has it.
    const bool better = owned[i] && !merged.owned[at];
    if (owned[i]) merged.owned.set(at);
    if (merged.part.empty()) return;
    if (!better && merged.part[at] != nobody) return;
    merged.part[at] = part;
    merged.cell[at] = static_cast<std::uint32_t>(i);
  });
}

void check_leaves(const MergedLevel& merged, const Octree& tree, std::size_t level, const CellPlaces& places,
                  int part) {
  for_each_place(places, [&](std::size_t i, std::uint32_t at) {
    if (tree.owned[level][i] && !tree.refined[level][i] && merged.refined[at])
      throw Error(Kind::corrupt, "an owned leaf is refined by another part: they are not of one step")
          .at("part " + std::to_string(part) + ", level index " + std::to_string(level) + ", cell " +
              std::to_string(i));
  });
}

// For each word of bits, how many bits are set before it.
std::vector<std::uint32_t> counts_before(const BitArray& bits) {
  std::vector<std::uint32_t> counts;
  std::size_t n = 0;
  for (std::uint64_t w : bits.words()) {
    counts.push_back(static_cast<std::uint32_t>(n));
    n += static_cast<std::size_t>(std::popcount(w));
  }
  return counts;
}

// The children of a part's refined cells, in the merged tree.
CellPlaces child_places(const Octree& tree, std::size_t level, const CellPlaces& places, const BitArray& merged,
                        const std::vector<std::uint32_t>& before) {
  CellPlaces children;
  const std::size_t family = family_size(tree);
  std::size_t next = 0;  // child of the part's
  for_each_place(places, [&](std::size_t i, std::uint32_t at) {
    if (!tree.refined[level][i]) return;
    const std::uint64_t lower = merged.words()[at >> 6] & ((std::uint64_t{1} << (at & 63)) - 1);
    const std::uint32_t earlier = before[at >> 6] + static_cast<std::uint32_t>(std::popcount(lower));
    add_run(children, next, earlier * family, family);
    next += family;
  });
  return children;
}

MergedLevel merge_level(std::span<const Part> parts, std::size_t level, std::size_t cells,
                        const std::vector<CellPlaces>& places, bool with_sources) {
  if (cells > nobody) throw Error(Kind::unsupported, "a merged level of 2^32 cells or more");
  const std::size_t sources = with_sources ? cells : 0;
  MergedLevel merged{BitArray(cells), BitArray(cells), std::vector<std::uint32_t>(sources, nobody),
                     std::vector<std::uint32_t>(sources, 0)};
  for (std::size_t p = 0; p < parts.size(); ++p)
    if (!places[p].empty()) add_part(merged, octree_of(parts[p]), level, places[p], static_cast<std::uint32_t>(p));
  for (std::size_t p = 0; p < parts.size(); ++p)
    if (!places[p].empty()) check_leaves(merged, octree_of(parts[p]), level, places[p], parts[p].index);
  return merged;
}

// The roots that any of the parts [first, last) holds.
RootIntervals joined_roots(std::span<const Part> parts) {
  if (parts.size() == 1) return held_roots(octree_of(parts[0]));
  const std::size_t half = parts.size() / 2;
  return join(joined_roots(parts.first(half)), joined_roots(parts.subspan(half)));
}

// The part's roots among the merged ones.
CellPlaces root_places(const Octree& tree, const RootIndex& merged) {
  CellPlaces places;
  std::size_t next = 0;
  for (const RootInterval& interval : held_roots(tree)) {
    const auto count = static_cast<std::size_t>(interval.end - interval.begin);
    add_run(places, next, *merged.find(interval.begin), count);
    next += count;
  }
  return places;
}

std::vector<MergedLevel> merge_levels(std::span<const Part> parts, const RootIntervals& roots, bool with_sources) {
  const Octree& first = octree_of(parts.front());
  std::size_t cells = count_roots(roots);
  if (cells > nobody) throw Error(Kind::unsupported, "2^32 roots or more in a merged tree");
  const RootIndex index(roots);
  std::vector<CellPlaces> places;
  for (const Part& part : parts) places.push_back(root_places(octree_of(part), index));
  std::vector<MergedLevel> levels;
  while (levels.empty() || cells != 0) {
    levels.push_back(merge_level(parts, levels.size(), cells, places, with_sources));
    const BitArray& refined = levels.back().refined;
    const auto before = counts_before(refined);
    for (std::size_t p = 0; p < parts.size(); ++p)
      if (!places[p].empty())
        places[p] = child_places(octree_of(parts[p]), levels.size() - 1, places[p], refined, before);
    cells = refined.count() * family_size(first);
  }
  return levels;
}

Field merge_field(std::span<const Part> parts, std::size_t f, std::size_t width,
                  const std::vector<MergedLevel>& levels) {
  std::vector<std::vector<std::size_t>> offsets;
  std::size_t cells = 0;
  for (const Part& part : parts) offsets.push_back(level_offsets(octree_of(part)));
  for (const MergedLevel& level : levels) cells += level.part.size();
  Field field{parts.front().fields[f].info, std::vector<std::byte>(cells * width)};
  std::byte* to = field.bytes.data();
  for (std::size_t level = 0; level < levels.size(); ++level)
    for (std::size_t i = 0; i < levels[level].part.size(); ++i, to += width) {
      const std::size_t p = levels[level].part[i];
      std::memcpy(to, parts[p].fields[f].bytes.data() + (offsets[p][level] + levels[level].cell[i]) * width, width);
    }
  return field;
}

Octree tree_of(const Octree& shape, const RootIntervals& roots, std::vector<MergedLevel>& levels) {
  Octree tree{.dim = shape.dim, .roots = shape.roots, .block = shape.block, .refined = {}, .owned = {}, .held = {}};
  hold(tree, roots);
  for (MergedLevel& level : levels) {
    tree.refined.push_back(std::move(level.refined));
    tree.owned.push_back(std::move(level.owned));
  }
  return tree;
}

}  // namespace

const Octree& octree_of(const Part& part) {
  if (const auto* tree = std::get_if<Octree>(&part.mesh)) return *tree;
  throw Error(Kind::unsupported, "only octrees are split and merged").at("part " + std::to_string(part.index));
}

void check_same_roots(std::span<const Part> parts) {
  if (parts.empty()) throw Error(Kind::usage, "no parts: expected at least one");
  const Octree& first = octree_of(parts.front());
  for (const Part& part : parts) {
    const Octree& tree = octree_of(part);
    if (tree.dim != first.dim || tree.roots != first.roots || tree.block != first.block)
      throw Error(Kind::usage, "parts differ in dimensions, roots or block")
          .at("parts " + std::to_string(parts.front().index) + " and " + std::to_string(part.index));
  }
}

Part merge(std::span<const Part> parts) {
  check_same_roots(parts);
  const auto widths = field_widths(parts);
  const RootIntervals roots = joined_roots(parts);
  std::vector<MergedLevel> levels = merge_levels(parts, roots, true);
  Part merged{parts.front().index, {}, {}, merge_particles(parts)};
  for (std::size_t f = 0; f < widths.size(); ++f) merged.fields.push_back(merge_field(parts, f, widths[f], levels));
  merged.mesh = tree_of(octree_of(parts.front()), roots, levels);
  return merged;
}

Part read_tree(const Dataset& dataset, int part) {
  Request request;
  request.fields = std::vector<std::string>{};
  Part out = dataset.read(part, request);
  out.particles.clear();
  return out;
}

std::vector<Part> read_trees(const Dataset& dataset) {
  std::vector<Part> parts;
  for (int p = 0; p < dataset.num_parts; ++p) parts.push_back(read_tree(dataset, p));
  return parts;
}

Octree whole_tree(const Dataset& dataset, int first) { return whole_tree(dataset, read_trees(dataset), first); }

Octree whole_tree(const Dataset& dataset, std::span<const Part> trees, int first) {
  Octree tree = merge_trees(trees);
  for (auto level = static_cast<std::size_t>(first); level < tree.owned.size(); ++level) {
    const std::size_t expected =
        level == 0 ? static_cast<std::size_t>(num_roots(tree.roots)) : tree.owned[level].size();
    if (tree.owned[level].count() != expected)
      throw Error(Kind::unsupported, "the step does not hold the whole domain: expected " + std::to_string(expected) +
                                         " cells on tree level index " + std::to_string(level) + ", found " +
                                         std::to_string(tree.owned[level].count()))
          .at(dataset.path);
  }
  return tree;
}

Octree merge_trees(std::span<const Part> parts) {
  check_same_roots(parts);
  if (parts.size() == 1) return octree_of(parts.front());
  const RootIntervals roots = joined_roots(parts);
  std::vector<MergedLevel> levels = merge_levels(parts, roots, false);
  return tree_of(octree_of(parts.front()), roots, levels);
}

}  // namespace octavo::mesh
