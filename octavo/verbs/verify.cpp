#include "octavo/verbs/verify.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/step/shared.hpp"
#include "octavo/step/translate.hpp"
#include "octavo/store/read/verify.hpp"
#include "octavo/verbs/scope.hpp"
#include "octavo/verbs/verify_triangles.hpp"

namespace octavo::verbs {

namespace {

/// Owned cells and leaves of one part, by tree level index, and the damage found in it.
struct PartCount {
  std::vector<std::int64_t> cells, leaves;
  std::int64_t particles = 0;
  std::map<std::string, step::Identities> identities;  ///< by species
  std::string damage, where;
};

template <class Way>
void both(Way& way, PartCount& count) {
  using base::both;
  both(way, count.cells, count.leaves, count.particles);
  std::vector<std::string> names;
  for (const auto& [species, who] : count.identities) names.push_back(species);
  both(way, names);
  for (const std::string& species : names) {
    both(way, count.identities[species].id);
    both(way, count.identities[species].cpu);
  }
  both(way, count.damage, count.where);
}

PartCount count_part(const mesh::Dataset& dataset, int part) {
  PartCount count;
  try {
    mesh::Request everything;
    everything.particles = true;
    const mesh::Part read = dataset.read(part, everything);
    const auto& tree = std::get<mesh::Octree>(read.mesh);
    mesh::validate(tree);
    for (int level = 0; level < mesh::num_levels(tree); ++level) {
      count.cells.push_back(static_cast<std::int64_t>(mesh::num_owned(tree, level)));
      count.leaves.push_back(static_cast<std::int64_t>(mesh::num_owned_leaves(tree, level)));
    }
    for (const mesh::Particles& species : read.particles) {
      count.particles += species.count;
      if (const auto& words = formats::words_of(dataset.header); !words.shared_identities)
        count.identities[species.species] = step::identities_of(species, words);
    }
  } catch (const base::Error& error) {
    // A mesh that Octavo does not support is not damaged, nor is one that does not fit the memory.
    if (error.kind() == base::Kind::unsupported || error.kind() == base::Kind::no_space) throw;
    count.damage = error.message();
    for (const std::string& place : error.places())
      count.where = place + (count.where.empty() ? "" : ", ") + count.where;
  }
  return count;
}

void add(std::vector<std::int64_t>& total, const std::vector<std::int64_t>& part) {
  if (total.size() < part.size()) total.resize(part.size(), 0);
  for (std::size_t i = 0; i < part.size(); ++i) total[i] += part[i];
}

void compare(store::Report& report, const std::string& where, const std::string& what, std::int64_t expected,
             std::int64_t found) {
  if (expected != found)
    report.findings.push_back(
        {where, what + ": expected " + std::to_string(expected) + ", found " + std::to_string(found)});
}

void compare_levels(store::Report& report, const mesh::Dataset& dataset, const PartCount& total) {
  double volume = 0;
  for (std::size_t i = 0; i < total.leaves.size(); ++i)
    volume += static_cast<double>(total.leaves[i]) *
              std::exp2(-static_cast<double>(i) * static_cast<double>(dataset.header.dim));
  const mesh::Index3& roots = dataset.header.roots;
  const double expected = static_cast<double>(roots[0] * roots[1] * roots[2]);
  if (std::abs(volume / expected - 1) > 1e-9)
    report.findings.push_back({dataset.path, "owned leaves fill " + std::to_string(volume / expected) +
                                                 " of the domain's volume: cells are missing or held twice"});
  for (const mesh::LevelCount& level : dataset.levels) {
    const auto index = static_cast<std::size_t>(mesh::level_index(dataset.header, level.level));
    const std::string name = "level " + std::to_string(level.level);
    compare(report, dataset.path, "cells on " + name, level.cells, index < total.cells.size() ? total.cells[index] : 0);
    compare(report, dataset.path, "leaves on " + name, level.leaves,
            index < total.leaves.size() ? total.leaves[index] : 0);
  }
}

void add(PartCount& total, PartCount part) {
  add(total.cells, part.cells);
  add(total.leaves, part.leaves);
  total.particles += part.particles;
  for (const auto& [species, who] : part.identities) {
    step::Identities& all = total.identities[species];
    all.id.insert(all.id.end(), who.id.begin(), who.id.end());
    all.cpu.insert(all.cpu.end(), who.cpu.begin(), who.cpu.end());
  }
}

/// The counts of this rank's parts: first the sum of those that are sound, then those that are damaged.
std::vector<PartCount> count_own(const mesh::Dataset& dataset, int threads, const base::Progress& progress,
                                 const base::Ranks& ranks) {
  const auto [first, last] = base::share(dataset.num_parts, ranks.rank, ranks.size);
  std::vector<PartCount> counts(1);
  base::ordered_for(
      static_cast<std::size_t>(last - first), threads_within_memory(dataset, threads),
      [&, begin = first](std::size_t i) { return count_part(dataset, static_cast<int>(begin) + static_cast<int>(i)); },
      [&, parts = last - first](std::size_t i, PartCount count) {
        if (count.damage.empty())
          add(counts[0], std::move(count));
        else
          counts.push_back(std::move(count));
        if (progress && !progress(static_cast<std::int64_t>(i + 1), parts))
          throw base::Error(base::Kind::interrupted, "interrupted");
      });
  return counts;
}

store::Report verify_native(const mesh::Dataset& dataset, int threads, const base::Progress& progress,
                            const base::Ranks& ranks) {
  store::Report report;
  report.steps = 1;
  report.bytes = static_cast<std::uint64_t>(dataset.bytes);
  report.streams = static_cast<std::uint64_t>(dataset.num_parts);
  std::vector<PartCount> counts;
  base::agree(ranks, [&] { counts = count_own(dataset, threads, progress, ranks); });
  PartCount total;
  for (PartCount& count : base::gather(ranks, counts)) {
    if (!count.damage.empty()) report.findings.push_back({count.where, count.damage});
    add(total, std::move(count));
  }
  if (!report.findings.empty()) return report;  // counts of damaged parts would only repeat it
  compare_levels(report, dataset, total);
  std::int64_t promised = 0;
  for (const mesh::SpeciesInfo& species : dataset.species) promised += species.count;
  compare(report, dataset.path, "particles", promised, total.particles);
  for (const auto& [species, who] : total.identities)
    if (std::string twice = step::duplicates_in(who); !twice.empty())
      report.findings.push_back({dataset.path + ", species " + species, std::move(twice)});
  return report;
}

// Collective. Rank 0 looks.
bool is_store(const std::filesystem::path& path, const base::Ranks& ranks) {
  return base::from_first(ranks, static_cast<int>(ranks.rank == 0 && store::recognise(path))) != 0;
}

}  // namespace

store::Report verify(const std::filesystem::path& path, int threads, const base::Progress& progress,
                     const base::Ranks& ranks) {
  if (ranks.size > 1 && threads == 0) threads = 1;
  if (is_store(path, ranks)) return store::verify_shared(path, base::thread_count(threads), progress, ranks);
  const step::SharedStep step = step::open_shared(path, {}, ranks);
  const bool of_many = formats::format_named(step.format).list_steps != nullptr;
  return of_many ? verify_series(path, step, progress, ranks) : verify_native(step, threads, progress, ranks);
}

store::Report verify_quick(const std::filesystem::path& path) {
  if (store::recognise(path)) return store::verify_quick(path);
  formats::open(path);  // throws if the path is of no known format
  throw base::Error(base::Kind::usage, "only a store has footers that can be checked alone")
      .at(path.string())
      .hint("without --quick a native output is read and checked");
}

}  // namespace octavo::verbs
