#pragma once
#include "octavo/analysis/percentile.hpp"
#include "octavo/verbs/bins_pass.hpp"

namespace octavo::verbs::detail {

/// The percentiles of the fields of a diagram in each bin, from its sums and further passes. Collective. Throws
/// Error(usage) for a percentage below 0 or above 100, and a weight below 0.
analysis::PercentileSearch find_percentiles(const Pass& pass, Diagram& diagram, const analysis::PartialBins& sums);

}  // namespace octavo::verbs::detail
