#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "octavo/analysis/histogram.hpp"
#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/step/fields.hpp"
#include "octavo/step/shared.hpp"
#include "octavo/verbs/particles.hpp"

namespace octavo::verbs {

/// A quantity to bin by: a field, or with `around` a distance from a place.
struct BinBy {
  struct Around {
    analysis::Distance::Kind kind = analysis::Distance::Kind::radius;
    /// In the words of find_place().
    std::string centre = "center";
    mesh::Point3 normal{0, 0, 1};  ///< of any length; of cylinder and height
  };
  std::string field{};
  std::optional<Around> around{};
  std::size_t bins = 64;
  std::optional<bool> log{};  ///< nothing: logarithmic if all values are above 0 and the largest passes 100 smallest
  /// First and last edge, in the field's unit or [code length]. Nothing: of a field the smallest and the largest value
  /// (above 0 with `log`), which takes a pass of its own; of a distance what the selection can reach, with `log` from
  /// half a finest cell.
  std::optional<std::array<double, 2>> range{};
};

struct BinsOptions {
  std::vector<BinBy> axes{};          ///< one or two; none: one bin for the selection
  std::vector<std::string> fields{};  ///< whose mean, deviation and extremes are wanted in each bin
  /// Percentages from 0 to 100: the percentiles of the fields in each bin (analysis/percentile.hpp).
  std::vector<double> percentiles{};
  /// The weight of a cell: "none" (1), "volume", "mass" (density times volume), or a field: its value. Empty: mass,
  /// or volume where there is no density.
  std::string weight = "volume";
  /// In place of cells: the samples have the axes and the fields in the order of this plan, and the weights. Names are
  /// then not looked up, and levels and conditions choose nothing.
  std::optional<ParticleSource> particles{};
  std::optional<mesh::Region> region{};  ///< takes cells by their centre
  std::optional<int> max_level{};        ///< the code's own number
  std::string where{};                   ///< a condition on cells, a formula; empty: all
  step::Definitions definitions{};       ///< all names of fields may also be formulas (step/fields.hpp)
  int threads = 0;                       ///< 0: all cores
  base::Ranks ranks{};
  base::Progress progress{};  ///< in parts of each pass
};

/// Sums in bins. Arrays have a value a bin; of two axes the first is the fastest.
struct Bins {
  struct Axis {
    std::string name, unit;
    bool log = false;
    std::vector<double> edges;  ///< bins + 1
  };
  struct Field {
    std::string name, unit;
    std::vector<double> mean, deviation, min, max;  ///< NaN where no value is
    std::vector<std::vector<double>> percentiles;   ///< [of those asked for][bin]
    std::vector<double> counted{};                  ///< weight of the cells whose value is finite
  };
  struct Rest {
    std::int64_t cells = 0;
    double weight = 0;
  };
  std::vector<Axis> axes;
  std::string weight, weight_unit;
  std::vector<std::int64_t> cells;
  std::vector<double> weights;  ///< sum of the cells' weights
  std::vector<Field> fields;
  Rest all;                            ///< the selected cells, but those whose weight is not finite
  Rest beyond, nan;                    ///< cells below or above all edges; with NaN on an axis
  std::int64_t unweighed = 0;          ///< cells whose weight is not finite: they count nowhere else
  std::optional<mesh::Point3> centre;  ///< of a distance [code length]
  std::string selection;               ///< region and level as text; empty: everything
  std::string over_time{};             ///< "max", "min" or "mean" of all steps; empty: only the step at `time`
  double time = 0;                     ///< [code time]
  double unit_length = 1, unit_density = 1, unit_time = 1;  ///< one code unit in cgs
  std::vector<int> parts;                                   ///< parts that were read, ascending; on rank 0
  std::int64_t bytes_read = 0;                              ///< upper limit, of all ranks and one pass
};

/// Sums over the owned leaf cells (analysis::Selection) in bins, one part per thread at a time. Memory: one part a
/// thread, and (threads + log2(parts) + 2) times the sums, which take 24 bytes a bin and 56 more for each field.
/// Further passes find percentiles: their sums take 6 MiB, or 384 bytes a percentile if that is more, and the last pass
/// holds at most 2^20 values. Values that have been read stay in memory for the next pass while they fit in 256 MiB.
/// The result has the same bits for any number of threads and ranks; every rank gets it. Collective.
///
/// Throws Error(usage) for an unknown field, a selection without cells, a quantity without a finite value, limits that
/// bin_edges() refuses, a weight "mass" without a density, and more than 2^24 bins, and percentiles with a weight below
/// 0; Error(no_space) for more bins than memory. Points of triangles are taken as cells whose volume is point_areas(),
/// with planes times their height; points of solids with analysis::point_volumes, and their cells as cells.
Bins bins(const step::SharedStep& step, const BinsOptions& options);

/// The same of several diagrams of one selection, in one pass over the parts: each part is read once for all of them,
/// and with limits to find once more, as far as values do not stay in memory. Each diagram has its own axes, fields,
/// percentiles and weight; the selection, the definitions and the workers are those of the first. Each result has the
/// bits that it has alone. Percentiles take passes of their own, and triangles are read once a diagram. Throws as bins
/// does, and Error(usage) if there is no diagram.
std::vector<Bins> diagrams(const step::SharedStep& step, const std::vector<BinsOptions>& several);

}  // namespace octavo::verbs
