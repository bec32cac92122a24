#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "octavo/analysis/histogram.hpp"

/// Percentiles of fields in each bin of a plan, exactly, without all values in memory. Values are whole numbers that
/// ascend as they do (their bits). Each pass over the samples sums weights in pieces of the stretch of numbers in which
/// a percentile lies, and keeps the piece that it is in. Once the stretches hold few cells, a last pass sorts those.
namespace octavo::analysis {

/// A percentile is the smallest value such that this share of the weight belongs to values up to it, as of
/// numpy.percentile(method="inverted_cdf"). Values that are not finite and cells of weight 0 take no part.
struct PercentileSearch {
  /// Ordered numbers first <= n <= last.
  struct Stretch {
    std::uint64_t first = 0, last = 0;
    std::int64_t cells = 0;
    Sum below;             ///< weight of all smaller values
    int shift = 0;         ///< a piece has 2^shift numbers
    std::size_t slot = 0;  ///< of its first piece, in tables of all pieces
  };
  struct Sought {
    std::vector<Stretch> stretches;  ///< ascending and apart; empty where the bin has no value with a weight
    std::vector<std::size_t> at;     ///< the stretch of each percentage
    Sum total;                       ///< weight of all values
  };
  std::vector<double> percentages;      ///< 0 to 100
  std::vector<std::vector<Sought>> of;  ///< [field][bin]
  std::size_t pieces = 0;               ///< of all stretches
};

/// Starts from the extremes in each bin. Throws Error(usage) for a percentage below 0 or above 100.
PercentileSearch begin_search(const PartialBins& sums, const std::vector<double>& percentages);
/// The most pieces that a search of `sought` percentiles can have, whatever the values are.
std::size_t most_pieces(std::size_t sought);
/// Cells in stretches of more than one number: 0 at the end.
std::int64_t open_cells(const PercentileSearch& search);

/// Weights in the pieces, of any number of parts.
struct PieceSums {
  std::vector<BinContents> pieces;
  std::int64_t negative = 0;  ///< cells with a weight below 0, which has no percentile
};
PieceSums empty_pieces(const PercentileSearch& search);
void add_samples(const Samples& samples, const BinPlan& plan, const PercentileSearch& search, PieceSums& to);
void add(PieceSums& to, PieceSums&& later);
/// Narrows each stretch to the pieces in which percentiles are.
void narrow(PercentileSearch& search, const PieceSums& sums);

/// The values in open stretches, of any number of parts.
struct StretchValues {
  struct Value {
    std::size_t slot = 0;  ///< of the stretch
    std::uint64_t number = 0;
    double weight = 0;
  };
  std::vector<Value> values;
};
void add_samples(const Samples& samples, const BinPlan& plan, const PercentileSearch& search, StretchValues& to);
void add(StretchValues& to, StretchValues&& later);
/// Ends the search.
void narrow(PercentileSearch& search, StretchValues&& found);

/// [percentage][bin] of a field; NaN where the bin has no value with a weight.
std::vector<std::vector<double>> percentiles_of(const PercentileSearch& search, std::size_t field);

template <class Way>
void both(Way& way, PieceSums& sums) {
  both(way, sums.pieces, sums.negative);
}
template <class Way>
void both(Way& way, StretchValues& values) {
  both(way, values.values);
}

}  // namespace octavo::analysis
