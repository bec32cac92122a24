#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "octavo/analysis/leaves.hpp"
#include "octavo/analysis/statistics.hpp"
#include "octavo/base/pack.hpp"

/// How far the values of two steps differ on the cells that they share, part against part; results of parts add up.
///
/// The common tree is that of the coarsest common leaves: where one step has a leaf and the other refined it, the value
/// of the leaf is held against the volume-weighted mean of the leaves below. No files, no threads.
namespace octavo::analysis {

/// The place of a value: a cell of the common grid and the parts that hold it (for a mean, the lowest). If two extremes
/// are equal, the first by depth, then by key, is kept, so that the choice does not depend on the parts.
struct CellPlace {
  mesh::CurveKey key;
  int depth = 0;
  std::array<int, 2> part{0, 0};
};
struct Difference {
  double value = 0, a = 0, b = 0;
  CellPlace place;
};

/// Sums of one side. Sums over equal values are kept once for both: PairSums::same.
struct SideSums {
  double min = std::numeric_limits<double>::infinity(), max = -min;  ///< of finite values
  std::int64_t finite = 0, nan = 0, inf = 0;
  Sum sum, absolute, square;  ///< of finite values that differ from the other side's
};

/// Sums of one variable on the cells of one depth. If both sides are NaN, or the same infinity, they are equal. If only
/// one is not finite, or they are opposite infinities, the pair is a `mismatch`: a difference under any tolerance,
/// which is left out of the sums over differences (each finite value still counts for its own side).
struct PairSums {
  std::int64_t cells = 0, differing = 0, mismatches = 0;
  std::array<SideSums, 2> side;
  SideSums same;           ///< sums over values that are equal on both sides; extremes unused
  Sum difference, square;  ///< of |a - b| and its square
  Difference largest;      ///< sup |a - b|; where differing > mismatches
  Difference relative;     ///< sup 2 |a - b| / max(|a + b|, 1e-99); likewise
  Difference mismatch;     ///< the first; where mismatches > 0
};

/// Adds the pairs a[i], b[i]. Cell i is at keys[i]; `place` gives the rest of its position.
void count_pairs(std::span<const double> a, std::span<const double> b, std::span<const mesh::CurveKey> keys,
                 const CellPlace& place, PairSums& to);
void add(PairSums& to, const PairSums& other);

// ------------------------------------------------------------------ meshes

/// One variable of a part: component `component` of a field.
struct ComparedVariable {
  const mesh::Field* field = nullptr;
  int component = 0;
};

/// A part made ready. `variables` are in an order that both sides share.
struct ComparedPart {
  std::span<const Leaf> leaves;
  std::span<const ComparedVariable> variables;
  int part = 0;
};

/// A cell that is a leaf on one side (`coarse`) and, until `covered` is 1, not yet completely met on the other.
struct OpenMean {
  int depth = 0;
  std::size_t fine = 0;  ///< the side that refined it
  std::array<int, 2> part{};
  std::int64_t leaves = 0;     ///< of the fine side, so far
  Sum covered;                 ///< share of the volume, so far
  std::vector<Sum> sums;       ///< of value * share, a variable
  std::vector<double> coarse;  ///< value, a variable
};
using OpenMeans = std::map<mesh::CurveKey, OpenMean>;

/// The comparison of any number of pairs of parts.
struct Comparison {
  std::vector<std::int64_t> cells;               ///< common cells, a depth
  std::array<std::int64_t, 2> refined{0, 0};     ///< common cells that side 0, 1 refined
  std::array<std::int64_t, 2> leaves{0, 0};      ///< leaves of side 0, 1 in common cells
  std::optional<CellPlace> first_refined;        ///< the first of the common cells that a side refined
  std::vector<std::vector<PairSums>> variables;  ///< [variable][depth]
};

/// Comparisons as bytes between processes of one run (base/pack.hpp).
template <class Way>
void both(Way& way, OpenMean& mean) {
  both(way, mean.depth, mean.fine, mean.part, mean.leaves, mean.covered);
  both(way, mean.sums, mean.coarse);
}
template <class Way>
void both(Way& way, OpenMeans& open) {
  std::vector<mesh::CurveKey> keys;
  for (const auto& [key, mean] : open) keys.push_back(key);
  both(way, keys);
  for (const mesh::CurveKey& key : keys) both(way, open[key]);
}
template <class Way>
void both(Way& way, Comparison& comparison) {
  both(way, comparison.cells, comparison.refined, comparison.leaves, comparison.first_refined, comparison.variables);
}

/// A comparison of `variables` variables on nothing.
Comparison empty_comparison(const CommonGrid& grid, std::size_t variables);
void add(Comparison& to, const Comparison& other);

/// Compares parts of step 0 and 1 where their leaves meet. Means that are completely met are counted, others stay in or
/// are added to `open`. `on_faces[v]`: the variable stands on faces, where a mean over volume means nothing, and is
/// compared on leaves of both only. Marks in `met` (a flag a leaf of `a`) what needs no more of step 1, and returns how
/// many it marked.
std::size_t compare(const CommonGrid& grid, const ComparedPart& a, const ComparedPart& b,
                    const std::vector<char>& on_faces, std::vector<char>& met, OpenMeans& open, Comparison& to);

/// Adds the cells that `from` has met to those of `to`, and counts the cells that are met completely.
void close_means(OpenMeans&& from, const std::vector<char>& on_faces, OpenMeans& to, Comparison& counts);

// ------------------------------------------------------------------ figures

/// A norm of the difference and of each side.
struct Norm {
  double difference = 0, a = 0, b = 0;
};
struct SideFigures {
  double min = 0, max = 0, sum = 0, integral = 0;  ///< NaN, NaN, 0, 0 where nothing is finite
  std::int64_t nan = 0, inf = 0;
};
/// The figures of one variable on all common cells.
struct Figures {
  std::int64_t cells = 0, differing = 0, mismatches = 0;
  double absolute = 0;   ///< sup |a - b|
  double magnitude = 0;  ///< sup |a - b| / max(sup |a|, sup |b|, 1e-99)
  double relative = 0;   ///< sup 2 |a - b| / max(|a + b|, 1e-99)
  std::optional<Difference> largest, largest_relative, mismatch;
  std::array<SideFigures, 2> side;
  Norm l1, l2;                ///< sum |x|, sqrt(sum x^2), over cells
  Norm l1_volume, l2_volume;  ///< the same weighted by the cells' volume [code length^dim]
  Norm linf;                  ///< sup |x|
};
/// `volumes[d]` is the weight of a cell of depth d.
Figures figures_of(const std::vector<PairSums>& depths, const std::vector<double>& volumes);

}  // namespace octavo::analysis
