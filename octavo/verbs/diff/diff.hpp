#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "octavo/analysis/compare.hpp"
#include "octavo/analysis/match.hpp"
#include "octavo/base/progress.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::verbs {

/// A tolerance for what a shell pattern (* ? [a-z]) names: fields "density", particles "species/attribute", "time",
/// "domain" (corners, in fractions of the extent). The last that matches holds.
struct Tolerance {
  std::string pattern = "*";
  double value = 0;
};

struct DiffOptions {
  std::vector<Tolerance> absolute{};  ///< sup |a - b| may be this ...
  std::vector<Tolerance> relative{};  ///< ... or this times max(sup |a|, sup |b|); 0 where nothing matches
  std::vector<std::string> ignore{};  ///< patterns: fields, "particles", species, "species/attribute", "time" ...
  std::map<std::string, std::string> names{};            ///< fields of A that have another name in B
  bool same_mesh = false;                                ///< another refinement is a difference
  bool headers = false;                                  ///< other attributes, units and step numbers are differences
  std::int64_t particle_memory = std::int64_t{1} << 30;  ///< of matching, at most (or what one part has) [bytes]
  int cached_parts = 0;                                  ///< parts of B kept for the next of A; 0: 2 + threads
  int threads = 0;                                       ///< 0: all cores
  base::Progress progress{};                             ///< in parts of A
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
  std::array<std::vector<std::string>, 2> only;  ///< attributes that one side has
};

/// An entry of the headers that differs; empty text: missing there.
struct HeaderDiff {
  std::string name, a, b;
  bool counts = false;  ///< it is a difference by itself
};

struct DiffReport {
  bool equal = true;
  std::vector<std::string> reasons;  ///< why not, a sentence each
  std::vector<std::string> notes;
  std::optional<analysis::CommonGrid> grid;     ///< nothing: the meshes have no cells in common
  std::int64_t cells = 0;                       ///< common cells
  std::array<std::int64_t, 2> refined{0, 0};    ///< common cells that A, B refined
  std::array<std::int64_t, 2> leaves{0, 0};     ///< of A, B in common cells
  std::array<std::int64_t, 2> unmatched{0, 0};  ///< leaves of A, B where the other has nothing
  std::optional<analysis::CellPlace> first_refined;
  std::vector<VariableDiff> variables;           ///< in A's order
  std::array<std::vector<std::string>, 2> only;  ///< variables that one side has
  std::vector<std::string> incomparable;         ///< variables whose values stand elsewhere on the two sides
  std::vector<SpeciesDiff> particles;
  std::vector<HeaderDiff> headers;
  // The cost:
  std::array<std::int64_t, 2> reads{0, 0};  ///< of parts of A, B
  int held = 0;                             ///< parts in memory at once, at most
};

/// Says how far two steps differ, whatever their formats, cutting into parts, order of blocks and layout of boxes.
/// Parts of A are read once each, one a thread, and held against the parts of B that touch them until all their leaves
/// have been met; `cached_parts` of B are kept. So at most 2 * threads + cached_parts parts are in memory, with 24
/// bytes a leaf, and the cells on borders that one side refined. Figures do not depend on the number of threads; on the
/// cutting into parts only sums do, by the rounding of twice the precision of a double.
///
/// Where B is of another code, names that mean what a name of A does are that (step/translate.hpp); a note says which.
///
/// Particles are matched by identity, in as many passes over the files as particle_memory asks for; several of one
/// identity as multisets (analysis/match.hpp), and a note says so.
///
/// Throws Error(usage) for a tolerance or a name to ignore that names nothing, a negative tolerance, and what reading
/// throws.
DiffReport diff(const mesh::Dataset& a, const mesh::Dataset& b, const DiffOptions& options = {});

}  // namespace octavo::verbs
