#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "octavo/analysis/histogram.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/verbs/bins.hpp"
#include "octavo/verbs/scope_share.hpp"
#include "octavo/verbs/sum_parts.hpp"

/// Passes over the cells of a selection, for sums in bins.
namespace octavo::verbs::detail {

/// The parts, and the fields as they are read: all passes share them.
struct Pass {
  const step::SharedStep& step;
  const BinsOptions& options;
  const ScopeShare& scope;
  const mesh::Dataset& mine;
  const mesh::Header& header;
  analysis::Selection selection;
  Workers workers;
};

/// Asks for these quantities and the weight, or for all that a plan needs.
mesh::Request request_of_pass(const Pass& pass, const std::vector<analysis::Quantity>& quantities,
                              const std::string& weight);
mesh::Request request_of_plan(const Pass& pass, const analysis::BinPlan& plan);

/// The samples of this rank's i-th part: of its cells, or of its particles.
analysis::Samples samples_of_part(const Pass& pass, const analysis::BinPlan& plan, const mesh::Request& request,
                                  std::size_t i);

/// The values that the first pass has read of this rank's parts, as far as there is room: at most 256 MiB, and an
/// eighth of what may be read at once. Later passes need not read them again.
class KeptSamples {
 public:
  explicit KeptSamples(std::size_t parts);
  /// Nothing: the part is to be read.
  const analysis::Samples* of(std::size_t i) const { return of_[i] ? &*of_[i] : nullptr; }
  bool full() const { return room_ == 0; }
  /// After the first part that does not fit, no other is kept.
  void keep(std::size_t i, analysis::Samples&& samples);

  analysis::Samples points;  ///< of triangles, on rank 0: all of them

 private:
  std::vector<std::optional<analysis::Samples>> of_;
  std::atomic<std::uint64_t> room_;  ///< [bytes]
};

/// How samples are added up.
template <class Empty, class Take, class Add>
struct SampleSums {
  Empty empty;  ///< T empty()
  Take take;    ///< take(const Samples&, T& to)
  Add add;      ///< add(T& to, T&& later)
};
template <class Empty, class Take, class Add>
SampleSums(Empty, Take, Add) -> SampleSums<Empty, Take, Add>;

/// Adds up all samples of the selection; the result is on all ranks, and has the same bits for any number of threads
/// and ranks. Collective.
template <class Empty, class Take, class Add>
auto sum_samples(const Pass& pass, const analysis::BinPlan& plan, KeptSamples& kept,
                 const SampleSums<Empty, Take, Add>& how) {
  const base::Ranks& ranks = pass.workers.ranks;
  if (pass.step.unstructured) {
    auto sums = how.empty();
    if (ranks.rank == 0) how.take(kept.points, sums);
    return ranks.size > 1 ? base::from_first(ranks, sums) : sums;
  }
  const mesh::Request request = request_of_plan(pass, plan);
  const bool again = !pass.options.percentiles.empty();
  const auto work = [&](std::size_t i) {
    auto sums = how.empty();
    const auto take = [&](const analysis::Samples& samples) { how.take(samples, sums); };
    if (const analysis::Samples* samples = kept.of(i)) {
      take(*samples);
      return sums;
    }
    if (pass.options.particles || (again && !kept.full())) {
      analysis::Samples samples = samples_of_part(pass, plan, request, i);
      take(samples);
      if (again && !kept.full()) kept.keep(i, std::move(samples));
    } else {
      const mesh::Part part = pass.mine.read(static_cast<int>(i), request);
      analysis::for_each_samples(part, pass.header, pass.selection, plan, take);
    }
    return sums;
  };
  return sum_parts(pass.scope.parts, pass.workers, Summation{work, how.add});
}

}  // namespace octavo::verbs::detail
