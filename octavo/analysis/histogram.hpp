#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "octavo/analysis/select.hpp"
#include "octavo/analysis/statistics.hpp"

/// Sums of cells in bins of one or two quantities: histograms, phase diagrams and profiles. One pass gives the number
/// of cells, their weight, and of any number of fields the weighted mean, deviation, minimum and maximum in each bin.
namespace octavo::analysis {

/// The distance of a cell's centre from a place [code length], or its direction from there. Along a periodic axis it is
/// that of the nearest image.
struct Distance {
  enum class Kind : std::uint8_t {
    radius,    ///< from the centre
    cylinder,  ///< from the line through the centre along `normal`
    height,    ///< along `normal`, with a sign
    angle      ///< around the line through the centre along `normal` [degrees]: from `right` towards `up`, 0 to 360
  } kind = Kind::radius;
  mesh::Point3 centre{};                     ///< [code length]
  mesh::Point3 normal{0, 0, 1};              ///< of length 1
  mesh::Point3 right{1, 0, 0}, up{0, 1, 0};  ///< across `normal` and each other, of length 1
};
/// The distance of a point.
double distance_to(const mesh::Header& header, const Distance& distance, const mesh::Point3& point);
/// A field by its name, or a distance.
using Quantity = std::variant<std::string, Distance>;

/// The weight of a cell: 1, times the value of a field if there is one, times its volume if asked for. Mass is
/// density times volume.
struct CellWeight {
  std::string field{};
  bool volume = false;
};

/// Bin i holds edges[i] <= value < edges[i + 1]; the last bin also its upper edge. With `log` the logarithms of edges
/// are equally spaced, else the edges.
struct BinAxis {
  Quantity quantity;
  std::vector<double> edges;
  bool log = false;
};

/// `bins` + 1 edges from lo to hi. Throws Error(usage) unless lo < hi are finite, above 0 with `log`, and so close or
/// far apart that edges differ; and unless there are 1 to 65536 bins.
std::vector<double> bin_edges(double lo, double hi, std::size_t bins, bool log);

struct BinPlan {
  std::vector<BinAxis> axes;  ///< one or two; none: one bin for all cells
  CellWeight weight;
  std::vector<std::string> fields;  ///< whose means and extremes are asked for
};
/// Bins of a plan. Bin (i, j) of two axes is number j * bins of the first axis + i.
std::size_t bin_count(const BinPlan& plan);

/// The range of a quantity's finite values on selected cells. Ranges of parts add up.
struct ValueRange {
  std::int64_t finite = 0;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double least_positive = std::numeric_limits<double>::infinity();  ///< infinite if no value is above 0
};
struct ValueRanges {
  std::int64_t cells = 0;  ///< selected
  std::vector<ValueRange> of;
};
ValueRanges value_ranges(const mesh::Part& part, const mesh::Header& header, const Selection& selection,
                         const std::vector<Quantity>& quantities);
void add(ValueRanges& to, const ValueRanges& later);

/// Moments of a field's values in a bin. Deviations are from the bin's first value, so that the variance of values that
/// are close together keeps its digits. A value that is not finite is left out.
struct Moments {
  double origin = std::numeric_limits<double>::quiet_NaN();  ///< the first value; NaN before there is one
  Sum first;                                                 ///< of weight * (value - origin)
  double second = 0;                                         ///< of weight * (value - origin)^2
  double left_out = 0;                                       ///< weight of cells whose value is not finite
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
};
/// Cells outside of all bins: some with a value below or above all edges, others with NaN on an axis.
struct Outside {
  std::int64_t cells = 0;
  Sum weight;
};
struct BinContents {
  std::int64_t cells = 0;
  Sum weight;
};
/// The sums of any number of parts.
struct PartialBins {
  std::vector<BinContents> bins;
  std::vector<std::vector<Moments>> fields;  ///< [field][bin]
  Outside beyond, nan;
  std::int64_t unweighed = 0;  ///< cells left out everywhere, as their weight is not finite
  std::int64_t cells = 0;      ///< all selected
};

/// The part's contribution. Throws as cell_field does.
PartialBins bin_cells(const mesh::Part& part, const mesh::Header& header, const Selection& selection,
                      const BinPlan& plan);

/// Samples that are not cells of a tree. `weight` empty: 1 each.
struct Samples {
  std::vector<std::vector<double>> axes;    ///< [axis][sample]
  std::vector<double> weight;               ///< [sample]
  std::vector<std::vector<double>> fields;  ///< [field][sample]
  std::size_t count = 0;
};
/// The selected cells of a part with all that a plan asks for. Binned as samples they give the same bits as
/// bin_cells().
Samples samples_of(const mesh::Part& part, const mesh::Header& header, const Selection& selection, const BinPlan& plan);
/// The same, some thousand cells at a time.
void for_each_samples(const mesh::Part& part, const mesh::Header& header, const Selection& selection,
                      const BinPlan& plan, const std::function<void(const Samples&)>& visit);
/// The bin of each sample; negative where it has none.
std::vector<std::int32_t> bins_of(const Samples& samples, const BinPlan& plan);
/// Ranges of the samples' axes.
ValueRanges value_ranges(const Samples& samples);
/// Adds samples to sums that empty_bins() made.
void add_samples(const Samples& samples, const BinPlan& plan, PartialBins& to);
PartialBins empty_bins(const BinPlan& plan);

/// Adds what later parts contributed.
void add(PartialBins& to, PartialBins&& later);

/// The mean of a field's values in a bin, and their standard deviation, both weighted. NaN where there is no weight.
struct MeanAndDeviation {
  double mean = 0, deviation = 0;
};
MeanAndDeviation mean_and_deviation(const Moments& moments, const Sum& weight);

/// The partial results as bytes between processes of one run (base/pack.hpp).
template <class Way>
void both(Way& way, PartialBins& bins) {
  both(way, bins.bins, bins.fields, bins.beyond, bins.nan, bins.unweighed, bins.cells);
}
template <class Way>
void both(Way& way, ValueRanges& ranges) {
  both(way, ranges.cells, ranges.of);
}

}  // namespace octavo::analysis
