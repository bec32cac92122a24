#pragma once
#include <cstdint>
#include <optional>
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

/// Adds the particles whose identity falls into bucket `bucket` of `buckets` (by a hash): so that a part of the
/// particles of all parts is held at once. Error(corrupt) for an identity that is no whole number, Error(usage) for a
/// missing attribute.
void add_rows(const mesh::Particles& particles, const IdentityNames& names, const std::vector<std::string>& attributes,
              std::uint64_t bucket, std::uint64_t buckets, ParticleRows& to);
void append(ParticleRows& to, const ParticleRows& more);

/// The comparison of particles of any number of buckets.
struct ParticleComparison {
  std::int64_t matched = 0;
  std::array<std::int64_t, 2> count{0, 0};
  std::array<std::int64_t, 2> missing{0, 0};                 ///< on side 0, 1: only the other has them
  std::array<std::vector<mesh::Identity>, 2> first_missing;  ///< up to `most_listed` of each, ascending a bucket
  std::array<std::int64_t, 2> shared{0, 0};    ///< particles that share their identity with others of their side
  std::optional<mesh::Identity> first_shared;  ///< the least shared identity
  std::vector<PairSums> attributes;            ///< places hold the identity: see identity_at
};
inline constexpr std::size_t most_listed = 20;
mesh::Identity identity_at(const CellPlace& place);

/// Matches the particles of one bucket by identity. Particles that share an identity (RAMSES' sink clouds) are matched
/// as multisets: first equal rows, then rows that are near each other in every column (nearer than a millionth of its
/// range), then the rest in the order of their values.
void match(const ParticleRows& a, const ParticleRows& b, ParticleComparison& to);

}  // namespace octavo::analysis
