#include "octavo/analysis/match.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "octavo/base/error.hpp"

namespace octavo::analysis {
namespace {

using base::Error;
using base::Kind;
using mesh::Identity;

bool has(const mesh::SpeciesInfo& species, const std::string& name) {
  return std::any_of(species.attributes.begin(), species.attributes.end(),
                     [&](const mesh::FieldInfo& info) { return info.name == name; });
}

const mesh::Field& attribute(const mesh::Particles& particles, const std::string& name) {
  for (const mesh::Field& field : particles.attributes)
    if (field.info.name == name) return field;
  throw Error(Kind::usage, "particles lack the attribute " + name).at("species " + particles.species);
}

std::vector<std::int64_t> whole_numbers(const mesh::Field& field) {
  std::vector<std::int64_t> out;
  mesh::visit_values(field, [&](auto values) {
    for (const auto value : values) {
      out.push_back(static_cast<std::int64_t>(value));
      if (static_cast<decltype(value)>(out.back()) != value)
        throw Error(Kind::corrupt, "an identity is no whole number: " + std::to_string(value))
            .at("attribute " + field.info.name);
    }
  });
  return out;
}

std::uint64_t hash(const Identity& identity) {
  auto z = static_cast<std::uint64_t>(identity.id) * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(identity.rank);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

auto key(const Identity& identity) { return std::tie(identity.id, identity.rank); }

std::string text(const Identity& identity) {
  return std::to_string(identity.id) + (identity.rank == 0 ? "" : " of rank " + std::to_string(identity.rank));
}

/// Rows ascending by identity, each once.
std::vector<std::size_t> sorted(const ParticleRows& rows, const char* side) {
  std::vector<std::size_t> order(rows.identities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto at = [&](std::size_t i) { return key(rows.identities[i]); };
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return at(i) < at(j); });
  for (std::size_t k = 1; k < order.size(); ++k)
    if (at(order[k - 1]) == at(order[k]))
      throw Error(Kind::corrupt,
                  std::string("two particles of ") + side + " have one identity: " + text(rows.identities[order[k]]))
          .hint("--ignore particles compares the meshes only");
  return order;
}

void list_missing(ParticleComparison& to, std::size_t side, const Identity& identity) {
  ++to.missing[side];
  if (to.first_missing[side].size() < most_listed) to.first_missing[side].push_back(identity);
}

}  // namespace

bool has_rank(const mesh::SpeciesInfo& species) { return has(species, "cpu"); }

std::optional<IdentityNames> identity_of(const mesh::SpeciesInfo& species, bool with_rank) {
  // An AMReX application may have a component "tag" of its own; FLASH has no "id".
  for (const char* name : {"identity", "id", "tag"})
    if (has(species, name)) return IdentityNames{name, with_rank && has_rank(species) ? "cpu" : ""};
  return {};
}

bool is_bookkeeping(const std::string& attribute) {
  return attribute == "blk" || attribute == "proc" || attribute == "processor number" || attribute == "cpu";
}

void add_rows(const mesh::Particles& particles, const IdentityNames& names, const std::vector<std::string>& attributes,
              std::uint64_t bucket, std::uint64_t buckets, ParticleRows& to) {
  const auto numbers = whole_numbers(attribute(particles, names.number));
  const auto ranks = names.rank.empty() ? std::vector<std::int64_t>(numbers.size(), 0)
                                        : whole_numbers(attribute(particles, names.rank));
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Identity identity{numbers[i], static_cast<std::int32_t>(ranks[i])};
    if (buckets > 1 && hash(identity) % buckets != bucket) continue;
    kept.push_back(i);
    to.identities.push_back(identity);
  }
  to.columns.resize(attributes.size());
  for (std::size_t c = 0; c < attributes.size(); ++c)
    mesh::visit_values(attribute(particles, attributes[c]), [&](auto values) {
      for (const std::size_t i : kept) to.columns[c].push_back(static_cast<double>(values[i]));
    });
}

void append(ParticleRows& to, const ParticleRows& more) {
  to.identities.insert(to.identities.end(), more.identities.begin(), more.identities.end());
  to.columns.resize(std::max(to.columns.size(), more.columns.size()));
  for (std::size_t c = 0; c < more.columns.size(); ++c)
    to.columns[c].insert(to.columns[c].end(), more.columns[c].begin(), more.columns[c].end());
}

Identity identity_at(const Place& place) {
  return {static_cast<std::int64_t>(place.key.high), static_cast<std::int32_t>(place.key.low)};
}

void match(const ParticleRows& a, const ParticleRows& b, ParticleComparison& to) {
  const auto order_a = sorted(a, "A"), order_b = sorted(b, "B");
  std::vector<std::size_t> rows_a, rows_b;
  std::vector<mesh::CurveKey> keys;
  std::size_t i = 0, j = 0;
  while (i < order_a.size() || j < order_b.size()) {
    const Identity* const x = i < order_a.size() ? &a.identities[order_a[i]] : nullptr;
    const Identity* const y = j < order_b.size() ? &b.identities[order_b[j]] : nullptr;
    if (y == nullptr || (x != nullptr && key(*x) < key(*y))) {
      list_missing(to, 1, *x);
      ++i;
    } else if (x == nullptr || key(*y) < key(*x)) {
      list_missing(to, 0, *y);
      ++j;
    } else {
      rows_a.push_back(order_a[i++]);
      rows_b.push_back(order_b[j++]);
      keys.push_back({static_cast<std::uint64_t>(x->id), static_cast<std::uint32_t>(x->rank)});
    }
  }
  to.matched += static_cast<std::int64_t>(keys.size());
  to.count[0] += static_cast<std::int64_t>(order_a.size());
  to.count[1] += static_cast<std::int64_t>(order_b.size());
  for (std::size_t c = 0; c < to.attributes.size() && !keys.empty(); ++c) {
    std::vector<double> values_a, values_b;
    for (const std::size_t row : rows_a) values_a.push_back(a.columns[c][row]);
    for (const std::size_t row : rows_b) values_b.push_back(b.columns[c][row]);
    count_pairs(values_a, values_b, keys, Place{}, to.attributes[c]);
  }
}

}  // namespace octavo::analysis
