#include "octavo/verbs/bins_percentiles.hpp"

#include <utility>

#include "octavo/base/error.hpp"

namespace octavo::verbs::detail {
namespace {

constexpr std::int64_t most_sorted = std::int64_t{1} << 20;  // 24 MiB

/// Sums of a pass of the search.
template <class T, class Empty>
T pass_of_search(const Pass& pass, Diagram& diagram, const analysis::PercentileSearch& search, const Empty& empty) {
  const auto take = [&](const Diagram& one, const analysis::Samples& samples, T& to) {
    analysis::add_samples(samples, one.plan, search, to);
  };
  const auto add = [](T& to, T&& later) { analysis::add(to, std::move(later)); };
  const auto none = [&](const Diagram&) { return empty(); };
  return std::move(sum_samples(pass, {&diagram}, SampleSums{none, take, add}).front());
}

}  // namespace

analysis::PercentileSearch find_percentiles(const Pass& pass, Diagram& diagram, const analysis::PartialBins& sums) {
  using analysis::PieceSums;
  using analysis::StretchValues;
  analysis::PercentileSearch search = analysis::begin_search(sums, diagram.options.percentiles);
  do {
    const auto pieces =
        pass_of_search<PieceSums>(pass, diagram, search, [&] { return analysis::empty_pieces(search); });
    if (pieces.negative > 0)
      throw base::Error(base::Kind::usage,
                        std::to_string(pieces.negative) + " cells have a weight below 0, which gives no percentile")
          .at("weight " + diagram.options.weight)
          .hint("weight by volume, or mass, or none");
    analysis::narrow(search, pieces);
  } while (analysis::open_cells(search) > most_sorted);
  if (analysis::open_cells(search) > 0)
    analysis::narrow(search, pass_of_search<StretchValues>(pass, diagram, search, [] { return StretchValues(); }));
  return search;
}

}  // namespace octavo::verbs::detail
