#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "octavo/analysis/compare.hpp"

namespace octavo::analysis {

/// Names of the attributes that tell one particle of a species from all others: "identity", "id" or "tag", and the rank
/// it was born on, "cpu", if both steps have it.
struct IdentityNames {
  std::string number;
  std::string rank;  ///< empty: the number alone
};
/// Nothing where a species has none of them.
std::optional<IdentityNames> identity_of(const mesh::SpeciesInfo& species, bool with_rank);
bool has_rank(const mesh::SpeciesInfo& species);

/// Whether an attribute is never compared: the attributes of the identity, and numbers that change with the cutting
/// into blocks and ranks (blk, proc, processor number).
bool is_bookkeeping(const std::string& attribute);

/// Some particles: identities (number, rank; 0 without) and a column of values an attribute, in an order that both
/// sides share.
struct ParticleRows {
  std::vector<mesh::Identity> identities;
  std::vector<std::vector<double>> columns;
};

template <class Way>
void both(Way& way, ParticleRows& rows) {
  both(way, rows.identities, rows.columns);
}

/// Particles fall into `all` buckets by a hash of their identity, so that some of the buckets can be held at once, each
/// by a rank: those from `first` on.
struct HashBuckets {
  std::uint64_t first = 0, all = 1;
};
/// Adds the particles of bucket first + i to to[i]. Error(corrupt) for an identity that is no whole number,
/// Error(usage) for a missing attribute.
void add_rows(const mesh::Particles& particles, const IdentityNames& names, const std::vector<std::string>& attributes,
              const HashBuckets& buckets, std::span<ParticleRows> to);
void append(ParticleRows& to, const ParticleRows& more);

/// The comparison of particles of any number of buckets.
struct ParticleComparison {
  std::int64_t matched = 0;
  std::array<std::int64_t, 2> count{0, 0};
  std::array<std::int64_t, 2> missing{0, 0};                 ///< on side 0, 1: only the other has them
  std::array<std::vector<mesh::Identity>, 2> first_missing;  ///< the least `most_listed` of each, ascending
  std::array<std::int64_t, 2> shared{0, 0};    ///< particles that share their identity with others of their side
  std::optional<mesh::Identity> first_shared;  ///< the least shared identity
  std::vector<PairSums> attributes;            ///< places hold the identity: see identity_at
};
template <class Way>
void both(Way& way, ParticleComparison& comparison) {
  both(way, comparison.matched, comparison.count, comparison.missing, comparison.first_missing[0],
       comparison.first_missing[1], comparison.shared, comparison.first_shared, comparison.attributes);
}
/// Adds the comparison of other buckets.
void add(ParticleComparison& to, const ParticleComparison& other);
inline constexpr std::size_t most_listed = 20;
mesh::Identity identity_at(const CellPlace& place);

/// Compares the particles of one bucket by identity; `to` is empty but for the number of attributes. Particles that
/// share an identity (RAMSES' sink clouds) are matched as multisets: first equal rows, then rows that are near each
/// other in every column (nearer than a millionth of its range), then the rest in the order of their values.
void match(const ParticleRows& a, const ParticleRows& b, ParticleComparison& to);

}  // namespace octavo::analysis
