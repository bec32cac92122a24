#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "octavo/formats/formats.hpp"
#include "octavo/mesh/dataset.hpp"

/// Translates steps into another code's names.
namespace octavo::step {

using formats::Words;

struct TranslateOptions {
  const Words* to = &formats::common_words();  ///< Octavo's own
  /// From field names of the step to new ones; these come before any table. For a variable on faces or nodes, whose
  /// sides are fields (mesh/sides.hpp), the common part is enough: "b" stands for "b_left" and "b_right".
  std::map<std::string, std::string> rename;
  std::optional<std::vector<std::string>> fields;  ///< by the step's names; nothing: all
  bool particles = true;
};

/// The name of a step's field in another code: the name that the caller asks for, else the table's (Words).
/// The two sides of a variable on faces get the same new name.
std::string translated_name(const mesh::Header& header, const mesh::FieldInfo& field, const TranslateOptions& options);

/// The identity of each particle: the code's pair (id, cpu), or (1, 0), (2, 0) ... if the code has neither.
struct Identities {
  std::vector<std::int64_t> id, cpu;
};
/// Throws Error(unsupported) if a tag is no whole number.
Identities identities_of(const mesh::Particles& particles, const Words& words);
/// Returns "2 particles have the identity of another: id 7 cpu 0, ..."; empty if no two particles share an identity.
std::string duplicates_in(const Identities& who);

/// Translates the particles of one species for another code: identity, names, and the attributes that the code needs.
/// Rows are sorted by identity, so that they do not depend on how the step was cut.
///
/// - AMReX identifies a particle by (id, cpu), FLASH by a tag, RAMSES by an identity. If ids are unique by themselves,
///   they become the tag (identity), and cpu a column of its own. If only the pairs are unique, tags are 1, 2 ... in
///   the order of (cpu, id), and a column "id" keeps the id. On the way back, "id" (else the tag) and "cpu" (else 0)
///   form the pair again.
/// - FLASH's blk and proc say where a particle was in a file. They are left out, and FLASH's writer makes them anew.
/// - If the other code uses an attribute's name for something else, the name gets the prefix "user_". It loses the
///   prefix on the way back.
/// - RAMSES needs velocities, mass, levelp, family and tag. Those that are missing become zero (levelp: 1).
///
/// Particles that share an identity (RAMSES' sink clouds) are kept; a note names the first. If they go to AMReX, or if
/// ids are below 1, the new ids are 1, 2 ... and a column "kept_id" keeps the old ones. Throws Error(unsupported) if a
/// tag is no whole number.
mesh::Particles translate(const mesh::Particles& particles, const Words& from, const Words& to, int dim,
                          std::vector<std::string>& notes);

/// Translates a step's fields and particles into another code's names. All particles go to the first part. Attributes
/// of the source code are left out, except the number of the step. From FLASH to AMReX they are kept as "source/NAME",
/// with "source/block", "source/code" and "source/time"; on the way back they get their names again.
mesh::Dataset translate(const mesh::Dataset& source, const TranslateOptions& options, std::vector<std::string>& notes);

/// Returns "3 particles of tracer outside of the domain: (1.5,0.2) ..."; empty if there are none.
std::string outside_note(const mesh::Particles& particles, const mesh::Header& header);

/// Renames fields and particle attributes of a step to the names that `other`, a step of another code, has for them by
/// the tables. Names in `keep` stay, and nothing else changes. `said` gets "velx is velocity_x, ..."; it is empty if
/// nothing was renamed.
mesh::Dataset in_words_of(const mesh::Dataset& step, const mesh::Dataset& other, const std::set<std::string>& keep,
                          std::string& said);

}  // namespace octavo::step
