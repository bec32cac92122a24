#include <algorithm>
#include <utility>

#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/base/rank_tree.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/verbs/diff/diff_pieces.hpp"

namespace octavo::verbs::detail {
namespace {

using analysis::IdentityNames;
using analysis::ParticleRows;

/// A species of each step.
using Pair = std::array<const mesh::SpeciesInfo*, 2>;

bool has(const mesh::SpeciesInfo& species, const std::string& name) {
  return std::any_of(species.attributes.begin(), species.attributes.end(),
                     [&](const mesh::FieldInfo& info) { return info.name == name; });
}

/// Species of one name; and where each step has only one, these, whatever they are called.
std::vector<Pair> pair_species(const mesh::Dataset& a, const mesh::Dataset& b, DiffReport& report) {
  std::vector<Pair> pairs;
  const auto find = [](const mesh::Dataset& in, const std::string& name) -> const mesh::SpeciesInfo* {
    for (const mesh::SpeciesInfo& species : in.species)
      if (species.name == name) return &species;
    return nullptr;
  };
  if (a.species.size() == 1 && b.species.size() == 1) {
    if (a.species[0].name != b.species[0].name)
      report.notes.push_back("species " + a.species[0].name + " of A is held against " + b.species[0].name + " of B");
    return {{&a.species[0], &b.species[0]}};
  }
  for (const mesh::SpeciesInfo& species : a.species) pairs.push_back({&species, find(b, species.name)});
  for (const mesh::SpeciesInfo& species : b.species)
    if (find(a, species.name) == nullptr) pairs.push_back({nullptr, &species});
  return pairs;
}

/// FLASH has three positions in any dimension.
bool is_beyond(const std::string& attribute, int dim) {
  return (attribute == "position_y" && dim < 2) || (attribute == "position_z" && dim < 3);
}

/// The attributes of both; those of one side only are differences.
std::vector<std::string> share_attributes(const Pair& pair, const std::array<IdentityNames, 2>& identity, int dim,
                                          const Rules& rules, SpeciesDiff& to, DiffReport& report) {
  std::vector<std::string> shared;
  for (std::size_t side = 0; side < 2; ++side)
    for (const mesh::FieldInfo& info : pair[side]->attributes) {
      if (analysis::is_bookkeeping(info.name) || info.name == identity[side].number) continue;
      if (rules.ignored(pair[0]->name + "/" + info.name)) continue;
      const bool shared_name = has(*pair[1 - side], info.name);
      if (!shared_name && is_beyond(info.name, dim)) continue;
      if (!shared_name) {
        to.only[side].push_back(info.name);
        differ(report, "particles " + pair[side]->name + ": attribute " + info.name + " is in " + "AB"[side] + " only");
      } else if (side == 0) {
        shared.push_back(info.name);
      }
    }
  return shared;
}

/// Which particles of a step are compared, and how they are read.
struct RowsOf {
  const mesh::Dataset& dataset;
  const std::string& species;
  const IdentityNames& identity;
  const std::vector<std::string>& attributes;
};

/// Collective. Each rank reads a contiguous range of the parts, and gets the rows of the bucket that is `first` plus
/// its number, from all parts.
ParticleRows read_rows(const RowsOf& of, const analysis::HashBuckets& buckets, const DiffOptions& options) {
  mesh::Request request;
  request.fields = std::vector<std::string>{};
  request.particles = true;
  const base::Ranks& ranks = options.ranks;
  const ParticleRows none{{}, std::vector<std::vector<double>>(of.attributes.size())};
  std::vector<ParticleRows> by_rank(static_cast<std::size_t>(ranks.size), none);
  const auto [first, last] = base::share(of.dataset.num_parts, ranks.rank, ranks.size);
  base::agree(ranks, [&, begin = first, end = last] {
    base::ordered_for(
        static_cast<std::size_t>(end - begin), base::thread_count(options.threads),
        [&](std::size_t i) {
          std::vector<ParticleRows> rows(by_rank.size(), none);
          const int part = static_cast<int>(begin) + static_cast<int>(i);
          for (const mesh::Particles& particles : of.dataset.read(part, request).particles)
            if (particles.species == of.species && particles.count > 0)
              analysis::add_rows(particles, of.identity, of.attributes, buckets, rows);
          return rows;
        },
        [&](std::size_t, std::vector<ParticleRows> rows) {
          for (std::size_t rank = 0; rank < rows.size(); ++rank) analysis::append(by_rank[rank], rows[rank]);
        });
  });
  if (ranks.size == 1) return std::move(by_rank[0]);
  std::vector<std::string> sent;
  for (ParticleRows& rows : by_rank) sent.push_back(base::packed(std::exchange(rows, {})));
  ParticleRows mine = none;
  for (std::string& rows : base::all_to_all(ranks, std::move(sent)))
    analysis::append(mine, base::unpacked<ParticleRows>(std::exchange(rows, {})));
  return mine;
}

/// Collective. Each rank compares the particles of some buckets.
void match_all(const mesh::Dataset& a, const mesh::Dataset& b, const Pair& pair,
               const std::array<IdentityNames, 2>& identity, const std::vector<std::string>& attributes,
               const DiffOptions& options, analysis::ParticleComparison& to) {
  // A row: identity and columns, and twice 8 bytes for the order and the values of a column put in it; and the same
  // again on its way between ranks.
  const base::Ranks& ranks = options.ranks;
  const std::int64_t copies = ranks.size > 1 ? 2 : 1;
  const auto row = copies * static_cast<std::int64_t>(8 * attributes.size() + sizeof(mesh::Identity) + 40);
  const std::int64_t bytes = (pair[0]->count + pair[1]->count) * row / ranks.size;
  const auto passes = static_cast<std::uint64_t>(1 + bytes / std::max<std::int64_t>(options.particle_memory, 1));
  const auto at_once = static_cast<std::uint64_t>(ranks.size);
  to.attributes.resize(attributes.size());
  const analysis::ParticleComparison nothing = to;
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    const analysis::HashBuckets buckets{pass * at_once, passes * at_once};
    const ParticleRows in_a = read_rows({a, pair[0]->name, identity[0], attributes}, buckets, options);
    const ParticleRows in_b = read_rows({b, pair[1]->name, identity[1], attributes}, buckets, options);
    analysis::ParticleComparison here = nothing;
    analysis::match(in_a, in_b, here);
    analysis::add(to, here);
  }
  if (ranks.size == 1) return;
  using analysis::ParticleComparison;
  to = base::unpacked<ParticleComparison>(base::join_ranks(ranks, base::packed(to), [](auto& left, auto& right) {
    auto sum = base::unpacked<ParticleComparison>(left);
    analysis::add(sum, base::unpacked<ParticleComparison>(right));
    return base::packed(sum);
  }));
}

void report_missing(const SpeciesDiff& species, DiffReport& report) {
  for (std::size_t side = 0; side < 2; ++side)
    if (const std::int64_t count = species.match.missing[side]; count > 0)
      differ(report, "particles " + species.name + ": " + std::to_string(count) + " of " + "BA"[side] +
                         " are missing in " + "AB"[side]);
}

void note_shared(const SpeciesDiff& species, DiffReport& report) {
  const auto& [a, b] = species.match.shared;
  if (!species.match.first_shared) return;
  const mesh::Identity& first = *species.match.first_shared;
  report.notes.push_back("particles " + species.name + ": " + std::to_string(a) + " of A and " + std::to_string(b) +
                         " of B have the identity of another (" + std::to_string(first.id) +
                         (first.rank == 0 ? "" : " of rank " + std::to_string(first.rank)) +
                         " ...): those are compared as multisets");
}

void diff_species(const mesh::Dataset& a, const mesh::Dataset& b, const Pair& pair, const DiffOptions& options,
                  const Rules& rules, DiffReport& report) {
  SpeciesDiff out;
  out.name = (pair[0] != nullptr ? pair[0] : pair[1])->name;
  for (std::size_t side = 0; side < 2; ++side) out.match.count[side] = pair[side] != nullptr ? pair[side]->count : 0;
  const auto add = [&] { report.particles.push_back(std::move(out)); };
  if (out.match.count[0] == 0 || out.match.count[1] == 0) {
    for (std::size_t side = 0; side < 2; ++side) out.match.missing[side] = out.match.count[1 - side];
    report_missing(out, report);
    return add();
  }
  const bool ranks = analysis::has_rank(*pair[0]) && analysis::has_rank(*pair[1]);
  const auto identity_a = analysis::identity_of(*pair[0], ranks), identity_b = analysis::identity_of(*pair[1], ranks);
  if (!identity_a || !identity_b) {
    out.compared = false;
    differ(report, "particles " + out.name + " have no identity (identity, id or tag): they cannot be matched");
    return add();
  }
  const std::array<IdentityNames, 2> identity{*identity_a, *identity_b};
  const auto attributes = share_attributes(pair, identity, a.header.dim, rules, out, report);
  out.match.count = {0, 0};
  match_all(a, b, pair, identity, attributes, options, out.match);
  note_shared(out, report);
  report_missing(out, report);
  for (std::size_t c = 0; c < attributes.size(); ++c) {
    const std::string name = out.name + "/" + attributes[c];
    out.attributes.push_back(judge(rules, name, "", analysis::figures_of({out.match.attributes[c]}, {1.0})));
    if (!out.attributes.back().within) differ(report, "particles " + name + " differs");
  }
  add();
}

}  // namespace

void diff_particles(const mesh::Dataset& a, const mesh::Dataset& b, const DiffOptions& options, const Rules& rules,
                    DiffReport& report) {
  for (const Pair& pair : pair_species(a, b, report))
    if (!rules.ignored((pair[0] != nullptr ? pair[0] : pair[1])->name))
      diff_species(a, b, pair, options, rules, report);
}

}  // namespace octavo::verbs::detail
