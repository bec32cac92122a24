#include "octavo/verbs/scope.hpp"

#include <algorithm>
#include <utility>

#include "octavo/analysis/select.hpp"
#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/memory.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/mesh/clip.hpp"
#include "octavo/verbs/scope_share.hpp"

namespace octavo::verbs {
namespace {

/// Takes ownership from the cells whose centre is not in the region; nothing: from all.
void disown_outside(mesh::Octree& tree, const mesh::Header& header, const std::optional<mesh::Region>& region) {
  if (region && mesh::block_size(tree) > 1)
    throw base::Error(base::Kind::unsupported, "domains joined with shapes would cut blocks of cells")
        .hint("take shapes and domains one after another: \"A & domains:N\"");
  std::vector<mesh::Coordinate> coordinates = mesh::root_coordinates(tree);
  for (int level = 0; level < mesh::num_levels(tree); ++level) {
    auto& owned = tree.owned[static_cast<std::size_t>(level)];
    std::optional<analysis::CentresWithin> within;
    if (region) within.emplace(header, *region, level);
    for (std::size_t i = 0; i < owned.size(); ++i)
      if (owned[i] && !(within && (*within)(coordinates[i]))) owned.set(i, false);
    if (level + 1 < mesh::num_levels(tree)) coordinates = mesh::child_coordinates(tree, level, coordinates);
  }
}

}  // namespace

void require_level(const mesh::Dataset& dataset, std::optional<int> max_level) {
  if (max_level && dataset.unstructured)
    throw base::Error(base::Kind::usage, "level " + std::to_string(*max_level) + " of a mesh that has no levels")
        .at(dataset.path);
  const std::vector<mesh::LevelCount>& levels = dataset.levels;
  if (max_level && !levels.empty() && *max_level < levels.front().level)
    throw base::Error(base::Kind::usage, "no level " + std::to_string(*max_level) + ": there are " +
                                             std::to_string(levels.front().level) + " to " +
                                             std::to_string(levels.back().level))
        .at(dataset.path);
}

std::vector<int> parts_of_selection(const mesh::Dataset& dataset, const std::optional<mesh::Region>& region,
                                    std::optional<int> max_level) {
  require_level(dataset, max_level);
  return mesh::parts_of(dataset, region, max_level);
}

Scope scope_of(const mesh::Dataset& dataset, const std::optional<mesh::Region>& region, std::optional<int> max_level) {
  return scope_of(dataset, region, max_level, parts_of_selection(dataset, region, max_level));
}

Scope scope_of(const mesh::Dataset& dataset, const std::optional<mesh::Region>& region, std::optional<int> max_level,
               std::vector<int> parts) {
  Scope scope;
  scope.parts = std::move(parts);
  if (region) scope.text = mesh::to_string(*region, dataset.header.dim);
  if (max_level) scope.text.append(scope.text.empty() ? "" : ", ").append("level <= " + std::to_string(*max_level));
  if (dataset.part_bytes)
    for (int part : scope.parts) scope.bytes += dataset.part_bytes(part);
  return scope;
}

ScopeShare share_scope(const step::SharedStep& step, const std::optional<mesh::Region>& region,
                       std::optional<int> max_level, const base::Ranks& ranks, Sharing sharing) {
  return share_scope(
      step, region, [&](const mesh::Dataset& dataset) { return scope_of(dataset, region, max_level); }, ranks, sharing);
}

ScopeShare share_scope(const step::SharedStep& step, const std::optional<mesh::Region>& region,
                       const std::function<Scope(const mesh::Dataset&)>& choose, const base::Ranks& ranks,
                       Sharing sharing) {
  Scope scope;
  base::agree(ranks, [&] {
    if (ranks.rank == 0 || !step.by_one) scope = choose(step);
  });
  ScopeShare share{scope.parts.size(), scope.bytes, scope.text, {}, {}};
  if (step.by_one) {
    const auto counts =
        base::from_first(ranks, std::vector<std::int64_t>{static_cast<std::int64_t>(share.parts), share.bytes});
    share.parts = static_cast<std::size_t>(counts[0]);
    share.bytes = counts[1];
    share.text = base::from_first(ranks, share.text);
  }
  share.mine = step::deal_parts(step, ranks, [&](int rank) {
    const auto count = std::ssize(scope.parts);
    if (sharing == Sharing::in_ranges) {
      const auto [first, last] = base::share(count, rank, ranks.size);
      return std::vector<int>(scope.parts.begin() + first, scope.parts.begin() + last);
    }
    std::vector<int> own;
    for (std::int64_t i = rank; i < count; i += ranks.size) own.push_back(scope.parts[static_cast<std::size_t>(i)]);
    return own;
  });
  share.mine = within_domains(share.mine, region);
  share.listed = std::move(scope.parts);
  return share;
}

std::vector<int> parts_in_any(const mesh::Dataset& dataset, const std::vector<mesh::Box>& boxes,
                              const std::optional<mesh::Region>& region, std::optional<int> max_level) {
  std::vector<char> chosen(static_cast<std::size_t>(dataset.num_parts), 0);
  for (const mesh::Box& box : boxes)
    for (const int part : parts_of_selection(
             dataset, region ? mesh::join(mesh::Join::both, box, *region) : mesh::Region(box), max_level))
      chosen[static_cast<std::size_t>(part)] = 1;
  std::vector<int> parts;
  for (int part = 0; part < dataset.num_parts; ++part)
    if (chosen[static_cast<std::size_t>(part)] != 0) parts.push_back(part);
  return parts;
}

mesh::Dataset within_domains(const mesh::Dataset& dataset, const std::optional<mesh::Region>& region) {
  if (!region || !mesh::names_domains(*region)) return dataset;
  mesh::Dataset some = dataset;
  some.read = [read = dataset.read, header = dataset.header, region = *region](int number,
                                                                               const mesh::Request& request) {
    mesh::Part part = read(number, request);
    const std::optional<mesh::Region> own = mesh::in_domain(region, part.index);
    if (own == mesh::in_any_domain(region)) return part;
    if (auto* tree = std::get_if<mesh::Octree>(&part.mesh)) disown_outside(*tree, header, own);
    for (mesh::Particles& species : part.particles)
      mesh::keep(species, own ? mesh::inside(*own, header, species)
                              : std::vector<bool>(static_cast<std::size_t>(species.count), false));
    return part;
  };
  return some;
}

std::string with_condition(std::string selection, const std::string& where) {
  if (where.empty()) return selection;
  return selection + (selection.empty() ? "" : ", ") + "where " + where;
}

std::string with_edge(std::string selection, analysis::RegionEdge edge) {
  if (edge == analysis::RegionEdge::usual || selection.empty()) return selection;
  return selection + ", edge " + (edge == analysis::RegionEdge::clip ? "clip" : "centre");
}

int threads_within_memory(const mesh::Dataset& dataset, int threads) {
  const int asked = base::thread_count(threads);
  if (asked == 1 || !dataset.part_bytes) return asked;
  std::int64_t largest = 0;
  for (int part = 0; part < dataset.num_parts; ++part) largest = std::max(largest, dataset.part_bytes(part));
  return base::threads_within_memory(asked, 2 * static_cast<std::uint64_t>(largest));
}

}  // namespace octavo::verbs
