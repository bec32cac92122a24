#include "octavo/analysis/match.hpp"

#include <algorithm>
#include <bit>
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
      // 2^63 is no int64: a cast of more, or of NaN, has no meaning.
      const auto number = static_cast<long double>(value);
      const bool fits = number >= -0x1p63L && number < 0x1p63L;
      out.push_back(fits ? static_cast<std::int64_t>(value) : 0);
      if (!fits || static_cast<decltype(value)>(out.back()) != value)
        throw Error(Kind::corrupt, "an identity is no whole number: " + std::to_string(value))
            .at("attribute " + field.info.name);
    }
  });
  return out;
}

// The mixing of SplitMix64 (Steele, Lea and Flood 2014). Identities in a row fall into buckets evenly.
std::uint64_t hash(const Identity& identity) {
  auto z = static_cast<std::uint64_t>(identity.id) * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(identity.rank);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

auto key(const Identity& identity) { return std::tie(identity.id, identity.rank); }

/// Numbers of rows.
using Rows = std::vector<std::size_t>;

/// Rows ascending by identity.
Rows sorted(const ParticleRows& rows) {
  Rows order(rows.identities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto at = [&](std::size_t i) { return key(rows.identities[i]); };
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return at(i) < at(j); });
  return order;
}

/// Where the rows of the identity at `first` end.
std::size_t end_of_group(const ParticleRows& rows, const Rows& order, std::size_t first) {
  std::size_t last = first;
  while (last < order.size() && key(rows.identities[order[last]]) == key(rows.identities[order[first]])) ++last;
  return last;
}

// ------------------------------------------------------------------ several particles of one identity

/// Bits in the order of the numbers, NaN too.
std::uint64_t ordered_bits(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return (bits >> 63) != 0 ? ~bits : bits | std::uint64_t{1} << 63;
}

/// Numbers for the values of some rows of both sides, column after column: the same for values with no gap between
/// them wider than a millionth of the column's range.
struct ValueGroups {
  std::array<std::vector<std::vector<std::uint32_t>>, 2> numbers;  ///< by side, column, place in `rows`
};
ValueGroups group_values(const std::array<const ParticleRows*, 2>& sides, const std::array<Rows, 2>& rows) {
  ValueGroups groups;
  const std::size_t columns = std::min(sides[0]->columns.size(), sides[1]->columns.size());
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<double> values;
    for (std::size_t side = 0; side < 2; ++side)
      for (const std::size_t row : rows[side])
        if (const double value = sides[side]->columns[c][row]; std::isfinite(value)) values.push_back(value);
    std::sort(values.begin(), values.end());
    const double gap = values.empty() ? 0 : 1e-6 * (values.back() - values.front());
    std::vector<double> begins;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (i == 0 || values[i] - values[i - 1] > gap) begins.push_back(values[i]);
    for (std::size_t side = 0; side < 2; ++side) {
      auto& to = groups.numbers[side].emplace_back();
      for (const std::size_t row : rows[side]) {
        const double value = sides[side]->columns[c][row];
        to.push_back(std::isfinite(value) ? static_cast<std::uint32_t>(
                                                std::upper_bound(begins.begin(), begins.end(), value) - begins.begin())
                                          : 0);
      }
    }
  }
  return groups;
}

/// Takes pairs with equal keys out of both sides' rows. `key_at(side, k, column)` is that of the k-th row.
template <class KeyAt>
void take_equal(std::array<Rows, 2>& rows, std::size_t columns, KeyAt&& key_at,
                std::vector<std::array<std::size_t, 2>>& pairs) {
  std::array<Rows, 2> order;
  const auto compare = [&](std::size_t side_a, std::size_t a, std::size_t side_b, std::size_t b) {
    for (std::size_t c = 0; c < columns; ++c) {
      const auto x = key_at(side_a, a, c), y = key_at(side_b, b, c);
      if (x != y) return x < y ? -1 : 1;
    }
    return 0;
  };
  for (std::size_t side = 0; side < 2; ++side) {
    order[side].resize(rows[side].size());
    std::iota(order[side].begin(), order[side].end(), std::size_t{0});
    std::stable_sort(order[side].begin(), order[side].end(),
                     [&](std::size_t a, std::size_t b) { return compare(side, a, side, b) < 0; });
  }
  std::array<Rows, 2> left;
  std::size_t i = 0, j = 0;
  while (i < order[0].size() || j < order[1].size()) {
    const int found = i == order[0].size() ? 1 : j == order[1].size() ? -1 : compare(0, order[0][i], 1, order[1][j]);
    if (found == 0)
      pairs.push_back({rows[0][order[0][i++]], rows[1][order[1][j++]]});
    else if (found < 0)
      left[0].push_back(rows[0][order[0][i++]]);
    else
      left[1].push_back(rows[1][order[1][j++]]);
  }
  rows = std::move(left);
}

/// Pairs of rows of one identity; the rest of the longer side stays in `rows`, ascending by values.
std::vector<std::array<std::size_t, 2>> pair_up(const ParticleRows& a, const ParticleRows& b,
                                                std::array<Rows, 2>& rows) {
  std::vector<std::array<std::size_t, 2>> pairs;
  const std::array<const ParticleRows*, 2> sides{&a, &b};
  const std::size_t columns = std::min(a.columns.size(), b.columns.size());
  take_equal(
      rows, columns,
      [&](std::size_t side, std::size_t k, std::size_t c) {
        return ordered_bits(sides[side]->columns[c][rows[side][k]]);
      },
      pairs);
  const ValueGroups groups = group_values(sides, rows);
  take_equal(
      rows, columns, [&](std::size_t side, std::size_t k, std::size_t c) { return groups.numbers[side][c][k]; }, pairs);
  const std::size_t more = std::min(rows[0].size(), rows[1].size());
  for (std::size_t k = 0; k < more; ++k) pairs.push_back({rows[0][k], rows[1][k]});
  for (Rows& left : rows) left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(more));
  return pairs;
}

void count_shared(ParticleComparison& to, std::size_t side, std::size_t rows, const Identity& identity) {
  if (rows < 2) return;
  to.shared[side] += static_cast<std::int64_t>(rows);
  if (!to.first_shared || key(identity) < key(*to.first_shared)) to.first_shared = identity;
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
              const HashBuckets& buckets, std::span<ParticleRows> to) {
  const auto numbers = whole_numbers(attribute(particles, names.number));
  const auto ranks = names.rank.empty() ? std::vector<std::int64_t>(numbers.size(), 0)
                                        : whole_numbers(attribute(particles, names.rank));
  std::vector<std::vector<std::size_t>> kept(to.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Identity identity{numbers[i], static_cast<std::int32_t>(ranks[i])};
    const std::uint64_t bucket = buckets.all > 1 ? hash(identity) % buckets.all : 0;
    if (bucket < buckets.first || bucket - buckets.first >= to.size()) continue;
    kept[bucket - buckets.first].push_back(i);
    to[bucket - buckets.first].identities.push_back(identity);
  }
  for (ParticleRows& rows : to) rows.columns.resize(attributes.size());
  for (std::size_t c = 0; c < attributes.size(); ++c)
    mesh::visit_values(attribute(particles, attributes[c]), [&](auto values) {
      for (std::size_t b = 0; b < to.size(); ++b)
        for (const std::size_t i : kept[b]) to[b].columns[c].push_back(static_cast<double>(values[i]));
    });
}

void append(ParticleRows& to, const ParticleRows& more) {
  to.identities.insert(to.identities.end(), more.identities.begin(), more.identities.end());
  to.columns.resize(std::max(to.columns.size(), more.columns.size()));
  for (std::size_t c = 0; c < more.columns.size(); ++c)
    to.columns[c].insert(to.columns[c].end(), more.columns[c].begin(), more.columns[c].end());
}

void add(ParticleComparison& to, const ParticleComparison& other) {
  const auto before = [](const Identity& x, const Identity& y) { return key(x) < key(y); };
  to.matched += other.matched;
  for (std::size_t side = 0; side < 2; ++side) {
    to.count[side] += other.count[side];
    to.missing[side] += other.missing[side];
    to.shared[side] += other.shared[side];
    std::vector<Identity>& first = to.first_missing[side];
    first.insert(first.end(), other.first_missing[side].begin(), other.first_missing[side].end());
    std::sort(first.begin(), first.end(), before);
    if (first.size() > most_listed) first.resize(most_listed);
  }
  if (other.first_shared && (!to.first_shared || before(*other.first_shared, *to.first_shared)))
    to.first_shared = other.first_shared;
  for (std::size_t c = 0; c < to.attributes.size(); ++c) add(to.attributes[c], other.attributes[c]);
}

Identity identity_at(const CellPlace& place) {
  return {static_cast<std::int64_t>(place.key.high), static_cast<std::int32_t>(place.key.low)};
}

void match(const ParticleRows& a, const ParticleRows& b, ParticleComparison& to) {
  const Rows order_a = sorted(a), order_b = sorted(b);
  Rows rows_a, rows_b;
  std::vector<mesh::CurveKey> keys;
  std::size_t i = 0, j = 0;
  while (i < order_a.size() || j < order_b.size()) {
    const Identity* const x = i < order_a.size() ? &a.identities[order_a[i]] : nullptr;
    const Identity* const y = j < order_b.size() ? &b.identities[order_b[j]] : nullptr;
    const bool only_a = y == nullptr || (x != nullptr && key(*x) < key(*y));
    const bool only_b = !only_a && (x == nullptr || key(*y) < key(*x));
    const Identity who = only_b ? *y : *x;
    const std::size_t end_a = only_b ? i : end_of_group(a, order_a, i);
    const std::size_t end_b = only_a ? j : end_of_group(b, order_b, j);
    if (end_a - i == 1 && end_b - j == 1) {
      rows_a.push_back(order_a[i++]);
      rows_b.push_back(order_b[j++]);
      keys.push_back({static_cast<std::uint64_t>(who.id), static_cast<std::uint32_t>(who.rank)});
      continue;
    }
    count_shared(to, 0, end_a - i, who);
    count_shared(to, 1, end_b - j, who);
    const auto at = [](const Rows& order, std::size_t k) { return order.begin() + static_cast<std::ptrdiff_t>(k); };
    std::array<Rows, 2> rows{Rows(at(order_a, i), at(order_a, end_a)), Rows(at(order_b, j), at(order_b, end_b))};
    for (const auto& [row_a, row_b] : pair_up(a, b, rows)) {
      rows_a.push_back(row_a);
      rows_b.push_back(row_b);
      keys.push_back({static_cast<std::uint64_t>(who.id), static_cast<std::uint32_t>(who.rank)});
    }
    for (std::size_t side = 0; side < 2; ++side)
      for (std::size_t k = 0; k < rows[side].size(); ++k) list_missing(to, 1 - side, who);
    i = end_a;
    j = end_b;
  }
  to.matched += static_cast<std::int64_t>(keys.size());
  to.count[0] += static_cast<std::int64_t>(order_a.size());
  to.count[1] += static_cast<std::int64_t>(order_b.size());
  for (std::size_t c = 0; c < to.attributes.size() && !keys.empty(); ++c) {
    std::vector<double> values_a, values_b;
    for (const std::size_t row : rows_a) values_a.push_back(a.columns[c][row]);
    for (const std::size_t row : rows_b) values_b.push_back(b.columns[c][row]);
    count_pairs(values_a, values_b, keys, CellPlace{}, to.attributes[c]);
  }
}

}  // namespace octavo::analysis
