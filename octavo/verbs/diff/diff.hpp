#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "octavo/analysis/compare.hpp"
#include "octavo/analysis/match.hpp"
#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::verbs {

/// A tolerance for all names that match a shell pattern (* ? [a-z]): fields "density", particles "species/attribute",
/// "time", "domain" (corners, in fractions of the extent). The last tolerance that matches is used.
struct Tolerance {
  std::string pattern = "*";
  double value = 0;
};

struct DiffOptions {
  std::vector<Tolerance> absolute{};  ///< sup |a - b| may be at most this ...
  std::vector<Tolerance> relative{};  ///< ... or this times max(sup |a|, sup |b|); both are 0 if nothing matches
  std::vector<std::string> ignore{};  ///< patterns: fields, "particles", species, "species/attribute", "time" ...
  std::map<std::string, std::string> names{};            ///< fields of A that have another name in B
  bool same_mesh = false;                                ///< unequal refinement is a difference
  bool headers = false;                                  ///< unequal attributes, units, step numbers are differences
  std::int64_t particle_memory = std::int64_t{1} << 30;  ///< most memory of matching (or that of one part) [bytes]
  int cached_parts = 0;                                  ///< parts of B kept for the next part of A; 0: 2 + threads
  int threads = 0;                                       ///< 0: all cores
  base::Ranks ranks{};                                   ///< share the parts
  base::Progress progress{};                             ///< in parts of A, of this rank
};

/// One variable or attribute.
struct VariableDiff {
  std::string name, unit;
  double absolute_tolerance = 0, relative_tolerance = 0;
  bool within = true;
  analysis::Figures figures;
};

struct SpeciesDiff {
  std::string name;
  bool compared = true;  ///< false: a note says why
  analysis::ParticleComparison match;
  std::vector<VariableDiff> attributes;
  std::array<std::vector<std::string>, 2> only;  ///< attributes that only one side has
};

/// An entry of the headers that differs. An empty text means that the side lacks it.
struct HeaderDiff {
  std::string name, a, b;
  bool counts = false;  ///< it is a difference by itself
};

struct DiffReport {
  bool equal = true;
  std::vector<std::string> reasons;  ///< why they are not equal, one sentence each
  std::vector<std::string> notes;
  std::optional<analysis::CommonGrid> grid;     ///< nothing: the meshes have no cells in common
  std::int64_t cells = 0;                       ///< common cells
  std::array<std::int64_t, 2> refined{0, 0};    ///< common cells that A, B refined
  std::array<std::int64_t, 2> leaves{0, 0};     ///< of A, B in common cells
  std::array<std::int64_t, 2> unmatched{0, 0};  ///< leaves of A, B where the other has no cells
  std::optional<analysis::CellPlace> first_refined;
  std::vector<VariableDiff> variables;           ///< in A's order
  std::array<std::vector<std::string>, 2> only;  ///< variables that only one side has
  std::vector<std::string> incomparable;         ///< variables whose centring, components or ghosts differ
  std::vector<SpeciesDiff> particles;
  std::vector<HeaderDiff> headers;
  // The cost:
  std::array<std::int64_t, 2> reads{0, 0};  ///< number of times that a part of A, B was read, by any rank
  int held = 0;                             ///< most parts in memory at once, of a rank
};

/// Measures how far two steps differ, whatever their formats, parts, order of blocks and layout of boxes. Each thread
/// reads one part of A at a time, each part once, and compares it with the parts of B that touch it until all its
/// leaves are matched. `cached_parts` parts of B are kept. So memory holds at most 2 * threads + cached_parts parts,
/// 24 bytes per leaf, and the cells on borders that only one side refined. Figures do not depend on the number of
/// threads or ranks. Only sums depend on the parts, by the rounding of twice the precision of a double.
///
/// Collective: a rank compares a contiguous range of the parts of A, or of the fields of triangles. It reads the
/// particles of ranges of both steps' parts, and sends each to the rank that compares its identity. Every rank gets the
/// report, or the same error.
///
/// If B is of another code, its names are translated to those of A (step/translate.hpp); a note lists them.
///
/// Particles are matched by identity, in as many passes over the files as particle_memory requires. Particles that
/// share an identity are matched as multisets (analysis/match.hpp), with a note.
///
/// Throws Error(usage) for a negative tolerance, and for a tolerance or a name to ignore that matches nothing. Throws
/// as reading does.
DiffReport diff(const mesh::Dataset& a, const mesh::Dataset& b, const DiffOptions& options = {});

}  // namespace octavo::verbs
